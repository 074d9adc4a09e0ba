package e2e

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Variables that name the programs of an authority for certificates that runs here: pebble, and the
// name server that it asks, pebble-challtestsrv.
const (
	authorityProgram  = "CARREL_TEST_PEBBLE"
	nameServerProgram = "CARREL_TEST_PEBBLE_NAMES"
)

// A server gets its certificate from an authority over ACME, which proves by connecting to the
// server that it owns the name. The certificate is kept, and no certificate is made for another
// name.
func TestServeGetsACertificate(t *testing.T) {
	const host = "carrel.example.org"
	pebble, names := program(t, authorityProgram), program(t, nameServerProgram)
	dir := t.TempDir()
	at, own := newPebble(t, pebble, names)
	if err := os.Mkdir(filepath.Join(dir, "carrel"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "certificates")
	write(t, filepath.Join(dir, "carrel", "config.toml"), fmt.Appendf(nil, "[server.acme]\ndirectory = %q\nfolder = %q\n", at.directory, folder))
	s := newServerOver(t, dir, []string{"acme/web"}, "--listen", own, "--acme", host)
	if want := "https://" + own; s.url != want {
		t.Errorf("the server is at %s, want %s", s.url, want)
	}

	issued := &tls.Config{RootCAs: at.roots(t), ServerName: host}
	web := &http.Client{Transport: &http.Transport{
		TLSClientConfig: issued, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, own)
		},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v1/sessions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.credential)
	r, err := web.Do(req)
	for errors.Is(err, io.EOF) { // the order takes longer than the server lets a handshake take
		r, err = web.Do(req)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }() // only its status matters
	if r.StatusCode != http.StatusOK || r.ProtoMajor != 2 {
		t.Errorf("the server answers %s over %s", r.Status, r.Proto)
	}
	serial := r.TLS.PeerCertificates[0].SerialNumber

	kept, err := os.ReadFile(filepath.Join(folder, host))
	if err != nil {
		t.Fatal(err)
	}
	var ofFile *x509.Certificate
	for block, rest := pem.Decode(kept); block != nil && ofFile == nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			if ofFile, err = x509.ParseCertificate(block.Bytes); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ofFile == nil || ofFile.SerialNumber.Cmp(serial) != 0 {
		t.Error("the certificate is not the one in the folder")
	}

	other := issued.Clone()
	other.ServerName = "other.example.org"
	if conn, err := tls.Dial("tcp", own, other); err == nil {
		_ = conn.Close() // it should not be there
		t.Error("a certificate was made for another name")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 { // the account and the certificate
		t.Errorf("the folder has %d files, %v", len(files), err)
	}
}

// A pebbleAt has the addresses of an authority.
type pebbleAt struct{ directory, manage, ca string }

// newPebble starts an authority that connects to the returned address to prove who owns a name,
// whichever name it is. Programs that this test starts trust it.
func newPebble(t *testing.T, pebble, names string) (at *pebbleAt, own string) {
	t.Helper()
	dir := t.TempDir()
	ports := freePorts(t, 5)
	address := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	at = &pebbleAt{"https://" + address(0) + "/dir", "https://" + address(1), filepath.Join(dir, "cert.pem")}
	key := filepath.Join(dir, "key.pem")
	writeOwnPair(t, at.ca, key)
	t.Setenv("SSL_CERT_FILE", at.ca)
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": address(0), "managementListenAddress": address(1), "certificate": at.ca, "privateKey": key,
		"httpPort": ports[3], "tlsPort": ports[4],
		"profiles": map[string]any{"default": map[string]any{"description": "the only one", "validityPeriod": 7776000}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "pebble.json"), settings)
	starts(t, "Starting management server", nil, names, "-dnsserver", address(2), "-defaultIPv6", "", "-management", address(3),
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	starts(t, "ACME directory available at", []string{"PEBBLE_VA_NOSLEEP=1"}, pebble, "-config", filepath.Join(dir, "pebble.json"), "-dnsserver", address(2))
	return at, address(4)
}

// roots returns the root certificate of the authority.
func (at *pebbleAt) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	ca, err := os.ReadFile(at.ca)
	if err != nil {
		t.Fatal(err)
	}
	trusted, roots := x509.NewCertPool(), x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	r, err := web.Get(at.manage + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }() // it is read
	root, err := io.ReadAll(r.Body)
	if err != nil || !roots.AppendCertsFromPEM(root) {
		t.Fatalf("the root certificate is %q, %v", root, err)
	}
	return roots
}

// starts starts a program that ends with the test, and returns when the program has printed a text.
func starts(t *testing.T, text string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()                        // the program has it
	t.Cleanup(func() { _ = cmd.Wait() }) // killed, since the test's context ends before
	printed, lines := make(chan bool, 1), bufio.NewScanner(out)
	go func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				printed <- true
				break
			}
		}
		close(printed)
		_, _ = io.Copy(t.Output(), out) // so that the program does not wait for a reader
	}()
	if !<-printed {
		t.Fatalf("%s ended before it printed %q", name, text)
	}
}

// freePorts returns ports of this machine at which nobody listens.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // the port is free again, and was not given twice
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// writeOwnPair writes a certificate for 127.0.0.1 that signs itself, and its key.
func writeOwnPair(t *testing.T, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
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
	write(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
