package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// chartCalls is the most calls in the drawing of a session.
const chartCalls = 100

// A callChart draws the prompts of a session's last calls, in thousandths of its width and of
// its height, which is the context window.
type callChart struct {
	Bars   []callBar
	Lines  []chartLine
	Whole  token.Count // the height
	Epochs int         // number of bars with which an epoch begins
}

// A callBar is the prompt of a call.
type callBar struct {
	Seq                 int64
	ID                  string
	Prompt, Read        token.Count
	X, Width, Y, Height int
	CacheY, CacheHeight int
	FreshHeight         int // from Y down to CacheY
	Epoch               int
	NewEpoch            bool // Carrel made the window smaller since the last bar
	Label               string
}

// A chartLine is a threshold. Its class gives it dashes of its own.
type chartLine struct {
	Name, Class string
	Tokens      token.Count
	Y           int
}

// chartOf returns the drawing of calls, or nil if no provider counted a prompt. The calls are at
// most chartCalls, the newest first. If r is nil, the drawing has no thresholds.
func chartOf(calls []carrel.Call, r *carrel.ContextResult) *callChart {
	var drawn []*carrel.Call
	begins := make(map[*carrel.Call]bool) // the calls with which an epoch begins
	for i := range calls {
		c := &calls[i]
		if c.Usage.Prompt() > 0 {
			drawn = append(drawn, c)
		}
		if n := len(drawn); n > 0 && strings.HasPrefix(c.Reason, api.ReasonEpoch) {
			begins[drawn[n-1]] = true // the call itself, or the next one with a prompt
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	slices.Reverse(drawn)
	if r == nil {
		r = &carrel.ContextResult{}
	}
	p := &callChart{Whole: r.Capacity}
	for _, c := range drawn {
		p.Whole = max(p.Whole, c.Usage.Prompt())
	}
	height := func(n token.Count) int { return int(1000 * n / p.Whole) }
	for i, c := range drawn {
		b := callBar{
			Seq: c.Seq, ID: c.ID, Prompt: c.Usage.Prompt(), Read: c.Usage.CacheRead, Epoch: c.Epoch,
			X: 1000 * i / len(drawn), Width: min(1000/len(drawn)-1, 40), NewEpoch: begins[c],
		}
		b.Height, b.CacheHeight = height(b.Prompt), height(b.Read)
		b.Y, b.CacheY, b.FreshHeight = 1000-b.Height, 1000-b.CacheHeight, max(b.Height-b.CacheHeight, 0)
		b.Label = fmt.Sprintf("call %d: %s tokens, %s from the cache", c.Seq, thousands(fmt.Sprint(b.Prompt)), thousands(fmt.Sprint(b.Read)))
		if b.NewEpoch {
			b.Label += fmt.Sprintf(", epoch %d begins", c.Epoch)
			p.Epochs++
		}
		p.Bars = append(p.Bars, b)
	}
	for _, l := range []chartLine{{Name: "a pass is due", Class: "due", Tokens: r.Figures.Compress}, {Name: "what a pass leaves", Class: "target", Tokens: r.Figures.Target}} {
		if l.Tokens > 0 {
			l.Y = 1000 - height(l.Tokens)
			p.Lines = append(p.Lines, l)
		}
	}
	return p
}

// A dayBar draws the cost of a day, in thousandths of the width and the height of the drawing.
type dayBar struct {
	economy.DaySum

	X, Width, Y, Height int
	Middle              int
	Label               string
}

// A dayChart draws the cost of days, each at its date.
type dayChart struct {
	Bars        []dayBar
	Most        economy.Money // the height
	First, Last string        // dates at both ends
	Ticks       []bar         // the dates of all days, if there is room for them
}

// mostTicks is the most days in a drawing that has room for the date and the cost of each.
const mostTicks = 8

// daysOf returns the drawing of the last days, or nil if there are no days with calls. The sums
// are in the order of the days. Calls without a time are drawn at the first date.
func daysOf(sums []economy.DaySum, days int, now time.Time) *dayChart {
	if len(sums) == 0 {
		return nil
	}
	last := now.UTC().Truncate(24 * time.Hour)
	first := now.Add(-time.Duration(days) * 24 * time.Hour).UTC().Truncate(24 * time.Hour)
	slots := int(last.Sub(first)/(24*time.Hour)) + 1
	p := &dayChart{Most: 1, First: first.Format(time.DateOnly), Last: last.Format(time.DateOnly)}
	ticks := slots
	if slots > mostTicks {
		ticks = 0
	}
	for i := range ticks {
		day, layout := first.Add(time.Duration(i)*24*time.Hour), "2"
		if i == 0 || day.Day() == 1 {
			layout = "Jan 2"
		}
		p.Ticks = append(p.Ticks, bar{Name: day.Format(layout), Middle: 1000*i/slots + 400/slots})
	}
	for i := range sums {
		p.Most = max(p.Most, sums[i].Total)
	}
	for i := range sums {
		at := 0
		if day, err := time.Parse(time.DateOnly, sums[i].Day); err == nil {
			at = min(max(int(day.Sub(first)/(24*time.Hour)), 0), slots-1)
		}
		h := int(1000 * sums[i].Total / p.Most)
		b := dayBar{
			DaySum: sums[i], X: 1000 * at / slots, Width: max(1, 800/slots), Y: 1000 - h, Height: h,
			Label: fmt.Sprintf("%s: %s for %s", sums[i].Day, money(sums[i].Total), plural(sums[i].Calls, "call", "calls")),
		}
		b.Middle = b.X + b.Width/2
		p.Bars = append(p.Bars, b)
	}
	return p
}

// A gauge draws the demand of a context on a scale with the tiers of the ladder from which
// the tier of the context follows. Its numbers are in thousandths of its width.
type gauge struct {
	Tier   tier.Tier
	Share  int // demand in percent of the budget
	At     int // position of the demand
	Tiers  []bar
	Budget token.Count
	Demand token.Count
}

// gaugeOf returns the gauge of a context, or nil if it has no budget.
func gaugeOf(h *manifest.Header) *gauge {
	if h.Budget <= 0 {
		return nil
	}
	g := &gauge{Tier: h.Tier, Budget: h.Budget, Demand: h.Demand, Share: int(100 * h.Demand / h.Budget)}
	var edges []int
	var names []tier.Tier
	for _, ladder := range []tier.Ladder{tier.DefaultLadder, tier.SoftLadder} {
		if ladder.Tier(int64(h.Demand), int64(h.Budget)) != h.Tier {
			continue // it was another ladder, which the manifest does not name
		}
		edges, names = []int{0, ladder.Summarized, ladder.Core, ladder.Minimal}, tier.Tiers()
		if ladder.Soft {
			edges, names = []int{0, 100}, []tier.Tier{tier.Full, tier.Soft}
		}
		break
	}
	whole := max(150, min(g.Share+10, 400))
	g.At = min(1000*g.Share/whole, 995)
	for i, name := range names {
		to := whole
		if i+1 < len(edges) {
			to = edges[i+1]
		}
		from := 1000 * edges[i] / whole
		g.Tiers = append(g.Tiers, bar{Name: string(name), Class: "tier-" + string(name), From: from, Width: 1000*to/whole - from, Middle: (from + 1000*to/whole) / 2})
	}
	return g
}

// A funnelStep counts the artifacts that were left out for one reason.
type funnelStep struct {
	Reason manifest.Reason `json:"reason"`
	Count  int             `json:"count"`
	Left   int             `json:"left"` // candidates that are left after this step
}

// funnelOf returns the steps from the candidates of a context to the artifacts in it, and the
// number of these. A step is a reason for leaving out; the steps are in the order of the
// process.
func funnelOf(m *manifest.Manifest) (steps []funnelStep, in int) {
	out := make(map[manifest.Reason]int)
	for _, i := range m.Items {
		switch i := i.(type) {
		case *manifest.Segment:
			if i.Class != "" {
				in++
			}
		case *manifest.Omission:
			if i.Class != "" {
				out[i.Reason]++
			}
		case *manifest.Set:
			out[i.Reason] += i.Count
		}
	}
	left := m.Header.Candidates
	for _, reason := range manifest.Excluded() {
		if n := out[reason]; n > 0 {
			left -= n
			steps = append(steps, funnelStep{reason, n, left})
		}
	}
	return steps, in
}
