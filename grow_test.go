package carrel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A larger target after a smaller one brings back what passes took out, and nothing that
// the agent discarded, as a pass that can be undone; the same target again changes nothing.
func TestALargerTargetBringsBlocksBack(t *testing.T) {
	for _, strategy := range []carrel.Strategy{carrel.StrategyImportance, carrel.StrategyPager, carrel.StrategyWindow} {
		t.Run(string(strategy), func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			ctx := t.Context()
			in := load(t, e, conversation(t))
			list, err := e.Messages(ctx, scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list.Messages, func(b carrel.BlockInfo) bool { return b.Discardable })
			gone := list.Messages[i].ID
			if _, err := e.Discard(ctx, scope, &carrel.DiscardRequest{Session: in.Session, IDs: []string{string(gone)}, Trigger: &pager.Trigger{Floor: 1}}); err != nil {
				t.Fatal(err)
			}
			compress := func(target token.Count) *carrel.CompressResult {
				t.Helper()
				res, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Strategy: strategy, Target: carrel.Target{Tokens: target}})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			small := compress(in.Tokens / 4)
			list, err = e.Messages(ctx, scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			i = slices.IndexFunc(list.Messages, func(b carrel.BlockInfo) bool { return b.Discardable && b.Form != pager.Whole })
			if i >= 0 { // a discard that is undone changes nothing of it: a pass was the last that cut the block
				if _, err := e.Discard(ctx, scope, &carrel.DiscardRequest{Session: in.Session, IDs: []string{string(list.Messages[i].ID)}, Trigger: &pager.Trigger{Floor: 1}}); err != nil {
					t.Fatal(err)
				}
				if _, err := e.Undo(ctx, scope, &carrel.UndoRequest{Session: in.Session}); err != nil {
					t.Fatal(err)
				}
			}
			before := windows(t, e, in.Session)
			sent := export(t, e, in.Session)
			target := in.Tokens * 3 / 4
			large := compress(target)
			if large.Op == "" || large.After <= small.After || large.After > target || large.Before != small.After {
				t.Fatalf("%d tokens became %d of %d (operation %q), want more", large.Before, large.After, target, large.Op)
			}
			for _, d := range large.Decisions {
				if d.From != d.To && d.Step == "" {
					t.Errorf("no step brings block %s from %s to %s", d.Block, d.From, d.To)
				}
			}
			after := windows(t, e, in.Session)
			if after[gone].state != before[gone].state || after[gone].tokens != before[gone].tokens {
				t.Errorf("what was discarded is %+v, was %+v", after[gone], before[gone])
			}
			var sum token.Count
			for id, b := range after {
				if b.tokens < before[id].tokens {
					t.Errorf("block %s has %d tokens in the window, had %d with less room", id, b.tokens, before[id].tokens)
				}
				sum += b.tokens - before[id].tokens
			}
			if sum != large.After-small.After {
				t.Errorf("blocks grew by %d tokens, the window by %d", sum, large.After-small.After)
			}
			text, err := e.Contract(ctx, scope, &carrel.SessionRequest{Session: in.Session})
			if err != nil || !strings.Contains(strings.Join(text.Statements, "\n"), "block-") {
				t.Fatal(err)
			}
			report, err := e.CheckContract(ctx, scope, &carrel.SessionRequest{Session: in.Session})
			if err != nil || len(report.Failures) > 0 {
				t.Errorf("the contract fails: %+v, %v", report, err)
			}
			if again := compress(target); again.Op != "" || again.Changed != 0 {
				t.Errorf("the same target again changes %d blocks", again.Changed)
			}
			if _, err := e.Undo(ctx, scope, &carrel.UndoRequest{Session: in.Session, Op: large.Op}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, windows(t, e, in.Session), cmp.AllowUnexported(window{})); diff != "" {
				t.Errorf("undone:\n%s", diff)
			}
			if string(export(t, e, in.Session)) != string(sent) {
				t.Error("undone, the window has other bytes")
			}
			if all := compress(in.Tokens * 2); all.After <= large.After {
				t.Errorf("with room for all the window has %d tokens, had %d", all.After, large.After)
			}
			for id, b := range windows(t, e, in.Session) {
				if id != gone && b.form != pager.Whole {
					t.Errorf("with room for all, block %s is %s", id, b.form)
				}
			}
		})
	}
}

// A strategy that writes summaries brings blocks back as the one without them does, and
// says which that is.
func TestGrowingWithoutANewSummarySaysSo(t *testing.T) {
	for asked, want := range map[carrel.Strategy]carrel.Strategy{
		carrel.StrategyAnchored: carrel.StrategyAccount, carrel.StrategyHybrid: carrel.StrategyWindow, carrel.StrategyAccount: carrel.StrategyAccount,
	} {
		e := newEngine(t, stores.New(t))
		in := load(t, e, conversation(t))
		if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Strategy: carrel.StrategyWindow, Target: carrel.Target{Tokens: in.Tokens / 4}}); err != nil {
			t.Fatal(err)
		}
		res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Strategy: asked, Target: carrel.Target{Tokens: in.Tokens * 2}})
		if err != nil || res.Op == "" || res.Strategy != want || res.After <= res.Before {
			t.Errorf("%s brings blocks back as %s, want as %s: operation %q, %d tokens became %d, %v", asked, res.Strategy, want, res.Op, res.Before, res.After, err)
		}
	}
}

// A pass that nobody asked for brings nothing back.
func TestAnAutomaticPassBringsNothingBack(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	for _, req := range []carrel.CompressRequest{{Target: carrel.Target{Share: ratio.Of(1, 4)}}, {Target: carrel.Target{Tokens: 2 * in.Tokens}, Auto: true}} {
		req.Session = in.Session
		res, err := e.Compress(t.Context(), scope, &req)
		if err != nil {
			t.Fatal(err)
		}
		if req.Auto && (res.Op != "" || res.After != res.Before) {
			t.Errorf("%d tokens became %d", res.Before, res.After)
		}
	}
}

// A window is what of a block is in one.
type window struct {
	state  store.State
	form   pager.Form
	tokens token.Count
}

func windows(t *testing.T, e *carrel.Engine, id transcript.SessionID) map[transcript.BlockID]window {
	t.Helper()
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[transcript.BlockID]window)
	for _, b := range list.Messages {
		all[b.ID] = window{b.State, b.Form, b.Window}
	}
	return all
}

// A strategy that has no room for a summary, or nothing to summarize, says so and says
// what it did instead.
func TestAnchoredWithoutASummarySaysSo(t *testing.T) {
	for name, req := range map[string]carrel.CompressRequest{
		"no room":              {Target: carrel.Target{Tokens: 1}},
		"nothing to summarize": {Target: carrel.Target{Share: ratio.Of(1, 4)}, KeepLast: 100},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			in := load(t, e, conversation(t))
			none := ratio.Ratio(0)
			req.Session, req.Strategy, req.ProbeMin = in.Session, carrel.StrategyAnchored, &none
			res, err := e.Compress(t.Context(), scope, &req)
			if floor, ok := carrel.Floor(err); ok {
				req.Target = carrel.Target{Tokens: floor.Need + 5}
				res, err = e.Compress(t.Context(), scope, &req)
			}
			if err != nil {
				t.Fatal(err)
			}
			if res.Summary != nil {
				t.Fatalf("there is a summary of %d tokens in a budget of %d", res.Summary.Tokens, res.Budget)
			}
			if res.Strategy != carrel.StrategyAccount || !strings.Contains(strings.Join(res.Warnings, "\n"), "anchored made no new summary") {
				t.Errorf("strategy %s, warnings %q", res.Strategy, res.Warnings)
			}
		})
	}
}

// A share is of what may leave: system text and tools stay beside it.
func TestAShareIsOfWhatMayLeave(t *testing.T) {
	e := newEngine(t, stores.New(t))
	msgs := []message{{Role: "system", Content: strings.Repeat("You fix things. ", 500)}}
	for range 40 {
		msgs = append(msgs, message{Role: "user", Content: "Go on with the work."}, message{Role: "assistant", Content: strings.Repeat("It is done. ", 20)})
	}
	in := load(t, e, body(t, msgs))
	full, err := e.Context(t.Context(), scope, &carrel.ContextRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	stays := full.Fixed.Tokens + full.System.Tokens
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 2)}, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := stays + (full.Used-stays)/2; res.Budget < want-1 || res.Budget > want {
		t.Errorf("budget %d, want %d: half of %d and %d beside it", res.Budget, want, full.Used-stays, stays)
	}
	if res.Leaves != full.Used-stays || res.Stays != stays || res.Share != ratio.Of(1, 2) {
		t.Errorf("the budget is told as %v of %d and %d, want half of %d and %d", res.Share, res.Leaves, res.Stays, full.Used-stays, stays)
	}
	if full.Figures != res.Figures {
		t.Errorf("context measures by %+v, compress by %+v", full.Figures, res.Figures)
	}
}
