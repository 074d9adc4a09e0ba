package store

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// FindHits implements [Artifacts.Hits] for all drivers, so that equal stores give equal hits.
//
// FindHits returns at most limit positions, those of the greatest weight first. A word that occurs
// in n artifacts adds 1/n to the weight of each. Let m be a twentieth of the artifacts of the
// scope, at least 200 and at most 1,000, or limit if that is more. A word that m or more artifacts
// have is frequent: only the m newest of them are considered, and n is m. In addition, artifacts
// with both of the two rarest frequent words are searched among the newest 100,000 artifacts.
//
// The parameter last is the position of the last artifact of the scope. The driver's function
// newest finds the artifacts that have all of the words and a position greater than after. It
// returns the positions of the newest of these in any order, at most as many as its parameter most
// says.
func FindHits(terms []string, limit int, last int64, newest func(words []string, after int64, most int) ([]int64, error)) ([]int64, error) {
	const unit, together = 1 << 40, 100_000
	most := max(limit, int(min(max(last/20, 200), 1000)))
	weights := make(map[int64]int64)
	type common struct {
		word  string
		since int64 // position of the oldest considered artifact
	}
	var commons []common
	for _, word := range slices.Compact(slices.Sorted(Words(strings.Join(terms, " ")))) {
		places, err := newest([]string{word}, 0, most)
		if err != nil {
			return nil, err
		}
		for _, place := range places {
			weights[place] += unit / int64(len(places))
		}
		if len(places) == most {
			commons = append(commons, common{word, slices.Min(places)})
		}
	}
	if len(commons) > 1 {
		slices.SortStableFunc(commons, func(a, b common) int { return cmp.Compare(a.since, b.since) })
		places, err := newest([]string{commons[0].word, commons[1].word}, max(0, last-together), most)
		if err != nil {
			return nil, err
		}
		for _, place := range places {
			for _, c := range commons[:2] {
				if place < c.since {
					weights[place] += unit / int64(most)
				}
			}
		}
	}
	hits := slices.SortedFunc(maps.Keys(weights), func(a, b int64) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(b, a))
	})
	return hits[:max(0, min(limit, len(hits)))], nil
}
