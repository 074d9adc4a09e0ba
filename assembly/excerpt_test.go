package assembly

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

// wordCount counts a token for each word.
func wordCount(s string) token.Count { return token.Count(len(strings.Fields(s))) }

// handbook has 40 sections of some 60 words, one of which is about refunds.
func handbook() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "## Section %d\n\n", i)
		if i == 23 {
			b.WriteString("Refunds of more than $400 need a team lead. " + strings.Repeat("The console records who approved it. ", 8) + "\n\n")
			continue
		}
		b.WriteString(strings.Repeat("Labels are printed on Mondays and parcels leave at noon. ", 6) + "\n\n")
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	s := Origin{ID: "a41c09de", Class: provenance.Document}
	got := Excerpt(s, handbook(), []string{"refund", "lead"}, 150, wordCount)
	if !strings.Contains(got, "Refunds of more than $400 need a team lead.") || !strings.Contains(got, "## Section 23") {
		t.Errorf("the passage about refunds is not in the excerpt:\n%s", got)
	}
	if n := wordCount(got); n > 150 {
		t.Errorf("%d tokens, want 150 at most", n)
	}
	if !strings.HasPrefix(got, gap) || !strings.Contains(got, "[carrel a41c09de: ") {
		t.Errorf("the excerpt does not say that something was left out:\n%s", got)
	}
	if strings.Contains(got, "Labels") {
		t.Errorf("a passage without a term is in the excerpt:\n%s", got)
	}
	none := Excerpt(s, handbook(), []string{"zebra"}, 150, wordCount)
	if !strings.HasPrefix(none, "## Section 0") || !strings.Contains(none, "recall by id") || wordCount(none) > 150 {
		t.Errorf("without a hit there are not beginning and end:\n%s", none)
	}
	long := strings.Repeat("Labels are printed on Mondays.\n\n", 90) + strings.Repeat("Parcels leave at noon. ", 30) +
		"Nobody may go there without a lead. There are ninety trucks. " + strings.Repeat("Parcels come at nine. ", 30) + "\n\n" + strings.Repeat("Nobody works on Sundays.\n\n", 90)
	if part, want := Excerpt(s, long, []string{"ninety"}, 30, wordCount), "There are ninety trucks. \nParcels come at nine. "; !strings.HasPrefix(part, gap) || !strings.Contains(part, want) || wordCount(part) > 30 {
		t.Errorf("the sentence of a passage that is too long is not in the excerpt:\n%s", part)
	}
	if whole := Excerpt(s, "short", nil, 5, wordCount); whole != "short" {
		t.Errorf("a text that fits is %q", whole)
	}
}

// A text without empty lines is split in linear time: quadratic time would be many minutes.
func TestPassagesOfAText(t *testing.T) {
	size := 0
	for _, p := range passages(strings.Repeat("a line of a log\n", 2_000_000), nil) {
		if size += len(p.text); len(p.text) > longPassage {
			t.Fatalf("a passage has %d bytes", len(p.text))
		}
	}
	if size != 32_000_000 {
		t.Errorf("the passages have %d bytes", size)
	}
}

// Passages concatenate to the text, but for empty lines; an excerpt is within
// its limit and made of lines of the text, gaps and a marker.
func TestExcerptLaws(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"", "", "# A title", "refund", "a line about a refund of $400", strings.Repeat("long and ", 300), "größe 東京 \U0001F469\U0001F3FD", "    code()",
		strings.Repeat("x", 2_000), strings.Repeat("a refund ", 50),
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "\n")
		joined := ""
		for _, p := range passages(text, []string{"refund"}) {
			joined += p.text
		}
		if got, want := strings.ReplaceAll(joined, "\n", ""), strings.ReplaceAll(text, "\n", ""); got != want {
			t.Fatalf("passages lose something:\n%q\n%q", got, want)
		}
		limit := token.Count(rapid.IntRange(0, 400).Draw(t, "limit"))
		s := Origin{ID: "a", Tokens: rapid.SampledFrom([]token.Count{0, 1, wordCount(text)}).Draw(t, "known")} // from another count
		got := Excerpt(s, text, []string{"refund", "title"}, limit, wordCount)
		if n := wordCount(got); n > limit {
			t.Fatalf("%d tokens, want %d at most:\n%s", n, limit, got)
		}
		if again := Excerpt(s, text, []string{"refund", "title"}, limit, wordCount); again != got {
			t.Fatalf("a second excerpt differs:\n%q\n%q", got, again)
		}
		if _, changed := Neutralize(got); changed > 0 {
			t.Fatalf("a neutral text has an excerpt that is not: %q", got)
		}
	})
}
