package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/carrel-dev/carrel/token"
)

const (
	eventStream = "text/event-stream; charset=utf-8"
	jsonType    = "application/json"
)

// An answered is an answer, where its end begins, and what is known of it.
type answered struct {
	name    string
	dialect Dialect
	kind    string
	text    string
	end     string // the text from which on it is held; empty if nothing is
	want    Answer
}

const claudeStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":12,"cache_read_input_tokens":900,"cache_creation_input_tokens":80,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":50},"output_tokens":1}}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"say \"message_stop\" and {\"usage\":{\"output_tokens\":7}} \\"}}

: a comment

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":42,"output_tokens_details":{"thinking_tokens":5}}}

event: message_stop
data: {"type":"message_stop"}

`

var claudeAnswer = Answer{
	ID: "msg_1", Model: "claude-opus-5-5", Stop: "end_turn", Whole: true, Used: true,
	Usage: Usage{Input: 12, CacheRead: 900, CacheWrite5m: 30, CacheWrite1h: 50, Output: 42, Reasoning: 5},
}

const chatStream = `data: {"id":"c","model":"gpt-6","choices":[{"index":0,"delta":{"content":"[DONE] data: [DONE]"},"finish_reason":null}]}

data: {"id":"c","model":"gpt-6","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c","model":"gpt-6","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":4}}}

`

var chatAnswer = Answer{
	ID: "c", Model: "gpt-6", Stop: "stop", Whole: true, Used: true,
	Usage: Usage{Input: 36, CacheRead: 64, Output: 9, Reasoning: 4},
}

const responsesStream = `event: response.created
data: {"type":"response.created","response":{"id":"r","status":"in_progress","model":"gpt-6","usage":null,"error":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"response.completed"}

`

const responseObject = `{"id":"r","status":"completed","model":"gpt-6","error":null,"incomplete_details":null,"output":[{"type":"message","status":"completed","content":[{"type":"output_text","text":"x"}]}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":10},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":58}}`

var responseAnswer = Answer{
	ID: "r", Model: "gpt-6", Stop: "completed", Whole: true, Used: true,
	Usage: Usage{Input: 20, CacheRead: 20, CacheWrite5m: 10, Output: 8, Reasoning: 3},
}

// answers are all kinds of answers.
func answers() []answered {
	failed := responseAnswer
	failed.Stop, failed.Error = "failed", "server_error"
	short := responseAnswer
	short.Stop = "max_output_tokens"
	cut := claudeAnswer
	cut.Whole = false
	noDone := chatAnswer
	list := []answered{
		{"messages", Anthropic, eventStream, claudeStream, "event: message_stop", claudeAnswer},
		{"messages without names of events", Anthropic, eventStream, withoutNames(claudeStream), `data: {"type":"message_stop"}`, claudeAnswer},
		{"messages, a type with an escape", Anthropic, eventStream, strings.Replace(withoutNames(claudeStream), `"message_stop"}`, `"message\u005fstop"}`, 1), `data: {"type":"message\u005fstop"}`, claudeAnswer},
		{"messages that end early", Anthropic, eventStream, claudeStream[:strings.Index(claudeStream, "event: message_stop")], "", cut},
		{"messages whose last event has an empty name", Anthropic, eventStream, strings.Replace(claudeStream, "event: message_stop", "event:", 1), "event:\n", claudeAnswer},
		{"messages whose last event has another field", Anthropic, eventStream, strings.Replace(claudeStream, "event: message_stop", "event: message_stop\nid: 1", 1), "event: message_stop", claudeAnswer},
		{"messages whose last event has a field between its data", Anthropic, eventStream, strings.Replace(withoutNames(claudeStream), `{"type":"message_stop"`, "{\nid: 1\ndata: \"type\":\"message_stop\"", 1), "data: {\nid", claudeAnswer},
		{"messages in JSON", Anthropic, jsonType, `{"model":"claude-opus-5-5","content":[{"type":"text","text":"}"}],"stop_reason":"end_turn","usage":{"input_tokens":12,"cache_read_input_tokens":900,"cache_creation_input_tokens":80,"output_tokens":42}}` + "\n", "}\n", Answer{Model: "claude-opus-5-5", Stop: "end_turn", Whole: true, Used: true, Usage: Usage{Input: 12, CacheRead: 900, CacheWrite5m: 80, Output: 42}}},
		{"an error of Messages", Anthropic, jsonType, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "}", Answer{Error: "overloaded_error", Whole: true}},
		{"an error in a stream of Messages", Anthropic, eventStream, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", "", Answer{Error: "overloaded_error"}},
		{"chat", Chat, eventStream, chatStream + "data: [DONE]\n\n", "data: [DONE]\n", chatAnswer},
		{"chat without a blank", Chat, eventStream, strings.ReplaceAll(chatStream+"data: [DONE]\n\n", "data: ", "data:"), "data:[DONE]\n", chatAnswer},
		{"chat without a mark at its end", Chat, eventStream, chatStream, "", noDone},
		{"chat that ends as it says why", Chat, eventStream, chatStream[:strings.Index(chatStream, `"stop"`)+8], "", Answer{ID: "c", Model: "gpt-6", Stop: "stop"}},
		{"chat that ends early", Chat, eventStream, chatStream[:strings.Index(chatStream, "\n")+2], "", Answer{ID: "c", Model: "gpt-6"}},
		{"chat that is only marked", Chat, eventStream, "data: [DONE]\n", "data: [DONE]\n", Answer{Whole: true}},
		{"chat whose last event has a name", Chat, eventStream, chatStream + "event: x\ndata: [DONE]\n\n", "event: x\n", chatAnswer},
		{"chat whose last event goes on", Chat, eventStream, chatStream + "data: [DONE]\ndata: x\ndata: [DONE]\n\n", "data: [DONE]\ndata: x", chatAnswer},
		{"chat in JSON", Chat, jsonType, `{"id":"c","model":"gpt-6","choices":[{"finish_reason":"stop","message":{"content":"a"}}],"usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":4}}}`, "}", chatAnswer},
		{"responses", Responses, eventStream, responsesStream + "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + responseObject + "}\n\n", "event: response.completed\n", responseAnswer},
		{"responses without names of events", Responses, eventStream, withoutNames(responsesStream) + "data: {\"type\":\"response.completed\",\"response\":" + responseObject + "}\n\n", "data: {\"type\":\"response.completed\"", responseAnswer},
		{"responses that fail", Responses, eventStream, responsesStream + "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":" + strings.NewReplacer(`r","status":"completed"`, `r","status":"failed"`, `"error":null`, `"error":{"code":"server_error"}`).Replace(responseObject) + "}\n\n", "event: response.failed\n", failed},
		{"responses that are short", Responses, eventStream, responsesStream + "event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":" + strings.NewReplacer(`r","status":"completed"`, `r","status":"incomplete"`, `"incomplete_details":null`, `"incomplete_details":{"reason":"max_output_tokens"}`).Replace(responseObject) + "}\n\n", "event: response.incomplete\n", short},
		{"responses with code in an event", Responses, eventStream, responsesStream + "event: response.code_interpreter_call_code.done\ndata: {\"type\":\"response.code_interpreter_call_code.done\",\"item_id\":\"ci\",\"code\":\"print(1)\"}\n\n" + "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + responseObject + "}\n\n", "event: response.completed\n", responseAnswer},
		{"responses with code before the type", Responses, eventStream, responsesStream + "event: response.code_interpreter_call_code.done\ndata: {\"code\":\"print(1)\",\"type\":\"response.code_interpreter_call_code.done\"}\n\n" + "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + responseObject + "}\n\n", "event: response.completed\n", responseAnswer},
		{"an error in a stream of Responses", Responses, eventStream, "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}\n\n", "", Answer{Error: "rate_limit_exceeded"}},
		{"an error in a stream of Responses, without its type", Responses, eventStream, "event: error\ndata: {\"code\":\"rate_limit_exceeded\"}\n\n", "", Answer{Error: "rate_limit_exceeded"}},
		{"an error in a stream of Responses, without its name", Responses, eventStream, "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\"}\n\n", "", Answer{Error: "rate_limit_exceeded"}},
		{"an error in a stream of Responses, with its name behind the type", Responses, eventStream, "data: {\"type\":\"error\",\nevent: x\ndata: \"code\":\"rate_limit_exceeded\"}\n\n", "", Answer{Error: "rate_limit_exceeded"}},
		{"responses in JSON", Responses, jsonType, responseObject, "}", responseAnswer},
		{"what is neither JSON nor events", Anthropic, "text/html", "<html>", ">", Answer{Whole: true}},
		{"what says that it is JSON", Anthropic, jsonType, "<html>", ">", Answer{Whole: true}},
		{"JSON that is cut", Anthropic, jsonType, `{"id":"x","model":"m","usage":{"output_tokens":4}`, "", Answer{ID: "x", Model: "m", Used: true, Usage: Usage{Output: 4}}},
	}
	plain := slices.Clone(list)
	for _, ends := range []string{"\r\n", "\r"} {
		for _, a := range plain {
			if a.kind == eventStream {
				a.name += ", lines end with " + strings.NewReplacer("\r", "CR", "\n", "LF").Replace(ends)
				a.text, a.end = strings.ReplaceAll(a.text, "\n", ends), strings.ReplaceAll(a.end, "\n", ends)
				list = append(list, a)
			}
		}
	}
	return list
}

// withoutNames returns a stream whose events have data alone.
func withoutNames(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "event:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// heldFrom returns where the bytes begin that are held at the end.
func (a *answered) heldFrom() int {
	if a.end == "" {
		return len(a.text)
	}
	return strings.LastIndex(a.text, a.end)
}

// play feeds an answer cut at some places, and returns what is known of it.
func (a *answered) play(t *testing.T, cuts ...int) {
	t.Helper()
	tap := NewTap(a.dialect, a.kind, "")
	from, open := 0, int64(0)
	for _, to := range append(cuts, len(a.text)) {
		got := tap.Feed([]byte(a.text[from:to]))
		if from = to; got < open || got > int64(to) || got > int64(a.heldFrom()) {
			t.Fatalf("%s, cut at %v: at %d of %d bytes %d may pass, before it were %d; its end begins at %d",
				a.name, cuts, to, len(a.text), got, open, a.heldFrom())
		}
		open = got
	}
	if open != int64(a.heldFrom()) {
		t.Fatalf("%s, cut at %v: %d bytes of %d may pass at its end, want %d", a.name, cuts, open, len(a.text), a.heldFrom())
	}
	if between := tap.Between(); between != (a.kind == eventStream && !strings.Contains(a.name, "as it says why")) {
		t.Fatalf("%s, cut at %v: Between() = %v", a.name, cuts, between)
	}
	if diff := cmp.Diff(&a.want, tap.End(false)); diff != "" {
		t.Fatalf("%s, cut at %v (-want +got):\n%s", a.name, cuts, diff)
	}
}

// Wherever an answer is cut, the same of it passes before its end is known, and the same
// is known of it.
func TestAnswersCutAtEveryOffset(t *testing.T) {
	for _, a := range answers() {
		t.Run(a.name, func(t *testing.T) {
			var every []int
			for i := range a.text {
				a.play(t, i)
				if i > 0 {
					every = append(every, i)
				}
			}
			a.play(t, every...)
		})
	}
}

// Of a compressed answer nothing passes from which its end could be read.
func TestCompressedAnswersAreHeldInTime(t *testing.T) {
	for encoding, pack := range packers {
		for _, a := range answers() {
			if a.kind == "text/html" || a.text == "<html>" || strings.Contains(a.name, "lines end") {
				continue
			}
			packed := pack(t, a.text)
			encoding, _, _ := strings.Cut(encoding, " ")
			for cut := 0; cut <= len(packed); cut += 1 + cut%17 {
				tap := NewTap(a.dialect, a.kind, encoding)
				tap.Feed(packed[:cut])
				open := tap.Feed(packed[cut:])
				if plain := unpackAll(encoding, packed[:open]); len(plain) > a.heldFrom() {
					t.Fatalf("%s, %s, cut at %d: %q passes", a.name, encoding, cut, plain[a.heldFrom():])
				}
				if a.end == "" && encoding != "gzip" && encoding != "deflate" && open != int64(len(packed)) {
					t.Fatalf("%s, %s, cut at %d: %d bytes of %d pass of what has no end", a.name, encoding, cut, open, len(packed))
				}
				if diff := cmp.Diff(&a.want, tap.End(false)); diff != "" {
					t.Fatalf("%s, %s, cut at %d (-want +got):\n%s", a.name, encoding, cut, diff)
				}
			}
		}
	}
}

// A flusher compresses in pieces that can be read at once.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// packers compress a text by Content-Encoding, which may have a note behind it.
var packers = map[string]func(*testing.T, string) []byte{
	"deflate": func(t *testing.T, s string) []byte {
		return packed(t, s, func(w io.Writer) flusher { return zlib.NewWriter(w) })
	},
	"deflate without a header": func(t *testing.T, s string) []byte {
		return packed(t, s, func(w io.Writer) flusher {
			z, err := flate.NewWriter(w, flate.DefaultCompression)
			if err != nil {
				t.Fatal(err)
			}
			return z
		})
	},
	"gzip": func(t *testing.T, s string) []byte {
		return packed(t, s, func(w io.Writer) flusher { return gzip.NewWriter(w) })
	},
	"br": func(t *testing.T, s string) []byte {
		return packed(t, s, func(w io.Writer) flusher { return brotli.NewWriter(w) })
	},
	"zstd": func(t *testing.T, s string) []byte {
		return packed(t, s, func(w io.Writer) flusher {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		})
	},
}

// packed compresses a text event by event.
func packed(t *testing.T, text string, with func(io.Writer) flusher) []byte {
	t.Helper()
	var b bytes.Buffer
	w := with(&b)
	for part := range strings.SplitAfterSeq(text, "\n\n") {
		_, err := io.WriteString(w, part)
		if err = errors.Join(err, w.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpackAll returns what can be read of a part of a compressed text.
func unpackAll(encoding string, data []byte) []byte {
	z, free, err := open(encoding, bytes.NewReader(data))
	if err != nil {
		return nil
	}
	defer free()
	plain, _ := io.ReadAll(z) // it is cut
	return plain
}

// A decoder may give the text of a short answer only when the answer is over. If that is no JSON, the
// answer is as whole as one that is not compressed.
func TestUnreadableAtTheEnd(t *testing.T) {
	for _, encoding := range []string{"gzip", "deflate"} {
		for text, whole := range map[string]bool{"<html>": true, "502 bad gateway": true, `{"id":"x"}`: true, `{"id":"x"`: false} {
			var b bytes.Buffer
			var w io.WriteCloser = gzip.NewWriter(&b)
			if encoding == "deflate" {
				w = zlib.NewWriter(&b)
			}
			_, err := io.WriteString(w, text)
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			tap := NewTap(Anthropic, jsonType, encoding)
			tap.Feed(b.Bytes())
			if a := tap.End(false); a.Whole != whole {
				t.Errorf("%s, %s: whole is %v, want %v", encoding, text, a.Whole, whole)
			}
			if tap.End(true).Whole {
				t.Errorf("%s, %s: what was cut is whole", encoding, text)
			}
		}
	}
}

// What is compressed and cannot be read passes but for its last byte.
func TestUnreadableAnswersPass(t *testing.T) {
	for _, tt := range []struct{ encoding, text string }{
		{"gzip", "this is no gzip"}, {"zstd", "this is no zstd at all"}, {"br", "\xff\xff\xff\xff\xff\xff\xff"}, {"deflate", "\xff\xff\xff"}, {"rot13", "whatever"},
	} {
		tap := NewTap(Anthropic, eventStream, tt.encoding)
		if got := tap.Feed([]byte(tt.text)); got != int64(len(tt.text))-1 {
			t.Errorf("%s: %d of %d bytes pass", tt.encoding, got, len(tt.text))
		}
		if a := tap.End(false); a.Used || a.Error != "" || !a.Whole {
			t.Errorf("%s: got %+v", tt.encoding, a)
		}
	}
}

// A tap keeps nothing of an answer, however long it is.
func TestTapsKeepNothing(t *testing.T) {
	tap := NewTap(Responses, eventStream, "")
	long := strings.Repeat("word ", 200)
	head := "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"" + long + "\"}\n\n"
	event := []byte(head)
	tap.Feed(event)
	if n := testing.AllocsPerRun(100, func() { tap.Feed(event) }); n > 0 {
		t.Errorf("an event costs %v allocations", n)
	}
	if n := cap(tap.events.data.value) + cap(tap.events.name) + cap(tap.events.data.path); n > 1024 {
		t.Errorf("a tap keeps %d bytes", n)
	}
}

func TestUnpack(t *testing.T) {
	const text = "a body that repeats itself, a body that repeats itself"
	for name, pack := range packers {
		encoding, _, _ := strings.Cut(name, " ")
		got, err := Unpack(encoding, bytes.NewReader(pack(t, text)), int64(len(text)))
		if err != nil || string(got) != text {
			t.Errorf("%s: got %q, %v", encoding, got, err)
		}
		if _, err := Unpack(encoding, bytes.NewReader(pack(t, text)), int64(len(text))-1); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: a body above the bound gives %v", encoding, err)
		}
		if _, err := Unpack(encoding, strings.NewReader("plain text, which is none of them"), 1000); err == nil {
			t.Errorf("%s: what is not compressed gives no error", encoding)
		}
	}
	padded := "\x08\x02\x00\xfd\xffab\x01\x00\x00\xff\xff" // without zlib's header, and begins with a bit like it
	if got, err := Unpack("deflate", strings.NewReader(padded), 2); err != nil || string(got) != "ab" {
		t.Errorf("deflate that begins like zlib: got %q, %v", got, err)
	}
	if _, err := Unpack("rot13", strings.NewReader(""), 10); !errors.Is(err, ErrEncoding) {
		t.Errorf("an encoding that nobody knows gives %v", err)
	}
}

// Whatever a stream has and wherever it is cut, the same of it is known, and no more of
// it passes than if it came in one piece.
func FuzzTap(f *testing.F) {
	for _, a := range answers() {
		f.Add(string(a.dialect), a.kind == eventStream, a.text, 7)
	}
	f.Fuzz(func(t *testing.T, dialect string, stream bool, text string, cut int) {
		kind := jsonType
		if stream {
			kind = eventStream
		}
		whole, pieces := NewTap(Dialect(dialect), kind, ""), NewTap(Dialect(dialect), kind, "")
		at := whole.Feed([]byte(text))
		if cut < 0 || cut > len(text) {
			cut = len(text) / 2
		}
		var open int64
		for _, p := range []string{text[:cut], text[cut:]} {
			next := pieces.Feed([]byte(p))
			if next < open || next > int64(len(text)) {
				t.Fatalf("%q cut at %d: %d bytes pass after %d", text, cut, next, open)
			}
			open = next
		}
		if stream && whole.Between() && open > at {
			t.Fatalf("%q cut at %d: %d bytes pass, in one piece %d", text, cut, open, at)
		}
		if diff := cmp.Diff(whole.End(false), pieces.End(false)); diff != "" {
			t.Fatalf("%q cut at %d:\n%s", text, cut, diff)
		}
	})
}

func TestRouteOf(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		dialect      Dialect
		kind         Kind
	}{
		{"POST", "/v1/messages", Anthropic, KindCall},
		{"POST", "/v1/messages/count_tokens", Anthropic, KindCount},
		{"POST", "/v1/chat/completions", Chat, KindCall},
		{"POST", "/chat/completions", Chat, KindCall},
		{"POST", "/v1/responses", Responses, KindCall},
		{"POST", "/responses", Responses, KindCall},
		{"POST", "/v1/responses/compact", Responses, KindCompact},
		{"POST", "/v1/responses/input_tokens", Responses, KindCount},
		{"GET", "/v1/messages", "", ""},
		{"GET", "/v1/models", "", ""},
		{"POST", "/v1/messages/", "", ""},
		{"POST", "/v1/messages/batches", "", ""},
		{"POST", "/v2/chat/completions", "", ""},
		{"POST", "/messages", "", ""},
	} {
		if d, k := RouteOf(tt.method, tt.path); d != tt.dialect || k != tt.kind {
			t.Errorf("RouteOf(%s, %s) = %q, %q, want %q, %q", tt.method, tt.path, d, k, tt.dialect, tt.kind)
		}
	}
}

func BenchmarkTapEvent(b *testing.B) {
	event := []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"twelve words of a sentence that a model may say here\"}}\n\n")
	tap := NewTap(Anthropic, eventStream, "")
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		tap.Feed(event)
	}
}

// Keys and values may be escaped from their first letter on, and a key or value that is too long is
// no field.
func TestFieldsMayBeEscaped(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	for _, tt := range []struct {
		text  string
		model string
		input int
	}{
		{`{"model":"m","usage":{"input_tokens":7}}`, "m", 7},
		{`{"\u006dodel":"m","usage":{"\u0069nput_tokens":7}}`, "m", 7},
		{`{"mode\u006c":"\u006d","\u0075sage":{"input_token\u0073":7}}`, "m", 7},
		{`{"\u006dodels":"m","usage":{"a":{"input_tokens":7}}}`, "", 0},
		{`{"` + long + `":1,"model":"m","usage":{"input_tokens":7}}`, "m", 7},
		{`{"model":"` + long + `","usage":{"input_tokens":7}}`, "", 7},
	} {
		tap := NewTap(Anthropic, "application/json", "")
		for i := range len(tt.text) {
			tap.Feed([]byte{tt.text[i]})
		}
		if a := tap.End(false); !a.Whole || a.Model != tt.model || int(a.Usage.Input) != tt.input {
			t.Errorf("%.60s: %+v, want %q and %d", tt.text, a, tt.model, tt.input)
		}
	}
	for _, kind := range []string{"message_stop", `\u006dessage_stop`, `message_sto\u0070`} {
		tap := NewTap(Anthropic, eventStream, "")
		tap.Feed([]byte("data: {\"type\":\"" + kind + "\"}\n\n"))
		if a := tap.End(false); !a.Whole {
			t.Errorf("a stream that ends with %s is not whole", kind)
		}
	}
	tap := NewTap(Anthropic, eventStream, "")
	tap.Feed([]byte("id:data: {\"type\":\"message_stop\"}\n: data: {\"type\":\"message_stop\"}\n\n"))
	if a := tap.End(false); a.Whole {
		t.Error("the data of another field, or of a comment, ends a stream")
	}
}

// Fields of an answer that others before or behind them outweigh, and counts that none can be.
func TestFieldsOfAnswers(t *testing.T) {
	for text, want := range map[string]Answer{
		`{"status":"queued"}`: {}, `{"status":"incomplete"}`: {Stop: "incomplete"}, `{"status":"failed"}`: {Stop: "failed", Error: "failed"},
		`{"incomplete_details":{"reason":"length"},"status":"incomplete"}`: {Stop: "length"}, `{"error":{"code":"a","type":"b"},"status":"failed"}`: {Stop: "failed", Error: "a"},
		`{"error":{"code":"","type":"b"}}`: {Error: "b"}, `{"error":{"code":null,"type":"b"},"code":"c"}`: {Error: "b"}, `{"status":""}`: {},
		`{"usage":{"output_tokens":-1}}`: {}, `{"usage":{"output_tokens":1099511627777}}`: {}, `{"usage":{"output_tokens":1.5}}`: {}, `{"usage":{"output_tokens":0}}`: {Used: true},
		`{"usage":{"output_tokens":1099511627776}}`: {Used: true, Usage: Usage{Output: 1 << 40}}, `{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9}}}`: {Used: true, Usage: Usage{CacheRead: 9}},
	} {
		for _, kind := range []string{"application/json; x=1", "application/problem+json"} {
			tap := NewTap(Responses, kind, " Identity")
			tap.Feed([]byte(text))
			want.Whole = true
			if diff := cmp.Diff(&want, tap.End(false)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
	for n, want := range map[int]int64{maxUndecided: 0, maxUndecided + 1: maxUndecided + 7} { // an event that does not tell its type
		if got := NewTap(Anthropic, eventStream, "").Feed([]byte("data: " + strings.Repeat(" ", n))); got != want {
			t.Errorf("of an event with %d bytes %d pass, want %d", n, got, want)
		}
	}
}

// An event that ends the answer and did not look so at first is held from where it shows, and nothing
// may be written there.
func TestEndThatShowsLate(t *testing.T) {
	undecided := "data: {" + strings.Repeat(" ", maxUndecided)
	for _, tt := range []struct {
		open, held string
	}{
		{"event: ping\nevent: message_stop\n", "data: {\"type\":\"message_stop\"}\n\n"},
		{undecided, "\"type\":\"message_stop\"}\n\n"},
	} {
		tap := NewTap(Anthropic, eventStream, "")
		if got := tap.Feed([]byte(tt.open)); got != int64(len(tt.open)) || tap.Between() {
			t.Errorf("%.40q: %d bytes pass, between events %t; want all %d", tt.open, got, tap.Between(), len(tt.open))
		}
		if got := tap.Feed([]byte(tt.held)); got != int64(len(tt.open)) || tap.Between() || !tap.Whole() {
			t.Errorf("%.40q: %d bytes pass in the end, between events %t, whole %t; want %d, false, true", tt.open, got, tap.Between(), tap.Whole(), len(tt.open))
		}
	}
	const named = "event: x\n" // the name alone tells that it is another event
	if got := NewTap(Anthropic, eventStream, "").Feed([]byte(named)); got != int64(len(named)) {
		t.Errorf("of %q %d bytes pass, want all", named, got)
	}
}

// What cannot become JSON any more is known as such, and a text is not too deep for being JSON.
func TestWhatIsNoJSON(t *testing.T) {
	deep := strings.Repeat("[", maxOpen) + strings.Repeat("]", maxOpen)
	for text, want := range map[string]bool{
		`{"a":}`: false, `{"a"}`: false, `[1}`: false, `[1,]`: false, `{"a":1]`: false, `{"a":1 x"b":2}`: false, `[1 x2]`: false, `{"a"x1}`: false, `{xa":1}`: false, `[+1]`: false, `[:1]`: false, `[` + deep + `]`: false,
		`{"a":[1,-2,[],{}],"b":{"c":null},"d":true,"e":false}`: true, deep: true,
	} {
		s := scanner{dialect: Anthropic, got: func(field, []byte) {}}
		s.feed([]byte(text))
		if s.whole != want || s.bad == want {
			t.Errorf("%.60s: whole %t, bad %t; want whole %t", text, s.whole, s.bad, want)
		}
	}
}

// The writes to the cache add up to the provider's total, also if it splits only an earlier one.
func TestSplitOfCacheWrites(t *testing.T) {
	for _, tt := range []struct {
		name          string
		five, hour    string // JSON of the split, or empty
		total         int
		want5m, want1 token.Count
	}{
		{"no split", "", "", 90, 90, 0},
		{"the split is the total", "30", "60", 90, 30, 60},
		{"more for five minutes", "80", "0", 9000, 9000, 0},
		{"more for an hour", "0", "80", 9000, 0, 9000},
		{"more for one of both", "30", "50", 100, 50, 50},
		{"more, and the split has zeros", "0", "0", 100, 100, 0},
		{"the total is smaller", "30", "50", 10, 30, 50},
		{"one more", "30", "50", 81, 31, 50},
		{"more for one of both, which has one", "1", "50", 60, 10, 50},
		{"more for an hour, which has one", "0", "1", 9, 0, 9},
	} {
		split := ""
		if tt.five != "" {
			split = `,"cache_creation_input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":` + tt.five + `,"ephemeral_1h_input_tokens":` + tt.hour + "}"
		}
		text := `data: {"type":"message_start","message":{"usage":{"input_tokens":12` + split + "}}}\n\n" +
			fmt.Sprintf(`data: {"type":"message_delta","usage":{"cache_creation_input_tokens":%d}}`, tt.total) + "\n\ndata: {\"type\":\"message_stop\"}\n\n"
		tap := NewTap(Anthropic, eventStream, "")
		tap.Feed([]byte(text))
		if u := tap.End(false).Usage; u.CacheWrite5m != tt.want5m || u.CacheWrite1h != tt.want1 || u.Input != 12 {
			t.Errorf("%s: %+v, want %d and %d", tt.name, u, tt.want5m, tt.want1)
		}
	}
}
