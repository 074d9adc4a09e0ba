package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
)

// coverage returns the coverage of a query by each document.
func coverage(query string, docs []Document) []ratio.Ratio { return count(query, docs).coverage() }

// similar returns the similarity of each document to a query.
func similar(query string, docs []Document) []ratio.Ratio {
	analyses := make([]*Analysis, len(docs))
	for i, d := range docs {
		analyses[i] = Analyze(d.Text)
	}
	return Similar(query, analyses)
}

// The coverage of one word, once in one of two documents of equal length, is 1/2.2.
func TestCoverage(t *testing.T) {
	docs := []Document{{"a", "vpn profile"}, {"b", "other words"}, {"c", ""}}
	for _, tt := range []struct {
		name  string
		query string
		docs  []Document
		want  string
	}{
		{"a word that one document has", "x", []Document{{"a", "x"}, {"b", "y"}}, "[0.454545 0.000000]"},
		{"the same word in two forms", "deploy deploying", []Document{{"a", "deployed"}, {"b", "y"}}, "[0.454545 0.000000]"},
		{"half of the words, as rare as each other", "x z", []Document{{"a", "x"}, {"b", "z"}}, "[0.227273 0.227273]"},
		{"a word that no document has counts like a rare one", "x absent", []Document{{"a", "x"}, {"b", "y"}}, "[0.227273 0.000000]"},
		{"no words in the query", "?", docs, "[0.000000 0.000000 0.000000]"},
		{"no documents", "x", nil, "[]"},
		{"a single document", "x", []Document{{"a", "x"}}, "[0.454545]"},
		{"a word without end", "x", []Document{{"a", strings.Repeat("x ", 10_000)}, {"b", strings.Repeat("y ", 10_000)}}, "[0.999880 0.000000]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fmt.Sprint(coverage(tt.query, tt.docs)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// drawDocs draws documents of few words and a query.
func drawDocs(t *rapid.T) ([]Document, string) {
	words := rapid.SampledFrom([]string{"pager", "score", "scores", "block", "token", "budget", "rule"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(words, 0, 8).Draw(t, "words"), " ")
	})
	var docs []Document
	for i := range rapid.IntRange(1, 12).Draw(t, "docs") {
		docs = append(docs, Document{fmt.Sprint(i), text.Draw(t, "text")})
	}
	return docs, text.Draw(t, "query")
}

func TestCoverageLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, query := drawDocs(t)
		shares, alike := coverage(query, docs), similar(query, docs)
		hits := make(map[int]ratio.Ratio)
		for _, h := range Rank(query, docs) {
			hits[h.Index] = h.Score
		}
		order := rapid.Permutation(docs).Draw(t, "order")
		moved, movedAlike := coverage(query, order), similar(query, order)
		for i, got := range shares {
			if (got > 0) != (hits[i] > 0) || got < 0 || got > ratio.One {
				t.Fatalf("document %d has %v of the query, and %v by rank", i, got, hits[i])
			}
			if s := alike[i]; s < 7*got/10-1 || s > 7*got/10+300_001 {
				t.Fatalf("document %d is alike by %v, and has %v of the query", i, s, got)
			}
			for j := range i {
				if (shares[j] > got) != (hits[j] > hits[i]) && shares[j] != got {
					t.Fatalf("documents %d and %d are in another order by coverage than by rank", j, i)
				}
			}
			at := slices.Index(order, docs[i])
			if moved[at] != got || movedAlike[at] != alike[i] {
				t.Fatalf("document %d has other scores in another order", i)
			}
		}
	})
}

// A document that covers more words of the query has no smaller coverage.
func TestCoverageRisesWithWords(t *testing.T) {
	got := coverage("deploy staging vpn", []Document{
		{"a", "deploy staging vpn four"}, {"b", "deploy staging three four"}, {"c", "deploy two three four"}, {"d", "one two three four"},
	})
	if !slices.IsSortedFunc(got, func(x, y ratio.Ratio) int { return int(y - x) }) || got[2] == 0 || got[3] != 0 {
		t.Errorf("shares are %v, want them to fall to 0", got)
	}
}

// Similar adds up the coverage by words and the cosine of n-grams.
func TestSimilarIsOfWordsAndPieces(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"deploy", "deploys", "Deployment", "failed", "failing", "vpn", "profile_b", "8443", "größe", "is", "the", "",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		query := text.Draw(t, "query")
		var docs []Document
		for _, s := range rapid.SliceOfN(text, 0, 6).Draw(t, "texts") {
			docs = append(docs, Document{Text: s})
		}
		got := similar(query, docs)
		for d, words := range coverage(query, docs) {
			pieces := max(newVector(query).cosine(newVector(docs[d].Text)), 0)
			if want := min(wordWeight.Mul(words)+pieceWeight.Mul(pieces), ratio.One); got[d] != want {
				t.Fatalf("document %d is alike by %v, want %v", d, got[d], want)
			}
		}
	})
}

// The n-grams find texts that share no whole word with the query, but never outweigh words.
func TestSimilar(t *testing.T) {
	got := similar("deployment", []Document{
		{"a", "the deployment of staging"},
		{"b", "the deployemnts of staging"},
		{"c", "the weather of tomorrow"},
	})
	if got[0] <= got[1] || got[1] <= 50_000 || got[2] >= 50_000 {
		t.Errorf("scores are %v, want the word, its misspelling and nothing", got)
	}
}
