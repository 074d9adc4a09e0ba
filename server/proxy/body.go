package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// A payload is the body of a request in memory that is used again when nobody needs it any
// more: the one who read it, the transport, which may write it after it has an answer, and
// whoever keeps the conversation. Each lets go once.
type payload struct {
	bytes.Buffer

	users atomic.Int32
}

var payloads = sync.Pool{New: func() any { return new(payload) }}

// maxKept is the size above which the memory of a body is left to the collector.
const maxKept = 8 << 20

// errBodyTooLarge means that there is more of a body than is read.
var errBodyTooLarge = errors.New("proxy: the body is larger than what is read")

// readPayload reads a body of at most so many bytes. With errBodyTooLarge the payload has
// the beginning.
func readPayload(r io.Reader, length, most int64) (*payload, error) {
	b, _ := payloads.Get().(*payload) // it has nothing else
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

// release takes a user away.
func (b *payload) release() {
	if b.users.Add(-1) == 0 && b.Cap() <= maxKept {
		payloads.Put(b)
	}
}

// reader returns a reader of the whole body. To close it is to let go.
func (b *payload) reader() io.ReadCloser {
	return &payloadReader{from: bytes.NewReader(b.Bytes()), body: b.hold()}
}

// A payloadReader reads until it is closed, also by another goroutine: then nothing reads
// the memory any more.
type payloadReader struct {
	mu   sync.Mutex
	from *bytes.Reader
	body *payload // nil when it is closed
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

// errClosed means that a body is read that nobody sends any more.
var errClosed = errors.New("proxy: the body is closed")
