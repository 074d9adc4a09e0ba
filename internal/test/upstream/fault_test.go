package upstream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// served starts a server and returns where it is.
func served(t *testing.T, o *upstream.Options) (*upstream.Server, string) {
	t.Helper()
	s := upstream.New(o)
	base, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return s, base
}

// do sends a body as a client of Anthropic and of OpenAI does, and returns the header and what
// came until the end, or until the error.
func do(ctx context.Context, t *testing.T, url, body string, header ...string) (http.Header, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer dummy")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return res.Header, data, err
}

// streams are a request of each dialect for a stream.
var streams = map[string]string{
	"/v1/messages":         request(newest, asks, `"stream":true`),
	"/v1/chat/completions": `{"model":"gpt-5","stream":true,"messages":[` + asks + `]}`,
	"/v1/responses":        `{"model":"gpt-5","stream":true,"input":"go"}`,
}

// faulty is a server whose answer goes wrong.
func faulty(f *upstream.Fault) *upstream.Options {
	return &upstream.Options{Script: []upstream.Step{{Reply: upstream.Reply{
		Blocks: []upstream.Block{upstream.Text("It is a list."), upstream.Call{ID: "c1", Name: "ls", Input: struct{}{}}}, Fault: f,
	}}}}
}

// At every event and at every byte of the first events each fault does what it says, and
// what was sent before it is the beginning of the answer.
func TestAnswersGoWrongAsTheScriptSays(t *testing.T) {
	for path, body := range streams {
		_, base := served(t, faulty(nil))
		_, whole, err := do(t.Context(), t, base+path, body)
		if err != nil {
			t.Fatal(err)
		}
		events := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n\n")), []byte("\n\n"))
		events[len(events)-1] = append(events[len(events)-1], "\n\n"...)
		for n := range len(events) {
			for _, more := range []int{0, 1, len(events[n]) - 1} {
				for _, kind := range upstream.FaultKinds() {
					if kind == upstream.FaultStall {
						continue
					}
					s, base := served(t, faulty(&upstream.Fault{Kind: kind, Events: n, Bytes: more}))
					_, got, err := do(t.Context(), t, base+path, body)
					checkFault(t, kind, bytes.Join(events[:n], nil), more, events[n:], got, err)
					if !bytes.Equal(s.Requests()[0].Reply, whole) {
						t.Errorf("%s at event %d: the reply is not recorded as it was without", kind, n)
					}
				}
			}
		}
	}
}

// checkFault checks what came of an answer in which a fault came behind some events, and more
// bytes.
func checkFault(t *testing.T, kind upstream.FaultKind, before []byte, more int, rest [][]byte, got []byte, err error) {
	t.Helper()
	sent := bytes.Join([][]byte{before, rest[0][:more]}, nil)
	tail := bytes.Join(rest, nil)
	var want []byte
	switch kind {
	case upstream.FaultReset:
		if err == nil || !bytes.HasPrefix(sent, got) { // a reset may take away what is on its way
			t.Errorf("reset behind %q: %q, %v", sent, got, err)
		}
		return
	case upstream.FaultCut:
		if err == nil || !bytes.Equal(sent, got) {
			t.Errorf("cut behind %q: %q, %v", sent, got, err)
		}
		return
	case upstream.FaultMalformed, upstream.FaultError:
		added, ok := bytes.CutPrefix(got, before)
		if kind == upstream.FaultMalformed {
			added, _ = bytes.CutSuffix(added, tail)
		}
		_, data, _ := bytes.Cut(added, []byte("data: "))
		if valid := json.Valid(data); !ok || err != nil || len(data) == 0 || valid != (kind == upstream.FaultError) || bytes.Count(added, []byte("\n\n")) != 1 {
			t.Errorf("%s: behind %q comes %q, %v", kind, before, added, err)
		}
		return
	case upstream.FaultTruncate:
		want = sent
	case upstream.FaultDrip, upstream.FaultStall:
		want = append(before, tail...)
	case upstream.FaultDuplicate:
		at := bytes.LastIndex(bytes.TrimSuffix(before, []byte("\n\n")), []byte("\n\n")) + 1
		if at > 0 {
			at++
		}
		want = bytes.Join([][]byte{before, before[at:], tail}, nil)
	case upstream.FaultSwap:
		if len(rest) > 1 {
			rest = append([][]byte{rest[1], rest[0]}, rest[2:]...)
		}
		want = append(before, bytes.Join(rest, nil)...)
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s behind %q: %q, %v, want %q", kind, before, got, err, want)
	}
}

// A stall ends when it is released, and when the client goes; then the request was canceled.
func TestAStalledAnswerWaits(t *testing.T) {
	const path = "/v1/responses"
	release := make(chan struct{})
	s, base := served(t, faulty(&upstream.Fault{Kind: upstream.FaultStall, Events: 2, Release: release}))
	got := make(chan string)
	go func() {
		_, data, err := do(t.Context(), t, base+path, streams[path])
		if err != nil {
			t.Error(err)
		}
		got <- string(data)
	}()
	select {
	case <-got:
		t.Error("it did not wait")
	case release <- struct{}{}:
	}
	if data := <-got; data != string(s.Requests()[0].Reply) {
		t.Errorf("then comes %q", data)
	}
	if <-s.Requests()[0].Ended(); s.Requests()[0].Canceled {
		t.Error("what was answered is said to be canceled")
	}

	s, base = served(t, faulty(&upstream.Fault{Kind: upstream.FaultStall, Events: 2}))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(streams[path]))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer dummy")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	cancel() // the first events have come
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("what was given up comes to its end")
	}
	_ = res.Body.Close()
	if <-s.Requests()[0].Ended(); !s.Requests()[0].Canceled {
		t.Error("the client has gone, and nobody knows")
	}
}

func TestADocumentGoesWrong(t *testing.T) {
	whole := post(t, upstream.New(faulty(nil)), "/v1/messages", request(newest, asks)).Body.Bytes()
	for n := range len(whole) {
		_, base := served(t, faulty(&upstream.Fault{Kind: upstream.FaultTruncate, Bytes: n}))
		if _, got, err := do(t.Context(), t, base+"/v1/messages", request(newest, asks)); err != nil || !bytes.Equal(got, whole[:n]) {
			t.Fatalf("behind %d bytes: %q, %v", n, got, err)
		}
	}
}

func TestAnswersAndRequestsAreCompressed(t *testing.T) {
	readers := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		"br":   storedBlocks,
	}
	s, base := served(t, &upstream.Options{Encodings: []string{"br", "zstd", "gzip"}})
	for path, body := range streams {
		for encoding, reader := range readers {
			var buf bytes.Buffer
			z, err := zstd.NewWriter(&buf)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(z, body); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			got, data, err := do(t.Context(), t, base+path, buf.String(), "Content-Encoding", "zstd", "Accept-Encoding", "deflate, "+encoding+";q=0.5")
			if err != nil || got.Get("Content-Encoding") != encoding {
				t.Fatalf("%s: %v, %v", encoding, got, err)
			}
			from, err := reader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(from)
			all := s.Requests()
			last := all[len(all)-1]
			if err != nil || !bytes.Equal(plain, last.Reply) {
				t.Errorf("%s: it says %q, %v, want %q", encoding, plain, err, last.Reply)
			}
			if string(last.Body) != body || string(last.Sent) != buf.String() {
				t.Errorf("%s: it was sent %q, which is %q", encoding, last.Sent, last.Body)
			}
		}
		if got, _, err := do(t.Context(), t, base+path, body, "Accept-Encoding", "identity"); err != nil || got.Get("Content-Encoding") != "" {
			t.Errorf("an answer that is not to be compressed: %v, %v", got, err)
		}
	}
	if n := len(s.Refused()); n != 0 {
		t.Errorf("%d refused", n)
	}
	if status, text := ask(t, s, "x", "Content-Encoding", "zstd"); status != http.StatusBadRequest || !strings.Contains(text, "decompressed") {
		t.Errorf("a body that is not what it says: %d, %q", status, text)
	}
}

// storedBlocks reads a stream of RFC 7932 that has uncompressed meta-blocks of up to 65,536
// bytes only, bit by bit.
func storedBlocks(from io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	at := 0
	bits := func(n int) (v int) {
		for i := range n {
			v |= int(data[at/8]>>(at%8)&1) << i
			at++
		}
		return v
	}
	var plain []byte
	if bits(1) != 0 {
		return nil, io.ErrUnexpectedEOF // another window
	}
	for {
		if bits(1) == 1 {
			if bits(1) != 1 {
				return nil, io.ErrUnexpectedEOF // the last block is not empty
			}
			return bytes.NewReader(plain), nil
		}
		if bits(2) != 0 {
			return nil, io.ErrUnexpectedEOF // a longer length
		}
		n := bits(16) + 1
		if bits(1) != 1 {
			return nil, io.ErrUnexpectedEOF // compressed
		}
		at = (at + 7) / 8
		plain = append(plain, data[at:at+n]...)
		at = (at + n) * 8
	}
}
