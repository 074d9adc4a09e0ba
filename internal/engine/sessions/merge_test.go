package sessions

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// rowsOf returns rows with ids of one letter.
func rowsOf(ids string) (rows []store.Block) {
	for _, id := range ids {
		rows = append(rows, store.Block{ID: transcript.BlockID(id)})
	}
	return rows
}

// A session only grew if the stored blocks are its first, and nothing left or came back.
func TestSessionsThatOnlyGrew(t *testing.T) {
	old := &hold.Snapshot{Rows: rowsOf("ab")}
	for name, tt := range map[string]struct {
		m    merge
		want bool
	}{
		"as it was": {merge{rows: rowsOf("ab")}, true}, "longer": {merge{rows: rowsOf("abc")}, true}, "shorter": {merge{rows: rowsOf("a")}, false}, "other": {merge{rows: rowsOf("acb")}, false},
		"said to be shorter": {merge{rows: rowsOf("abc"), shorter: true}, false}, "left": {merge{rows: rowsOf("abc"), off: rowsOf("x")}, false},
		"compacted": {merge{rows: rowsOf("abc"), cooled: []transcript.BlockID{"x"}}, false}, "back": {merge{rows: rowsOf("abc"), revived: []transcript.BlockID{"x"}}, false},
	} {
		if got := tt.m.onlyGrew(old); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A file is cut off if it lacks an end of the stored one that says something.
func TestFilesThatLostTheirEnd(t *testing.T) {
	for _, tt := range []struct {
		known, data string
		want        bool
	}{{"abc", "ab", true}, {"abc", "abc", false}, {"ab", "abc", false}, {"abc", "b", false}, {"ab \n", "ab", false}, {"abc", "", true}} {
		if got := cutOff([]byte(tt.known), []byte(tt.data)); got != tt.want {
			t.Errorf("%q is cut off from %q: %v", tt.data, tt.known, got)
		}
	}
}
