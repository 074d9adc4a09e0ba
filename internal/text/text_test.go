package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

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

func TestDigits(t *testing.T) {
	for s, want := range map[string]int{"": 0, "x1": 0, "12": 2, "12x3": 2, "٣": 0} {
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
