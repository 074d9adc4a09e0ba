package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

var windows = []check{
	{"A compressed window fits, is valid, and loses nothing", compressed},
	{"Every strategy fits, and is undone without a trace", strategies},
	{"A summary stands for older blocks, and can be checked", summarized},
	{"Probes ask what the original says", probed},
	{"What is discarded leaves, and comes back", discarded},
	{"What is paged by hand is a stub, and comes back", pagedByHand},
	{"What is pinned stays", pinned},
	{"A critical session refuses what nobody can check", critical},
	{"A pass is due when the window is full", due},
	{"Accounts of a session add up", accounts},
}

// Shares of the imported tokens.
var (
	quarter = ratio.Of(1, 4)
	half    = ratio.Of(1, 2)
)

func compressed(w *world) {
	for _, f := range forms() {
		in := w.load(f)
		whole := make(map[string][]byte)
		for _, b := range w.list(in.Session).Messages {
			whole[string(b.ID)] = try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(b.ID)})).must(w).Data
		}
		full := w.list(in.Session).Window
		fill := try(w.Context(w.ctx(), w.in, &carrel.ContextRequest{Session: in.Session})).must(w)
		stays := fill.Fixed.Tokens + fill.System.Tokens // not part of the share
		res := try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: half}, Strategy: carrel.StrategyImportance})).must(w)
		w.holds(res.After <= res.Budget && res.Budget == stays+(full-stays)/2 && res.Op != "" && res.Before == full, "%s: %+v", f.format, res)
		w.holds(res.Tokens.Sum() == int64(res.Imported) && res.Blocks.Sum() == int64(in.Blocks), "%s: tokens %+v, blocks %+v", f.format, res.Tokens, res.Blocks)
		out := w.export(in.Session)
		w.holds(len(out) < len(f.write(talk())), "%s: the window has %d bytes", f.format, len(out))
		if f.format != "pager" {
			_, violations, err := carrel.Validate(f.format, out)
			w.holds(err == nil && len(violations) == 0, "%s: %v, %v", f.format, violations, err)
		}
		stubs := 0
		for _, b := range w.list(in.Session).Messages {
			if b.State != store.StateLive {
				stubs++
			}
			got := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(b.ID)})).must(w)
			w.holds(bytes.Equal(got.Data, whole[string(b.ID)]), "%s: block %s is recalled as something else", f.format, b.ShortID)
		}
		w.holds(stubs > 0, "%s: every block is whole in the window", f.format)
		again := try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: half}, Strategy: carrel.StrategyImportance})).must(w)
		w.holds(again.Op == "", "%s: a window that fits was compressed: %+v", f.format, again)
	}
}

func strategies(w *world) {
	in := w.imported()
	for _, s := range carrel.Strategies() {
		res := try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: half}, Strategy: s, ProbeMin: new(ratio.Ratio)})).must(w)
		w.holds(res.Strategy == s && res.After <= res.Budget, "%s: %+v", s, res)
		undone := try(w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: in.Session})).must(w)
		w.holds(undone.Undone == res.Op && undone.After == res.Before, "%s: undone %+v", s, undone)
		w.holds(bytes.Equal(w.export(in.Session), openAI(talk())), "%s: what was undone left a trace", s)
	}
	_, err := w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: in.Session, Op: "op_00000000"})
	w.fails("undoing what was never done", err, store.ErrNotFound)
}

func summarized(w *world) {
	in := w.imported()
	_, err := w.Summary(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})
	w.fails("no summary", err, store.ErrNotFound)
	todos := json.RawMessage(`[ {"content": "open the pull request",  "status":"pending"} ]`)
	res := try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{
		Session: in.Session, Target: carrel.Target{Share: half}, Strategy: carrel.StrategyAnchored, ProbeMin: new(ratio.Ratio), Todos: todos, Intent: []string{"review"},
	})).must(w)
	w.holds(res.Summary != nil && len(res.Attempts) > 0 && res.Probes != nil, "%+v", res)
	w.holds(len(res.Todos) == 1 && bytes.Contains(res.TodoList, []byte(`{"content": "open the pull request",  "status":`)), "to do: %+v, %s", res.Todos, res.TodoList)

	sum := try(w.Summary(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.same("summary", sum.ID, res.Summary.ID)
	w.holds(sum.Summary != nil && sum.Count == 1 && sum.Covers > 0 && sum.Text != "", "%+v", sum)
	whole := try(w.Recall(w.ctx(), w.in, &carrel.RecallRequest{Block: string(sum.ID)})).must(w)
	w.holds(whole.Size == len(whole.Data) && whole.Size > 0, "the summary is recalled as %q", whole.Data)
	state := try(w.State(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w).Compression
	w.holds(state.Count == 1 && state.Summary != nil && state.At != "" && state.ProbeScore == res.Probes.Score, "%+v", state)
	brief := try(w.Brief(w.ctx(), w.in, &carrel.BriefRequest{Session: in.Session, For: carrel.PurposeCompaction})).must(w)
	w.holds(brief.Text != "" && brief.Tokens > 0 && brief.Entries > 0, "%+v", brief)
	delta := try(w.DiffSession(w.ctx(), w.in, &carrel.DiffSessionRequest{Session: in.Session})).must(w)
	w.holds(len(delta.Ops) == 1 && delta.Ops[0].Op == res.Op && len(delta.Blocks) > 0, "what the pass changed: %+v", delta)
	rounds := try(w.ProbeReport(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(len(rounds.Rounds) == 1 && rounds.Rounds[0].Op == res.Op && rounds.Drift != nil, "%+v", rounds)

	checked := try(w.CheckSummary(w.ctx(), w.in, &carrel.CheckSummaryRequest{Session: in.Session, Data: whole.Data, Blocks: sum.Covers, ProbeMin: new(ratio.Ratio)})).must(w)
	w.holds(checked.Summary != nil && checked.Blocks == sum.Covers && checked.Verdict != nil, "the summary is not read: %+v", checked)
	junk := try(w.CheckSummary(w.ctx(), w.in, &carrel.CheckSummaryRequest{Session: in.Session, Data: []byte("All is well.")})).must(w)
	w.holds(!junk.Accepted && len(junk.Problems) > 0, "what is no summary: %+v", junk)
}

func probed(w *world) {
	in := w.imported()
	res := try(w.Probes(w.ctx(), w.in, &carrel.ProbesRequest{Session: in.Session})).must(w)
	w.holds(len(res.Probes) > 3 && res.Blocks == in.Blocks, "%d probes of %d blocks", len(res.Probes), res.Blocks)
	part := try(w.Probes(w.ctx(), w.in, &carrel.ProbesRequest{Session: in.Session, Blocks: 4})).must(w)
	w.holds(len(part.Probes) > 0 && len(part.Probes) < len(res.Probes), "%d probes of 4 blocks", len(part.Probes))

	whole := try(w.RunProbes(w.ctx(), w.in, &carrel.RunProbesRequest{Session: in.Session})).must(w)
	w.holds(whole.Report.Score == ratio.One && whole.Report.Total == len(res.Probes), "the whole conversation answers %v of %d", whole.Report.Score, whole.Report.Total)
	text := ""
	empty := try(w.RunProbes(w.ctx(), w.in, &carrel.RunProbesRequest{Probes: res.Probes, Text: &text})).must(w)
	w.holds(empty.Report.Passed == 0 && !empty.Verdict.Accepted, "no text answers %d of %d", empty.Report.Passed, empty.Report.Total)

	all := ratio.One
	_, err := w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Strategy: carrel.StrategyWindow, Target: carrel.Target{Share: quarter}, ProbeMin: &all})
	w.fails("a window that answers too little", err, carrel.ErrProbes)
	refused, ok := errors.AsType[*carrel.ProbesError](err)
	if !ok || len(refused.Attempts) != 1 || len(refused.Report.Failed()) == 0 || refused.Report.Score >= all {
		w.Errorf("the error has no figures: %+v", refused)
	}
}

// low is a trigger with a floor that is lower than the size of a small
// conversation.
var low = &pager.Trigger{Floor: 500}

func discarded(w *world) {
	in := w.imported()
	var go1, go2, stays string
	for _, b := range w.list(in.Session).Messages {
		switch {
		case b.Discardable && go1 == "":
			go1 = b.ShortID
		case b.Discardable && go2 == "":
			go2 = string(b.ID)
		case !b.Discardable:
			stays = b.ShortID
			w.holds(b.Kept != "", "nothing says why block %s may not go", b.ShortID)
		}
	}
	res := try(w.Discard(w.ctx(), w.in, &carrel.DiscardRequest{IDs: []string{go1, go2}, Trigger: low})).must(w)
	w.holds(len(res.Discarded) == 2 && res.After < res.Before && res.Session == in.Session && res.Continue, "%+v", res)
	why := try(w.Why(w.ctx(), w.in, &carrel.BlockRequest{Block: go2})).must(w)
	w.holds(why.State == store.StateCold && why.History[len(why.History)-1].Op == res.Op, "%+v", why)

	_, err := w.Discard(w.ctx(), w.in, &carrel.DiscardRequest{IDs: []string{stays}, Trigger: low})
	w.fails("a block that a rule keeps", err, carrel.ErrPolicy)
	if e, ok := carrel.Refused(err); !ok || len(e.Refused) != 1 || !strings.HasPrefix(e.Refused[0].Block, stays) || e.Refused[0].Reason == "" {
		w.Errorf("the error has no figures: %+v", e)
	}
	auto := try(w.Discard(w.ctx(), w.in, &carrel.DiscardRequest{Session: in.Session, Auto: true, To: res.After / 2, Trigger: low})).must(w)
	w.holds(len(auto.Discarded) > 0 && auto.After < res.After, "%+v", auto)
	for range 2 {
		try(w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: in.Session})).must(w)
	}
	w.holds(bytes.Equal(w.export(in.Session), openAI(talk())), "what was undone left a trace")
}

func pagedByHand(w *world) {
	in := w.imported()
	var id, held string
	for _, b := range w.list(in.Session).Messages {
		switch {
		case b.Rule.Hard():
			held = b.ShortID
		case b.Discardable:
			id = b.ShortID
		}
	}
	req := &carrel.PageRequest{Blocks: []string{id}}
	res := try(w.Page(w.ctx(), w.in, req)).must(w)
	w.holds(len(res.Blocks) == 1 && res.Blocks[0].Changed && res.After < res.Before && res.Session == in.Session && res.Op != "", "%+v", res)
	why := try(w.Why(w.ctx(), w.in, &carrel.BlockRequest{Block: id})).must(w)
	w.holds(why.State == store.StateStub && why.Stub != nil && why.History[len(why.History)-1].Op == res.Op, "%+v", why)
	again := try(w.Page(w.ctx(), w.in, req)).must(w)
	w.holds(again.Op == "" && !again.Blocks[0].Changed && again.After == res.After, "paged again: %+v", again)

	_, err := w.Page(w.ctx(), w.in, &carrel.PageRequest{Blocks: []string{id, held}})
	w.fails("a block under a hard rule", err, carrel.ErrPolicy)
	if e, ok := carrel.Refused(err); !ok || len(e.Refused) != 1 || e.Refused[0].Reason == "" {
		w.Errorf("the error has no figures: %+v", e)
	}
	_, err = w.Page(w.ctx(), w.in, &carrel.PageRequest{Blocks: []string{"ffffffffffff"}})
	w.fails("a block that is not there", err, store.ErrNotFound)
	try(w.Undo(w.ctx(), w.in, &carrel.UndoRequest{Session: in.Session})).must(w)
	w.holds(bytes.Equal(w.export(in.Session), openAI(talk())), "what was undone left a trace")
}

func pinned(w *world) {
	in := w.imported()
	b := w.list(in.Session).Messages[4]
	req := &carrel.PinRequest{Blocks: []string{b.ShortID}}
	res := try(w.Pin(w.ctx(), w.in, req)).must(w)
	w.same("changed", res.Changed, []transcript.BlockID{b.ID})
	w.holds(res.Pinned && len(res.Ops) == 1, "%+v", res)
	again := try(w.Pin(w.ctx(), w.in, req)).must(w)
	w.holds(len(again.Changed) == 0 && len(again.Ops) == 0, "pinned again: %+v", again)
	try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: half}, Strategy: carrel.StrategyPager})).must(w)
	now := w.list(in.Session).Messages[4]
	w.holds(now.Pinned && now.Form == pager.Whole && now.Rule == pager.RulePin, "%+v", now)
	off := try(w.Pin(w.ctx(), w.in, &carrel.PinRequest{Blocks: []string{string(b.ID)}, Unpin: true})).must(w)
	w.holds(!off.Pinned && len(off.Changed) == 1, "%+v", off)
	_, err := w.Pin(w.ctx(), w.in, &carrel.PinRequest{Blocks: []string{"ffffffffffff"}})
	w.fails("a block that is not there", err, store.ErrNotFound)
}

func critical(w *world) {
	in := w.imported()
	res := try(w.Mark(w.ctx(), w.in, &carrel.MarkRequest{Session: in.Session, Critical: true})).must(w)
	w.holds(res.Critical && res.Changed && res.Op != "", "%+v", res)
	opaque := &carrel.CompressRequest{Session: in.Session, Strategy: carrel.StrategyOpaque, Target: carrel.Target{Share: half}}
	_, err := w.Compress(w.ctx(), w.in, opaque)
	w.fails("an opaque summary", err, carrel.ErrPolicy)
	w.holds(w.list(in.Session).Critical, "the mark is not in the list")
	try(w.Mark(w.ctx(), w.in, &carrel.MarkRequest{Session: in.Session})).must(w)
	try(w.Compress(w.ctx(), w.in, opaque)).must(w)
}

func due(w *world) {
	in := w.imported()
	full := try(w.Trigger(w.ctx(), w.in, &carrel.TriggerRequest{Session: in.Session, Window: in.Tokens + 100})).must(w)
	w.holds(full.Due && full.Used == w.list(in.Session).Window, "a full window: %+v", full)
	roomy := try(w.Trigger(w.ctx(), w.in, &carrel.TriggerRequest{Session: in.Session, Window: 100 * in.Tokens})).must(w)
	w.holds(!roomy.Due && roomy.Messages > 10, "an empty window: %+v", roomy)
}

func accounts(w *world) {
	in := w.imported()
	try(w.Compress(w.ctx(), w.in, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: half}, Strategy: carrel.StrategyPager})).must(w)
	c := try(w.Context(w.ctx(), w.in, &carrel.ContextRequest{Session: in.Session, Window: 9000})).must(w)
	sum := c.Fixed.Tokens + c.System.Tokens + c.Pinned.Tokens + c.Summary.Tokens + c.Live.Tokens + c.Stubs.Tokens + c.Cold.Tokens
	w.holds(sum == c.Used && c.Capacity == 9000 && c.Used == c.Window, "shares sum to %d of %d: %+v", sum, c.Used, c)
	stats := try(w.Stats(w.ctx(), w.in, &carrel.SessionRequest{Session: in.Session})).must(w)
	w.holds(len(stats.Tasks) > 1 && stats.Total > 0 && stats.Tasks[0].Task == 1, "%+v", stats)
	cost := try(w.Cost(w.ctx(), w.in, &carrel.CostRequest{Since: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)})).must(w)
	w.holds(len(cost.Unmetered) == 1 && cost.Total.Calls == 0, "%+v", cost)
	entries := try(carrel.Items(w.Journal(w.ctx(), w.in, &carrel.JournalRequest{Session: in.Session}))).must(w)
	w.holds(len(entries) == 2 && c.Ops == 2, "%d entries, %d operations", len(entries), c.Ops)
	info := try(carrel.Items(w.Sessions(w.ctx(), w.in, &carrel.SessionsRequest{}))).must(w)
	w.same("session", info[0], c.SessionInfo)

	cold := slices.IndexFunc(w.list(in.Session).Messages, func(b carrel.BlockInfo) bool { return b.State != store.StateLive })
	b := w.list(in.Session).Messages[cold]
	why := try(w.Why(w.ctx(), w.in, &carrel.BlockRequest{Block: b.ShortID})).must(w)
	w.holds(why.Block == b.ID && len(why.History) == 2 && why.History[1].Decision != nil && why.Now != nil && why.Need != nil, "%+v", why)
	w.holds(strings.HasPrefix(why.Preview, b.Preview[:10]), "previews %q and %q", why.Preview, b.Preview)
}
