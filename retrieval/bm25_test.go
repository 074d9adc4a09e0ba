package retrieval

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ids(docs []Document, hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, docs[h.Index].ID)
	}
	return out
}

func TestRank(t *testing.T) {
	docs := []Document{
		{"a", "the deploy needs a VPN profile"},
		{"b", "profiles for staging, profile for production, profile for test"},
		{"c", "nothing of the kind"},
		{"d", "vpn"},
	}
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"vpn profile", []string{"a", "d", "b"}},
		{"deploying", []string{"a"}}, // by its stem
		{"absent", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(tt.want, ids(docs, Rank(tt.query, docs))); diff != "" {
			t.Errorf("Rank(%q) (-want +got):\n%s", tt.query, diff)
		}
	}
}

// The score of one word in one of two documents of equal length, computed by
// hand: ln(1+(2-1+½)/(1+½)) · 1·2.2/(1+1.2) = ln 2.
func TestScore(t *testing.T) {
	hits := Rank("x", []Document{{"a", "x"}, {"b", "y"}})
	if len(hits) != 1 || hits[0].Score.String() != "0.693147" {
		t.Errorf("hits are %+v, want one of 0.693147", hits)
	}
}

// The order of the candidates does not matter.
func TestRankIgnoresTheOrderOfCandidates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"pager", "score", "block", "token", "budget", "rule"})
		var docs []Document
		for i := range rapid.IntRange(1, 12).Draw(t, "docs") {
			text := ""
			for range rapid.IntRange(0, 8).Draw(t, "words") {
				text += words.Draw(t, "word") + " "
			}
			docs = append(docs, Document{fmt.Sprint(i), text})
		}
		query := words.Draw(t, "query") + " " + words.Draw(t, "query")
		want := ids(docs, Rank(query, docs))
		shuffled := rapid.Permutation(docs).Draw(t, "order")
		if diff := cmp.Diff(want, ids(shuffled, Rank(query, shuffled))); diff != "" {
			t.Fatalf("order (-want +got):\n%s", diff)
		}
	})
}
