package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/llmtest"
)

var _ llm.Generator = (*Generator)(nil)

// What no error may repeat, although every server here sends it back.
const (
	key  = llmtest.Key
	text = llmtest.Text
)

// driver opens a generator of a server.
var driver llmtest.Driver = func(url string, o llmtest.Options) (llm.Generator, error) {
	return New(url, "tiny", &Options{
		Key: llm.NewSecret(llmtest.Key), MaxTokens: o.MaxTokens, NoStream: o.NoStream,
		Timeout: o.Timeout, Idle: o.Idle, Retries: o.Retries, MaxReply: o.MaxReply,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// events returns a handler that sends a stream of events under their names.
func events(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range list {
			var named struct{ Type string }
			_ = json.Unmarshal([]byte(e), &named) // one that is broken has no name
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", named.Type, e)
		}
	}
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
	driver.Replies(t, []llmtest.Reply{
		{Name: "a stream", Serve: events(start, open, ping, says, more, shut, end, stop), Want: reply("Hello there", llm.StopEnd)},
		{Name: "a stream with more after its end", Serve: events(start, open, says, shut, end, stop, says, stop), Want: reply("Hello", llm.StopEnd)},
		{Name: "a stream with events of other names", Serve: events(ping, start, `{"type":"news","delta":{"text":"x"}}`, open, says, shut, end, stop), Want: reply("Hello", llm.StopEnd)},
		{
			Name:  "thoughts before the text",
			Serve: events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, shut, open, says, shut, end, stop),
			Want:  reply("Hello", llm.StopEnd),
		},
		{
			Name: "text in events and blocks of other kinds",
			Serve: events(start, `{"type":"content_block_start","content_block":{"type":"thinking","text":"no"}}`, `{"type":"news","content_block":{"type":"text","text":"no"}}`,
				`{"type":"content_block_delta","delta":{"type":"thinking_delta","text":"no"}}`, `{"type":"news","delta":{"type":"text_delta","text":"no"}}`,
				`{"type":"content_block_start","content_block":{"type":"text","text":"Well. "}}`, says, end, `{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`, stop),
			Want: reply("Well. Hello", llm.StopEnd),
		},
		{
			Name:  "a reply without an error",
			Serve: llmtest.Whole(`{"type":"message","error":null,"model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			Want:  reply("Hello", llm.StopEnd),
		},
		{Name: "a reply that is cut off", Serve: events(start, open, says, because("max_tokens"), stop), Want: reply("Hello", llm.StopLength)},
		{Name: "a reply that fills the window", Serve: events(start, open, says, because("model_context_window_exceeded"), stop), Want: reply("Hello", llm.StopLength)},
		{Name: "a reply that is cut off before it begins", Serve: events(start, because("max_tokens"), stop), Want: reply("", llm.StopLength)},
		{Name: "a refusal", Serve: events(start, open, says, because("refusal"), stop), Want: reply("Hello", llm.StopRefusal)},
		{Name: "a sequence that stops", Serve: events(start, open, says, because("stop_sequence"), stop), Want: reply("Hello", llm.StopEnd)},
		{
			Name:  "a server that does not stream",
			Serve: llmtest.Whole(`{"type":"message","model":"tiny-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hel"},{"type":"text","text":"lo"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			Want:  reply("Hello", llm.StopEnd),
		},
		{
			Name:  "no stream, and no usage",
			Opts:  llmtest.Options{NoStream: true, MaxTokens: 50},
			Serve: llmtest.Whole(`{"type":"message","model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`),
			Want:  llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}},
		},
		{
			Name:  "a stream that says only what its beginning cost",
			Opts:  llmtest.Options{MaxTokens: 50},
			Serve: events(start, open, says, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, stop),
			Want:  llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 50}},
		},
	})
}

func TestRequest(t *testing.T) {
	const (
		stream = `{"max_tokens":4096,"messages":[{"content":"t","role":"user"}],"model":"tiny","stream":true,"system":"s"}`
		whole  = `{"max_tokens":%d,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`
	)
	driver.Requests(t, stream, whole, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.String() != "/v1/messages" || r.Header.Get("X-Api-Key") != key || r.Header.Get("Anthropic-Version") != version || r.Header.Get("Authorization") != "" {
			t.Errorf("request is %s %s with %v", r.Method, r.URL, r.Header)
		}
		events(start, open, says, shut, end, stop)(w, r)
	})
}

func TestServerThatErrs(t *testing.T) {
	driver.Statuses(t, `{"type":"error","error":{"type":"x","message":"%s %s"}}`)
	driver.Limits(t, "data: "+start+"\n\n", "data: "+more+"\n\n", "data: "+ping+"\n\n")
	fault := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + key + `"}}`
	}
	driver.Failures(t, []llmtest.Failure{
		{Name: "nothing", Serve: llmtest.Whole(""), Want: llm.ErrReply, Says: "breaks off"},
		{Name: "a page", Serve: llmtest.Whole("<html>" + text + "</html>"), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "a text", Serve: llmtest.Whole("Internal server error " + text), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "truncated JSON", Serve: llmtest.Whole(`{"type":"message","content":[{"text":"` + text), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "JSON of another shape", Serve: llmtest.Whole(`{"type":"message","content":"` + text + `"}`), Want: llm.ErrReply, Says: "no JSON"},
		{Name: "JSON of something else", Serve: llmtest.Whole(`{"choices":[{"message":{"content":"` + text + `"}}]}`), Want: llm.ErrReply, Says: "is no message"},
		{Name: "null", Serve: llmtest.Whole(`null`), Want: llm.ErrReply, Says: "is no message"},
		{Name: "an error as a reply", Serve: llmtest.Whole(fault("overloaded_error")), Want: llm.ErrUnavailable, Says: "overloaded_error"},
		{Name: "an error without a type", Serve: llmtest.Whole(`{"error":"` + text + `"}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error of two types", Serve: llmtest.Whole(`{"type":"error","error":{"type":"overloaded_error","type":7}}`), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "an error in place of a type", Serve: llmtest.Whole(`{"type":"message","error":{"type":"api_error"},"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`), Want: llm.ErrUnavailable, Says: "api_error"},
		{Name: "an empty text", Serve: llmtest.Whole(`{"type":"message","content":[{"type":"text","text":""}],"stop_reason":"end_turn"}`), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "no content", Serve: llmtest.Whole(`{"type":"message","content":[],"stop_reason":"end_turn"}`), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "no reason to end", Serve: llmtest.Whole(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":null}`), Want: llm.ErrReply, Says: "without saying why"},
		{Name: "a stream without text", Serve: events(start, end, stop), Want: llm.ErrReply, Says: "says nothing"},
		{Name: "overload in the middle", Serve: events(start, open, says, fault("overloaded_error")), Want: llm.ErrUnavailable, Says: "overloaded_error"},
		{Name: "a fault in the middle", Serve: events(start, open, says, fault("api_error")), Want: llm.ErrUnavailable, Says: "api_error"},
		{Name: "a refused request in the middle", Serve: events(start, fault("invalid_request_error")), Want: llm.ErrRefused, Says: "invalid_request_error"},
		{Name: "an error that nobody knows", Serve: events(start, fault(key)), Want: llm.ErrReply, Says: "an error in its place"},
		{Name: "two beginnings", Serve: events(start, start, open, says, end, stop), Want: llm.ErrReply, Says: "begins twice"},
		{Name: "no beginning", Serve: events(open, says, end, stop), Want: llm.ErrReply, Says: "no beginning"},
		{Name: "more after the reason to end", Serve: events(start, open, says, end, more, stop), Want: llm.ErrReply, Says: "goes on after its end"},
		{Name: "a reason that nobody knows", Serve: events(start, open, says, because(key), stop), Want: llm.ErrReply, Says: "a reason that is not known"},
		{Name: "a call of a tool", Serve: events(start, open, says, because("tool_use"), stop), Want: llm.ErrReply, Says: "a reason that is not known"},
		{Name: "a stream that breaks off", Serve: events(start, open, says), Want: llm.ErrReply, Says: "breaks off"},
		{Name: "a stream that breaks off before its last event", Serve: events(start, open, says, shut, end), Want: llm.ErrReply, Says: "breaks off"},
		{Name: "a stream that breaks off in an event", Serve: events(start, `{"type":"content_block_delta","delta":{"te`), Want: llm.ErrReply, Says: "no JSON"},
	})
}

// An overloaded server is asked again, and then gives the reply.
func TestOverload(t *testing.T) {
	var calls atomic.Int32
	g, _ := driver.Open(t, llmtest.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			w.WriteHeader(529)
			return
		}
		events(start, open, says, end, stop)(w, r)
	})
	if got, err := g.Generate(t.Context(), &llm.Prompt{Text: text}); err != nil || got.Text != "Hello" || calls.Load() != 3 {
		t.Errorf("%v, %v after %d calls", got, err, calls.Load())
	}
}

func TestGenerateUntilTheCallerGivesUp(t *testing.T) { driver.GivesUp(t) }

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
			llmtest.CheckReply(t, r, err)
		}
	})
}
