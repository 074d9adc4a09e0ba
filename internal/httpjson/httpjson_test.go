package httpjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sentinels = Errors{errors.New("unavailable"), errors.New("refused"), errors.New("unusable reply")}

// canary is what no error may repeat.
const canary = "canary"

// collect returns what is read from a source: the events, or the document.
func collect(source io.Reader) (events []string, document []byte, err error) {
	document, err = ReadEvents(source, func(e *Event) (bool, error) {
		events = append(events, e.Name+"|"+string(e.Data))
		return string(e.Data) == "[DONE]", nil
	})
	return events, document, err
}

func TestReadEvents(t *testing.T) {
	for _, tt := range []struct {
		name     string
		text     string
		events   []string
		document string
	}{
		{"nothing", "", nil, ""},
		{"one event", "data: a\n\n", []string{"|a"}, ""},
		{"an event with a name", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}, ""},
		{"no space after the colon", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}, ""},
		{"lines that end in CR and LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}, ""},
		{"lines that end in CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}, ""},
		{"several lines of data", "data: a\ndata\ndata: b\n\n", []string{"|a\n\nb"}, ""},
		{"comments, ids and fields of other names", ": hello\nid: 1\nretry: 5\nx: y\ndata: a\n\n: ping\n\n", []string{"|a"}, ""},
		{"an event without data", "event: ping\n\ndata: a\n\n", []string{"|a"}, ""},
		{"no empty line at the end", "data: a\n\ndata: b", []string{"|a", "|b"}, ""},
		{"a byte order mark and empty lines before", "\xef\xbb\xbf\n\ndata: a\n\n", []string{"|a"}, ""},
		{"nothing is read after the last", "data: [DONE]\n\ndata: a\n\n", []string{"|[DONE]"}, ""},
		{"invalid UTF-8", "data: \xff\n\n", []string{"|\xff"}, ""},
		{"a document", "\n {\"data\": 1}\n\n", nil, "{\"data\": 1}\n\n"},
		{"a page", "<html>\ndata: a\n\n", nil, "<html>\ndata: a\n\n"},
		{"a word that begins like a field", "error\n\n", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text)), iotest.DataErrReader(strings.NewReader(tt.text))} {
				events, document, err := collect(r)
				if err != nil || string(document) != tt.document {
					t.Errorf("document %q, error %v, want %q", document, err, tt.document)
				}
				if diff := cmp.Diff(tt.events, events); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What a stream holds is handed over whatever the pieces it comes in, and is never
// more than came.
func FuzzReadEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: 1\r\rdata", "{}", ":\n\ndata:\n\n", "\xef\xbb\xbfdata: \xff\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events, document, err := collect(bytes.NewReader(data))
		slowly, same, err2 := collect(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil || err2 != nil || !bytes.Equal(document, same) || !cmp.Equal(events, slowly) {
			t.Fatalf("%q %q %v, in pieces %q %q %v", events, document, err, slowly, same, err2)
		}
		total := 0
		for _, e := range events {
			total += len(e) - 1
		}
		if total > len(data) || len(document) > len(data) {
			t.Errorf("%d bytes of events and %d of a document in %d", total, len(document), len(data))
		}
	})
}

// client returns one with options that are complete.
func client(t *testing.T, o Options) *Client {
	t.Helper()
	o.Errors = sentinels
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	if err := o.Complete(time.Minute, time.Minute, 1<<20); err != nil {
		t.Fatal(err)
	}
	return New(o)
}

// serve starts a server that counts its calls.
func serve(t *testing.T, h http.HandlerFunc) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection goes unnoticed
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// say writes a text at once.
func say(w http.ResponseWriter, text string) {
	fmt.Fprint(w, text)
	_ = http.NewResponseController(w).Flush() // whoever reads will notice
}

// drop ends a connection after some bytes.
func drop(w http.ResponseWriter, before string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	fmt.Fprint(conn, before)
	_ = conn.Close() // that is the point
}

func TestStream(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		name   string
		opts   Options
		serve  http.HandlerFunc
		events []string
		err    error
		says   string
		calls  int32
	}{
		{"to its end", Options{}, func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\n") }, []string{"|a"}, nil, "", 1},
		{"to its last event, although the connection stays", Options{}, func(w http.ResponseWriter, r *http.Request) {
			say(w, "data: [DONE]\n\n")
			<-r.Context().Done()
		}, []string{"|[DONE]"}, nil, "", 1},
		{"that hangs before it begins", Options{Timeout: 5 * time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil, sentinels.Unavailable, "no reply within 5ms", 1},
		{"that hangs in the middle", Options{Idle: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			say(w, "data: "+canary+"\n\n")
			<-r.Context().Done()
		}, []string{"|" + canary}, sentinels.Unavailable, "nothing more of the reply within 50ms", 1},
		{"that has no end", Options{MaxReply: 1000}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				say(w, ": "+canary+"\n")
			}
		}, nil, sentinels.Reply, "more than 1000 bytes", 1},
		{"that never ends a line", Options{MaxReply: 1000}, func(w http.ResponseWriter, r *http.Request) {
			say(w, "data: ")
			for r.Context().Err() == nil {
				say(w, canary)
			}
		}, nil, sentinels.Reply, "more than 1000 bytes", 1},
		{"that breaks off", Options{}, func(w http.ResponseWriter, _ *http.Request) { drop(w, head+"9\r\ndata: a\n\n\r\n") }, []string{"|a"}, sentinels.Reply, "cut off after 9 bytes", 1},
		{"whose last event and end of the connection are one", Options{}, func(w http.ResponseWriter, _ *http.Request) { drop(w, head+"e\r\ndata: [DONE]\n\n\r\n") }, []string{"|[DONE]"}, nil, "", 1},
		{"that is turned away", Options{Retries: 1}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(529) }, nil, sentinels.Unavailable, "status 529", 2},
		{"that is dropped before it begins", Options{Retries: 1}, func(w http.ResponseWriter, _ *http.Request) { drop(w, "") }, nil, sentinels.Unavailable, "connection dropped", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, calls := serve(t, tt.serve)
			var events []string
			document, err := client(t, tt.opts).Stream(t.Context(), url, []byte("{}"), func(e *Event) (bool, error) {
				events = append(events, e.Name+"|"+string(e.Data))
				return string(e.Data) == "[DONE]", nil
			})
			if !errors.Is(err, tt.err) || err != nil && (!strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), canary)) {
				t.Errorf("error is %v, want %v that says %q", err, tt.err, tt.says)
			}
			if diff := cmp.Diff(tt.events, events); diff != "" || document != nil {
				t.Errorf("document %q, events (-want +got):\n%s", document, diff)
			}
			if got := calls.Load(); got != tt.calls && tt.opts.Timeout == 0 { // or the time was up before the server had noticed
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
		})
	}
}

// An event that cannot be used ends the stream with the error of who took it.
func TestStreamThatIsNotWanted(t *testing.T) {
	url, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) { say(w, "data: a\n\ndata: b\n\n") })
	want, seen := errors.New("no"), 0
	_, err := client(t, Options{}).Stream(t.Context(), url, nil, func(*Event) (bool, error) {
		seen++
		return false, want
	})
	if !errors.Is(err, want) || seen != 1 || calls.Load() != 1 {
		t.Errorf("%v after %d events of %d calls", err, seen, calls.Load())
	}
}

func TestCallerThatGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, calls := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, "data: a\n\n")
		<-r.Context().Done()
	})
	_, err := client(t, Options{}).Stream(ctx, url, nil, func(*Event) (bool, error) {
		cancel()
		return false, nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, sentinels.Unavailable) || calls.Load() != 1 {
		t.Errorf("%v after %d calls, want the context's own after 1", err, calls.Load())
	}
	cancel()
	if err := Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause ends with %v", err)
	}
}

func TestDefaults(t *testing.T) {
	if err := Sleep(t.Context(), time.Nanosecond); err != nil {
		t.Error(err)
	}
	if Transport(1).Proxy != nil {
		t.Error("the default transport takes a proxy from the environment")
	}
	var o Options
	if err := o.Complete(time.Second, 2*time.Second, 3); err != nil || o.Timeout != time.Second || o.Idle != 2*time.Second || o.MaxReply != 3 || o.Retries != 2 || o.Sleep == nil || o.Rand == nil {
		t.Errorf("%+v, %v", o, err)
	}
	for _, o := range []Options{{Timeout: -1}, {Idle: -1}, {Retries: -2}, {MaxReply: -1}} {
		if o.Complete(1, 1, 1) == nil {
			t.Errorf("%+v makes sense", o)
		}
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]string{"m-1.5:8b": "m-1.5:8b", "": "", "a b": "", "\x1b[1m": "", strings.Repeat("a", 129): ""} {
		if got := Label(s); got != want {
			t.Errorf("Label(%q) = %q, want %q", s, got, want)
		}
	}
	for _, key := range []string{"a b", "a\r\nX: y", "é"} {
		if err := CheckKey(key); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("CheckKey(%q): %v", key, err)
		}
	}
}
