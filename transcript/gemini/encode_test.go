package gemini

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

func TestDecode(t *testing.T) {
	s := formattest.Decode(t, format{}, string(formattest.Samples(t, "*.json", "tools")["tools"]))
	text := func(s string) transcript.Part { return transcript.Text(s) }
	call := func(id, name, input string) transcript.Part {
		return transcript.ToolCall{ID: id, Name: name, Input: []byte(input)}
	}
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "BBBB", Raw: []byte(`{"inlineData":{"mimeType":"image/png","data":"BBBB"}}`)}
	want := [][]transcript.Part{
		{text("Wind the clocks\nin order.")},
		{text("Wind all three."), transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA", Raw: []byte(`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`)}},
		{
			transcript.Thinking{Text: "Three clocks, three calls."},
			text("I wind them."),
			call("call_1", "wind", `{"clock": "hall", "turns": 9007199254740993}`), call("gemini-1-3", "wind", `{ }`), call("gemini-1-4", "wind", `{"clock":"tower é"}`),
		},
		{
			transcript.ToolResult{CallID: "call_1", Content: []transcript.Part{text("done: 12 turns")}},
			transcript.ToolResult{CallID: "gemini-1-3", Content: []transcript.Part{text("the key is lost")}, Error: true},
			transcript.ToolResult{CallID: "gemini-1-4", Content: []transcript.Part{text(`{"turns":[1e3],"ok":true}`), image}},
		},
		{text("The second key is lost."), transcript.Thinking{Signature: "c2lnMg", Redacted: true}},
		{text("Look for it.")},
		{call("gemini-5-0", "search", "")},
		{transcript.ToolResult{CallID: "gemini-5-0", Content: []transcript.Part{text("under the\nclock")}}, text("and hurry")},
		{call("gemini-7-0", "search", `{"q":"x"}`)},
	}
	var got [][]transcript.Part
	var roles []string
	for _, m := range s.Messages {
		got, roles = append(got, m.Parts), append(roles, string(m.Role))
	}
	norm := cmp.Transformer("raw", func(b []byte) string { return string(b) })
	if diff := cmp.Diff(want, got, norm); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool assistant user assistant tool assistant" {
		t.Errorf("roles %s", got)
	}
	if string(s.Tools) != `[{"functionDeclarations":[{"name":"wind"}]}]` || s.Title != "Wind all three." || !strings.HasPrefix(string(s.ID), "ge-") {
		t.Errorf("tools %s, title %q, id %s", s.Tools, s.Title, s.ID)
	}
}

const talk = `{"systemInstruction":{"parts":[{"text":"S"}]},"contents":[{"role":"user","parts":[{"text":"go"}]}, {"parts":[{"text":"hm","thought":true}, {"functionCall":{"name":"f","args":{"n":1.0}},"thoughtSignature":"c2ln"}, {"functionCall":{"name":"f"}}],"role":"model"}, {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"long"}}}, {"functionResponse":{"id":"x","name":"f","response":{"error":"bad"},"parts":[]}}]}, {"role":"model","parts":[{"text":"Done."}]}]}`

func TestEncodeOwn(t *testing.T) {
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	edit := func(name string, change func(*transcript.Window), want func(string) string) formattest.Edit {
		return formattest.Edit{Name: name, Change: change, Want: want}
	}
	formattest.Edits(t, format{}, talk, []formattest.Edit{
		edit("without thinking", func(w *transcript.Window) {
			for i := range w.Entries {
				w.Entries[i] = w.Entries[i].WithoutThinking()
			}
		}, replace(`{"text":"hm","thought":true}, `, "")),
		edit("a shorter output", func(w *transcript.Window) { w.Entries[3] = w.Entries[3].WithResult("gemini-1-1", "<a> & \"b\"") },
			replace(`{"name":"f","response":{"output":"long"}}`, `{"name":"f", "response": {"output": "<a> & \"b\""}}`)),
		edit("a shorter error", func(w *transcript.Window) { w.Entries[3] = w.Entries[3].WithResult("gemini-1-2", "short") },
			replace(`,"response":{"error":"bad"},"parts":[]`, `, "response": {"error": "short"}`)),
		edit("a stub in place of calls", func(w *transcript.Window) {
			w.Entries = append(w.Entries[:2:2], transcript.Stub("", "stub"), w.Entries[4])
		}, func(s string) string {
			return s[:strings.Index(s, `{"parts":[{"text":"hm"`)] + `{"role": "user", "parts": [{"text": "stub"}]}, {"role":"model","parts":[{"text":"Done."}]}]}`
		}),
		edit("a reply alone", func(w *transcript.Window) { w.Entries = append(w.Entries[:1:1], w.Entries[4]) }, func(string) string {
			return `{"systemInstruction":{"parts":[{"text":"S"}]},"contents":[{"role": "user", "parts": [{"text": "` + transcript.Opening + `"}]}, {"role":"model","parts":[{"text":"Done."}]}]}`
		}),
		edit("no system text", func(w *transcript.Window) { w.Entries = w.Entries[1:] }, replace(`{"parts":[{"text":"S"}]}`, "null")),
		edit("more system text", func(w *transcript.Window) {
			note := transcript.Entry{Message: transcript.Message{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text("T")}}}
			w.Entries = append(w.Entries[:1:1], append([]transcript.Entry{note}, w.Entries[1:]...)...)
		}, replace(`{"parts":[{"text":"S"}]}`, `{"parts": [{"text":"S"}, {"text": "T"}]}`)),
	})
}

// Carrel's replacement of a result, which is under the key error, is not a failure.
func TestPointerIsNoError(t *testing.T) {
	s := formattest.Decode(t, format{}, strings.Replace(talk, `"error":"bad"`, `"error":"`+transcript.Mark+`: stashed 77e0]"`, 1))
	if rs := s.Messages[3].Results(); rs[1].Error || rs[1].Text() != transcript.Mark+": stashed 77e0]" {
		t.Errorf("results %+v", rs)
	}
}

// The encoder repairs a conversation that the provider would refuse, and lists each repair.
func TestEncodeMends(t *testing.T) {
	const (
		ask  = `{"role":"user","parts":[{"text":"go"}]}`
		call = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"c2ln"}]}`
		said = `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"x"}}}]}`
		next = `{"role":"model","parts":[{"text":"on"}]}`
	)
	made := `{"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "f", "response": {"error": "` + transcript.Interrupted + `"}}}]}`
	open := `{"role": "user", "parts": [{"text": "` + transcript.Opening + `"}]}`
	for _, tt := range []struct {
		name       string
		list, want []string
		fixes      []string
	}{
		{"a call that nobody answered", []string{ask, call, next}, []string{ask, call, made, next}, []string{"2 made up a result for an unanswered call"}},
		{"a response apart from its call", []string{ask, call, ask, said}, []string{ask, call, said, ask}, []string{"2 result moved behind its call"}},
		{"two replies in a row", []string{ask, next, next}, []string{ask, next, open, next}, nil},
		{"a signature that is none", []string{ask, strings.Replace(call, "c2ln", "*", 1), said}, []string{
			ask, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}, "thoughtSignature": "` + Skipped + `"}]}`, said,
		}, []string{"1 signature that is none replaced"}},
		{"a lost signature", []string{ask, call, said, strings.NewReplacer(`,"thoughtSignature":"c2ln"`, "", `"a"`, `"b"`).Replace(call)}, []string{
			ask, call, said, `{"role":"model","parts":[{"functionCall":{"id":"b","name":"f","args":{}}, "thoughtSignature": "` + Skipped + `"}]}`,
		}, []string{"3 signature put in place of a missing one"}},
		{"an empty part", []string{`{"role":"user","parts":[{"text":""},{"text":"go"}]}`}, []string{`{"role":"user","parts":[{"text":"go"}]}`}, []string{"0 empty part left out"}},
		{"nothing", []string{`{"role":"user","parts":[]}`}, []string{open}, []string{"0 empty message left out"}},
		{"a call that is no object", []string{ask, `{"role":"model","parts":[{"functionCall":7}]}`}, []string{ask, `{"role":"model","parts":[{"functionCall":{"name": "unknown"}}]}`}, []string{"1 call or response written as the provider wants it"}},
		{"no name and no id", []string{ask, `{"role":"model","parts":[{"functionCall":{"id":"a"}}]}`, `{"role":"user","parts":[{"functionResponse":{"response":{}}}]}`}, []string{
			ask, `{"role":"model","parts":[{"functionCall":{"id":"a", "name": "unknown"}}]}`, `{"role":"user","parts":[{"functionResponse":{"response":{}, "name": "unknown", "id": "a"}}]}`,
		}, []string{"1 call or response written as the provider wants it", "2 call or response written as the provider wants it"}},
		{"an id of another call", []string{ask, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}},{"functionCall":{"name":"f"}}]}`, `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}},{"functionResponse":{"id":"a","name":"f","response":{"x":1}}}]}`}, []string{
			ask, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}},{"functionCall":{"name":"f"}}]}`, `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}, {"functionResponse":{"name":"f","response":{"x":1}}}]}`,
		}, []string{"2 call or response written as the provider wants it"}},
		{"two contents of responses", []string{
			ask, `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"g","response":{}}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`,
		}, []string{
			ask, `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}`,
			`{"role": "user", "parts": [{"functionResponse":{"name":"f","response":{}}}, {"functionResponse":{"name":"g","response":{}}}]}`,
		}, []string{"2 results put in one message, before anything else"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := transcript.Whole(formattest.Decode(t, format{}, `{"contents":[`+strings.Join(tt.list, ",")+`]}`))
			w.As = "other" // a new id, so that Encode does not return the input
			enc := formattest.Encode(t, format{}, w)
			got := strings.NewReplacer("]}, {\"role", "]},{\"role").Replace(string(enc.Data))
			if diff := cmp.Diff(`{"contents":[`+strings.Join(tt.want, ",")+`]}`, got); diff != "" {
				t.Errorf("encoding (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.fixes, formattest.Fixes(enc)); diff != "" {
				t.Errorf("repairs (-want +got):\n%s", diff)
			}
		})
	}
}

// A session of another format is written from its parts. Its calls of the current
// turn get the documented signature for calls without one.
func TestEncodeOther(t *testing.T) {
	s := formattest.ForeignSession()
	enc := formattest.Encode(t, format{}, transcript.Whole(s))
	want := `{"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [` + strings.Join([]string{
		`{"role": "user", "parts": [{"text": "look <here>"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": "[document text/plain]"}]}`,
		`{"role": "model", "parts": [{"text": "one"}, {"text": "two"}, {"functionCall": {"id": "` + formattest.LongID + `", "name": "run", "args": {"n": 1e400, "t": "<"}}}, {"functionCall": {"id": "b", "name": "unknown", "args": {"_raw": "oops"}}}]}`,
		`{"role": "user", "parts": [{"functionResponse": {"id": "` + formattest.LongID + `", "name": "run", "response": {"output": "seen"}, "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}}, {"functionResponse": {"id": "b", "name": "unknown", "response": {"error": ""}}}, {"text": "and?"}]}`,
		`{"role": "user", "parts": [{"text": "[system] [image image/png]"}]}`,
	}, ", ") + `]}`
	if diff := cmp.Diff(want, string(enc.Data)); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
	lost := `[{-1 tools 1 3} {1 document 1 2} {2 thinking 1 5} {5 "odd" 1 2} {6 image 1 5} {2 arguments 1 4}]` // message, kind, count, bytes
	if got := fmt.Sprint(enc.Losses); got != lost {
		t.Errorf("losses %s, want %s", got, lost)
	}
	w := transcript.Whole(s)
	w.Entries = w.Entries[:3]
	if enc := formattest.Encode(t, format{}, w); strings.Count(string(enc.Data), Skipped) != 1 {
		t.Errorf("a turn that waits has no signature: %s", enc.Data)
	}
}

// A user's text that is put before a reply is a repair, and every repair has its place in the
// repaired list.
func TestMendTellsWhereTextsWerePut(t *testing.T) {
	const reply = `{"role":"model","parts":[{"text":"x"}]}`
	for _, tt := range []struct {
		contents string
		want     []string
	}{
		{reply, []string{"0 a user's text put before a reply"}},
		{reply + "," + reply, []string{"0 a user's text put before a reply", "2 a user's text put before a reply"}},
		{
			reply + "," + reply + `,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"text":"go"}]}`,
			[]string{"0 a user's text put before a reply", "2 a user's text put before a reply", "4 a user's text put before a reply", "6 made up a result for an unanswered call"},
		},
	} {
		m, err := transcript.Mend(format{}, formattest.Decode(t, format{}, `{"contents":[`+tt.contents+`]}`), transcript.MendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range m.Repairs {
			if !strings.HasPrefix(f.What, "signature") {
				got = append(got, fmt.Sprint(f.Message, " ", f.What))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || len(m.Left) > 0 {
			t.Errorf("%s: left %v, repairs (-want +got):\n%s\n%s", tt.contents, m.Left, diff, m.Data)
		}
	}
}
