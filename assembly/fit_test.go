package assembly

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// shrink is a brief form that has a share of the whole in percent, and never
// more than the limit; least is what it cannot go below.
func shrink(whole token.Count, percent int, least token.Count) func(token.Count) token.Count {
	return func(limit token.Count) token.Count {
		n := min(whole*token.Count(percent)/100, limit)
		if n < least {
			return 0
		}
		return n
	}
}

func winner(class provenance.Class, tokens token.Count) Winner {
	return Winner{class, tokens, shrink(tokens, 100, 10)}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Request
		want Packing
	}{
		{
			"nothing found",
			Request{Budget: 100, System: 10, Query: 5},
			Packing{Demand: 15, Total: 15, Share: ratio.Of(15, 100), Tier: tier.Full, Choices: []Choice{}},
		},
		{
			"no budget and no demand",
			Request{},
			Packing{Tier: tier.Minimal, Review: true, Choices: []Choice{}},
		},
		{
			"all fits",
			Request{Budget: 1_000, System: 100, Pins: 20, Window: 30, Query: 10, Winners: []Winner{
				winner(provenance.Verified, 300), winner(provenance.Transcript, 300),
			}},
			Packing{
				Demand: 760, Total: 760, Share: ratio.Of(76, 100), Tier: tier.Full,
				Choices: []Choice{{0, manifest.FormWhole, 300, reasonFits}, {1, manifest.FormWhole, 300, reasonFits}},
			},
		},
		{
			"a transcript is brief when it would fit whole, and that suffices",
			Request{Budget: 1_000, System: 100, Winners: []Winner{
				winner(provenance.Transcript, 400), winner(provenance.Tool, 300),
			}},
			Packing{
				Demand: 800, Total: 600, Share: ratio.Of(80, 100), Tier: tier.Summarized,
				Choices: []Choice{{0, manifest.FormBrief, 200, reasonTranscript}, {1, manifest.FormWhole, 300, reasonFits}},
			},
		},
		{
			"the last winner is brief first",
			Request{Budget: 1_000, System: 100, Winners: []Winner{
				winner(provenance.Verified, 300), winner(provenance.Retrieved, 300), winner(provenance.Tool, 60), winner(provenance.Transcript, 150),
			}},
			Packing{
				Demand: 910, Total: 750, Share: ratio.Of(91, 100), Tier: tier.Summarized,
				Choices: []Choice{
					{0, manifest.FormWhole, 300, reasonFits},
					{1, manifest.FormBrief, 150, reasonDemand},
					{2, manifest.FormBrief, 50, reasonDemand},
					{3, manifest.FormWhole, 150, reasonFits},
				},
			},
		},
		{
			"a transcript without a brief form is out",
			Request{Budget: 1_000, Winners: []Winner{{provenance.Transcript, 850, nil}}},
			Packing{
				Demand: 850, Share: ratio.Of(85, 100), Tier: tier.Summarized, Review: true,
				Choices: []Choice{{0, Out, 0, reasonNoBrief}},
			},
		},
		{
			"what a person verified, under pressure",
			Request{Budget: 1_000, System: 500, Winners: []Winner{
				winner(provenance.Tool, 100), winner(provenance.Verified, 300), winner(provenance.Verified, 200),
			}},
			Packing{
				Demand: 1_100, Total: 1_000, Share: ratio.Of(110, 100), Tier: tier.Core,
				Choices: []Choice{{0, Out, 0, reasonUnverified}, {1, manifest.FormWhole, 300, reasonFits}, {2, manifest.FormWhole, 200, reasonFits}},
			},
		},
		{
			"on the soft ladder what a person verified, then the best that fit whole",
			Request{Budget: 1_000, System: 500, Ladder: tier.SoftLadder, Winners: []Winner{
				winner(provenance.Tool, 250), winner(provenance.Tool, 60), winner(provenance.Verified, 300), winner(provenance.Transcript, 100),
			}},
			Packing{
				Demand: 1_210, Total: 960, Share: ratio.Of(1_210, 1_000), Tier: tier.Soft,
				Choices: []Choice{{0, Out, 0, ReasonNoRoom}, {1, manifest.FormWhole, 60, reasonFits}, {2, manifest.FormWhole, 300, reasonFits}, {3, manifest.FormWhole, 100, reasonFits}},
			},
		},
		{
			"on the soft ladder all is whole up to the budget",
			Request{Budget: 1_000, System: 100, Ladder: tier.SoftLadder, Winners: []Winner{winner(provenance.Transcript, 900)}},
			Packing{Demand: 1_000, Total: 1_000, Share: ratio.One, Tier: tier.Full, Choices: []Choice{{0, manifest.FormWhole, 900, reasonFits}}},
		},
		{
			"on the soft ladder a person looks if something verified is not whole",
			Request{Budget: 1_000, System: 950, Ladder: tier.SoftLadder, Winners: []Winner{winner(provenance.Verified, 60)}},
			Packing{
				Demand: 1_010, Total: 1_000, Share: ratio.Of(1_010, 1_000), Tier: tier.Soft, Review: true,
				Choices: []Choice{{0, manifest.FormBrief, 50, reasonRoom}},
			},
		},
		{
			"what a person verified, brief",
			Request{Budget: 1_000, System: 750, Winners: []Winner{
				winner(provenance.Verified, 200), winner(provenance.Verified, 100), winner(provenance.Verified, 20),
			}},
			Packing{
				Demand: 1_070, Total: 1_000, Share: ratio.Of(107, 100), Tier: tier.Core,
				Choices: []Choice{{0, manifest.FormWhole, 200, reasonFits}, {1, manifest.FormBrief, 50, reasonRoom}, {2, Out, 0, ReasonNoRoom}},
			},
		},
		{
			"far too much",
			Request{Budget: 1_000, System: 500, Winners: []Winner{winner(provenance.Verified, 601)}},
			Packing{
				Demand: 1_101, Total: 500, Share: ratio.Of(1_101, 1_000), Tier: tier.Minimal, Review: true,
				Choices: []Choice{{0, Out, 0, reasonMinimal}},
			},
		},
		{
			"a forced tier that is too rich skips what does not fit",
			Request{Budget: 1_000, Tier: tier.Full, Winners: []Winner{
				winner(provenance.Tool, 700), winner(provenance.Tool, 301), winner(provenance.Tool, 300),
			}},
			Packing{
				Demand: 1_301, Total: 1_000, Share: ratio.Of(1_301, 1_000), Tier: tier.Full,
				Choices: []Choice{{0, manifest.FormWhole, 700, reasonFits}, {1, Out, 0, ReasonNoRoom}, {2, manifest.FormWhole, 300, reasonFits}},
			},
		},
		{
			"a brief form over its limit is none",
			Request{Budget: 1_000, System: 750, Winners: []Winner{
				{provenance.Verified, 300, func(limit token.Count) token.Count { return limit + 1 }},
			}},
			Packing{
				Demand: 1_050, Total: 750, Share: ratio.Of(1_050, 1_000), Tier: tier.Core, Review: true,
				Choices: []Choice{{0, Out, 0, ReasonNoRoom}},
			},
		},
		{
			"the notice goes in with the first winner, and not without one",
			Request{Budget: 1_000, System: 300, Notice: 60, Tier: tier.Full, Winners: []Winner{
				winner(provenance.Tool, 650), winner(provenance.Tool, 641), winner(provenance.Tool, 1),
			}},
			Packing{
				Demand: 1_652, Total: 361, Share: ratio.Of(1_652, 1_000), Tier: tier.Full,
				Choices: []Choice{{0, Out, 0, ReasonNoRoom}, {1, Out, 0, ReasonNoRoom}, {2, manifest.FormWhole, 1, reasonFits}},
			},
		},
		{
			"a brief form of one token in the room of one",
			Request{Budget: 1_000, Winners: []Winner{
				winner(provenance.Verified, 999), {provenance.Verified, 5, func(token.Count) token.Count { return 1 }},
			}},
			Packing{
				Demand: 1_004, Total: 1_000, Share: ratio.Of(1_004, 1_000), Tier: tier.Core,
				Choices: []Choice{{0, manifest.FormWhole, 999, reasonFits}, {1, manifest.FormBrief, 1, reasonRoom}},
			},
		},
		{
			"a transcript whose brief form is one token",
			Request{Budget: 1_000, System: 550, Winners: []Winner{{provenance.Transcript, 300, func(token.Count) token.Count { return 1 }}}},
			Packing{
				Demand: 850, Total: 551, Share: ratio.Of(85, 100), Tier: tier.Summarized,
				Choices: []Choice{{0, manifest.FormBrief, 1, reasonTranscript}},
			},
		},
		{
			"a forced tier that is poorer than needed",
			Request{Budget: 1_000, Tier: tier.Minimal, Winners: []Winner{winner(provenance.Verified, 1)}},
			Packing{
				Demand: 1, Share: ratio.Of(1, 1_000), Tier: tier.Minimal, Review: true,
				Choices: []Choice{{0, Out, 0, reasonMinimal}},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Fit(&tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// The edges of the tiers, exact to the token.
func TestFitEdges(t *testing.T) {
	for _, tt := range []struct {
		demand token.Count // of a budget of 10 000
		want   tier.Tier
		total  token.Count
	}{
		{7_999, tier.Full, 7_999},
		{8_000, tier.Summarized, 4_000},
		{9_499, tier.Summarized, 4_749},
		{9_500, tier.Core, 0},
		{11_000, tier.Core, 0},
		{11_001, tier.Minimal, 0},
	} {
		got, err := Fit(&Request{Budget: 10_000, Winners: []Winner{winner(provenance.Tool, tt.demand)}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Tier != tt.want || got.Total != tt.total || got.Review != (tt.total == 0) {
			t.Errorf("a demand of %d is %s with %d tokens, review %t, want %s with %d", tt.demand, got.Tier, got.Total, got.Review, tt.want, tt.total)
		}
	}
}

func TestFitFloor(t *testing.T) {
	_, err := Fit(&Request{Budget: 99, System: 50, Pins: 30, Window: 15, Query: 5})
	over, ok := errors.AsType[*FloorError](err)
	if !ok {
		t.Fatalf("error is %v, want a FloorError", err)
	}
	if diff := cmp.Diff(&FloorError{Budget: 99, Need: 100, System: 50, Pins: 30, Window: 15, Query: 5}, over); diff != "" {
		t.Errorf("floor (-want +got):\n%s", diff)
	}
	const want = "a budget of 99 tokens is too small: 100 are needed (system text 50, pins 30, window 15, query 5)"
	if got := err.Error(); got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
	if _, err := Fit(&Request{Budget: -1}); !isFloor(err) {
		t.Errorf("a budget of -1 gives %v, want a FloorError", err)
	}
	if _, err := Fit(&Request{Tier: "best"}); err == nil {
		t.Error("there is a tier called best")
	}
}

func isFloor(err error) bool {
	_, ok := errors.AsType[*FloorError](err)
	return ok
}

// drawFit returns a random request. Brief forms are not always shorter than the
// whole, nor always within the limit that they were asked for.
func drawFit(t *rapid.T) *Request {
	size := func(name string, most int) token.Count { return token.Count(rapid.IntRange(0, most).Draw(t, name)) }
	r := &Request{
		Budget: size("budget", 12_000),
		System: size("system", 500), Pins: size("pins", 300), Window: size("window", 2_000), Query: size("query", 50), Notice: size("notice", 80),
		Tier: rapid.SampledFrom(append(tier.Tiers(), "", "", "", "")).Draw(t, "tier"),
	}
	if rapid.Bool().Draw(t, "custom") {
		percent := func(name string) int { return rapid.IntRange(0, 300).Draw(t, name) }
		r.Ladder = tier.Ladder{Summarized: percent("summarized"), Core: percent("core"), Minimal: percent("minimal")}
	}
	if rapid.IntRange(0, 3).Draw(t, "soft") == 0 {
		r.Ladder = tier.SoftLadder
	}
	for range rapid.IntRange(0, 12).Draw(t, "winners") {
		w := Winner{Class: rapid.SampledFrom(provenance.Classes()).Draw(t, "class"), Tokens: size("tokens", 2_000)}
		switch rapid.IntRange(0, 3).Draw(t, "brief") {
		case 0:
		case 1:
			w.Brief = shrink(w.Tokens, 100, 12)
		case 2:
			w.Brief = shrink(w.Tokens, rapid.IntRange(1, 150).Draw(t, "percent"), 0)
		case 3:
			n := token.Count(rapid.IntRange(-100, 3_000).Draw(t, "fixed"))
			w.Brief = func(token.Count) token.Count { return n }
		}
		r.Winners = append(r.Winners, w)
	}
	return r
}

// recount checks a plan against its request, from the request alone.
func recount(r *Request, p *Packing) error {
	sum := r.System + r.Pins + r.Window + r.Query
	demand := sum
	if len(r.Winners) > 0 {
		demand += r.Notice
	}
	if slices.ContainsFunc(p.Choices, func(c Choice) bool { return c.Form != Out }) {
		sum += r.Notice
	}
	for i, w := range r.Winners {
		demand += w.Tokens
		c := p.Choices[i]
		ok := false
		switch c.Form {
		case manifest.FormWhole:
			ok = c.Tokens == w.Tokens
		case manifest.FormBrief:
			ok = 0 < c.Tokens && c.Tokens < w.Tokens
		case Out:
			ok = c.Tokens == 0
		}
		if p.Tier == tier.Core && w.Class != provenance.Verified || p.Tier == tier.Minimal {
			ok = ok && c.Form == Out
		}
		if p.Tier == tier.Soft && w.Class != provenance.Verified {
			ok = ok && c.Form != manifest.FormBrief
		}
		if p.Tier == tier.Summarized && w.Class == provenance.Transcript {
			ok = ok && c.Tokens <= transcriptLimit
		}
		if c.Reason == ReasonNoRoom && p.Tier != tier.Summarized {
			ok = ok && p.Total+r.Notice+w.Tokens > r.Budget
		}
		if !ok || c.Index != i || c.Reason == "" {
			return fmt.Errorf("choice %+v of winner %d, %s with %d tokens, in tier %s", c, i, w.Class, w.Tokens, p.Tier)
		}
		sum += c.Tokens
	}
	if len(p.Choices) != len(r.Winners) || sum != p.Total || demand != p.Demand {
		return fmt.Errorf("%d choices for %d winners; total %d, want %d; demand %d, want %d",
			len(p.Choices), len(r.Winners), p.Total, sum, p.Demand, demand)
	}
	if sum > r.Budget {
		return fmt.Errorf("total %d is over the budget of %d", sum, r.Budget)
	}
	cut := slices.ContainsFunc(p.Choices, func(c Choice) bool {
		return r.Winners[c.Index].Class == provenance.Verified && c.Form != manifest.FormWhole
	})
	none := len(p.Choices) > 0 && !slices.ContainsFunc(p.Choices, func(c Choice) bool { return c.Form != Out })
	if p.Review != (p.Tier == tier.Minimal || p.Tier == tier.Soft && cut || none) {
		return fmt.Errorf("review is %t in tier %s", p.Review, p.Tier)
	}
	return nil
}

// A plan is never over its budget and its sums are right; what must be in the
// context is never cut; equal requests give equal plans.
func TestFitHoldsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawFit(t)
		p, err := Fit(r)
		if floor := r.System + r.Pins + r.Window + r.Query; floor > r.Budget {
			if !isFloor(err) {
				t.Fatalf("a floor of %d under a budget of %d gives %v", floor, r.Budget, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := recount(r, p); err != nil {
			t.Fatal(err)
		}
		again, err := Fit(r)
		if diff := cmp.Diff(p, again); diff != "" || err != nil {
			t.Fatalf("a second plan differs, error %v:\n%s", err, diff)
		}
	})
}

// A larger budget never calls for a lower tier.
func TestFitRisesWithTheBudget(t *testing.T) {
	rank := map[tier.Tier]int{}
	for i, at := range tier.Tiers() {
		rank[at] = i
	}
	rapid.Check(t, func(t *rapid.T) {
		r := drawFit(t)
		r.Tier, r.Ladder = "", tier.Ladder{}
		small, err := Fit(r)
		r.Budget += token.Count(rapid.IntRange(0, 5_000).Draw(t, "more"))
		large, err2 := Fit(r)
		switch {
		case err != nil: // nothing is lower than what does not fit at all
		case err2 != nil:
			t.Fatalf("a larger budget gives %v", err2)
		case rank[large.Tier] > rank[small.Tier]:
			t.Fatalf("a larger budget goes from %s to %s", small.Tier, large.Tier)
		}
	})
}

// Under the default ladder and without force, a winner is left out for want of
// room in the core tier only.
func TestFitLeavesRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawFit(t)
		r.Tier, r.Ladder = "", tier.Ladder{}
		p, err := Fit(r)
		if err != nil {
			return
		}
		for _, c := range p.Choices {
			if c.Reason == ReasonNoRoom && p.Tier != tier.Core {
				t.Fatalf("no room for winner %d in tier %s", c.Index, p.Tier)
			}
		}
	})
}

// The plans for ten thousand requests are the same on every processor.
func TestFitIsPortable(t *testing.T) {
	h := sha256.New()
	state := uint32(1)
	next := func(n uint32) token.Count {
		state = state*1_664_525 + 1_013_904_223
		return token.Count((state >> 8) % n)
	}
	classes := provenance.Classes()
	for range 10_000 {
		r := &Request{Budget: 1_000 + next(4_000), System: next(500), Query: next(100)}
		for range next(12) {
			r.Winners = append(r.Winners, winner(classes[next(uint32(len(classes)))], next(900)))
		}
		p, err := Fit(r)
		fmt.Fprintln(h, p, err)
		fmt.Fprint(h, Fence(Origin{ID: fmt.Sprint(next(1000))}, strings.Repeat("x", int(next(9)))))
	}
	const want = "d872f709d04d5b82963ddd8237412f21f8c39c21b68c018c384e82cc4b66ded9"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the plans is %s, want %s", got, want)
	}
}

func BenchmarkFit(b *testing.B) {
	r := &Request{Budget: 40_000, System: 2_000}
	for i := range 100 {
		r.Winners = append(r.Winners, winner(provenance.Classes()[i%7], 360))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Fit(r); err != nil {
			b.Fatal(err)
		}
	}
}
