package wire

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Bounds of decompression.
const (
	maxUnpacked = 256 << 20 // decompressed bytes of one answer
	maxWindow   = 32 << 20  // bytes of the window of zstd
)

// open returns a reader that decompresses r, and a function that releases it. It fails with
// ErrEncoding if the encoding is unknown.
func open(encoding string, r io.Reader) (io.Reader, func(), error) {
	switch encoding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	case "deflate":
		z, err := inflate(bufio.NewReader(r))
		return z, func() {}, err
	case "br":
		return brotli.NewReader(r), func() {}, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return nil, nil, ErrEncoding
}

// inflate reads the encoding "deflate": the format of zlib (RFC 1950) or, as some servers send it,
// without zlib's header and checksum (RFC 9110, 8.4.1.2).
func inflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err == nil && head[0]&0xf == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

var (
	// ErrEncoding means that a Content-Encoding is unknown.
	ErrEncoding = errors.New("wire: unknown content encoding: gzip, deflate, zstd and br can be read")

	errTooLarge = errors.New("wire: the decompressed body is too large")
	errStopped  = errors.New("wire: stopped")
)

// Unpack decompresses the body of a request by its Content-Encoding: gzip, deflate, zstd or br. If
// the result is larger than the given size in bytes, Unpack fails and returns one byte more than
// that. It fails with [ErrEncoding] if the encoding is unknown.
func Unpack(encoding string, r io.Reader, most int64) ([]byte, error) {
	z, free, err := open(encoding, r)
	if err != nil {
		return nil, err
	}
	defer free()
	data, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: at most %d bytes are accepted", errTooLarge, most)
	}
	return data, err
}

// An unpacker decompresses an answer piece by piece. A decoder pulls its input from a reader, so
// it runs as a coroutine, which yields when it has read the whole piece.
type unpacker struct {
	flates bool   // the encoding is gzip or deflate
	tail   []byte // the last bytes that were fed
	in     []byte
	next   func() (struct{}, bool)
	stop   func()
	err    error
}

// newUnpacker returns an unpacker that passes each decompressed piece to the function out.
// It returns nil if the encoding is unknown.
func newUnpacker(encoding string, out func([]byte)) *unpacker {
	switch encoding {
	case "gzip", "x-gzip", "deflate", "br", "zstd":
	default:
		return nil
	}
	u := &unpacker{flates: encoding != "br" && encoding != "zstd"}
	u.next, u.stop = iter.Pull(func(yield func(struct{}) bool) {
		u.err = unpack(encoding, puller{u, yield}, out)
	})
	return u
}

func unpack(encoding string, r io.Reader, out func([]byte)) error {
	z, free, err := open(encoding, r)
	if err != nil {
		return err
	}
	defer free()
	buf := make([]byte, 16<<10)
	for total := 0; total < maxUnpacked; {
		n, err := z.Read(buf)
		total += n
		out(buf[:n])
		if err != nil {
			return err
		}
	}
	return errTooLarge
}

// A puller is the reader of the decoder: it yields until the next piece is there.
type puller struct {
	u     *unpacker
	yield func(struct{}) bool
}

// Read implements [io.Reader].
func (p puller) Read(b []byte) (int, error) {
	for len(p.u.in) == 0 {
		if !p.yield(struct{}{}) {
			return 0, errStopped
		}
	}
	n := copy(b, p.u.in)
	p.u.in = p.u.in[n:]
	return n, nil
}

// feed decompresses the next piece. It reports whether that worked.
func (u *unpacker) feed(p []byte) bool {
	if len(p) == 0 {
		return true
	}
	u.in, u.tail = p, append(u.tail, p[max(0, len(p)-len(flushed)):]...)
	u.tail = u.tail[max(0, len(u.tail)-len(flushed)):]
	_, more := u.next()
	return more || errors.Is(u.err, io.EOF) // EOF: the compressed data has ended
}

// behind reports whether the decoder may have read bytes that it has not yet returned as text.
// The decoder of gzip and deflate returns such text at a flush; the other decoders always return
// everything they can decode.
func (u *unpacker) behind() bool { return u.flates && string(u.tail) != flushed }

// flushed is the end of a flush: an empty block (RFC 1951, 3.2.4).
const flushed = "\x00\x00\xff\xff"

func (u *unpacker) close() { u.stop() }

// Unpacked returns a reader that decompresses an answer by its Content-Encoding. Its Close also
// closes r. If it fails with [ErrEncoding], it has read nothing from r.
func Unpacked(encoding string, r io.ReadCloser) (io.ReadCloser, error) {
	z, free, err := open(strings.ToLower(strings.TrimSpace(encoding)), r)
	if err != nil {
		return nil, err
	}
	return &unpacked{z, r, free}, nil
}

type unpacked struct {
	io.Reader

	from io.Closer
	free func()
}

// Close implements [io.Closer].
func (u *unpacked) Close() error {
	u.free()
	return u.from.Close()
}
