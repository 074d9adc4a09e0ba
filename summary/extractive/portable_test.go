package extractive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

// The facts of a conversation, the summary that is drafted of them, how it is judged and
// the probes that it is asked are the same on every machine.
func TestSummariesArePortable(t *testing.T) {
	h := sha256.New()
	for seed := range uint64(12) {
		s, err := claudecode.Format.Decode(fmt.Sprintf("%d.jsonl", seed), fakesession.ClaudeCode(seed, 20))
		if err != nil {
			t.Fatal(err)
		}
		blocks, _ := s.Blocks()
		found := facts.Extract(s.Messages, blocks, &facts.Options{Project: s.Project})
		if len(found) == 0 {
			t.Fatalf("session %d has no facts", seed)
		}
		draft := Draft(found, &Options{Ref: ref})
		text := ""
		for i := range found {
			text += found[i].Text + "\n"
		}
		probes := probe.Generate(found, &probe.Options{Ref: ref})
		report := probe.Grade(probes, &probe.Evidence{Window: []string{draft.Markdown()}})
		for _, v := range []any{found, draft, summary.Check(draft, &summary.Original{Text: text}), probes, report} {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(h, string(data))
		}
	}
	const want = "b9aad23c677e65fce15d8e1ac0431ed444a3bd81e0ef7fcd92ccde529c14d4ec"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of what was made is %s, want %s", got, want)
	}
}
