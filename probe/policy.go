package probe

import (
	"cmp"
	"fmt"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// Criteria decide whether a compression is accepted. A field of 0 has its
// default; a negative one disables the criterion.
type Criteria struct {
	Overall  ratio.Ratio // least share of all probes that pass: 90%
	Critical ratio.Ratio // least share of critical probes that pass: 100%
	Ordinary ratio.Ratio // share of ordinary probes below which there is a warning: 80%
	RedFlag  ratio.Ratio // share of all probes below which there is a red flag: 70%
	MaxRatio ratio.Ratio // share of the tokens that are gone, 1 − after/before, above which there is a red flag: 95%
}

// DefaultPolicy returns the default criteria, which are those of the context-compression skill.
func DefaultPolicy() Criteria {
	return Criteria{
		Overall:  ratio.Of(90, 100),
		Critical: ratio.One,
		Ordinary: ratio.Of(80, 100),
		RedFlag:  ratio.Of(70, 100),
		MaxRatio: ratio.Of(95, 100),
	}
}

func (p *Criteria) orDefault() Criteria {
	d := DefaultPolicy()
	if p == nil {
		return d
	}
	return Criteria{
		cmp.Or(p.Overall, d.Overall), cmp.Or(p.Critical, d.Critical), cmp.Or(p.Ordinary, d.Ordinary),
		cmp.Or(p.RedFlag, d.RedFlag), cmp.Or(p.MaxRatio, d.MaxRatio),
	}
}

// An Acceptance is the verdict about a compression.
type Acceptance struct {
	Accepted bool     `json:"accepted"`
	Reasons  []string `json:"reasons"`   // why it is rejected
	Warnings []string `json:"warnings"`  // accepted figures below a target
	RedFlags []string `json:"red_flags"` // signs that a person should check, whatever the verdict
}

// Judge decides by p, or by [DefaultPolicy] if p is nil. before and after
// are the tokens of the compressed blocks and of their replacement. A share
// equal to a threshold suffices. A report without probes is accepted with a
// warning.
func (r *Report) Judge(p *Criteria, before, after token.Count) *Acceptance {
	q := p.orDefault()
	v := &Acceptance{Reasons: []string{}, Warnings: []string{}, RedFlags: []string{}}
	if r.Total == 0 {
		v.Warnings = append(v.Warnings, "no probes were asked")
	}
	short := func(list *[]string, what string, t Tally, want ratio.Ratio) {
		if !reaches(t, want) {
			share := t.score().Percent()
			if share == want.Percent() { // rounded up
				share = "just below " + share
			}
			*list = append(*list, fmt.Sprintf("%d of %d %s passed (%s), and %s must pass", t.Passed, t.Total, what, share, want.Percent()))
		}
	}
	short(&v.Reasons, "probes", r.Tally, q.Overall)
	short(&v.Reasons, "critical probes", r.Critical, q.Critical)
	short(&v.Warnings, "ordinary probes", r.Ordinary, q.Ordinary)
	short(&v.RedFlags, "probes", r.Tally, q.RedFlag)
	if got := ratio.Of(before-after, before); q.MaxRatio > 0 && got > q.MaxRatio {
		v.RedFlags = append(v.RedFlags, fmt.Sprintf("%s of the tokens are gone, %s is too much", got.Percent(), q.MaxRatio.Percent()))
	}
	if before > 0 && after >= before {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d tokens became %d", before, after))
	}
	v.Accepted = len(v.Reasons) == 0
	return v
}

// reaches reports whether the share of the probes that passed is at least the share
// want. It does not round.
func reaches(t Tally, want ratio.Ratio) bool {
	return int64(t.Passed)*int64(ratio.One) >= int64(want)*int64(t.Total)
}
