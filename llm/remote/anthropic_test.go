package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carrel-dev/carrel/llm"
)

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
	begin = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	ping  = `{"type":"ping"}`
	says  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`
	more  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" there"}}`
	shut  = `{"type":"content_block_stop","index":0}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
	stop  = `{"type":"message_stop"}`
)

// because returns the end of a message for another reason.
func because(reason string) string { return strings.Replace(end, "end_turn", reason, 1) }

func TestMessage(t *testing.T) {
	reply := func(text string, stop llm.Stop) llm.Reply {
		return llm.Reply{Text: text, Model: "tiny-1", Stop: stop, Usage: llm.Usage{Input: 11, Output: 5}}
	}
	driver(NewAnthropic).replies(t, []served{
		{name: "a stream", serve: events(start, begin, ping, says, more, shut, end, stop), want: reply("Hello there", llm.StopEnd)},
		{name: "a stream with more after its end", serve: events(start, begin, says, shut, end, stop, says, stop), want: reply("Hello", llm.StopEnd)},
		{name: "a stream with events of other names", serve: events(ping, start, `{"type":"news","delta":{"text":"x"}}`, begin, says, shut, end, stop), want: reply("Hello", llm.StopEnd)},
		{
			name:  "thoughts before the text",
			serve: events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, shut, begin, says, shut, end, stop),
			want:  reply("Hello", llm.StopEnd),
		},
		{
			name: "text in events and blocks of other kinds",
			serve: events(start, `{"type":"content_block_start","content_block":{"type":"thinking","text":"no"}}`, `{"type":"news","content_block":{"type":"text","text":"no"}}`,
				`{"type":"content_block_delta","delta":{"type":"thinking_delta","text":"no"}}`, `{"type":"news","delta":{"type":"text_delta","text":"no"}}`,
				`{"type":"content_block_start","content_block":{"type":"text","text":"Well. "}}`, says, end, `{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`, stop),
			want: reply("Well. Hello", llm.StopEnd),
		},
		{
			name:  "a reply without an error",
			serve: whole(`{"type":"message","error":null,"model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			want:  reply("Hello", llm.StopEnd),
		},
		{name: "a reply that is cut off", serve: events(start, begin, says, because("max_tokens"), stop), want: reply("Hello", llm.StopLength)},
		{name: "a reply that fills the window", serve: events(start, begin, says, because("model_context_window_exceeded"), stop), want: reply("Hello", llm.StopLength)},
		{name: "a reply that is cut off before it begins", serve: events(start, because("max_tokens"), stop), want: reply("", llm.StopLength)},
		{name: "a refusal", serve: events(start, begin, says, because("refusal"), stop), want: reply("Hello", llm.StopRefusal)},
		{name: "a sequence that stops", serve: events(start, begin, says, because("stop_sequence"), stop), want: reply("Hello", llm.StopEnd)},
		{
			name:  "a server that does not stream",
			serve: whole(`{"type":"message","model":"tiny-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hel"},{"type":"text","text":"lo"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}`),
			want:  reply("Hello", llm.StopEnd),
		},
		{
			name:  "no stream, and no usage",
			opts:  GeneratorOptions{NoStream: true, MaxTokens: 50},
			serve: whole(`{"type":"message","model":"tiny-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`),
			want:  llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}},
		},
		{
			name:  "a stream that says only what its beginning cost",
			opts:  GeneratorOptions{MaxTokens: 50},
			serve: events(start, begin, says, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, stop),
			want:  llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 50}},
		},
	})
}

func TestMessageRequest(t *testing.T) {
	const (
		stream = `{"max_tokens":4096,"messages":[{"content":"t","role":"user"}],"model":"tiny","stream":true,"system":"s"}`
		whole  = `{"max_tokens":%d,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`
	)
	driver(NewAnthropic).requests(t, stream, whole, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.String() != "/v1/messages" || r.Header.Get("X-Api-Key") != key || r.Header.Get("Anthropic-Version") != anthropicVersion || r.Header.Get("Authorization") != "" {
			t.Errorf("request is %s %s with %v", r.Method, r.URL, r.Header)
		}
		events(start, begin, says, shut, end, stop)(w, r)
	})
}

func TestMessageThatErrs(t *testing.T) {
	driver(NewAnthropic).statuses(t, `{"type":"error","error":{"type":"x","message":"%s %s"}}`)
	driver(NewAnthropic).limits(t, "data: "+start+"\n\n", "data: "+more+"\n\n", "data: "+ping+"\n\n")
	fault := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + key + `"}}`
	}
	driver(NewAnthropic).failures(t, []failure{
		{name: "nothing", serve: whole(""), want: llm.ErrReply, says: "breaks off"},
		{name: "a page", serve: whole("<html>" + text + "</html>"), want: llm.ErrReply, says: "no JSON"},
		{name: "a text", serve: whole("Internal server error " + text), want: llm.ErrReply, says: "no JSON"},
		{name: "truncated JSON", serve: whole(`{"type":"message","content":[{"text":"` + text), want: llm.ErrReply, says: "no JSON"},
		{name: "JSON of another shape", serve: whole(`{"type":"message","content":"` + text + `"}`), want: llm.ErrReply, says: "no JSON"},
		{name: "JSON of something else", serve: whole(`{"choices":[{"message":{"content":"` + text + `"}}]}`), want: llm.ErrReply, says: "is no message"},
		{name: "null", serve: whole(`null`), want: llm.ErrReply, says: "is no message"},
		{name: "an error as a reply", serve: whole(fault("overloaded_error")), want: llm.ErrUnavailable, says: "overloaded_error"},
		{name: "an error without a type", serve: whole(`{"error":"` + text + `"}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error of two types", serve: whole(`{"type":"error","error":{"type":"overloaded_error","type":7}}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error in place of a type", serve: whole(`{"type":"message","error":{"type":"api_error"},"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`), want: llm.ErrUnavailable, says: "api_error"},
		{name: "an empty text", serve: whole(`{"type":"message","content":[{"type":"text","text":""}],"stop_reason":"end_turn"}`), want: llm.ErrReply, says: "says nothing"},
		{name: "no content", serve: whole(`{"type":"message","content":[],"stop_reason":"end_turn"}`), want: llm.ErrReply, says: "says nothing"},
		{name: "no reason to end", serve: whole(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":null}`), want: llm.ErrReply, says: "without saying why"},
		{name: "a stream without text", serve: events(start, end, stop), want: llm.ErrReply, says: "says nothing"},
		{name: "overload in the middle", serve: events(start, begin, says, fault("overloaded_error")), want: llm.ErrUnavailable, says: "overloaded_error"},
		{name: "a fault in the middle", serve: events(start, begin, says, fault("api_error")), want: llm.ErrUnavailable, says: "api_error"},
		{name: "a refused request in the middle", serve: events(start, fault("invalid_request_error")), want: llm.ErrRefused, says: "invalid_request_error"},
		{name: "an error that nobody knows", serve: events(start, fault(key)), want: llm.ErrReply, says: "an error in its place"},
		{name: "two beginnings", serve: events(start, start, begin, says, end, stop), want: llm.ErrReply, says: "begins twice"},
		{name: "no beginning", serve: events(begin, says, end, stop), want: llm.ErrReply, says: "no beginning"},
		{name: "more after the reason to end", serve: events(start, begin, says, end, more, stop), want: llm.ErrReply, says: "goes on after its end"},
		{name: "a reason that nobody knows", serve: events(start, begin, says, because(key), stop), want: llm.ErrReply, says: "a reason that is not known"},
		{name: "a call of a tool", serve: events(start, begin, says, because("tool_use"), stop), want: llm.ErrReply, says: "a reason that is not known"},
		{name: "a stream that breaks off", serve: events(start, begin, says), want: llm.ErrReply, says: "breaks off"},
		{name: "a stream that breaks off before its last event", serve: events(start, begin, says, shut, end), want: llm.ErrReply, says: "breaks off"},
		{name: "a stream that breaks off in an event", serve: events(start, `{"type":"content_block_delta","delta":{"te`), want: llm.ErrReply, says: "no JSON"},
	})
}

// An overloaded server is asked again, and then gives the reply.
func TestOverload(t *testing.T) {
	var calls atomic.Int32
	g, _ := driver(NewAnthropic).start(t, GeneratorOptions{}, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			w.WriteHeader(529)
			return
		}
		events(start, begin, says, end, stop)(w, r)
	})
	if got, err := g.Generate(t.Context(), &llm.Prompt{Text: text}); err != nil || got.Text != "Hello" || calls.Load() != 3 {
		t.Errorf("%v, %v after %d calls", got, err, calls.Load())
	}
}

func TestMessageGivesUp(t *testing.T) { driver(NewAnthropic).givesUp(t) }

// Whatever comes is a reply that makes sense, or an error of the port.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{start, begin, ping, says, end, stop, `{"type":"error","error":{}}`, `null`, `[]`, `{"type":"message","content":[{}],"stop_reason":"end_turn"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, add := range []func(*messageCollector) error{
			func(c *messageCollector) error { return c.document(data) },
			func(c *messageCollector) (err error) {
				for _, e := range [...]string{start, string(data), end, stop} {
					if _, err = c.event([]byte(e)); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			var c messageCollector
			err := add(&c)
			var r *llm.Reply
			if err == nil {
				r, err = c.reply(llm.Usage{Input: 1, Output: 1})
			}
			checkReply(t, r, err)
		}
	})
}
