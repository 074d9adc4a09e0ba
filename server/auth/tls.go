package auth

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// A KeyPair is a certificate and its private key, from two files with PEM blocks. It is read
// again when one of the files has changed, so that whoever renews a certificate need not end
// the server. It is safe for concurrent use.
type KeyPair struct {
	certFile, keyFile string
	note              func(error)

	mu   sync.Mutex
	pair *tls.Certificate
	seen [2]fileState // of the files that were read last, whatever came of it
}

// A fileState tells a file from what it was before.
type fileState struct {
	size    int64
	changed time.Time
}

// LoadKeyPair reads a certificate and its key. Note is told, by a handshake, why files that
// have changed cannot be used; the former certificate goes on then.
func LoadKeyPair(certFile, keyFile string, note func(error)) (*KeyPair, error) {
	p := &KeyPair{certFile: certFile, keyFile: keyFile, note: note}
	return p, p.load()
}

// Listen returns a listener that speaks TLS 1.2 or newer over another one, as HTTP/2 or
// HTTP/1.1.
func (p *KeyPair) Listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current(), nil },
	})
}

// current returns the certificate that is in the files, or the last one that was.
func (p *KeyPair) current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seen, _ := p.states(); seen != p.seen {
		if err := p.load(); err != nil {
			p.note(err)
		}
	}
	return p.pair
}

// load reads the files. What was there before stays if they cannot be used.
func (p *KeyPair) load() error {
	var err error
	// As they are before they are read: a change meanwhile is seen by the next handshake.
	if p.seen, err = p.states(); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", p.certFile, p.keyFile, err)
	}
	p.pair = &pair
	return nil
}

// states returns how the files are now; one that cannot be looked at has the zero state.
func (p *KeyPair) states() (now [2]fileState, err error) {
	for i, name := range [...]string{p.certFile, p.keyFile} {
		fi, e := os.Stat(name)
		if err = errors.Join(err, e); e == nil {
			now[i] = fileState{fi.Size(), fi.ModTime()}
		}
	}
	return now, err
}
