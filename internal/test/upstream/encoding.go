package upstream

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// decompressed returns the body of a request without its compression: gzip, zstd or none.
func decompressed(encoding string, data []byte) ([]byte, error) {
	var from io.Reader
	switch strings.ToLower(encoding) {
	case "", "identity":
		return data, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		from = r
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		from = r
	default:
		return nil, fmt.Errorf("content-encoding %q is not known: use gzip, zstd or none", encoding)
	}
	return io.ReadAll(io.LimitReader(from, maxBytes+1))
}

// firstOf returns the first encoding that a client accepts, or "".
func firstOf(encodings []string, h http.Header) string {
	var accepted []string
	for _, line := range h.Values("Accept-Encoding") {
		for name := range strings.SplitSeq(line, ",") {
			name, _, _ = strings.Cut(name, ";")
			accepted = append(accepted, strings.TrimSpace(name))
		}
	}
	for _, e := range encodings {
		if slices.Contains(accepted, e) {
			return e
		}
	}
	return ""
}

// A flusher is a compressor that can flush all input to its output.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// compressed compresses each piece so that a client can decompress it as soon as it has
// arrived. The end of the encoding is at the end of the last piece.
func compressed(encoding string, pieces [][]byte) [][]byte {
	var buf bytes.Buffer
	var w flusher
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "zstd":
		z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(fmt.Sprintf("upstream: %v", err)) // the options are valid
		}
		w = z
	case "br":
		w = &storedBrotli{to: &buf}
	default:
		return pieces
	}
	list := make([][]byte, 0, len(pieces))
	take := func(do func() error) {
		if err := do(); err != nil {
			panic(fmt.Sprintf("upstream: %v", err)) // a buffer accepts everything
		}
	}
	for i, p := range pieces {
		take(func() error { _, err := w.Write(p); return err })
		take(w.Flush)
		if i == len(pieces)-1 {
			take(w.Close)
		}
		list = append(list, bytes.Clone(buf.Bytes()))
		buf.Reset()
	}
	return list
}

// A storedBrotli writes the format of RFC 7932 without compression: every write becomes an
// uncompressed meta-block.
type storedBrotli struct {
	to    *bytes.Buffer
	begun bool
}

// Write writes data as meta-blocks of at most 65,536 bytes.
func (w *storedBrotli) Write(data []byte) (int, error) {
	for block := range slices.Chunk(data, 1<<16) {
		// From the lowest bit on: the window (one bit 0, before the first block), not the
		// last block (0), a length of 4 nibbles (00), the length less one, uncompressed (1).
		bits := uint32(len(block)-1)<<3 | 1<<19 //nolint:gosec // at most 65,535
		if !w.begun {
			bits, w.begun = bits<<1, true
		}
		w.to.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16)})
		w.to.Write(block)
	}
	return len(data), nil
}

// Flush does nothing, because a client can already decompress everything that
// Write has written.
func (w *storedBrotli) Flush() error { return nil }

// Close writes the last block, which is empty.
func (w *storedBrotli) Close() error {
	end := byte(0b11)
	if !w.begun {
		end <<= 1
	}
	return w.to.WriteByte(end)
}
