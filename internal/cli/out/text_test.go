package out

import (
	"io"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain, größer 日本 😀", "plain, größer 日本 😀"},
		{"a\tb\nc\r", `a\tb\nc\r`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\x9b31m", `\x9b31m`},
		{"\u009b31m", `\u009b31m`},
		{"abc\u202edcba", `abc\u202edcba`},
		{"\x00\x7f", `\x00\u007f`}, // as JSON wants it
		{"\u2028", `\u2028`},
		{"pay\u200bpal\ufeff\u00ad", `pay\u200bpal\ufeff\u00ad`},
		{"\U000e0041", `\udb40\udc41`},
		{"\ufffd", `\ufffd`},
		{"👩\u200d💻 نامه\u200cای", "👩\u200d💻 نامه\u200cای"}, // writing needs these
	} {
		if got := Visible(tt.in); got != tt.want {
			t.Errorf("visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A code point has the escape of JSON, and a byte that is not UTF-8 that of Go.
func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"\ufffd": `\ufffd`, "\xff": `\xff`, "\x1f": `\x1f`, "\uffff": `\uffff`, "\U00010000": `\ud800\udc00`,
	} {
		if got := escaped(in); got != want {
			t.Errorf("escaped(%q) = %q, want %q", in, got, want)
		}
	}
	r, w := io.Pipe()
	_ = r.Close()
	if n, err := Guard(w).Write([]byte("text")); n != 0 || err == nil {
		t.Errorf("%d bytes, %v of a text that cannot be written", n, err)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"lantern", 7, "lantern"},
		{"lantern", 6, "lante…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301tude", 5, "e\u0301tude"},
	} {
		if got := Cut(tt.in, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 12904: "12,904"} {
		if got := Thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for id, want := range map[transcript.SessionID]string{
		"7a11b0d2-3c55-4f0e-9e77-52a1c4d8e6f3": "7a11b0d2",
		"an-bae12088015a7fe3":                  "an-bae12088",
		"history":                              "history",
		"my-notes":                             "my-notes",
		"an-bae12088015a7fe":                   "an-bae12088015a7fe",
		"an-bae12088015a7fe33":                 "an-bae12088015a7fe33",
		"an-lampbulbdimmer16":                  "an-lampbulbdimmer16",
		"an-lampbulbdimmer1":                   "an-lampbulbdimmer1",
		"7a11b0d2x3c55-4f0e-9e77-52a1c4d8e6f3": "7a11b0d2x3c55-4f0e-9e77-52a1c4d8e6f3",
		"7a11b0d2-3c55x4f0e-9e77-52a1c4d8e6f3": "7a11b0d2-3c55x4f0e-9e77-52a1c4d8e6f3",
	} {
		if got := Short(id); got != want {
			t.Errorf("short(%q) = %q, want %q", id, got, want)
		}
	}
}

// Columns counts the columns of a text, and Cut cuts at them.
func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "\u02ff": 1, "\u0300": 0, "\u200d": 0, "\u10ff": 1, "\u1100": 2, "\u115f": 2, "\u1160": 1, "日本": 4, "\ud7a3": 2, "\ud7a4": 1, "\U0001f600": 2, "\U0003fffd": 2, "\U0003fffe": 1,
	} {
		if got := Columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 6, "日本語"}, {"abc", 1, "…"}} {
		if got := Cut(tt.s, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
	for code, want := range map[string]string{"\x1f": `\x1f`, "\x00": `\x00`, "\xff": `\xff`, "\u202e": `\u202e`, "\U000e0041": `\udb40\udc41`, " ": `\u0020`, "\uffff": `\uffff`} {
		if got := escaped(code); got != want {
			t.Errorf("escaped(%q) = %q, want %q", code, got, want)
		}
	}
}

func TestAmong(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "one": {"one"}, "one and two": {"one", "two"}, "one, two and three": {"one", "two", "three"}} {
		if got := WordList(words); got != want {
			t.Errorf("WordList(%q) = %q, want %q", words, got, want)
		}
	}
}

// A screen reports all given bytes as written, though escapes make the output longer.
func TestScreenWritesAll(t *testing.T) {
	var b strings.Builder
	for _, said := range []string{"lit", "\x1b[31m", ""} {
		if n, err := io.WriteString(Guard(&b), said); n != len(said) || err != nil {
			t.Errorf("%q: %d bytes written, %v", said, n, err)
		}
	}
	if got, want := b.String(), `lit\x1b[31m`; got != want {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

// A cell that is cut keeps the end of the path in it.
func TestCutCell(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"internal/pkg/x/y.go", 19, "internal/pkg/x/y.go"},
		{"internal/pkg/x/y.go", 18, "…/pkg/x/y.go"},
		{"Read: internal/pkg/x/y.go", 18, "Read: …/pkg/x/y.go"},
		{"Read: internal/pkg/x/y.go", 13, "Read: intern…"},
		{"Read: internal/pkg/x/y.go", 14, "Read: interna…"}, // a path of 7 columns says too little
		{"Read: internal/pkg/x/y.go", 15, "Read: …g/x/y.go"},
		{"internal/deep/abcd.go", 11, "…/abcd.go"},
		{"internal/deep/abc.go", 11, "…eep/abc.go"},
		{"a/very-long-name-of-a-file.go", 14, "…-of-a-file.go"},
		{strings.Repeat("a/", 500_000) + "internal/x.go", 14, "…internal/x.go"}, // in time
		{"a/" + strings.Repeat("日本", 9), 12, "…本日本日本"},
		{"a line of words and no path", 10, "a line of…"},
	} {
		got := cutCell(tt.s, tt.n)
		if got != tt.want || Columns(got) > tt.n {
			t.Errorf("cutCell(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

// A wrapped line keeps words whole and fits the terminal, except for a word that is wider itself.
func TestWrapped(t *testing.T) {
	for _, tt := range []struct {
		line string
		n    int
		want string
	}{
		{"a b c\n", 5, "a b c\n"},
		{"a b c\n", 4, "a b\nc\n"},
		{"name  a b c\n", 9, "name  a b\n      c\n"},
		{"  a b c\n", 5, "  a b\n  c\n"},
		{"\x1b[31ma\x1b[0m b c\n", 5, "\x1b[31ma\x1b[0m b c\n"},
		{"abcdef g\n", 4, "abcdef\ng\n"},
		{"one two\nthree four\n", 7, "one two\nthree\nfour\n"},
		{strings.Repeat("n", 58) + "  a b c\n", 63, strings.Repeat("n", 58) + "  a b\n" + strings.Repeat(" ", 60) + "c\n"},
		{strings.Repeat("n", 59) + "  a b c\n", 64, strings.Repeat("n", 59) + "  a b\nc\n"},
	} {
		if got := wrapped(tt.line, tt.n); got != tt.want {
			t.Errorf("wrapped(%q, %d) = %q, want %q", tt.line, tt.n, got, tt.want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Percent(1, 3), "33%"},
		{Percent(2, 3), "67%"},
		{Percent(1, 200), "1%"},
		{Percent(99, 20_000), "0%"},
		{Percent(0, 0), "0%"},
		{Percent(7, 7), "100%"},
		{Count(0, "call"), "0 calls"},
		{Count(1, "call"), "1 call"},
		{Count(1200, "call"), "1,200 calls"},
		{Milli(123_456), "0.123"},
		{MessageWords(-1), "the request"},
		{MessageWords(0), "message 0"},
		{ShortRef("0123456789abcdef"), "01234567"},
		{ShortRef("m_0123456789abcdef"), "m_01234567"},
		{ShortRef("0123456789abcde"), "0123456789abcde"},
		{ShortRef("0123456789abcdeg"), "0123456789abcdeg"},
		{ShortRef("m_note"), "m_note"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
