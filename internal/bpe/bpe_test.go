package bpe_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/bpe"
)

// encodings are the tested encodings, each with its naive definition.
var encodings = sync.OnceValue(func() []encoding {
	return []encoding{
		{"o200k_base", &bpe.O200k, newNaive(&bpe.O200k, splitO200k), "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
		{"cl100k_base", &bpe.Cl100k, newNaive(&bpe.Cl100k, splitCl100k), "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
	}
})

type encoding struct {
	name string
	*bpe.Encoding
	naive  *naive
	digest string // SHA-256 of the file of tokens, as tiktoken has it in its source
}

// The tables have the tokens of the files that tiktoken loads: base64 of the bytes, a
// blank, the number, a line feed.
func TestTablesHaveTheTokensOfTiktoken(t *testing.T) {
	for _, e := range encodings() {
		file := sha256.New()
		for id := range uint32(len(e.naive.tokens)) {
			text, _ := e.Decode([]uint32{id})
			fmt.Fprintf(file, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(text)), id)
		}
		if got := fmt.Sprintf("%x", file.Sum(nil)); got != e.digest {
			t.Errorf("%s: digest %s, want %s", e.name, got, e.digest)
		}
	}
}

// The classes are those of the data of Unicode 16.
func TestClassesAreThoseOfUnicode(t *testing.T) {
	const want = "9db04dea3c77cca78b1c1d6bed96fd6fe436d8f05924f7dd5d29723371b334df"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(bpe.ClassTable))); got != want {
		t.Errorf("digest of the classes is %s, want %s", got, want)
	}
}

// Equal texts have equal tokens on every processor.
func TestTokensArePortable(t *testing.T) {
	const want = "9dc319363742b747b862d45901fc97ab57209d8007d52885bc42d046720096a8"
	tokens := sha256.New()
	for _, e := range encodings() {
		texts := hostile(1 << 10)
		for _, what := range slices.Sorted(maps.Keys(texts)) {
			fmt.Fprintln(tokens, e.Encode(nil, texts[what]))
		}
		fmt.Fprintln(tokens, e.Encode(nil, strings.Join(words, " ")), e.Encode(nil, string(alphabet)))
	}
	if got := fmt.Sprintf("%x", tokens.Sum(nil)); got != want {
		t.Errorf("digest of the tokens is %s, want %s", got, want)
	}
}

// alphabet has a few runes of every class that a pattern distinguishes, and
// runes for which other implementations have differed.
var alphabet = []rune("aabsStTdmrevlLEKẞſéÉ" + // letters, contractions
	"ǅʰ" + "あ中ก" + // title case, modifier, no case
	"\u0301\u093e\u20dd" + // marks: nonspacing, spacing, enclosing
	"017²Ⅷ٣" + // numbers
	"''.,!/-_({’€😀" + // symbols
	"    \t\n\n\n\r\v\f\u00a0\u0085\u2028\u3000" + // white space
	"\ufeff\u200b\ufffd\x00\x7f\u00ad") // none of these

// words are pieces to make texts from.
var words = []string{
	"the", " quick", " brown", "Fox", "'s", "'LL", "'ſ", " ", "        ", "\n", "\n\n", "\r\n", "\t", "/", "----------------",
	"====", " {", "}", "\";", "1", "2024", "-", "—", "é", "e\u0301", "中文", "上下文窗口", "😀", "\u00a0", "func", "(x",
	"internationalization", "ABCDEFGH", "aaaaaaaaaaaa", "0x7fff", "SGVsbG8gd29ybGQ",
}

// text draws a text: some of runes, some of words.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 40, -1),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20), func(w []string) string { return strings.Join(w, "") }),
		rapid.String(),
	)
}

// A fatal has the method that testing and rapid share.
type fatal interface{ Fatalf(string, ...any) }

// known reports whether Go, whose Unicode is older than that of the encodings, knows a rune.
func known(r rune) bool {
	return !unicode.Is(unicode.Cn, r)
}

// check compares the pieces and tokens of a text with those of the definition, which has
// the classes of runes from Go.
func (e encoding) check(t fatal, text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !known(r) }), "")
	e.checkPieces(t, string([]rune(text)))
	want := e.naive.encode(text)
	got := e.Encode(nil, text)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: Encode(%q) = %d, want %d", e.name, text, got, want)
	}
	if n := e.Count(text); n != len(want) {
		t.Fatalf("%s: Count(%q) = %d, want %d", e.name, text, n, len(want))
	}
	if n := e.CountFirst(text); n != len(want) {
		t.Fatalf("%s: Count(%q) = %d before the tables are loaded, want %d", e.name, text, n, len(want))
	}
	if back, ok := e.Decode(got); !ok || back != string([]rune(text)) {
		t.Fatalf("%s: Decode(Encode(%q)) = %q, %t", e.name, text, back, ok)
	}
}

func TestEncodeFollowsDefinition(t *testing.T) {
	for _, e := range encodings() {
		rapid.Check(t, func(t *rapid.T) { e.check(t, text().Draw(t, "text")) })
	}
}

// Contractions that are cut off, and letters before the signs that follow z.
func TestEncodeEndsOfWords(t *testing.T) {
	for _, e := range encodings() {
		for _, text := range []string{"x'r", "x'v", "x'l", "'r", "'v", "'l", "x'", "ab{", "ab[", "aZ@", "aZ`", "ab{c"} {
			e.check(t, text)
		}
	}
}

// Every rune has the same class as in the definition, at any position in a word.
func TestEncodeEveryRune(t *testing.T) {
	if testing.Short() {
		t.Skip("131 072 runes")
	}
	for _, e := range encodings() {
		for r := range rune(0x20000) {
			if utf8.ValidRune(r) && known(r) {
				s := string(r)
				e.checkPieces(t, "aB"+s+s+"Ba \n"+s+"\n "+s+" "+s+"1")
			}
		}
	}
}

func (e encoding) checkPieces(t fatal, text string) {
	var want []string
	for rest := []rune(text); len(rest) > 0; {
		n := e.naive.split(rest)
		want = append(want, string(rest[:n]))
		rest = rest[n:]
	}
	if got := e.Pieces(text); !slices.Equal(got, want) {
		t.Fatalf("%s: pieces of %q are %q, want %q", e.name, text, got, want)
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{
		"", "it's HTTPServer's", "\n    \n", "a\u0301ABC", "x/\n/\n y", " 12345 \r\n \r\n", "\u0301ABC", "\xff\xfe", "'ſ 'ſ",
		strings.Repeat("-", 200), strings.Repeat("ab", 100), "上下文窗口是有限的", "SGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range encodings() {
			e.check(t, text[:min(len(text), 400)])
		}
	})
}

// Backtracking, merging, and encoding by windows give the same tokens for a piece.
func TestWaysAgree(t *testing.T) {
	unit := rapid.StringOfN(rapid.SampledFrom([]rune("ab-= \n\tzqé中あ0X")), 1, 12, -1)
	for _, e := range encodings() {
		rapid.Check(t, func(t *rapid.T) {
			piece := strings.Repeat(unit.Draw(t, "first"), rapid.IntRange(1, 300).Draw(t, "n")) +
				strings.Repeat(unit.Draw(t, "second"), rapid.IntRange(1, 300).Draw(t, "m"))
			merged, same := e.Merged(piece)
			if !same {
				t.Fatalf("%s: backtracking and merging of %q differ", e.name, piece)
			}
			if got := e.Piece(piece); !slices.Equal(got, merged) {
				t.Fatalf("%s: %q has the tokens %d, want %d", e.name, piece, got, merged)
			}
		})
	}
}

// hostile returns texts of n bytes that make a careless encoder quadratic.
func hostile(n int) map[string]string {
	random := rand.New(rand.NewPCG(3, 4))
	noise, letters, upper := make([]byte, n), make([]byte, n), make([]byte, n)
	for i := range n {
		noise[i] = byte(random.Uint32())
		letters[i] = 'a' + byte(random.IntN(26))
		upper[i] = 'A' + byte(random.IntN(26))
	}
	texts := map[string]string{
		"random letters":    string(letters),
		"random capitals":   string(upper),
		"random bytes":      string(noise),
		"base64":            base64.StdEncoding.EncodeToString(noise)[:n],
		"spaces and a word": strings.Repeat(" ", n-1) + "a",
	}
	for _, unit := range []string{
		"a", "A", "0", " ", "\n", "\t", "-", "=", "*", "_", "#", ".", "/", "'", "\\", "中", "あ", "😀", "é", "\u0301", "\u00a0", "\x00",
		"ab", "aB", "-=", "\n ", " \r\n", "/\n", "'s", "abc", "the", " a", "Aa", "ー", "的", "—", "│", "─", "\u200b",
	} {
		texts[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, n/len(unit))
	}
	return texts
}

// No text takes more than twenty steps for each byte, and sixteen times the text
// takes no more than twenty times the steps.
func TestStepsAreLinear(t *testing.T) {
	const large = 1 << 18
	for _, e := range encodings() {
		small := hostile(large / 16)
		for what, text := range hostile(large) {
			few, many := e.Steps(small[what]), e.Steps(text)
			t.Logf("%s, %s: %.1f steps for each byte, %.1f times as many", e.name, what, float64(many)/large, float64(many)/float64(few+1))
			if many > 20*few+1000 || many > 20*large {
				t.Errorf("%s, %s: %d steps for %d bytes, %d for %d", e.name, what, few, large/16, many, large)
			}
		}
	}
}

// The tokens of a long piece do not depend on the windows.
func TestLongPieces(t *testing.T) {
	for _, e := range encodings() {
		for what, text := range hostile(20 << 10) {
			for _, piece := range e.Pieces(string([]rune(text))) {
				if len(piece) < 100 {
					continue
				}
				want, _ := e.Merged(piece)
				if got := e.Piece(piece); !slices.Equal(got, want) {
					t.Errorf("%s, %s: a piece of %d bytes has %d tokens, want %d", e.name, what, len(piece), len(got), len(want))
				}
			}
		}
	}
}

// A count loads the tables only once more than FewBytes bytes were counted. The counts before
// and after loading are equal, also with several goroutines.
func TestFirstCountsLoadNothing(t *testing.T) {
	const part = bpe.FewBytes / 8
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", part)[:part]
	e := bpe.New(&bpe.Cl100k)
	want := bpe.Cl100k.Count(text)
	if n := e.Count(""); n != 0 || e.Loaded() {
		t.Errorf("Count of nothing is %d, and loads the tables: %t", n, e.Loaded())
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if n := e.Count(text); n != want {
				t.Errorf("Count is %d before the tables are loaded, want %d", n, want)
			}
		})
	}
	all.Wait()
	if e.Loaded() {
		t.Errorf("the tables are loaded after %d bytes", bpe.FewBytes)
	}
	for range 8 {
		all.Go(func() {
			if n := e.Count(text); n != want {
				t.Errorf("Count is %d once the tables are loaded, want %d", n, want)
			}
		})
	}
	all.Wait()
	if !e.Loaded() {
		t.Errorf("the tables are not loaded after %d bytes", 2*bpe.FewBytes)
	}
	if e := bpe.New(&bpe.Cl100k); e.Count(strings.Repeat(text, 8)) == 0 || e.Loaded() {
		t.Errorf("the tables are loaded after one text of %d bytes", 8*part)
	}
	if e := bpe.New(&bpe.Cl100k); e.Count(strings.Repeat(text, 9)) == 0 || !e.Loaded() {
		t.Errorf("the tables are not loaded after one text of %d bytes", 9*part)
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	texts := []string{
		"The quick brown fox jumps over the lazy dog.\n", "{\"key\": [1, 2.5, null]}\n", "上下文窗口是有限的，所以我们必须决定保留什么。",
		strings.Repeat("-", 10_000), strings.Repeat("x", 10_000),
	}
	for _, e := range encodings() {
		ids := make([]uint32, 0, 20_000)
		for _, text := range texts {
			if n := testing.AllocsPerRun(100, func() { e.Count(text) }); n != 0 {
				t.Errorf("%s: Count(%.20q) allocates %v times", e.name, text, n)
			}
			if n := testing.AllocsPerRun(100, func() { e.Encode(ids, text) }); n != 0 {
				t.Errorf("%s: Encode(%.20q) allocates %v times", e.name, text, n)
			}
		}
	}
}

func TestDecodeUnknownToken(t *testing.T) {
	for _, e := range encodings() {
		for _, id := range []uint32{uint32(len(e.naive.tokens)), 1 << 18, 1<<32 - 1} {
			if text, ok := e.Decode([]uint32{0, id}); ok {
				t.Errorf("%s: Decode(%d) = %q", e.name, id, text)
			}
		}
	}
}

func TestLoadDamagedTable(t *testing.T) {
	table := bpe.Cl100k.Table()
	tokens := (len(table) - 256 - 3 + 256*6) / 9
	pairs, starts := tokens-256, 256+3*(tokens+1) // where the pairs begin
	number := func(at int) int { return int(table[at]) | int(table[at+1])<<8 | int(table[at+2])<<16 }
	right, made := number(starts), number(starts+6+3) // of the first pair, and by the second
	with := func(at, n int) string {
		return table[:at] + string([]byte{byte(n), byte(n >> 8), byte(n >> 16)}) + table[at+3:]
	}
	if number(256) != 0 || number(starts-3) != pairs {
		t.Fatalf("the pairs are %d to %d, want 0 to %d: this test damages something else", number(256), number(starts-3), pairs)
	}
	own, earlier := 0, make(map[int]bool) // a pair whose right part is made by no earlier pair
	for ; number(starts+6*own) < 256 || earlier[number(starts+6*own)]; own++ {
		earlier[number(starts+6*own+3)] = true
	}
	for what, damaged := range map[string]string{
		"nothing":                          "",
		"too few bytes":                    table[:255],
		"no pairs":                         table[:256],
		"half a pair":                      table[:len(table)-3],
		"a pair too few":                   table[:len(table)-6],
		"pairs that begin later":           with(256, 1),
		"pairs that end too late":          with(starts-3, pairs+1),
		"pairs that end too early":         with(starts-3, pairs-1),
		"a token with fewer than no pairs": with(256+3, 1<<18),
		"pairs in no order":                with(starts+6, right),
		"a part that comes later":          with(starts+3, 256),
		"a token beyond the last":          with(starts+3, pairs+256),
		"a token that is its own part":     with(starts+6*own+3, number(starts+6*own)),
		"one token less than the bytes":    table[:256] + strings.Repeat("\x00", 3*256-6),
		"a token that is a byte":           with(starts+3, 255),
		"a token twice":                    with(starts+3, made),
	} {
		if err := bpe.LoadTable(damaged); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := bpe.LoadTable(table[:256] + strings.Repeat("\x00", 3*257)); err != nil {
		t.Errorf("a table of the bytes alone: %v", err)
	}
	classes := bpe.ClassTable
	for what, damaged := range map[string]string{
		"no classes":             "",
		"half of the classes":    classes[:len(classes)/2/2*2],
		"a class without a size": classes + "o",
		"a class too many":       classes + "o\x01",
		"an unknown class":       "x" + classes[1:],
	} {
		if err := bpe.LoadClasses(damaged); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
