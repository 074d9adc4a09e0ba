package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want []string
	}{
		{"no text has no words", "", nil},
		{"separators alone are no words", " \n-.,/", nil},
		{"case is folded", "Read README.md", []string{"read", "readme", "md"}},
		{"digits and underscores belong to words", "exit_code=127;v2", []string{"exit_code", "127", "v2"}},
		{"letters of any script do", "Größe ПРИВЕТ 東京", []string{"größe", "привет", "東京"}},
		{"what is not UTF-8 parts words", "a\xffb", []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, slices.Collect(store.Words(tt.text))); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
	for word := range store.Words("one two") {
		if word != "one" {
			t.Errorf("the first word is %q", word)
		}
		break
	}
}

func TestChangeValidate(t *testing.T) {
	cell := store.Cell{ID: "c1", Kind: store.CellItem, Body: []byte("text")}
	cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
	forged := cell
	forged.Body = []byte("another text")
	block := store.Block{ID: "b1", State: store.StateLive}

	for _, tt := range []struct {
		name   string
		change store.Change
		want   string // in the error, or empty
	}{
		{"a sound change", store.Change{Cells: []store.Cell{cell}, Blocks: []store.Block{block}}, ""},
		{"a cell without an id", store.Change{Cells: []store.Cell{cell, {}}}, "cell 2 of the change has no id"},
		{"a cell that is there twice", store.Change{Cells: []store.Cell{cell, cell}}, "cell c1 is twice"},
		{"a commitment to another body", store.Change{Cells: []store.Cell{forged}}, "cell c1: its commitment is not to its body"},
		{"a block without an id", store.Change{Blocks: []store.Block{{}}}, "block 1 of the change has no id"},
		{"a block that is there twice", store.Change{Blocks: []store.Block{block, block}}, "block b1 is twice"},
		{"a state that does not exist", store.Change{Blocks: []store.Block{{ID: "b1", State: "warm"}}}, `block b1: no such state: "warm"`},
		{"items from before the first", store.Change{Items: []store.CellID{"c1"}, ItemsFrom: -1}, "items from -1 on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.change.Entry.ID = "op_1"
			checkError(t, tt.change.Validate(), tt.want)
		})
	}
	t.Run("a journal entry without an id", func(t *testing.T) {
		checkError(t, new(store.Change).Validate(), "the journal entry has no id")
	})
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one with %q", err, want)
	}
}
