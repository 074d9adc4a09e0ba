package assembly

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNeutralize(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		n              int
	}{
		{"the empty text", "", "", 0},
		{"white space", "a\tb\r\nc", "a\tb\r\nc", 0},
		{"a change of direction", "access \u202Egnp.exe", "access [U+202E]gnp.exe", 1},
		{"a keycap that is none", "a\uFE0F\u20E3", "a[U+FE0F]\u20E3", 1},
		{"isolates", "\u2066a\u2069", "[U+2066]a[U+2069]", 2},
		{"a zero-width space", "pass\u200Bword", "pass[U+200B]word", 1},
		{"joiners in Latin", "a\u200Db\u200Cc", "a[U+200D]b[U+200C]c", 2},
		{"a byte order mark", "\uFEFFx", "[U+FEFF]x", 1},
		{"a message in tags", "hi\U000E0068\U000E0069", "hi[U+E0068][U+E0069]", 2},
		{"bytes in variation selectors", "😀\uFE00\U000E0101", "😀[U+FE00][U+E0101]", 2},
		{"a soft hyphen", "co\u00ADop", "co[U+00AD]op", 1},
		{"fillers of Hangul", "\u115F\u1160\u3164\uFFA0", "[U+115F][U+1160][U+3164][U+FFA0]", 4},
		{"separators", "a\u2028b\u2029c", "a[U+2028]b[U+2029]c", 2},
		{"control characters", "\x00\x1b[0m\x7f\u0085", "[U+0000][U+001B][0m[U+007F][U+0085]", 4},
		{"noncharacters", "\uFDD0\uFFFE\U0010FFFF", "[U+FDD0][U+FFFE][U+10FFFF]", 3},
		{"bytes that are not UTF-8", "a\xffb\xe2\x80", "a[0xFF]b[0xE2][0x80]", 3},
		{"the replacement character", "a\uFFFDb", "a\uFFFDb", 0},
		{"a style without a base", "\uFE0Fa\uFE0F", "[U+FE0F]a[U+FE0F]", 2},
		{"two styles on one base", "❤\uFE0F\uFE0F", "❤\uFE0F[U+FE0F]", 1},
		{"a style on a digit that is no keycap", "1\uFE0F0", "1[U+FE0F]0", 1},
		{"a joiner at the end of an emoji", "👩\u200D", "👩[U+200D]", 1},
		{"two joiners in an emoji", "👩\u200D\u200D💻", "👩[U+200D][U+200D]💻", 2},
		{"the tags of another region", "🏴" + tagged("ustx"), "🏴[U+E0075][U+E0073][U+E0074][U+E0078][U+E007F]", 5},
		{"a flag that is not closed", "🏴" + strings.TrimSuffix(tagged("gbeng"), "\U000E007F"), "🏴[U+E0067][U+E0062][U+E0065][U+E006E][U+E0067]", 5},
		{"a joiner between scripts", "م\u200Cक", "م[U+200C]क", 1},
		{"a joiner at the end of a word", "می\u200C ", "می[U+200C] ", 1},
		{"a joiner behind a figure of a joining script", "٣\u200Cم", "٣[U+200C]م", 1},
		{"a Mongolian selector on a letter of another script", "a\u180F", "a[U+180F]", 1},
		{"beams and slurs of music", "\U0001D173\U0001D17A\U0001D172", "[U+1D173][U+1D17A]\U0001D172", 2},
		{"steps of shorthand", "\U0001BCA0\U0001BCA3", "[U+1BCA0][U+1BCA3]", 2},
		{"a Mongolian selector on a digit of this script", "\u1810\u180B", "\u1810[U+180B]", 1},
		{"a joiner behind a hidden mark", "क\u034F\u200Dष", "क[U+034F][U+200D]ष", 2},
		{"the last of the hidden plane and the next", "\U000E0FFF\U000E1000", "[U+E0FFF]\U000E1000", 1},
		{"an ideographic variation on a letter", "a\U000E0100", "a[U+E0100]", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, n := Neutralize(tt.in); got != tt.want || n != tt.n {
				t.Errorf("Neutralize(%+q) = %+q, %d, want %+q, %d", tt.in, got, n, tt.want, tt.n)
			}
		})
	}
}

// What is written with invisible code points for a reason stays as it is.
var legitimateTexts = []string{
	"👨‍👩‍👧‍👦", "👩🏽‍💻", "👩🏻‍💻", "👩🏿‍💻", "🏳️‍🌈", "🏳️‍⚧️", "🏴‍☠️", "👁️‍🗨️", "❤️‍🔥", "🧑‍⚕️", "🏃🏿‍♀️‍➡️", "🐦‍⬛", "🙂‍↔️", "0️⃣", "1️⃣", "9️⃣", "#️⃣", "*️⃣", "☝🏽", "🇩🇪", "❤︎", "™️", "㊗️",
	"🏴" + tagged("gbeng"), "🏴" + tagged("gbsct"), "🏴" + tagged("gbwls"),
	"می\u200Cخواهم", "क्\u200Dष", "क्\u200Cष", "ර\u0DCA\u200Dය", "র\u200D্য", "葛\U000E0100", "ᠠ\u180B", "ᠠ\u180F", "\u2000x\u2010",
	"[U+202E]", "日本語、한국어, עברית, ไทย, naïve, ½ ≠ ²", "a\u00A0b\u3000c", "12\u202F000\u202F€", "\uFDF0\uFDF2", "1\uFE0F\u20E3", "#\uFE0F\u20E3",
}

func TestNeutralizeKeepsWriting(t *testing.T) {
	for _, text := range append(legitimateTexts, strings.Join(legitimateTexts, "")) {
		if got, n := Neutralize(text); got != text || n != 0 {
			t.Errorf("Neutralize(%+q) = %+q, %d, want it as it is", text, got, n)
		}
	}
}

func TestNeutralizeAllocatesNothingForCleanText(t *testing.T) {
	text := strings.Repeat("plain text, naïve 日本語 👩🏽‍💻\n", 100)
	if got := testing.AllocsPerRun(10, func() { Neutralize(text) }); got != 0 {
		t.Errorf("a clean text costs %v allocations, want 0", got)
	}
}

// forbiddenRanges restates what is forbidden everywhere, independently of
// suspect and without the code points that may stay beside some neighbors.
var forbiddenRanges = [][2]rune{
	{0, 8},
	{0xB, 0xC},
	{0xE, 0x1F},
	{0x7F, 0x9F},
	{0xAD, 0xAD},
	{0x34F, 0x34F},
	{0x61C, 0x61C},
	{0x115F, 0x1160},
	{0x17B4, 0x17B5},
	{0x180E, 0x180E},
	{0x200B, 0x200B},
	{0x200E, 0x200F},
	{0x2028, 0x202E},
	{0x2060, 0x206F},
	{0x3164, 0x3164},
	{0xFDD0, 0xFDEF},
	{0xFE00, 0xFE0D},
	{0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB},
	{0xFFFE, 0xFFFF},
	{0x1BCA0, 0x1BCA3},
	{0x1D173, 0x1D17A},
	{0x1FFFE, 0x1FFFF},
	{0x10FFFE, 0x10FFFF},
	{0xE0000, 0xE0061},
	{0xE0078, 0xE007E},
	{0xE0080, 0xE00FF},
	{0xE01F0, 0xE0FFF},
}

// conditional are the code points that may stay.
const conditional = "\u200C\u200D\uFE0E\uFE0F\u180B\u180C\u180D\u180F"

// checkNeutral reports what is wrong with the neutral form of a text.
func checkNeutral(text string) error {
	got, n := Neutralize(text)
	if (n == 0) != (got == text) {
		return fmt.Errorf("%d replacements in %+q give %+q", n, text, got)
	}
	if !utf8.ValidString(got) {
		return fmt.Errorf("%+q becomes %+q, which is not UTF-8", text, got)
	}
	if again, m := Neutralize(got); again != got || m != 0 {
		return fmt.Errorf("%+q becomes %+q and then %+q", text, got, again)
	}
	prev := rune(0)
	for _, r := range got {
		for _, x := range forbiddenRanges {
			if x[0] <= r && r <= x[1] {
				return fmt.Errorf("%+q becomes %+q, which has %U", text, got, r)
			}
		}
		if strings.ContainsRune(conditional, r) && (prev < 0xA0 && !keycapBase(prev) || strings.ContainsRune(conditional[:6], prev)) {
			return fmt.Errorf("%+q becomes %+q, which has %U after %U", text, got, r, prev)
		}
		prev = r
	}
	return nil
}

// hostile draws texts that are rich in what is forbidden, and in the neighbors
// that make it legitimate.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"a", "1", "#", " ", "\n", "[", "👩", "💻", "🏽", "🏴", "❤", "⃣", "م", "ی", "ً", "क", "्", "葛", "ᠠ", "→", "\xff", "\xe2\x80", "\U000E0067", "\U000E007F",
		tagged("gbeng"), tagged("gbsct"), "\u200C", "\u200D", "\uFE0F", "\uFE0E", "\U000E0100", "\u180B", "\u17B4", "\u202E",
	}
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom(pieces),
		rapid.SampledFrom(legitimateTexts),
		rapid.Map(rapid.SampledFrom(forbiddenRanges), func(x [2]rune) string { return string(x[0]) }),
		rapid.StringN(0, 3, -1),
		rapid.Map(rapid.Int32Range(0, utf8.MaxRune), func(r int32) string { return string(r) }),
		rapid.Map(rapid.Byte(), func(b byte) string { return string([]byte{b}) }),
	), 0, 40), func(parts []string) string { return strings.Join(parts, "") })
}

func TestNeutralizeLeavesNothingHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := checkNeutral(hostile().Draw(t, "text")); err != nil {
			t.Fatal(err)
		}
	})
}

// Every code point of the planes that have something to hide, and the ends of
// the others, alone and after a base that some go with.
func TestNeutralizeEveryCodePoint(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x1FFFF && r>>12 != 0xE0 && r&0xFFFF < 0xFFF0 {
			continue
		}
		for _, base := range []string{"", "👩"} {
			if err := checkNeutral(base + string(r)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func FuzzNeutralize(f *testing.F) {
	for _, text := range legitimateTexts {
		f.Add(text)
	}
	f.Add("a\u202Eb\xff\u200D")
	f.Fuzz(func(t *testing.T, text string) {
		if err := checkNeutral(text); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkNeutralize(b *testing.B) {
	for _, input := range []struct{ name, text string }{
		{"ascii", strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 6_000)},
		{"cjk", strings.Repeat("上下文窗口是有限的，所以我们必须决定保留什么。\n", 4_000)},
		{"emoji", strings.Repeat("done 👩🏽‍💻 1️⃣ and 🏳️‍🌈\n", 5_000)},
		{"hidden", strings.Repeat("a\u200B", 60_000)},
	} {
		b.Run(input.name, func(b *testing.B) {
			b.SetBytes(int64(len(input.text)))
			b.ReportAllocs()
			for b.Loop() {
				Neutralize(input.text)
			}
		})
	}
}
