package token_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/token"
)

func encoding(t testing.TB, name string) token.Counter {
	t.Helper()
	c, err := token.Encoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The first rows are the examples that OpenAI's cookbook prints with their
// tokens; in the others every piece is one token, or the pieces are digits.
func TestCountKnownTexts(t *testing.T) {
	for _, tt := range []struct {
		name          string
		text          string
		o200k, cl100k token.Count
	}{
		{"a long word", "antidisestablishmentarianism", 6, 6},
		{"a sum", "2 + 2 = 4", 7, 7},
		{"Japanese", "お誕生日おめでとう", 8, 9},
		{"a sentence", "tiktoken is great!", 6, 6},

		{"nothing", "", 0, 0},
		{"two words", "hello world", 2, 2},
		{"one blank", " ", 1, 1},
		{"a blank line with blanks is one token", "\n    \n", 1, 1},
		{"so it is between lines", "a\n    \nb", 3, 3},
		{"digits go by three", "1234567", 3, 3},
		{"a contraction is part of the word in o200k only", "it's", 1, 2},
		{"a special token is text in a message", "<|endoftext|>", 7, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := encoding(t, "o200k_base").Count(tt.text); got != tt.o200k {
				t.Errorf("o200k_base: Count(%q) = %d, want %d", tt.text, got, tt.o200k)
			}
			if got := encoding(t, "cl100k_base").Count(tt.text); got != tt.cl100k {
				t.Errorf("cl100k_base: Count(%q) = %d, want %d", tt.text, got, tt.cl100k)
			}
		})
	}
}

func TestEncodingOfUnknownName(t *testing.T) {
	for _, name := range []string{
		"", "o200k_bas", "O200K_BASE", "p50k_base", "*1.35", "o200k_base*", "o200k_base*1.3", "o200k_base*.35", "o200k_base*1.355",
		"o200k_base*0.99", "o200k_base*01.35", "o200k_base*-1.35", "o200k_base*+1.35", "o200k_base*1.-5",
		"o200k_base*99999999999.00", "x*1.35", "o200k_base*1.35*x",
	} {
		c, err := token.Encoding(name)
		if c != nil || !errors.Is(err, token.ErrEncoding) {
			t.Errorf("Encoding(%q) = %v, %v, want ErrEncoding", name, c, err)
		}
	}
}

// The name of any Counter makes an equal Counter.
func TestEncodingNamesItself(t *testing.T) {
	counters := []token.Counter{
		encoding(t, "o200k"), encoding(t, "cl100k"), encoding(t, "estimate"),
		token.ForModel("claude-opus-4-7"), token.ForModel("nobody knows"),
		token.Bound(encoding(t, "cl100k_base"), 100),
		token.Bound(token.Bound(encoding(t, "estimate"), 1234), 105),
	}
	const text = "One text is as good as another: 12345, \"quoted\".\n"
	for _, c := range counters {
		same := encoding(t, c.Encoding())
		if same.Encoding() != c.Encoding() || same.Count(text) != c.Count(text) {
			t.Errorf("Encoding(%q) counts %d as %q, want %d", c.Encoding(), same.Count(text), same.Encoding(), c.Count(text))
		}
	}
}

func TestMakingCountersLoadsNothing(t *testing.T) {
	if token.LoadedEarly {
		t.Error("tables were loaded before the first count")
	}
	encoding(t, "o200k_base").Count(strings.Repeat("load ", 1<<15))
	if !token.Loaded() {
		t.Error("tables are not loaded after a count: this test sees nothing")
	}
}

// hostile returns inputs of n bytes that make a careless tokenizer quadratic.
func hostile(n int) map[string]string {
	random := rand.New(rand.NewPCG(3, 4))
	noise, letters := make([]byte, n), make([]byte, n)
	for i := range n {
		noise[i] = byte(random.Uint32())
		letters[i] = 'a' + byte(random.IntN(26))
	}
	return map[string]string{
		"one small letter":     strings.Repeat("a", n),
		"one capital letter":   strings.Repeat("A", n),
		"a character in three": strings.Repeat("中", n/3),
		"spaces":               strings.Repeat(" ", n),
		"spaces and a word":    strings.Repeat(" ", n-1) + "a",
		"line feeds":           strings.Repeat("\n", n),
		"blank lines":          strings.Repeat("\n ", n/2),
		"lines of other hosts": strings.Repeat(" \r\n", n/3),
		"dashes":               strings.Repeat("-", n),
		"slashes and lines":    strings.Repeat("/\n", n/2),
		"quotes":               strings.Repeat("'", n),
		"digits":               strings.Repeat("7", n),
		"random letters":       string(letters),
		"random bytes":         string(noise),
	}
}

// Sixteen times the text has about sixteen times the tokens. A tokenizer that is
// quadratic in any of these needs minutes for them: it would never end.
func TestCountHostileInput(t *testing.T) {
	for name, size := range map[string]int{"o200k_base": 1 << 20, "cl100k_base": 1 << 18} {
		if token.RaceEnabled {
			size = 1 << 16 // the detector takes its time, quadratic or not
		}
		c := encoding(t, name)
		small, large := hostile(size/16), hostile(size)
		for what, text := range large {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				few, many := c.Count(small[what]), c.Count(text)
				if many < 15*few || many > 17*few {
					t.Errorf("Count = %d for %d bytes, %d for %d; want about 16 times as much", few, size/16, many, size)
				}
			})
		}
	}
}

// A byte that is not UTF-8 counts as a replacement character.
func TestCountTextThatIsNotUTF8(t *testing.T) {
	for _, text := range []string{"\xff", "a\x80b", "\xe4\xb8", "\xed\xa0\x80", "line\xc3\n\xa9line", strings.Repeat("\xf0\x9f", 100)} {
		replaced := string([]rune(text))
		for _, name := range []string{"o200k_base", "cl100k_base"} {
			c := encoding(t, name)
			if got, want := c.Count(text), c.Count(replaced); got != want || got < 1 {
				t.Errorf("%s: Count(%q) = %d, want that of %q, %d", name, text, got, replaced, want)
			}
		}
	}
}

// words are pieces to make texts from, with every kind of seam between them.
var words = []string{
	"the", " quick", " brown", "Fox", "'s", "'LL", " ", "  ", "\n", "\n\n", "\r\n", "\t", "/", "//", " {", "}", "\";",
	"1", "2024", "-", "—", "é", "e\u0301", "中文", "😀", "\u00a0", "\xff", "func", "(x", ")", "\u0301",
}

// Counts add up at a seam, wherever the two texts come from.
func TestCountsAddUpAtSeams(t *testing.T) {
	part := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20), func(w []string) string { return strings.Join(w, "") })
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		c := encoding(t, name)
		rapid.Check(t, func(t *rapid.T) {
			left := part.Draw(t, "left") + "\n"
			right := part.Filter(func(s string) bool { return token.Seam("\n", s) }).Draw(t, "right")
			if got, want := c.Count(left)+c.Count(right), c.Count(left+right); got != want {
				t.Fatalf("%s: %q and %q have %d tokens apart, %d together", name, left, right, got, want)
			}
		})
		random := rand.New(rand.NewPCG(1, 2))
		for range 100_000 {
			var texts [2]string
			for i := range texts {
				for range random.IntN(8) {
					texts[i] += words[random.IntN(len(words))]
				}
			}
			left, right := texts[0]+"\n", texts[1]
			if got, want := c.Count(left)+c.Count(right), c.Count(left+right); got != want && token.Seam(left, right) {
				t.Fatalf("%s: %q and %q have %d tokens apart, %d together", name, left, right, got, want)
			}
		}
	}
}

// A Tally counts the whole text, in whatever parts it comes.
func TestTally(t *testing.T) {
	part := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8), func(w []string) string { return strings.Join(w, "") })
	for _, name := range []string{"o200k_base", "cl100k_base", "o200k_base*1.35", "cl100k_base*1.10*1.07", "estimate", "estimate*1.35"} {
		c := encoding(t, name)
		rapid.Check(t, func(t *rapid.T) {
			tally, text := token.NewTally(c), ""
			for _, p := range rapid.SliceOfN(part, 0, 10).Draw(t, "parts") {
				if got, want := tally.With(p), c.Count(text+p); got != want {
					t.Fatalf("%s: %q with %q has %d tokens, want %d", name, text, p, got, want)
				}
				tally.Add(p)
				text += p
			}
		})
	}
}

func TestSeam(t *testing.T) {
	for _, tt := range []struct {
		left, right string
		want        bool
	}{
		{"a\n", "b", true},
		{"a\n\n", "b", true},
		{"a\n", "\xffb", true},
		{"", " b", true},
		{"a", "", true},
		{"a", "b", false},
		{"a\r", "b", false},
		{"a\n", " b", false},
		{"a\n", "/b", false},
		{"a\n", "\u3000b", false},
		{"a\n", "\nb", false},
	} {
		if got := token.Seam(tt.left, tt.right); got != tt.want {
			t.Errorf("Seam(%q, %q) = %t, want %t", tt.left, tt.right, got, tt.want)
		}
	}
}

func TestBound(t *testing.T) {
	est := encoding(t, "estimate")
	for _, tt := range []struct {
		name    string
		length  int // characters; a quarter of it is the estimate
		percent int
		want    token.Count
		encoded string
	}{
		{"a bound rounds up", 4, 135, 2, "estimate*1.35"},
		{"a whole number stays", 400, 135, 135, "estimate*1.35"},
		{"nothing stays nothing", 0, 135, 0, "estimate*1.35"},
		{"one hundred percent changes nothing", 28, 100, 7, "estimate*1.00"},
		{"a bound is not below the count", 28, 50, 7, "estimate*1.00"},
		{"a negative factor is none", 28, -5, 7, "estimate*1.00"},
		{"a large factor", 4, 1205, 13, "estimate*12.05"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := token.Bound(est, tt.percent)
			if got := c.Count(strings.Repeat("x", tt.length)); got != tt.want {
				t.Errorf("Count = %d, want %d", got, tt.want)
			}
			if got := c.Encoding(); got != tt.encoded {
				t.Errorf("Encoding() = %q, want %q", got, tt.encoded)
			}
		})
	}
}

func TestEstimate(t *testing.T) {
	digits := strings.Repeat("0", 400)
	for _, tt := range []struct {
		name string
		text string
		kind token.Kind
		want token.Count
	}{
		{"prose", digits, token.KindProse, 100},
		{"code", digits, token.KindCode, 115},
		{"JSON", digits, token.KindJSON, 134},
		{"an image costs no text", digits, token.KindImage, 0},
		{"an unknown kind is prose", digits, "tea leaves", 100},
		{"rounds up as prose", "abcde", token.KindProse, 2},
		{"rounds up as code", "abcd", token.KindCode, 2},
		{"seven characters of code are two tokens", "abcdefg", token.KindCode, 2},
		{"counts characters, not bytes", "éééé", token.KindProse, 1},
		{"an emoji is two characters", "😀😀😀", token.KindProse, 2},
		{"the last character of one unit", strings.Repeat("\uffff", 4), token.KindProse, 1},
		{"the first character of two", strings.Repeat("\U00010000", 4), token.KindProse, 2},
		{"nothing", "", token.KindJSON, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := token.Estimate(tt.text, tt.kind); got != tt.want {
				t.Errorf("Estimate(%d bytes, %q) = %d, want %d", len(tt.text), tt.kind, got, tt.want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	for _, tt := range []struct {
		model  string
		counts string
		window token.Count
	}{
		{"gpt-4o", "o200k_base", 128_000},
		{"gpt-4o-mini-2024-07-18", "o200k_base", 128_000},
		{"openai/gpt-4o", "o200k_base", 128_000},
		{"ft:gpt-4o-mini:acme::abc", "o200k_base", 128_000},
		{"GPT-5", "o200k_base", 400_000},
		{"gpt-5.1-codex", "o200k_base", 400_000},
		{"gpt-5-chat-latest", "o200k_base", 128_000},
		{"openai/gpt-5.2-chat-latest", "o200k_base", 128_000},
		{"ft:gpt-4o:acme:claude-voice:x", "o200k_base", 128_000},
		{"gpt-4.1-nano", "o200k_base", 1_047_576},
		{"o3", "o200k_base", 200_000},
		{"o1-mini", "o200k_base", 128_000},
		{"gpt-4", "cl100k_base", 8_192},
		{"gpt-4-turbo-preview", "cl100k_base", 128_000},
		{"gpt-3.5-turbo-0125", "cl100k_base", 16_385},
		{"text-embedding-3-small", "cl100k_base", 8_191},

		{"claude-3-5-sonnet-20241022", "o200k_base*1.35", 200_000},
		{"claude-opus-4-20250514", "o200k_base*1.35", 200_000},
		{"claude-opus-4-6", "o200k_base*1.35", 200_000},
		{"claude-opus-4-7", "o200k_base*1.65", 200_000},
		{"anthropic/claude-opus-4.7", "o200k_base*1.65", 200_000},
		{"claude-sonnet-4-5[1m]", "o200k_base*1.35", 1_000_000},
		{"Claude-Sonnet-5[1M]", "o200k_base*1.65", 1_000_000},
		{"claude-sonnet-5", "o200k_base*1.65", 200_000},
		{"us.anthropic.claude-3-haiku-20240307-v1:0", "o200k_base*1.35", 200_000},
		{"anthropic.claude-v2", "o200k_base*1.35", 100_000},
		{"anthropic.claude-v2:1", "o200k_base*1.35", 200_000},
		{"gemini-2.5-flash-image-preview", "o200k_base*1.35", 32_768},
		{"models/gemini-2.5-pro", "o200k_base*1.35", 1_048_576},

		{"~claude-opus-4-7", "o200k_base*1.65", 200_000},

		{"o11", "o200k_base*1.35", 200_000}, // not o1
		{"o10", "o200k_base*1.35", 200_000},
		{"o19", "o200k_base*1.35", 200_000},
		{"o1a", "o200k_base*1.35", 200_000},
		{"o1z", "o200k_base*1.35", 200_000},
		{"o1~new", "o200k_base", 200_000},
		{"llama-3.3-70b", "o200k_base*1.35", 200_000},
		{"", "o200k_base*1.35", 200_000},
	} {
		if got := token.ForModel(tt.model).Encoding(); got != tt.counts {
			t.Errorf("ForModel(%q) counts with %s, want %s", tt.model, got, tt.counts)
		}
		if got := token.ContextWindow(tt.model); got != tt.window {
			t.Errorf("ContextWindow(%q) = %d, want %d", tt.model, got, tt.window)
		}
	}
}

// The framing of an unknown provider is nowhere below that of a known one.
func TestFramingOfUnknownProvider(t *testing.T) {
	bound := token.FramingOf("nobody")
	for _, provider := range []string{"openai", "anthropic"} {
		f := token.FramingOf(provider)
		if f.Request < 1 || f.Tools < 1 || f.Message < 1 || f.Call < 1 || f.Result < 1 {
			t.Errorf("FramingOf(%q) = %+v, want every figure positive", provider, f)
		}
		if f.Request > bound.Request || f.Tools > bound.Tools || f.Message > bound.Message || f.Call > bound.Call || f.Result > bound.Result {
			t.Errorf("FramingOf(%q) = %+v, want at most %+v", provider, f, bound)
		}
	}
}

// Goroutines that count the same texts at once, the first load included, agree.
func TestCountConcurrently(t *testing.T) {
	counters := map[string]token.Counter{
		"o200k":  encoding(t, "o200k_base"),
		"cl100k": encoding(t, "cl100k_base"),
		"bound":  token.ForModel("claude-sonnet-5"),
	}
	texts := []string{"one", "two words", "and\n   \nthree", strings.Repeat("a line\n", 1_000)}
	const workers = 8
	got := make([]map[string]token.Count, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			got[i] = make(map[string]token.Count)
			for name, c := range counters {
				for _, text := range texts {
					got[i][name] += c.Count(text)
				}
			}
		})
	}
	group.Wait()
	for name, c := range counters {
		want := token.Count(0)
		for _, text := range texts {
			want += c.Count(text)
		}
		for i := range workers {
			if got[i][name] != want {
				t.Errorf("worker %d: %s counted %d, want %d", i, name, got[i][name], want)
			}
		}
	}
}
