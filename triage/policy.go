package triage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
)

// A Policy has all parameters of triage. Start from [DefaultPolicy], change
// fields, and call [Policy.Validate].
type Policy struct {
	Classes map[provenance.Class]Scoring // must have every class
	Curve   Curve
	Trust   ratio.Ratio // lowest rank of a class whose rows may be admitted without the flag Promoted
	Admit   int         // greatest number of rows that the first pass admits
	Deep    int         // greatest number of admitted rows that the second pass scores
	Red     ratio.Ratio // lowest score of a red tag
	Yellow  ratio.Ratio // lowest score of a yellow tag; a row below it is green
	Floor   ratio.Ratio // lowest similarity; a row below it is green whatever its score
}

// A Scoring has the parameters for artifacts of one class. The three weights
// sum to 1.
type Scoring struct {
	Recency    ratio.Ratio // weight of R
	Provenance ratio.Ratio // weight of P
	Semantic   ratio.Ratio // weight of S
	Rank       ratio.Ratio // P, from 0 to 1
	HalfLife   time.Duration
}

const day = 24 * time.Hour

// DefaultPolicy returns a new policy. The weights for verified memories,
// retrieved chunks, tool output and scratchpads are those of the article that
// the package comment names; the others are Carrel's own. Scratchpads rank
// below Trust.
func DefaultPolicy() *Policy {
	return &Policy{
		Classes: map[provenance.Class]Scoring{
			provenance.Verified:   {200_000, 500_000, 300_000, 1_000_000, 180 * day},
			provenance.Retrieved:  {400_000, 200_000, 400_000, 700_000, 14 * day},
			provenance.Document:   {300_000, 300_000, 400_000, 700_000, 90 * day},
			provenance.Memory:     {350_000, 250_000, 400_000, 500_000, 30 * day},
			provenance.Transcript: {400_000, 200_000, 400_000, 400_000, 7 * day},
			provenance.Tool:       {500_000, 250_000, 250_000, 400_000, day},
			provenance.Scratchpad: {300_000, 200_000, 500_000, 100_000, day},
		},
		Curve:  CurveHalfLife,
		Trust:  200_000,
		Admit:  50,
		Deep:   20,
		Red:    600_000,
		Yellow: 350_000,
		Floor:  50_000,
	}
}

// Validate returns an error that names an invalid field, or nil. An invalid
// policy gives meaningless scores, but never admits a dead row.
func (p *Policy) Validate() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("invalid triage policy: %w", err)
	}
	return nil
}

// check returns the first invalid field as an error, or nil.
func (p *Policy) check() error {
	for _, c := range provenance.Classes() {
		r, ok := p.Classes[c]
		if !ok {
			return fmt.Errorf("classes: class %s is missing; add its scoring", c)
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("class %s: %w", c, err)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(p.Classes)) {
		if c.Rank() < 0 {
			return fmt.Errorf("%w %q", provenance.ErrClass, c)
		}
	}
	switch {
	case p.Curve != CurveHalfLife && p.Curve != CurveLog:
		return fmt.Errorf("curve is %q, want %s or %s", p.Curve, CurveHalfLife, CurveLog)
	case !isShare(p.Trust):
		return fmt.Errorf("trust is %v, want 0 to 1", p.Trust)
	case p.Admit < 1:
		return fmt.Errorf("admit is %d rows, want at least 1", p.Admit)
	case p.Deep < 1 || p.Deep > p.Admit:
		return fmt.Errorf("deep is %d rows, want 1 to %d, the value of admit", p.Deep, p.Admit)
	case !isShare(p.Floor):
		return fmt.Errorf("floor is %v, want 0 to 1", p.Floor)
	case !isShare(p.Yellow) || !isShare(p.Red) || p.Yellow > p.Red:
		return fmt.Errorf("red is %v and yellow is %v, want 0 <= yellow <= red <= 1", p.Red, p.Yellow)
	}
	return nil
}

func (r Scoring) validate() error {
	switch {
	case r.Recency < 0 || r.Provenance < 0 || r.Semantic < 0:
		return fmt.Errorf("weights are %v, %v, %v, want none below 0", r.Recency, r.Provenance, r.Semantic)
	case r.Recency+r.Provenance+r.Semantic != ratio.One:
		return fmt.Errorf("weights sum to %v, want 1", r.Recency+r.Provenance+r.Semantic)
	case r.Semantic == ratio.One:
		return errors.New("semantic weight is 1, want less: pass one uses the other two weights")
	case !isShare(r.Rank):
		return fmt.Errorf("rank is %v, want 0 to 1", r.Rank)
	case r.HalfLife < time.Millisecond:
		return fmt.Errorf("half-life is %v, want at least 1ms", r.HalfLife)
	}
	return nil
}

// isShare reports whether r lies between 0 and 1.
func isShare(r ratio.Ratio) bool { return 0 <= r && r <= ratio.One }

// Version names the policy, such as "triage/1-2f8c0a31": the version of the
// rules of this package and a digest of all values of the policy. Policies that
// differ have different names.
func (p *Policy) Version() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %d %d %d %d %d\n", p.Curve, p.Trust, p.Admit, p.Deep, p.Red, p.Yellow, p.Floor)
	for _, c := range provenance.Classes() {
		r := p.Classes[c]
		fmt.Fprintf(&b, "%s %d %d %d %d %d\n", c, r.Recency, r.Provenance, r.Semantic, r.Rank, r.HalfLife)
	}
	return "triage/1-" + digest.Of([]byte(b.String())).Short()
}

// Tags counts artifacts by tag. An artifact that is neither scored nor dead
// has no tag.
type Tags struct {
	Red    int `json:"red"`
	Yellow int `json:"yellow"`
	Green  int `json:"green"`
	Black  int `json:"black"`
}

// Add adds n artifacts with a tag.
func (t *Tags) Add(tag manifest.Tag, n int) {
	switch tag {
	case manifest.TagRed:
		t.Red += n
	case manifest.TagYellow:
		t.Yellow += n
	case manifest.TagGreen:
		t.Green += n
	case manifest.TagBlack:
		t.Black += n
	}
}

// tag returns the tag of a final score, for a row whose similarity is not below
// Floor. It never returns [manifest.TagBlack]: dead rows, which are expired or
// refuted, have no score.
func (p *Policy) tag(score ratio.Ratio) manifest.Tag {
	switch {
	case score >= p.Red:
		return manifest.TagRed
	case score >= p.Yellow:
		return manifest.TagYellow
	default:
		return manifest.TagGreen
	}
}
