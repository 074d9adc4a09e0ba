package hold

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// A quotation ends before what an account keeps of the user's words: they are in no stub, and
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
