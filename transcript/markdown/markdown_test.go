package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// talk is a request with a little of everything.
const talk = `{"model":"gpt-4o","messages":[
{"role":"system","content":"You mend the mill."},
{"role":"user","content":"Why does it stop?"},
{"role":"assistant","content":"I look.","reasoning_content":"Hm.","tool_calls":[
 {"id":"a","type":"function","function":{"name":"Bash","arguments":"{\"command\": \"go test ./mill\"}"}},
 {"id":"b","type":"function","function":{"name":"Read","arguments":"{\"file_path\": \"mill.go\"}"}}]},
{"role":"tool","tool_call_id":"a","content":"--- FAIL: TestMill (0.00s)\nFAIL\tmill\t0.012s\nFAIL"},
{"role":"tool","tool_call_id":"b","content":"package mill\n` + "```" + `\n# not a heading"},
{"role":"assistant","content":"It is iced."},
{"role":"user","content":"Thaw it."}]}`

func decoded(tb testing.TB) *transcript.Session { return formattest.Decode(tb, openai.Format, talk) }

// samples are documents of conversations.
func samples(tb testing.TB) map[string][]byte {
	return map[string][]byte{
		"talk":   formattest.Encode(tb, Format, transcript.Whole(decoded(tb))).Data,
		"longer": formattest.Encode(tb, Format, transcript.Whole(formattest.Decode(tb, openai.Format, string(fakesession.Chat(5, 3))))).Data,
	}
}

func TestFormat(t *testing.T) { formattest.Run(t, Format, samples(t)) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, Format, samples(f)) }

// The document shows the speakers, the outcomes of calls, and the blocks outside the window.
func TestWhatPeopleSee(t *testing.T) {
	s := decoded(t)
	blocks, _ := s.Blocks()
	w := transcript.Whole(s)
	for i := range blocks {
		for _, m := range blocks[i].Messages {
			w.Entries[m].Block = blocks[i].ID
		}
	}
	answer := w.Entries[5].Block
	w.Entries[5] = transcript.Stub(answer, "[carrel: a reply, paged]")
	w.Entries = append(w.Entries[:1:1], w.Entries[2:]...) // without the question
	doc := string(formattest.Encode(t, Format, w).Data)
	for _, want := range []string{
		first + "\n\n# Why does it stop?\n\n", "| messages | 6 in the window, of 7 |\n",
		"\n## 1 · system · " + blocks[0].ID.Short() + "\n\n```text\nYou mend the mill.\n```\n",
		"\n### Thinking\n\n```text\nHm.\n```\n", "\n### Call of `Bash` · `a`\n\nOutcome: failed `--- FAIL: TestMill (0.00s); FAIL mill 0.012s`\n\n```json\n{\"command\": \"go test ./mill\"}\n```\n",
		"\n### Result · `b`\n\n````text\npackage mill\n```\n# not a heading\n````\n",
		"\n## 5 · stub · " + answer.Short() + "\n\n```text\n[carrel: a reply, paged]\n```\n",
		"\n" + leftOut + "\n\n| block | turn | what | state | bytes | begins |\n|---|---|---|---|---|---|\n" +
			"| " + blocks[1].ID.Short() + " | 2 | user | left out | 45 | Why does it stop? |\n| " + answer.Short() + " | 4 | assistant | stub | 44 | It is iced. |\n",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document has no %q:\n%s", want, doc)
		}
	}
}

// No text of a speaker ends its fence, begins a section, or looks like other markup.
func TestNothingForges(t *testing.T) {
	hostile := rapid.SampledFrom([]string{
		"```", "````", "~~~", "```text", "\n", "\r", "\r\n", "\u2028", "\u0085", "\x1b[31m", "\u202e", "\x00", " ", "\t", "x", first, leftOut,
		"## 3 · user · 0a1b2c3d", "### Result · `a`", "### Call of `Bash` · `a`", "<!-- ", "-->", "</details>", "| a | b |", "# ", "> ", "`",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(hostile, 1, 12).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) string { return text.Draw(t, what) }
		s := &transcript.Session{ID: transcript.SessionID(draw("id")), Title: draw("title"), Format: "other", Project: draw("project"), Messages: []transcript.Message{
			{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text(draw("order"))}},
			{Role: transcript.RoleAssistant, Parts: []transcript.Part{
				transcript.Thinking{Text: draw("thought")},
				transcript.Text(draw("reply")),
				transcript.ToolCall{ID: "a", Name: draw("tool"), Input: []byte(draw("input"))},
				transcript.Opaque{Type: draw("type"), Raw: []byte("{}")},
			}},
			{Role: transcript.RoleTool, Parts: []transcript.Part{
				transcript.ToolResult{CallID: "a", Content: []transcript.Part{transcript.Text(draw("result"))}}, transcript.Text(draw("word")),
			}},
		}}
		w := transcript.Whole(s)
		enc, err := Format.Encode(w)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Format.Decode("x.md", enc.Data)
		if err != nil {
			t.Fatalf("%v\n%s", err, enc.Data)
		}
		if diff := cmp.Diff(seen(s), seen(got)); diff != "" {
			t.Fatalf("(-said +read):\n%s\n%s", diff, enc.Data)
		}
		for _, r := range string(enc.Data) {
			if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' || r == '\u2028' || r == '\u0085' {
				t.Fatalf("%U is in the document:\n%s", r, enc.Data)
			}
		}
	})
}

// seen returns the lines of a session that a reader of its document sees.
func seen(s *transcript.Session) (list []string) {
	said := func(who, text string) {
		text, _ = shown(text)
		list = append(list, who+": "+text)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		for _, p := range m.Parts {
			switch p := p.(type) {
			case transcript.Text:
				said(string(m.Role), string(p))
			case transcript.Thinking:
				said("thought", p.Text)
			case transcript.ToolCall:
				said("call "+strings.TrimSpace(inline(p.Name)), string(p.Input))
			case transcript.ToolResult:
				said("result "+p.CallID, p.Text())
			}
		}
	}
	return list
}

// Messages of all kinds are written for people to see, and what is not written is a loss.
func TestHowMessagesAreWritten(t *testing.T) {
	said := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	s := &transcript.Session{ID: "x", Format: "anthropic", Messages: []transcript.Message{
		said(transcript.RoleUser, transcript.Text("old")), said(transcript.RoleUser, transcript.Text("go"), transcript.Media{Kind: "image", MIME: "image/" + strings.Repeat("x", 80), Raw: []byte("12345")}),
		said(transcript.RoleAssistant, transcript.ToolCall{ID: "a", Name: "Bash", Input: []byte("{}")}),
	}}
	s.Messages[1].Summary = true
	w := transcript.Whole(s)
	w.Entries[0] = transcript.Entry{Message: said(transcript.RoleAssistant, transcript.Text("so")), Block: "0a1b2c3d"}
	w.Entries[1].Block = "0a1b2c3g"
	enc := formattest.Encode(t, Format, w)
	for _, want := range []string{
		"## 1 · assistant · 0a1b2c3d\n", "## 2 · summary\n", "\n*image image/" + strings.Repeat("x", 68) + "…, 5 bytes*\n", "\nOutcome: no result\n", "\n|  | 1 | user | left out | 0 | old |\n",
	} {
		if !strings.Contains(string(enc.Data), want) {
			t.Errorf("the document has no %q:\n%s", want, enc.Data)
		}
	}
	if diff := cmp.Diff([]transcript.Loss{{Message: 1, What: "image", Count: 1, Bytes: 5}}, enc.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	got := formattest.Decode(t, Format, string(enc.Data))
	if m := got.Messages[1]; m.Role != transcript.RoleUser || !m.Summary || got.Messages[0].Summary {
		t.Errorf("the summary is read as %+v", m)
	}
	for text, want := range map[string]string{"a\ufffd": "a\ufffd false", "a\xff": "aU+FFFD true", "a\u200d\u202e": "a\u200dU+202E true", "\n\t": "\n\t false", "\x7f": "␡ true"} {
		if said, changed := shown(text); fmt.Sprint(said, " ", changed) != want {
			t.Errorf("%q is shown as %q, %v, want %q", text, said, changed, want)
		}
	}
	for text, want := range map[string]string{"x": "```", "``": "```", "```\nx": "````", "x\n````": "`````"} { // one mark more than any row in the text
		b := &writer{}
		if b.fence(0, "", text); b.String() != want+"\n"+text+"\n"+want+"\n\n" {
			t.Errorf("%q is fenced as %q, want %s", text, b.String(), want)
		}
	}
	for id, want := range map[string]bool{"0a1b2c3d": true, "0a1b2c3g": false, "0a1b2c3": false, "": false} {
		if got := isID(id); got != want {
			t.Errorf("%s is an id: %v", id, got)
		}
	}
}
