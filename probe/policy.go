package probe

import (
	"cmp"
	"fmt"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// Criteria say when a compression is accepted. Of a field that is 0 the
// default is used; a negative one asks for nothing.
type Criteria struct {
	Overall  ratio.Ratio // of all probes that must pass: 90%
	Critical ratio.Ratio // of the critical ones that must pass: 100%
	Ordinary ratio.Ratio // of the others below which there is a warning: 80%
	RedFlag  ratio.Ratio // of all probes below which there is a red flag: 70%
	MaxRatio ratio.Ratio // compression above which there is a red flag: 95%
}

// DefaultPolicy returns the shares of the context-compression skill.
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

// An Acceptance says whether a compression is accepted.
type Acceptance struct {
	Accepted bool     `json:"accepted"`
	Reasons  []string `json:"reasons"`   // why it is not
	Warnings []string `json:"warnings"`  // what is short of a target, and still accepted
	RedFlags []string `json:"red_flags"` // what a person should look at, accepted or not
}

// Judge decides by a policy, of which nil is the default, and by the tokens of what a
// compression was made of and of what it made. A share that is just
// reached is enough. Where there are no probes there is nothing to refuse, but
// a warning.
func (r *Report) Judge(p *Criteria, before, after token.Count) *Acceptance {
	q := p.orDefault()
	v := &Acceptance{Reasons: []string{}, Warnings: []string{}, RedFlags: []string{}}
	if r.Total == 0 {
		v.Warnings = append(v.Warnings, "no probes were asked")
	}
	short := func(list *[]string, what string, t Tally, want ratio.Ratio) {
		if !reaches(t, want) {
			*list = append(*list, fmt.Sprintf("%d of %d %s passed (%s), %s wanted", t.Passed, t.Total, what, t.score().Percent(), want.Percent()))
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

// reaches reports whether a share passed, exactly: it rounds nothing.
func reaches(t Tally, want ratio.Ratio) bool {
	return int64(t.Passed)*int64(ratio.One) >= int64(want)*int64(t.Total)
}
