package hold

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A quotation ends before the user's words that an account keeps: these words are in no stub, and
// must not seem to be.
func TestQuotationsEndBeforeWords(t *testing.T) {
	const quoting, words = "[carrel sum_0a1b2c3d: summary of blocks 1 to 4]\n## Session Intent\nMend the lamp.", "Paint it, too. …\n[12345678]"
	for _, tt := range []struct {
		name  string
		texts []string
		ends  []bool
	}{
		{"a summary, and words", []string{quoting, words}, []bool{true, true}},
		{"words, and a summary", []string{words, quoting}, []bool{false, true}},
		{"a stub behind a summary", []string{quoting, "[carrel 12345678: paged]\nok", words}, []bool{false, true, true}},
		{"words and words", []string{words, words}, []bool{false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &transcript.Window{}
			for _, text := range tt.texts {
				w.Entries = append(w.Entries, transcript.Stub("b", text))
			}
			for i, e := range CloseQuotes(w, "anthropic").Entries {
				text, _ := standsFor(&e)
				if got := strings.HasSuffix(text, "\n"+transcript.End); got != tt.ends[i] {
					t.Errorf("entry %d ends: %v, want %v: %q", i, got, tt.ends[i], text)
				}
			}
		})
	}
}

// Thinking counts the tokens of the thinking and the framing of messages that have nothing else.
func TestTokensOfThinking(t *testing.T) {
	m := Meter{Counter: bytesCounted{}, Framing: token.Framing{Message: 100}}
	thinking := transcript.Thinking{Text: "12345"}
	alone := m.Parts([]transcript.Part{thinking})
	msgs := []transcript.Message{
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{thinking}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{thinking, transcript.Text("said")}},
		{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("said")}},
		{Role: transcript.RoleAssistant},
	}
	for i, want := range []token.Count{alone + 100, alone, 0, 0} {
		if got := m.Thinking(msgs, &transcript.Block{Messages: []int{i}}); got != want || alone <= 0 {
			t.Errorf("message %d: %d tokens leave, want %d", i, got, want)
		}
	}
	if got := m.Thinking(msgs, &transcript.Block{Messages: []int{0, 1, 2, 3}}); got != 2*alone+100 {
		t.Errorf("of all, %d tokens leave, want %d", got, 2*alone+100)
	}
}

// bytesCounted is a counter that counts each byte as a token.
type bytesCounted struct{}

func (bytesCounted) Encoding() string           { return "bytes" }
func (bytesCounted) Count(s string) token.Count { return token.Count(len(s)) }
