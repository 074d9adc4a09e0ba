package postings

import (
	"errors"
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
		{slices.Concat(of(8, small), of(3, mid)), 11},
		{slices.Repeat(mixed, 4), 0},
		{slices.Repeat(mixed, 4)[1:], 31},
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

// Each 4 KiB of lists have a page.
func TestSegmentsAreSmall(t *testing.T) {
	for size, want := range map[int]int{PageSize: 1, PageSize + 1: 2, 2*PageSize + 1: 4} { // of a word with a posting of a byte, and eight bytes beside
		var x Index
		if x.Add(1, map[string]uint32{strings.Repeat("x", size-9): 1}); len(x.Segment().Pages) != want {
			t.Errorf("of %d bytes there are %d pages, want %d", size, len(x.Segment().Pages), want)
		}
	}
}
