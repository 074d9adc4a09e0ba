package windows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// letters counts each byte as a token.
type letters struct{}

func (letters) Count(text string) token.Count { return token.Count(len(text)) }
func (letters) Encoding() string              { return "letters" }

// talkOf returns a session of messages, each in a block of its own: u is said by the user, a by the agent,
// r has results, c calls, e nothing, m a picture.
func talkOf(said string) *hold.Snapshot {
	h := &hold.Snapshot{Session: &transcript.Session{}, Head: &store.Head{}}
	for i, s := range said {
		m, kind := transcript.Message{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("x")}}, transcript.KindUser
		switch s {
		case 'a':
			m.Role, kind = transcript.RoleAssistant, transcript.KindAssistant
		case 'r':
			m.Parts, kind = []transcript.Part{transcript.ToolResult{CallID: "1"}, transcript.ToolResult{CallID: "2"}}, transcript.KindTool
		case 'c':
			m.Role, m.Parts, kind = transcript.RoleAssistant, []transcript.Part{transcript.ToolCall{ID: "1"}}, transcript.KindTool
		case 'e':
			m.Role, m.Parts, kind = transcript.RoleAssistant, nil, transcript.KindAssistant
		case 'm':
			m.Parts = []transcript.Part{transcript.Media{}}
		}
		h.Session.Messages = append(h.Session.Messages, m)
		h.Blocks = append(h.Blocks, transcript.Block{ID: transcript.BlockID(fmt.Sprintf("%08d", i)), Kind: kind, Messages: []int{i}})
		h.Rows = append(h.Rows, store.Block{ID: h.Blocks[i].ID, Kind: kind, State: store.StateLive, Form: string(pager.Whole)})
	}
	return h
}

// Only a block of calls at the end whose results have no answer is unanswered.
func TestUnansweredCalls(t *testing.T) {
	apart, orphan := talkOf("ur"), talkOf("ur")
	apart.Blocks[1].Messages = []int{0}
	orphan.Blocks[1].Kind = transcript.KindUser
	for name, tt := range map[string]struct {
		h    *hold.Snapshot
		want int
	}{
		"nothing": {talkOf(""), -1}, "words": {talkOf("u"), -1}, "results": {talkOf("ur"), 1}, "reply": {talkOf("ura"), -1},
		"calls": {talkOf("uc"), -1}, "results apart": {apart, -1}, "results without a call": {orphan, -1},
	} {
		if got := (&pass{held: tt.h}).unanswered(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// A result whose units all stay is not replaced. The last one of the block that ends the account has the
// end of the account.
func TestStubsOfCalls(t *testing.T) {
	call := func(text string) account.Unit { return account.Unit{Kind: account.Run, Text: text} }
	two := []account.Unit{call("$ a\n→ ok"), {Kind: account.Output, Text: "out"}, call("$ b\n→ no")}
	mark := account.Mark("00000001")
	for _, tt := range []struct {
		name, kept string
		units      []account.Unit
		holder     int
		want       string
	}{
		{"all", "111", two, -1, ""},
		{"no output", "101", two, -1, "1: → ok\n" + mark},
		{"none of the last", "110", two, -1, "2: " + mark},
		{"end", "111", two, 1, "2: → no\n\nEND"},
		{"end and a gap", "011", two, 1, "1: out\n" + mark + "; 2: → no\n\nEND"},
		{"other holder", "111", two, 0, ""},
		{"sentence before the calls", "1111", append([]account.Unit{{Kind: account.Sentence, Text: "s"}}, two...), -1, ""},
		{"one call", "1", two[:1], -1, "1: " + mark},
		{"one call that is left out", "0", two[:1], -1, "1: " + mark + "; 2: " + mark},
		{"no unit", "", nil, -1, "1: " + mark + "; 2: " + mark},
	} {
		p := &pass{held: talkOf("ur"), account: &accountInput{units: tt.units, of: [][2]int{{0, 0}, {0, len(tt.units)}}, holder: tt.holder, end: "END"}}
		made := &account.Plan{}
		for _, k := range tt.kept {
			made.Kept = append(made.Kept, k == '1')
		}
		s := p.callsStub(1, made)
		var got []string
		for _, id := range []string{"1", "2"} {
			if text, there := s.Results[id]; there {
				got = append(got, id+": "+text)
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for text, want := range map[string]string{"$ a\n→ ok": "→ ok", "\n→ ok": "→ ok", "• look": "• look"} {
		if got := withoutCommand([]account.Unit{{Text: text}}); got[0].Text != want {
			t.Errorf("%q without its command is %q, want %q", text, got[0].Text, want)
		}
	}
}

// A former summary is merged with if it is of the blocks that still begin the session.
func TestSummaryToMergeWith(t *testing.T) {
	inputs := []digest.Digest{{}, {1}, {2}}
	for _, tt := range []struct {
		s    *hold.WindowSummary
		anew bool
		want bool
	}{
		{nil, false, false},
		{&hold.WindowSummary{Covers: 2, Input: inputs[2]}, false, true},
		{&hold.WindowSummary{Covers: 2, Input: inputs[2]}, true, false},
		{&hold.WindowSummary{Covers: 2, Input: inputs[1]}, false, false},
		{&hold.WindowSummary{Covers: 3, Input: inputs[2]}, false, false},
	} {
		c := &compression{pass: &pass{held: &hold.Snapshot{Summary: tt.s}}, inputs: inputs}
		if got := c.before(tt.anew); (got != nil) != tt.want {
			t.Errorf("%+v, anew %v: %v", tt.s, tt.anew, got)
		}
	}
}

// A draft that knows of nothing new keeps the former steps and blockers.
func TestEmptyEntriesOfDrafts(t *testing.T) {
	none, some := []summary.Item{{Text: summary.None}}, []summary.Item{{Text: "do"}}
	for _, tt := range []struct {
		list            []summary.Item
		found           facts.FactKind
		steps, blockers bool // whether they stay
	}{
		{none, facts.FactRead, false, false},
		{none, facts.FactTodo, true, false},
		{none, facts.FactPlan, true, false},
		{none, facts.FactTask, true, false},
		{none, facts.FactQuestion, false, true},
		{none, facts.FactError, false, true},
		{some, facts.FactRead, true, true},
		{append(some, none...), facts.FactRead, true, true},
	} {
		s := &summary.Summary{Next: tt.list, Blockers: tt.list}
		dropEmptyEntries(s, []facts.Fact{{Kind: tt.found}})
		if (s.Next != nil) != tt.steps || (s.Blockers != nil) != tt.blockers {
			t.Errorf("%v with a %s: steps %v, blockers %v, want %+v", tt.list, tt.found, s.Next, s.Blockers, tt)
		}
	}
}

// A brief tells which sub-agents run, and which entries of the agent's own list are to do.
func TestWorkInBriefs(t *testing.T) {
	b := &briefing{account: &briefAccount{state: &account.State{Agents: []string{"find it"}, Loose: []string{"a", "b"}, Tasks: []account.Task{
		{Subject: "a", Status: "pending"}, {Subject: "b", Status: "completed"}, {Subject: "c", Status: "deleted"}, {Status: "pending"}, {Subject: "d", Status: "in_progress"},
	}}}}
	if got, want := strings.Join(b.stands(), "\n"), "- changed, not committed: a, b\n- sub-agent runs: find it"; got != want {
		t.Errorf("it stands:\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(b.tasks(), "\n"), "- to do: a\n- to do: d"; got != want {
		t.Errorf("tasks:\n%s\nwant\n%s", got, want)
	}
}

// A task in the words of a summary is left out if the user's own words for a task are known.
func TestTasksAreRestated(t *testing.T) {
	chapterOf := func(kind transcript.Kind, f facts.FactKind) chapter {
		return chapter{blocks: []transcript.Block{{Kind: kind}}, ids: []string{"1"}, found: []facts.Fact{{Kind: f, Subject: "s", Text: "t"}}}
	}
	told, own, other := chapterOf(transcript.KindSummary, facts.FactTask), chapterOf(transcript.KindUser, facts.FactTask), chapterOf(transcript.KindUser, facts.FactPlan)
	for name, tt := range map[string]struct {
		chapters []chapter
		want     bool // of the second
	}{
		"own words before": {[]chapter{own, told, other, own}, true}, "no task before": {[]chapter{own, told, other}, false}, "nothing before": {[]chapter{own, told}, false},
		"told before": {[]chapter{own, told, told}, false}, "own words": {[]chapter{told, own, own}, false}, "plan of a summary": {[]chapter{own, chapterOf(transcript.KindSummary, facts.FactPlan), own}, false},
	} {
		b := &briefing{chapters: tt.chapters}
		if got := b.restated(1, &b.chapters[1].found[0]); got != tt.want {
			t.Errorf("%s: restated %v, want %v", name, got, tt.want)
		}
	}
	b := &briefing{chapters: []chapter{other, told, own}}
	say := func(_ *chapter, f *facts.Fact) (string, string) { return f.Subject, f.Text }
	if got := b.each(facts.FactTask, say); fmt.Sprint(got) != "[- t [1]]" {
		t.Errorf("tasks: %q", got)
	}
	b.chapters[2].blocks[0].Messages, b.chapters[2].msgs = []int{0}, []transcript.Message{{Parts: []transcript.Part{transcript.ToolCall{Name: "mcp_carrel_recall"}}}}
	if got := b.each(facts.FactTask, say); len(got) > 0 {
		t.Errorf("tasks of Carrel's own results: %q", got)
	}
}

// The target of a request says how many tokens the window may have.
func TestBudgets(t *testing.T) {
	o, err := base.Options{}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	h := talkOf("uu")
	h.Head.Tokens, h.Rows[0].Tokens, h.Rows[1].Tokens = 200, 2_000_000, 7
	p := &pass{engine: windowsWith(o), held: h, meter: hold.Meter{Counter: letters{}}, rules: []pager.Rule{"", pager.RuleSystem}}
	fixed := p.meter.Fixed(h.Session)
	figures := o.Trigger.Figures(100_000)
	for want, req := range map[token.Count]*api.CompressRequest{
		5: {Target: api.Target{Tokens: 5}, Window: 100_000}, fixed + 7 + 2: {Target: api.Target{Share: 1}, Window: 100_000}, 10: {Strategy: api.StrategyOpaque, Window: 100_000},
		figures.Target: {Window: 100_000}, figures.Floor: {Auto: true, Strategy: api.StrategyOpaque, Window: 100_000},
	} {
		if got := p.budget(req); got != want {
			t.Errorf("budget of %+v = %d, want %d", req, got, want)
		}
	}
	for _, tt := range []struct {
		before, after token.Count
		share, ratio  ratio.Ratio
	}{{0, 0, 0, 0}, {1, 0, 1, ratio.One}, {100, 25, 2, 750_000}} {
		h.Head.Window = tt.before
		res := p.result(&api.CompressRequest{Target: api.Target{Share: tt.share}}, &outcome{plan: &pager.Plan{After: tt.after}})
		if res.Ratio != tt.ratio || res.Share != tt.share || (res.Leaves == 2_000_000) != (tt.share > 0) {
			t.Errorf("from %d to %d: ratio %v, share %v of %d", tt.before, tt.after, res.Ratio, res.Share, res.Leaves)
		}
	}
}

// A block is where the last move before the moment left it, and whole without one.
func TestPlacesOfBlocks(t *testing.T) {
	move := func(id transcript.BlockID, to pager.Form) hold.Move {
		return hold.Move{BlockDecision: pager.BlockDecision{Block: id, To: to, After: 3}}
	}
	d := &delta{h: talkOf("uuu"), places: map[transcript.BlockID]int{"a": 0, "b": 1, "c": 2}, data: []journalData{
		{Moves: []hold.Move{move("a", pager.Line), move("b", pager.Line), move("late", pager.Line)}},
		{Compacted: &hold.CompactionEntry{Blocks: []transcript.BlockID{"a", "b"}}},
		{Back: []transcript.BlockID{"b"}},
		{Moves: []hold.Move{move("c", pager.Line)}},
	}}
	d.h.Rows[1].Tokens, d.h.Rows[2].Tokens = 70, 80
	for id, want := range map[transcript.BlockID]string{"a": "gone 0", "b": "whole 70", "c": "whole 80", "late": "line 3", "none": "whole 0"} {
		if form, n := d.place(id, 3); fmt.Sprint(form, " ", n) != want {
			t.Errorf("%s is %s with %d tokens, want %s", id, form, n, want)
		}
	}
}

// A block that keeps its form keeps its tokens, and one that was purged does not come back.
func TestWindowsGrowFromTheirBlocks(t *testing.T) {
	h := talkOf("uuu")
	h.Head.Window = 30
	for i := range h.Rows {
		h.Rows[i].Window = 10
	}
	h.Rows[2].Form = string(pager.Gone)
	plan := &pager.Plan{After: 26, Decisions: []pager.BlockDecision{{To: pager.Whole, After: 8}, {To: pager.Whole, After: 10}, {To: pager.Whole, After: 8}}}
	(&pass{held: h}).startFromWindow(plan)
	if d := plan.Decisions; plan.Before != 30 || plan.After != 28 || d[0].After != 10 || d[1].After != 10 || d[2].After != 8 || d[2].Step != pager.StageReturn {
		t.Errorf("the plan is %+v", plan)
	}
	r := &pager.Request{Blocks: []pager.Candidate{{Form: pager.Line}, {Form: pager.Line}, {Form: pager.Gone}}}
	h.Rows[2].State = store.StatePurged
	(&passHistory{paged: map[transcript.BlockID]bool{h.Rows[0].ID: true, h.Rows[2].ID: true}}).reopen(h, r)
	if b := r.Blocks; b[0].Form != pager.Whole || b[1].Form != pager.Line || b[2].Form != pager.Gone {
		t.Errorf("the blocks are %+v", b)
	}
}

// Each block has its part of the window, and a list its limit.
func TestPartsOfWindows(t *testing.T) {
	res := &api.ContextResult{}
	for _, tt := range []struct {
		state store.State
		rule  pager.Rule
		want  *api.ContextShare
	}{
		{store.StateCold, pager.RuleSystem, &res.Cold},
		{store.StatePurged, "", &res.Cold},
		{store.StateStub, pager.RuleSystem, &res.Stubs},
		{store.StateLive, pager.RuleSystem, &res.System},
		{store.StateLive, pager.RuleFirstTask, &res.Pinned},
		{store.StateLive, "", &res.Live},
	} {
		if shareOf(res, &store.Block{State: tt.state}, tt.rule) != tt.want {
			t.Errorf("%s %s is in another part", tt.state, tt.rule)
		}
	}
	for limit, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 4: 3} {
		if got := len(first(make([]api.BlockInfo, 3), limit)); got != want {
			t.Errorf("first %d of 3 are %d", limit, got)
		}
	}
	if got := askedOf(talkOf("uamu"), 4); len(got) != 2 {
		t.Errorf("the user said %q", got)
	}
}

// A quotation ends with a line that says so, unless another stub or the agent's next words follow.
func TestEndsOfQuotations(t *testing.T) {
	for next, want := range map[string]bool{"": true, "u": true, "a": false, "c": false, "e": true} {
		h := talkOf("r" + next)
		plan := &pager.Plan{Decisions: make([]pager.BlockDecision, len(h.Blocks))}
		for i := range plan.Decisions {
			plan.Decisions[i].To = pager.Whole
		}
		if got := (&pass{held: h}).closes(plan, 0); got != want {
			t.Errorf("before %q: %v, want %v", next, got, want)
		}
	}
	for to, want := range map[pager.Form]bool{pager.Line: false, pager.Lines: false, pager.Gone: true, pager.Bare: true, pager.Calls: true} {
		plan := &pager.Plan{Decisions: []pager.BlockDecision{{}, {To: to}}}
		if got := (&pass{held: talkOf("ru")}).closes(plan, 0); got != want {
			t.Errorf("before %s: %v, want %v", to, got, want)
		}
	}
}

// An opaque summary has the names that just fit, those of the newest facts first.
func TestDenseSummaries(t *testing.T) {
	c := &compression{pass: &pass{meter: hold.Meter{Counter: letters{}}}, texts: map[int][]facts.Fact{2: {{Names: []string{"old"}}, {Names: []string{"aa", "bb", "aa"}}}}}
	for limit, want := range map[token.Count]string{2: "", 3: "aa ", 5: "aa ", 6: "aa bb ", 10: "aa bb old ", 99: "aa bb old "} {
		if got := c.dense(2, limit); got != want {
			t.Errorf("of %d tokens: %q, want %q", limit, got, want)
		}
	}
}

// A file or command stands with its status, or else with what was done.
func TestStandings(t *testing.T) {
	p := &pass{held: talkOf("uu")}
	for _, tt := range []struct {
		act    facts.Act
		status facts.FactStatus
		want   string
	}{
		{facts.ActWrite, facts.StatusCreated, "created"},
		{facts.ActWrite, "", string(facts.ActWrite)},
		{facts.ActRun, facts.StatusOK, "ok"},
		{facts.ActRun, "", string(facts.ActRun)},
		{facts.ActRead, facts.StatusCreated, string(facts.ActRead)},
		{facts.ActFail, facts.StatusFailed, string(facts.ActFail)},
	} {
		n := &facts.Node{Name: "x\ny", Status: tt.status, Uses: []facts.Use{{Act: tt.act}, {Act: tt.act, Position: facts.Position{Block: 1}}}}
		if got, want := p.standing(n), "x: "+tt.want+" [00000001]"; got != want {
			t.Errorf("%s %s: %q, want %q", tt.act, tt.status, got, want)
		}
	}
}

// An import tells of a block that the client took out or brought back.
func TestImportsExplainBlocks(t *testing.T) {
	entry := &store.Entry{ID: "op", Actor: "me", Data: json.RawMessage(`{"compacted":{"actor":"client","rule":"compacted by the client","blocks":["a"]},"back":["b"]}`)}
	for block, want := range map[transcript.BlockID]api.WhyEntry{
		"a": {Op: "op", Kind: "compacted", Actor: "client", Reason: "compacted by the client"}, "b": {Op: "op", Kind: "back", Actor: "me", Reason: "in the conversation again, whole"}, "c": {},
	} {
		got, err := imports(entry, block)
		if err != nil || (len(got) == 1) != (want.Op != "") || len(got) == 1 && fmt.Sprint(got[0]) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v, want %+v", block, got, err, want)
		}
	}
}

// A compression refuses what nobody can mean before it reads anything.
func TestCompressRefuses(t *testing.T) {
	below, above := ratio.Ratio(-1), ratio.One+1
	for name, req := range map[string]api.CompressRequest{
		"tokens":    {Target: api.Target{Tokens: -1}},
		"share":     {Target: api.Target{Share: -1}},
		"window":    {Window: -1},
		"strategy":  {Strategy: "squeeze"},
		"too few":   {ProbeMin: &below},
		"too many":  {ProbeMin: &above},
		"to-dos":    {Todos: json.RawMessage(`{"a"`)},
		"smallest":  {Smallest: true, Target: api.Target{Tokens: 1}},
		"summaries": {Smallest: true, Strategy: api.StrategyHybrid},
	} {
		req.Strategy = cmp.Or(req.Strategy, api.StrategyPager)
		if _, err := windowsWith(base.Options{}).Compress(t.Context(), "a", &req); !errors.Is(err, api.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
