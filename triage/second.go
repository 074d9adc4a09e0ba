package triage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
)

// Scored is a candidate with its final score.
type Scored struct {
	Candidate
	Semantic ratio.Ratio // S, between 0 and 1
	Score    ratio.Ratio // wR·R + wP·P + wS·S
	Tag      manifest.Tag
}

// errSemantic is the error of a semantic function that returns too few or too many similarities.
var errSemantic = errors.New("the semantic function must return one similarity for each row")

// Second makes the second pass over the shortlist of f and returns it by
// score, best first; ties go to the lower row.
//
// It calls semantic once with the rows of [First.Shortlist] in that order, or
// not at all if there are none. Similarities below 0 count as 0, above 1 as 1.
// It fails if semantic fails or does not return one similarity for each row.
func (p *Policy) Second(f *First, semantic func(rows []int) ([]ratio.Ratio, error)) ([]Scored, error) {
	list := f.Shortlist()
	if len(list) == 0 {
		return nil, nil
	}
	rows := make([]int, len(list))
	for i, c := range list {
		rows[i] = c.Row
	}
	similar, err := semantic(rows)
	if err != nil {
		return nil, fmt.Errorf("semantic scores of %d rows: %w", len(rows), err)
	}
	if len(similar) != len(list) {
		return nil, fmt.Errorf("%w: got %d for %d rows", errSemantic, len(similar), len(list))
	}
	scored := make([]Scored, len(list))
	for i, c := range list {
		scored[i] = p.score(c, similar[i])
	}
	slices.SortFunc(scored, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return scored, nil
}

// score returns the final score of a candidate, rounded once.
func (p *Policy) score(c Candidate, s ratio.Ratio) Scored {
	s = min(max(s, 0), ratio.One)
	r := p.Classes[c.Class]
	score := (r.Recency*c.Recency + r.Provenance*c.Provenance + r.Semantic*s + ratio.One/2) / ratio.One
	tag := p.tag(score)
	if s < p.Floor {
		tag = manifest.TagGreen
	}
	return Scored{Candidate: c, Semantic: s, Score: score, Tag: tag}
}
