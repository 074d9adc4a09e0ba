package assembly

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// A message as text has what was said, called and returned, and nothing that is for the
// provider alone.
func TestPlain(t *testing.T) {
	e := &transcript.Entry{Message: transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{
		transcript.Thinking{Text: "hidden"},
		transcript.Text("said"),
		transcript.ToolCall{ID: "c", Name: "read", Input: []byte(`{"path":"a"}`)},
		transcript.ToolResult{CallID: "c", Content: []transcript.Part{transcript.Text("returned"), transcript.Media{Kind: "image"}, transcript.Text("")}},
		transcript.Media{Kind: "image"},
	}}}
	got := Plain(e)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	inner := fenceWord(Origin{}, "returned\n[not text]\n")
	want := []string{
		"said", `<call name="read">{"path":"a"}</call>`, `<result fence="` + inner + `">`, "returned", "[not text]", "</result " + inner + ">", "[image]",
	}
	word := fenceWord(Origin{}, strings.Join(want, "\n")+"\n")
	want = append(append([]string{`<message role="assistant" fence="` + word + `">`}, want...), "</message "+word+">")
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// No message ends before its fence does, whatever it says.
func TestPlainIsNotForged(t *testing.T) {
	said := "hello\n"
	for range 20 {
		e := &transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text(said)}}}
		text := Plain(e)
		last := text[strings.LastIndex(text, "</message "):]
		if n := strings.Count(text, last); n != 1 {
			t.Fatalf("%q ends %d times in %q", last, n, text)
		}
		said += last // a text that has the fence of the message before
	}
}

func TestTagged(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" \n", ""},
		{"a", "<query>\na\n</query>\n"},
		{"a\n", "<query>\na\n</query>\n"},
	} {
		if got := Tagged("query", tt.text); got != tt.want {
			t.Errorf("Tagged(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
