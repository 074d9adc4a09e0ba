package provenance_test

import (
	"errors"
	"testing"

	"github.com/carrel-dev/carrel/provenance"
)

func TestParseClass(t *testing.T) {
	for _, c := range provenance.Classes() {
		if got, err := provenance.ParseClass(string(c)); got != c || err != nil {
			t.Errorf("%q is %q, %v", c, got, err)
		}
	}
	for s, want := range map[string]provenance.Class{"rag": provenance.Retrieved, "doc": provenance.Document} {
		if got, err := provenance.ParseClass(s); got != want || err != nil {
			t.Errorf("%q is %q, %v, want %q", s, got, err, want)
		}
	}
	for _, s := range []string{"", "Memory", "memory ", "human"} {
		if got, err := provenance.ParseClass(s); !errors.Is(err, provenance.ErrClass) {
			t.Errorf("%q is %q, %v, want %v", s, got, err, provenance.ErrClass)
		}
	}
}

func TestRank(t *testing.T) {
	for i, c := range provenance.Classes() {
		if got := c.Rank(); got != i {
			t.Errorf("rank of %q is %d, want %d", c, got, i)
		}
	}
	if got := provenance.Class("gossip").Rank(); got != -1 {
		t.Errorf("rank of no class is %d, want -1", got)
	}
}
