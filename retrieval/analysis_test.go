package retrieval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/retrieval"
)

// What was analyzed before is as similar as what is analyzed now.
func TestSimilarTo(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"deploy", "deploys", "Deployment", "failed", "failing", "vpn", "profile_b", "8443", "größe", "is", "the", "",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		s := ""
		for _, w := range rapid.SliceOfN(word, 0, 12).Draw(t, "words") {
			s += w + " "
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		query := text.Draw(t, "query")
		texts := rapid.SliceOfN(text, 0, 6).Draw(t, "texts")
		docs := make([]retrieval.Document, len(texts))
		analyses := make([]*retrieval.Analysis, len(texts))
		for i, s := range texts {
			docs[i].Text = s
			analyses[i] = retrieval.Analyze(s)
		}
		if diff := cmp.Diff(retrieval.Similar(query, docs), retrieval.SimilarTo(query, analyses)); diff != "" {
			t.Fatalf("similarity of what was analyzed before (-now +before):\n%s", diff)
		}
	})
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"Why does the deploy of the services fail?", []string{"deploy", "servic", "fail"}},
		{"deploys, deploying and DEPLOYED", []string{"deploy"}},
		{"what is it?", []string{"what", "is", "it"}},
		{"exit_code 137", []string{"exit_code", "137"}},
		{"", nil},
	} {
		if diff := cmp.Diff(tt.want, retrieval.Keys(tt.query)); diff != "" {
			t.Errorf("keys of %q (-want +got):\n%s", tt.query, diff)
		}
	}
}

// Words are told once each, in their order, and stems, too.
func TestTermsAndStems(t *testing.T) {
	if diff := cmp.Diff([]string{"deploys", "deploy", "b_1", "is"}, retrieval.Terms("Deploys deploy, DEPLOY b_1 is deploys")); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"deploy", "b_1", "is"}, retrieval.Stems("Deploys deploy, DEPLOY b_1 is deploys")); diff != "" {
		t.Errorf("stems (-want +got):\n%s", diff)
	}
	if retrieval.Terms("?!") != nil || retrieval.Stems("") != nil {
		t.Error("there are words in nothing")
	}
}

// Forms of one word are one stem of an analysis, which takes no more room for them.
func TestAnalysisJoinsForms(t *testing.T) {
	one, many := retrieval.Analyze("deploy"), retrieval.Analyze("deploy deploys deployed deploying")
	if one.Size() != many.Size() || retrieval.Analyze("deploy vpn").Size() <= one.Size() || retrieval.Analyze("").Size() >= one.Size() {
		t.Errorf("sizes are %d, %d and %d", retrieval.Analyze("").Size(), one.Size(), many.Size())
	}
	if size := one.Size(); size < 2048 || size > 4096 {
		t.Errorf("an analysis takes %d bytes, want some 2 KB", size)
	}
}
