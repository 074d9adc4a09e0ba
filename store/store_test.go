package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/provenance"
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
	sent := store.Cell{ID: "c2", Kind: store.CellSent, Body: []byte("[]")}
	sent.Commit = digest.Commit(sent.Salt, string(sent.Kind), sent.Body)
	rewrites := func(change ...func(*store.Rewrite)) store.Change {
		c := store.Change{Cells: []store.Cell{cell, sent}}
		for _, f := range change {
			r := store.Rewrite{Chain: digest.Digest{1}, Kind: store.RewriteHead, Epoch: 1, Messages: 1, Cell: "c2"}
			f(&r)
			c.Rewrites = append(c.Rewrites, r)
		}
		return c
	}
	head := func(*store.Rewrite) {}

	for _, tt := range []struct {
		name   string
		change store.Change
		want   string // part of the error; empty for none
	}{
		{"a sound change", store.Change{Cells: []store.Cell{cell}, Blocks: []store.Block{block}}, ""},
		{"a cell without an id", store.Change{Cells: []store.Cell{cell, {}}}, "cell 2 of the change has no id"},
		{"a cell that is there twice", store.Change{Cells: []store.Cell{cell, cell}}, "cell c1 is twice"},
		{"a commitment to another body", store.Change{Cells: []store.Cell{forged}}, "cell c1: the commitment was not computed from this body and salt"},
		{"a block without an id", store.Change{Blocks: []store.Block{{}}}, "block 1 of the change has no id"},
		{"a block that is there twice", store.Change{Blocks: []store.Block{block, block}}, "block b1 is twice"},
		{"a state that does not exist", store.Change{Blocks: []store.Block{{ID: "b1", State: "warm"}}}, `block b1: no such state: "warm"`},
		{"an adopted cell that it adds, too", store.Change{Cells: []store.Cell{cell}, Adopt: []store.CellID{"c1"}}, "adds or adopts cell c1 twice"},
		{"items from before the first", store.Change{Items: []store.CellID{"c1"}, ItemsFrom: -1}, "ItemsFrom of the change is -1"},
		{"items from the first on", store.Change{Items: []store.CellID{"c1"}}, ""},
		{"no items, whatever the first would be", store.Change{ItemsFrom: -1}, ""},
		{"a session that is removed", store.Change{Head: store.Head{Status: store.StatusTombstoned}, Statements: []string{"a"}, Index: []store.IndexEntry{{}}}, ""},
		{"a session that is purged", store.Change{Head: store.Head{Status: store.StatusPurged}, Statements: []string{"a"}, Index: []store.IndexEntry{{}}}, ""},
		{"a session that is live", store.Change{Head: store.Head{Status: store.StatusLive}}, `no such status of a session: "live"`},
		{"a session that is held", store.Change{Head: store.Head{Status: store.StatusHeld}}, `no such status of a session: "held"`},
		{"an erasure", store.Change{Head: store.Head{Status: store.StatusPurged}, Erase: true}, ""},
		{"an erasure of a live session", store.Change{Erase: true}, `needs the status "purged"`},
		{"an erasure of a session that is removed", store.Change{Head: store.Head{Status: store.StatusTombstoned}, Erase: true}, `needs the status "purged"`},
		{"an erasure with a statement", store.Change{Head: store.Head{Status: store.StatusPurged}, Erase: true, Statements: []string{"a"}}, "adds no statements, index entries or rewrites"},
		{"an erasure with words", store.Change{Head: store.Head{Status: store.StatusPurged}, Erase: true, Index: []store.IndexEntry{{}}}, "adds no statements, index entries or rewrites"},
		{"two rewrites of one chain", rewrites(head, func(r *store.Rewrite) { r.Kind = store.RewriteMessage }), ""},
		{"two rewrites of one kind", rewrites(head, func(r *store.Rewrite) { r.Chain[0] = 2 }), ""},
		{"a rewrite that is there twice", rewrites(head, head), "rewrite 2 of the change has the same kind"},
		{"a rewrite of a kind that does not exist", rewrites(func(r *store.Rewrite) { r.Kind = "tail" }), `rewrite 1 of the change: no such kind: "tail"`},
		{"a rewrite without a chain", rewrites(func(r *store.Rewrite) { r.Chain = digest.Digest{} }), "rewrite 1 of the change has no chain"},
		{"a rewrite before the first epoch", rewrites(func(r *store.Rewrite) { r.Epoch = -1 }), "has epoch -1 and 1 messages"},
		{"a rewrite of nothing", rewrites(func(r *store.Rewrite) { r.Messages = 0 }), "has epoch 1 and 0 messages"},
		{"a rewrite whose cell is not brought", rewrites(func(r *store.Rewrite) { r.Cell = "c3" }), "the change adds no cell c3 of kind"},
		{"a rewrite whose cell is of another kind", rewrites(func(r *store.Rewrite) { r.Cell = "c1" }), "the change adds no cell c1 of kind"},
		{"an erasure with a rewrite", func() store.Change {
			c := rewrites(head)
			c.Head.Status, c.Erase = store.StatusPurged, true
			return c
		}(), "adds no statements, index entries or rewrites"},
		{"an erasure with both", store.Change{Head: store.Head{Status: store.StatusPurged}, Erase: true, Statements: []string{"a"}, Index: []store.IndexEntry{{}}}, "adds no statements, index entries or rewrites"},
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

// A cell that is purged brings nothing but its id, its kind and its commitment.
func TestValidateMovedOfPurgedCells(t *testing.T) {
	for want, cell := range map[string]store.Cell{
		"": {}, "has a salt": {Salt: digest.Salt{1}}, "a body": {Body: []byte{}}, "or a blob": {Blob: "1-x"},
	} {
		cell.ID, cell.Kind, cell.Gone = "c1", store.CellText, true
		checkError(t, store.ValidateMoved([]store.Cell{cell}), want)
	}
}

func TestUpdateValidate(t *testing.T) {
	cell := store.Cell{ID: "c1", Kind: store.CellText, Body: []byte("text")}
	cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
	artifact := func(change func(*store.Artifact)) store.Write {
		a := store.Artifact{ID: "a1", Class: provenance.Classes()[0], Status: store.StatusLive, Content: "c1", About: "c2"}
		if change != nil {
			change(&a)
		}
		return store.Write{Artifact: a}
	}
	sound := artifact(nil)
	manifest := func(uses ...store.ArtifactID) *store.Manifest { return &store.Manifest{ID: "m1", Uses: uses} }
	for _, tt := range []struct {
		name   string
		update store.Update
		want   string // part of the error; empty for none
	}{
		{"a sound update", store.Update{Cells: []store.Cell{cell}, Artifacts: []store.Write{sound, artifact(func(a *store.Artifact) { a.ID = "a2" })}, Manifest: manifest("a1", "a2")}, ""},
		{"a cell that is there twice", store.Update{Cells: []store.Cell{cell, cell}}, "cell c1 is twice in the update"},
		{"an artifact without an id", store.Update{Artifacts: []store.Write{sound, artifact(func(a *store.Artifact) { a.ID = "" })}}, "artifact 2 of the update has no id"},
		{"an artifact that is there twice", store.Update{Artifacts: []store.Write{sound, sound}}, "artifact a1 is twice"},
		{"a class that does not exist", store.Update{Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.Class = "rumor" })}}, `no such class: "rumor"`},
		{"a status that does not exist", store.Update{Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.Status = "warm" })}}, `no such status: "warm"`},
		{"no status", store.Update{Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.Status = "" })}}, "no such status"},
		{"no content", store.Update{Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.Content = "" })}}, "artifact a1 needs a cell for its content"},
		{"nothing about it", store.Update{Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.About = "" })}}, "artifact a1 needs a cell for its content"},
		{"a manifest without an id", store.Update{Manifest: &store.Manifest{}}, "the manifest has no id"},
		{"a manifest that uses an artifact twice", store.Update{Manifest: manifest("a1", "a2", "a1")}, "manifest m1 uses artifact a1 twice"},
		{"an outcome of a manifest", store.Update{Outcome: &store.ContextOutcome{Manifest: "m1"}}, ""},
		{"an outcome of nothing", store.Update{Outcome: &store.ContextOutcome{}}, "the outcome names no manifest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.update.Entry.ID = "op_1"
			checkError(t, tt.update.Validate(), tt.want)
		})
	}
	for _, class := range provenance.Classes() {
		for _, status := range []store.Status{store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned, store.StatusPurged} {
			u := &store.Update{Entry: store.Entry{ID: "op_1"}, Artifacts: []store.Write{artifact(func(a *store.Artifact) { a.Class, a.Status = class, status })}}
			checkError(t, u.Validate(), "")
		}
	}
	checkError(t, new(store.Update).Validate(), "the log entry has no id")
}

func TestValidateCalls(t *testing.T) {
	at := time.UnixMilli(1)
	begun := store.Call{ID: "call_1", State: store.CallIntent, Begun: at}
	ended := store.Call{ID: "call_2", State: store.CallDone, Ended: at}
	for _, tt := range []struct {
		name  string
		calls []store.Call
		want  string // part of the error; empty for none
	}{
		{"no calls", nil, ""},
		{"one that begins and one that ends", []store.Call{begun, ended}, ""},
		{"no id", []store.Call{begun, {State: store.CallIntent, Begun: at}}, "call 2 has no id"},
		{"one id twice", []store.Call{begun, begun}, "call call_1 is twice in one record"},
		{"a state that does not exist", []store.Call{{ID: "c", State: "won", Ended: at}}, `call c: no such state: "won"`},
		{"no state", []store.Call{{ID: "c", Ended: at}}, "no such state"},
		{"an intent that was never begun", []store.Call{{ID: "c", State: store.CallIntent}}, "call c has no begin time"},
		{"an intent that has ended", []store.Call{{ID: "c", State: store.CallIntent, Begun: at, Ended: at}}, "call c is intent: a call has an end time"},
		{"an intent with an outcome", []store.Call{{ID: "c", State: store.CallIntent, Begun: at, Outcome: []byte("{}")}}, "call c has an outcome"},
		{"one that failed and has not ended", []store.Call{{ID: "c", State: store.CallFailed}}, "call c is failed: a call has an end time"},
		{"one with an unknown outcome", []store.Call{{ID: "c", State: store.CallUnknown, Ended: at}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { checkError(t, store.ValidateCalls(tt.calls), tt.want) })
	}
}

// A call ends once, except that an unknown outcome may become known later.
func TestCallEnds(t *testing.T) {
	states := []store.CallState{store.CallIntent, store.CallDone, store.CallFailed, store.CallUnknown}
	for _, present := range states {
		for _, next := range states[1:] {
			want := present == store.CallIntent || present == store.CallUnknown && next != store.CallUnknown
			if got := (&store.Call{State: next}).Ends(present); got != want {
				t.Errorf("a call that is %s may become %s: %t, want %t", present, next, got, want)
			}
		}
	}
}

func TestCredentialValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*store.Credential)
		want   string
	}{
		{"a sound credential", func(*store.Credential) {}, ""},
		{"no id", func(t *store.Credential) { t.ID = "" }, "the credential has no id"},
		{"a short hash", func(t *store.Credential) { t.Hash = t.Hash[1:] }, "credential tok_1: the hash has 31 bytes, want 32"},
		{"nobody's", func(t *store.Credential) { t.Actor = "" }, "credential tok_1 has no actor"},
		{"never made", func(t *store.Credential) { t.Created = time.Time{} }, "credential tok_1 has no time of creation"},
	} {
		credential := &store.Credential{ID: "tok_1", Hash: make([]byte, store.HashSize), Actor: "dana", Created: time.UnixMilli(1)}
		tt.change(credential)
		t.Run(tt.name, func(t *testing.T) { checkError(t, credential.Validate(), tt.want) })
	}
}

// A GoneError matches ErrGone and not ErrNotFound.
func TestGoneError(t *testing.T) {
	err := error(&store.GoneError{Cell: "c1"})
	if !errors.Is(err, store.ErrGone) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v: is gone %t, is not found %t", err, errors.Is(err, store.ErrGone), errors.Is(err, store.ErrNotFound))
	}
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
