package limn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVocabularyHasTheWordsOfTheRelease(t *testing.T) {
	got := map[Category]int{}
	for _, w := range Words() {
		got[w.Category]++
		if !Reserved(w.Text) {
			t.Errorf("%q is a word and not reserved", w.Text)
		}
		if len(w.Text) > longest {
			t.Errorf("%q is longer than the longest word", w.Text)
		}
	}
	want := map[Category]int{
		Verb: 21, Connective: 22, Operator: 10, Trigger: 3, Article: 3, Declaration: 2, Tombstone: 1,
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

func TestWordsCannotBeSpoiled(t *testing.T) {
	Words()[0].Text = "forget"
	if got := Words()[0].Text; got != "remember" {
		t.Errorf("the first word is %q", got)
	}
}
