package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
)

const (
	// leastCandidates is how many of the best blocks a search examines at least for their
	// neighbors, even if it returns fewer results.
	leastCandidates = 64

	// reach is how far apart the numbers of two neighbors can be. Blocks are numbered in the
	// order in which they are stored, so the numbers of sessions that grow at the same time
	// alternate.
	reach = 4
)

// A candidate is a block with its score in a search.
type candidate struct {
	number int64
	ref    store.BlockRef
	score  ratio.Ratio
	best   *retrieval.Best // nil if the block has none of the words, or too few to be among the best
	whole  bool            // the block has every word of the query
}

// candidates returns the blocks in best and their neighbors in the same session, best first. Blocks
// in best that have every word of the query come before all others; a neighbor that is not in best
// does not, even if it has every word. If two blocks are equal, the one that was stored earlier
// comes first.
func (s *search) candidates(ctx context.Context, best []retrieval.Best) ([]candidate, error) {
	all := make(map[int64]*candidate)
	for i := range best {
		all[best[i].ID] = &candidate{number: best[i].ID, score: best[i].Score, best: &best[i], whole: s.whole(&best[i])}
	}
	for i := range best {
		for number := best[i].ID - reach; number <= best[i].ID+reach; number++ {
			if all[number] == nil && s.indexed(number) {
				all[number] = &candidate{number: number}
			}
		}
	}
	numbers := slices.Sorted(maps.Keys(all))
	refs, err := s.e.Store.Numbered(ctx, s.scope, numbers)
	if err != nil {
		return nil, err
	}
	for i, number := range numbers {
		all[number].ref = refs[i]
	}
	for i := range best {
		spread(all, &best[i])
	}
	list := make([]candidate, 0, len(numbers))
	for _, number := range numbers {
		if c := all[number]; c.score > 0 {
			list = append(list, *c)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		if a.whole != b.whole {
			if a.whole {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.score, a.score)
	})
	return list, nil
}

// whole reports whether a block has every word of the query.
func (s *search) whole(b *retrieval.Best) bool {
	for k := range s.terms {
		if !b.Has(s.views, k) {
			return false
		}
	}
	return true
}

// spread adds shares of a block's own score to its neighbors in its session.
func spread(all map[int64]*candidate, b *retrieval.Best) {
	session := all[b.ID].ref.Session
	for _, step := range [2]int64{-1, 1} {
		away := 0
		for number := b.ID + step; away < len(retrieval.NeighborShares) && (number-b.ID)*step <= reach; number += step {
			if c := all[number]; c != nil && c.ref.Session == session && session != "" {
				c.score += retrieval.NeighborShares[away].Mul(b.Score)
				away++
			}
		}
	}
}

// indexed reports whether the index has a block with a number.
func (s *search) indexed(number int64) bool {
	for i := range s.views {
		if at, found := slices.BinarySearch(s.views[i].IDs, number); found && s.views[i].Lengths[at] > 0 {
			return true
		}
	}
	return false
}
