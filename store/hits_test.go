package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/store"
)

// A corpus simulates a scope with artifacts at the positions 1 to last. The artifacts at
// multiples of 7 have the word "k7", those one behind a multiple have "r7", and the one at 7 has
// "at7"; other numbers likewise.
type corpus struct {
	last  int64
	asked []string // the calls of newest, in short
	fail  int      // the call of newest that fails, counted from 1; 0 means none
}

func (*corpus) has(word string, place int64) bool {
	if n, err := strconv.ParseInt(word[1:], 10, 64); err == nil {
		return word[0] == 'k' && place%n == 0 || word[0] == 'r' && place%n == 1
	}
	n, err := strconv.ParseInt(word[2:], 10, 64)
	return err == nil && place == n
}

var errCorpus = errors.New("the corpus fails")

func (c *corpus) newest(words []string, after int64, most int) (places []int64, err error) {
	c.asked = append(c.asked, fmt.Sprint(words, " after ", after, ", ", most, " at most"))
	if len(c.asked) == c.fail {
		return []int64{1}, errCorpus
	}
	for place := c.last; place > after && len(places) < most; place-- {
		if !slices.ContainsFunc(words, func(w string) bool { return !c.has(w, place) }) {
			places = append(places, place)
		}
	}
	slices.Sort(places) // FindHits accepts any order
	return places, nil
}

// hitsOf is a plain implementation of FindHits to compare with. words are the words of the
// terms; most is the number of artifacts that are considered for one word.
func (c *corpus) hitsOf(words []string, limit, most int) []int64 {
	const unit = 1 << 40
	weights := make(map[int64]int64)
	since := make(map[string]int64)
	var commons []string
	for _, w := range words {
		var considered []int64
		for place := c.last; place > 0 && len(considered) < most; place-- {
			if c.has(w, place) {
				considered = append(considered, place)
			}
		}
		for _, place := range considered {
			weights[place] += unit / int64(len(considered))
		}
		if len(considered) == most {
			since[w] = considered[most-1]
			commons = append(commons, w)
		}
	}
	slices.SortStableFunc(commons, func(a, b string) int { return cmp.Compare(since[a], since[b]) })
	if len(commons) > 1 {
		both := 0
		for place := c.last; place > max(0, c.last-100_000) && both < most; place-- {
			if !c.has(commons[0], place) || !c.has(commons[1], place) {
				continue
			}
			both++
			for _, w := range commons[:2] {
				if place < since[w] {
					weights[place] += unit / int64(most)
				}
			}
		}
	}
	hits := slices.SortedFunc(maps.Keys(weights), func(a, b int64) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(b, a)) })
	return hits[:min(limit, len(hits))]
}

// Artifacts with rarer or more words come first. An artifact with two very frequent words is
// found although it is not among the newest of either.
func TestFindHits(t *testing.T) {
	for _, tt := range []struct {
		last  int64
		limit int
		most  int // considered artifacts for one word
		words []string
	}{
		{100, 9, 200, []string{"k2", "k3", "at7"}},
		{199, 300, 300, []string{"k1", "k2"}},
		{200, 99, 200, []string{"k1"}},
		{200, 99, 200, []string{"k1", "k2"}},
		{1000, 190, 200, []string{"r2", "r3"}},
		{4020, 150, 201, []string{"k2", "k3"}},
		{5000, 200, 250, []string{"k1", "k2", "k3"}},
		{5000, 250, 250, []string{"k6", "k7"}},
		{5040, 252, 252, []string{"k5", "k12", "k2", "at12"}},
		{19_999, 500, 999, []string{"k3", "k7", "k11"}},
		{20_000, 500, 1000, []string{"k13", "k17"}},
		{50_000, 900, 1000, []string{"k2", "k3", "at5"}},
		{50_000, 3000, 3000, []string{"k2", "k3"}},
		{250_000, 1000, 1000, []string{"k40", "k99"}},
		{250_000, 1000, 1000, []string{"k2", "k99", "at150000", "at150001"}},
		{250_000, 0, 1000, []string{"k2", "k99"}},
		{0, 9, 200, []string{"k1"}},
	} {
		c := &corpus{last: tt.last}
		got, err := store.FindHits(tt.words, tt.limit, tt.last, c.newest)
		if err != nil {
			t.Fatal(err)
		}
		words := slices.Sorted(slices.Values(tt.words))
		if diff := gocmp.Diff(c.hitsOf(words, tt.limit, tt.most), got); diff != "" && len(got) > 0 {
			t.Errorf("%q among %d, %d at most (-want +got):\n%s", tt.words, tt.last, tt.limit, diff)
		}
		for _, asked := range c.asked {
			if want := fmt.Sprint(", ", tt.most, " at most"); asked[len(asked)-len(want):] != want {
				t.Errorf("%q among %d: asked for %s, want %d at most", tt.words, tt.last, asked, tt.most)
			}
		}
	}
	c := &corpus{last: 250_000}
	got, err := store.FindHits([]string{"k40 K99", "k99", "k3"}, -1, c.last, c.newest)
	if err != nil || len(got) != 0 {
		t.Errorf("with a limit below 0: %v, %v", got, err)
	}
	want := []string{"[k3] after 0, 1000 at most", "[k40] after 0, 1000 at most", "[k99] after 0, 1000 at most", "[k99 k40] after 150000, 1000 at most"}
	if diff := gocmp.Diff(want, c.asked); diff != "" {
		t.Errorf("it asks (-want +got):\n%s", diff)
	}
	for fail := range want {
		c := &corpus{last: 250_000, fail: fail + 1}
		if got, err := store.FindHits([]string{"k3", "k40", "k99"}, 9, c.last, c.newest); !errors.Is(err, errCorpus) || got != nil {
			t.Errorf("question %d fails: %v, %v", fail+1, got, err)
		}
	}
}
