package llmtest

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
	Key  = "canary-key"
	Text = "canary text"
)

// Serve starts a server for the time of a test, and returns its URL and the number
// of its calls.
func Serve(t *testing.T, h http.HandlerFunc) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// Whole returns a handler that sends a text.
func Whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// Stall blocks until the client has gone.
func Stall(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection goes unnoticed
	<-r.Context().Done()
}

// Stalling returns a handler that sends a text, and no more until the client has
// gone.
func Stalling(before string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if before != "" {
			fmt.Fprint(w, before)
			_ = http.NewResponseController(w).Flush() // the client will notice
		}
		Stall(r)
	}
}

// Endless returns a handler that sends a text again and again.
func Endless(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, text)
		}
	}
}

// Dropping returns a handler that sends a text in place of a reply and drops the
// connection.
func Dropping(t *testing.T, before string) http.HandlerFunc {
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

// CheckError checks what an error is and says, and that it shows neither [Key] nor
// [Text].
func CheckError(t *testing.T, err, want error, says string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("error is %v, want %v that says %q", err, want, says)
	}
	for _, s := range []string{Key, Text} {
		if shown := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(shown, s) {
			t.Errorf("error shows %q: %s", s, shown)
		}
	}
}

// CheckReply checks that whatever came is a reply that makes sense, or an error of
// the port.
func CheckReply(t *testing.T, r *llm.Reply, err error) {
	t.Helper()
	switch {
	case err != nil && !errors.Is(err, llm.ErrReply) && !errors.Is(err, llm.ErrUnavailable) && !errors.Is(err, llm.ErrRefused):
		t.Errorf("error is %v", err)
	case err == nil && (!utf8.ValidString(r.Text) || r.Stop == "" || r.Usage.Input < 1 || r.Usage.Output < 1):
		t.Errorf("reply is %+v", r)
	}
}

// Options are those of a generator that the checks of a [Driver] set. The driver
// has its default where one is zero.
type Options struct {
	MaxTokens     int
	NoStream      bool
	Timeout, Idle time.Duration
	Retries       int
	MaxReply      int64
}

// A Driver opens a generator of a server: with [Key], and with pauses that take no
// time. Its methods check what every generator over HTTP keeps.
type Driver func(url string, o Options) (llm.Generator, error)

// Open starts a server and returns a generator of it, and the number of its calls.
func (d Driver) Open(t *testing.T, o Options, h http.HandlerFunc) (llm.Generator, *atomic.Int32) {
	t.Helper()
	url, calls := Serve(t, h)
	g, err := d(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return g, calls
}

// A Reply is what a server sends, and the reply that is made of it.
type Reply struct {
	Name  string
	Opts  Options
	Serve http.HandlerFunc
	Want  llm.Reply
}

// Replies checks that one call gives each reply. What is asked is 12 bytes long,
// below a system prompt of 5.
func (d Driver) Replies(t *testing.T, replies []Reply) {
	for _, tt := range replies {
		t.Run(tt.Name, func(t *testing.T) {
			g, calls := d.Open(t, tt.Opts, tt.Serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{System: "brief", Text: "Hello, world"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.Want, got); diff != "" || calls.Load() != 1 {
				t.Errorf("%d calls, reply (-want +got):\n%s", calls.Load(), diff)
			}
		})
	}
}

// Requests checks that a prompt is sent once, with a bound on the reply. The first
// body has the system prompt "s", the text "t" and asks for a stream. The second
// has the text alone, asks for no stream, and has the bound where whole has %d.
// The handler answers, and may check the rest of a request.
func (d Driver) Requests(t *testing.T, stream, whole string, h http.HandlerFunc) {
	for _, tt := range []struct {
		name   string
		opts   Options
		prompt llm.Prompt
		want   string
	}{
		{"a stream", Options{}, llm.Prompt{System: "s", Text: "t"}, stream},
		{"no stream", Options{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t"}, fmt.Sprintf(whole, 9)},
		{"a prompt that says how long", Options{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t", MaxTokens: 7}, fmt.Sprintf(whole, 7)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := d.Open(t, tt.opts, func(w http.ResponseWriter, r *http.Request) {
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

// A Failure is what a server sends in place of a reply, and the error that is made
// of it.
type Failure struct {
	Name  string
	Opts  Options
	Serve http.HandlerFunc
	Want  error
	Says  string // in the error
	Calls int32  // how often the server is asked; 0 is once
}

// Failures checks that a server that errs in every way gives an error that says
// which, after few calls and at once, and repeats nothing of what the server said.
func (d Driver) Failures(t *testing.T, failures []Failure) {
	for _, tt := range failures {
		t.Run(tt.Name, func(t *testing.T) {
			g, calls := d.Open(t, tt.Opts, tt.Serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{Text: Text})
			CheckError(t, err, tt.Want, tt.Says)
			if tt.Opts.Timeout > 0 && calls.Load() == 0 {
				return // the time was up before the server had noticed
			}
			if want := max(tt.Calls, 1); got != nil || calls.Load() != want {
				t.Errorf("%v after %d calls, want nothing after %d", got, calls.Load(), want)
			}
		})
	}
}

// Statuses checks what statuses mean, as [Driver.Failures] does. The format is that
// of an error as the interface writes it, with two verbs for what it says.
func (d Driver) Statuses(t *testing.T, format string) {
	var failures []Failure
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
		failures = append(failures, Failure{fmt.Sprint(code), Options{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			if code != http.StatusNoContent {
				fmt.Fprintf(w, format, Text, Key)
			}
		}, want, fmt.Sprintf("status %d", code), calls})
	}
	d.Failures(t, failures)
}

// Limits checks that time, bytes and tries are bounded, as [Driver.Failures] does.
// A stream begins with the first text, goes on with the second, and says nothing
// with the third.
func (d Driver) Limits(t *testing.T, begin, more, ping string) {
	d.Failures(t, []Failure{
		{Name: "a server that hangs", Opts: Options{Timeout: 10 * time.Millisecond}, Serve: Stalling(""), Want: llm.ErrUnavailable, Says: "no reply within 10ms"},
		{Name: "a stream that hangs", Opts: Options{Idle: 30 * time.Millisecond}, Serve: Stalling(begin), Want: llm.ErrUnavailable, Says: "nothing more of the reply within 30ms"},
		{Name: "a reply that hangs", Opts: Options{Timeout: 10 * time.Millisecond, NoStream: true}, Serve: Stalling("{"), Want: llm.ErrUnavailable, Says: "within 10ms"},
		{Name: "a stream without end", Opts: Options{MaxReply: 5000}, Serve: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, begin)
			Endless(more)(w, r)
		}, Want: llm.ErrReply, Says: "more than 5000 bytes"},
		{Name: "pings without end", Opts: Options{MaxReply: 5000}, Serve: Endless(ping), Want: llm.ErrReply, Says: "more than 5000 bytes"},
		{Name: "a connection that breaks off", Serve: Dropping(t, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"+begin), Want: llm.ErrReply, Says: "cut off after"},
		{Name: "a connection that is dropped", Serve: Dropping(t, ""), Want: llm.ErrUnavailable, Says: "connection dropped", Calls: 3},
		{Name: "a connection that is dropped, once", Opts: Options{Retries: -1}, Serve: Dropping(t, ""), Want: llm.ErrUnavailable, Says: "connection dropped"},
	})
}

// GivesUp checks that a call ends with its caller's context, and says so.
func (d Driver) GivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, calls := d.Open(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		Stall(r)
	})
	_, err := g.Generate(ctx, &llm.Prompt{Text: Text})
	CheckError(t, err, context.Canceled, "")
	if calls.Load() != 1 || errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("%v after %d calls, want the context's own after 1", err, calls.Load())
	}
}
