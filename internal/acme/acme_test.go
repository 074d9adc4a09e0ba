package acme_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
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
	if len(all) == 0 || !strings.HasPrefix(all[0], "get a certificate for carrel.example.org: ") || asked.Load() == 0 {
		t.Errorf("noted %q after %d requests", all, asked.Load())
	}
	for i := range all {
		for _, later := range all[i+1:] {
			if all[i] == later {
				t.Errorf("noted twice: %s", later)
			}
		}
	}
}
