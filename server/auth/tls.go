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

// A KeyPair is a certificate and its private key, from two PEM files. It is read again when one
// of the files has changed, so that a renewed certificate needs no restart. It is safe for
// concurrent use.
type KeyPair struct {
	certFile, keyFile string
	note              func(error)

	mu   sync.Mutex
	pair *tls.Certificate
	seen [2]fileState // of the files when they were read last, also if that failed
}

// A fileState identifies a version of a file: it differs after the file has
// changed.
type fileState struct {
	size    int64
	changed time.Time
}

// LoadKeyPair reads a certificate and its key. If changed files cannot be read later, during a
// handshake, the KeyPair keeps the old certificate and calls note with the error, one call at a
// time. note must not be nil.
func LoadKeyPair(certFile, keyFile string, note func(error)) (*KeyPair, error) {
	p := &KeyPair{certFile: certFile, keyFile: keyFile, note: note}
	return p, p.load()
}

// Listen returns a listener that speaks TLS 1.2 or newer over l, for HTTP/2 and HTTP/1.1.
func (p *KeyPair) Listen(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current(), nil },
	})
}

// current returns the certificate of the files, or the last one that could be read.
func (p *KeyPair) current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seen, _ := p.states(); seen != p.seen {
		if err := p.load(); err != nil {
			p.note(fmt.Errorf("the former certificate stays in use: %w", err))
		}
	}
	return p.pair
}

// load reads the files. If that fails, the KeyPair keeps its certificate.
func (p *KeyPair) load() error {
	var err error
	// Before reading, so that the next handshake sees a change during the reading.
	if p.seen, err = p.states(); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return fmt.Errorf("load certificate %s with key %s: %w", p.certFile, p.keyFile, err)
	}
	p.pair = &pair
	return nil
}

// states returns the states of the files; a file that cannot be examined has the zero state.
func (p *KeyPair) states() (now [2]fileState, err error) {
	for i, name := range [...]string{p.certFile, p.keyFile} {
		fi, e := os.Stat(name)
		if err = errors.Join(err, e); e == nil {
			now[i] = fileState{fi.Size(), fi.ModTime()}
		}
	}
	return now, err
}
