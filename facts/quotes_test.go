package facts

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// checkQuotes reports quotations that break a rule of eachQuote.
func checkQuotes(t interface{ Errorf(string, ...any) }, text string) {
	last := 0
	eachQuote(text, func(quote string, at int) {
		if at < last || !strings.HasPrefix(text[at:], quote) {
			t.Errorf("%q is not at %d of %q, or overlaps", quote, at, text)
		}
		if n := utf8.RuneCountInString(quote); n < minQuote || n > maxQuote || strings.ContainsAny(quote, "\r\n") {
			t.Errorf("%q of %q has %d characters, or more than a line", quote, text, n)
		}
		last = at + len(quote)
	})
}

func TestQuotesAreVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkQuotes(t, rapid.StringMatching("([a-z\"'` .,:\\\\\n]|“|”|„|ü){0,200}").Draw(t, "text"))
	})
}

func FuzzQuotes(f *testing.F) {
	f.Add("say \"yes\" or 'no way' or `x y` or „so“ \\\"and\\\" ```\nfence\n```")
	f.Fuzz(func(t *testing.T, text string) { checkQuotes(t, text) })
}

func TestQuotesOfAConversation(t *testing.T) {
	s := new(talk).user(`Rename "the old name", please.`).call("", "Grep", map[string]string{"pattern": `say "the old name" or 'new one'`}, `x := "found here"`)
	var got []string
	for _, f := range s.extract(&Options{Quotes: true}) {
		if f.Kind == FactQuote {
			got = append(got, f.CallID+" "+f.Text)
		}
	}
	want := " the old name|call-1 new one|call-1 found here"
	if strings.Join(got, "|") != want {
		t.Errorf("quotes are %q, want %q", strings.Join(got, "|"), want)
	}
	for _, f := range s.extract(nil) {
		if f.Kind == FactQuote {
			t.Errorf("there is %+v, though nobody asked for quotes", f)
		}
	}
}
