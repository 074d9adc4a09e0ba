package acme_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/acme"
)

func TestNewRefusesNames(t *testing.T) {
	for _, hosts := range [][]string{
		nil,
		{""},
		{"localhost"},
		{"127.0.0.1"},
		{"::1"},
		{"carrel.example.org:443"},
		{"https://carrel.example.org"},
		{"*.example.org"},
		{"carrel.example.org", "."},
	} {
		if _, err := acme.New(&acme.Options{Hosts: hosts}); err == nil {
			t.Errorf("%q are taken for names that an authority gives a certificate for", hosts)
		}
	}
	if _, err := acme.New(&acme.Options{Hosts: []string{"carrel.example.org", "a.b.example.org"}}); err != nil {
		t.Error(err)
	}
}

// An authority that refuses is reported once for many connections. A name that is not the
// server's is neither reported nor asked for.
func TestReportsAnAuthorityThatRefuses(t *testing.T) {
	var asked atomic.Int32
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "closed", http.StatusForbidden)
	}))
	defer authority.Close()
	noted := make(chan error, 10)
	a, err := acme.New(&acme.Options{
		Hosts: []string{"carrel.example.org"}, Directory: authority.URL, Folder: t.TempDir(), Now: time.Now,
		Note: func(err error) { noted <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := a.Listen(plain)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake() // the client has the error
			_ = conn.Close()                 // likewise
		}
	}()
	shake := func(name string) {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }() // nothing was written
		if err := tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake(); err == nil {
			t.Errorf("%q has a certificate", name)
		}
	}
	for _, name := range []string{"other.example.org", "carrel", ""} {
		shake(name)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the authority was asked %d times for other names", n)
	}
	shake("carrel.example.org")
	shake("carrel.example.org")
	_ = l.Close() // so that Accept returns
	<-served
	close(noted)
	var all []string
	for err := range noted {
		all = append(all, err.Error())
	}
	if len(all) != 1 || !strings.HasPrefix(all[0], "get a certificate for carrel.example.org: ") || asked.Load() == 0 {
		t.Errorf("noted %q after %d requests", all, asked.Load())
	}
}

// A certificate that was not renewed in time is reported once a day while it is still good.
func TestReportsACertificateThatIsNotRenewed(t *testing.T) {
	const host, day = "carrel.example.org", 24 * time.Hour
	begin := time.Now()
	for _, tt := range []struct {
		name     string
		lifetime time.Duration
		after    []time.Duration // the beginning, at each connection
		want     int
	}{
		{"of 90 days, early", 90 * day, []time.Duration{0, 82 * day}, 0},
		{"of 90 days, late", 90 * day, []time.Duration{84 * day, 84*day + time.Hour, 86 * day}, 2},
		{"of 90 days, over", 90 * day, []time.Duration{91 * day}, 1},
		{"of 6 days, early", 6 * day, []time.Duration{0, 4 * day}, 0},
		{"of 6 days, late", 6 * day, []time.Duration{5 * day}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			keep(t, folder, host, begin.Add(-time.Hour), begin.Add(tt.lifetime))
			var noted []error
			now := begin
			a, err := acme.New(&acme.Options{
				Hosts: []string{host}, Directory: "http://127.0.0.1:1/", Folder: folder, Now: func() time.Time { return now },
				Note: func(err error) { noted = append(noted, err) },
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, after := range tt.after {
				now = begin.Add(after)
				client, server := net.Pipe()
				shaken := make(chan error, 1)
				go func() {
					shaken <- tls.Client(client, &tls.Config{ServerName: host, InsecureSkipVerify: true}).Handshake()
				}()
				conn, err := a.Listen(one{server}).Accept()
				if err == nil {
					err = conn.(*tls.Conn).Handshake()
				}
				if err = errors.Join(err, <-shaken, client.Close()); err != nil {
					t.Fatal(err)
				}
			}
			if len(noted) != tt.want {
				t.Errorf("noted %d times, want %d: %q", len(noted), tt.want, noted)
			}
			for _, err := range noted {
				if !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), begin.Add(tt.lifetime).UTC().Format(time.DateOnly)) {
					t.Errorf("noted %q, without the host or the day", err)
				}
			}
		})
	}
}

// one is a listener with one connection.
type one struct{ net.Conn }

func (l one) Accept() (net.Conn, error) { return l.Conn, nil }
func (l one) Addr() net.Addr            { return l.LocalAddr() }

// keep writes a certificate for a host into the folder of certificates.
func keep(t *testing.T, folder, host string, from, to time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	data := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := os.WriteFile(filepath.Join(folder, host), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
