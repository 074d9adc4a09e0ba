package manifest

import (
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// maxExact is the largest number of a manifest: up to it every reader of JSON
// has whole numbers exactly.
const maxExact = 1<<53 - 1

// Rows is a set of sequence numbers of artifacts, from 1 to 2⁵³−1. The zero
// value is empty. It takes room for each run of numbers without a gap and not
// for each number.
type Rows struct {
	runs []run // ascending, with a gap before each
}

// A run is the numbers from first to last.
type run struct{ first, last int64 }

// NewRows returns the set of the given numbers, in any order. Numbers that are
// out of range are a [*CheckError].
func NewRows(rows ...int64) (Rows, error) {
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	var s Rows
	for _, n := range sorted {
		if n < 1 || n > maxExact {
			return Rows{}, whole("row %d is not from 1 to 2⁵³−1", n)
		}
		if last := len(s.runs) - 1; last >= 0 && n <= s.runs[last].last+1 {
			s.runs[last].last = n
			continue
		}
		s.runs = append(s.runs, run{n, n})
	}
	return s, nil
}

// CollectRows returns the set of the numbers from 1 to n that are in.
func CollectRows(n int64, in func(row int64) bool) Rows {
	var s Rows
	for row := int64(1); row <= n; row++ {
		if !in(row) {
			continue
		}
		if last := len(s.runs) - 1; last >= 0 && s.runs[last].last == row-1 {
			s.runs[last].last = row
		} else {
			s.runs = append(s.runs, run{row, row})
		}
	}
	return s
}

// Contains reports whether n is in the set.
func (s Rows) Contains(n int64) bool {
	i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].last >= n })
	return i < len(s.runs) && s.runs[i].first <= n
}

// Len returns how many numbers are in the set.
func (s Rows) Len() int64 {
	var n int64
	for _, r := range s.runs {
		n += r.last - r.first + 1
	}
	return n
}

// All yields the numbers of the set, ascending.
func (s Rows) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range s.runs {
			for n := r.first; n <= r.last; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// Equal reports whether s and t have the same numbers.
func (s Rows) Equal(t Rows) bool { return slices.Equal(s.runs, t.runs) }

// String returns the shorter of two forms, and the first if they are equally
// long:
//
//	1-312,400       runs, ascending, with a gap between any two
//	b64:1001:BQE    a bitmap of which the first bit is for the row 1001
//
// The bitmap is in base64 without padding. Bit i of its byte j, counted from
// the least significant, is for the row 1001+8j+i. Its first bit is set and so
// is one of its last byte.
func (s Rows) String() string { return string(s.append(nil)) }

// bitmapMark begins a bitmap.
const bitmapMark = "b64:"

// append appends the form of [Rows.String].
func (s Rows) append(dst []byte) []byte {
	if len(s.runs) == 0 {
		return dst
	}
	start := len(dst)
	for i, r := range s.runs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, r.first, 10)
		if r.last > r.first {
			dst = append(dst, '-')
			dst = strconv.AppendInt(dst, r.last, 10)
		}
	}
	length := len(dst) - start
	if s.bitmapLen() >= int64(length) {
		return dst // base64 is longer still
	}
	dst = append(dst, bitmapMark...)
	dst = strconv.AppendInt(dst, s.runs[0].first, 10)
	dst = append(dst, ':')
	dst = base64.RawStdEncoding.AppendEncode(dst, s.bitmap())
	if len(dst)-start < 2*length {
		return slices.Delete(dst, start, start+length)
	}
	return dst[:start+length]
}

// bitmapLen returns the size of the bitmap in bytes. The set is not empty.
func (s Rows) bitmapLen() int64 { return (s.runs[len(s.runs)-1].last-s.runs[0].first)/8 + 1 }

// bitmap returns the bitmap. The set is not empty.
func (s Rows) bitmap() []byte {
	first := s.runs[0].first
	bits := make([]byte, s.bitmapLen())
	for _, r := range s.runs {
		for n := r.first - first; n <= r.last-first; n++ {
			bits[n/8] |= 1 << (n % 8)
		}
	}
	return bits
}

// ParseRows reads what [Rows.String] writes and nothing else: each set has one
// form.
func ParseRows(text string) (Rows, error) {
	s, ok := parseRuns(text)
	if rest, found := strings.CutPrefix(text, bitmapMark); found {
		s, ok = parseBitmap(rest)
	}
	if !ok || s.String() != text {
		return Rows{}, fmt.Errorf("%w: rows %q are not in their one form", ErrFormat, clip(text))
	}
	return s, nil
}

func parseRuns(text string) (Rows, bool) {
	if text == "" {
		return Rows{}, true
	}
	s := Rows{runs: make([]run, 0, strings.Count(text, ",")+1)}
	before := int64(-1) // so that the first may be 1
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.ParseInt(from, 10, 64)
		last := first
		if err == nil && ranged {
			last, err = strconv.ParseInt(to, 10, 64)
		}
		if err != nil || first < before+2 || last < first || last > maxExact {
			return Rows{}, false
		}
		s.runs = append(s.runs, run{first, last})
		before = last
	}
	return s, true
}

func parseBitmap(text string) (Rows, bool) {
	from, data, _ := strings.Cut(text, ":")
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 1 || first > maxExact {
		return Rows{}, false
	}
	bits, err := base64.RawStdEncoding.Strict().DecodeString(data)
	if err != nil {
		return Rows{}, false
	}
	var s Rows
	for j, b := range bits {
		for i := range 8 {
			if b>>i&1 == 0 {
				continue
			}
			n := first + 8*int64(j) + int64(i)
			if n > maxExact {
				return Rows{}, false
			}
			if last := len(s.runs) - 1; last >= 0 && s.runs[last].last == n-1 {
				s.runs[last].last = n
			} else {
				s.runs = append(s.runs, run{n, n})
			}
		}
	}
	return s, true
}
