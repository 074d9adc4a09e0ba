package carrel_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/test/stores"
)

// What a compression leaves in the window, its contract says, also after an undo.
func TestContractFollowsTheWindow(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := imported(t, e, conversation(t))
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens / 2}, Strategy: carrel.StrategyAnchored})
	if err != nil {
		t.Fatal(err)
	}
	if res.Summary == nil {
		t.Fatal("there is no summary, want one to look for in the contract")
	}
	s := agreed(t, e, in.Session)
	if id, covers := s.Summary(); id != string(res.Summary.ID) || covers != int64(res.Summary.Covers) {
		t.Errorf("the contract has summary %q of %d blocks, want %q of %d", id, covers, res.Summary.ID, res.Summary.Covers)
	}
	if tokens, limit := s.WindowTokens(); tokens != int64(res.After) || limit != int64(res.Budget) {
		t.Errorf("the contract has %d of %d tokens, want %d of %d", tokens, limit, res.After, res.Budget)
	}
	var hard []string
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Messages {
		if b.Rule.Hard() {
			hard = append(hard, "block-"+string(b.ID))
		}
	}
	pinned := s.Texts(contract.PinnedBlocks)
	slices.Sort(hard)
	slices.Sort(pinned)
	if diff := cmp.Diff(hard, pinned); diff != "" || len(hard) == 0 {
		t.Errorf("pinned blocks (-under hard rules +in the contract):\n%s", diff)
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	s = agreed(t, e, in.Session)
	if id, covers := s.Summary(); id != "" || covers != 0 {
		t.Errorf("after the undo the contract has summary %q of %d blocks, want none", id, covers)
	}
	if n := s.Count(contract.Retained); n != in.Blocks {
		t.Errorf("after the undo %d blocks are retained, want all %d", n, in.Blocks)
	}
}

// What the gate says of a context, the contract of its session has, too.
func TestContractHasTheGate(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	in := imported(t, b.Engine, podTalk(t, 5))
	b.put(t, chunk("The pool has four workers."))
	r := b.assemble(t, &carrel.AssembleRequest{Session: in.Session, Query: "how many workers?", Format: "openai", Budget: 20_000})

	held := b.commit(t, r.Manifest, "The pool shall have six workers.", 0.5).Artifact
	kept := b.commit(t, r.Manifest, "Two of the workers are spare ones.", 0.9).Artifact
	s := agreed(t, b.Engine, in.Session)
	if got := s.Texts(contract.GateHeld); !slices.Equal(got, []string{string(held.ID)}) {
		t.Errorf("held: %q, want %q", got, held.ID)
	}
	if got := s.Texts(contract.GateCommitted); !slices.Equal(got, []string{string(kept.ID)}) {
		t.Errorf("committed: %q, want %q", got, kept.ID)
	}
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(held.ID), Reason: "nobody decided that"}); err != nil {
		t.Fatal(err)
	}
	s = agreed(t, b.Engine, in.Session)
	if got := s.Texts(contract.GateRejected); !slices.Equal(got, []string{string(held.ID)}) || len(s.Texts(contract.GateHeld)) > 0 {
		t.Errorf("rejected: %q, held: %q, want %q and none", got, s.Texts(contract.GateHeld), held.ID)
	}

	// A closed contract has no note of it, and the gate does its work.
	if _, err := b.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: in.Session, Close: true}); err != nil {
		t.Fatal(err)
	}
	if late := b.commit(t, r.Manifest, "The spare workers are asleep.", 0.9); late.Artifact == nil {
		t.Errorf("after the contract was closed the gate said %+v, want a memory", late)
	}
}

// imported takes a conversation in.
func imported(t testing.TB, e *carrel.Engine, data []byte) *carrel.ImportResult {
	t.Helper()
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "chat.json", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// What is next may be said in words, or as an intent.
func TestCompressTakesIntents(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := imported(t, e, conversation(t))
	terms := func(text string) []string {
		res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens / 2}, Intent: []string{text}, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		return res.Intent
	}
	want := []string{"pool", "workers"}
	for _, text := range []string{"pool workers", `{"intent_ir": ["pool", "workers"]}`, `["pool", "the workers"]`} {
		if diff := cmp.Diff(want, terms(text)); diff != "" {
			t.Errorf("terms of %s (-want +got):\n%s", text, diff)
		}
	}
}
