package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// A payload is the body of a request in a pooled buffer. It counts its users: the call that
// read it, the transport, which may still write it after the answer began, and the keeper of
// the conversation. Each calls release once; the last release returns the buffer to the pool.
type payload struct {
	bytes.Buffer

	users atomic.Int32
}

var payloads = sync.Pool{New: func() any { return new(payload) }}

// maxKept is the capacity in bytes above which a buffer goes to the garbage collector, not to
// the pool.
const maxKept = 8 << 20

// errBodyTooLarge means that a body has more bytes than readPayload may read.
var errBodyTooLarge = errors.New("proxy: the body has more than Options.MaxBody bytes")

// readPayload reads a body of at most the given number of bytes; length is its Content-Length,
// or -1. If the body is larger, it returns errBodyTooLarge with a payload that has the beginning.
func readPayload(r io.Reader, length, most int64) (*payload, error) {
	b, _ := payloads.Get().(*payload) // the pool has only payloads
	b.Reset()
	b.users.Store(1)
	if length > 0 && length <= most {
		b.Grow(int(length) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = errBodyTooLarge
	}
	return b, err
}

// hold adds a user.
func (b *payload) hold() *payload {
	b.users.Add(1)
	return b
}

// release removes a user; the last one returns the buffer to the pool.
func (b *payload) release() {
	if b.users.Add(-1) == 0 && b.Cap() <= maxKept {
		payloads.Put(b)
	}
}

// reader returns a reader of the whole body that counts as a user until it is closed.
func (b *payload) reader() io.ReadCloser {
	return &payloadReader{from: bytes.NewReader(b.Bytes()), body: b.hold()}
}

// A payloadReader reads a payload until it is closed. Another goroutine may close it; afterwards
// Read does not touch the buffer.
type payloadReader struct {
	mu   sync.Mutex
	from *bytes.Reader
	body *payload // nil after Close
}

// Read implements [io.Reader].
func (r *payloadReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return 0, errClosed
	}
	return r.from.Read(b)
}

// Close implements [io.Closer]. It may be called again.
func (r *payloadReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body != nil {
		r.body.release()
		r.body = nil
	}
	return nil
}

// errClosed means that a payloadReader is read after Close.
var errClosed = errors.New("proxy: the body was read after it was closed")
