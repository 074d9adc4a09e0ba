// Package acme gets the certificates of a server from an authority such as Let's Encrypt, over the
// protocol ACME (RFC 8555), and renews them.
//
// An order takes an authority some seconds, and a server may cut a handshake off before. So the
// server orders its certificates itself, in the background, as soon as it accepts connections
// ([Certificates.Listen]). A handshake that begins while an order runs waits for it.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/carrel-dev/carrel/internal/httpjson"
)

// timeout bounds each request to an authority.
const timeout = time.Minute

// LetsEncrypt is the URL of the directory of Let's Encrypt, which issues certificates to everyone.
const LetsEncrypt = autocert.DefaultACMEDirectory

// Options say for which names [Certificates] are got, and from whom.
type Options struct {
	Hosts     []string // full names, such as carrel.example.org; at least one
	Directory string   // URL of the authority's directory, or "" for [LetsEncrypt]
	Email     string   // address to which the authority writes about problems, or ""
	Folder    string   // for the account's key and the certificates; it is made with mode 0700

	Now func() time.Time // the clock; it must be set

	// Note is called with the error if a certificate cannot be had: once for an order, however
	// many handshakes wait for it, and with the same error at most once a minute. It is called
	// during a handshake, at most once a day, if the certificate was not renewed and expires within
	// a week, or within a fifth of its lifetime if that is shorter. A name that is not in Hosts is no
	// error: any client can ask for one. Note must be safe for concurrent use.
	Note func(error)
}

// Certificates are got when their listener first accepts connections, and renewed 30 days before they
// expire, or when a third of their lifetime is left if that is later. The owner of a name proves that
// with TLS-ALPN-01 (RFC 8737): the authority must reach the listener at port 443 of the name. If an
// order fails, a handshake for the name that begins a minute later or more makes another one. Who
// uses Certificates accepts the authority's terms. They are safe for concurrent use.
type Certificates struct {
	options *Options
	manager autocert.Manager
	begin   sync.Once // gets the certificates
	lasting context.Context
	end     context.CancelFunc // ends lasting, and with it all requests to the authority

	mu    sync.Mutex
	noted map[string]time.Time // errors, and when Note may be called again with each
}

// New returns the certificates of the options o, which it keeps. It does not ask the authority: the
// listener of [Certificates.Listen] does. The error names a host that no authority gives a
// certificate for.
func New(o *Options) (*Certificates, error) {
	if len(o.Hosts) == 0 {
		return nil, errors.New("no host to get a certificate for")
	}
	for _, h := range o.Hosts {
		if _, err := netip.ParseAddr(h); err == nil || !strings.Contains(h, ".") || strings.Trim(h, ".") != h || strings.ContainsAny(h, ":/*@ ") {
			return nil, fmt.Errorf("%q is not the full name of a host, such as carrel.example.org", h)
		}
	}
	c := &Certificates{options: o, noted: make(map[string]time.Time)}
	c.lasting, c.end = context.WithCancel(context.Background())
	c.manager = autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Folder), HostPolicy: autocert.HostWhitelist(o.Hosts...), Email: o.Email,
		Client: &acme.Client{
			DirectoryURL: o.Directory, UserAgent: "carrel",
			HTTPClient: &http.Client{Transport: &transport{httpjson.Transport(2), c.lasting}, Timeout: timeout},
		},
	}
	return c, nil
}

// Listen returns a listener that speaks TLS 1.2 or newer over l, for HTTP/2 and HTTP/1.1, and
// answers the authority's challenges. The first call of its Accept begins to get the certificates
// of all hosts that are not in the folder, in the background. Meanwhile a handshake for one of them
// waits. Once the listener is closed, the authority is asked no more, and Note is not called with an
// error that comes of that.
func (c *Certificates) Listen(l net.Listener) net.Listener {
	settings := c.manager.TLSConfig()
	settings.MinVersion = tls.VersionTLS12
	settings.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := c.manager.GetCertificate(hello)
		switch now := c.options.Now(); {
		case c.manager.HostPolicy(hello.Context(), hello.ServerName) != nil:
		case err != nil:
			c.noteFailure(hello.ServerName, err)
		case isLate(cert.Leaf, now):
			c.note(fmt.Errorf("the certificate for %s was not renewed, and expires at %s: look whether the authority can be reached, and reaches port 443 of the name",
				hello.ServerName, cert.Leaf.NotAfter.UTC().Format(time.RFC3339)), now, 24*time.Hour)
		}
		return cert, err
	}
	return &listener{tls.NewListener(l, settings), c}
}

// A listener has certificates. It gets them once it is used, for only then does it answer challenges.
type listener struct {
	net.Listener
	certificates *Certificates
}

func (l *listener) Accept() (net.Conn, error) {
	l.certificates.begin.Do(l.certificates.get)
	return l.Listener.Accept()
}

func (l *listener) Close() error {
	l.certificates.end()
	return l.Listener.Close()
}

// get gets the certificates of all hosts, in the background. They have ECDSA keys; the certificate
// for a client that cannot use those is made when one comes.
func (c *Certificates) get() {
	for _, host := range c.options.Hosts {
		hello := &tls.ClientHelloInfo{ServerName: host, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
		go func() {
			if _, err := c.manager.GetCertificate(hello); err != nil {
				c.noteFailure(host, err)
			}
		}()
	}
}

// A transport ends its requests when the context lasting does. The manager does not let its caller
// end an order.
type transport struct {
	http.RoundTripper
	lasting context.Context
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context()) // which ends once the answer is read
	stop := context.AfterFunc(t.lasting, cancel)
	context.AfterFunc(ctx, func() { stop() })
	return t.RoundTripper.RoundTrip(req.WithContext(ctx))
}

// othersFailure is the text of the manager's error for a handshake that waited for the order of
// another or came within a minute after it, when that order has failed.
const othersFailure = "acme/autocert: missing certificate"

// noteFailure calls Note with the error err of a certificate for a host, unless the order was ended
// by closing the listener, or was another's, who notes why it failed.
func (c *Certificates) noteFailure(host string, err error) {
	if c.lasting.Err() == nil && err.Error() != othersFailure {
		c.note(fmt.Errorf("get a certificate for %s: %w", host, err), c.options.Now(), time.Minute)
	}
}

// isLate reports whether a certificate should have been renewed long ago. The manager renews it when
// 30 days or a third of its lifetime are left, and does not tell why that fails.
func isLate(leaf *x509.Certificate, now time.Time) bool {
	return leaf != nil && leaf.NotAfter.Sub(now) < min(7*24*time.Hour, leaf.NotAfter.Sub(leaf.NotBefore)/5)
}

// note calls Note with an error at the time now, and does so only once in the duration every.
func (c *Certificates) note(err error, now time.Time, every time.Duration) {
	c.mu.Lock()
	maps.DeleteFunc(c.noted, func(_ string, again time.Time) bool { return !now.Before(again) })
	_, known := c.noted[err.Error()]
	if !known {
		c.noted[err.Error()] = now.Add(every)
	}
	c.mu.Unlock()
	if !known {
		c.options.Note(err)
	}
}
