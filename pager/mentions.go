package pager

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/facts"
)

// Mentions knows in which blocks of a session each identifier occurs, so that
// a stub can name those that the rest of the conversation may need.
type Mentions struct {
	blocks [][]mention // of each block, in the order of its text
}

// A mention is the first occurrence of an identifier in a block.
type mention struct {
	id   facts.Identifier
	at   int // offset in the block's text
	seen *occurrences
}

// occurrences counts the blocks of a session with an identifier.
type occurrences struct {
	blocks int // number of blocks with the identifier
	last   int // index of the last such block
}

// NewMentions finds the identifiers of a session. texts has the text of each block.
func NewMentions(texts []string) *Mentions {
	n := &Mentions{blocks: make([][]mention, len(texts))}
	seen := make(map[string]*occurrences)
	for i, text := range texts {
		facts.Each(text, func(id facts.Identifier, at int) {
			o := seen[id.Text]
			switch {
			case o == nil:
				o = new(occurrences)
				seen[id.Text] = o
			case o.last == i:
				return
			}
			o.blocks++
			o.last = i
			n.blocks[i] = append(n.blocks[i], mention{id, at, o})
		})
	}
	return n
}

// weight is the base score of each kind of identifier for a place in a stub.
var weight = map[facts.Kind]int{
	facts.KindURL: 3, facts.KindPath: 4, facts.KindFile: 3, facts.KindEmail: 3, facts.KindKebab: 2, facts.KindSymbol: 2,
	facts.KindHash: 2, facts.KindID: 2, facts.KindVersion: 1, facts.KindQuantity: 0, facts.KindNumber: 0,
}

const (
	// common is the number of blocks from which on an identifier is common. A
	// common identifier has a lower score, because it is probably in the window
	// anyway.
	common = 12

	// longest is the length of the longest identifier that a stub repeats.
	longest = 120
)

// score returns the score of a mention in block i for a place in its stub. An
// identifier that a later block uses again scores higher, and a common one lower.
// Numbers score above 0 only if a later block uses them again.
func (m *mention) score(i int) int {
	if len(m.id.Text) > longest {
		return 0
	}
	score := weight[m.id.Kind]
	if m.seen.last > i {
		score += 5
	}
	if m.seen.blocks >= common {
		score -= 4
	}
	return score
}

// Of returns at most limit identifiers of block i, best first. It returns only
// those whose first occurrence in the text of the block is between the bytes
// from and to.
func (n *Mentions) Of(i, from, to, limit int) []string {
	type scored struct {
		text  string
		score int
	}
	var all []scored
	for k := range n.blocks[i] {
		m := &n.blocks[i][k]
		if m.at < from || m.at >= to {
			continue
		}
		if s := m.score(i); s > 0 {
			all = append(all, scored{m.id.Text, s})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]string, 0, limit)
	for _, s := range all[:min(limit, len(all))] {
		out = append(out, s.text)
	}
	return out
}
