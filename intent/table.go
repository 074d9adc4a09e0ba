package intent

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// outcomes are the possible results for a prompt: passing through (empty), or a verb.
var outcomes = append([]Verb{""}, Verbs()...)

// weights has the weight of a feature for each outcome, in the order of outcomes.
type weights [8]int32

// A table maps the names of features to their weights.
type table map[string]*weights

// weightList is computed by TestWeights. A row has the name of a feature, a tab, and its
// weights.
//
//go:embed weights.txt
var weightList string

var defaultTable = lazy.Value[table]{Make: func() table {
	t := make(table)
	for row := range strings.Lines(weightList) {
		name, list, _ := strings.Cut(row, "\t")
		w, k := new(weights), 0
		for number := range strings.FieldsSeq(list) {
			v, _ := strconv.Atoi(number) // TestWeights wrote the number
			w[k] = int32(v)
			k++
		}
		t[name] = w
	}
	return t
}}

// passLead is the lead that passing through needs over the verbs if no rule says that the prompt
// passes through. verbLead is the lead that a verb needs if a rule says so; it is larger because
// the rules for small talk seldom match a request. In units of log-odds, which are 64, they are
// a half and one.
const (
	passLead = 32
	verbLead = 64
)

// A judgment is the outcome of the table for a prompt.
type judgment struct {
	verb Verb
	at   int // if the rules disagree, the token that speaks most for the verb; or -1
}

// judge returns the outcome with the largest sum of weights.
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
		sum[0] -= passLead
	} else {
		sum[0] += verbLead
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
