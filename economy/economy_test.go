package economy

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// prices.json is parsed at its first use; a mistake in it would panic.
func TestPricesAreRead(t *testing.T) {
	table, err := parse(prices)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table.rows {
		if m.Source == "" || m.Date == "" || m.Short == 0 || m.Read <= 0 || m.Write5m < ratio.One || m.Minimum == 0 {
			t.Errorf("the row of %s lacks a source, a date or a rule: %+v", m.Name, m)
		}
		if (m.Input == 0) != (m.Output == 0) {
			t.Errorf("the row of %s has one price of two", m.Name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ model, row string }{
		{"claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"claude-opus-4-5@20251101", "claude-opus-4-5"},
		{"anthropic/claude-opus-4.5", "claude-opus-4-5"},
		{"claude-opus-4-6[1m]", "claude-opus-4-6"},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"},
		{"anthropic.claude-opus-4-6-v1", "claude-opus-4-6"},
		{"global.anthropic.claude-opus-4-6-v1[1m]", "claude-opus-4-6"},
		{"claude-sonnet-4-5-v2@20250929", "claude-sonnet-4-5"},
		{"claude-opus-4-20250514", "claude-opus-4"},
		{"claude-opus-4-7", "claude-*"}, // no row has its price
		{"claude-fable-5-1", "claude-fable-5-1"},
		{"gpt-4o-2024-08-06", "gpt-4o"},
		{"gpt-4o-2024-05-13", "gpt-4o-2024-05-13"}, // it costs twice as much
		{"gpt-5.6-codex", "gpt-5-6*"},
		{"gpt-5-mini-2025-08-07", "gpt-5-mini"},
		{"claude-3-5-sonnet-latest", "claude-3-5-sonnet"},
		{"claude-opus-4x", "claude-*"},
		{"claude-opus-4-5-2025110", "claude-*"}, // no date
		{"claude-opus-4-5-codename", "claude-*"},
		{"gemini-3-pro", ""},
		{"<synthetic>", ""},
		{"", ""},
	} {
		m, ok := Published().Find(tt.model)
		if ok != (tt.row != "") || ok && m.Name != tt.row {
			t.Errorf("Find(%q) = %+v, %v, want the row %q", tt.model, m, ok, tt.row)
		}
	}
}

func TestRowsOfTheUserComeFirst(t *testing.T) {
	table, err := Published().With(Tariff{Name: "claude-opus-4.5", Input: 1e6, Output: 2e6, Source: "settings"})
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := table.Find("claude-opus-4-5-20251101"); m.Source != "settings" {
		t.Errorf("Find gives the row of %s, want that of the settings", m.Source)
	}
	if _, err := Published().With(Tariff{Input: 1}); err == nil {
		t.Error("With takes a row for no model")
	}
}

func TestParseRate(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Rate
	}{{"3", 3e6}, {"0.075", 75_000}, {"0.000001", 1}, {" 15.0 ", 15e6}, {"9", 9e6}, {"1000000", 1e12}} {
		if got, err := ParseRate(tt.text); got != tt.want || err != nil {
			t.Errorf("ParseRate(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"", ".5", "5.", "-1", "1e3", "0.0000001", "1000000.1", "$3", "3,5", "18446744073710"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", text, got)
		}
	}
}

func TestMoneyIsWritten(t *testing.T) {
	for _, tt := range []struct {
		m    Money
		want string
	}{{0, "$0.0000"}, {45_000_000, "$0.0450"}, {3_124_999_999, "$3.12"}, {999_949_999, "$0.9999"}, {999_950_000, "$1.00"}, {-2_500_000_000, "-$2.50"}} {
		if got := tt.m.String(); got != tt.want {
			t.Errorf("Money(%d) = %q, want %q", int64(tt.m), got, tt.want)
		}
	}
}

func TestPricedNeedsBothPrices(t *testing.T) {
	for m, want := range map[Tariff]bool{{Input: 1, Output: 1}: true, {Input: 1}: false, {Output: 1}: false, {}: false} {
		if got := m.Priced(); got != want {
			t.Errorf("Priced of %d and %d = %v, want %v", m.Input, m.Output, got, want)
		}
	}
}

func TestLifetime(t *testing.T) {
	for _, tt := range []struct {
		rules Rules
		long  bool
		want  time.Duration
	}{{Rules{Short: 2, Long: 1}, true, 1}, {Rules{Short: 2, Long: 1}, false, 2}, {Rules{Short: 2}, true, 2}} {
		if got := tt.rules.Lifetime(tt.long); got != tt.want {
			t.Errorf("%+v: Lifetime(%v) = %v, want %v", tt.rules, tt.long, got, tt.want)
		}
	}
}

// A call of Claude Opus 4.5 at its list prices, computed by hand: 1,000 tokens at $5, 2,000
// at $6.25, 4,000 at $10, 100,000 at $0.50 and 500 at $25 for a million.
func TestCharge(t *testing.T) {
	m, _ := Published().Find("claude-opus-4-5")
	got := m.Charge(Spend{Uncached: 1000, Write5m: 2000, Write1h: 4000, Read: 100_000, Output: 500})
	want := Charge{Uncached: 5_000_000, Write: 12_500_000 + 40_000_000, Read: 50_000_000, Output: 12_500_000}
	if got != want {
		t.Errorf("Charge = %+v, want %+v", got, want)
	}
	if got.Total() != 120_000_000 {
		t.Errorf("Total = %v, want $0.12", got.Total())
	}
}

// The multiples of the vendors' documentation, for edits that remove as many tokens as are
// behind them.
func TestPayback(t *testing.T) {
	row := func(model string) *Rules {
		m, ok := Published().Find(model)
		if !ok {
			t.Fatalf("no row for %s", model)
		}
		return &m.Rules
	}
	for _, tt := range []struct {
		name  string
		rules *Rules
		edit  Edit
		want  int
	}{
		{"5 minutes: 11.5", row("claude-opus-4-5"), Edit{Removed: 1000, Behind: 1000, Warm: true}, 12},
		{"1 hour: 19", row("claude-opus-4-5"), Edit{Removed: 1000, Behind: 1000, Warm: true, Long: true}, 19},
		{"Opus 5.5: 24", row("claude-opus-5-5"), Edit{Removed: 1000, Behind: 1000, Warm: true}, 24},
		{"Fable 5.1: 49", row("claude-fable-5-1"), Edit{Removed: 1000, Behind: 1000, Warm: true}, 49},
		{"GPT-5.6: 11.5", row("gpt-5.6"), Edit{Removed: 1000, Behind: 1000, Warm: true}, 12},
		{"older OpenAI: 1", row("gpt-4o"), Edit{Removed: 1000, Behind: 1000, Warm: true}, 1},
		{"a cold cache", row("claude-opus-4-5"), Edit{Removed: 1, Behind: 100_000}, 0},
		{"nothing behind it", row("claude-opus-4-5"), Edit{Removed: 1, Warm: true}, 0},
		{"nothing removed", row("claude-opus-4-5"), Edit{Behind: 1, Warm: true}, Never},
		{"half of a window", row("claude-opus-4-5"), Edit{Removed: 80_000, Behind: 40_000, Warm: true}, 6},
		{"reading is free", &Rules{Write5m: ratio.One}, Edit{Removed: 1000, Behind: 1000, Warm: true}, Never},
		{"reading is nearly free", &Rules{Read: 1, Write5m: 3}, Edit{Removed: 1000, Behind: 1000, Warm: true}, 2},
		{"no long lifetime", &Rules{Read: 1, Write5m: 3}, Edit{Removed: 1000, Behind: 1000, Warm: true, Long: true}, 2},
		{"a cheap long lifetime", &Rules{Read: 0, Write5m: 3, Write1h: 1}, Edit{Removed: 1000, Warm: true, Behind: 1000, Long: true}, Never},
	} {
		if got := tt.rules.Payback(tt.edit); got != tt.want {
			t.Errorf("%s: Payback(%+v) = %d, want %d", tt.name, tt.edit, got, tt.want)
		}
	}
}

// An edit saves nothing before its payback, and something from that call on.
func TestPaybackIsWhereSavingBegins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &Rules{
			Read: ratio.Ratio(rapid.Int64Range(10_000, 1e6).Draw(t, "read")), Write5m: ratio.Ratio(rapid.Int64Range(1e6, 2e6).Draw(t, "write")),
		}
		e := Edit{
			Removed: token.Count(rapid.IntRange(1, 1_000_000).Draw(t, "removed")), Behind: token.Count(rapid.IntRange(1, 1_000_000).Draw(t, "behind")),
			Warm: true,
		}
		n := r.Payback(e)
		if got := r.Saved(e, n); got < 0 {
			t.Fatalf("after its payback of %d calls, an edit has saved %d tokens", n, got)
		}
		if got := r.Saved(e, n-1); got > 0 {
			t.Fatalf("before its payback of %d calls, an edit has saved %d tokens", n, got)
		}
		if e.Warm = false; r.Payback(e) != 0 || r.Saved(e, 1) < 0 {
			t.Fatalf("an edit of a cold prompt costs something")
		}
	})
}

func TestRemaining(t *testing.T) {
	past := []int{3, 10, 12, 14, 16, 18, 20, 22, 24}
	for _, tt := range []struct {
		done int
		past []int
		want int
	}{{5, nil, 20}, {500, nil, 20}, {10, past, 6}, {11, past, typical}} {
		if got := Remaining(tt.done, tt.past); got != tt.want {
			t.Errorf("Remaining(%d, %v) = %d, want %d", tt.done, tt.past, got, tt.want)
		}
	}
}

// text returns a link whose digest is that of a name.
func text(name string, tokens token.Count) Link {
	return Link{Digest: digest.Of([]byte(name)), Tokens: tokens}
}

// draw returns links with digests that occur nowhere else.
func draw(t *rapid.T, what string, least int) []Link {
	sizes := rapid.SliceOfN(rapid.IntRange(1, 5000), least, 15).Draw(t, what)
	var all []Link
	for i, n := range sizes {
		all = append(all, text(fmt.Sprint(what, i), token.Count(n)))
	}
	return all
}

// rulesOf draws the rules of a model.
func rulesOf(t *rapid.T) Rules {
	m, _ := Published().Find(rapid.SampledFrom([]string{"claude-opus-4-5", "claude-sonnet-4-5", "gpt-4o", "gpt-5.6"}).Draw(t, "model"))
	return m.Rules
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func total(links []Link) (n token.Count) {
	for _, s := range links {
		n += s.Tokens
	}
	return n
}

func lastMark(p *Submission) *Submission {
	p.Marks = []Breakpoint{{After: len(p.Links) - 1}}
	return p
}

// Whatever is sent, each token is read, written or neither.
func TestCachePartsSumToThePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(rulesOf(t))
		now := noon
		for i := range rapid.IntRange(1, 6).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "seconds")) * time.Second)
			p := &Submission{At: now, Model: "m", Links: draw(t, "common", 0)}
			p.Links = append(p.Links, draw(t, fmt.Sprint("own", i), 0)...)
			for _, at := range rapid.SliceOf(rapid.IntRange(-1, 40)).Draw(t, "marks") {
				p.Marks = append(p.Marks, Breakpoint{After: at, Long: rapid.Bool().Draw(t, "long")})
			}
			u := c.Send(p)
			if u.Prompt() != total(p.Links) || min(u.Read, u.Write5m, u.Write1h, u.Uncached) < 0 {
				t.Fatalf("of %d tokens, the parts are %+v", total(p.Links), u)
			}
		}
	})
}

// If a prompt only grows, within the lifetime, all of it but the new links is read.
func TestCacheReadsWhatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rulesOf(t)
		c := NewCache(rules)
		p := lastMark(&Submission{At: noon, Links: append([]Link{text("frame", 5000)}, draw(t, "old", 0)...)})
		c.Send(p)
		sent := total(p.Links)
		p = lastMark(&Submission{At: noon.Add(rules.Short - time.Second), Links: append(p.Links, draw(t, "new", 1)...)})
		want := sent
		if rules.Step > 0 {
			want -= want % rules.Step
		}
		if u := c.Send(p); u.Read != want {
			t.Fatalf("of %d tokens that were sent before, %d are read, want %d", sent, u.Read, want)
		}
	})
}

// After an edit, everything behind it is written again, and a cached prefix before it is read.
func TestCacheLosesWhatIsBehindAnEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCache(rulesOf(t))
		p := lastMark(&Submission{At: noon, Links: append([]Link{text("frame", 5000)}, draw(t, "old", 2)...)})
		p.Marks = append([]Breakpoint{{After: 0}}, p.Marks...)
		c.Send(p)
		at := rapid.IntRange(1, len(p.Links)-1).Draw(t, "edited")
		before := total(p.Links[:at])
		q := &Submission{At: noon.Add(time.Minute), Links: append([]Link{}, p.Links...), Marks: p.Marks}
		q.Links[at] = text("another", q.Links[at].Tokens)
		if u := c.Send(q); u.Read > before || u.Read < 5000-128 {
			t.Fatalf("%d tokens are read, want at most the %d before the edit and no less than the frame", u.Read, before)
		}
	})
}

// The positions of the breakpoints do not change the read tokens as long as the cached prefix
// is within LookBack of a breakpoint.
func TestCacheMarksMayMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rulesOf(t)
		first := lastMark(&Submission{At: noon, Links: append([]Link{text("frame", 5000)}, draw(t, "old", 0)...)})
		next := append(first.Links, draw(t, "new", 3)...)
		from := len(first.Links) - 1
		var reads []token.Count
		for _, at := range []int{from, len(next) - 1, rapid.IntRange(from, len(next)-1).Draw(t, "mark")} {
			c := NewCache(rules)
			c.Send(first)
			reads = append(reads, c.Send(&Submission{At: noon.Add(time.Minute), Links: next, Marks: []Breakpoint{{After: at}}}).Read)
		}
		if reads[0] != reads[1] || reads[0] != reads[2] || reads[0] == 0 {
			t.Fatalf("with the mark at three places, %d tokens are read", reads)
		}
	})
}

func TestCacheForgets(t *testing.T) {
	m, _ := Published().Find("claude-sonnet-4-5")
	at := func(minutes int, long bool) *Submission {
		return &Submission{At: noon.Add(time.Duration(minutes) * time.Minute), Links: []Link{text("frame", 5000)}, Marks: []Breakpoint{{After: 0, Long: long}}}
	}
	c := NewCache(m.Rules)
	for _, tt := range []struct {
		minute int
		want   Spend
	}{
		{0, Spend{Write5m: 5000}},
		{4, Spend{Read: 5000}},
		{8, Spend{Read: 5000}}, // the read at 4 restarted the lifetime
		{13, Spend{Write5m: 5000}},
	} {
		if got := c.Send(at(tt.minute, false)); got != tt.want {
			t.Errorf("at minute %d: %+v, want %+v", tt.minute, got, tt.want)
		}
	}
	c = NewCache(m.Rules)
	for _, tt := range []struct {
		minute int
		want   Spend
	}{{0, Spend{Write1h: 5000}}, {59, Spend{Read: 5000}}, {119, Spend{Write1h: 5000}}} {
		if got := c.Send(at(tt.minute, true)); got != tt.want {
			t.Errorf("at minute %d, kept for an hour: %+v, want %+v", tt.minute, got, tt.want)
		}
	}
}

func TestCacheHasLimits(t *testing.T) {
	m, _ := Published().Find("claude-sonnet-4-5")
	links := func(n int) (all []Link) {
		for i := range n {
			all = append(all, text(fmt.Sprint(i), 100))
		}
		return all
	}
	c := NewCache(m.Rules)
	if u := c.Send(lastMark(&Submission{At: noon, Links: links(10)})); u != (Spend{Uncached: 1000}) {
		t.Errorf("a prompt below the minimum: %+v, want all of it uncached", u)
	}
	least := lastMark(&Submission{At: noon, Links: []Link{text("least", m.Minimum)}})
	if u, again := c.Send(least), c.Send(least); u != (Spend{Write5m: m.Minimum}) || again != (Spend{Read: m.Minimum}) {
		t.Errorf("a prompt of exactly the minimum: %+v and then %+v, want it written and then read", u, again)
	}
	short := NewCache(Rules{Marks: 1, Short: time.Hour, Long: 1}).Send(&Submission{At: noon, Links: links(1), Marks: []Breakpoint{{Long: true}}})
	if short != (Spend{Write1h: 100}) {
		t.Errorf("a long lifetime, however short: %+v, want it written for that", short)
	}
	c.Send(lastMark(&Submission{At: noon, Links: links(20)}))
	if u := c.Send(lastMark(&Submission{At: noon, Links: links(40)})); u.Read != 2000 {
		t.Errorf("20 blocks before the breakpoint: %+v, want 2000 tokens read", u)
	}
	c = NewCache(m.Rules)
	c.Send(lastMark(&Submission{At: noon, Links: links(20)}))
	if u := c.Send(lastMark(&Submission{At: noon, Links: links(41)})); u.Read != 0 {
		t.Errorf("21 blocks before the breakpoint: %+v, want nothing read", u)
	}
	c = NewCache(m.Rules)
	five := &Submission{At: noon, Links: links(60)}
	for _, at := range []int{15, 25, 35, 45, 59} {
		five.Marks = append(five.Marks, Breakpoint{After: at})
	}
	if u := c.Send(five); u.Write5m != 4600 || u.Uncached != 1400 {
		t.Errorf("five breakpoints: %+v, want what is before the fourth to be written", u)
	}
	if u := c.Send(&Submission{At: noon, Model: "another", Links: five.Links, Marks: five.Marks}); u.Read != 0 {
		t.Errorf("another model: %+v, want nothing read", u)
	}
}

func TestBill(t *testing.T) {
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	const opus = "claude-opus-4-5-20251101"
	calls := []Invoice{
		{Begun: at(0), Ended: at(0), Model: opus, After: -1, Spend: Spend{Write5m: 20_000, Output: 100}},
		{Begun: at(1), Ended: at(1), Model: opus, After: 0, Spend: Spend{Read: 20_000, Write5m: 10_000, Output: 100}},
		{Begun: at(9), Ended: at(9), Model: opus, After: 1, Spend: Spend{Write5m: 31_000, Output: 100}},
		{Begun: at(10), Ended: at(10), Model: opus, After: 2, Compacted: true, Spend: Spend{Read: 10_000, Write5m: 2_000, Output: 100}},
		{Begun: at(11), Ended: at(11), Model: opus, After: 3, Frame: digest.Of([]byte("a")), Spend: Spend{Uncached: 12_000, Output: 100}},
		{Begun: at(12), Ended: at(12), Model: "claude-sonnet-4-5", After: 2, Spend: Spend{Write5m: 40_000, Output: 100}},
		{Begun: at(12), Ended: at(12), Model: "gemini-3-pro", After: 5, Spend: Spend{Uncached: 40_000, Output: 100}},
		{Begun: at(13), Ended: at(13), Model: opus, After: 2, Edited: true, Spend: Spend{Read: 20_000, Output: 100}}, // all of its prompt was read
	}
	b := Published().Bill(calls)
	type brk struct {
		call  int
		cause Cause
		lost  token.Count
		extra Money
	}
	var got []brk
	for _, k := range b.Breaks {
		got = append(got, brk{k.Call, k.Cause, k.Lost, k.Extra})
	}
	want := []brk{
		{2, CauseExpired, 30_000, 172_500_000}, // at $6.25 in place of $0.50
		{3, CauseCompact, 2_000, 11_500_000},   // the written tokens; the rest of 21,000 is gone
		{4, CauseUnknown, 12_000, 54_000_000},  // at $5 in place of $0.50
		{5, CauseModel, 31_000, 106_950_000},   // at $3.75 in place of $0.30
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the breaks are %v, want %v", got, want)
	}
	if b.Unpriced != 1 || fmt.Sprint(b.Missing) != "[gemini-3-pro]" || b.Spend.Output != 800 || b.Total != b.Charge.Total() {
		t.Errorf("the bill is %+v, want one call without a price and the tokens of all", b)
	}
	if sums := b.Causes; len(sums) != 4 || sums[0].Cause != CauseExpired || sums[3].Cause != CauseCompact {
		t.Errorf("by cause: %+v, want the dearest first", sums)
	}
}

// Each row is a pair of calls of the same conversation.
func TestBreaks(t *testing.T) {
	const opus = "claude-opus-4-5"
	a, b := digest.Of([]byte("a")), digest.Of([]byte("b"))
	wrote := func(n token.Count) Invoice {
		return Invoice{Begun: noon, Ended: noon, Model: opus, After: -1, Spend: Spend{Write5m: n}}
	}
	reads := func(read, wrote token.Count) Invoice {
		return Invoice{Begun: noon.Add(time.Minute), Model: opus, Spend: Spend{Read: read, Write5m: wrote}}
	}
	with := func(c Invoice, f func(*Invoice)) Invoice { f(&c); return c }
	for _, tt := range []struct {
		name         string
		before, call Invoice
		want         Cause // empty for no break
		idle         time.Duration
	}{
		{"below the minimum", wrote(4095), reads(0, 9000), "", 0},
		{"the minimum", wrote(4096), reads(0, 9000), CauseUnknown, time.Minute},
		{"within the slack", wrote(9024), reads(8000, 2000), "", 0},
		{"over the slack", wrote(9025), reads(8000, 2000), CauseUnknown, time.Minute},
		{"within the lifetime", wrote(9000), with(reads(0, 9000), func(c *Invoice) { c.Begun = noon.Add(5*time.Minute - 1) }), CauseUnknown, 5*time.Minute - 1},
		{"the lifetime", wrote(9000), with(reads(0, 9000), func(c *Invoice) { c.Begun = noon.Add(5 * time.Minute) }), CauseExpired, 5 * time.Minute},
		{"no times before", with(wrote(9000), func(c *Invoice) { c.Begun, c.Ended = time.Time{}, time.Time{} }), reads(0, 9000), CauseUnknown, 0},
		{"no time", wrote(9000), with(reads(0, 9000), func(c *Invoice) { c.Begun = time.Time{} }), CauseUnknown, 0},
		{"another frame", with(wrote(9000), func(c *Invoice) { c.Frame = a }), with(reads(0, 9000), func(c *Invoice) { c.Frame = b }), CauseFrame, time.Minute},
		{"a frame unknown now", with(wrote(9000), func(c *Invoice) { c.Frame = a }), reads(0, 9000), CauseUnknown, time.Minute},
		{"a cut", wrote(9000), with(reads(0, 9000), func(c *Invoice) { c.Cut = true }), CauseEpoch, time.Minute},
	} {
		got := Published().Bill([]Invoice{tt.before, tt.call}).Breaks
		if (tt.want == "") != (len(got) == 0) || len(got) == 1 && (got[0].Call != 1 || got[0].Cause != tt.want || got[0].Idle != tt.idle) {
			t.Errorf("%s: the breaks are %+v, want %q after %v", tt.name, got, tt.want, tt.idle)
		}
	}
	unpriced := Published().Bill([]Invoice{{Model: "claude-opus-5-5", After: -1, Spend: Spend{Output: 100}}})
	if unpriced.Unpriced != 1 || fmt.Sprint(unpriced.Missing) != "[claude-opus-5-5]" {
		t.Errorf("a model whose rules alone are known: %+v, want a call without a price", unpriced)
	}
}

// A bill is the sum of the costs of its calls, and no break costs more than its call paid for
// the tokens that were not read.
func TestBillSumsToItsCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := func(what string) token.Count { return token.Count(rapid.IntRange(0, 100_000).Draw(t, what)) }
		var calls []Invoice
		var want Charge
		for i := range rapid.IntRange(1, 10).Draw(t, "calls") {
			c := Invoice{
				Begun: noon.Add(time.Duration(i) * time.Minute), Model: "claude-haiku-4-5", After: i - 1,
				Spend: Spend{Uncached: size("uncached"), Read: size("read"), Write5m: size("write"), Write1h: size("long"), Output: size("output")},
			}
			m, _ := Published().Find(c.Model)
			want = want.Plus(m.Charge(c.Spend))
			calls = append(calls, c)
		}
		b := Published().Bill(calls)
		if b.Charge != want {
			t.Fatalf("the bill is %+v, want %+v", b.Charge, want)
		}
		for _, k := range b.Breaks {
			m, _ := Published().Find(calls[k.Call].Model)
			paid := m.Charge(calls[k.Call].Spend)
			if k.Extra < 0 || k.Extra > paid.Write+paid.Uncached || k.Lost > calls[k.Call].Prompt()-calls[k.Call].Read {
				t.Fatalf("%+v is more than call %d paid: %+v", k, k.Call, paid)
			}
		}
	})
}

// Assumptions whose limit no prompt reaches change nothing, and a prompt that it cuts is cheaper in
// all later calls.
func TestManaged(t *testing.T) {
	var calls []Invoice
	size := token.Count(20_000)
	for i := range 40 {
		calls = append(calls, Invoice{
			Begun: noon.Add(time.Duration(i) * time.Minute), Model: "claude-opus-4-5", After: i - 1,
			Spend: Spend{Read: size, Write5m: 5000, Output: 100},
		})
		size += 5000
	}
	calls[0].Spend = Spend{Write5m: 25_000, Output: 100}
	table := Published()
	assumptions := Assumptions{Window: 1_000_000, Full: ratio.Of(8, 10), Target: ratio.Of(5, 10)}
	as := table.Bill(calls).Charge
	if f := table.Managed(calls, assumptions); f.Epochs != 0 || f.Charge != as {
		t.Errorf("a window that is never full: %+v, want no epochs and %+v", f, as)
	}
	assumptions.Window = 100_000
	f := table.Managed(calls, assumptions)
	if f.Epochs != 4 || f.Charge.Total() >= as.Total() || f.Charge.Output != as.Output {
		t.Errorf("a window of 100,000 tokens: %+v, want 4 epochs, at prompts of 85,000 tokens, and less than %+v", f, as)
	}
	assumptions.Lookups = 2
	if g := table.Managed(calls, assumptions); g.Charge.Total() <= f.Charge.Total() {
		t.Errorf("with lookups it costs %v, want more than %v", g.Charge.Total(), f.Charge.Total())
	}

	calls[10].Begun = calls[10].Begun.Add(time.Hour) // the cache expires before this call
	calls[10].Spend = Spend{Write5m: calls[10].Prompt(), Output: 100}
	for i := 11; i < len(calls); i++ {
		calls[i].Begun = calls[i].Begun.Add(time.Hour)
	}
	assumptions = Assumptions{Window: 100_000, Full: ratio.Of(2, 1), Target: ratio.Of(5, 10)}
	if f := table.Managed(calls[:12], assumptions); f.Epochs != 1 {
		t.Errorf("a cold prompt above the target: %+v, want one epoch", f)
	}
}

// A call that Carrel made counts as it was, one without a price not at all, and one that continues
// no earlier call stands alone.
func TestManagedCountsOtherCalls(t *testing.T) {
	const opus = "claude-opus-4-5"
	spend := Spend{Read: 50_000, Write1h: 1, Output: 100}
	would := &Estimated{Prompt: 10_000, Frame: 1000, Cut: true}
	table, assumptions := Published(), Assumptions{Window: 1_000_000, Full: ratio.One, Target: ratio.One, Lookups: 1}
	m, _ := table.Find(opus)
	cut := Spend{Read: 1000, Write5m: 9000, Output: 100}
	for _, tt := range []struct {
		name string
		call Invoice
		want Forecast
	}{
		{"made by Carrel", Invoice{Model: opus, After: -1, Spend: spend, Managed: true, Would: would}, Forecast{Charge: m.Charge(spend)}},
		{"without a price", Invoice{Model: "claude-opus-5-5", After: -1, Spend: spend, Would: would}, Forecast{}},
		{"without a call before", Invoice{Model: opus, After: 7, Spend: spend}, Forecast{Charge: m.Charge(spend)}},
		{"with a lookup", Invoice{Model: opus, After: -1, Spend: Spend{Read: 50_000, Write5m: 2, Write1h: 1, Output: 100}, Would: would}, Forecast{
			Epochs: 1, Charge: m.Charge(cut).Plus(m.Charge(Spend{Read: 10_000, Write1h: lookupResult, Output: lookupOutput})),
		}},
	} {
		if got := table.Managed([]Invoice{tt.call}, assumptions); got != tt.want {
			t.Errorf("%s: Managed = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
