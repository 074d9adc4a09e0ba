package openai

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

// generator starts a server and returns a generator of it.
func generator(t *testing.T, opts GeneratorOptions, h http.HandlerFunc) (*Generator, *atomic.Int32) {
	t.Helper()
	calls := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	opts.Key = llm.NewSecret(key)
	opts.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	g, err := NewGenerator(s.URL, model, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return g, calls
}

// stream returns a handler that sends events, each of them data.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

// whole returns a handler that sends a text.
func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// The events of a reply.
const (
	says  = `{"id":"1","model":"tiny-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}`
	more  = `{"choices":[{"index":0,"delta":{"content":" there"}}]}`
	end   = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage = `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}`
	done  = `[DONE]`
)

func TestGenerate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  GeneratorOptions
		serve http.HandlerFunc
		want  llm.Reply
	}{
		{"a stream", GeneratorOptions{}, stream(says, more, end, usage, done), llm.Reply{Text: "Hello there", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a stream without usage", GeneratorOptions{MaxTokens: 50}, stream(says, end, done), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{"a stream with usage that makes no sense", GeneratorOptions{MaxTokens: 50}, stream(says, end, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":0}}`, done), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{"a stream without its last word", GeneratorOptions{}, stream(says, end, usage), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a stream with events that say nothing", GeneratorOptions{}, stream(`{"choices":[],"prompt_filter_results":[]}`, says, end, end, usage, usage, done, done), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a stream with choices that nobody asked for", GeneratorOptions{}, stream(says, `{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"}]}`, end, usage), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"thoughts that are kept apart", GeneratorOptions{}, stream(`{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}`, says, end, usage), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a server that does not stream", GeneratorOptions{}, whole(`{"model":"m","choices":[{"index":0,"message":{"content":"Hi","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), llm.Reply{Text: "Hi", Model: "m", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{"no stream", GeneratorOptions{NoStream: true}, whole(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2},"error":null}`), llm.Reply{Text: "Hi", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{"a reply that is cut off", GeneratorOptions{}, stream(says, `{"choices":[{"delta":{},"finish_reason":"length"}]}`, usage), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a reply that is cut off before it begins", GeneratorOptions{}, stream(`{"choices":[{"delta":{},"finish_reason":"length"}]}`, usage), llm.Reply{Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a filter", GeneratorOptions{}, stream(says, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, usage), llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a refusal", GeneratorOptions{}, stream(`{"choices":[{"delta":{"refusal":"no"}}]}`, end, usage), llm.Reply{Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a model whose name is none", GeneratorOptions{}, stream(`{"model":"a\u001b[31m b","choices":[]}`, more, end, usage), llm.Reply{Text: " there", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{"a wrong content type", GeneratorOptions{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for _, e := range []string{says, end, usage} {
				fmt.Fprintf(w, "data: %s\r\n\r\n", e)
			}
		}, llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
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

// What is sent is the prompt, once, with the key, and a bound on the reply.
func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opts   GeneratorOptions
		prompt llm.Prompt
		want   string
	}{
		{"a stream", GeneratorOptions{}, llm.Prompt{System: "s", Text: "t"}, `{"max_tokens":4096,"messages":[{"content":"s","role":"system"},{"content":"t","role":"user"}],"model":"tiny","stream":true,"stream_options":{"include_usage":true}}`},
		{"no stream", GeneratorOptions{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t"}, `{"max_tokens":9,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`},
		{"a prompt that says how long", GeneratorOptions{NoStream: true, MaxTokens: 9}, llm.Prompt{Text: "t", MaxTokens: 7}, `{"max_tokens":7,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := generator(t, tt.opts, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.URL.String() != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
					t.Errorf("request is %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
				}
				var sent any
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
					t.Error(err)
				}
				if got, err := json.Marshal(sent); err != nil || string(got) != tt.want {
					t.Errorf("sent %s, %v, want %s", got, err, tt.want)
				}
				stream(says, end)(w, r)
			})
			if _, err := g.Generate(t.Context(), &tt.prompt); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server that errs in every way gives an error that says which, after few calls
// and at once, and repeats nothing of what the server said.
func TestServerThatErrs(t *testing.T) {
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
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			g, got := generator(t, GeneratorOptions{}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				if code != http.StatusNoContent {
					fmt.Fprintf(w, `{"error":{"message":"%s %s"}}`, text, key)
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
	dropping := func(before string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprint(conn, before)
			_ = conn.Close() // that is the point
		}
	}
	for _, tt := range []struct {
		name  string
		opts  GeneratorOptions
		serve http.HandlerFunc
		want  error
		says  string
		calls int32
	}{
		{"nothing", GeneratorOptions{}, whole(""), llm.ErrReply, "ends without saying why", 1},
		{"a page", GeneratorOptions{}, whole("<html>" + text + key + "</html>"), llm.ErrReply, "no JSON", 1},
		{"a text", GeneratorOptions{}, whole("Internal server error: " + text), llm.ErrReply, "no JSON", 1},
		{"a text that begins like a stream", GeneratorOptions{}, whole("error: " + text), llm.ErrReply, "ends without", 1},
		{"truncated JSON", GeneratorOptions{}, whole(`{"choices":[{"message":{"content":"` + text), llm.ErrReply, "no JSON", 1},
		{"JSON of another shape", GeneratorOptions{}, whole(`{"choices":{"message":"` + text + `"}}`), llm.ErrReply, "no JSON", 1},
		{"a list", GeneratorOptions{}, whole(`["` + text + `"]`), llm.ErrReply, "no JSON", 1},
		{"null", GeneratorOptions{}, whole(`null`), llm.ErrReply, "no choices", 1},
		{"JSON with other fields", GeneratorOptions{}, whole(`{"detail":"` + text + `"}`), llm.ErrReply, "no choices", 1},
		{"no choices", GeneratorOptions{}, whole(`{"choices":[]}`), llm.ErrReply, "no choices", 1},
		{"an error as a reply", GeneratorOptions{}, whole(`{"error":{"message":"` + text + key + `","code":"x"}}`), llm.ErrReply, "an error in its place", 1},
		{"an error as a text", GeneratorOptions{}, whole(`{"error":"` + text + `"}`), llm.ErrReply, "an error in its place", 1},
		{"an error with its status", GeneratorOptions{}, whole(`{"error":{"message":"` + text + `","code":503}}`), llm.ErrUnavailable, "status 503", 1},
		{"an error that is the object", GeneratorOptions{}, whole(`{"object":"error","message":"` + text + `","code":"400"}`), llm.ErrRefused, "status 400", 1},
		{"an error with the lowest status", GeneratorOptions{}, whole(`{"error":{"code":400}}`), llm.ErrRefused, "status 400", 1},
		{"an error with the highest status", GeneratorOptions{}, whole(`{"error":{"code":"599"}}`), llm.ErrUnavailable, "status 599", 1},
		{"an error with a number below", GeneratorOptions{}, whole(`{"error":{"code":399}}`), llm.ErrReply, "an error in its place", 1},
		{"an error with a number above", GeneratorOptions{}, whole(`{"error":{"code":600}}`), llm.ErrReply, "an error in its place", 1},
		{"an error in the stream", GeneratorOptions{}, stream(says, `{"error":{"message":"`+text+`"}}`, end), llm.ErrReply, "an error in its place", 1},
		{"an empty text", GeneratorOptions{}, whole(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), llm.ErrReply, "says nothing", 1},
		{"no text", GeneratorOptions{}, whole(`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`), llm.ErrReply, "says nothing", 1},
		{"a blank text", GeneratorOptions{}, stream(`{"choices":[{"delta":{"content":" \n"}}]}`, end), llm.ErrReply, "says nothing", 1},
		{"no reason to end", GeneratorOptions{}, stream(says, done), llm.ErrReply, "without saying why", 1},
		{"a reason that nobody knows", GeneratorOptions{}, stream(says, `{"choices":[{"delta":{},"finish_reason":"`+key+`"}]}`), llm.ErrReply, "a reason that is not known", 1},
		{"a call of a tool", GeneratorOptions{}, stream(says, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`), llm.ErrReply, "a reason that is not known", 1},
		{"more after the end", GeneratorOptions{}, stream(says, end, more, end, done), llm.ErrReply, "goes on after its end", 1},
		{"a stream that breaks off in an event", GeneratorOptions{}, whole("data: " + says + "\n\ndata: {\"choices\":[{\"del"), llm.ErrReply, "no JSON", 1},
		{"a stream that breaks off between events", GeneratorOptions{}, stream(says, more), llm.ErrReply, "without saying why", 1},
		{"a connection that breaks off", GeneratorOptions{}, dropping("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\ndata: " + says + "\n\n"), llm.ErrReply, "cut off after", 1},
		{"a connection that is dropped", GeneratorOptions{}, dropping(""), llm.ErrUnavailable, "connection dropped", 3},
		{"a connection that is dropped, once", GeneratorOptions{Retries: NoRetries}, dropping(""), llm.ErrUnavailable, "connection dropped", 1},
		{"a server that hangs", GeneratorOptions{Timeout: 10 * time.Millisecond}, hanging(""), llm.ErrUnavailable, "no reply within 10ms", 1},
		{"a stream that hangs", GeneratorOptions{Idle: 30 * time.Millisecond}, hanging("data: " + says + "\n\n"), llm.ErrUnavailable, "nothing more of the reply within 30ms", 1},
		{"a reply that hangs", GeneratorOptions{Timeout: 10 * time.Millisecond, NoStream: true}, hanging(`{"choices":`), llm.ErrUnavailable, "within 10ms", 1},
		{"a stream without end", GeneratorOptions{MaxReply: 5000}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprintf(w, "data: %s\n\n", more)
			}
		}, llm.ErrReply, "more than 5000 bytes", 1},
		{"pings without end", GeneratorOptions{MaxReply: 5000}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, ": ping\n\n")
			}
		}, llm.ErrReply, "more than 5000 bytes", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, calls := generator(t, tt.opts, tt.serve)
			got, err := g.Generate(t.Context(), &llm.Prompt{Text: text})
			checkError(t, err, tt.want, tt.says)
			if tt.opts.Timeout > 0 && calls.Load() == 0 {
				return // the time was up before the server had noticed
			}
			if got != nil || calls.Load() != tt.calls {
				t.Errorf("%v after %d calls, want nothing after %d", got, calls.Load(), tt.calls)
			}
		})
	}
}

// Bytes that are no text never come out.
func TestInvalidUTF8(t *testing.T) {
	g, _ := generator(t, GeneratorOptions{}, stream(`{"model":"`+"\xff"+`","choices":[{"delta":{"content":"a`+"\xff\xfe"+`b\ud800"}}]}`, end))
	got, err := g.Generate(t.Context(), &llm.Prompt{Text: "\xff" + text})
	if err != nil || !utf8.ValidString(got.Text) || got.Model != "" || !strings.HasPrefix(got.Text, "a") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGenerateUntilTheCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, calls := generator(t, GeneratorOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		hang(r)
	})
	_, err := g.Generate(ctx, &llm.Prompt{Text: text})
	checkError(t, err, context.Canceled, "")
	if calls.Load() != 1 || errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("%v after %d calls, want the context's own after 1", err, calls.Load())
	}
}

func TestNewGenerator(t *testing.T) {
	g, err := NewGenerator("https://API.openai.com", "m", &GeneratorOptions{Window: 8})
	if err != nil || g.Name() != "m@https://api.openai.com/v1" || g.Window() != 8 || g.length != "max_completion_tokens" {
		t.Errorf("%+v, %v", g, err)
	}
	for _, tt := range []struct {
		base, model string
		opts        GeneratorOptions
	}{
		{"localhost", "m", GeneratorOptions{}},
		{"http://" + key + "@localhost", "m", GeneratorOptions{}},
		{"http://localhost", "", GeneratorOptions{}},
		{"http://localhost", "m", GeneratorOptions{Key: llm.NewSecret(key + "\n")}},
		{"http://localhost", "m", GeneratorOptions{Window: -1}},
		{"http://localhost", "m", GeneratorOptions{MaxTokens: -1}},
		{"http://localhost", "m", GeneratorOptions{Retries: -2}},
		{"http://localhost", "m", GeneratorOptions{Idle: -1}},
	} {
		if _, err := NewGenerator(tt.base, tt.model, &tt.opts); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%+v: error is %v", tt, err)
		}
	}
}

// Whatever comes is a reply that makes sense, or an error of the port.
func FuzzCollect(f *testing.F) {
	for _, s := range []string{says, more, end, usage, `{"error":{}}`, `{"object":"error"}`, `[]`, `null`} {
		f.Add([]byte(s), []byte(end), true)
		f.Add([]byte(s), []byte(end), false)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, stream bool) {
		var c collector
		err := errors.Join(c.add(a, stream), c.add(b, stream))
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
	})
}
