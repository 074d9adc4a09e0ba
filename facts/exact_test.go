package facts

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// told checks what a function tells of words: yes of those that it must tell it of, and no of
// others, which differ from the former as little as they can.
func told(t *testing.T, what string, is func(string) bool, yes, no []string) {
	t.Helper()
	for i, w := range slices.Concat(yes, no) {
		if got, want := is(w), i < len(yes); got != want {
			t.Errorf("%q is %s: %v, want %v", w, what, got, want)
		}
	}
}

// repeat repeats a text.
func repeat(n int, s string) string { return strings.Repeat(s, n) }

func TestEscapes(t *testing.T) {
	for said, want := range map[string]int{
		`\n`: 2, `\t`: 2, `\r`: 2, `\\`: 2, `\q`: 1, `\`: 1, `\u001b`: 6, `\u001b[31m`: 10, `\u00g1`: 1, `\u001`: 1, `\x1b`: 4, `\x1b[0m`: 7, `\x1`: 1, `\xg1`: 1,
		`\033`: 4, `\033[1m`: 7, `\03`: 1,
		"\x1b": 1, "\x1b[": 1, "\x1b[31m": 5, "\x1b[31": 1, "\x1b[0;1;31mx": 9, "\x1b[?25l": 6, "\x1b[@": 3, "\x1b[~": 3, "\x1b[\x7f": 1, "\x1b[ m": 1, "\x1b]m": 1,
		"\x1b[" + repeat(14, "1") + "m": 17, "\x1b[" + repeat(15, "1") + "m": 1,
	} {
		if got := escaped(said, 0); got != want {
			t.Errorf("the escape %q has %d bytes, want %d", said, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for said, want := range map[string]numeral{
		"12": {end: 2, first: 2, digits: 2}, "12 x": {end: 2, first: 2, digits: 2}, "1,234": {end: 5, first: 1, digits: 4, comma: true, thousands: true},
		"1234,567": {end: 4, first: 4, digits: 4}, "123,456": {end: 7, first: 3, digits: 6, comma: true, thousands: true}, "1.234": {end: 5, first: 1, digits: 4, point: true},
		"1.234.567": {end: 9, first: 1, digits: 7, thousands: true}, "1.299,00": {end: 8, first: 1, digits: 6, comma: true, thousands: true},
		"1.299,0": {end: 5, first: 1, digits: 4, point: true}, "1.299,000": {end: 5, first: 1, digits: 4, point: true},
		"1,5": {end: 3, first: 1, digits: 2, comma: true}, "1,25": {end: 4, first: 1, digits: 3, comma: true}, "1,2345": {end: 1, first: 1, digits: 1},
		"1,": {end: 1, first: 1, digits: 1}, "1.": {end: 1, first: 1, digits: 1}, "1.5": {end: 3, first: 1, digits: 2, point: true},
		"1,234.5": {end: 7, first: 1, digits: 5, point: true, comma: true, thousands: true},
		"1-2":     {end: 3, first: 1, digits: 1, isRange: true}, "1-": {end: 1, first: 1, digits: 1}, "1-2.5": {end: 5, first: 1, digits: 1, isRange: true},
		"1-2.": {end: 3, first: 1, digits: 1, isRange: true}, "1-2,5": {end: 3, first: 1, digits: 1, isRange: true}, "1.5-20.25": {end: 9, first: 1, digits: 2, point: true, isRange: true},
		"1" + repeat(5, ",234"): {end: 21, first: 1, digits: 16, comma: true, thousands: true},
		"1" + repeat(6, ",234"): {end: 1, first: 1, digits: 1},
	} {
		if d := cmp.Diff(want, numberAt(said, 0), cmp.AllowUnexported(numeral{})); d != "" {
			t.Errorf("the number of %q (-want +got):\n%s", said, d)
		}
	}
}

// The commas of a list stand beside a bracket or another comma.
func TestLists(t *testing.T) {
	told(t, "in a list", func(s string) bool {
		from := strings.IndexByte(s, '1')
		return inList(s, from, from+len("1,234"))
	}, []string{"[1,234", ",1,234", "1,234]", "1,234,5", "(1,234)"}, []string{"1,234", "1,234, 5", "1,234,", "(1,234", "1,234)", "(1,234 )", "x1,234y"})
}

func TestCurrencies(t *testing.T) {
	for said, want := range map[string]int{"$5": 1, "€5": 3, "£5": 2, "5": 0, " 5": 0, "$ 5": 0, "€x5": 0} {
		if got := currencyBefore(said, len(said)-1); got != want {
			t.Errorf("the currency before the 5 of %q has %d bytes, want %d", said, got, want)
		}
	}
}

func TestNumbersOfListings(t *testing.T) {
	told(t, "the number of a line", func(s string) bool {
		from := strings.Index(s, "118")
		return (&finder{text: s}).isLineNumber(from, from+3)
	}, []string{"118→x", "x 118→y", "118\tx", "118:x", "118-x", "118|x", "118 │", `118\tx`, "118   :x", "  118:x", "a\n118:x", "a\n  118:x", `\n118:x`, `a\n 118:x`},
		[]string{"118 x", "118", "118    :x", "a118:x", "x 118:y", `n118:x`, `xn118:x`, `118\nx`, "118;"})
}

// Figures in columns, with spaces between thousands, and their bounds.
func TestFiguresAtTheirBounds(t *testing.T) {
	for in, want := range map[string]string{
		"1234 000 km": "number 1234 | quantity 000 km", "1.5 000 km": "quantity 000 km", "123 000 km": "quantity 123 000 km",
		"x 10 000 km": "quantity 10 000 km", "x  10 000 km": "quantity 000 km", "  10 000 km": "quantity 000 km", " 10 000 km": "quantity 10 000 km",
		"1" + repeat(5, " 000") + " km": "quantity 1" + repeat(5, " 000") + " km", "1" + repeat(6, " 000") + " km": "quantity 000" + repeat(5, " 000") + " km",
		"5 supercompute/s": "quantity 5 supercompute/s", "17 %": "quantity 17 %", "17 % ": "quantity 17 %", "17 % a": "quantity 17 %", "17 %5": "", "17 % 5": "",
		"10 000 km2": "", "10 000 ms_x": "symbol ms_x", "pool.go-17 x": "", "pool.go-17- x": "file pool.go", "[1,234 ms]": "quantity 234 ms", "1,5-min": "quantity 5-min",
		"12 kb(3": "", "12 min(": "", "12-min": "quantity 12-min", "1.5-min": "", "1-2-min": "kebab 1-2-min", "1,234 ms": "quantity 1,234 ms",
		"123456b x": "hash 123456b", "12345b x": "quantity 12345b", "123456d": "hash 123456d", "123456m": "quantity 123456m", "1h30m2s5": "", "1h30m 5": "quantity 1h30m", "2s1h": "", "10ms5s": "symbol 10ms5s",
		"$12": "quantity $12", "$1": "", "$1.5": "quantity $1.5", "€1": "quantity €1", "$1x": "quantity $1x", "12": "", "123": "number 123", "000": "",
		"123456789012345678": "number 123456789012345678", "1234567890123456789": "", ".123": "", "a 1,234,567": "number 1,234,567", "[1,234,567]": "number 234 | number 567",
		"1,234": "number 1,234", "[$1,234]": "quantity $1,234", "(1,234)": "number 234", "0.25": "number 0.25", "0.0": "",
	} {
		if got := namesOf(in); got != want {
			t.Errorf("%q:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for said, want := range map[string]int{
		"10:30": 5, "1:30": 0, "10:3": 0, "10:300": 0, "100:30": 0, "10.30": 0, "10:30:00": 8, "10:30:0": 5, "10:30:000": 5, "10:30:00.123": 12, "10:30:00.12": 8, "10:30:00,1234": 13,
		"10:30:00;123": 8, "10:30Z": 6, "10:30+0200": 10, "10:30-0200": 10, "10:30+02": 8, "10:30+02:00": 11, "10:30-02:00": 11, "10:30+02:0": 8, "10:30+020": 5, "10:30*02": 5,
		"10:30x": 0, "10:30_": 0, "10:30Zx": 0, "10:30+02x": 0,
	} {
		if got := timeEnd(said, 0); got != want {
			t.Errorf("the time in %q ends at %d, want %d", said, got, want)
		}
	}
	for said, want := range map[string]int{
		"05/Mar/2024": 11, "05/Mar/2024:10": 11, "5/Mar/2024x": 0, "05-Mar/2024": 0, "05/Mar-2024": 0, "05/M1r/2024": 0, "05/Mar/202": 0, "05/Mar/202x": 0, "05/Mar/20245": 0, "x5/Mar/2024": 0,
	} {
		if got := logDateEnd(said, 0); got != want {
			t.Errorf("the date in %q ends at %d, want %d", said, got, want)
		}
	}
	for said, want := range map[string]int{
		"10 +0100": 8, "5 +0100": 7, " +0100": 2, "10 -0100": 8, "10 *0100": 4, "10+ 0100": 4, "10x+0100": 4, "x +0100": 3, "10 +2100": 4, "10 +1900": 8, "10 +010": 4, "10 +01000": 4,
	} {
		if got := zoneEnd(said, strings.LastIndexAny(said, "+-* ")+1); got != want {
			t.Errorf("the zone in %q ends at %d, want %d", said, got, want)
		}
	}
}

// Words that are as long as they may be, and words that are longer by one byte.
func TestWordsThatDifferByOneByte(t *testing.T) {
	finds := func(text string) bool { return namesOf(text) != "" }
	told(t, "an address", isIP, []string{"1.2.3.4", "255.255.255.255", "0.0.0.0", "10.20.30.40"},
		[]string{"", "1.2.3", "1.2.3.", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "1.2.3.1234", "1..2.3.4", "1.2.3.x", "1.2.3-4", "1.1.1.256"})
	told(t, "a version", isVersion3, []string{"1.2.3", "v1.2.3", "1.2.3-rc", "1.2.3-rc.1", "12345.2.3", "1.2.3-1-2", "10.20.30", "0.1.0", "1.234.56", "1234.567.890", "1.23.456"},
		[]string{"", "v", "1", "1.2", "1.2.", "1.2.3.", "1.2.x", "1.02.3", "123456.1.1", "1.234.567", "12.345.678", "123.456.789", "1.2.3-", "1.2.3+x", "1.2.3-1", "1.2.3--1", "1.2.3-rc/1", "1.2.3-a@b", "1.2-3", "1.2.3.4", "1.2.3x"})
	told(t, "an id of ULID", isULID, []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "7" + repeat(21, "1") + "ABCD", "0" + repeat(21, "9") + "ZZZZ"},
		[]string{
			"", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "/1ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "7" + repeat(22, "1") + "ABC",
			"01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL", "01ARZ3NDEKTSV4RRFFQ69G5FAO", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FAv", "01ARZ3NDEKTSV4RRFFQ69G5F-V",
		})
	told(t, "a package with a version", isPackageVersion, []string{"a@1.2.3", "@a/b@1.2.3"}, []string{"@1.2.3", "a@1.2", "a1.2.3"})
	told(t, "two ways", isAlternative, []string{"v1/v2", "Q1/Q2", "3/4a", "12/x", "abcd1/abcd2"}, []string{"abcde1/abcde2", "v1/w2", "v1/v2x"})
	told(t, "of single letters", singleLetters, []string{"a/b/c", "s/x/y/", "a/b"}, []string{"a/bb/c", "aa/b"})
	told(t, "joined by dashes", isKebab, []string{"a-b-cd", "HAT-204", "abc-12", "to-do-list", "12-Abc", "a12-abc", "555-1234", repeat(25, "ab-") + "abcde"},
		[]string{"a-b-c", repeat(25, "ab-") + "abcdef", "drwxr-x", "drwxr-xr-x", "a--b-c1", "-a-b-cd", "a.b-c-d", "a@b-c-d", "end-to-end", "well-known", "24-hour", "555-12", "555-123", "abcdef"})
	told(t, "a branch", isBranch, []string{"a-b-c", "a-b-c/1x"}, []string{"a-b-c/12", "a-b", "a-b_c-d", "a-b--c"})
	told(t, "joined by slashes", func(w string) bool { return isJoined(w, '/') }, []string{"README.md/LICENSE.txt", "bg-red-500/10", "a/b_cde"}, []string{"and/orxyz", "s/old1/new1/", "ab--c/1x", "a/b_c", "123/45"})
	told(t, "a symbol", isSymbol, []string{"getX", "max_size", "__init__", "HTTPServer", "x2y4", "_x_y", "HTTPServ", "HTTPxyz", "_a_b"},
		[]string{"abc", "getx", "_private", "trailing_", "____", "GitHub", "21st", "HTTPS", "HTTPSer", "HTTer", "HTTPx", "__ab", "ab__", "10h5v"})
	told(t, "a file", isFile, []string{"a.go", "main.c", "x.h", "a.tmpl", "README.MD", "lamp.ndjson", "ab.r", "a.c", "a.GO", repeat(97, "a") + ".go"},
		[]string{"go", ".go", "a.", "p.m", "e.r", "U.S.C", "ab.C", "a.Go", "a.X1", "a.frobs", "a.gogogogo", repeat(98, "a") + ".go"})
	told(t, "a field", isField, []string{"Node.js", "D3.js", "this.js", "self.js", "this.go", "self.rs", "console.log", "process.env", "req.key", "e.key", "Math.c", "this.log", "import.meta.env"},
		[]string{"lamp.js", "lamp.go", "lamp.log", "Node.go", "console.go"})
	told(t, "the name of a file by its beginning", knownFile, []string{"Makefile", "Gemfile"}, []string{"", "makefile", "Lampfile", "Make"})
	told(t, "a letter outside ASCII", func(s string) bool { return latin(s[0]) }, []string{"À", "é", "ÿ", "ł", "ſ"}, []string{"ƀ", "²", "x"})
	told(t, "closing", func(s string) bool { return closesMarkup(s[0]) }, []string{"<", "}", ")", "]", "*", "\x80", "\xe2"}, []string{"(", " ", "a", "\x7f", "[", "{", ">"})
	told(t, "long enough to name something", finds, []string{repeat(20, "abcd1"), "a-1.2.3", "abc1.." + repeat(194, "x"), "a://bcd.efgh", repeat(39, "abc1/") + "abc12", "abc1", "a_bc"},
		[]string{repeat(20, "abcd1") + "e", "abc1.." + repeat(195, "x"), "abcdefghijkl://", "a_b", "a://bcd.efg", "a://bcd.efg/", repeat(39, "abc1/") + "abc123", "ab1"})
	told(t, "JSON", func(s string) bool { return isJSON([]byte(s)) }, []string{"{", " [1", "\r\n\t\"x\""}, []string{"", " ", "x", "1", "*** {"})
	told(t, "an error that a line mentions", mentionsError, []string{"an error", "Error", "ERROR", "it fails", "FAIL", "Failed", repeat(296, " ") + "fail", repeat(296, " ") + "rror"},
		[]string{"avail", "lamp", "Err", repeat(297, " ") + "fail", repeat(297, " ") + "rror"})
	told(t, "a success", succeeds, []string{"ok", "OK", "pass", "done", "success", "lamp: ok", ": ok", "x: OK", "upload succeeded", "Successfully built", "SUCCEEDED", "BUILD SUCCESS"},
		[]string{"", "ok ", "oks", "lamp ok", "not succeeded", "it was successful", "BUILD"})
	told(t, "a commit", isCommit, []string{"[main 1a2b3c4] Fix", "[" + repeat(112, "m") + " 1a2b3c4] x"},
		[]string{"[main 1a2b3c4] ", "[1a2b3c4] x", "main 1a2b3c4] x", "(main 1a2b3c4] x", "[main lamp] x", "[main 1a2b3c4]x", "[" + repeat(113, "m") + " 1a2b3c4] x"})
	told(t, "an acknowledgment", acknowledges, []string{"", "yes, thanks!", repeat(15, "yes ")}, []string{"yes, mend it", repeat(15, "yes ") + "y"})
	told(t, "a sum of money", isMoney, []string{"$5", "€5", "-$5"}, []string{"5$", "-€5", "x"})
	told(t, "exact", isExact, []string{"#17", "$5", "$1.5k", "-$5", "€5", "5%", "~5%", "v1.2.3", "40ms", "12x", "localhost:80", "1a2b3c4", "AB123"},
		[]string{"#1x", "#x", "$5x", "x5%", "v1.2", "w1.2.3", "ms1", "40lamps", "lamp:80", "12"})
	told(t, "versions by dots", isVersion, []string{"1.2.3", "1.2.3.4"}, []string{"1.2", "1..3", ".1.2", "1.2.x"})
	told(t, "an end of a wrapped line", func(s string) bool { return !continuesLine(s, "and") }, []string{repeat(49, "a"), repeat(50, "a") + ".", repeat(50, "a") + "!", repeat(50, "a") + "?", repeat(50, "a") + ":", repeat(50, "a") + `"`},
		[]string{repeat(50, "a"), repeat(50, "a") + ","})
	told(t, "how a line goes on", func(s string) bool { return continuesLine(repeat(50, "a"), s) }, []string{"and", "zoo", "`x`", "(x)"}, []string{"And", "1", "{", "{a"})
}

func TestWhereNamesBeginAndEnd(t *testing.T) {
	for _, tt := range []struct {
		text       string
		head, from int
		want       int
	}{
		{"a", 0, 0, 0},
		{"./a", 0, 2, 2},
		{"/a", 0, 1, 0},
		{"~/a", 1, 2, 0},
		{"@a", 0, 1, 0},
		{"x@a", 1, 2, 2},
		{" @a", 1, 2, 1},
		{")/a", 1, 2, 2},
		{"x/a", 1, 2, 2},
		{" /a", 1, 2, 1},
		{".a", 0, 1, 0},
		{"/.a", 0, 2, 0},
		{"./.a", 0, 3, 2},
		{"-/.a", 0, 3, 1},
		{"@.a", 0, 2, 1},
		{"-.a", 0, 2, 2},
		{"-@a", 0, 2, 2},
		{"-/a", 0, 2, 2},
		{" /.a", 1, 3, 1},
	} {
		if got := (&finder{text: tt.text}).pathStart(tt.head, tt.from); got != tt.want {
			t.Errorf("the path of %q begins at %d, want %d", tt.text, got, tt.want)
		}
	}
	for text, want := range map[string][2]int{"main..topic": {4, 6}, "a...b": {1, 4}, "a/../b": {}, "..b": {}, "a../b": {}, "a.b": {}} {
		if end, next := rangeDots(text, 0, len(text)); [2]int{end, next} != want {
			t.Errorf("the dots of %q are from %d to %d, want %v", text, end, next, want)
		}
	}
	for w, want := range map[string]int{"urllib3-2.2.1": 7, "a-1.2.3-rc": 1, "-2.2.1": 0, "a-2.2": 0, "a-v2.2.1": 0, "a": 0, "a-": 0} {
		if got := releaseName(w); got != want {
			t.Errorf("the name of the release %s has %d bytes, want %d", w, got, want)
		}
	}
	for line, want := range map[string]int{"12:x": 3, "12|x": 3, "a.go:12:x": 8, "a.go:12|x": 0, "a.go:x": 0, "a b:12:x": 0, "1a:12:": 0, ":12:": 0, "12": 0, "12-": 0, "a.go:12": 0} {
		if got := searchPrefix(line); got != want {
			t.Errorf("%q begins with a place of %d bytes, want %d", line, got, want)
		}
	}
	for path, want := range map[string]string{"a/b/c.go": "b/c.go", "b/c.go": "b/c.go", "/b/c.go": "b/c.go", "/c.go": "/c.go", "c.go": "c.go", "": ""} {
		if got := lastSegments(path); got != want {
			t.Errorf("the last segments of %q are %q, want %q", path, got, want)
		}
	}
}

// An excerpt has the nearest word on each side, up to 40 bytes away and of 41 bytes at most.
func TestExcerptsEnd(t *testing.T) {
	for _, tt := range []struct {
		text  string
		left  int // of what is at the end of the text
		right int // of what is at its beginning
	}{
		{"", 0, 0},
		{"see ", 0, 3},
		{" see", 1, 4},
		{"-- ", 3, 0},
		{repeat(40, " ") + "w", 40, 41},
		{"w" + repeat(40, " "), 0, 1},
		{repeat(41, " ") + "w", 41, 0},
		{"w" + repeat(41, " "), 42, 1},
		{repeat(100, "x"), 59, 41},
		{"a b", 2, 1},
	} {
		if got := excerptEnd(tt.text, 0, len(tt.text), -1); got != tt.left {
			t.Errorf("to the left of the end of %q the excerpt begins at %d, want %d", tt.text, got, tt.left)
		}
		if got := excerptEnd(tt.text, 0, len(tt.text), 1); got != tt.right {
			t.Errorf("to the right of the beginning of %q the excerpt ends at %d, want %d", tt.text, got, tt.right)
		}
	}
}

func TestMarksOfARoot(t *testing.T) {
	s := NewScan("see /main.go there")
	var got []string
	for _, m := range s.Marks {
		got = append(got, string(m.kind)+" "+s.Text[m.From:m.To])
	}
	if want := []string{"file main.go"}; !slices.Equal(got, want) && !slices.Equal(got, []string{"path /main.go", "file main.go"}) {
		t.Errorf("the marks are %q", got)
	}
	for text, want := range map[string]uint8{"   mend the lamp": 3, "mend": 0, "12→  mend the lamp": 2, "   12→ mend": 1, "12\t\tmend": 1, repeat(300, " ") + "x": 255} {
		if got := NewScan(text).Lines[0].indent; got != want {
			t.Errorf("%q is indented by %d, want %d", text, got, want)
		}
	}
}

// A line is copied as a whole if it has 20 to 400 bytes, blanks counted once, and two words,
// one of them with two letters.
func TestLinesThatAreCopied(t *testing.T) {
	told(t, "copied", func(s string) bool { return copyKey(s) != 0 },
		[]string{"abcdefghij klmnopqrs", "ab " + repeat(397, "c"), "1 2 3 4 5 6 7 8 9 ab 1", "ab\t" + repeat(17, "1"), "AB" + repeat(17, " 1")},
		[]string{"", "abcdefghij klmnopqr", "abcdefghij    klmnopqr", "ab " + repeat(398, "c"), repeat(20, "a"), "a 1 b 2 c 3 d 4 e 5 f 6", "a.go:12: abcdefghij klmnopqr"})
}

func TestShapes(t *testing.T) {
	for line, want := range map[string]shape{
		"// x": shapeComment, "# x": shapeComment, "* x": shapeComment, `"fmt"`: shapeImport, "'use strict'": shapeImport, "- x": shapeItem, "| x |": shapeItem, "}": shapeStatement,
		"import x": shapeImport, "func": shapeDeclaration, "func(x)": shapeDeclaration, "if x {": shapeStatement, "x := y;": shapeCode, "x {": shapeCode, "x,": shapeCode, "f(x)": shapeCode,
		"a sentence": shapePlain, "iffy": shapePlain,
	} {
		if got := shapeOf(line); got != want {
			t.Errorf("the shape of %q is %d, want %d", line, got, want)
		}
	}
}

func TestPartsOfHeadAndSed(t *testing.T) {
	for args, want := range map[string]extent{
		"": {1, 10}, "-n 5": {1, 5}, "-n5": {1, 5}, "-5": {1, 5}, "-c 5": {}, "-c5": {}, "-n -5": {}, "-n": {}, "a.go": {1, 10}, "-n 0": {}, "-n x": {}, "-n 1 a.go": {1, 1}, "--lines=100 a.go": {1, 100}, "--lines 7": {1, 7}, "--bytes=100": {}, "-q a.go": {1, 10}, "-z -n 5": {}, "- -n 5": {1, 5},
	} {
		if got := headExtent(strings.Fields(args)); got != want {
			t.Errorf("head %s prints %v, want %v", args, got, want)
		}
	}
	for script, want := range map[string]extent{
		"10,40p": {10, 40}, "10p": {10, 10}, "10,$p": {10, math.MaxInt}, "0p": {}, "1p": {1, 1}, "40,10p": {}, "10,10p": {10, 10}, "10,40": {}, "xp": {}, "10,xp": {}, "": {}, "p": {},
	} {
		if got := sedExtent(script); got != want {
			t.Errorf("sed %s prints %v, want %v", script, got, want)
		}
	}
	for line, want := range map[string][]shownFile{
		"cat notes": {{"notes", allLines}}, "grep x notes": nil, "grep x src/a.go": {{"src/a.go", extent{}}}, "grep x src.d/notes": nil, "head notes": {{"notes", extent{1, 10}}}, "cat notes | wc -l": nil,
	} {
		if d := cmp.Diff(want, readLine(line).readings(), cmp.AllowUnexported(shownFile{}, extent{})); d != "" {
			t.Errorf("%q shows (-want +got):\n%s", line, d)
		}
	}
}

// A program that applies patches takes them from its standard input, and apply_patch also
// from its arguments.
func TestWherePatchesComeFrom(t *testing.T) {
	const patch = "*** Begin Patch\n*** Delete File: a.go\n*** End Patch"
	for line, want := range map[string]int{
		"apply_patch '" + patch + "'": 1, "git apply '" + patch + "'": 0, "patch '" + patch + "'": 0, "git apply <<'E'\n" + patch + "\nE": 1, "patch <<'E'\n" + patch + "\nE": 1, "apply_patch": 0,
	} {
		if got := readLine(line).changes(); len(got) != want {
			t.Errorf("%q makes the changes %v, want %d", line, got, want)
		}
	}
	got := readLine("apply_patch '*** Begin Patch\n*** Update File: a.go\n@@\n-lamp\n+bulb\n*** End Patch'").changes()
	if len(got) != 1 || !strings.Contains(got[0].text, "bulb") {
		t.Errorf("the changes are %v, want one that tells the new line", got)
	}
}

// A statement that was made before is no new fact, unless it answers another question.
func TestFactsAreAddedOnce(t *testing.T) {
	x := extractor{said: make(map[string]bool)}
	for _, f := range []Fact{
		{Kind: FactDecision},
		{Kind: FactDecision, Text: "yes"},
		{Kind: FactDecision, Text: "yes"},
		{Kind: FactQuestion, Text: "yes"},
		{Kind: FactDecision, Text: "yes", Subject: "Mend it?"},
		{Kind: FactDecision, Text: "yes", Subject: "Mend it?"},
		{Kind: FactDecision, Text: "yes", Subject: "Paint it?"},
		{Kind: FactDecision, Text: "yes"},
	} {
		x.addOnce(f)
	}
	want := []string{"decision | yes", "question | yes", "decision | Mend it? | yes", "decision | Paint it? | yes"}
	var got []Fact
	for _, f := range x.found {
		got = append(got, f.Fact)
	}
	if d := cmp.Diff(want, written(got, FactDecision, FactQuestion)); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
}

// What a sub-agent reports is progress; what a file says is none.
func TestReportsOfSubAgents(t *testing.T) {
	const report = "All tests pass now.\n\nThe root cause is a missing lock."
	for name, want := range map[string]int{"Task": 2, "Agent": 2, "Read": 0} {
		s := new(talk).call("", name, map[string]string{"description": "look", "file_path": "a.md"}, report)
		if got := written(s.extract(nil), FactProgress); len(got) != want {
			t.Errorf("the report of %s has the progress %q, want %d facts", name, got, want)
		}
	}
	many := strings.Join(listOf(7, "The root cause is cup %d."), "\n\n")
	if got := written(new(talk).call("", "Task", map[string]string{"description": "look"}, many).extract(nil), FactProgress); len(got) != 5 {
		t.Errorf("of a long report, %q are kept, want 5", got)
	}
	if got := written(new(talk).call("", "Task", map[string]string{"description": "look"}, "!"+report).extract(nil), FactProgress); got != nil {
		t.Errorf("a sub-agent that failed reports %q", got)
	}
}

// A program that shows the output of another one looks something up, too.
func TestTheOutputOfAnotherProgram(t *testing.T) {
	looks := func(s *talk) *talk { return s.call("", "BashOutput", map[string]string{"bash_id": "b1"}, "lit") }
	if d := cmp.Diff([]string{"1 redundant by 2: BashOutput"}, standings(looks(looks(new(talk))))); d != "" {
		t.Errorf("standings (-want +got):\n%s", d)
	}
}

func TestOutputs(t *testing.T) {
	for said, want := range map[string]string{
		`{"output":"x\ny"}`: "x\ny", `{"output":"x`: `{"output":"x`, "<untrusted_context>\nOutput: x\nExit Code: 0\n</untrusted_context>": "x", "<untrusted_context>\nOutput: x\nExit Code: 3\n</untrusted_context>": "Exit code 3\nx", "<untrusted_context>\nx\n</untrusted_context>": "x", `{"out":"x"}`: `{"out":"x"}`, `{"output":"x","metadata":{"exit_code":2}}`: "Exit code 2\nx",
		`{"output":"x","metadata":{"exit_code":0}}`: "x", "x": "x",
	} {
		if got := output(said); got != want {
			t.Errorf("the output of %s is %q, want %q", said, got, want)
		}
	}
	for said, want := range map[string]string{
		"exit code 3": "3", "exit code: 3": "3", "x\nexit code 3\ny": "3", "x exit code 3\ny": "", "process exited with code 1\ny": "1", "the process exited with code 1\ny": "", "exit status 12\nx": "12",
		repeat(188, "x") + "\nexit code 3\ny": "3", repeat(189, "x") + "\nexit code 3\ny": "", "x\n[exit status 3]": "3", "x\n(exit code 3).\n\n": "3", "see exit code 3": "", "exit code x": "", "y exit code 3 at": "", "y\nexit code": "", "": "",
	} {
		if got, ok := exitCode(said); got != want || ok != (want != "") {
			t.Errorf("the exit code of %q is %q, want %q", said, got, want)
		}
	}
	for said, want := range map[string][2]string{
		"3 failed": {"3", "failed"}, "3, failed": {"3", "failed"}, "0 fail, 12 pass": {"0", "fail"}, "12 pass, 3 fail": {"3", "fail"}, "3 failed, 2 errors": {"2", "errors"}, "3 passed, 2 tests": {"3", "passed"}, "failed 3": {}, "x3 failed": {}, "3x failed": {},
		"(3) failed": {"3", "failed"}, "x =3 failed": {"3", "failed"}, "3 lamps": {}, "3": {}, "3 ": {}, "3 failed.": {"3", "failed"}, "3\tfailed": {"3", "failed"}, "x: 3  failed": {"3", "failed"}, "": {},
	} {
		if n, what := counted(said); [2]string{n, what} != want {
			t.Errorf("%q counts %q of %q, want %q", said, n, what, want)
		}
	}
	for said, want := range map[string]string{
		"error: cold\n3 passed": "3 passed", "error: cold!\n3 passed": "error: cold!", "error: cold": "error: cold", "x\n" + repeat(2000, "y"): text200, "x\n" + repeat(2001, "y"): "x",
	} {
		if got := outcomeOf(transcript.ToolResult{Content: []transcript.Part{transcript.Text(said)}}, false).summary; got != want {
			t.Errorf("%.30q tells %q, want %q", said, got, want)
		}
	}
}

// text200 is a long line as it is shortened.
var text200 = repeat(lineRunes, "y") + "…"

func TestReferencesAtTheirBounds(t *testing.T) {
	told(t, "a reference", func(w string) bool { return reference("", w, "") == w },
		[]string{"https://a.io/" + repeat(187, "x"), "a://bcd.efgh", "localhost:" + repeat(70, "1"), "ada@example.com"},
		[]string{"1", "https://a.io/" + repeat(188, "x"), "localhost:" + repeat(71, "1"), "a(1)", "1=2", "ada@com"})
	for _, tt := range [][4]string{
		{"PR", "12", "", "12"},
		{"issue", "12", "", "12"},
		{"mr", "12", "", "12"},
		{"port", "12", "", "12"},
		{"Port", "12", "", "12"},
		{"amount", "12", "", "12"},
		{"order_id", "12", "", "12"},
		{"x", "12", "ms", "12 ms"},
		{"x", "12", "m", ""},
		{"x", "12", "kb", "12 kb"},
		{"x", "12", "lamps", ""},
		{"x", "2024-05-15", "", "2024-05-15"},
		{"x", "20240-5-15", "", ""},
		{"x", "2024-05015", "", ""},
		{"x", "2024-05-1", "", ""},
		{"x", "1.2.3", "", "1.2.3"},
		{"pr", "123456789012", "", "123456789012"},
		{"pr", "1234567890123", "", ""},
	} {
		if got := reference(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("%s %s %s refers to %q, want %q", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

func TestLinesOfMarkdown(t *testing.T) {
	for line, want := range map[string]sentence{
		"# A": {text: "A", title: true}, "###### A": {text: "A", title: true}, "####### A": {text: "####### A"}, "#A": {text: "#A"}, "- a": {text: "a", item: true}, "• a": {text: "a", item: true},
		"1. a": {text: "a", item: true, number: true}, "123. a": {text: "a", item: true, number: true}, "1234. a": {text: "1234. a"}, "1) a": {text: "a", item: true, number: true}, "1.a": {text: "1.a"}, "1.": {text: "1."}, "[x]": {text: "[x]"},
		"# 1. A": {text: "A", title: true, number: true}, "[ ] a": {text: "a", item: true, box: ' '}, "- [x] a": {text: "a", item: true, box: 'x'}, "[X] a": {text: "a", item: true, box: 'x'}, "[-] a": {text: "a", item: true, box: '-'},
		"[~] a": {text: "a", item: true, box: '~'}, "[y] a": {text: "[y] a"}, "[x]a": {text: "[x]a"}, "[x)": {text: "[x)"}, "**A**": {text: "A", title: true}, "**A.**": {text: "A."}, "- **A**": {text: "A", item: true},
		"**A** b **C**": {text: "A b C"}, "**" + repeat(99, "a") + "**": {text: repeat(99, "a"), title: true}, "**" + repeat(100, "a") + "**": {text: repeat(100, "a")}, "a **b**": {text: "a b"},
	} {
		if got := parseLine(line); got != want {
			t.Errorf("%q is %+v, want %+v", line, got, want)
		}
	}
}
