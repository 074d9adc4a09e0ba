package assembly

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/token"
)

// The greatest number for which something holds is found from any guess.
func TestLargest(t *testing.T) {
	for limit := range 30 {
		for guess := -2; guess < 35; guess++ {
			for most := range 35 {
				asked := 0
				got := largest(limit, guess, func(n int) bool { asked++; return n <= most })
				if want := min(most, limit); got != want || asked > 20 {
					t.Fatalf("up to %d, guess %d: %d after %d questions, want %d", limit, guess, got, asked, want)
				}
			}
		}
	}
}

// A text is cut behind sentences that are not too short, behind lines, and in a line that is
// long behind a word, or else between two letters.
func TestUnits(t *testing.T) {
	sentence := strings.Repeat("s", 23) + "."
	word := strings.Repeat("w", 9) + " "
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"a line", "one\ntwo", []string{"one\n", "two"}},
		{"a sentence of 24 bytes", sentence + " x", []string{sentence + " ", "x"}},
		{"a shorter one", sentence[1:] + " x", []string{sentence[1:] + " x"}},
		{"white space behind it", sentence + " \t \n\nx", []string{sentence + " \t \n", "\n", "x"}},
		{"a tab behind it", sentence + "\tx", []string{sentence + "\t", "x"}},
		{"no space behind it", sentence + "x", []string{sentence + "x"}},
		{"other ends", strings.Repeat("a", 23) + "! " + strings.Repeat("b", 23) + "? c", []string{strings.Repeat("a", 23) + "! ", strings.Repeat("b", 23) + "? ", "c"}},
		{"an end that needs no space", strings.Repeat("語", 8) + "。日本", []string{strings.Repeat("語", 8) + "。", "日本"}},
		{"a line of 319 bytes", strings.Repeat(word, 31) + strings.Repeat("x", 9), []string{strings.Repeat(word, 31) + strings.Repeat("x", 9)}},
		{"a line of 330 bytes", strings.Repeat(word, 32) + strings.Repeat("x", 10), []string{strings.Repeat(word, 31), word + strings.Repeat("x", 10)}},
		{"tabs between words", strings.Repeat(strings.Repeat("w", 9)+"\t", 33), []string{strings.Repeat(strings.Repeat("w", 9)+"\t", 31), strings.Repeat(strings.Repeat("w", 9)+"\t", 2)}},
		{"a word of 400 bytes", strings.Repeat("x", 400), []string{strings.Repeat("x", 320), strings.Repeat("x", 80)}},
		{"one of letters that take three", strings.Repeat("語", 120), []string{strings.Repeat("語", 107), strings.Repeat("語", 13)}},
		{"one that cannot be cut", strings.Repeat("x", 319) + "e\u0301\u0301y", []string{strings.Repeat("x", 319) + "e\u0301\u0301", "y"}},
	} {
		var got []string
		for _, u := range units(tt.text, nil) {
			got = append(got, u.text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Terms count once each and up to five; a negation and something exact add a little.
func TestScores(t *testing.T) {
	for _, tt := range []struct {
		text  string
		terms []string
		want  int
	}{
		{"nothing of it", []string{"x1"}, pointsNot},
		{"plain words", nil, 0},
		{"Plain WORDS", []string{"plain", "words", "WORDS", "", "Words"}, 2 * pointsTerm},
		{"a b c d e f g", []string{"a", "b", "c", "d", "e", "f", "g"}, 5 * pointsTerm},
		{"a b c d", []string{"x", "a", "b", "y", "c", "d"}, 4 * pointsTerm},
		{"step 7", nil, pointsExact},
		{"a/b", nil, pointsExact},
		{"the `x`", nil, pointsExact},
		{"it must be 7, and never a/b", nil, pointsExact + pointsNot},
		{"we don't", nil, pointsNot},
		{"we don’t", nil, pointsNot},
		{"wont", nil, 0},
		{"(without)", nil, pointsNot},
		{"notable", nil, 0},
		{"n't", nil, pointsNot},
	} {
		got := 0
		for _, u := range units(tt.text, tt.terms) {
			got += u.score
		}
		if got != tt.want {
			t.Errorf("%q for %q: %d points, want %d", tt.text, tt.terms, got, tt.want)
		}
	}
}

// Of a conversation the last request counts most, then the last answer, both less from
// sentence to sentence; what was decided counts wherever it stands.
func TestTranscriptScores(t *testing.T) {
	long := "This is a sentence of more letters. "
	for _, tt := range []struct {
		name, text string
		want       []int
	}{
		{"a request and an answer", "user: a\nassistant: b\nuser: c\nassistant: d\n", []int{0, 0, 64, 48}},
		{"several sentences", "user: " + long + long + "\nassistant: " + long + long, []int{64, 63, 48, 47}},
		{"a request without an answer", "assistant: a\nuser: b\n", []int{48, 64}},
		{"an answer alone", "assistant: a\nb\n", []int{48, 47}},
		{"output of a tool behind an answer", "user: a\nassistant: b\ntool: c\nd\n", []int{64, 48, 0, 0}},
		{"what is no role", "user: a\nUsers: b\nnote that assistant: c\n", []int{64, 63, 62}},
		{"roles in other forms", "**User**: a\n## AI: b\n[system]: c\n", []int{64, 48, 0}},
		{"a role of more than 16 bytes", "user             : a\n", []int{0}},
		{"one of 16", "user            : a\n", []int{64}},
		{"a decision", "user: a\nassistant: we agreed and decided\nsystem: it will\nuser: c\nassistant: let's\n", []int{0, 24, 24, 64, 72}},
		{"a role within a line", "user: " + long + "assistant: b\n", []int{64, 63}},
		{"no roles", "a\nb\n", []int{0, 0}},
		{"more than there are points", "assistant: a\n" + strings.Repeat("b\n", 49), append(slices.Collect(func(yield func(int) bool) {
			for i := range 48 {
				if !yield(48 - i) {
					return
				}
			}
		}), 0, 0)},
	} {
		var got []int
		for _, u := range transcriptUnits(tt.text, nil) {
			got = append(got, u.score)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Beginning and end are cut behind a line where that leaves more than half.
func TestHeadAndTail(t *testing.T) {
	for _, tt := range []struct {
		text       string
		room       token.Count
		head, tail string
	}{
		{"aaaaaa\nbbb", 9, "aaaaaa\n", "aaaaa\nbbb"},
		{"aa\nbbbbbbbbb", 8, "aa\nbbbbb", "bbbbbbbb"},
		{"aaa\nbbbb", 6, "aaa\n", "bbbb"},
		{"aaa\nbbbb", 7, "aaa\n", "aa\nbbbb"},
		{"aaa\nbbbb", 8, "aaa\nbbbb", "aaa\nbbbb"},
		{"abcdef", 3, "abc", "def"},
		{"語語語", 4, "語", "語"},
		{"ae\u0301b", 2, "a", "b"},
		{"abc", 0, "", ""},
		{"\naaaaaaaa", 9, "\naaaaaaaa", "aaaaaaaa"},
	} {
		c := cutter{text: tt.text, count: countBytes}
		if got := tt.text[:c.head(tt.room)]; got != tt.head {
			t.Errorf("%d bytes of %q begin with %q, want %q", tt.room, tt.text, got, tt.head)
		}
		if got := tt.text[c.tail(tt.room, 0):]; got != tt.tail {
			t.Errorf("%d bytes of %q end with %q, want %q", tt.room, tt.text, got, tt.tail)
		}
	}
	c := cutter{text: "abcdef", count: countBytes}
	if got := c.tail(5, 4); got != 4 {
		t.Errorf("an end behind 4 begins at %d", got)
	}
}

// Passages are paragraphs, joined up to 600 bytes and cut at 1500.
func TestPassages(t *testing.T) {
	p := func(n int) string { return strings.Repeat("p", n-2) + "\n\n" }
	long := strings.Repeat("This sentence has forty letters in it.. ", 60) // 2400 bytes
	for _, tt := range []struct {
		name, text string
		want       []int
	}{
		{"short ones together", p(200) + p(200) + p(200) + p(100), []int{600, 100}},
		{"a byte less", p(200) + p(200) + p(199) + p(100), []int{699}},
		{"one of 1500", p(1500) + p(100), []int{1500, 100}},
		{"a short one before a long one", p(100) + p(1600) + p(10), nil},
		{"two that are 1500 together", p(500) + p(1000) + p(10), []int{1500, 10}},
		{"two that are more", p(500) + p(1001) + p(10), []int{500, 1001, 10}},
		{"a title", p(100) + "# Title\n\n" + p(100), []int{100, 109}},
		{"sentences", long, []int{1480, 920}},
		{"sentences that are 1500 together", strings.Repeat("This sentence has exactly fifty letters in it.... ", 40), []int{1500, 500}},
		{"no paragraph at all", "x", []int{1}},
	} {
		var got []int
		rest := tt.text
		for rest != "" {
			n := passageEnd(rest)
			got = append(got, n)
			rest = rest[n:]
		}
		if tt.want == nil {
			tt.want = got
			if got[0] != 100 {
				t.Errorf("%s: the first ends at %d", tt.name, got[0])
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A passage counts each term once, and the more the fewer have it.
func TestPassageScores(t *testing.T) {
	p := func(words string) string { return words + strings.Repeat(" filler", 90) + "\n\n" }
	text := p("Alpha") + p("alpha beta") + p("gamma") + p("none")
	var got []int
	for _, u := range passages(text, []string{"ALPHA", "beta", "alpha", "", "zeta"}) {
		got = append(got, u.score)
	}
	if want := []int{5, 11, 0, 0}; !slices.Equal(got, want) { // 8·4/2 has five bits, 8·4/1 six
		t.Errorf("scores %d, want %d", got, want)
	}
}

// A wording repeats another if it is in it, a long one if four fifths of its shingles are.
func TestWithinAtItsEdges(t *testing.T) {
	words := func(from, to int) string {
		var list []string
		for i := from; i < to; i++ {
			list = append(list, fmt.Sprint("w", i))
		}
		return strings.Join(list, " ")
	}
	for _, tt := range []struct {
		name, memory, text string
		want               bool
	}{
		{"eight words in one piece", words(0, 8), "a " + words(0, 8) + " b", true},
		{"in two pieces", words(0, 8), words(0, 4) + " x " + words(4, 8), false},
		{"nine words, of whose five shingles four are there", words(0, 9), words(0, 8), true},
		{"of which three are", words(0, 9), words(0, 7), false},
		{"fourteen words, of whose ten shingles eight are there", words(0, 14), words(0, 12), true},
		{"of which seven are", words(0, 14), words(0, 11), false},
		{"shingles that are there twice count once", words(0, 14), words(0, 11) + " " + words(0, 11), false},
		{"a part of a word", "w1", "w12", false},
		{"other letters", "ÀB z Z", "(àb; Z) z!", true},
		{"nothing", "...", "a", false},
		{"letters that are words", "東京", "大東京都", true},
	} {
		if got := wordsOf(tt.memory).within(wordsOf(tt.text)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// Values of attributes have 200 characters at most, and say when they were longer.
func TestAttributesAtTheirEdge(t *testing.T) {
	for value, want := range map[string]string{
		strings.Repeat("é", 200):       strings.Repeat("é", 200),
		strings.Repeat("é", 201):       strings.Repeat("é", 200) + "…",
		strings.Repeat("&", 201):       strings.Repeat("&amp;", 200) + "…",
		"":                             "",
		"a\"<>\t\r\n" + "b":            "a&quot;&lt;&gt;[U+0009][U+000D][U+000A]b",
		strings.Repeat("x", 199) + "語": strings.Repeat("x", 199) + "語",
	} {
		var b strings.Builder
		attribute(&b, "name", value)
		if got := b.String(); got != ` name="`+want+`"` {
			t.Errorf("%q is written as %s", value, got)
		}
	}
}
