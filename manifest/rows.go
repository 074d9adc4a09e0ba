package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"iter"
	mathbits "math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// maxExact is the largest number of a manifest. Up to it, every JSON reader represents whole
// numbers exactly.
const maxExact = 1<<53 - 1

// Rows is a set of sequence numbers of artifacts, from 1 to 2⁵³−1. The zero value is empty. It
// is stored as runs of consecutive numbers or as a bitmap, whichever is shorter to write.
type Rows struct {
	runs []run // ascending, with a gap before each; nil if there is a bitmap

	first int64  // number of bit 0 of bits
	bits  []byte // bit i of byte j is number first+8j+i; the first bit and a bit of the last byte are set
}

// A run is the numbers from first to last.
type run struct{ first, last int64 }

// NewRows returns the set of the given numbers, which may be in any order. For numbers out of
// range it fails with a [*CheckError].
func NewRows(rows ...int64) (Rows, error) {
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	var s Rows
	for _, n := range sorted {
		if n < 1 || n > maxExact {
			return Rows{}, whole("row %d is not from 1 to 2⁵³−1", n)
		}
		s.push(n)
	}
	return s.shorter(), nil
}

// BitRows returns the set of the numbers whose bits are set: bit i of byte j, counted from the
// least significant bit, is number 1+8j+i. It does not keep a reference to bits.
func BitRows(bits []byte) Rows {
	first := slices.IndexFunc(bits, func(b byte) bool { return b != 0 })
	if first < 0 {
		return Rows{}
	}
	for bits[len(bits)-1] == 0 {
		bits = bits[:len(bits)-1]
	}
	bits = bits[first:]
	shift := mathbits.TrailingZeros8(bits[0])
	return Rows{first: int64(8*first+shift) + 1, bits: shiftDown(bits, shift)}.shortest()
}

// shortest returns s, which has a bitmap, in the shorter of the two forms.
func (s Rows) shortest() Rows {
	// Each run but the first takes at least a comma and as many digits as the first number. If
	// that lower bound is longer than the bitmap, the exact length of the runs does not matter.
	if s.countRuns()*(digits(s.first)+1)-1 > s.bitmapLen() {
		return s
	}
	var t Rows
	for n := range s.all() {
		t.push(n)
	}
	return t.shorter()
}

// shiftDown shifts all bits down by less than 8 places and drops a last byte that becomes
// empty.
func shiftDown(bits []byte, by int) []byte {
	out := make([]byte, 0, len(bits)+8)
	for at := 0; at < len(bits); at += 8 {
		out = binary.LittleEndian.AppendUint64(out, word(bits, int64(at), by))
	}
	if out = out[:len(bits)]; out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// word returns 64 bits that begin at a bit of byte at. Bits beyond the end are 0. Eight bytes
// at a time are fast enough for bitmaps of millions of rows.
func word(bits []byte, at int64, bit int) uint64 {
	var end [9]byte
	nine := bits[min(at, int64(len(bits))):]
	if len(nine) < len(end) {
		copy(end[:], nine)
		nine = end[:]
	}
	return binary.LittleEndian.Uint64(nine)>>bit | uint64(nine[8])<<(64-bit)
}

// countRuns returns how many runs the numbers of a bitmap would need.
func (s Rows) countRuns() int64 {
	n, before := 0, uint64(0) // highest bit of the previous word
	for at := 0; at < len(s.bits); at += 8 {
		w := word(s.bits, int64(at), 0)
		n += mathbits.OnesCount64(w &^ (w<<1 | before))
		before = w >> 63
	}
	return int64(n)
}

// push adds a number that is not less than any number of the set.
func (s *Rows) push(n int64) {
	if last := len(s.runs) - 1; last >= 0 && n <= s.runs[last].last+1 {
		s.runs[last].last = n
		return
	}
	s.runs = append(s.runs, run{n, n})
}

// shorter returns the same set in the form that is shorter to write: as runs or
// as a bitmap.
func (s Rows) shorter() Rows {
	if len(s.runs) == 0 {
		return Rows{}
	}
	b := Rows{first: s.runs[0].first}
	size := (s.runs[len(s.runs)-1].last-b.first)/8 + 1
	length := int64(len(s.appendRuns(nil)))
	if size >= length {
		return s // the bitmap is longer still in base64
	}
	b.bits = make([]byte, size)
	if b.bitmapLen() >= length {
		return s
	}
	for _, r := range s.runs {
		for n := r.first - b.first; n <= r.last-b.first; n++ {
			b.bits[n/8] |= 1 << (n % 8)
		}
	}
	return b
}

// contains reports whether n is in the set.
func (s Rows) contains(n int64) bool {
	if s.bits != nil {
		n -= s.first
		return n >= 0 && n < 8*int64(len(s.bits)) && s.bits[n/8]>>(n%8)&1 == 1
	}
	i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].last >= n })
	return i < len(s.runs) && s.runs[i].first <= n
}

// Len returns how many numbers are in the set.
func (s Rows) Len() int64 {
	n := int64(0)
	for at := 0; at < len(s.bits); at += 8 {
		n += int64(mathbits.OnesCount64(word(s.bits, int64(at), 0)))
	}
	for _, r := range s.runs {
		n += r.last - r.first + 1
	}
	return n
}

// all yields the numbers of the set, ascending.
func (s Rows) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for j, b := range s.bits {
			for ; b != 0; b &= b - 1 {
				if !yield(s.first + int64(8*j+mathbits.TrailingZeros8(b))) {
					return
				}
			}
		}
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
func (s Rows) Equal(t Rows) bool {
	return slices.Equal(s.runs, t.runs) && s.first == t.first && bytes.Equal(s.bits, t.bits)
}

// meets returns the lowest number in both sets, and false if there is none.
func (s Rows) meets(t Rows) (int64, bool) {
	switch {
	case s.bits == nil && t.bits == nil:
		for i, k := 0, 0; i < len(s.runs) && k < len(t.runs); {
			a, b := s.runs[i], t.runs[k]
			switch {
			case a.last < b.first:
				i++
			case b.last < a.first:
				k++
			default:
				return max(a.first, b.first), true
			}
		}
		return 0, false
	case s.bits == nil:
		return t.meets(s)
	case t.bits == nil:
		for _, r := range t.runs {
			last := s.first + 8*int64(len(s.bits)) - 1
			for n := max(r.first, s.first); n <= min(r.last, last); n++ {
				if s.contains(n) {
					return n, true
				}
			}
		}
		return 0, false
	case s.first > t.first:
		return t.meets(s)
	}
	// Byte j of t begins at bit 8j+skip of s.
	skip := t.first - s.first
	for j := int64(0); j < int64(len(t.bits)) && skip/8+j < int64(len(s.bits)); j += 8 {
		if both := word(s.bits, skip/8+j, int(skip%8)) & word(t.bits, j, 0); both != 0 {
			return t.first + 8*j + int64(mathbits.TrailingZeros64(both)), true
		}
	}
	return 0, false
}

// String returns the shorter of two forms, or the first if both are equally long:
//
//	1-312,400       ascending runs, with a gap between any two
//	b64:1001:BQE    a bitmap whose first bit is row 1001
//
// The bitmap is base64 without padding. Bit i of byte j, counted from the
// least significant, is row 1001+8j+i. Its first bit and a bit of its last
// byte are set.
func (s Rows) String() string { return string(s.append(nil)) }

// bitmapMark begins a bitmap.
const bitmapMark = "b64:"

// append appends the set in the form that [Rows.String] returns.
func (s Rows) append(dst []byte) []byte {
	if s.bits == nil {
		return s.appendRuns(dst)
	}
	dst = append(dst, bitmapMark...)
	dst = strconv.AppendInt(dst, s.first, 10)
	dst = append(dst, ':')
	return base64.RawStdEncoding.AppendEncode(dst, s.bits)
}

func (s Rows) appendRuns(dst []byte) []byte {
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
	return dst
}

// bitmapLen returns the length of the text of a bitmap.
func (s Rows) bitmapLen() int64 {
	return int64(len(bitmapMark)) + digits(s.first) + 1 + int64(base64.RawStdEncoding.EncodedLen(len(s.bits)))
}

// digits returns the number of digits of n, which must be at least 1.
func digits(n int64) int64 {
	d := int64(0)
	for ; n > 0; n /= 10 {
		d++
	}
	return d
}

// ParseRows parses the text of [Rows.String]. For any other form of a set it fails with
// [ErrFormat].
func ParseRows(form string) (Rows, error) {
	s, ok := parseRuns(form)
	if rest, found := strings.CutPrefix(form, bitmapMark); found {
		s, ok = parseBitmap(rest)
	}
	if !ok {
		return Rows{}, fmt.Errorf("%w: rows %q are not in canonical form", ErrFormat, text.Clip(form, shownText))
	}
	return s, nil
}

func parseRuns(text string) (Rows, bool) {
	if text == "" {
		return Rows{}, true
	}
	s := Rows{runs: make([]run, 0, strings.Count(text, ",")+1)}
	before := int64(-1) // so that the first number may be 1
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
	return s, s.shorter().bits == nil && string(s.append(nil)) == text
}

func parseBitmap(text string) (Rows, bool) {
	from, data, _ := strings.Cut(text, ":")
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 1 || first > maxExact {
		return Rows{}, false
	}
	bits, err := base64.RawStdEncoding.Strict().DecodeString(data)
	if err != nil || len(bits) == 0 || bits[0]&1 == 0 || bits[len(bits)-1] == 0 {
		return Rows{}, false
	}
	s := Rows{first: first, bits: bits}
	last := first + int64(8*len(bits)-1-mathbits.LeadingZeros8(bits[len(bits)-1]))
	if last > maxExact || string(s.append(nil)) != bitmapMark+text {
		return Rows{}, false
	}
	return s, s.shortest().bits != nil
}
