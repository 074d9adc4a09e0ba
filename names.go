package carrel

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/facts"
)

// names knows in which blocks of a session each identifier is, so that a stub
// can carry those that the rest of the conversation may need.
type names struct {
	seen map[string]occurrences
}

type occurrences struct {
	blocks int // that have it
	last   int // index of the last block that has it
}

func newNames(h *held) *names {
	n := &names{seen: make(map[string]occurrences)}
	for i, text := range h.texts() {
		facts.Each(text, func(id facts.Identifier) {
			o, ok := n.seen[id.Text]
			if !ok || o.last != i {
				o.blocks++
				o.last = i
				n.seen[id.Text] = o
			}
		})
	}
	return n
}

// weight is how much a kind of identifier is worth a place in a stub.
var weight = map[facts.Kind]int{
	facts.KindURL: 3, facts.KindPath: 4, facts.KindFile: 3, facts.KindEmail: 3, facts.KindKebab: 2, facts.KindSymbol: 2,
	facts.KindNumber: 0,
}

// common is the number of blocks from which on an identifier is so common that
// the window has it anyway.
const common = 12

// of returns at most n identifiers of a text of block i: those that a later
// block has, too, before others; what few blocks have before what many have.
// Numbers count only if they were used again.
func (n *names) of(i int, text string, limit int) []string {
	type scored struct {
		text  string
		score int
	}
	var all []scored
	taken := make(map[string]bool)
	facts.Each(text, func(id facts.Identifier) {
		if taken[id.Text] || len(id.Text) > 120 {
			return
		}
		taken[id.Text] = true
		o := n.seen[id.Text]
		score := weight[id.Kind]
		if o.last > i {
			score += 5
		}
		if o.blocks >= common {
			score -= 4
		}
		if score > 0 {
			all = append(all, scored{id.Text, score})
		}
	})
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]string, 0, limit)
	for _, s := range all[:min(limit, len(all))] {
		out = append(out, s.text)
	}
	return out
}
