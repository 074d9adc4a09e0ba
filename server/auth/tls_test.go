package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/server/auth"
)

// writePair writes a certificate with a serial number, and its key.
func writePair(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "carrel"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A certificate that is renewed is served from the next connection on; one that cannot be
// used is told, and the former goes on.
func TestKeyPairIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key := writePair(t, dir, 1)
	var noted atomic.Int32
	pair, err := auth.LoadKeyPair(cert, key, func(error) { noted.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	plain, err := auth.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	server := auth.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Proto)) }))
	served := make(chan error, 1)
	go func() { served <- server.Serve(pair.Listen(plain)) }()
	defer func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	serial := func() int64 {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true, //nolint:gosec // its number is looked at
		}}
		resp, err := client.Get("https://" + plain.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.Proto != "HTTP/2.0" || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%s over TLS %x", resp.Proto, resp.TLS.Version)
		}
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d, want 1", got)
	}
	writePair(t, dir, 2)
	touch(t, cert, 1)
	if got := serial(); got != 2 || noted.Load() != 0 {
		t.Errorf("certificate %d after it was renewed, want 2; noted %d times", got, noted.Load())
	}
	if err := os.WriteFile(cert, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(t, cert, 2)
	if got := serial(); got != 2 || noted.Load() != 1 {
		t.Errorf("certificate %d after it was damaged, want 2; noted %d times", got, noted.Load())
	}
	if got := serial(); got != 2 || noted.Load() != 1 {
		t.Errorf("certificate %d, want 2; noted %d times", got, noted.Load())
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 || noted.Load() != 2 {
		t.Errorf("certificate %d after the key went, want 2; noted %d times", got, noted.Load())
	}
	writePair(t, dir, 3)
	touch(t, cert, 3)
	if got := serial(); got != 3 {
		t.Errorf("certificate %d, want 3", got)
	}
}

// touch makes the time of a file another one, whatever the clock of the disk can tell apart.
func touch(t *testing.T, name string, seconds int) {
	t.Helper()
	at := time.Now().Add(time.Duration(seconds) * time.Minute)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestKeyPairThatIsNone(t *testing.T) {
	dir := t.TempDir()
	cert, key := writePair(t, dir, 1)
	for _, tt := range [][2]string{{cert, cert}, {key, key}, {cert, filepath.Join(dir, "none")}, {"", key}} {
		if _, err := auth.LoadKeyPair(tt[0], tt[1], nil); err == nil {
			t.Errorf("%v is taken", tt)
		}
	}
}
