package windows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An entry is taken if it just fits, with the title before the first, and none behind one that
// does not fit.
func TestSectionsTakeWhatFits(t *testing.T) {
	count := func(text string) token.Count { return token.Count(len(text)) }
	s := &section{title: "T:", entries: []string{"- aa", "- bbbb", "- c"}}
	for i, tt := range []struct {
		room token.Count
		took bool
		left token.Count
	}{{7, false, 7}, {8, false, 8}} {
		room := tt.room
		if took := s.take(&room, count); took != tt.took || room != tt.left || !s.full {
			t.Errorf("%d: took %v, %d are left, full %v, want %+v", i, took, room, s.full, tt)
		}
	}
	s.full = false
	room := token.Count(8 + 7 + 3)
	for i, left := range []token.Count{10, 3} {
		if !s.take(&room, count) || room != left || s.taken != i+1 {
			t.Errorf("entry %d: %d left, %d taken, want %d left", i, room, s.taken, left)
		}
	}
	if s.take(&room, count) || room != 3 || s.taken != 2 || !s.full {
		t.Errorf("an entry of 4 tokens is taken in a room of 3: %+v", s)
	}
	s.full, room = false, 4
	if !s.take(&room, count) || room != 0 || s.take(&room, count) || s.full {
		t.Errorf("behind the last entry: %d left, %+v", room, s)
	}
	sections := []section{{taken: 2}, {taken: 1}, {}}
	for _, want := range []string{"2 0 0", "1 0 0", "0 0 0", "0 0 0"} {
		drop(sections)
		if got := fmt.Sprint(sections[0].taken, sections[1].taken, sections[2].taken); got != want {
			t.Errorf("taken are %s, want %s", got, want)
		}
	}
}

func TestEntriesOfABrief(t *testing.T) {
	long := strings.Repeat("x", longestEntry)
	for _, tt := range []struct{ said, id, want string }{
		{"do  it\nnow", "12345678", "- do it now [12345678]"},
		{"do it", "", "- do it"},
		{long, "", "- " + long},
		{long + "y", "", "- " + long + "… (1 bytes more)"},
		{long + "yz", "1", "- " + long + "… (2 bytes more) [1]"},
	} {
		if got := entry(tt.said, tt.id); got != tt.want {
			t.Errorf("entry(%q, %q) = %q, want %q", tt.said, tt.id, got, tt.want)
		}
	}
	for in, want := range map[string]string{
		"- Do it. [12345678]": "do it", "- question: Why?": "why?", "- to do: Do it": "do it", "- error: error: x": "error: x", "do [it] now": "do [it] now", "- do [1] [2]": "do [1]", "-  [1]": "",
	} {
		if got := saying(in); got != want {
			t.Errorf("saying(%q) = %q, want %q", in, got, want)
		}
	}
	seen := make(map[string]bool)
	if got := once([]string{"- a", "- b [1]", "- A."}, seen); fmt.Sprint(got) != "[- a - b [1]]" {
		t.Errorf("once: %q", got)
	}
	if got := once([]string{"- B", "- c"}, seen); fmt.Sprint(got) != "[- c]" {
		t.Errorf("once again: %q", got)
	}
	for in, want := range map[string]string{"Use `go`  *now*.": "use go now", " . ": "", "": ""} {
		if got := bare(in); got != want {
			t.Errorf("bare(%q) = %q, want %q", in, got, want)
		}
	}
	b := &briefing{summary: "the user wants: fix the pump"}
	for said, want := range map[string]bool{"Fix the *pump*.": true, "": true, "*.*": true, "fix the lamp": false} {
		if got := b.summarized(said); got != want {
			t.Errorf("summarized(%q) = %v, want %v", said, got, want)
		}
	}
	if got := (&briefing{}).plain([]string{"a", "b"}); fmt.Sprint(got) != "[- b - a]" {
		t.Errorf("plain: %q, want the newest first", got)
	}
}

func TestFactsHaveWords(t *testing.T) {
	for want, f := range map[string]facts.Fact{
		"make: failed, exit code 2, no rule": {Subject: "make", Status: facts.StatusFailed, Exit: "2", Text: "no rule"},
		"make: ok":                           {Subject: "make\nit", Status: facts.StatusOK, Exit: "0"},
		"ls: ok":                             {Subject: "ls", Status: facts.StatusOK},
	} {
		if subject, text := ran(&f); text != want || subject != f.Subject {
			t.Errorf("%+v: %q, %q, want %q", f, subject, text, want)
		}
	}
	for want, f := range map[string]facts.Fact{
		"a.go: " + string(facts.StatusCreated):            {Subject: "a.go", Status: facts.StatusCreated},
		"a.go: " + string(facts.StatusCreated) + ", func": {Subject: "a.go", Status: facts.StatusCreated, Text: "func"},
	} {
		if subject, text := changed(&f); text != want || subject != "a.go" {
			t.Errorf("%+v: %q, %q, want %q", f, subject, text, want)
		}
	}
	for want, f := range map[string]facts.Fact{"a": {Subject: "a"}, "b": {Subject: "b", Text: "b"}, "c: d": {Subject: "c", Text: "d"}} {
		if _, text := referred(&f); text != want {
			t.Errorf("%+v: %q, want %q", f, text, want)
		}
	}
	for want, f := range map[string]facts.Fact{"": {Text: "no rule in make", Subject: "make"}, " (make)": {Text: "no rule", Subject: "make\nall"}} {
		if got := failedAt(&f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	if got := failedAt(&facts.Fact{Text: "no rule"}); got != "" {
		t.Errorf("an error without a subject: %q", got)
	}
	say := byRole(transcript.RoleUser)
	if subject, text := say(nil, &facts.Fact{Role: transcript.RoleUser, Text: "x"}); subject != "x" || text != "x" {
		t.Errorf("said by the user: %q, %q", subject, text)
	}
	if _, text := say(nil, &facts.Fact{Role: transcript.RoleAssistant, Text: "x"}); text != "" {
		t.Errorf("said by the agent: %q", text)
	}
	for _, tt := range []struct {
		f    facts.Fact
		want bool
	}{{facts.Fact{Status: facts.StatusCreated}, true}, {facts.Fact{Status: facts.StatusCreated, Text: "x"}, false}, {facts.Fact{Status: facts.StatusOK}, false}} {
		if got := byproduct(&tt.f); got != tt.want {
			t.Errorf("%+v is a byproduct: %v", tt.f, got)
		}
	}
}

// Questions stay open until they are answered, and steps are those of the newest plan or list.
func TestOpenSteps(t *testing.T) {
	plan := func(block int, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactPlan, Block: block, Text: text}
	}
	todo := func(block int, text string, s facts.FactStatus) facts.Fact {
		return facts.Fact{Kind: facts.FactTodo, Block: block, Subject: text, Status: s}
	}
	for _, tt := range []struct {
		name  string
		found []facts.Fact
		want  string
	}{
		{"nothing", nil, "[] []"},
		{"questions", []facts.Fact{{Kind: facts.FactQuestion, Status: facts.StatusOpen, Text: "q1"}, {Kind: facts.FactQuestion, Status: facts.StatusResolved, Text: "q2"}, {Kind: facts.FactError, Status: facts.StatusOpen, Text: "e"}}, "[q1] []"},
		{"the newer of two plans", []facts.Fact{plan(0, "a"), plan(2, "b"), plan(2, "c")}, "[] [b c]"},
		{"a list behind a plan", []facts.Fact{plan(1, "a"), todo(2, "b", facts.StatusOpen), todo(2, "c", facts.StatusCompleted)}, "[] [b]"},
		{"a plan behind a list", []facts.Fact{todo(1, "b", facts.StatusOpen), plan(2, "a")}, "[] [b a]"},
		{"both in a block", []facts.Fact{todo(1, "b", facts.StatusOpen), plan(1, "a")}, "[] [b a]"},
		{"the newer of two lists", []facts.Fact{todo(0, "a", facts.StatusOpen), todo(3, "b", facts.StatusOpen)}, "[] [b]"},
	} {
		open, steps := leftOpen(tt.found)
		if got := fmt.Sprint(open, steps); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// An error is settled by a newer success with the same thing: in a newer window, not in its own.
func TestErrorsAreSettledLater(t *testing.T) {
	failure := facts.Fact{Kind: facts.FactError, Subject: "make", Status: facts.StatusOpen}
	for _, tt := range []struct {
		name  string
		newer facts.Fact
		want  bool
	}{
		{"a change of it", facts.Fact{Kind: facts.FactChange, Subject: "make"}, true},
		{"a run that succeeds", facts.Fact{Kind: facts.FactCommand, Subject: "make", Status: facts.StatusOK}, true},
		{"a run that fails", facts.Fact{Kind: facts.FactCommand, Subject: "make", Status: facts.StatusFailed}, false},
		{"an error that is resolved", facts.Fact{Kind: facts.FactError, Subject: "make", Status: facts.StatusResolved}, true},
		{"an error that is open", facts.Fact{Kind: facts.FactError, Subject: "make", Status: facts.StatusOpen}, false},
		{"another thing", facts.Fact{Kind: facts.FactChange, Subject: "lamp"}, false},
		{"a question about it", facts.Fact{Kind: facts.FactQuestion, Subject: "make", Status: facts.StatusOK}, false},
	} {
		b := &briefing{chapters: []chapter{{found: []facts.Fact{tt.newer}}, {found: []facts.Fact{failure, {Kind: facts.FactError}}}}}
		settled := b.settled()
		if got := settled[&b.chapters[1].found[0]]; got != tt.want || settled[&b.chapters[1].found[1]] || settled[&b.chapters[0].found[0]] {
			t.Errorf("%s: settled %v, want %v", tt.name, got, tt.want)
		}
	}
	b := &briefing{chapters: []chapter{{found: []facts.Fact{failure, {Kind: facts.FactChange, Subject: "make"}}}}}
	if len(b.settled()) > 0 {
		t.Error("an error is settled by the change of its own window")
	}
}

// A block is the agent's look at Carrel itself if it has calls, and all are Carrel's.
func TestOwnBlocks(t *testing.T) {
	for calls, want := range map[string]bool{
		"": false, "mcp__carrel__recall": true, "mcp__carrel__recall mcp_carrel_search": true, "mcp__other__recall": false, "carrel": false, "mcp__carrel__recall Bash": false, "Bash mcp__carrel__recall": false,
	} {
		m := transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("x")}}
		for name := range strings.FieldsSeq(calls) {
			m.Parts = append(m.Parts, transcript.ToolCall{Name: name, Input: json.RawMessage(`{}`)})
		}
		c := &chapter{msgs: []transcript.Message{m}, blocks: []transcript.Block{{Messages: []int{0}}}}
		if got := c.own(0); got != want {
			t.Errorf("%q: %v, want %v", calls, got, want)
		}
	}
}

func TestChaptersAreBounded(t *testing.T) {
	h := &hold.Snapshot{Session: &transcript.Session{}}
	for i := range 20 {
		h.Earlier = append(h.Earlier, hold.EarlierWindow{Rows: make([]store.Block, i)})
	}
	all := chaptersOf(h)
	if len(all) != 1+mostChapters || len(all[0].ids) != 0 || len(all[1].ids) != 19 || len(all[16].ids) != 4 {
		t.Errorf("%d chapters, the second of %d rows, want 17, the newest window first", len(all), len(all[1].ids))
	}
	c := chapterOf(nil, nil, []store.Block{{ID: "1234567890abcdef"}, {ID: "2234567890abcdef", Pinned: true}})
	if fmt.Sprint(c.ids, c.pinned) != "[12345678 22345678] [false true]" {
		t.Errorf("%q %v", c.ids, c.pinned)
	}
}

func TestInvoicesOfReceipts(t *testing.T) {
	noon := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	r := &transcript.Receipt{ID: "r", Begun: noon, Ended: noon.Add(time.Second), Model: "m", Uncached: 1, Read: 2, Write5m: 3, Write1h: 4, Output: 5, After: 7, Compacted: true, Side: true}
	want := economy.Invoice{Begun: noon, Ended: noon.Add(time.Second), Model: "m", After: -1, Compacted: true, Spend: economy.Spend{Uncached: 1, Read: 2, Write5m: 3, Write1h: 4, Output: 5}}
	if got := invoice(r); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestIDsInAText(t *testing.T) {
	ids := make(map[string]bool)
	addShortIDs(ids, "[12345678] abcdef0 abcdef01x; 0123456789 ABCDEF01 g12345670g")
	if fmt.Sprint(len(ids), ids["12345678"], ids["abcdef01"], ids["12345670"]) != "3 true true true" {
		t.Errorf("ids are %v", ids)
	}
	entries := []transcript.Entry{{Message: transcript.Message{Parts: []transcript.Part{
		transcript.Text("t"), transcript.Thinking{}, transcript.ToolCall{Name: "ls", Input: json.RawMessage(`{}`)}, transcript.ToolResult{Content: []transcript.Part{transcript.Text("r")}},
	}}}, {Message: transcript.Message{Parts: []transcript.Part{transcript.Text("u")}}}}
	if got, want := textOf(entries), "t\nls {}\nr\nu\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if got := quoted(""); got != "" {
		t.Errorf("no lines: %q", got)
	}
	if got, want := quoted("\na\nb"), "\n"+transcript.Quote("a\nb"); got != want {
		t.Errorf("lines: %q, want %q", got, want)
	}
}

// The ways of a strategy are tried in turn: the model's first, then with more room and more of
// the newest blocks, and at last a window alone.
func TestWaysOfStrategies(t *testing.T) {
	list := func(last int, req *api.CompressRequest, g llm.Generator) string {
		e := windowsWith(base.Options{KeepLast: last, Generator: g})
		var all []string
		for _, w := range e.ways(req) {
			all = append(all, fmt.Sprintf("%s %s %s %d %v %v", w.strategy, w.plans(), w.detail.Short(), w.keepLast, w.model, w.account))
		}
		return strings.Join(all, "\n")
	}
	const anchored = "anchored account 0.00 5 false true\nanchored anchored 0.25 5 false false\nanchored anchored 0.50 5 false false\nanchored anchored 0.50 10 false false\nwindow window 0.00 10 false false"
	for _, tt := range []struct {
		last int
		req  api.CompressRequest
		want string
	}{
		{0, api.CompressRequest{Strategy: api.StrategyAnchored}, anchored},
		{0, api.CompressRequest{Strategy: api.StrategyAccount}, "account account 0.00 5 false false"},
		{3, api.CompressRequest{Strategy: api.StrategyWindow}, "window window 0.00 3 false false"},
		{3, api.CompressRequest{Strategy: api.StrategyPager, KeepLast: -1}, "pager pager 0.00 0 false false"},
		{-1, api.CompressRequest{Strategy: api.StrategyImportance}, "importance importance 0.00 0 false false"},
		{3, api.CompressRequest{Strategy: api.StrategyHybrid, KeepLast: 11}, "hybrid hybrid 0.25 11 false false\nhybrid hybrid 0.50 11 false false\nhybrid hybrid 0.50 11 false false\nwindow window 0.00 11 false false"},
	} {
		if got := list(tt.last, &tt.req, nil); got != tt.want {
			t.Errorf("%+v with %d last:\n%s\nwant:\n%s", tt.req, tt.last, got, tt.want)
		}
	}
	for want, req := range map[string]api.CompressRequest{
		"anchored account 0.75 5 true true\n" + anchored:                        {Strategy: api.StrategyAnchored},
		"account account 0.75 5 true false\naccount account 0.00 5 false false": {Strategy: api.StrategyAccount},
		"account account 0.00 5 false false":                                    {Strategy: api.StrategyAccount, Smallest: true},
		"window window 0.00 5 false false":                                      {Strategy: api.StrategyWindow},
		"pager pager 0.00 5 false false":                                        {Strategy: api.StrategyPager},
	} {
		if got := list(0, &req, struct{ llm.Generator }{}); got != want {
			t.Errorf("%+v with a model:\n%s\nwant:\n%s", req, got, want)
		}
	}
}

// windowsWith returns windows with options and without a store.
func windowsWith(o base.Options) *Windows {
	return &Windows{&record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Opts: o}}}}}
}

func TestPoliciesOfProbes(t *testing.T) {
	if p := policyOf(nil); p.Overall != ratio.Of(9, 10) {
		t.Errorf("by default %v of all must be answered", p.Overall)
	}
	if p := policyOf(new(ratio.Ratio)); p.Overall >= 0 || p.Critical >= 0 || p.Ordinary >= 0 || p.RedFlag >= 0 || p.MaxRatio != ratio.One {
		t.Errorf("with 0: %+v, want that nothing rejects", p)
	}
	half := ratio.One / 2
	want := *policyOf(nil)
	want.Overall = half
	if p := policyOf(&half); *p != want {
		t.Errorf("with a half: %+v, want %+v", p, want)
	}
}

// An agent is told what became of its window, and how to go on.
func TestMessagesAboutDiscards(t *testing.T) {
	some := []api.Discarded{{}}
	for _, tt := range []struct {
		r    api.DiscardResult
		dry  bool
		want string
	}{
		{api.DiscardResult{After: 7, Discarded: some}, true, "Nothing was changed. The window that Carrel holds would have 7 tokens."},
		{api.DiscardResult{After: 7, Target: 7}, false, "The window that Carrel holds has 7 tokens, which is within the target: nothing had to go. Go on with your task."},
		{api.DiscardResult{After: 8, Target: 7}, false, "Nothing may go: rules and the floor hold all 8 tokens. Go on with your task."},
		{api.DiscardResult{After: 7, Target: 7, Discarded: some}, false, "The window that Carrel holds has 7 tokens now. What left it can be recalled by its id. Go on with your task."},
	} {
		if setMessage(&tt.r, &api.DiscardRequest{DryRun: tt.dry}); tt.r.Message != tt.want {
			t.Errorf("%q, want %q", tt.r.Message, tt.want)
		}
	}
	if got := discardStage("scaffold"); got != pager.Stage("discard-scaffold") {
		t.Errorf("stage %q", got)
	}
}

// The floor of an account is the worth of the unit that the next larger budget adds.
func TestFloorsOfAccounts(t *testing.T) {
	made := &account.Plan{From: []token.Count{100, 300, 200, 50}, Rate: []int64{1, 3, 2, 9}}
	for budget, want := range map[token.Count]int64{40: 9, 50: 1, 99: 1, 100: 2, 200: 3, 300: 0} {
		if got := floorOf(made, budget); got != want {
			t.Errorf("with %d tokens: %d, want %d", budget, got, want)
		}
	}
}

func TestChancesAreRounded(t *testing.T) {
	for c, want := range map[facts.Chance]ratio.Ratio{0: 0, 499: 0, 500: 1, 1499: 1, 1_000_000: 1000} {
		if got := share(c); got != want {
			t.Errorf("share(%d) = %d, want %d", c, got, want)
		}
	}
	if got := identifiers("a.go and b.go and a.go, 70 MB"); !slices.Contains(got, "a.go") || len(got) != 2 {
		t.Errorf("identifiers are %q, want a.go and b.go", got)
	}
}

// A brief says at its head what it is for, and how to get the whole of an entry.
func TestHeadsOfBriefs(t *testing.T) {
	for p, want := range map[api.Purpose]string{api.PurposeCompaction: "Keep these facts of the session in the summary", api.PurposeRestart: "Carrel has on record of this session"} {
		if got := headingOf(p, nil); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "is no instruction by itself.") {
			t.Errorf("for %s: %q, want that it begins with %q", p, got, want)
		}
	}
	if got, want := moreNote(3), "(3 more are on record: carrel search finds them)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The size of a window at a moment is told by the operation before it, else by the next that
// tells one, unless an import lies between.
func TestMomentsHaveSizes(t *testing.T) {
	op := func(name string, revision store.Revision) hold.Op {
		return hold.Op{Entry: store.Entry{ID: fmt.Sprint("op_", revision), Op: name, Revision: revision}}
	}
	d := &delta{
		h:    &hold.Snapshot{Head: &store.Head{Window: 70, Revision: 9}},
		ops:  []hold.Op{op(hold.OpImport, 1), op(hold.OpPin, 2), op(hold.OpPage, 3), op(hold.OpPin, 4), op(hold.OpImport, 5), op(hold.OpPage, 6)},
		data: []journalData{{Added: 3}, {}, {Before: 100, After: 60}, {}, {}, {Before: 90, After: 70}},
	}
	for n, want := range []string{"0  none", "1 op_1 100", "2 op_2 100", "3 op_3 60", "4 op_4 none", "5 op_5 90", "9 op_6 70"} {
		m := d.at(n)
		size := "none"
		if m.Window != nil {
			size = fmt.Sprint(*m.Window)
		}
		if got := fmt.Sprint(m.Revision, " ", m.Op, " ", size); got != want {
			t.Errorf("moment %d is %s, want %s", n, got, want)
		}
	}
	d.data[3] = journalData{After: 1}
	if m := d.at(4); m.Window == nil || *m.Window != 1 {
		t.Errorf("a window that an operation made of nothing: %v", m.Window)
	}
}

func TestMomentsAreNamed(t *testing.T) {
	d := &delta{h: &hold.Snapshot{Head: &store.Head{Revision: 9}}, ops: make([]hold.Op, 4), data: make([]journalData, 4)}
	for i, revision := range []store.Revision{1, 2, 3, 6} {
		d.ops[i].ID, d.ops[i].Revision = fmt.Sprint("op_", revision), revision
	}
	d.data[1].Moves, d.data[2].Moves = make([]hold.Move, 1), make([]hold.Move, 1)
	fresh := &delta{h: d.h, ops: d.ops[:2], data: d.data[2:]}
	for _, tt := range []struct {
		d    *delta
		word string
		want int // number of operations that were done by then, or -1
	}{
		{d, "now", 4},
		{d, "start", 1},
		{d, "pass", 2},
		{d, "1", 1},
		{d, "3", 3},
		{d, "5", 3},
		{d, "6", 4},
		{d, "9", 4},
		{d, "10", -1},
		{d, "0", -1},
		{d, "-1", -1},
		{d, "op_3", 3},
		{d, "op_6", 4},
		{d, "op_5", -1},
		{d, "op", -1},
		{fresh, "pass", 0},
		{&delta{h: d.h, ops: d.ops, data: d.data[:1]}, "pass", 1},
		{&delta{h: d.h}, "start", 0},
		{&delta{h: d.h}, "pass", 0},
	} {
		if got, err := tt.d.moment(tt.word); (err == nil) != (tt.want >= 0) || err == nil && got != tt.want {
			t.Errorf("moment(%q) = %d, %v, want %d", tt.word, got, err, tt.want)
		}
	}
}
