package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

func TestFiguresInWords(t *testing.T) {
	for in, want := range map[any]string{
		50 * time.Minute: "50 min", 90 * time.Minute: "1 h 30 min", 26 * time.Hour: "1 d 2 h", 13 * time.Second: "13 s", 3*time.Minute + 20*time.Second: "3 min",
		400 * time.Millisecond: "less than a second", 24 * time.Hour: "1 d", 25 * time.Hour: "1 d 1 h", time.Hour: "1 h", 61 * time.Minute: "1 h 1 min", 7: "7", "10m0s": "10 min", "64": "64", "32 MiB": "32 MiB",
	} {
		if got := span(in); got != want {
			t.Errorf("span(%v) = %q, want %q", in, got, want)
		}
	}
	for want, b := range map[string]economy.Break{
		"it came 5 min after call 4, and the provider had dropped what it kept by then":              {Cause: economy.CauseExpired, Idle: 5 * time.Minute},
		"it came less than a second after call 4, and the provider had dropped what it kept by then": {Cause: economy.CauseExpired, Idle: 1},
		causeWords(economy.CauseExpired): {Cause: economy.CauseExpired}, causeWords(economy.CauseModel): {Cause: economy.CauseModel, Idle: time.Minute},
	} {
		if got := missed(&b, 4); got != want {
			t.Errorf("%+v was missed as %q, want %q", b, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 999_999: "1000.0 kB", 1e6: "1.0 MB", 25e8: "2.5 GB"} {
		if got := byteSize(n); got != want {
			t.Errorf("byteSize(%d) = %q, want %q", n, got, want)
		}
	}
	for in, want := range map[economy.Money]string{0: "$0.0000", 4_200_000: "$0.0042", 586_800_000: "$0.59", 99_999_999: "$0.1000", 100_000_000: "$0.10", 1_274_000_000: "$1.27", 1_234_567_000_000: "$1,234.57", -1_274_000_000: "−$1.27", -100_000_000: "−$0.10"} {
		if got := money(in); got != want {
			t.Errorf("money(%d) = %q, want %q", in, got, want)
		}
		if got := money(&in); got != want {
			t.Errorf("money of a pointer to %d = %q, want %q", in, got, want)
		}
	}
	for _, none := range []any{(*economy.Money)(nil), "1", nil} {
		if got := money(none); got != "–" {
			t.Errorf("money(%#v) = %q", none, got)
		}
	}
	for _, tt := range []struct {
		part, whole token.Count
		want        string
	}{{0, 10, "0 %"}, {1, 1, "100 %"}, {1, 10, "10 %"}, {1, 1000, "0.1 %"}, {999, 10_000, "10.0 %"}, {1, 3, "33 %"}, {5, 0, "–"}} {
		if got := percent(tt.part, tt.whole); got != tt.want {
			t.Errorf("percent(%d, %d) = %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
}

// Every word that a page explains has an explanation.
func TestWordsAreExplained(t *testing.T) {
	names, err := files.ReadDir("pages")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, f := range names {
		data, err := files.ReadFile("pages/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, rest := range strings.Split(string(data), "(explain ")[1:] {
			list, _, _ := strings.Cut(rest, ")")
			for i, w := range strings.Split(list, `"`) {
				if i%2 == 0 {
					continue
				}
				words++
				if m := meaningsOf(w); m[0].Means == "" {
					t.Errorf("%s: nothing explains %q", f.Name(), w)
				}
			}
		}
	}
	if words == 0 {
		t.Error("no page explains a word")
	}
}

// The first sentence about a pass counts what left the window, and how it can be recalled.
func TestWhatAPassDropped(t *testing.T) {
	line := blockLine{Before: 100, After: 20, To: pager.Lines}
	gone := blockLine{Before: 50, To: pager.Gone}
	since := func(op string) *carrel.SessionDelta {
		return &carrel.SessionDelta{Ops: []api.DeltaOp{{Kind: op}, {Kind: "pin"}}}
	}
	for _, tt := range []struct {
		page diffPage
		want string
	}{
		{diffPage{SessionDelta: since("page"), A: "pass", B: "now", All: 9}, "Nothing left the window."},
		{diffPage{SessionDelta: since("page"), A: "pass", B: "now", All: 9, Left: []blockLine{line}}, "The last pass dropped 80 tokens from 1 of 9 blocks: each has a stub in its place that recalls it."},
		{diffPage{SessionDelta: since("discard"), A: "pass", B: "now", All: 9, Left: []blockLine{gone}}, "The last discard dropped 50 tokens from 1 of 9 blocks: all are out of the window, and can be recalled."},
		{diffPage{SessionDelta: since("page"), A: "pass", B: "now", All: 9, Left: []blockLine{line, gone, gone}, Came: []blockLine{{}}}, "The last pass dropped 180 tokens from 3 of 9 blocks: 1 has a stub in its place that recalls it, 2 are out of the window and can be recalled too. 1 block came back."},
		{diffPage{SessionDelta: since("page"), A: "start", B: "now", All: 9, Left: []blockLine{line}}, "What was done between both moments dropped 80 tokens"},
		{diffPage{SessionDelta: since("page"), A: "pass", B: "op_1", All: 9, Left: []blockLine{line}}, "What was done between both moments dropped 80 tokens"},
		{diffPage{SessionDelta: &carrel.SessionDelta{}, A: "pass", B: "now", All: 9, Left: []blockLine{line}}, "What was done between both moments dropped 80 tokens"},
		{diffPage{SessionDelta: since("undo"), A: "pass", B: "now", All: 9, Left: []blockLine{line}}, "What was done between both moments dropped 80 tokens"},
	} {
		if got := tt.page.Dropped(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// How much of a block is in the window, and why.
func TestWhereABlockStands(t *testing.T) {
	now := &pager.BlockDecision{Rule: "pin"}
	for want, w := range map[string]*carrel.WhyResult{
		"This block is whole in the window, with 5 of its 5 tokens. The rule “pin” keeps it.":                                                                                    {State: store.StateLive, Window: 5, Tokens: 5, Now: now},
		"This block is out of the window; its id recalls it.":                                                                                                                    {State: store.StateCold, Tokens: 5, Now: &pager.BlockDecision{}, Account: &api.WhyAccount{}},
		"A stub stands in place of this block, with 2 of its 1,000 tokens.":                                                                                                      {State: store.StateStub, Window: 2, Tokens: 1000},
		"A stub with 3 of the 9 lines of this block is in the window, 2 of its 8 tokens. The last pass had room for lines worth 0.50 and more.":                                  {State: store.StateStub, Window: 2, Tokens: 8, Account: &api.WhyAccount{Kept: 3, Total: 9, Floor: ratio.Of(1, 2)}},
		"A stub with 3 of the 9 lines of this block is in the window, 2 of its 8 tokens. The rule “pin” keeps it. The last pass had room for all lines that are worth anything.": {State: store.StateStub, Window: 2, Tokens: 8, Now: now, Account: &api.WhyAccount{Kept: 3, Total: 9}},
		"A stub with 1 of the 1 line of this block is in the window, 2 of its 8 tokens. The last pass had room for lines worth 0.00 and more.":                                   {State: store.StateStub, Window: 2, Tokens: 8, Account: &api.WhyAccount{Kept: 1, Total: 1, Floor: 1}},
	} {
		if got := (&blockPage{Why: w}).Stands(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhatFillsAWindow(t *testing.T) {
	r := &carrel.ContextResult{Capacity: 2000, Used: 100, Live: api.ContextShare{Tokens: 30}, Stubs: api.ContextShare{Tokens: 70}, Reserved: 900}
	if got, want := fills(r), "Carrel holds 100 tokens, 5.0 % of the window of 2,000; the largest part is stubs (70)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Sent, r.Figures.Compress = 700, 1200
	if got, want := fills(r), " The last prompt had 700. A pass is due at 1,200."; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
	for _, tt := range []struct {
		live, stubs, sent, due token.Count
		want                   string
	}{
		{70, 30, 1, 1, "; the largest part is live blocks (70). The last prompt had 1. A pass is due at 1."},
		{50, 50, 0, 0, "; the largest part is live blocks (50)."}, // the first of equal ones
		{1, 0, 0, 0, "; the largest part is live blocks (1)."},
		{0, 0, 0, 0, "of the window of 2,000."},
	} {
		r.Live.Tokens, r.Stubs.Tokens, r.Sent, r.Figures.Compress = tt.live, tt.stubs, tt.sent, tt.due
		if got := fills(r); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q, want %q at its end", got, tt.want)
		}
	}
}

// The names of narrow bars stand apart, in order and within the drawing.
func TestNamesOfBarsStandApart(t *testing.T) {
	bars := []bar{{From: 0, Width: 960}, {From: 960, Width: 1}, {From: 961, Width: 1}, {From: 962, Width: 38}}
	spread(bars)
	for i, b := range bars {
		if b.Middle < 0 || b.Middle > 1000 || i > 0 && b.Middle-bars[i-1].Middle < 30 {
			t.Errorf("bar %d is named at %d, and the one before at %d", i, b.Middle, bars[max(i-1, 0)].Middle)
		}
	}
	narrow := []bar{{From: 0, Width: 1}, {From: 1, Width: 1}, {From: 2, Width: 998}}
	spread(narrow)
	if got := fmt.Sprint(bars[0].Middle, bars[1].Middle, bars[2].Middle, bars[3].Middle, narrow[0].Middle, narrow[1].Middle, narrow[2].Middle); got != "480 925 955 985 15 45 501" {
		t.Errorf("bars are named at %s, want each at its middle or as near as it can be", got)
	}
}

// The drawings are in thousandths of their width and height.
func TestDrawings(t *testing.T) {
	of := func(seq int64, read, rest token.Count, reason string) carrel.Call {
		return carrel.Call{Seq: seq, CallIntent: carrel.CallIntent{Reason: reason}, CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{Input: rest, CacheRead: read}}}
	}
	r := &carrel.ContextResult{Capacity: 800}
	r.Figures.Compress, r.Figures.Target = 600, 200
	c := chartOf([]carrel.Call{of(4, 0, 0, api.ReasonEpoch), of(3, 100, 0, ""), of(2, 0, 200, ""), of(1, 300, 100, "")}, r)
	got := c.Bars[0].Label
	for _, b := range c.Bars {
		got += fmt.Sprintf("; %d+%d: %d+%d, %d+%d", b.X, b.Width, b.Y, b.FreshHeight, b.CacheY, b.CacheHeight)
	}
	if want := "call 1: 400 tokens, 300 from the cache; 0+40: 500+125, 625+375; 333+40: 750+250, 1000+0; 666+40: 875+0, 875+125"; got != want || c.Epochs != 0 || c.Lines[0].Y != 250 || c.Lines[1].Y != 750 {
		t.Errorf("calls are drawn as %s, %+v, want %s", got, c.Lines, want)
	}
	r.Figures.Compress, r.Figures.Target = 1, 0
	if c := chartOf([]carrel.Call{of(1, 0, 1, "")}, r); c == nil || len(c.Lines) != 1 || c.Lines[0].Class != "due" {
		t.Errorf("a prompt and a threshold of one token are drawn as %+v", c)
	}
	many := chartOf(slices.Repeat([]carrel.Call{of(1, 0, 7, "")}, chartCalls), nil)
	if len(many.Bars) != chartCalls || many.Bars[99].X != 990 || many.Bars[99].Width != 9 || many.Whole != 7 || len(many.Lines) > 0 || chartOf([]carrel.Call{of(1, 0, 0, "")}, r) != nil {
		t.Errorf("many calls are drawn as %+v", many)
	}
	d := daysOf([]economy.DaySum{{Day: "2025-01-01", Total: 1}, {Day: "", Total: 5e8, Calls: 1}, {Day: "2026-03-02", Total: 1e9}, {Day: "2027-01-01"}}, 7, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	got = d.Bars[1].Label
	for _, b := range d.Bars {
		got += fmt.Sprintf("; %d+%d %d: %d+%d", b.X, b.Width, b.Middle, b.Y, b.Height)
	}
	if want := ": $0.50 for 1 call; 0+100 50: 1000+0; 0+100 50: 500+500; 875+100 925: 0+1000; 875+100 925: 1000+0"; got != want || d.Ticks[7].Middle != 925 || d.Ticks[0].Middle != 50 {
		t.Errorf("days are drawn as %s, %+v, want %s", got, d.Ticks, want)
	}
	if d := daysOf([]economy.DaySum{{Day: "2026-03-02"}}, 8, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)); len(d.Ticks) > 0 || d.Bars[0].X != 888 || d.Bars[0].Width != 88 {
		t.Errorf("nine days are drawn as %+v", d)
	}
	for h, want := range map[manifest.Header]string{
		{Budget: 1000, Demand: 900, Tier: tier.Summarized}: "90 600: full 0+533 266, summarized 533+100 583, core 633+100 683, minimal 733+267 866",
		{Budget: 1000, Demand: 5000, Tier: tier.Minimal}:   "500 995: full 0+200 100, summarized 200+37 218, core 237+38 256, minimal 275+725 637",
		{Budget: 1000, Demand: 1500, Tier: tier.Soft}:      "150 937: full 0+625 312, soft 625+375 812", {Budget: 1, Demand: 0, Tier: tier.Core}: "0 0:",
		{Budget: 1000, Demand: 500, Tier: tier.Full}: "50 333: full 0+533 266, summarized 533+100 583, core 633+100 683, minimal 733+267 866",
	} {
		g := gaugeOf(&h)
		got := fmt.Sprintf("%d %d:", g.Share, g.At)
		for _, b := range g.Tiers {
			got += fmt.Sprintf(" %s %d+%d %d,", b.Name, b.From, b.Width, b.Middle)
		}
		if strings.TrimSuffix(got, ",") != want {
			t.Errorf("a demand of %d is drawn as %s, want %s", h.Demand, got, want)
		}
	}
	m := &manifest.Manifest{Header: manifest.Header{Candidates: 10}, Items: []manifest.Item{
		&manifest.Segment{Class: "memory"}, &manifest.Segment{}, &manifest.Omission{Class: "memory", Reason: manifest.ReasonExpired}, &manifest.Omission{Reason: manifest.ReasonExpired}, &manifest.Set{Reason: manifest.ReasonCrowded, Count: 3},
	}}
	if steps, in := funnelOf(m); fmt.Sprint(steps, in) != "[{expired 1 9} {crowded 3 6}] 1" || gaugeOf(&manifest.Header{Demand: 1}) != nil {
		t.Errorf("the funnel is %v, with %d in", steps, in)
	}
}

// Days stand at their dates: days without calls are free space.
func TestDaysStandAtTheirDates(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	sums := []economy.DaySum{{Day: "2026-02-23", Calls: 1, Total: 5e8}, {Day: "2026-03-02", Calls: 2, Total: 1e9}}
	c := daysOf(sums, 7, now)
	if c.Bars[0].X != 0 || c.Bars[0].Height != 500 || c.Bars[1].X != 875 || c.Bars[1].Y != 0 || c.First != "2026-02-23" || c.Last != "2026-03-02" || c.Most != 1e9 {
		t.Errorf("drawing %+v", c)
	}
	var names []string
	for _, tick := range c.Ticks {
		names = append(names, tick.Name)
	}
	if got, want := strings.Join(names, " "), "Feb 23 24 25 26 27 28 Mar 1 2"; got != want {
		t.Errorf("dates %q, want %q", got, want)
	}
	if c := daysOf(sums, 30, now); len(c.Ticks) != 0 || c.Bars[1].X <= c.Bars[0].X {
		t.Errorf("30 days: drawing %+v", c)
	}
	if c := daysOf(nil, 7, now); c != nil {
		t.Errorf("no days: drawing %+v", c)
	}
}

// A drawing of calls marks the passes, and not the calls between that went unmanaged.
func TestEpochsOfCalls(t *testing.T) {
	call := func(seq int64, epoch int, reason string, prompt token.Count) carrel.Call {
		return carrel.Call{Seq: seq, CallIntent: carrel.CallIntent{Epoch: epoch, Reason: reason}, CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{Input: prompt}}}
	}
	c := chartOf([]carrel.Call{
		call(7, 3, "same epoch", 10), call(6, 3, api.ReasonEpoch+"budget", 0), call(5, 2, "same epoch", 10), call(4, 0, "not managed: too slow", 10),
		call(3, 2, api.ReasonEpoch+"cold", 10), call(2, 1, "same epoch", 10), call(1, 0, "client's log", 10),
	}, nil)
	var got []int64
	for _, b := range c.Bars {
		if b.NewEpoch {
			got = append(got, b.Seq)
		}
	}
	if want := []int64{3, 7}; !slices.Equal(got, want) || c.Epochs != len(want) {
		t.Errorf("epochs begin with the calls %d, want %d", got, want)
	}
}

// The text of a head is shown whatever the format of the provider.
func TestHeads(t *testing.T) {
	said := []shownMessage{{"user", []shownPart{{Kind: "text", Text: "x"}}}}
	for _, tt := range []struct {
		dialect, head string
		want          []shownMessage
	}{
		{"anthropic", `[{"role":"user","content":[{"type":"text","text":"x"}]}]`, said},
		{"chat", `[{"role":"user","content":"x"}]`, said},
		{"chat", `[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"out"}]`, []shownMessage{
			{"assistant", []shownPart{{Kind: "call", Name: "f", Text: "{}"}}}, {"tool", []shownPart{{Kind: "result", Text: "out"}}},
		}},
		{"responses", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}]`, said},
		{"responses", `[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"out"}]`, []shownMessage{
			{"assistant", []shownPart{{Kind: "call", Name: "f", Text: "{}"}}}, {"tool", []shownPart{{Kind: "result", Text: "out"}}},
		}},
		{"responses", "", nil},
	} {
		if diff := cmp.Diff(tt.want, headOf(tt.dialect, []byte(tt.head))); diff != "" {
			t.Errorf("%s %s: (-want +got)\n%s", tt.dialect, tt.head, diff)
		}
	}
	want := []shownMessage{{"system", []shownPart{{Kind: "text", Text: "Be brief."}}}, {"assistant", []shownPart{{Kind: "thinking", Text: "hm"}, {Kind: "text", Text: "x"}}}}
	got, err := messagesOf([]byte(`{"system":"Be brief.","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"}]}]}`))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("a window with a system text: %v (-want +got)\n%s", err, diff)
	}
	image := `[{"type":"tool_result","content":[{"type":"text","text":"see"},{"type":"image","source":{}}]}]`
	if diff := cmp.Diff([]shownPart{{Kind: "result", Text: "see\n[image]"}}, partsOf([]byte(image))); diff != "" {
		t.Errorf("an image in a result: (-want +got)\n%s", diff)
	}
}

// The pages name changes, calls and texts in these words. Each row has the words and those wanted.
func TestWordsOfPages(t *testing.T) {
	seg := func(form manifest.Form, bytes int) *manifest.Segment {
		return &manifest.Segment{Form: form, Bytes: bytes}
	}
	entry := func(id, op, undoes string) store.Entry {
		return store.Entry{ID: id, Op: op, Data: []byte(`{"undoes":"` + undoes + `"}`)}
	}
	change := func(c manifest.ItemChange) string { return changeWords(&c) }
	pages := func(n, number int) string {
		page, next := pageOf(make([]struct{}, n), number)
		return fmt.Sprint(len(page), " ", next)
	}
	cutAt := func(n int) string {
		m := []shownMessage{{Parts: []shownPart{{Text: strings.Repeat("x", n)}}}}
		shorten(m)
		return fmt.Sprint(len(m[0].Parts[0].Text)-shownPartBytes, " ", m[0].Parts[0].Size)
	}
	target := func(query string) string {
		return (&visit{Request: httptest.NewRequest(http.MethodGet, "/?"+query, nil)}).target()
	}
	before := &callPage{CallResult: &carrel.CallResult{Before: &api.Call{ID: "b", Seq: 4}}}
	none := &callPage{CallResult: &carrel.CallResult{}}
	for i, tt := range [][2]string{
		{change(manifest.ItemChange{Before: seg("a", 1)}), "no longer a candidate"},
		{change(manifest.ItemChange{Before: seg("a", 1), Reason: "expired"}), "expired"},
		{change(manifest.ItemChange{After: seg("a", 1), Reason: "x"}), "x"},
		{change(manifest.ItemChange{Before: seg("a", 1), After: seg("b", 2)}), "now b, was a"},
		{change(manifest.ItemChange{Before: seg("a", 1), After: seg("a", 2)}), "other text"},
		{change(manifest.ItemChange{Before: seg("a", 1), After: seg("a", 1)}), "sealed anew"},
		{becauseWords(blockLine{Rule: "pin", Step: "account"}), "rule pin"},
		{becauseWords(blockLine{Step: "account"}), "worth too little to stay"},
		{becauseWords(blockLine{Step: "x", Pinned: new(bool)}), "step of the pass: x"},
		{becauseWords(blockLine{Pinned: new(bool)}), "a pin"},
		{becauseWords(blockLine{}), "its score"},
		{undoable([]store.Entry{entry("1", "page", ""), entry("2", "undo", "1")}), ""},
		{undoable([]store.Entry{entry("1", "page", ""), entry("2", "pin", ""), entry("3", "import", "")}), "2"},
		{undoable([]store.Entry{entry("1", "page", ""), entry("2", "pin", ""), entry("3", "undo", "2")}), "1"},
		{target(""), "25%"},
		{target("target=1"), "1%"},
		{target("target=100"), "100%"},
		{target("target=101"), "101"},
		{target("target=0"), "0"},
		{target("target=-5"), "-5"},
		{target("target=40&tokens=50"), "50"},
		{stateOf(3, nil), "3"},
		{stateOf(3, []carrel.Call{{Seq: 7, State: store.CallDone}, {Seq: 6}}), "3-7-done"},
		{shellWord(""), "''"},
		{shellWord("a-b/c:1%"), "a-b/c:1%"},
		{shellWord("it's"), `'it'\''s'`},
		{longestLine("12: ab\n  abcdef \nx: y\n"), "abcdef"},
		{longestLine("12: abcdefgh\n1a: bcd"), "abcdefgh"},
		{longestLine("abc\ndef"), "abc"},
		{joined([]shownPart{{Kind: "text"}, {Kind: "image"}, {Kind: "x", Text: "y"}}), "\n[image]\ny"},
		{pages(1001, 0), "500 501"},
		{pages(1001, 501), "500 1001"},
		{pages(1001, 1001), "1 0"},
		{pages(1001, 5000), "0 0"},
		{pages(500, 1), "500 0"},
		{pages(500, 2), "499 0"},
		{cutAt(shownPartBytes), "0 0"},
		{cutAt(shownPartBytes + 1), fmt.Sprint("0 ", shownPartBytes+1)},
		{fmt.Sprint((&healthPage{}).Well(), (&healthPage{Node: &ServerState{}}).Well(), (&healthPage{Node: &ServerState{Problem: "x"}}).Well(), (&healthPage{Gaps: 1}).Well(), (&healthPage{Failed: 1}).Well(), (&healthPage{Unknown: 1}).Well()), "true true false false false false"},
		{fmt.Sprint(before.BeforeSeq(), before.Number("b"), before.Number("c"), none.BeforeSeq(), none.Number("b")), "4 4 0 0 0"},
	} {
		if tt[0] != tt[1] {
			t.Errorf("row %d is %q, want %q", i, tt[0], tt[1])
		}
	}
}
