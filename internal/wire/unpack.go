package wire

import (
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Bounds of what is decompressed.
const (
	maxUnpacked = 256 << 20 // bytes of one answer or request
	maxWindow   = 32 << 20  // bytes that a stream may refer back to
)

// open returns a reader of what is compressed. It is nil if nobody knows the encoding.
func open(encoding string, r io.Reader) (io.Reader, func(), error) {
	switch encoding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
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

var (
	// ErrEncoding is that nobody knows a Content-Encoding.
	ErrEncoding = errors.New("wire: nobody knows this encoding")

	errTooLarge = errors.New("wire: too large unpacked")
	errStopped  = errors.New("wire: stopped")
)

// Unpack returns the body of a request that came with a Content-Encoding, of at most so
// many bytes. Encodings are gzip, zstd and br.
func Unpack(encoding string, r io.Reader, most int64) ([]byte, error) {
	z, free, err := open(encoding, r)
	if err != nil {
		return nil, err
	}
	defer free()
	data, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, err
}

// An unpacker decompresses pieces as they come. The decoders want to pull; they run as a
// coroutine that hands back when it has read all there is.
type unpacker struct {
	gzip bool
	tail []byte // the last bytes that were fed
	in   []byte
	next func() (struct{}, bool)
	stop func()
	err  error
}

// newUnpacker returns an unpacker that calls out with each piece, or nil if nobody knows
// the encoding.
func newUnpacker(encoding string, out func([]byte)) *unpacker {
	switch encoding {
	case "gzip", "x-gzip", "br", "zstd":
	default:
		return nil
	}
	u := &unpacker{gzip: strings.HasSuffix(encoding, "gzip")}
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

// A puller is what a decoder reads from.
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

// feed unpacks the next piece, and reports whether it could.
func (u *unpacker) feed(p []byte) bool {
	if len(p) == 0 {
		return true
	}
	u.in, u.tail = p, append(u.tail, p[max(0, len(p)-len(flushed)):]...)
	u.tail = u.tail[max(0, len(u.tail)-len(flushed)):]
	_, more := u.next()
	return more || errors.Is(u.err, io.EOF) // some encodings say where they end
}

// behind reports whether more may be read of what was fed than was unpacked. The decoder
// of gzip waits for a flush; those of the others do not.
func (u *unpacker) behind() bool { return u.gzip && string(u.tail) != flushed }

// flushed is how a flush ends: an empty block (RFC 1951, 3.2.4).
const flushed = "\x00\x00\xff\xff"

func (u *unpacker) close() { u.stop() }

// Unpacked returns a reader of what an answer with a Content-Encoding says. It closes what it
// reads from. With [ErrEncoding] nothing was read.
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
