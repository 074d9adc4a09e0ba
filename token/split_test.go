package token

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"pgregory.net/rapid"
)

// reference returns the pieces of a text as the pattern of an encoding says.
// The group around it keeps the pattern from being found in the registry of
// matchers: it is interpreted, rule by rule.
func reference(t testing.TB, pattern string) func(text string) []string {
	re := regexp2.MustCompile("(?:"+pattern+")", regexp2.None)
	return func(text string) []string {
		var pieces []string
		m, err := re.FindStringMatch(text)
		for m != nil && err == nil {
			pieces = append(pieces, m.String())
			m, err = re.FindNextMatch(m)
		}
		if err != nil {
			t.Fatalf("pattern on %q: %v", text, err)
		}
		return pieces
	}
}

func pieces(split splitter, text string) []string {
	var all []string
	for rest := []rune(text); len(rest) > 0; {
		n := split(rest)
		all = append(all, string(rest[:n]))
		rest = rest[n:]
	}
	return all
}

// alphabet has a few of every class of rune that a pattern tells apart, and
// those on which implementations have been seen to differ.
var alphabet = []rune("aabsStTdmrevlLEKẞſéÉ" + // letters, contractions
	"ǅʰ" + "あ中ก" + // title case, modifier, no case
	"\u0301\u093e\u20dd" + // marks: nonspacing, spacing, enclosing
	"017²Ⅷ٣" + // numbers
	"''.,!/-_({’€😀" + // symbols
	"    \t\n\n\n\r\v\f\u00a0\u0085\u2028\u3000" + // white space
	"\ufeff\u200b\ufffd\x00\x7f\u00ad") // none of these

func encodings() []*exact { return []*exact{o200k, cl100k} }

func TestSplitFollowsPattern(t *testing.T) {
	for _, e := range encodings() {
		t.Run(e.name, func(t *testing.T) {
			want := reference(t, e.pattern)
			rapid.Check(t, func(t *rapid.T) {
				text := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(t, "text"))
				equal(t, text, pieces(e.split, text), want(text))
			})
			random := rand.New(rand.NewPCG(1, 2))
			for range 2_000 {
				text := make([]rune, random.IntN(60))
				for i := range text {
					text[i] = alphabet[random.IntN(len(alphabet))]
				}
				equal(t, string(text), pieces(e.split, string(text)), want(string(text)))
			}
		})
	}
}

// Every rune falls into the same class as in the pattern, wherever it stands
// in a word.
func TestSplitClassesEveryRune(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("131 072 runes, in one goroutine")
	}
	const block = 64 // runes in one match; a surrogate is none
	for _, e := range encodings() {
		want := reference(t, e.pattern)
		for low := rune(0); low < 0x20000; low += block {
			var b strings.Builder
			for r := low; r < low+block; r++ {
				if r < 0xD800 || r > 0xDFFF {
					b.WriteString("aB" + string(r) + string(r) + "Ba \n" + string(r) + "\n")
				}
			}
			equal(t, b.String(), pieces(e.split, b.String()), want(b.String()))
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "it's HTTPServer's", "\n    \n", "a\u0301ABC", "x/\n/\n y", " 12345 \r\n \r\n", "\u0301ABC"} {
		f.Add(text)
	}
	var want []func(string) []string
	for _, e := range encodings() {
		want = append(want, reference(f, e.pattern))
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		for i, e := range encodings() {
			equal(t, text, pieces(e.split, text), want[i](text))
		}
	})
}

// fatal is what testing and rapid have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func equal(t fatal, text string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\x01|") != strings.Join(want, "\x01|") {
		t.Fatalf("pieces of %q are\n%q, want\n%q", text, got, want)
	}
}
