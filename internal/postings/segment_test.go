package postings

import (
	"errors"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// A merge is due of eight segments of one size class, or of 32 of this and smaller classes. The
// result of a merge counts in the next class, and the largest segments are not merged.
func TestDue(t *testing.T) {
	const (
		tiny  = 4<<10 - 1
		small = 4 << 10
		mid   = 32 << 10
		big   = 256 << 10
		huge  = 2 << 20
	)
	of := func(n int, size int64) []int64 { return slices.Repeat([]int64{size}, n) }
	mixed, larger := append([]int64{small}, of(7, tiny)...), append([]int64{mid}, of(6, small)...)
	for i, tt := range []struct {
		sizes []int64
		from  int
	}{
		{nil, 0},
		{of(7, tiny), 7},
		{of(8, tiny), 0},
		{of(9, 0), 0},
		{slices.Concat(of(2, huge), of(8, tiny)), 2},
		{slices.Concat(of(7, small), of(8, tiny)), 0},
		{slices.Concat(of(6, small), of(8, tiny)), 6},
		{slices.Concat(of(7, big), of(7, mid), of(7, small), of(8, tiny)), 0},
		{slices.Concat(of(6, big), of(6, mid), of(7, small), of(8, tiny)), 12},
		{of(8, mid-1), 0},
		{slices.Concat(of(1, mid), of(7, mid-1)), 8},
		{slices.Concat(of(1, big), of(7, big-1)), 8},
		{of(8, huge-1), 0},
		{of(8, huge), 8},
		{slices.Repeat(mixed, 4), 0},
		{slices.Repeat(mixed, 4)[1:], 31},
		{slices.Concat(of(8, small), of(3, mid)), 11},
		{slices.Concat(of(3, small), slices.Repeat(larger, 4), of(8, tiny)), 0},
		{slices.Concat(of(2, small), slices.Repeat(larger, 4), of(8, tiny)), 30},
	} {
		if got := Due(tt.sizes); got != tt.from {
			t.Errorf("case %d: of %v those from %d on are merged, want %d", i, tt.sizes, got, tt.from)
		}
	}
}

// Bytes that are no documents of a segment: a number is cut, a length is 0 or too large, an id is
// there twice or too large.
func TestDocsThatAreMalformed(t *testing.T) {
	most := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f} // math.MaxInt64
	for data, want := range map[string][]int64{
		"\x00\x01": {0}, "\x00\x01\x01\x01": {0, 1}, string(most) + "\x01": {math.MaxInt64}, "\x01\xff\xff\xff\xff\x0f": {1}, "": nil,
		"\x01": {-1}, "\x80": {-1}, "\x01\x80": {-1}, "\x01\x00": {-1}, "\x01\x01\x00\x01": {-1}, "\x01\x01" + string(most) + "\x01": {-1}, "\x01\x80\x80\x80\x80\x10": {-1},
	} {
		ids, lengths, err := ParseDocs([]byte(data))
		if slices.Equal(want, []int64{-1}) {
			if !errors.Is(err, errMalformed) || ids != nil || lengths != nil {
				t.Errorf("% x are the documents %v: %v", data, ids, err)
			}
		} else if err != nil || !slices.Equal(ids, want) || len(lengths) != len(want) {
			t.Errorf("% x are the documents %v of %v words: %v, want %v", data, ids, lengths, err, want)
		}
	}
}

// Bytes that are no list: a header or a posting is cut, or they disagree.
func TestListsThatAreMalformed(t *testing.T) {
	for data, want := range map[string]bool{
		"": true, "\x00\x00\x01\x05\x01\x01": true, // document 0 once
		"\x00\x03\x01\x05\x01\x07": true, "\x00\x00\x02\x05\x02\x00\x02": true, "\x01\x01\x01\x05\x02\x01\x01": true,
		"\x00": false, "\x00\x00\x01\x05": false, "\x00\x00\x01\x05\x02\x01": false, "\x00\x00\x01\x05\x00": false, "\x00\x00\x01\x05\x02\x01\x01": false,
		"\x00\x01\x01\x05\x01\x01": false, "\x00\x00\x02\x05\x01\x01": false, "\x00\x00\x02\x05\x01\x00": false, "\x00\x00\x01\x05\x01\x03": false, "\x80\x00\x01\x05\x01\x01": false,
		"\x00\xff\xff\xff\xff\x0f\x01\x05\x01\x01": false, "\x00\x00\x01\x80\x80\x80\x80\x10\x01\x01": false, "\x00\x09\x01\x05\x01\x13": true, "\x00\x0a\x01\x05\x01\x15": false,
	} {
		if _, err := parse([]byte(data), 10); (err == nil) != want {
			t.Errorf("% x is read: %v, want %v", data, err == nil, want)
		}
	}
	for data, want := range map[string]bool{"": true, "\x01a\x00": true, "\x01": false, "\x01a": false, "\x01a\x01": false, "\x02a": false, "\x80": false, "\x01a\x01\x00": false} {
		if err := Words([]byte(data), 10, func(string, *List) error { return nil }); (err == nil) != want {
			t.Errorf("the page % x is read: %v, want %v", data, err == nil, want)
		}
		if _, err := Lookup([]byte(data), "a", 10); (err == nil) != want {
			t.Errorf("a word is looked up in the page % x: %v, want %v", data, err == nil, want)
		}
	}
	if err := Words([]byte("\x01a\x00"), 10, func(string, *List) error { return errMalformed }); !errors.Is(err, errMalformed) {
		t.Errorf("the error of the caller is %v", err)
	}
}

// The words of documents come back from the pages of a segment, which another index can join.
func TestSegmentGivesBack(t *testing.T) {
	words := map[int64]map[string]uint32{1: {"lamp": 1, "lens": 3}, 4: {"lamp": 2}, 9: {"bulb": 200}}
	var x, joined Index
	for _, id := range slices.Sorted(maps.Keys(words)) {
		x.Add(id, words[id])
	}
	x.Add(10, nil)
	x.Add(11, map[string]uint32{"lamp": 0})
	s := x.Segment()
	ids, lengths, err := ParseDocs(s.Docs())
	if err != nil || !slices.Equal(ids, []int64{1, 4, 9}) || !slices.Equal(lengths, []uint32{4, 2, 200}) {
		t.Fatalf("documents %v of %v words: %v", ids, lengths, err)
	}
	of := map[int64]map[string]uint32{4: {}, 9: {}}
	if !Lost(of) || Lost(nil) {
		t.Error("empty maps are not lost, or no map is")
	}
	if err := Collect(s.Pages, ids, lengths, of); err != nil || Lost(of) || !maps.Equal(of[4], words[4]) || !maps.Equal(of[9], words[9]) {
		t.Errorf("got %v: %v", of, err)
	}
	if err := Collect(s.Pages, ids, []uint32{4, 3, 200}, of); !errors.Is(err, errMalformed) {
		t.Errorf("with a wrong length: %v", err)
	}
	if err := Collect(s.Pages, ids, []uint32{5, 2, 200}, of); err != nil {
		t.Errorf("with a wrong length of a document that is not asked for: %v", err)
	}
	view := NewView(ids, lengths, func(id int64) bool { return id == 4 }, 2)
	if view.Docs() != 2 || view.Words != 204 || len(view.Lists) != 2 || !slices.Equal(view.Gone, []uint32{1}) || view.Having(0) != 0 || !slices.Equal(lengths, []uint32{4, 0, 200}) {
		t.Errorf("the view is %+v", view)
	}
	if view.Lists[0], err = Lookup(s.Pages[PageOf("lamp", len(s.Pages))], "lamp", 3); err != nil || view.Having(0) != 1 {
		t.Errorf("%d documents have a lamp: %v", view.Having(0), err)
	}
	if err := joined.Join(s.Pages, ids, lengths); err != nil || !slices.Equal(joined.ids, []int64{1, 9}) || joined.words != 204 || joined.list("lamp").Len() != 1 {
		t.Errorf("joined, the documents are %v: %v", joined.ids, err)
	}
	if err := joined.Join([][]byte{{1}}, nil, nil); err == nil {
		t.Error("a malformed page is joined")
	}
	if l := joined.list("bulb"); l.Count(1) != 200 || l.Count(0) != 0 || l.Count(2) != 0 {
		t.Errorf("the bulb occurs %d, %d and %d times", l.Count(0), l.Count(1), l.Count(2))
	}
}

// The postings of removed documents go when there are more than 64 and a sixteenth of all.
func TestSweep(t *testing.T) {
	var x Index
	for id := range int64(160) {
		x.Add(id, map[string]uint32{"lamp": 1})
	}
	for id := range int64(75) {
		x.Remove(id)
		x.Remove(id)
		x.Remove(1000)
		want := int(id) + 1
		if id == 74 {
			want = 0
		}
		if v := x.View([]string{"lamp"}); len(x.gone) != want || v.Having(0) != 159-int(id) || v.Docs() != v.Having(0) || v.Words != uint64(v.Docs()) { //nolint:gosec // it is small
			t.Fatalf("after %d removals %d documents have postings, want %d: %d have the word", id+1, len(x.gone), want, v.Having(0))
		}
	}
}

// A segment has the fewest pages, a power of 2, that give each 4 KiB a page.
func TestPages(t *testing.T) {
	for size, want := range map[int]int{0: 1, PageSize: 1, PageSize + 1: 2, 2 * PageSize: 2, 2*PageSize + 1: 4} {
		var x Index
		if size > 0 { // a posting of one byte, and eight bytes beside
			x.Add(1, map[string]uint32{strings.Repeat("x", size-9): 1})
		}
		if got := len(x.Segment().Pages); got != want {
			t.Errorf("of %d bytes there are %d pages, want %d", size, got, want)
		}
	}
	for _, word := range []string{"", "lamp", "lens"} {
		h := fnv.New64a()
		h.Write([]byte(word))
		if got, want := PageOf(word, 1<<16), int((h.Sum64()^h.Sum64()>>32)&(1<<16-1)); got != want { //nolint:gosec // it is below 1<<16
			t.Errorf("%q is on page %d, want %d", word, got, want)
		}
	}
}
