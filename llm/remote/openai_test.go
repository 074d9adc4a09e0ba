package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/llm"
)

// events returns a handler that sends a stream of events, each of them data.
func chatEvents(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range list {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

// The events of a reply.
const (
	chatSays  = `{"id":"1","model":"tiny-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}`
	chatMore  = `{"choices":[{"index":0,"delta":{"content":" there"}}]}`
	chatEnd   = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	chatUsage = `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}`
	chatDone  = `[DONE]`
)

func TestChat(t *testing.T) {
	driver(NewOpenAI).replies(t, []served{
		{name: "a stream", serve: chatEvents(chatSays, chatMore, chatEnd, chatUsage, chatDone), want: llm.Reply{Text: "Hello there", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a stream without usage", opts: GeneratorOptions{MaxTokens: 50}, serve: chatEvents(chatSays, chatEnd, chatDone), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{name: "a stream with usage that makes no sense", opts: GeneratorOptions{MaxTokens: 50}, serve: chatEvents(chatSays, chatEnd, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":0}}`, chatDone), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 81, Output: 50}}},
		{name: "a stream without its last word", serve: chatEvents(chatSays, chatEnd, chatUsage), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a stream with events that say nothing", serve: chatEvents(`{"choices":[],"prompt_filter_results":[]}`, chatSays, chatEnd, chatEnd, chatUsage, chatUsage, chatDone, chatDone), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a stream with choices that nobody asked for", serve: chatEvents(chatSays, `{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"}]}`, chatEnd, chatUsage), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "thoughts that are kept apart", serve: chatEvents(`{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}`, chatSays, chatEnd, chatUsage), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a server that does not stream", serve: whole(`{"model":"m","choices":[{"index":0,"message":{"content":"Hi","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), want: llm.Reply{Text: "Hi", Model: "m", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{name: "no stream", opts: GeneratorOptions{NoStream: true}, serve: whole(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2},"error":null}`), want: llm.Reply{Text: "Hi", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1, Output: 2}}},
		{name: "a reply that is cut off", serve: chatEvents(chatSays, `{"choices":[{"delta":{},"finish_reason":"length"}]}`, chatUsage), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a reply that is cut off before it begins", serve: chatEvents(`{"choices":[{"delta":{},"finish_reason":"length"}]}`, chatUsage), want: llm.Reply{Stop: llm.StopLength, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a filter", serve: chatEvents(chatSays, `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, chatUsage), want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a refusal", serve: chatEvents(`{"choices":[{"delta":{"refusal":"no"}}]}`, chatEnd, chatUsage), want: llm.Reply{Stop: llm.StopRefusal, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a model whose name is none", serve: chatEvents(`{"model":"a\u001b[31m b","choices":[]}`, chatMore, chatEnd, chatUsage), want: llm.Reply{Text: " there", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
		{name: "a wrong content type", serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for _, e := range []string{chatSays, chatEnd, chatUsage} {
				fmt.Fprintf(w, "data: %s\r\n\r\n", e)
			}
		}, want: llm.Reply{Text: "Hello", Model: "tiny-1", Stop: llm.StopEnd, Usage: llm.Usage{Input: 11, Output: 3}}},
	})
}

func TestChatRequest(t *testing.T) {
	const (
		stream = `{"max_tokens":4096,"messages":[{"content":"s","role":"system"},{"content":"t","role":"user"}],"model":"tiny","stream":true,"stream_options":{"include_usage":true}}`
		whole  = `{"max_tokens":%d,"messages":[{"content":"t","role":"user"}],"model":"tiny"}`
	)
	driver(NewOpenAI).requests(t, stream, whole, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.String() != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("request is %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		chatEvents(chatSays, chatEnd)(w, r)
	})
}

func TestChatThatErrs(t *testing.T) {
	driver(NewOpenAI).statuses(t, `{"error":{"message":"%s %s"}}`)
	driver(NewOpenAI).limits(t, "data: "+chatSays+"\n\n", "data: "+chatMore+"\n\n", ": ping\n\n")
	driver(NewOpenAI).failures(t, []failure{
		{name: "nothing", serve: whole(""), want: llm.ErrReply, says: "ends without saying why"},
		{name: "a page", serve: whole("<html>" + text + key + "</html>"), want: llm.ErrReply, says: "no JSON"},
		{name: "a text", serve: whole("Internal server error: " + text), want: llm.ErrReply, says: "no JSON"},
		{name: "a text that begins like a stream", serve: whole("error: " + text), want: llm.ErrReply, says: "ends without"},
		{name: "truncated JSON", serve: whole(`{"choices":[{"message":{"content":"` + text), want: llm.ErrReply, says: "no JSON"},
		{name: "JSON of another shape", serve: whole(`{"choices":{"message":"` + text + `"}}`), want: llm.ErrReply, says: "no JSON"},
		{name: "a list", serve: whole(`["` + text + `"]`), want: llm.ErrReply, says: "no JSON"},
		{name: "null", serve: whole(`null`), want: llm.ErrReply, says: "no choices"},
		{name: "JSON with other fields", serve: whole(`{"detail":"` + text + `"}`), want: llm.ErrReply, says: "no choices"},
		{name: "no choices", serve: whole(`{"choices":[]}`), want: llm.ErrReply, says: "no choices"},
		{name: "an error as a reply", serve: whole(`{"error":{"message":"` + text + key + `","code":"x"}}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error as a text", serve: whole(`{"error":"` + text + `"}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error with its status", serve: whole(`{"error":{"message":"` + text + `","code":503}}`), want: llm.ErrUnavailable, says: "status 503"},
		{name: "an error that is the object", serve: whole(`{"object":"error","message":"` + text + `","code":"400"}`), want: llm.ErrRefused, says: "status 400"},
		{name: "an error with the lowest status", serve: whole(`{"error":{"code":400}}`), want: llm.ErrRefused, says: "status 400"},
		{name: "an error with the highest status", serve: whole(`{"error":{"code":"599"}}`), want: llm.ErrUnavailable, says: "status 599"},
		{name: "an error with a number below", serve: whole(`{"error":{"code":399}}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error with a number above", serve: whole(`{"error":{"code":600}}`), want: llm.ErrReply, says: "an error in its place"},
		{name: "an error in the stream", serve: chatEvents(chatSays, `{"error":{"message":"`+text+`"}}`, chatEnd), want: llm.ErrReply, says: "an error in its place"},
		{name: "an empty text", serve: whole(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), want: llm.ErrReply, says: "says nothing"},
		{name: "no text", serve: whole(`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`), want: llm.ErrReply, says: "says nothing"},
		{name: "a blank text", serve: chatEvents(`{"choices":[{"delta":{"content":" \n"}}]}`, chatEnd), want: llm.ErrReply, says: "says nothing"},
		{name: "no reason to end", serve: chatEvents(chatSays, chatDone), want: llm.ErrReply, says: "without saying why"},
		{name: "a reason that nobody knows", serve: chatEvents(chatSays, `{"choices":[{"delta":{},"finish_reason":"`+key+`"}]}`), want: llm.ErrReply, says: "a reason that is not known"},
		{name: "a call of a tool", serve: chatEvents(chatSays, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`), want: llm.ErrReply, says: "a reason that is not known"},
		{name: "more after the end", serve: chatEvents(chatSays, chatEnd, chatMore, chatEnd, chatDone), want: llm.ErrReply, says: "goes on after its end"},
		{name: "a stream that breaks off in an event", serve: whole("data: " + chatSays + "\n\ndata: {\"choices\":[{\"del"), want: llm.ErrReply, says: "no JSON"},
		{name: "a stream that breaks off between events", serve: chatEvents(chatSays, chatMore), want: llm.ErrReply, says: "without saying why"},
	})
}

// Bytes that are no text never come out.
func TestInvalidUTF8(t *testing.T) {
	g, _ := driver(NewOpenAI).start(t, GeneratorOptions{}, chatEvents(`{"model":"`+"\xff"+`","choices":[{"delta":{"content":"a`+"\xff\xfe"+`b\ud800"}}]}`, chatEnd))
	got, err := g.Generate(t.Context(), &llm.Prompt{Text: "\xff" + text})
	if err != nil || !utf8.ValidString(got.Text) || got.Model != "" || !strings.HasPrefix(got.Text, "a") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestChatGivesUp(t *testing.T) { driver(NewOpenAI).givesUp(t) }

// Null and nothing are not given; the field for the length is OpenAI's own only at its own address.
func TestFieldsOfOpenAI(t *testing.T) {
	for text, want := range map[string]bool{"": false, "null": false, "0": true, `""`: true} {
		if got := given([]byte(text)); got != want {
			t.Errorf("%q is given: %v", text, got)
		}
	}
	for base, want := range map[string]string{"https://api.openai.com/v1": "max_completion_tokens", "https://api.openai.com.example/v1": "max_tokens", ":": "max_tokens"} {
		if got := lengthField(base); got != want {
			t.Errorf("the length at %s is in %s, want %s", base, got, want)
		}
	}
}

func TestNewGenerators(t *testing.T) {
	for _, open := range []driver{NewOpenAI, NewAnthropic} {
		g, err := open("https://API.example.com/v1/", "m", &GeneratorOptions{Window: 8})
		if err != nil || g.Name() != "m@https://api.example.com/v1" || g.Window() != 8 {
			t.Errorf("%+v, %v", g, err)
		}
		for _, tt := range []struct {
			base, model string
			opts        GeneratorOptions
		}{
			{"localhost", "m", GeneratorOptions{}},
			{"http://" + key + "@localhost", "m", GeneratorOptions{}},
			{"http://localhost", "", GeneratorOptions{}},
			{"http://localhost", "m", GeneratorOptions{Options: Options{Key: llm.NewSecret(key + "\n")}}},
			{"http://localhost", "m", GeneratorOptions{Window: -1}},
			{"http://localhost", "m", GeneratorOptions{MaxTokens: -1}},
			{"http://localhost", "m", GeneratorOptions{Options: Options{Retries: -2}}},
			{"http://localhost", "m", GeneratorOptions{Options: Options{MaxReply: -1}}},
			{"http://localhost", "m", GeneratorOptions{Idle: -1}},
		} {
			if _, err := open(tt.base, tt.model, &tt.opts); err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("%+v: error is %v", tt, err)
			}
		}
	}
	if got := lengthField("https://api.openai.com/v1"); got != "max_completion_tokens" {
		t.Errorf("OpenAI is asked for %s", got)
	}
}

// Whatever comes is a reply that makes sense, or an error of the port.
func FuzzChat(f *testing.F) {
	for _, s := range []string{chatSays, chatMore, chatEnd, chatUsage, `{"error":{}}`, `{"object":"error"}`, `[]`, `null`} {
		f.Add([]byte(s), []byte(chatEnd), true)
		f.Add([]byte(s), []byte(chatEnd), false)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, stream bool) {
		var c chatCollector
		err := errors.Join(c.add(a, stream), c.add(b, stream))
		var r *llm.Reply
		if err == nil {
			r, err = c.reply(llm.Usage{Input: 1, Output: 1})
		}
		checkReply(t, r, err)
	})
}
