package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRowsString(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows []int64
		want string
	}{
		{"none", nil, ""},
		{"one", []int64{7}, "7"},
		{"a run", []int64{3, 1, 2, 2}, "1-3"},
		{"runs", []int64{1, 2, 3, 400}, "1-3,400"},
		{"a pair is a run", []int64{1, 2}, "1-2"},
		{"as short both ways", []int64{1, 3, 6, 12}, "1,3,6,12"}, // b64:1:pQg
		{"shorter as bits", []int64{1001, 1003, 1004, 1011}, "b64:1001:DQQ"},
		{"far apart", []int64{1, maxExact}, "1,9007199254740991"},
		{"up to the last", []int64{maxExact - 4, maxExact - 2, maxExact}, "b64:9007199254740987:FQ"},
	} {
		s := rowsOf(tt.rows...)
		if got := s.String(); got != tt.want {
			t.Errorf("%s: %v is %q, want %q", tt.name, tt.rows, got, tt.want)
		}
		if got, err := ParseRows(tt.want); err != nil || !got.Equal(s) {
			t.Errorf("%s: ParseRows(%q) = %v, %v", tt.name, tt.want, got, err)
		}
	}
	for _, n := range []int64{0, -1, maxExact + 1} {
		if _, err := NewRows(1, n); !errors.As(err, new(*CheckError)) {
			t.Errorf("NewRows(1, %d): %v, want a CheckError", n, err)
		}
	}
}

func TestEqualRows(t *testing.T) {
	for _, pair := range [][2]Rows{
		{rowsOf(7), rowsOf(8)},
		{rowsOf(7), {}},
		{rowsOf(1001, 1003, 1004, 1011), rowsOf(2001, 2003, 2004, 2011)}, // the same bits
		{rowsOf(1001, 1003, 1004, 1011), rowsOf(1001, 1003, 1005, 1011)},
	} {
		if pair[0].Equal(pair[1]) || !pair[0].Equal(pair[0]) {
			t.Errorf("%v and %v are told to be equal, or one is not equal to itself", pair[0], pair[1])
		}
	}
}

func TestParseRowsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"zero":                        "0",
		"a sign":                      "+1",
		"a zero before":               "01",
		"a space":                     "1, 2",
		"nothing between commas":      "1,,3",
		"descending":                  "3,1",
		"runs that touch":             "1,2",
		"runs that overlap":           "1-5,4-9",
		"a run of one":                "4-4",
		"a run backward":              "4-3",
		"half a run":                  "4-",
		"too large":                   "9007199254740992",
		"runs where bits are shorter": "1001,1003-1004,1011",
		"bits where runs are shorter": "b64:1:BQ",
		"padding":                     "b64:1001:DQQ=",
		"bits behind the end":         "b64:1001:DQR",
		"an empty last byte":          "b64:1001:DQQA",
		"a first bit that is not set": "b64:1000:GgIA",
		"bits without a row":          "b64:DQQ",
		"no bits":                     "b64:1001:",
		"row zero":                    "b64:0:DQQ",
		"bits beyond the last row":    "b64:9007199254740991:DQQ",
		"letters":                     "abc",
		"half a number":               "1-b",
		"a number of letters":         "b64:abc:DQQ",
		"a number that is too large":  "b64:99999999999999999999:DQQ",
		"the last row but one":        "b64:9007199254740992:DQQ",
		"a zero before bits":          "b64:01001:DQQ",
		"a sign before bits":          "b64:+1001:DQQ",
		"a bit too many":              "b64:9007199254740989:DQ",
	} {
		if s, err := ParseRows(text); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: ParseRows(%q) = %v, %v, want ErrFormat", name, text, s, err)
		}
	}
}

// A set of rows is the set of its numbers, and its form is as short as either
// of the two, which the test makes itself.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 1<<40).Draw(t, "base")
		width := rapid.Int64Range(1, 600).Draw(t, "width")
		list := rapid.SliceOfN(rapid.Int64Range(base+1, base+width), 0, 400).Draw(t, "rows")
		naive := make(map[int64]bool)
		for _, n := range list {
			naive[n] = true
		}
		s := rowsOf(list...)
		if s.Len() != int64(len(naive)) {
			t.Fatalf("Len = %d, want %d", s.Len(), len(naive))
		}
		for n := base - 2; n <= base+width+2; n++ {
			if s.contains(n) != naive[n] {
				t.Fatalf("Contains(%d) = %t, want %t", n, s.contains(n), naive[n])
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
		if got := slices.Collect(s.all()); !slices.Equal(got, list) {
			t.Fatalf("All = %v, want %v", got, list)
		}
		text := s.String()
		if got, err := ParseRows(text); err != nil || !got.Equal(s) {
			t.Fatalf("ParseRows(%q) = %v, %v", text, got, err)
		}
		if len(list) > 0 {
			runs, bits := formRuns(list), formBits(list)
			want := runs
			if len(bits) < len(runs) {
				want = bits
			}
			if text != want {
				t.Fatalf("%v is %q, want %q", list, text, want)
			}
		}
	})
}

// A set of bits is the one of its numbers, and two sets meet where the first
// number is in both.
func TestBitRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []int64 {
			base := rapid.Int64Range(0, 300).Draw(t, name+" base")
			return rapid.SliceOfN(rapid.Int64Range(base, base+rapid.Int64Range(1, 500).Draw(t, name+" width")), 0, 300).Draw(t, name)
		}
		a, b := draw("a"), draw("b")
		collect := func(list []int64) Rows {
			bits := make([]byte, rapid.IntRange(101, 110).Draw(t, "bytes"))
			for _, n := range list {
				if n > 0 {
					bits[(n-1)/8] |= 1 << ((n - 1) % 8)
				}
			}
			return BitRows(bits)
		}
		positive := slices.DeleteFunc(slices.Clone(a), func(n int64) bool { return n == 0 })
		if got, want := collect(a), rowsOf(positive...); !got.Equal(want) || got.String() != want.String() {
			t.Fatalf("bits of %v are %v, want %v", a, got, want)
		}
		x, y := collect(a), collect(b)
		var want int64
		for n := int64(1); n <= 800 && want == 0; n++ {
			if slices.Contains(a, n) && slices.Contains(b, n) {
				want = n
			}
		}
		for _, pair := range [][2]Rows{{x, y}, {y, x}} {
			if got, ok := pair[0].meets(pair[1]); ok != (want > 0) || ok && got != want {
				t.Fatalf("%v and %v meet at %d, %t, want %d", pair[0], pair[1], got, ok, want)
			}
		}
	})
}

// formRuns and formBits are the two forms, made number by number.
func formRuns(list []int64) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := fmt.Sprint(list[i])
		if j > i {
			part += "-" + fmt.Sprint(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func formBits(list []int64) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	size := (list[len(list)-1]-list[0])/8 + 1
	bits := make([]bool, 8*size+5) // in the order of base64: the most significant of each byte first
	for _, n := range list {
		n -= list[0]
		bits[n/8*8+7-n%8] = true
	}
	out := fmt.Sprintf("b64:%d:", list[0])
	for i := int64(0); i < 8*size; i += 6 {
		v := 0
		for _, b := range bits[i : i+6] {
			v *= 2
			if b {
				v++
			}
		}
		out += digits[v : v+1]
	}
	return out
}

// Two sets meet at their first common number, whatever their forms are.
func TestWhereRowsMeet(t *testing.T) {
	every := func(from, to, step int64) Rows {
		var list []int64
		for n := from; n <= to; n += step {
			list = append(list, n)
		}
		return rowsOf(list...)
	}
	odd := every(1001, 1201, 2)
	for _, tt := range []struct {
		rows Rows
		bits bool
		want int64 // 0 if there is none
	}{
		{every(1002, 1202, 2), true, 0},
		{every(1001, 1201, 3), true, 1001},
		{every(1100, 1300, 3), true, 1103},
		{every(1202, 1400, 2), true, 0},
		{every(1201, 1401, 3), true, 1201},
		{every(902, 1066, 2), true, 0},
		{every(1000, 1030, 3), true, 1003},
		{every(1064, 1198, 2), true, 0},
		{every(1000, 1002, 1), false, 1001},
		{every(1, 1000, 1), false, 0},
		{every(1201, 1300, 1), false, 1201},
		{every(1202, 1300, 1), false, 0},
		{rowsOf(1000, 1100, 1177), false, 1177},
		{rowsOf(7, 1100), false, 0},
	} {
		for _, pair := range [][2]Rows{{odd, tt.rows}, {tt.rows, odd}} {
			if got, ok := pair[0].meets(pair[1]); odd.bits == nil || (tt.rows.bits != nil) != tt.bits || ok != (tt.want > 0) || got != tt.want {
				t.Errorf("%v and %v meet at %d, want %d", pair[0], pair[1], got, tt.want)
			}
		}
	}
}

func TestAllStops(t *testing.T) {
	for n := range rowsOf(1, 2, 3).all() {
		if n == 2 {
			break
		}
	}
}
