package facts

import (
	"cmp"
	"slices"
)

// A Contribution is the weight that one feature adds to a chance.
type Contribution struct {
	Feature string `json:"feature"` // see [FeaturesOfNames] and [FeaturesOfLines]
	Bin     string `json:"bin"`
	Weight  int    `json:"weight"` // in thousandths of a unit of log odds
}

// ExplainName returns the contributions of a name's features, the largest
// absolute value first. Zero contributions are omitted.
func (m *Model) ExplainName(f NameFeatures) []Contribution {
	return m.Names.explain(f[:], FeaturesOfNames())
}

// ExplainLine returns the contributions of a line's features, the largest
// absolute value first. Zero contributions are omitted.
func (m *Model) ExplainLine(f LineFeatures) []Contribution {
	return m.Lines.explain(f[:], FeaturesOfLines())
}

func (c *Card) explain(bins []uint8, features []Feature) []Contribution {
	list := make([]Contribution, 0, len(bins))
	for f, b := range bins {
		if w := c.Weights[f][b]; w != 0 {
			list = append(list, Contribution{features[f].Name, features[f].Bins[b], w})
		}
	}
	slices.SortStableFunc(list, func(a, b Contribution) int { return cmp.Compare(max(b.Weight, -b.Weight), max(a.Weight, -a.Weight)) })
	return list
}
