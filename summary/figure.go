package summary

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A figure is a number in a text, as a whole number of millionths. Computations with whole numbers
// give the same results on every machine.
type figure int64

// unit is the number 1 as a figure.
const unit figure = 1_000_000

// A figure has at most decimals places after the decimal point, and mostWhole before it.
const (
	decimals  = 6
	mostWhole = 12
)

// parseFigure reads a number, and returns it with its number of decimal places. It fails
// if the text is no number, or if the number is too large for a figure or has too many decimal places.
func parseFigure(text string) (v figure, places int, ok bool) {
	whole, part, point := strings.Cut(plainNumber(text), ".")
	if whole == "" || len(whole) > mostWhole || len(part) > decimals || point && part == "" {
		return 0, 0, false
	}
	for _, c := range []byte(whole + part + strings.Repeat("0", decimals-len(part))) {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		v = 10*v + figure(c-'0')
	}
	return v, len(part), true
}

// half returns half a unit of the last decimal place: the largest rounding error of a
// number with that many decimal places.
func half(places int) figure {
	h := unit / 2
	for range places {
		h /= 10
	}
	return h
}

// times returns the product of two figures, rounded down to a whole millionth, and false if the
// product is too large for a figure.
func (v figure) times(w figure) (figure, bool) {
	high, low := bits.Mul64(uint64(v), uint64(w)) //nolint:gosec // no figure is negative
	if high >= uint64(unit) {
		return 0, false
	}
	q, _ := bits.Div64(high, low, uint64(unit))
	return figure(q), q <= 1<<63-1 //nolint:gosec // as it says
}

// isPart reports whether v may be 100·a/b, or 100 times the difference of a and b divided by b,
// rounded to the given number of decimal places.
func (v figure) isPart(a, b figure, places int) bool {
	if b == 0 {
		return false
	}
	for _, part := range [...]figure{max(a-b, b-a), a} {
		want, ok := part.times(100 * unit)
		have, fits := v.times(b)
		off, _ := half(places).times(b)
		if ok && fits && max(want-have, have-want) <= off+1 {
			return true
		}
	}
	return false
}

// figures returns the numbers of a text, each once.
func figures(text string) []figure {
	var list []figure
	for _, m := range numberWord.Get().FindAllStringIndex(text, -1) {
		if m[0] > 0 && (wordAt(strings.ToLower(text), m[0]-1) || text[m[0]-1] == '.') {
			continue // of a name or a version
		}
		if v, _, ok := parseFigure(text[m[0]:m[1]]); ok && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// scales returns the numbers by which a writer may have divided a value to state it in a unit, such
// as 1000 and 1024 for "kb". The result percent is true if the writer may have multiplied it by a
// hundred, as for "%".
func scales(unit string) (divided []figure, percent bool) {
	switch unit {
	case "%":
		return nil, true
	case "k", "kb", "s":
		return []figure{1e3, 1 << 10}, false
	case "m", "mb":
		return []figure{1e6, 1e3, 1 << 20, 1 << 10}, false
	case "g", "gb":
		return []figure{1e9, 1e6, 1 << 30, 1 << 20}, false
	}
	return nil, false
}

// rounds reports whether v may be the value w, converted to the unit in of and rounded to the given
// number of decimal places.
func (v figure) rounds(w figure, places int, of string) bool {
	near := func(a, b, off figure) bool { return max(a-b, b-a) <= off }
	divided, percent := scales(of)
	if w%unit != 0 && near(w, v, half(places)) {
		return true
	}
	if percent && w <= 1<<56 && near(100*w, v, half(places)) {
		return true
	}
	return slices.ContainsFunc(divided, func(by figure) bool {
		return v <= (1<<62)/by && near(w, v*by, half(places)*by)
	})
}

// dimensions has the abbreviations of units by their full names, such as "ms" for "millisecond".
var dimensions = lazy.Value[map[string]string]{Make: func() map[string]string {
	m := make(map[string]string)
	for group := range strings.FieldsSeq("b:byte ms:millisecond s:second min:minute h:hour d:day") {
		short, long, _ := strings.Cut(group, ":")
		m[long], m[long+"s"] = short, short
	}
	return m
}}
