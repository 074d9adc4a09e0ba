package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// callChecks are the checks of calls and rewrites.
var callChecks = []check{
	{"a call is read back field by field, when it has begun and when it has ended", callReadsBack},
	{"a call begins once and ends once, and an outcome that is unknown may become known", callEndsOnce},
	{"Record writes all calls or none", recordIsWhole},
	{"Calls yields the selected calls, the last begun first", callsInOrder},
	{"a call needs no session, and outlives the one it names", callsOutliveSessions},
	{"calls of one scope do not exist in another", callsAreIsolated},
	{"Record lets one of many writers begin a call, and one end it", recordLetsOneWin},
	{"concurrent writers of different calls all succeed", otherCallsDoNotConflict},
	{"Calls sees the calls as they were when it began, and may be stopped", callsSeeASnapshot},
	{"the store shares no memory with calls in arguments and results", callsAreNotShared},
	{"Record and Calls in a canceled context fail and change nothing", callContextDone},
	{"a later rewrite replaces the one of the same kind and chain", rewritesAreReplaced},
	{"Erase deletes the rewrites of one session", rewritesAreErased},
}

// begun returns the intent of a call that begins the given minutes after the epoch.
func begun(id string, session transcript.SessionID, minutes int) store.Call {
	return store.Call{
		ID: id, Session: session, State: store.CallIntent, Begun: epoch.Add(time.Duration(minutes) * time.Minute),
		Intent: []byte(`{"model": "m", "bytes": 1.0e3}`),
	}
}

// ended returns the record that ends the call id: it has the given state, an outcome, and as its
// end the time one hour after the variable epoch.
func ended(id string, state store.CallState) store.Call {
	return store.Call{ID: id, State: state, Ended: epoch.Add(time.Hour), Outcome: []byte(`{"status": 200 }`)}
}

// record records calls, which must succeed.
func record(t *testing.T, s store.Store, sc governance.Scope, calls ...store.Call) {
	t.Helper()
	if err := s.Record(t.Context(), sc, calls); err != nil {
		t.Fatalf("Record: %v", err)
	}
}

func callID(c *store.Call) string { return c.ID }

func callReadsBack(t *testing.T, s store.Store) {
	first := begun("call_1", "s", 0)
	first.Begun = first.Begun.Add(900 * time.Microsecond).In(time.FixedZone("", 3600))
	bare := store.Call{ID: "call_2", State: store.CallIntent, Begun: epoch}
	record(t, s, scope, first, bare)
	first.Begun = epoch // the store returns UTC and whole milliseconds
	first.Seq, bare.Seq = 1, 2
	equal(t, "calls that have begun", contents(t, s, scope).Calls, []store.Call{bare, first})

	end := ended("call_1", store.CallFailed)
	end.Session, end.Begun, end.Intent = "another", epoch.Add(time.Minute), []byte(`"other"`) // Record ignores these
	end.Ended = end.Ended.Add(900 * time.Microsecond)
	record(t, s, scope, end, store.Call{ID: "call_2", State: store.CallUnknown, Ended: epoch})
	first.State, first.Ended, first.Outcome = store.CallFailed, epoch.Add(time.Hour), end.Outcome
	bare.State, bare.Ended = store.CallUnknown, epoch
	equal(t, "calls that have ended", contents(t, s, scope).Calls, []store.Call{bare, first})
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

func callEndsOnce(t *testing.T, s store.Store) {
	record(t, s, scope)
	for _, state := range []store.CallState{store.CallDone, store.CallFailed, store.CallUnknown} {
		id := "call_" + string(state)
		if err := s.Record(t.Context(), scope, []store.Call{ended(id, state)}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("end of a call that was never begun: %v, want ErrNotFound", err)
		}
		record(t, s, scope, begun(id, "s", 0))
		record(t, s, scope, ended(id, state))
		for _, again := range []store.Call{begun(id, "s", 0), ended(id, store.CallUnknown)} {
			if err := s.Record(t.Context(), scope, []store.Call{again}); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s of a call that is %s: %v, want ErrConflict", again.State, state, err)
			}
		}
		for _, next := range []store.CallState{store.CallDone, store.CallFailed} {
			err := s.Record(t.Context(), scope, []store.Call{ended(id, next)})
			if first := state == store.CallUnknown && next == store.CallDone; first && err != nil {
				t.Errorf("a call that is %s becomes %s: %v", state, next, err)
			} else if !first && !errors.Is(err, store.ErrConflict) {
				t.Errorf("a call that has ended becomes %s: %v, want ErrConflict", next, err)
			}
		}
	}
}

func recordIsWhole(t *testing.T, s store.Store) {
	record(t, s, scope, begun("call_1", "s", 0), begun("call_2", "s", 0))
	before := contents(t, s, scope)
	for name, bad := range map[string]store.Call{
		"one that was begun":       begun("call_1", "s", 0),
		"the end of none":          ended("none", store.CallDone),
		"one without an id":        begun("", "s", 0),
		"one that is there twice":  begun("call_3", "t", 0),
		"one of no state":          {ID: "call_4", Begun: epoch},
		"one that was never begun": {ID: "call_4", State: store.CallIntent},
	} {
		err := s.Record(t.Context(), scope, []store.Call{begun("call_3", "t", 1), ended("call_2", store.CallDone), bad})
		if err == nil {
			t.Errorf("%s is recorded", name)
		}
	}
	equal(t, "contents after the refusals", contents(t, s, scope), before)
	record(t, s, scope, begun("call_3", "t", 1), ended("call_2", store.CallDone))
}

func callsInOrder(t *testing.T, s store.Store) {
	record(t, s, scope, begun("a", "s", 0), begun("b", "", 30))
	record(t, s, scope, begun("c", "t", 20)) // an earlier time than that of the call before
	record(t, s, scope, begun("d", "s", 10))
	record(t, s, scope, begun("e", "t", 40), ended("d", store.CallDone), ended("a", store.CallUnknown))
	at := func(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }
	for _, tt := range []struct {
		filter store.CallFilter
		want   string
	}{
		{store.CallFilter{}, "e d c b a"},
		{store.CallFilter{Limit: -1}, "e d c b a"},
		{store.CallFilter{Limit: 2}, "e d"},
		{store.CallFilter{Limit: 9}, "e d c b a"},
		{store.CallFilter{Session: "s"}, "d a"},
		{store.CallFilter{Session: "t", Limit: 1}, "e"},
		{store.CallFilter{Session: "none"}, ""},
		{store.CallFilter{Since: at(10)}, "e d c b"},
		{store.CallFilter{Since: at(20)}, "e c b"},
		{store.CallFilter{Since: at(20), Limit: 2}, "e c"},
		{store.CallFilter{Since: at(20).Add(time.Microsecond)}, "e b"},
		{store.CallFilter{Since: at(41)}, ""},
		{store.CallFilter{Since: at(1), Session: "s"}, "d"},
		{store.CallFilter{Open: true}, "e c b"},
		{store.CallFilter{Open: true, Session: "t"}, "e c"},
		{store.CallFilter{Open: true, Session: "s"}, ""},
		{store.CallFilter{Open: true, Since: at(30)}, "e b"},
		{store.CallFilter{Open: true, Limit: 1}, "e"},
		{store.CallFilter{ID: "c"}, "c"},
		{store.CallFilter{ID: "none"}, ""},
		{store.CallFilter{ID: "c", Session: "s"}, ""},
		{store.CallFilter{ID: "a", Before: 1}, ""},
		{store.CallFilter{Before: 1}, ""},
		{store.CallFilter{Before: 4}, "c b a"},
		{store.CallFilter{Before: 4, Limit: 2}, "c b"},
		{store.CallFilter{Before: 4, Open: true}, "c b"},
		{store.CallFilter{Before: 4, Session: "s"}, "a"},
		{store.CallFilter{Before: 100}, "e d c b a"},
	} {
		yields(t, fmt.Sprintf("Calls that fit %+v", tt.filter), s.Calls(t.Context(), scope, tt.filter), callID, tt.want)
	}
}

func callsOutliveSessions(t *testing.T, s store.Store) {
	record(t, s, scope, begun("call_1", "s", 0), begun("call_2", "", 0))
	apply(t, s, scope, "s", 0, fullChange("x"))
	record(t, s, scope, begun("call_3", "s", 1), ended("call_1", store.CallDone))
	before := contents(t, s, scope).Calls
	purge(t, s, "s")
	after, err := values(s.Calls(t.Context(), scope, store.CallFilter{}))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls after the purge of a session", after, before)
	record(t, s, scope, ended("call_3", store.CallDone))
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// purge erases a session that fullChange("x") made, and purges all cells that the change added.
func purge(t *testing.T, s store.Store, id transcript.SessionID) {
	t.Helper()
	cells, err := s.Brought(t.Context(), scope, id)
	if err != nil {
		t.Fatal(err)
	}
	u := newUpdate("purge")
	u.Purge = cells
	update(t, s, scope, u)
	apply(t, s, scope, id, 1, erasure("x"))
}

func callsAreIsolated(t *testing.T, s store.Store) {
	const other governance.Scope = "test/suit"
	record(t, s, scope, begun("call_1", "s", 0))
	mine := contents(t, s, scope)
	for _, filter := range []store.CallFilter{{}, {Session: "s"}, {Open: true}} {
		yields(t, "Calls in another scope", s.Calls(t.Context(), other, filter), callID, "")
	}
	if err := s.Record(t.Context(), other, []store.Call{ended("call_1", store.CallDone)}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("end of a call of another scope: %v, want ErrNotFound", err)
	}
	if scopes, err := s.Scopes(t.Context()); err != nil || !slices.Equal(scopes, []governance.Scope{scope}) {
		t.Errorf("Scopes = %q, %v; want that of the call", scopes, err)
	}
	record(t, s, other, begun("call_1", "s", 0)) // the id is free in another scope
	record(t, s, other, ended("call_1", store.CallDone))
	equal(t, "contents of the first scope", contents(t, s, scope), mine)
}

func recordLetsOneWin(t *testing.T, s store.Store) {
	const writers = 8
	for i, call := range []store.Call{begun("call_1", "s", 0), ended("call_1", store.CallDone)} {
		won := winners(t, writers, func(n int) error {
			c := call
			c.Intent, c.Outcome = nil, nil
			if i > 0 {
				c.Outcome = fmt.Appendf(nil, "%d", n)
			}
			return s.Record(t.Context(), scope, []store.Call{c})
		})
		if won != 1 {
			t.Errorf("%d writers have recorded that a call is %s, want 1", won, call.State)
		}
	}
	if got := contents(t, s, scope).Calls; len(got) != 1 || got[0].State != store.CallDone || got[0].Outcome == nil {
		t.Errorf("calls = %+v, want one that is done", got)
	}
}

func otherCallsDoNotConflict(t *testing.T, s store.Store) {
	const writers, each = 6, 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			session := transcript.SessionID(numbered("s", w))
			for n := range each {
				id := numbered(string(session)+"-", n)
				err := s.Record(t.Context(), scope, []store.Call{begun(id, session, n)})
				if err == nil {
					err = s.Record(t.Context(), scope, []store.Call{ended(id, store.CallDone)})
				}
				if err != nil {
					t.Errorf("Record of %s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	if got := contents(t, s, scope).Calls; len(got) != writers*each {
		t.Errorf("%d calls, want %d", len(got), writers*each)
	}
	yields(t, "calls of one session", s.Calls(t.Context(), scope, store.CallFilter{Session: "s0002", Limit: 2}), callID, "s0002-0007 s0002-0006")
	yields(t, "calls that are open", s.Calls(t.Context(), scope, store.CallFilter{Open: true}), callID, "")
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

func callsSeeASnapshot(t *testing.T, s store.Store) {
	record(t, s, scope, begun("a", "s", 0), begun("b", "s", 0))
	n := 0
	write := func() {
		n++
		record(t, s, scope, begun(numbered("more", n), "s", n))
	}
	counts(t, "Calls", during(s.Calls(t.Context(), scope, store.CallFilter{}), write), 2)
	counts(t, "Calls of a session", during(s.Calls(t.Context(), scope, store.CallFilter{Session: "s"}), write), 3)
	for range 20 { // more than a store has connections
		stopEarly(t, s.Calls(t.Context(), scope, store.CallFilter{}))
		stopEarly(t, s.Calls(t.Context(), scope, store.CallFilter{Open: true}))
	}
	for c, err := range s.Calls(t.Context(), scope, store.CallFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		counts(t, "Calls within Calls", s.Calls(t.Context(), scope, store.CallFilter{Session: c.Session}), 4)
	}
}

func callsAreNotShared(t *testing.T, s store.Store) {
	in := []store.Call{begun("call_1", "s", 0)}
	record(t, s, scope, in...)
	end := []store.Call{ended("call_1", store.CallDone)}
	record(t, s, scope, end...)
	before := contents(t, s, scope)
	clear(in[0].Intent)
	clear(end[0].Outcome)
	after := contents(t, s, scope)
	equal(t, "contents after what went in was changed", after, before)
	clear(after.Calls[0].Intent)
	clear(after.Calls[0].Outcome)
	equal(t, "contents after what came out was changed", contents(t, s, scope), before)
}

func callContextDone(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Record(ctx, scope, []store.Call{begun("call_1", "s", 0)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Record: %v, want context.Canceled", err)
	}
	if _, err := collect(s.Calls(ctx, scope, store.CallFilter{})); !errors.Is(err, context.Canceled) {
		t.Errorf("Calls: %v, want context.Canceled", err)
	}
	yields(t, "calls afterwards", s.Calls(t.Context(), scope, store.CallFilter{}), callID, "")
}

// rewriting returns a change to a session that fullChange("x") made. It adds rewrites, each with a cell of
// its own.
func rewriting(entry string, rewrites ...store.Rewrite) *store.Change {
	c := retire("x", entry, "")
	for i, r := range rewrites {
		r.Cell = store.CellID(numbered(entry, i))
		c.Cells = append(c.Cells, newCell(r.Cell, store.CellSent, "sent in place"))
		c.Rewrites = append(c.Rewrites, r)
	}
	return c
}

func rewritesAreReplaced(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	chain := func(text string) digest.Digest { return digest.Of([]byte(text)) }
	low, high := chain("1"), chain("2")
	if slices.Compare(low[:], high[:]) > 0 {
		low, high = high, low
	}
	apply(t, s, scope, "s", 1, rewriting("one",
		store.Rewrite{Chain: high, Kind: store.RewriteMessage, Epoch: 2, Messages: 7},
		store.Rewrite{Chain: low, Kind: store.RewriteMessage, Epoch: 2, Messages: 7},
		store.Rewrite{Chain: high, Kind: store.RewriteHead, Epoch: 2, Messages: 7},
		store.Rewrite{Chain: low, Kind: store.RewriteHead, Epoch: 2, Messages: 5},
	))
	name := func(r *store.Rewrite) string { return string(r.Cell) }
	yields(t, "Rewrites", s.Rewrites(t.Context(), scope, "s"), name, "xsent one0003 one0002 one0001 one0000")
	apply(t, s, scope, "s", 2, rewriting("two",
		store.Rewrite{Chain: high, Kind: store.RewriteHead, Epoch: 3, Messages: 7},
		store.Rewrite{Chain: chain("x"), Kind: store.RewriteHead, Epoch: 4, Messages: 9}, // replaces the rewrite of fullChange
	))
	yields(t, "Rewrites", s.Rewrites(t.Context(), scope, "s"), name, "one0003 one0001 one0000 two0000 two0001")
	apply(t, s, scope, "t", 0, fullChange("y"))
	yields(t, "Rewrites of another session", s.Rewrites(t.Context(), scope, "t"), name, "ysent")
	cells, err := s.Brought(t.Context(), scope, "s")
	if err != nil || !slices.Contains(cells, "xsent") || !slices.Contains(cells, "two0001") {
		t.Errorf("the session brought %q, %v; want all cells that were ever sent among them", cells, err)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

func rewritesAreErased(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "t", 0, fullChange("y"))
	purge(t, s, "s")
	counts(t, "Rewrites of a session that was purged", s.Rewrites(t.Context(), scope, "s"), 0)
	counts(t, "Rewrites of another", s.Rewrites(t.Context(), scope, "t"), 1)
	if _, err := collect(s.Cells(t.Context(), scope, []store.CellID{"xsent"})); !errors.Is(err, store.ErrGone) {
		t.Errorf("what was sent of a session that was purged: %v, want ErrGone", err)
	}
	apply(t, s, scope, "s", 2, rewriting("again", store.Rewrite{Chain: digest.Digest{1}, Kind: store.RewriteHead, Messages: 1}))
	counts(t, "Rewrites of a session that began again", s.Rewrites(t.Context(), scope, "s"), 1)
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}
