package anthropic

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

var _ llm.Generator = (*Generator)(nil)

// What no error may repeat, although every server here sends it back.
const (
	key   = "canary-key"
	text  = "canary text"
	model = "tiny"
)

// generator starts a server and returns a generator of it.
func generator(t *testing.T, opts Options, h http.HandlerFunc) (*Generator, *atomic.Int32) {
	t.Helper()
	calls := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	opts.Key = llm.NewSecret(key)
	opts.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	g, err := New(s.URL, model, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return g, calls
}

// stream returns a handler that sends events under their names.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			var named struct{ Type string }
			_ = json.Unmarshal([]byte(e), &named) // one that is broken has no name
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", named.Type, e)
		}
	}
}

// whole returns a handler that sends a text.
func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// The events of a reply.
const (
	start = `{"type":"message_start","message":{"type":"message","model":"tiny-1","content":[],"usage":{"input_tokens":7,"cache_creation_input_tokens":3,"cache_read_input_tokens":1,"output_tokens":1}}}`
	open  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	ping  = `{"type":"ping"}`
	says  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`
	more  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" there"}}`
	shut  = `{"type":"content_block_stop","index":0}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
	stop  = `{"type":"message_stop"}`
)

// because returns the end of a message for another reason.
func because(reason string) string { return strings.Replace(end, "end_turn", reason, 1) }

func TestGenerate(t *testing.T) {
	reply := func(text string, stop llm.Stop) llm.Reply {
		return llm.Reply{Text: text, Model: "tiny-1", Stop: stop, Usage: llm.Usage{Input: 11, Output: 5}}
	}
	for _, tt := range []struct {
		name  string
		opts  Options
		serve http.HandlerFunc
		want  llm.Reply
	}{
		{"a stream", Options{}, stream(start, open, ping, says, more, shut, end, stop), reply("Hello there", llm.StopEnd)},
		{"a stream with more after its end", Options{}, stream(start, open, says, shut, end, stop, says, stop), reply("Hello", llm.StopEnd)},
		{"a stream with events of other names", Options{}, stream(ping, start, `{"type":"news","delta":{"text":"x"}}`, open, says, shut, end, stop), reply("Hello", llm.StopEnd)},
		{
			"thoughts before the text",
			Options{},
			stream(start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, shut, open, says, shut, end, stop),
			reply("Hello", llm.StopEnd),
		},
		{
			"text in events and blocks of other kinds",
			Options{},
			stream(start, `{"type":"content_block_start","content_block":{"type":"thinking","text":"no"}}`, `{"type":"news","content_block":{"type":"text","text":"no"}}`,
				`{"type":"content_block_delta","delta":{"type":"thinking_delta","text":"no"}}`, `{"type":"news","delta":{"type":"text_delta","text":"no"}}`,
				`{"type":"content_block_start","content_block":{"type":"text","text":"Well. "}}`, says, end, `{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`, stop),
			reply("Well. Hello", llm.StopEnd),
		},
		{
			"a reply without an error",
			Options{},
			whole(`{"type":"message","error":null,"model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			reply("Hello", llm.StopEnd),
		},
		{"a reply that is cut off", Options{}, stream(start, open, says, because("max_tokens"), stop), reply("Hello", llm.StopLength)},
		{"a reply that fills the window", Options{}, stream(start, open, says, because("model_context_window_exceeded"), stop), reply("Hello", llm.StopLength)},
		{"a reply that is cut off before it begins", Options{}, stream(start, because("max_tokens"), stop), reply("", llm.StopLength)},
		{"a refusal", Options{}, stream(start, open, says, because("refusal"), stop), reply("Hello", llm.StopRefusal)},
		{"a sequence that stops", Options{}, stream(start, open, says, because("stop_sequence"), stop), reply("Hello", llm.StopEnd)},
		{
			"a server that does not stream",
			Options{},
			whole(`{"type":"message","model":"tiny-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hel"},{"type":"text","text":"lo"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			reply("Hello", llm.StopEnd),
		},
		{
			"no stream, and no usage",
			Options{NoStream: true, MaxTokens: 50},
			whole(`{"type":"message","model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`),
			llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}},
		},
		{
			"a stream that says only what its beginning cost",
			Options{MaxTokens: 50},
			stream(start, open, says, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, stop),
			llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 50}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := generator(t, tt.opts, tt.serve)
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

func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opts   Options
		prompt llm.Prompt
		want   string
	}{
		{"a stream", Options{}, llm.Prompt{System: "s", Text: "t"}, `{"max_tokens":4096,"messages":[{"content":"t","role":"user"}],"model":"tiny","stream":true,"system":"s"}`},
		{"no stream", Options{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t"}, `{"max_tokens":9,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`},
		{"a prompt that says how long", Options{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t", MaxTokens: 7}, `{"max_tokens":7,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := generator(t, tt.opts, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.String() != "/v1/messages" || r.Header.Get("X-Api-Key") != key || r.Header.Get("Anthropic-Version") != version || r.Header.Get("Authorization") != "" {
					t.Errorf("request is %s %s with %v", r.Method, r.URL, r.Header)
				}
				var sent any
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
					t.Error(err)
				}
				if got, err := json.Marshal(sent); err != nil || string(got) != tt.want {
					t.Errorf("sent %s, %v, want %s", got, err, tt.want)
				}
				stream(start, open, says, shut, end, stop)(w, r)
			})
			if _, err := g.Generate(t.Context(), &tt.prompt); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkError checks what an error is and says, and that it keeps secrets.
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

// hang blocks until the client has gone.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection goes unnoticed
	<-r.Context().Done()
}

// A server that errs in every way gives an error that says which, after few calls
// and at once, and repeats nothing of what the server said.
func TestServerThatErrs(t *testing.T) {
	for _, code := range []int{204, 301, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 529} {
		want, calls := llm.ErrRefused, int32(1)
		switch {
		case code == 204:
			want = llm.ErrReply
		case code == 408:
			want = llm.ErrUnavailable
		case code == 429, code >= 500:
			want, calls = llm.ErrUnavailable, 3
		}
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			g, got := generator(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				if code != http.StatusNoContent {
					fmt.Fprintf(w, `{"type":"error","error":{"type":"x","message":"%s %s"}}`, text, key)
				}
			})
			_, err := g.Generate(t.Context(), &llm.Prompt{Text: text})
			checkError(t, err, want, fmt.Sprintf("status %d", code))
			if got.Load() != calls {
				t.Errorf("%d calls, want %d", got.Load(), calls)
			}
		})
	}
	hanging := func(before string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if before != "" {
				fmt.Fprint(w, before)
				_ = http.NewResponseController(w).Flush() // the client will notice
			}
			hang(r)
		}
	}
	fault := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + key + `"}}`
	}
	for _, tt := range []struct {
		name  string
		opts  Options
		serve http.HandlerFunc
		want  error
		says  string
	}{
		{"nothing", Options{}, whole(""), llm.ErrReply, "breaks off"},
		{"a page", Options{}, whole("<html>" + text + "</html>"), llm.ErrReply, "no JSON"},
		{"a text", Options{}, whole("Internal server error " + text), llm.ErrReply, "no JSON"},
		{"truncated JSON", Options{}, whole(`{"type":"message","content":[{"text":"` + text), llm.ErrReply, "no JSON"},
		{"JSON of another shape", Options{}, whole(`{"type":"message","content":"` + text + `"}`), llm.ErrReply, "no JSON"},
		{"JSON of something else", Options{}, whole(`{"choices":[{"message":{"content":"` + text + `"}}]}`), llm.ErrReply, "is no message"},
		{"null", Options{}, whole(`null`), llm.ErrReply, "is no message"},
		{"an error as a reply", Options{}, whole(fault("overloaded_error")), llm.ErrUnavailable, "overloaded_error"},
		{"an error without a type", Options{}, whole(`{"error":"` + text + `"}`), llm.ErrReply, "an error in its place"},
		{"an error of two types", Options{}, whole(`{"type":"error","error":{"type":"overloaded_error","type":7}}`), llm.ErrReply, "an error in its place"},
		{"an error in place of a type", Options{}, whole(`{"type":"message","error":{"type":"api_error"},"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`), llm.ErrUnavailable, "api_error"},
		{"an empty text", Options{}, whole(`{"type":"message","content":[{"type":"text","text":""}],"stop_reason":"end_turn"}`), llm.ErrReply, "says nothing"},
		{"no content", Options{}, whole(`{"type":"message","content":[],"stop_reason":"end_turn"}`), llm.ErrReply, "says nothing"},
		{"no reason to end", Options{}, whole(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":null}`), llm.ErrReply, "without saying why"},
		{"a stream without text", Options{}, stream(start, end, stop), llm.ErrReply, "says nothing"},
		{"overload in the middle", Options{}, stream(start, open, says, fault("overloaded_error")), llm.ErrUnavailable, "overloaded_error"},
		{"a fault in the middle", Options{}, stream(start, open, says, fault("api_error")), llm.ErrUnavailable, "api_error"},
		{"a refused request in the middle", Options{}, stream(start, fault("invalid_request_error")), llm.ErrRefused, "invalid_request_error"},
		{"an error that nobody knows", Options{}, stream(start, fault(key)), llm.ErrReply, "an error in its place"},
		{"two beginnings", Options{}, stream(start, start, open, says, end, stop), llm.ErrReply, "begins twice"},
		{"no beginning", Options{}, stream(open, says, end, stop), llm.ErrReply, "no beginning"},
		{"more after the reason to end", Options{}, stream(start, open, says, end, more, stop), llm.ErrReply, "goes on after its end"},
		{"a reason that nobody knows", Options{}, stream(start, open, says, because(key), stop), llm.ErrReply, "a reason that is not known"},
		{"a call of a tool", Options{}, stream(start, open, says, because("tool_use"), stop), llm.ErrReply, "a reason that is not known"},
		{"a stream that breaks off", Options{}, stream(start, open, says), llm.ErrReply, "breaks off"},
		{"a stream that breaks off before its last event", Options{}, stream(start, open, says, shut, end), llm.ErrReply, "breaks off"},
		{"a stream that breaks off in an event", Options{}, stream(start, `{"type":"content_block_delta","delta":{"te`), llm.ErrReply, "no JSON"},
		{"a server that hangs", Options{Timeout: 10 * time.Millisecond}, hanging(""), llm.ErrUnavailable, "no reply within 10ms"},
		{"a stream that hangs", Options{Idle: 30 * time.Millisecond}, hanging("data: " + start + "\n\n"), llm.ErrUnavailable, "nothing more of the reply within 30ms"},
		{"a stream without end", Options{MaxReply: 5000}, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "data: %s\n\n", start)
			for r.Context().Err() == nil {
				fmt.Fprintf(w, "data: %s\n\n", more)
			}
		}, llm.ErrReply, "more than 5000 bytes"},
		{"pings without end", Options{MaxReply: 5000}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprintf(w, "data: %s\n\n", ping)
			}
		}, llm.ErrReply, "more than 5000 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := generator(t, tt.opts, tt.serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{Text: text})
			checkError(t, err, tt.want, tt.says)
			if tt.opts.Timeout > 0 && calls.Load() == 0 {
				return // the time was up before the server had noticed
			}
			if got != nil || calls.Load() != 1 {
				t.Errorf("%v after %d calls, want nothing after 1", got, calls.Load())
			}
		})
	}
}

// An overloaded server is asked again, and then gives the reply.
func TestOverload(t *testing.T) {
	var calls atomic.Int32
	g, _ := generator(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			w.WriteHeader(529)
			return
		}
		stream(start, open, says, end, stop)(w, r)
	})
	if got, err := g.Generate(t.Context(), &llm.Prompt{Text: text}); err != nil || got.Text != "Hello" || calls.Load() != 3 {
		t.Errorf("%v, %v after %d calls", got, err, calls.Load())
	}
}

func TestGenerateUntilTheCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, calls := generator(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		hang(r)
	})
	_, err := g.Generate(ctx, &llm.Prompt{Text: text})
	checkError(t, err, context.Canceled, "")
	if calls.Load() != 1 || errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("%v after %d calls, want the context's own after 1", err, calls.Load())
	}
}

func TestNew(t *testing.T) {
	g, err := New("https://API.example.com/v1/", "m", &Options{Window: 8})
	if err != nil || g.Name() != "m@https://api.example.com/v1" || g.Window() != 8 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, tt := range []struct {
		base, model string
		opts        Options
	}{
		{"localhost", "m", Options{}},
		{"http://" + key + "@localhost", "m", Options{}},
		{"http://localhost", "", Options{}},
		{"http://localhost", "m", Options{Key: llm.NewSecret(key + "\n")}},
		{"http://localhost", "m", Options{Window: -1}},
		{"http://localhost", "m", Options{MaxTokens: -1}},
		{"http://localhost", "m", Options{Retries: -2}},
		{"http://localhost", "m", Options{MaxReply: -1}},
	} {
		if _, err := New(tt.base, tt.model, &tt.opts); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%+v: error is %v", tt, err)
		}
	}
}

// Whatever comes is a reply that makes sense, or an error of the port.
func FuzzCollect(f *testing.F) {
	for _, s := range []string{start, open, ping, says, end, stop, `{"type":"error","error":{}}`, `null`, `[]`, `{"type":"message","content":[{}],"stop_reason":"end_turn"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, add := range []func(*collector) error{
			func(c *collector) error { return c.document(data) },
			func(c *collector) (err error) {
				for _, e := range [...]string{start, string(data), end, stop} {
					if _, err = c.event([]byte(e)); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			var c collector
			err := add(&c)
			var r *llm.Reply
			if err == nil {
				r, err = c.reply(llm.Usage{Input: 1, Output: 1})
			}
			switch {
			case err != nil && !errors.Is(err, llm.ErrReply) && !errors.Is(err, llm.ErrUnavailable) && !errors.Is(err, llm.ErrRefused):
				t.Errorf("error is %v", err)
			case err == nil && (!utf8.ValidString(r.Text) || r.Stop == "" || r.Usage.Input < 1 || r.Usage.Output < 1):
				t.Errorf("reply is %+v", r)
			}
		}
	})
}
