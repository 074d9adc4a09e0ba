package acme_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An issuing is an authority that gives everyone a certificate for every name, without proof.
type issuing struct {
	url    string // of the directory
	roots  *x509.CertPool
	issued chan string // the names, as soon as their certificates are made

	root *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newIssuing starts an authority that ends with the test.
func newIssuing(t *testing.T) *issuing {
	t.Helper()
	a := &issuing{roots: x509.NewCertPool(), issued: make(chan string, 10)}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	a.root = &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(100 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, a.root, a.root, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.root, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.roots.AddCert(a.root)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// ServeHTTP answers the requests of one order: the path of a certificate is the certificate.
func (a *issuing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, v map[string]string) {
		w.Header().Set("Location", a.url+r.URL.Path+"/1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v) // the client has the error
	}
	w.Header().Set("Replay-Nonce", rand.Text())
	switch r.URL.Path {
	case "/":
		answer(http.StatusOK, map[string]string{"newNonce": a.url + "/nonce", "newAccount": a.url + "/account", "newOrder": a.url + "/order"})
	case "/nonce":
	case "/account":
		answer(http.StatusCreated, map[string]string{"status": "valid"})
	case "/order":
		answer(http.StatusCreated, map[string]string{"status": "ready", "finalize": a.url + "/finalize"})
	case "/finalize":
		name, leaf, err := a.sign(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.issued <- name
		answer(http.StatusOK, map[string]string{"status": "valid", "certificate": a.url + "/" + base64.RawURLEncoding.EncodeToString(leaf)})
	default:
		leaf, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: leaf}) // the client has the error
	}
}

// sign returns the certificate that the last request of an order asks for, and its name.
func (a *issuing) sign(r *http.Request) (name string, der []byte, err error) {
	var signed struct{ Payload string }
	if err := json.NewDecoder(r.Body).Decode(&signed); err != nil {
		return "", nil, err
	}
	payload, err := base64.RawURLEncoding.DecodeString(signed.Payload)
	if err != nil {
		return "", nil, err
	}
	var last struct{ CSR string }
	if err := json.Unmarshal(payload, &last); err != nil {
		return "", nil, err
	}
	if der, err = base64.RawURLEncoding.DecodeString(last.CSR); err != nil {
		return "", nil, err
	}
	asked, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return "", nil, err
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: asked.DNSNames, NotBefore: a.root.NotBefore, NotAfter: a.root.NotAfter}
	der, err = x509.CreateCertificate(rand.Reader, leaf, a.root, asked.PublicKey, a.key)
	return asked.Subject.CommonName, der, err
}
