package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/text"
)

// A head is a beginning, as long as it can be without a part of a character.
func TestHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(-1, 20).Draw(t, "n")
		got := text.Head(s, n)
		if !strings.HasPrefix(s, got) || len(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Fatalf("Head(%q, %d) = %q", s, n, got)
		}
		if _, next := utf8.DecodeRuneInString(s[len(got):]); len(got) < len(s) && len(got)+next <= n {
			t.Fatalf("Head(%q, %d) = %q: there is room for one character more", s, n, got)
		}
	})
}

// A tail is an end, as long as it can be without a part of a character.
func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(-1, 20).Draw(t, "n")
		got := text.Tail(s, n)
		if !strings.HasSuffix(s, got) || len(got) > max(n, 0) || !utf8.ValidString(got) {
			t.Fatalf("Tail(%q, %d) = %q", s, n, got)
		}
		if _, last := utf8.DecodeLastRuneInString(s[:len(s)-len(got)]); len(got) < len(s) && len(got)+last <= n {
			t.Fatalf("Tail(%q, %d) = %q: there is room for one character more", s, n, got)
		}
	})
}

// Floor and Ceil are the ends of the character that an offset is within.
func TestFloorCeil(t *testing.T) {
	for _, tt := range []struct{ i, floor, ceil int }{
		{-1, 0, 0}, {0, 0, 0}, {1, 1, 1}, {2, 1, 3}, {3, 3, 3}, {4, 4, 4}, {5, 4, 4},
	} {
		if floor, ceil := text.Floor("aéb", tt.i), text.Ceil("aéb", tt.i); floor != tt.floor || ceil != tt.ceil {
			t.Errorf("at %d: %d and %d, want %d and %d", tt.i, floor, ceil, tt.floor, tt.ceil)
		}
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aé", 2, "a…"},
		{"aé", 3, "aé"},
		{"\xffab", 1, "…"},
		{"日本", 5, "日…"},
		{"abc", 0, "…"},
	} {
		if got := text.Clip(tt.s, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestFold(t *testing.T) {
	if got := text.Fold(" a\t\n b\u00a0 c "); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

// A text is cut behind a word, or within one that would take half of it along.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two three", 8, "one two…"},
		{"one two three", 7, "one two…"},
		{"one twothreefour", 10, "one twothr…"},
		{"abc defg", 6, "abc de…"},
		{"abcd efg", 7, "abcd…"},
		{" a\x1b[31mb\t\r\n c\xff ", 10, "ab c"},
		{"\x1b[1mbold\x1b[0m and \x1b", 20, "bold and"},
		{"see \x1b]8;;http://x\x1b\\the page\x1b]8;;\x1b\\ now", 20, "see the page now"},
		{"\x1b]0;title\aone\x1b(Btwo\x1b(0\x1b)0", 20, "onetwo"},
		{"\x1b[ привет, мир", 20, "привет, мир"},
		{"one\x1b]8;;u\ntwo \x1b[31", 20, "one two"},
		{"\x1b]8;;u", 20, ""},
		{"\x1b[?25hone\x1b[1 qtwo", 20, "onetwo"},
		{"one\x1b!Atwo\x1b/Bthree", 20, "onetwothree"},
		{"one\x1b two", 20, "one two"},
		{"one\x1b]\atwo\x1b]\x1b\\three", 20, "onetwothree"},
		{"one\x1b[3\ntwo", 20, "one two"},
		{"one\x1b[2~two\x1b[@three\x1b[1?h", 20, "onetwothree"},
		{"one\x1b[1\x7f2", 20, "one 2"},
		{"", 0, ""},
	} {
		if got := text.Line(tt.in, tt.n); got != tt.want {
			t.Errorf("%q in %d characters: %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

// A short text is whole, or a beginning with an ellipsis that takes all the room.
func TestShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(1, 12).Draw(t, "n")
		got := text.Short(s, n)
		if utf8.RuneCountInString(s) <= n {
			if got != s {
				t.Fatalf("Short(%q, %d) = %q", s, n, got)
			}
			return
		}
		head, cut := strings.CutSuffix(got, text.Ellipsis)
		if !cut || !strings.HasPrefix(s, head) || utf8.RuneCountInString(got) != n {
			t.Fatalf("Short(%q, %d) = %q", s, n, got)
		}
	})
}

func TestFirstLine(t *testing.T) {
	for s, want := range map[string]string{"": "", " \n ": "", "\n\n one \n two": "one", "one": "one", "one\r\ntwo": "one"} {
		if got := text.FirstLine(s); got != want {
			t.Errorf("FirstLine(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	for s, want := range map[string]int{"": 0, "x1": 0, "12": 2, "12x3": 2, "٣": 0, "0987654321 ": 10, "1/2": 1, "1:2": 1} {
		if got := text.Digits(s); got != want {
			t.Errorf("Digits(%q) = %d, want %d", s, got, want)
		}
		if got := text.AreDigits(s); got != (s == "12") {
			t.Errorf("AreDigits(%q) = %v", s, got)
		}
	}
}

func TestHasWord(t *testing.T) {
	for _, tt := range []struct {
		list, word string
		want       bool
	}{
		{"add  set\n\tto", "set", true},
		{"add set to", "to", true},
		{"add set to", "se", false},
		{"add set to", "add set", false},
		{"add set to", "", false},
		{"", "", false},
	} {
		if got := text.HasWord(tt.list, tt.word); got != tt.want {
			t.Errorf("HasWord(%q, %q) = %v", tt.list, tt.word, got)
		}
	}
}

func TestWords(t *testing.T) {
	got := slices.Collect(text.Words("Don't read max_tokens, 3 TIMES — ÄNDERN!"))
	want := []string{"don", "t", "read", "max_tokens", "3", "times", "ändern"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	for range text.Words("one two") {
		break // the loop may end early
	}
}

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"fixed": "fix", "fixes": "fix", "implementation": "implement", "p95": "p95", "max_tokens": "max_tokens", "": "",
	} {
		if got := text.Stem(word); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestIsUnit(t *testing.T) {
	for letters, want := range map[string]bool{"ms": true, "x": true, "kib": true, "": false, "%": false, "seconds": false, "KB": false} {
		if got := text.IsUnit(letters); got != want {
			t.Errorf("IsUnit(%q) = %v", letters, got)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for _, tt := range []struct{ line, first, rest string }{
		{"", "", ""},
		{"One. Two.", "One.", "Two."},
		{"One", "One", ""},
		{"Is it? Yes! No.", "Is it?", "Yes! No."},
		{"See e.g. Bob, i.e. Mr. Smith. Then go.", "See e.g. Bob, i.e. Mr. Smith.", "Then go."},
		{"In v1. 2 things. Then.", "In v1.", "2 things. Then."},
		{"A. Smith came.", "A. Smith came.", ""},
		{"So did I. We left.", "So did I.", "We left."},
		{"It ended. but not here. Here.", "It ended. but not here.", "Here."},
		{"Run `a. B` now. Then `c`.", "Run `a. B` now.", "Then `c`."},
		{"Wait . Then (. Then. Go.", "Wait . Then (. Then.", "Go."},
		{"One. ", "One. ", ""},
		{"It is 7. zebras. Two.", "It is 7. zebras.", "Two."},
		{"See a. A. b. apes. Two.", "See a. A. b. apes.", "Two."},
		{"`" + strings.Repeat("z", 399) + ". Two.", "`" + strings.Repeat("z", 399) + ". Two.", ""},
		{"`" + strings.Repeat("z", 400) + ". Two.", "`" + strings.Repeat("z", 400) + ".", "Two."},
	} {
		if first, rest := text.FirstSentence(tt.line); first != tt.first || rest != tt.rest {
			t.Errorf("FirstSentence(%q) = %q and %q, want %q and %q", tt.line, first, rest, tt.first, tt.rest)
		}
	}
}

// Terms are those of a text in which only ASCII is letters, whatever its case.
func TestTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([A-Za-z0-9_]{0,4}|[ .,é日\xff-]){0,12}`).Draw(t, "s")
		want := strings.FieldsFunc(strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, s), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) })
		got := slices.Collect(text.Terms(s))
		if !slices.Equal(got, want) {
			t.Fatalf("terms of %q are %q, want %q", s, got, want)
		}
	})
}
