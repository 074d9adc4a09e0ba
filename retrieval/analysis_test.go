package retrieval

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		if diff := cmp.Diff(tt.want, Keys(tt.query)); diff != "" {
			t.Errorf("keys of %q (-want +got):\n%s", tt.query, diff)
		}
	}
}

// Words and stems are returned once each, in their order.
func TestTermsAndStems(t *testing.T) {
	if diff := cmp.Diff([]string{"deploys", "deploy", "b_1", "is"}, Terms("Deploys deploy, DEPLOY b_1 is deploys")); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"deploy", "b_1", "is"}, Stems("Deploys deploy, DEPLOY b_1 is deploys")); diff != "" {
		t.Errorf("stems (-want +got):\n%s", diff)
	}
	if Terms("?!") != nil || Stems("") != nil {
		t.Error("there are words in nothing")
	}
}

// An analysis counts the forms of a word as one stem.
func TestAnalysisJoinsForms(t *testing.T) {
	for text, want := range map[string]int{"": 0, "deploy": 1, "deploy deploys deployed deploying": 1, "deploy vpn": 2} {
		if got := len(Analyze(text).stems); got != want {
			t.Errorf("%q has %d stems, want %d", text, got, want)
		}
	}
}

// A query with many different words is analyzed in linear time: quadratic time would be many minutes.
func TestManyWords(t *testing.T) {
	var b strings.Builder
	for i := range 400_000 {
		b.WriteString(strconv.Itoa(1_000_000+i) + " ")
	}
	if terms, stems := ContentTermsAndStems(b.String()); len(terms) != 400_000 || len(stems) != 400_000 {
		t.Errorf("%d words and %d stems", len(terms), len(stems))
	}
	if terms := contentTerms(b.String()); len(terms) != 400_000 {
		t.Errorf("%d words of a dialog", len(terms))
	}
}

// Stems are counted with the help of a cache, which gets the words that it does not have.
func TestCountStems(t *testing.T) {
	known := map[string]string{"owls": "bird"}
	if diff := cmp.Diff(map[string]uint32{"deploy": 3, "bird": 1, "b_1": 1}, CountStems("Deploys deploy owls, deploy B_1", known)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"owls": "bird", "deploys": "deploy", "deploy": "deploy", "b_1": "b_1"}, known); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}
