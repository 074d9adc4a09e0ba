package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/llm"
)

// What no error may repeat, although every server of these tests sends it back.
const (
	key   = "canary-key"
	text  = "canary text"
	model = "tiny"
)

// startServer starts a server for the time of a test, and returns its URL and the number
// of its calls.
func startServer(t *testing.T, h http.HandlerFunc) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// whole returns a handler that sends a text.
func whole(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// stall blocks until the client has gone.
func stall(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection goes unnoticed
	<-r.Context().Done()
}

// stalling returns a handler that sends a text, and no more until the client has
// gone.
func stalling(before string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if before != "" {
			fmt.Fprint(w, before)
			_ = http.NewResponseController(w).Flush() // the client will notice
		}
		stall(r)
	}
}

// endless returns a handler that sends a text again and again.
func endless(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, body)
		}
	}
}

// dropping returns a handler that sends a text in place of a reply and drops the
// connection.
func dropping(t *testing.T, before string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, before)
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkError checks what an error is and says, and that it shows neither key nor
// text.
func checkError(t *testing.T, err, want error, says string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("error is %v, want %v that says %q", err, want, says)
	}
	for _, s := range []string{key, text} {
		if shown := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(shown, s) {
			t.Errorf("error shows %q: %s", s, shown)
		}
	}
}

// checkReply checks that whatever came is a reply that makes sense, or an error of
// the port.
func checkReply(t *testing.T, r *llm.Reply, err error) {
	t.Helper()
	switch {
	case err != nil && !errors.Is(err, llm.ErrReply) && !errors.Is(err, llm.ErrUnavailable) && !errors.Is(err, llm.ErrRefused):
		t.Errorf("error is %v", err)
	case err == nil && (!utf8.ValidString(r.Text) || r.Stop == "" || r.Usage.Input < 1 || r.Usage.Output < 1):
		t.Errorf("reply is %+v", r)
	}
}

// A driver opens a generator of a server. Its methods check what every generator keeps.
type driver func(baseURL, model string, o *GeneratorOptions) (llm.Generator, error)

// start starts a server and returns a generator of it, with the key and
// with pauses that take no time, and the number of its calls.
func (d driver) start(t *testing.T, o GeneratorOptions, h http.HandlerFunc) (llm.Generator, *atomic.Int32) {
	t.Helper()
	url, calls := startServer(t, h)
	o.Key = llm.NewSecret(key)
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	g, err := d(url, model, &o)
	if err != nil {
		t.Fatal(err)
	}
	return g, calls
}

// A served reply is what a server sends, and the reply that is made of it.
type served struct {
	name  string
	opts  GeneratorOptions
	serve http.HandlerFunc
	want  llm.Reply
}

// replies checks that one call gives each reply. What is asked is 12 bytes long,
// below a system prompt of 5.
func (d driver) replies(t *testing.T, replies []served) {
	for _, tt := range replies {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := d.start(t, tt.opts, tt.serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{System: "brief", Text: "Hello, world"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" || calls.Load() != 1 {
				t.Errorf("%d calls, reply (-want +got):\n%s", calls.Load(), diff)
			}
		})
	}
}

// requests checks that a prompt is sent once, with a bound on the reply. The first
// body has the system prompt "s", the text "t" and asks for a stream. The second
// has the text alone, asks for no stream, and has the bound where whole has %d.
// The handler answers, and may check the rest of a request.
func (d driver) requests(t *testing.T, stream, whole string, h http.HandlerFunc) {
	for _, tt := range []struct {
		name   string
		opts   GeneratorOptions
		prompt llm.Prompt
		want   string
	}{
		{"a stream", GeneratorOptions{}, llm.Prompt{System: "s", Text: "t"}, stream},
		{"no stream", GeneratorOptions{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t"}, fmt.Sprintf(whole, 9)},
		{"a prompt that says how long", GeneratorOptions{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t", MaxTokens: 7}, fmt.Sprintf(whole, 7)},
		{"a prompt for one token", GeneratorOptions{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t", MaxTokens: 1}, fmt.Sprintf(whole, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := d.start(t, tt.opts, func(w http.ResponseWriter, r *http.Request) {
				var sent any
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
					t.Error(err)
				}
				if got, err := json.Marshal(sent); err != nil || string(got) != tt.want {
					t.Errorf("sent %s, %v, want %s", got, err, tt.want)
				}
				h(w, r)
			})
			if _, err := g.Generate(t.Context(), &tt.prompt); err != nil || calls.Load() != 1 {
				t.Errorf("%v after %d calls", err, calls.Load())
			}
		})
	}
}

// A failure is what a server sends in place of a reply, and the error that is made
// of it.
type failure struct {
	name  string
	opts  GeneratorOptions
	serve http.HandlerFunc
	want  error
	says  string // in the error
	calls int32  // how often the server is asked; 0 is once
}

// failures checks that a server that errs in every way gives an error that says
// which, after few calls and at once, and repeats nothing of what the server said.
func (d driver) failures(t *testing.T, failures []failure) {
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := d.start(t, tt.opts, tt.serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{Text: text})
			checkError(t, err, tt.want, tt.says)
			if tt.opts.Timeout > 0 && calls.Load() == 0 {
				return // the time was up before the server had noticed
			}
			if want := max(tt.calls, 1); got != nil || calls.Load() != want {
				t.Errorf("%v after %d calls, want nothing after %d", got, calls.Load(), want)
			}
		})
	}
}

// statuses checks what statuses mean, as driver.failures does. The format is that
// of an error as the interface writes it, with two verbs for what it says.
func (d driver) statuses(t *testing.T, format string) {
	var failures []failure
	for _, code := range []int{204, 301, 400, 401, 403, 404, 408, 413, 418, 429, 500, 502, 503, 529, 599} {
		want, calls := llm.ErrRefused, int32(1)
		switch {
		case code == 204:
			want = llm.ErrReply
		case code == 408:
			want = llm.ErrUnavailable
		case code == 429, code >= 500:
			want, calls = llm.ErrUnavailable, 3
		}
		failures = append(failures, failure{fmt.Sprint(code), GeneratorOptions{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			if code != http.StatusNoContent {
				fmt.Fprintf(w, format, text, key)
			}
		}, want, fmt.Sprintf("status %d", code), calls})
	}
	d.failures(t, failures)
}

// limits checks that time, bytes and tries are bounded, as driver.failures does.
// A stream begins with the first text, goes on with the second, and says nothing
// with the third.
func (d driver) limits(t *testing.T, begin, more, ping string) {
	d.failures(t, []failure{
		{name: "a server that hangs", opts: GeneratorOptions{Options: Options{Timeout: 10 * time.Millisecond}}, serve: stalling(""), want: llm.ErrUnavailable, says: "no reply within 10ms"},
		{name: "a stream that hangs", opts: GeneratorOptions{Idle: 30 * time.Millisecond}, serve: stalling(begin), want: llm.ErrUnavailable, says: "nothing more of the reply within 30ms"},
		{name: "a reply that hangs", opts: GeneratorOptions{Options: Options{Timeout: 10 * time.Millisecond}, NoStream: true}, serve: stalling("{"), want: llm.ErrUnavailable, says: "within 10ms"},
		{name: "a stream without end", opts: GeneratorOptions{Options: Options{MaxReply: 5000}}, serve: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, begin)
			endless(more)(w, r)
		}, want: llm.ErrReply, says: "more than 5000 bytes"},
		{name: "pings without end", opts: GeneratorOptions{Options: Options{MaxReply: 5000}}, serve: endless(ping), want: llm.ErrReply, says: "more than 5000 bytes"},
		{name: "a connection that breaks off", serve: dropping(t, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"+begin), want: llm.ErrReply, says: "cut off after"},
		{name: "a connection that is dropped", serve: dropping(t, ""), want: llm.ErrUnavailable, says: "connection dropped", calls: 3},
		{name: "a connection that is dropped, once", opts: GeneratorOptions{Options: Options{Retries: -1}}, serve: dropping(t, ""), want: llm.ErrUnavailable, says: "connection dropped"},
	})
}

// givesUp checks that a call ends with its caller's context, and says so.
func (d driver) givesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, calls := d.start(t, GeneratorOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		stall(r)
	})
	_, err := g.Generate(ctx, &llm.Prompt{Text: text})
	checkError(t, err, context.Canceled, "")
	if calls.Load() != 1 || errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("%v after %d calls, want the context's own after 1", err, calls.Load())
	}
}
