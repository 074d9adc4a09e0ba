package hold

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A summary stands at the beginning, or behind the block that it names; or nowhere.
func TestPlacesOfSummaries(t *testing.T) {
	h := &Snapshot{Session: &transcript.Session{Messages: []transcript.Message{
		{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("a")}}, {Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text("b")}},
	}}}
	h.Blocks = []transcript.Block{{ID: "1", Messages: []int{0}}, {ID: "2", Messages: []int{1}}}
	rows := []store.Block{{ID: "1", Form: "whole"}, {ID: "2", Form: "whole"}}
	for _, tt := range []struct {
		sum  *WindowSummary
		want string
	}{
		{nil, "[a b]"},
		{&WindowSummary{Text: "s"}, "[s a b]"},
		{&WindowSummary{Text: "s", After: "1"}, "[a s b]"},
		{&WindowSummary{Text: "s", After: "2"}, "[a b s]"},
		{&WindowSummary{Text: "s", After: "3"}, "[a b]"},
	} {
		var got []string
		for _, e := range h.Window(rows, nil, tt.sum).Entries {
			got = append(got, e.Text())
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%+v: %v, want %s", tt.sum, got, tt.want)
		}
	}
}

// A block that left the conversation is evicted in the contract, if it is listed there, but not if
// it records a correction.
func TestLeftBlocksInContracts(t *testing.T) {
	state := new(contract.Contract)
	if _, err := state.Init("s", nil); err != nil {
		t.Fatal(err)
	}
	if got := LeftDecisions(state, "1"); got != nil {
		t.Errorf("a block that is not listed: %+v", got)
	}
}

// Thinking stays in front of the first change, and all of it goes with another text in front or in
// another format.
func TestThinkingThatAProviderBound(t *testing.T) {
	for _, tt := range []struct {
		format   string
		prefixed bool
		changed  int // entry that is changed, or -1
		want     string
	}{
		{"anthropic", false, -1, "[]"}, {"anthropic", false, 0, "[0 1]"}, {"anthropic", false, 1, "[1]"}, {"anthropic", true, -1, "[0 1]"}, {"claudecode", false, -1, "[0 1]"},
	} {
		said := []transcript.Part{transcript.Thinking{Text: "abc"}, transcript.Text("x")}
		w := transcript.Whole(&transcript.Session{Format: "anthropic", Model: "claude-opus-6", Messages: []transcript.Message{{Role: transcript.RoleAssistant, Parts: said}, {Role: transcript.RoleAssistant, Parts: said}}})
		if tt.changed >= 0 {
			w.Entries[tt.changed].Source = nil
		}
		at := []int{}
		for _, l := range DropBoundThinking(w, tt.format, tt.prefixed) {
			if at = append(at, l.Message); l.Count != 1 || l.Bytes != 3 {
				t.Errorf("%+v: lost %+v", tt, l)
			}
		}
		if got := fmt.Sprint(at); got != tt.want {
			t.Errorf("%+v: thinking left entries %s, want %s", tt, got, tt.want)
		}
	}
}
