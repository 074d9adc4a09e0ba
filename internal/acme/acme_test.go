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
	"slices"
	"strings"
	"sync"
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
		{"carrel.example.org."},
		{".example.org"},
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

// The certificates of all hosts are made before the first client comes, each by one order.
func TestGetsCertificatesWithoutAClient(t *testing.T) {
	hosts := []string{"carrel.example.org", "other.example.org"}
	authority := newIssuing(t)
	a, err := acme.New(&acme.Options{
		Hosts: hosts, Directory: authority.url, Folder: t.TempDir(), Now: time.Now,
		Note: func(err error) { authority.issued <- err.Error() },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := serve(t, a)
	issued := []string{<-authority.issued, <-authority.issued}
	if slices.Sort(issued); !slices.Equal(issued, hosts) {
		t.Errorf("without a client there are certificates for %q, want %q", issued, hosts)
	}
	for _, host := range hosts {
		if err := shake(t, l, &tls.Config{ServerName: host, RootCAs: authority.roots}); err != nil {
			t.Errorf("a handshake for %s: %v", host, err)
		}
	}
	select {
	case again := <-authority.issued:
		t.Errorf("after the handshakes: %s", again)
	default:
	}
}

// When the listener is closed, a request to the authority that still waits for an answer ends, and
// nothing is reported.
func TestStopsAskingWhenItIsClosed(t *testing.T) {
	asked, left := make(chan struct{}, 1), make(chan struct{}, 1)
	authority := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	}))
	defer authority.Close()
	a, err := acme.New(&acme.Options{
		Hosts: []string{"carrel.example.org"}, Directory: authority.URL, Folder: t.TempDir(), Now: time.Now,
		Note: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := serve(t, a)
	<-asked
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-left
}

// An authority that refuses is reported once for many connections, also without any. A name that is
// not the server's is neither reported nor asked for.
func TestReportsAnAuthorityThatRefuses(t *testing.T) {
	const host = "carrel.example.org"
	var asked atomic.Int32
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "closed", http.StatusForbidden)
	}))
	defer authority.Close()
	noted := make(chan error, 10)
	var later atomic.Int64 // by how much the clock is fast
	a, err := acme.New(&acme.Options{
		Hosts: []string{host}, Directory: authority.URL, Folder: t.TempDir(),
		Now:  func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
		Note: func(err error) { noted <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := serve(t, a)
	first := (<-noted).Error()
	if !strings.HasPrefix(first, "get a certificate for "+host+": ") {
		t.Errorf("noted %q without a client", first)
	}
	refused := func(settings *tls.Config) {
		settings.InsecureSkipVerify = true
		if err := shake(t, l, settings); err == nil {
			t.Errorf("%q has a certificate", settings.ServerName)
		}
	}
	before := asked.Load()
	for _, name := range []string{"other.example.org", "carrel", "", host, host} {
		refused(&tls.Config{ServerName: name})
	}
	if n := asked.Load() - before; n > 0 {
		t.Errorf("the authority was asked %d times for other names, or again within a minute", n)
	}
	// A client that wants another kind of key makes an order of its own.
	old := &tls.Config{ServerName: host, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
	later.Store(int64(2 * time.Minute))
	refused(old)
	if asked.Load() == before {
		t.Error("a handshake did not ask the authority")
	}
	refused(old)
	close(noted) // a handshake notes its error before the client has its own
	var again []string
	for err := range noted {
		again = append(again, err.Error())
	}
	if !slices.Equal(again, []string{first}) {
		t.Errorf("two minutes later noted %q, want %q once", again, first)
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

// serve makes handshakes with certificates until the test ends or the listener is closed.
func serve(t *testing.T, a *acme.Certificates) net.Listener {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := a.Listen(plain)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				_ = conn.(*tls.Conn).Handshake() // the client has the error
				_ = conn.Close()                 // likewise
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // perhaps the test has
		all.Wait()
	})
	return l
}

// shake makes a handshake with a listener.
func shake(t *testing.T, l net.Listener, settings *tls.Config) error {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	return tls.Client(conn, settings).HandshakeContext(t.Context())
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
