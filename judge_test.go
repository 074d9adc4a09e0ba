package carrel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/ratio"
)

// What Compress accepts is accepted by whatever judges a summary, with one score; and
// what one of them refuses, the other refuses for the same reasons.
func TestOneJudgementOfASummary(t *testing.T) {
	conversations := map[string][]byte{"demo": demo.Session(), "leak": leak(t)}
	for seed := range uint64(3) {
		conversations[fmt.Sprintf("claudecode-%d", seed)] = fakesession.ClaudeCode(seed, 12)
		conversations[fmt.Sprintf("openai-%d", seed)] = fakesession.Chat(seed, 12)
	}
	accepted := 0
	for name, data := range conversations {
		for _, strategy := range []carrel.Strategy{carrel.StrategyAnchored, carrel.StrategyHybrid, carrel.StrategyRegenerative} {
			t.Run(name+"-"+string(strategy), func(t *testing.T) {
				e, err := carrel.New(stores.New(t), &carrel.Options{Strategy: strategy, Counter: quarter{}})
				if err != nil {
					t.Fatal(err)
				}
				in := load(t, e, data)
				res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(40, 100)}})
				if err != nil || res.Summary == nil {
					return // nothing was summarized
				}
				accepted++
				whole, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(res.Summary.ID)})
				if err != nil {
					t.Fatal(err)
				}
				c := bothJudge(t, e, in, string(whole.Data))
				j := res.Attempts[len(res.Attempts)-1].Judged
				if j == nil || !j.Verdict.Accepted || !c.Accepted {
					t.Fatalf("compress says %+v, the check %v: %q %v", j, c.Accepted, c.Verdict.Reasons, c.Problems)
				}
				if j.Score != c.Probes.Score || j.Probes != c.Probes.Total || !slices.Equal(j.Verdict.RedFlags, c.Verdict.RedFlags) {
					t.Errorf("compress scores %d of %d, flags %q; the check %d of %d, flags %q",
						j.Passed, j.Probes, j.Verdict.RedFlags, c.Probes.Passed, c.Probes.Total, c.Verdict.RedFlags)
				}
				made := string(whole.Data) + "\n## Technical Context\n\n- The pool of `/srv/nowhere/made_up.go` holds 73819 leases\n"
				for _, text := range []string{made, "All is well.", ""} {
					if c := bothJudge(t, e, in, text); c.Accepted {
						t.Errorf("%q is accepted", text)
					}
				}
			})
		}
	}
	t.Run("enough", func(t *testing.T) { // apart, so that each of the others can be run alone
		if accepted < len(conversations) {
			t.Errorf("%d summaries were accepted, want at least %d", accepted, len(conversations))
		}
	})
}

// A text is judged as the summary of as many blocks as are asked for, or else of those
// that it says it is of, and of all if it says nothing.
func TestBlocksThatASummaryIsOf(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	for _, tt := range []struct{ says, asked, want int }{
		{0, 0, in.Blocks}, {3, 0, 3}, {1, 0, 1}, {in.Blocks + 1, 0, in.Blocks}, {3, 5, 5}, {5, 3, 3}, {0, 4, 4}, {-1, 0, in.Blocks},
	} {
		text := fmt.Sprintf(`{"session_intent":"Fix the pool.","messages_compressed":%d}`, tt.says)
		if tt.says < 0 {
			text = "no summary"
		}
		res, err := e.CheckSummary(t.Context(), scope, &carrel.CheckSummaryRequest{Session: in.Session, Data: []byte(text), Blocks: tt.asked})
		if err != nil {
			t.Fatal(err)
		}
		if res.Blocks != tt.want {
			t.Errorf("of a text that says %d, asked for %d: judged as of %d blocks, want %d", tt.says, tt.asked, res.Blocks, tt.want)
		}
	}
}

// One section that is not said is enough to refuse a text, unless nothing is asked of it.
func TestOneProblemIsEnough(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	text := []byte("## Session Intent\nFind why the pool hangs and fix it.\n## Files Modified\n- internal/pool/pool.go\n## Decisions Made\nNone\n## Current State\nNone\n" +
		"## Blockers / Open Questions\nNone\n## Next Steps\nNone\n## Technical Context\nNone\n")
	for least, accepted := range map[ratio.Ratio]bool{ratio.Of(1, 100): false, 0: true} {
		res, err := e.CheckSummary(t.Context(), scope, &carrel.CheckSummaryRequest{Session: in.Session, Data: text, ProbeMin: &least})
		if err != nil {
			t.Fatal(err)
		}
		said := res.Verdict.Reasons
		if accepted {
			said = res.Verdict.Warnings
		}
		if len(res.Problems) != 1 || res.Accepted != accepted || !slices.Contains(said, "1 problem in the summary") {
			t.Errorf("with at least %v of the probes: accepted %v, problems %+v, verdict %+v", least, res.Accepted, res.Problems, res.Verdict)
		}
	}
}

// bothJudge lets CheckSummary and RunProbes judge a text, and returns what both say.
func bothJudge(t *testing.T, e *carrel.Engine, in *carrel.ImportResult, text string) *carrel.CheckSummaryResult {
	t.Helper()
	c, err := e.CheckSummary(t.Context(), scope, &carrel.CheckSummaryRequest{Session: in.Session, Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.RunProbes(t.Context(), scope, &carrel.RunProbesRequest{Session: in.Session, Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict.Accepted != c.Accepted || r.Report.Score != c.Probes.Score || r.Report.Total != c.Probes.Total ||
		!slices.Equal(r.Verdict.Reasons, c.Verdict.Reasons) || !slices.Equal(r.Problems, c.Problems) {
		t.Errorf("the probes say %v, %v %q; the check %v, %v %q",
			r.Verdict.Accepted, r.Report.Score, r.Verdict.Reasons, c.Accepted, c.Probes.Score, c.Verdict.Reasons)
	}
	return c
}
