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
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// talkOf returns a session of messages, each in a block of its own: u is said by the user, a by the
// agent, r has two results, c a call.
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

// A result whose units all stay is not replaced. The last one of the block that ends the account
// has the end of the account.
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
		{nil, false, false}, {&hold.WindowSummary{Covers: 2, Input: inputs[2]}, false, true}, {&hold.WindowSummary{Covers: 2, Input: inputs[2]}, true, false},
		{&hold.WindowSummary{Covers: 2, Input: inputs[1]}, false, false}, {&hold.WindowSummary{Covers: 3, Input: inputs[2]}, false, false},
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
		{none, facts.FactRead, false, false}, {none, facts.FactTodo, true, false}, {none, facts.FactPlan, true, false}, {none, facts.FactTask, true, false},
		{none, facts.FactQuestion, false, true}, {none, facts.FactError, false, true}, {some, facts.FactRead, true, true}, {append(some, none...), facts.FactRead, true, true},
	} {
		s := &summary.Summary{Next: tt.list, Blockers: tt.list}
		dropEmptyEntries(s, []facts.Fact{{Kind: tt.found}})
		if (s.Next != nil) != tt.steps || (s.Blockers != nil) != tt.blockers {
			t.Errorf("%v with a %s: steps %v, blockers %v, want %+v", tt.list, tt.found, s.Next, s.Blockers, tt)
		}
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
		if _, err := (&Windows{&record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{}}}}}).Compress(t.Context(), "a", &req); !errors.Is(err, api.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
