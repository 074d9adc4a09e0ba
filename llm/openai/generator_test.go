package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/llmtest"
)

var _ llm.Generator = (*Generator)(nil)

// driver opens a generator of a server.
var driver llmtest.Driver = func(url string, o llmtest.Options) (llm.Generator, error) {
	return NewGenerator(url, model, &GeneratorOptions{
		Key: llm.NewSecret(llmtest.Key), MaxTokens: o.MaxTokens, NoStream: o.NoStream,
		Timeout: o.Timeout, Idle: o.Idle, Retries: o.Retries, MaxReply: o.MaxReply,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// events returns a handler that sends a stream of events, each of them data.
func events(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range list {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
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
	driver.Replies(t, []llmtest.Reply{
		{Name: "a stream", Serve: events(says, more, end, usage, done), Want: llm.Reply{Text: "Hello there", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a stream without usage", Opts: llmtest.Options{MaxTokens: 50}, Serve: events(says, end, done), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{Name: "a stream with usage that makes no sense", Opts: llmtest.Options{MaxTokens: 50}, Serve: events(says, end, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":0}}`, done), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{Name: "a stream without its last word", Serve: events(says, end, usage), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a stream with events that say nothing", Serve: events(`{"choices":[],"prompt_filter_results":[]}`, says, end, end, usage, usage, done, done), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a stream with choices that nobody asked for", Serve: events(says, `{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"}]}`, end, usage), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "thoughts that are kept apart", Serve: events(`{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}`, says, end, usage), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a server that does not stream", Serve: llmtest.Whole(`{"model":"m","choices":[{"index":0,"message":{"content":"Hi","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), Want: llm.Reply{Text: "Hi", Model: "m", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{Name: "no stream", Opts: llmtest.Options{NoStream: true}, Serve: llmtest.Whole(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2},"error":null}`), Want: llm.Reply{Text: "Hi", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{Name: "a reply that is cut off", Serve: events(says, `{"choices":[{"delta":{},"finish_reason":"length"}]}`, usage), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a reply that is cut off before it begins", Serve: events(`{"choices":[{"delta":{},"finish_reason":"length"}]}`, usage), Want: llm.Reply{Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a filter", Serve: events(says, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, usage), Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a refusal", Serve: events(`{"choices":[{"delta":{"refusal":"no"}}]}`, end, usage), Want: llm.Reply{Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a model whose name is none", Serve: events(`{"model":"a\u001b[31m b","choices":[]}`, more, end, usage), Want: llm.Reply{Text: " there", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{Name: "a wrong content type", Serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for _, e := range []string{says, end, usage} {
				fmt.Fprintf(w, "data: %s\r\n\r\n", e)
			}
		}, Want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
	})
}

func TestRequest(t *testing.T) {
	const (
		stream = `{"max_tokens":4096,"messages":[{"content":"s","role":"system"},{"content":"t","role":"user"}],"model":"tiny","stream":true,"stream_options":{"include_usage":true}}`
		whole  = `{"max_tokens":%d,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`
	)
	driver.Requests(t, stream, whole, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.String() != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("request is %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		events(says, end)(w, r)
	})
}

func TestServerThatErrs(t *testing.T) {
	driver.Statuses(t, `{"error":{"message":"%s %s"}}`)
	driver.Limits(t, "data: "+says+"\n\n", "data: "+more+"\n\n", ": ping\n\n")
	driver.Failures(t, []llmtest.Failure{
		{Name: "nothing", Serve: llmtest.Whole(""), Want: llm.ErrReply, Says: "ends without saying why"},
		{Name: "a page", Serve: llmtest.Whole("<html>" + text + key + "</html>"), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "a text", Serve: llmtest.Whole("Internal server error: " + text), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "a text that begins like a stream", Serve: llmtest.Whole("error: " + text), Want: llm.ErrReply, Says: "ends without"},
		{Name: "truncated JSON", Serve: llmtest.Whole(`{"choices":[{"message":{"content":"` + text), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "JSON of another shape", Serve: llmtest.Whole(`{"choices":{"message":"` + text + `"}}`), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "a list", Serve: llmtest.Whole(`["` + text + `"]`), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "null", Serve: llmtest.Whole(`null`), Want: llm.ErrReply, Says: "no choices"},
		{Name: "JSON with other fields", Serve: llmtest.Whole(`{"detail":"` + text + `"}`), Want: llm.ErrReply, Says: "no choices"},
		{Name: "no choices", Serve: llmtest.Whole(`{"choices":[]}`), Want: llm.ErrReply, Says: "no choices"},
		{Name: "an error as a reply", Serve: llmtest.Whole(`{"error":{"message":"` + text + key + `","code":"x"}}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error as a text", Serve: llmtest.Whole(`{"error":"` + text + `"}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error with its status", Serve: llmtest.Whole(`{"error":{"message":"` + text + `","code":503}}`), Want: llm.ErrUnavailable, Says: "status 503"},
		{Name: "an error that is the object", Serve: llmtest.Whole(`{"object":"error","message":"` + text + `","code":"400"}`), Want: llm.ErrRefused, Says: "status 400"},
		{Name: "an error with the lowest status", Serve: llmtest.Whole(`{"error":{"code":400}}`), Want: llm.ErrRefused, Says: "status 400"},
		{Name: "an error with the highest status", Serve: llmtest.Whole(`{"error":{"code":"599"}}`), Want: llm.ErrUnavailable, Says: "status 599"},
		{Name: "an error with a number below", Serve: llmtest.Whole(`{"error":{"code":399}}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error with a number above", Serve: llmtest.Whole(`{"error":{"code":600}}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error in the stream", Serve: events(says, `{"error":{"message":"`+text+`"}}`, end), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an empty text", Serve: llmtest.Whole(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "no text", Serve: llmtest.Whole(`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "a blank text", Serve: events(`{"choices":[{"delta":{"content":" \n"}}]}`, end), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "no reason to end", Serve: events(says, done), Want: llm.ErrReply, Says: "without saying why"},
		{Name: "a reason that nobody knows", Serve: events(says, `{"choices":[{"delta":{},"finish_reason":"`+key+`"}]}`), Want: llm.ErrReply, Says: "a reason that is not known"},
		{Name: "a call of a tool", Serve: events(says, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`), Want: llm.ErrReply, Says: "a reason that is not known"},
		{Name: "more after the end", Serve: events(says, end, more, end, done), Want: llm.ErrReply, Says: "goes on after its end"},
		{Name: "a stream that breaks off in an event", Serve: llmtest.Whole("data: " + says + "\n\ndata: {\"choices\":[{\"del"), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "a stream that breaks off between events", Serve: events(says, more), Want: llm.ErrReply, Says: "without saying why"},
	})
}

// Bytes that are no text never come out.
func TestInvalidUTF8(t *testing.T) {
	g, _ := driver.Open(t, llmtest.Options{}, events(`{"model":"`+"\xff"+`","choices":[{"delta":{"content":"a`+"\xff\xfe"+`b\ud800"}}]}`, end))
	got, err := g.Generate(t.Context(), &llm.Prompt{Text: "\xff" + text})
	if err != nil || !utf8.ValidString(got.Text) || got.Model != "" || !strings.HasPrefix(got.Text, "a") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGenerateUntilTheCallerGivesUp(t *testing.T) { driver.GivesUp(t) }

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
		llmtest.CheckReply(t, r, err)
	})
}
