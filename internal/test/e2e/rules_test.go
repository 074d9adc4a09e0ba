package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// Claude Code alone, without Carrel, is refused nothing but this: it keeps the
// latest turn through a compaction, with its thinking, which was bound to what the
// summary took the place of. It is refused, and goes on without that thinking. Where
// the agent's model does not preserve thinking, nothing is refused.
//
// So what is refused in the other tests, whose kept turns do not think, is not the
// agent's own doing.
func TestClaudeCodeAloneIsRefusedOnlyTheThinkingOfAKeptTurn(t *testing.T) {
	const session = "5f0c3f4e-6a5b-4c1d-8e2f-0a1b2c3d4e5f"
	for _, tt := range []struct {
		name string
		kept []upstream.Block // what the kept turns think
		want []string         // rules
	}{
		{"turns that think", []upstream.Block{upstream.Thinking("That is all.")}, []string{"A9", "A9"}},
		{"turns that do not", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keep := func(blocks ...upstream.Block) []upstream.Block {
				return append(slices.Clip(tt.kept), blocks...)
			}
			a := newAgent(
				t,
				step("two at once", upstream.Thinking("I count."), upstream.Text("Counting."), bash("seq 3"), bash("seq 4 6")),
				upstream.Step{Name: "full", Reply: upstream.Reply{Blocks: keep(bash("seq 7 9")), InputTokens: tooMany}},
				step("counted", upstream.Thinking("Done."), upstream.Text("I have counted.")),
				step("asked", keep(upstream.Text("To nine."))...),
				step("again", upstream.Thinking("After the summary."), bash("seq 10 12")),
				step("end", upstream.Text("To twelve.")),
			)
			a.ask("count to nine", "--session-id", session)
			a.ask("how far did you get?", "--resume", session)
			a.ask("/compact keep the numbers", "--resume", session)
			a.ask("go on", "--resume", session)
			var got []string
			for _, r := range a.fake.Refused() {
				got = append(got, r.Refusal.Rule)
			}
			want := tt.want
			if m, _ := upstream.ModelNamed(a.last(upstream.KindMain).Model); !m.Bound {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("refused (-want +got):\n%s\n%v", diff, a.fake.Refused())
			}
			if n := len(a.fake.OfKind(upstream.KindCompaction)); n != 2 {
				t.Errorf("%d compactions, want the one of the agent and the one of the user", n)
			}
			if got := a.last(upstream.KindMain).Step; got != "end" {
				t.Errorf("the session ends at step %q", got)
			}
		})
	}
}
