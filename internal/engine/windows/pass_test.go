package windows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A summary stands behind the last compaction by the provider (c), else behind the first task, else
// behind the system text at the start.
func TestPlaceOfASummary(t *testing.T) {
	kind := map[rune]transcript.Kind{'s': transcript.KindSystem, 'u': transcript.KindUser, 'a': transcript.KindAssistant, 'c': transcript.KindAssistant}
	for _, tt := range []struct {
		kinds   string
		task, n int // block with the first task, or -1, and number of blocks
		want    transcript.BlockID
	}{
		{"sua", 1, 3, "1"}, {"sua", 1, 1, "0"}, {"ssuu", -1, 4, "1"}, {"usu", -1, 3, ""}, {"susu", 3, 3, "0"}, {"sus", 1, 3, "1"}, {"su", 1, 0, ""}, {"suca", 1, 4, "2"}, {"scua", 2, 4, "1"},
	} {
		h := &hold.Snapshot{Session: &transcript.Session{Messages: []transcript.Message{{}, {Parts: []transcript.Part{transcript.Opaque{Type: "compaction"}}}}}}
		for i, k := range tt.kinds {
			h.Blocks = append(h.Blocks, transcript.Block{ID: transcript.BlockID(fmt.Sprint(i)), Kind: kind[k], Messages: []int{strings.Count("c", string(k))}})
		}
		c := &compression{pass: &pass{held: h, rules: make([]pager.Rule, len(h.Blocks))}}
		if tt.task >= 0 {
			c.pass.rules[tt.task] = pager.RuleFirstTask
		}
		if got := c.anchor(tt.n); got != tt.want {
			t.Errorf("%+v: it stands behind %q", tt, got)
		}
	}
}

// A brief quotes of a block the units that the account kept, and the first; of the newest words
// all that is short.
func TestWhatABriefQuotes(t *testing.T) {
	long := strings.Repeat("x", longestEntry)
	for _, tt := range []struct {
		units      string // a capital is kept, and ~ stands for a long one
		everything bool
		want       string
	}{
		{"a b c", false, ""},
		{"a b c", true, "a b c"},
		{"a B c", false, "a … B"},
		{"A b C", false, "A … C"},
		{"A B", false, "A B"},
		{"A", false, "A"},
		{"a", false, ""},
		{"~ B", true, long + " B"},
		{"~ b C", true, long + " … C"},
		{"", true, ""},
	} {
		r := &briefAccount{of: [][2]int{{0, 0}, {1, 1}}, units: []account.Unit{{Kind: account.Words}}, plan: &account.Plan{Kept: []bool{true}}}
		r.blocks = make([]transcript.Block, 2)
		for unit := range strings.FieldsSeq("other " + tt.units) {
			kind := account.Words
			if unit == "other" {
				kind = account.Sentence
			}
			r.units = append(r.units, account.Unit{Kind: kind, Text: strings.ReplaceAll(unit, "~", long)})
			r.plan.Kept = append(r.plan.Kept, unit == "other" || strings.ToUpper(unit) == unit && unit != "~")
		}
		r.of[1][1] = len(r.units)
		if got := r.says(1, account.Words, tt.everything); strings.ReplaceAll(got, long, "~") != strings.ReplaceAll(tt.want, long, "~") {
			t.Errorf("%q, everything %v: %q, want %q", tt.units, tt.everything, got, tt.want)
		}
		if r.blocks[1].Kind = transcript.KindSummary; r.says(1, account.Words, tt.everything) != "" {
			t.Errorf("%q of a summary is quoted", tt.units)
		}
	}
}

// Receipts are billed in their order, from a time on, and not what the proxy saw, too.
func TestReceiptsAreBilled(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 2, 3, hour, 0, 0, 0, time.UTC) }
	r := &hold.Receipts{Unseen: 2, List: []transcript.Receipt{
		{ID: "a", After: -1, Ended: at(1), Uncached: 5}, {ID: "b", After: 0, Ended: at(2), Compacted: true}, {ID: "c", After: -1, Side: true, Ended: at(3)}, {ID: "d", After: 1, Ended: at(4)},
	}, Log: []transcript.Request{{Reply: "a", Messages: 5}, {Reply: "b", Kept: 4, Frame: digest.Digest{9}}, {Reply: "x"}, {Reply: "d", Kept: 0}}}
	for _, tt := range []struct {
		since time.Time
		one   bool
		seen  string // id of a reply that came through the proxy
		want  string // of each call: the call before it; then the sums
	}{
		{time.Time{}, false, "", "-1 0 edited framed -1 1; twice 0, compacted 1, side 1, unseen 2, 1 to 4"},
		{at(2), false, "", "-1 edited framed -1 0; twice 0, compacted 1, side 1, unseen 2, 2 to 4"},
		{at(5), false, "", "; twice 0, compacted 0, side 0, unseen 0, none"},
		{time.Time{}, false, "b", "-1 -1 -1; twice 1, compacted 0, side 1, unseen 2, 1 to 4"},
		{time.Time{}, true, "b", "-1 0 edited framed -1 1; twice 0, compacted 1, side 1, unseen 2, 1 to 4"},
	} {
		e := &Windows{&record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Opts: base.Options{Prices: economy.Published()}}}}}}
		c := &costs{engine: e, since: tt.since, one: tt.one, res: &api.CostResult{}, replies: map[string]bool{tt.seen: true}}
		c.forecast.Prices = e.Opts.Prices
		c.invoices = make([]economy.Invoice, 1) // of another session
		c.add(&api.SessionInfo{Session: "s"}, r)
		var after []string
		for _, v := range c.invoices[1:] {
			n := v.After
			if n >= 0 {
				n--
			}
			s := fmt.Sprint(n)
			if v.Edited {
				s += " edited"
			}
			if v.Frame != (digest.Digest{}) {
				s += " framed"
			}
			after = append(after, s)
		}
		side, ends := 0, "none"
		for _, s := range c.res.Sessions {
			side, ends = s.Side, fmt.Sprintf("%d to %d", s.First.Hour(), s.Last.Hour())
		}
		got := fmt.Sprintf("%s; twice %d, compacted %d, side %d, unseen %d, %s", strings.Join(after, " "), c.res.Twice, c.res.Compacted, side, c.res.Unseen, ends)
		if got != tt.want {
			t.Errorf("since %v, one %v, seen %q:\n%s, want\n%s", tt.since, tt.one, tt.seen, got, tt.want)
		}
	}
}

// Of a user's messages under hard rules, those stay whole in an account that have at most a
// sixteenth of the budget each and a quarter together.
func TestMessagesThatStayWhole(t *testing.T) {
	for _, tt := range []struct {
		size token.Count // of each of six messages
		want int
	}{{100, 4}, {101, 0}, {66, 6}, {67, 5}} {
		h := talkOf("uuuuuu")
		req := &pager.Request{Budget: 1600, Size: func(int, pager.Form) token.Count { return tt.size }}
		for range h.Blocks {
			req.Blocks = append(req.Blocks, pager.Candidate{Form: pager.Whole, Rule: pager.RuleCorrection})
		}
		p := &pass{held: h, verbatim: true, meter: hold.Meter{Counter: letters{}}}
		got := 0
		for _, b := range p.accountBlocks(req, new(pager.Plan)) {
			if b.Fixed {
				got++
			}
		}
		if got != tt.want {
			t.Errorf("of messages with %d tokens %d stay whole, want %d", tt.size, got, tt.want)
		}
	}
}

// What a model's text covers is told, and has its id only under a hard rule. One block of the agent
// has its id in any case, because the state stands below it.
func TestBlocksThatATextCovers(t *testing.T) {
	h := talkOf("uauau")
	req := &pager.Request{Budget: 1600, Size: func(int, pager.Form) token.Count { return 900 }}
	for _, rule := range []pager.Rule{pager.RuleCorrection, pager.RuleRecent, pager.RuleEdit, pager.RuleRecent, ""} {
		req.Blocks = append(req.Blocks, pager.Candidate{Form: pager.Whole, Rule: rule})
	}
	for _, tt := range []struct {
		model        string
		covers       int
		traced, told string
	}{{"", 3, "11110", "00000"}, {"m", 3, "10010", "01000"}, {"m", 5, "10010", "01010"}} {
		p := &pass{held: h, meter: hold.Meter{Counter: letters{}}, summary: &hold.WindowSummary{Covers: tt.covers, Summary: &summary.Summary{Meta: summary.Meta{Model: tt.model}}}}
		traced, told := "", ""
		for _, b := range p.accountBlocks(req, new(pager.Plan)) {
			traced += map[bool]string{true: "1", false: "0"}[b.Traced]
			told += map[bool]string{true: "1", false: "0"}[b.Told]
		}
		if traced != tt.traced || told != tt.told {
			t.Errorf("model %q, %d blocks: traced %s, told %s, want %s and %s", tt.model, tt.covers, traced, told, tt.traced, tt.told)
		}
	}
}
