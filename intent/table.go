package intent

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// outcomes are what a prompt can be taken for: it passes through, or one of the
// verbs.
var outcomes = append([]Verb{""}, Verbs()...)

// weights are how much a feature speaks for each outcome, in the order of
// outcomes.
type weights [8]int32

// A table has the weights of features by their names.
type table map[string]*weights

// The weights of the package, which TestWeights makes. A row has the name of a
// feature, a tab, and its weights.
//
//go:embed weights.txt
var weightList string

var weighing = lazy.Value[table]{Make: func() table {
	t := make(table)
	for row := range strings.Lines(weightList) {
		name, list, _ := strings.Cut(row, "\t")
		w, k := new(weights), 0
		for number := range strings.FieldsSeq(list) {
			v, _ := strconv.Atoi(number) // TestWeights has written it
			w[k] = int32(v)
			k++
		}
		t[name] = w
	}
	return t
}}

// doubt is how far ahead passing through must be if no rule says that a prompt
// does, and trust how far ahead a verb must be if one does: the rules for small talk
// hardly ever take a request for it. They are half of what one in the logarithm of
// the odds is, and one.
const (
	doubt = 32
	trust = 64
)

// A judgment says what a prompt is taken for.
type judgment struct {
	verb Verb
	at   int // where the rules say something else, the token that speaks most against them, or -1
}

// judge takes a prompt for the outcome that its features speak for most.
func (t table) judge(c *compiler, f *finding) judgment {
	type hit struct {
		*weights

		at int
	}
	var hits []hit
	seen := make(map[*weights]bool)
	c.features(f, func(name []byte, at int) {
		if w := t[string(name)]; w != nil && !seen[w] {
			seen[w] = true
			hits = append(hits, hit{w, at})
		}
	})
	var sum weights
	for _, h := range hits {
		for k, w := range h.weights {
			sum[k] += w
		}
	}
	if f.pass == "" {
		sum[0] -= doubt
	} else {
		sum[0] += trust
	}
	best := slices.Index(sum[:], slices.Max(sum[:]))
	j := judgment{verb: outcomes[best], at: -1}
	rule := slices.Index(outcomes, f.verb())
	if best == rule {
		return j
	}
	speaks := make([]int32, len(c.tokens))
	for _, h := range hits {
		if h.at >= 0 {
			speaks[h.at] += h.weights[best] - h.weights[rule]
		}
	}
	for at, s := range speaks {
		if s > 0 && (j.at < 0 || s > speaks[j.at]) {
			j.at = at
		}
	}
	return j
}
