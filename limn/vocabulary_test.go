package limn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVocabularyHasTheWordsOfTheRelease(t *testing.T) {
	got := map[category]int{}
	for k := kwRemember; k <= kwCombine; k++ {
		got[k.category()]++
		if !Reserved(k.String()) {
			t.Errorf("%q is a word and not reserved", k)
		}
		if len(k.String()) > longest {
			t.Errorf("%q is longer than the longest word", k)
		}
	}
	want := map[category]int{
		catVerb: 21, catConnective: 22, catOperator: 10, catTrigger: 3, catArticle: 3, catDeclaration: 2, catTombstone: 1,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("words by category (-got +want)\n%s", diff)
	}
}

func TestNamesAreNotReserved(t *testing.T) {
	for _, name := range []string{"", "list", "in", "value", "paged-blocks", "equal to", "Show"} {
		if Reserved(name) {
			t.Errorf("%q is reserved", name)
		}
	}
}
