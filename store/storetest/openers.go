package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// RunOpeners checks a store that is open twice, as by two processes. Each check calls open, which
// makes an empty store and registers its cleanup with t, and then calls handle twice; each call
// opens that store anew.
func RunOpeners(t *testing.T, open func(t *testing.T) (handle func() store.Store)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b store.Store)
	}{
		{"a write of one opener is visible to the other at once", othersSeeWrites},
		{"Apply lets one of two openers win", oneOpenerApplies},
		{"Update lets one of two openers win", oneOpenerUpdates},
		{"openers of one session take turns, and no revision is lost", openersTakeTurns},
		{"versions of openers have no gaps", openersShareVersions},
		{"calls of openers have positions without gaps", openersShareCalls},
		{"a block indexed by one opener is found by the other, and numbers ascend", openersShareIndex},
		{"a cell purged by one opener is gone for the other", purgedForAll},
		{"one of two openers takes a job that nobody has", oneOpenerTakesJobs},
		{"an opener that lost its job to the other writes nothing", lostTo},
		{"an opener can write during an iteration of the other", openersIterate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle := open(t)
			c.run(t, handle(), handle())
		})
	}
}

func othersSeeWrites(t *testing.T, a, b store.Store) {
	Fill(t, a, scope)
	equal(t, "what the other sees", contents(t, b, scope), contents(t, a, scope))
	record(t, b, scope, ended("call_1", store.CallDone))
	c := newChange("op2")
	c.Statements = []string{`(fact "three")`}
	apply(t, b, scope, "s", 1, c)
	equal(t, "what the first sees of the other", contents(t, a, scope), contents(t, b, scope))
	if got, err := a.Scopes(t.Context()); err != nil || !slices.Contains(got, scope) {
		t.Errorf("Scopes = %v, %v", got, err)
	}
}

func oneOpenerApplies(t *testing.T, a, b store.Store) {
	for round := range store.Revision(8) {
		won := winners(t, 2, func(i int) error {
			c := fullChange(fmt.Sprintf("r%d-%d-", round, i))
			for k := range c.Blocks {
				c.Blocks[k].Turn += 10 * int(round)
			}
			_, err := []store.Store{a, b}[i].Apply(t.Context(), scope, "s", round, c)
			return err
		})
		if won != 1 {
			t.Fatalf("round %d: %d won, want 1", round, won)
		}
	}
	equal(t, "contents", contents(t, b, scope), contents(t, a, scope))
}

func oneOpenerUpdates(t *testing.T, a, b store.Store) {
	put(t, a, scope, [2]string{"a1", "the first text"})
	for round := range store.Version(8) {
		won := winners(t, 2, func(i int) error {
			u := newUpdate(fmt.Sprintf("up%d-%d", round, i))
			write := add(u, "a1", fmt.Sprintf("text %d of %d", round, i))
			write.At = round + 1
			for k := range u.Cells { // add derives the ids from the artifact, so make them unique
				u.Cells[k].ID += store.CellID(fmt.Sprintf("-%d-%d", round, i))
				u.Cells[k] = newCell(u.Cells[k].ID, u.Cells[k].Kind, string(u.Cells[k].Body))
			}
			write.Content, write.About = u.Cells[0].ID, u.Cells[1].ID
			_, err := []store.Store{a, b}[i].Update(t.Context(), scope, u)
			return err
		})
		if won != 1 {
			t.Fatalf("round %d: %d won, want 1", round, won)
		}
	}
	equal(t, "contents", contents(t, b, scope), contents(t, a, scope))
}

// retryConflicts repeats a write until it no longer fails with ErrConflict.
func retryConflicts(t *testing.T, write func() error) {
	for {
		err := write()
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
			return
		}
	}
}

func openersTakeTurns(t *testing.T, a, b store.Store) {
	const each = 20
	apply(t, a, scope, "s", 0, newChange("op0"))
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b} {
		wg.Go(func() {
			for n := range each {
				c := newChange(fmt.Sprintf("op%d-%d", i, n))
				c.Statements = []string{c.Entry.ID}
				retryConflicts(t, func() error {
					h, err := s.Head(t.Context(), scope, "s")
					if err == nil {
						_, err = s.Apply(t.Context(), scope, "s", h.Revision, c)
					}
					return err
				})
			}
		})
	}
	wg.Wait()
	entries, err := values(a.Entries(t.Context(), scope, "s", 1))
	if err != nil || len(entries) != 2*each {
		t.Fatalf("%d entries, %v; want %d", len(entries), err, 2*each)
	}
	lines, err := collect(b.Statements(t.Context(), scope, "s"))
	if err != nil || len(lines) != 2*each {
		t.Fatalf("%d statements, %v; want %d", len(lines), err, 2*each)
	}
	for i := range entries {
		if entries[i].Revision != store.Revision(i+2) || lines[i] != entries[i].ID {
			t.Errorf("entry %d is %s at revision %d, its statement %s", i, entries[i].ID, entries[i].Revision, lines[i])
		}
	}
}

// both calls f with each of two openers, concurrently. For each opener it calls f as many times as
// the parameter times says. The name is unique for each call.
func both(a, b store.Store, times int, f func(s store.Store, name string)) {
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b} {
		wg.Go(func() {
			for n := range times {
				f(s, fmt.Sprintf("%d-%d", i, n))
			}
		})
	}
	wg.Wait()
}

func openersShareVersions(t *testing.T, a, b store.Store) {
	const each = 20
	both(a, b, each, func(s store.Store, name string) {
		u := newUpdate("up" + name)
		add(u, "a"+name, "text of "+name)
		if _, err := s.Update(t.Context(), scope, u); err != nil {
			t.Error(err)
		}
	})
	log, err := values(b.Log(t.Context(), scope, 0))
	if err != nil || len(log) != 2*each {
		t.Fatalf("%d updates are in the log, %v; want %d", len(log), err, 2*each)
	}
	all, err := values(a.Artifacts(t.Context(), scope, 0))
	if err != nil || len(all) != 2*each {
		t.Fatalf("%d artifacts, %v; want %d", len(all), err, 2*each)
	}
	for i := range all {
		if all[i].Seq != int64(i+1) || log[i].Revision != store.Revision(i+1) {
			t.Errorf("artifact %d is at place %d, the update at version %d", i+1, all[i].Seq, log[i].Revision)
		}
	}
}

func openersShareCalls(t *testing.T, a, b store.Store) {
	const each = 20
	both(a, b, each, func(s store.Store, name string) {
		if err := s.Record(t.Context(), scope, []store.Call{begun("call_"+name, "s", 0)}); err != nil {
			t.Error(err)
		}
	})
	calls, err := values(b.Calls(t.Context(), scope, store.CallFilter{}))
	if err != nil || len(calls) != 2*each {
		t.Fatalf("%d calls, %v; want %d", len(calls), err, 2*each)
	}
	for i := range calls {
		if want := int64(2*each - i); calls[i].Seq != want {
			t.Errorf("call %s is at place %d, want %d", calls[i].ID, calls[i].Seq, want)
		}
	}
	won := winners(t, 2, func(i int) error {
		return []store.Store{a, b}[i].Record(t.Context(), scope, []store.Call{ended("call_0-0", store.CallDone)})
	})
	if won != 1 {
		t.Errorf("a call ended %d times, want once", won)
	}
}

func openersShareIndex(t *testing.T, a, b store.Store) {
	const each = 12 // enough for segments to be merged
	both(a, b, each, func(s store.Store, name string) {
		indexed(t, s, transcript.SessionID("s"+name), map[transcript.BlockID]string{transcript.BlockID("b" + name): "shared w" + strings.ReplaceAll(name, "-", "_")})
	})
	for _, s := range []store.Store{a, b} {
		if refs, err := Containing(t.Context(), s, scope, "shared"); err != nil || len(refs) != 2*each {
			t.Errorf("%d blocks have the word that all have, %v; want %d", len(refs), err, 2*each)
		}
		if got := found(t, s, "w0_3"); got != "b0-3" {
			t.Errorf("the block of one word is %q", got)
		}
	}
	views, err := a.Postings(t.Context(), scope, []string{"shared"})
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for i := range views {
		for _, id := range views[i].IDs {
			if id <= last {
				t.Errorf("number %d comes after %d", id, last)
			}
			last = id
		}
	}
	indexed(t, b, "last", map[transcript.BlockID]string{"last": "shared"})
	views, err = a.Postings(t.Context(), scope, []string{"shared"})
	if err != nil {
		t.Fatal(err)
	}
	if ids := views[len(views)-1].IDs; ids[len(ids)-1] <= last {
		t.Errorf("a block that was made findable later has number %d, not above %d", ids[len(ids)-1], last)
	}
}

func purgedForAll(t *testing.T, a, b store.Store) {
	Fill(t, a, scope)
	Fill(t, a, "another")
	if _, err := collect(b.Cells(t.Context(), scope, []store.CellID{"wc1"})); err != nil {
		t.Fatal(err)
	}
	brought, err := b.Brought(t.Context(), scope, "s")
	if err != nil || len(brought) == 0 {
		t.Fatalf("Brought = %v, %v", brought, err)
	}
	apply(t, a, scope, "s", 1, erasure("w"))
	u := newUpdate("purge")
	u.Purge = brought
	update(t, a, scope, u)
	for _, id := range brought {
		if _, err := collect(b.Cells(t.Context(), scope, []store.CellID{id})); !errors.Is(err, store.ErrGone) {
			t.Errorf("cell %s after the other has purged it: %v, want ErrGone", id, err)
		}
	}
	if refs, err := Containing(t.Context(), b, scope, "apple", "apples"); err != nil || len(refs) != 0 {
		t.Errorf("its words are found in %v, %v", refs, err)
	}
	if lines, err := collect(b.Statements(t.Context(), scope, "s")); err != nil || len(lines) != 0 {
		t.Errorf("its contract is %q, %v", lines, err)
	}
	if _, err := collect(b.Cells(t.Context(), "another", brought)); err != nil {
		t.Errorf("the same ids in another scope: %v", err)
	}
}

func openersIterate(t *testing.T, a, b store.Store) {
	Fill(t, a, scope)
	n := 0
	for _, err := range a.Blocks(t.Context(), scope, "s") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			c := newChange("op2")
			c.Blocks = []store.Block{newBlock("later", 100)}
			apply(t, b, scope, "s", 1, c)
		}
	}
	if n != 3 {
		t.Errorf("an iteration yields %d blocks, want the 3 that were there when it began", n)
	}
	counts(t, "Blocks, read again", a.Blocks(t.Context(), scope, "s"), 4)
}
