package assembly

import (
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// Out is the form of a winner that is left out of the context.
const Out manifest.Form = "out"

// A Winner is a text that ranked high enough to enter a context. [Fit] decides whether it enters
// whole, in a brief form, or not at all. Sizes include the two lines that [Fence] puts around it.
type Winner struct {
	Class  provenance.Class
	Tokens token.Count // size of the whole text

	// Brief returns the size of a brief form of the text with at most limit
	// tokens, or 0 if there is no such form. If Brief is nil, there is none.
	Brief func(limit token.Count) token.Count
}

// A Request has the sizes from which [Fit] makes a plan. Sizes are at least 0.
type Request struct {
	Budget token.Count // the reserve for the reply is already taken off
	Ladder tier.Ladder // DefaultLadder if zero
	Tier   tier.Tier   // forced, one of tier.Known; if empty, the demand decides

	// What must be in the context, in every tier.
	System, Pins, Window, Query token.Count

	Notice token.Count // size of a text before the first winner, such as [Preamble]; it counts once if a winner is in

	Winners []Winner // best first
}

// A Choice is the decision about one winner.
type Choice struct {
	Index  int // index in Request.Winners
	Form   manifest.Form
	Tokens token.Count // in that form; 0 if the winner is left out
	Reason Reason      // why it has this form
}

// A Packing is the plan for the content of a context.
type Packing struct {
	Demand  token.Count // size of everything, before any cut
	Total   token.Count // size of the plan; at most the budget
	Share   ratio.Ratio // Demand / Budget
	Tier    tier.Tier
	Review  bool     // true if a person should look, because too little of the candidates is in
	Choices []Choice // one for each winner, in the same order
}

// A Reason is the reason for a decision of [Fit] or [Gate]. It is stored as its text.
//
// A whole [Choice] has the reason "fits"; a brief one "transcript" (below the full tier,
// transcripts are brief), "demand" (to bring the total under the full tier) or "room" (the whole
// does not fit); one that is out "no room", "not verified" or "minimal" (the tier does not take
// it), or "no brief form" (of a transcript).
type Reason string

// The reasons of a [Choice].
const (
	reasonFits       Reason = "fits"          // whole
	reasonTranscript Reason = "transcript"    // brief: below the full tier, transcripts are brief
	reasonDemand     Reason = "demand"        // brief: to bring the total under the full tier
	reasonRoom       Reason = "room"          // brief: the whole does not fit
	ReasonNoRoom     Reason = "no room"       // out: no form fits
	reasonUnverified Reason = "not verified"  // out: the tier takes only texts that a person verified
	reasonMinimal    Reason = "minimal"       // out: the tier takes no winner
	reasonNoBrief    Reason = "no brief form" // out: a transcript that has no brief form
)

// A FloorError lists the required parts of a context whose sum Need exceeds the budget. Get it with
// errors.As.
type FloorError struct {
	Budget, Need                token.Count
	System, Pins, Window, Query token.Count
}

func (e *FloorError) Error() string {
	return fmt.Sprintf("a budget of %d tokens is too small: %d are needed (system text %d, pins %d, window %d, query %d)",
		e.Budget, e.Need, e.System, e.Pins, e.Window, e.Query)
}

// minBrief is the least limit of a brief form in the summarized tier, in
// tokens.
const minBrief token.Count = 50

// Fit returns the plan for a request. The tier follows from the demand, unless
// it is forced:
//
//   - full: every winner, whole
//   - summarized: transcripts in at most 200 tokens; then, from
//     the last winner upward, the others in half their tokens, until the total
//     is below the share of the budget at which this tier begins
//   - core: only texts of the class [provenance.Verified], which a person verified;
//     brief if the whole does not fit
//   - minimal: no winner, and Review is set
//   - soft, of [tier.SoftLadder]: texts that a person verified first, as in the core tier,
//     then the others, whole; Review is set if a verified text is not whole
//
// In every tier Review is set if there are winners and none of them is in the context.
// A winner whose form does not fit is left out, and the next winner is tried. So the total is
// within the budget in every tier, under every ladder.
//
// Fit returns a [FloorError] if the required parts exceed the budget, and an error if the
// forced tier is unknown.
func Fit(r *Request) (*Packing, error) {
	floor := r.System + r.Pins + r.Window + r.Query
	if floor > r.Budget {
		return nil, &FloorError{
			Budget: r.Budget, Need: floor,
			System: r.System, Pins: r.Pins, Window: r.Window, Query: r.Query,
		}
	}
	ladder := r.Ladder
	if ladder == (tier.Ladder{}) {
		ladder = tier.DefaultLadder
	}
	demand := floor
	if len(r.Winners) > 0 {
		demand += r.Notice
	}
	for i := range r.Winners {
		demand += r.Winners[i].Tokens
	}
	at := r.Tier
	if at == "" {
		at = ladder.Tier(int64(demand), int64(r.Budget))
	}
	if !slices.Contains(tier.Known(), at) {
		return nil, fmt.Errorf("unknown tier %q: want one of %v", at, tier.Known())
	}
	p := &Packing{
		Demand: demand, Total: floor, Tier: at,
		Share:   ratio.Of(demand, r.Budget),
		Review:  at == tier.Minimal,
		Choices: choices(r, at, ladder, demand),
	}
	p.fill(r)
	used := slices.ContainsFunc(p.Choices, func(c Choice) bool { return c.Form != Out })
	p.Review = p.Review || len(r.Winners) > 0 && !used
	return p, nil
}

// choices returns the form that each winner has in a tier if the budget has room for it.
func choices(r *Request, at tier.Tier, ladder tier.Ladder, total token.Count) []Choice {
	cs := make([]Choice, len(r.Winners))
	for i := range cs {
		w := &r.Winners[i]
		switch {
		case at == tier.Minimal:
			cs[i] = Choice{i, Out, 0, reasonMinimal}
		case at == tier.Core && w.Class != provenance.Verified:
			cs[i] = Choice{i, Out, 0, reasonUnverified}
		default:
			cs[i] = Choice{i, manifest.FormWhole, w.Tokens, reasonFits}
		}
	}
	if at == tier.Summarized {
		summarize(r, cs, ladder, total)
	}
	return cs
}

// summarize changes choices to the brief form, as [Fit] describes for the tier summarized.
// total is the size of the plan before.
func summarize(r *Request, cs []Choice, ladder tier.Ladder, total token.Count) {
	for i := range cs {
		w := &r.Winners[i]
		if w.Class != provenance.Transcript || w.Tokens <= transcriptLimit {
			continue
		}
		cs[i] = Choice{i, Out, 0, reasonNoBrief}
		if n := w.brief(transcriptLimit); n > 0 {
			cs[i] = Choice{i, manifest.FormBrief, n, reasonTranscript}
		}
		total -= w.Tokens - cs[i].Tokens
	}
	for i := len(cs) - 1; i >= 0; i-- {
		if ladder.Tier(int64(total), int64(r.Budget)) == tier.Full {
			return
		}
		w := &r.Winners[i]
		if w.Class == provenance.Transcript {
			continue
		}
		if n := w.brief(max(w.Tokens/2, minBrief)); n > 0 {
			cs[i] = Choice{i, manifest.FormBrief, n, reasonDemand}
			total -= w.Tokens - n
		}
	}
}

// brief returns the tokens of the brief form under limit, or 0 if there is none that is shorter
// than the whole.
func (w *Winner) brief(limit token.Count) token.Count {
	if w.Brief == nil || limit <= 0 {
		return 0
	}
	if n := w.Brief(limit); n > 0 && n <= limit && n < w.Tokens {
		return n
	}
	return 0
}

// fill adds the choices to the total, best first, as far as they fit. In the soft tier,
// verified texts go first. In the core and soft tiers, a verified text that does not fit whole
// is tried in its brief form.
func (p *Packing) fill(r *Request) {
	notice := r.Notice // not yet added to the total
	for _, i := range p.order(r) {
		c := &p.Choices[i]
		if c.Form == Out {
			continue
		}
		verified := r.Winners[i].Class == provenance.Verified
		if room := r.Budget - p.Total - notice; c.Tokens > room {
			*c = Choice{i, Out, 0, ReasonNoRoom}
			if verified && (p.Tier == tier.Core || p.Tier == tier.Soft) {
				p.Review = p.Tier == tier.Soft
				if n := r.Winners[i].brief(room); n > 0 {
					*c = Choice{i, manifest.FormBrief, n, reasonRoom}
				}
			}
		}
		if c.Form != Out {
			p.Total += c.Tokens + notice
			notice = 0
		}
	}
}

// order returns the indexes of the winners in the order in which fill adds them.
func (p *Packing) order(r *Request) []int {
	order := make([]int, len(p.Choices))
	for i := range order {
		order[i] = i
	}
	if p.Tier == tier.Soft {
		last := func(i int) int {
			if r.Winners[i].Class == provenance.Verified {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(order, func(i, j int) int { return last(i) - last(j) })
	}
	return order
}
