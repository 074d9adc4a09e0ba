package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

// A caller makes the records of the calls of one session, each first as an intent and then as done.
// The records depend only on its name.
type caller struct {
	name string
	done int // number of records made
}

// next returns the next record.
func (c *caller) next() store.Call {
	c.done++
	call := store.Call{
		ID: fmt.Sprintf("%s-%d", c.name, (c.done+1)/2), Session: transcript.SessionID(c.name), State: store.CallIntent,
		Begun: epoch.Add(time.Duration(c.done) * time.Second), Intent: fmt.Appendf(nil, `{"n": %d}`, c.done),
	}
	if c.done%2 == 0 {
		call.State, call.Ended, call.Outcome = store.CallDone, call.Begun, []byte(`{"status": 200}`)
	}
	return call
}

// playCalls records five calls and intents for each of three sessions, the last call of each still
// open, and adds two rewrites to session s0.
func playCalls(ctx context.Context, s store.Store) error {
	for _, name := range []string{"s0", "", "s1"} {
		c := &caller{name: name}
		for range 5 {
			if err := s.Record(ctx, scope, []store.Call{c.next()}); err != nil {
				return err
			}
		}
	}
	head, err := s.Head(ctx, scope, "s0")
	if err != nil {
		return err
	}
	change := &store.Change{Head: *head, Entry: store.Entry{ID: "op-sent", Op: "rewrite", Actor: governance.ActorUser, Time: epoch}}
	for i, kind := range []store.RewriteKind{store.RewriteHead, store.RewriteMessage} {
		cell := store.Cell{ID: store.CellID(fmt.Sprintf("sent-%d", i)), Kind: store.CellSent, Body: []byte("[]")}
		cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
		change.Cells = append(change.Cells, cell)
		change.Rewrites = append(change.Rewrites, store.Rewrite{Chain: digest.Of([]byte(kind)), Kind: kind, Epoch: i, Messages: i + 1, Cell: cell.ID})
	}
	_, err = s.Apply(ctx, scope, "s0", head.Revision, change)
	return err
}

// If a call or a rewrite was changed, added or deleted without the driver, each way to read it
// fails or returns the original content, and Check reports it.
func TestCallsNameDamage(t *testing.T) {
	withoutRaces(t)
	t.Parallel()
	all := []store.CallFilter{{}, {Session: "s0"}, {Session: "s1"}, {Open: true}, {Since: epoch.Add(4 * time.Second)}, {Limit: 2}, {ID: "s0-1"}}
	want := make([]string, len(all))
	for i, filter := range all {
		text, err := callsOf(t, openAt(t, filled(t)), filter)
		if err != nil {
			t.Fatal(err)
		}
		want[i] = text
	}
	for _, damage := range []string{
		"UPDATE call SET state = 'failed' WHERE call_id = 's0-1'",
		"UPDATE call SET state = 'intent' WHERE call_id = 's0-1'",
		"UPDATE call SET state = 'done' WHERE call_id = 's1-3'",
		"UPDATE call SET session_id = 's1', place = 4 WHERE call_id = 's0-3'",
		"UPDATE call SET session_id = 's2' WHERE call_id = 's0-3'",
		"UPDATE call SET begun = begun + 9000 WHERE call_id = 's0-1'",
		"UPDATE call SET latest = 0 WHERE call_id = '-2'",
		"UPDATE call SET outcome = NULL WHERE call_id = 's1-2'",
		"UPDATE call SET scope = 'other' WHERE call_id = 's1-3'",
		"DELETE FROM call WHERE call_id = 's0-1'",
		"DELETE FROM call WHERE call_id = 's1-3'",
		"DELETE FROM call",
		"DELETE FROM session_calls",
		"UPDATE session_calls SET calls = 2 WHERE session_id = 's0'",
		"DELETE FROM session_calls WHERE session_id = ''",
		"UPDATE session_calls SET session_id = 's5' WHERE session_id = 's1'",
		"INSERT INTO session_calls VALUES ('test', 's7', 1)",
		"UPDATE scope_total SET calls = 8",
		"UPDATE scope_total SET open_calls = 8",
		"INSERT INTO call SELECT scope, 10, 'call', session_id, 4, state, begun, latest, ended, intent, outcome, imprint FROM call WHERE call_id = 's0-3'",
		"UPDATE rewrite SET epoch = 9",
		"UPDATE rewrite SET messages = 9 WHERE kind = 'head'",
		"UPDATE rewrite SET cell_id = 'sent-1'",
		"UPDATE rewrite SET chain = zeroblob(32) WHERE kind = 'head'",
		"DELETE FROM rewrite WHERE kind = 'message'",
		"DELETE FROM rewrite",
		"INSERT INTO rewrite SELECT scope, 's1', kind, chain, epoch, messages, cell_id FROM rewrite",
		"UPDATE session_total SET rewrites = zeroblob(16)",
	} {
		path := filled(t)
		tamper(t, path, damage)
		s := openAt(t, path)
		for i, filter := range all {
			if filter.ID != "" && strings.HasPrefix(damage, "DELETE FROM call") {
				continue // only a list notices what it lacks
			}
			if got, err := callsOf(t, s, filter); err == nil && got != want[i] || err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: Calls that fit %+v = %s, %v; want %s or ErrCorrupt", damage, filter, got, err, want[i])
			}
		}
		for _, id := range []transcript.SessionID{"s0", "s1"} {
			_, err := storetest.ReadSession(t.Context(), s, scope, id)
			if bent := strings.Contains(damage, "rewrite") && (id == "s0") != strings.Contains(damage, "INTO"); bent != errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: session %s: %v", damage, id, err)
			}
		}
		if problems, err := s.Check(t.Context()); len(problems) == 0 || err != nil {
			t.Errorf("%s: Check = %q, %v; want a problem", damage, problems, err)
		}
	}
}

func callsOf(t *testing.T, s store.Store, filter store.CallFilter) (text string, err error) {
	t.Helper()
	for c, err := range s.Calls(t.Context(), scope, filter) {
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("%s of %s is %s: %s, ", c.ID, c.Session, c.State, c.Outcome)
	}
	return text, nil
}

// Record fails if the list of calls is damaged.
func TestRecordAfterDamage(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		"DELETE FROM call WHERE call_id = 's1-3'",
		"UPDATE scope_total SET calls = 3",
		"UPDATE session_calls SET calls = 1",
		"UPDATE call SET begun = 0 WHERE call_id = 's0-3'",
	} {
		path := filled(t)
		tamper(t, path, damage)
		s := openAt(t, path)
		calls := []store.Call{
			{ID: "call_1", Session: "s0", State: store.CallIntent, Begun: epoch},
			{ID: "s0-3", State: store.CallFailed, Ended: epoch},
		}
		if err := s.Record(t.Context(), scope, calls); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: Record: %v, want ErrCorrupt", damage, err)
		}
	}
}

// Of the concurrent records that share a transaction, only the invalid ones fail.
func TestRecordSharesTransactions(t *testing.T) {
	t.Parallel()
	const writers = 20
	s := together(t, writers, func(s store.Store, i int) {
		calls := []store.Call{(&caller{name: fmt.Sprintf("s%d", i)}).next()}
		if i%4 == 0 {
			calls = append(calls, store.Call{ID: "none", State: store.CallDone, Ended: epoch})
		}
		err := s.Record(t.Context(), scope, calls)
		if refused := errors.Is(err, store.ErrNotFound); refused != (i%4 == 0) || !refused && err != nil {
			t.Errorf("Record %d: %v", i, err)
		}
	})
	if got := len(read(t, s).Calls); got != writers*3/4 {
		t.Errorf("%d calls, want %d", got, writers*3/4)
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// The migration of a store of schema 7 keeps its content and adds calls and rewrites.
func TestMigrateTakesCalls(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	steps, err := sqlite.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	fill(t, s, 2, 3)
	before := read(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, withoutCalls...)
	tamper(t, path, "DELETE FROM migration WHERE version > 7")
	copied := backUp(t, path)
	s = openAt(t, path)
	if diff := storetest.Diff(before, read(t, s)); diff != "" {
		t.Errorf("contents after the migration (-before +after):\n%s", diff)
	}
	if diff := storetest.Diff(before, read(t, openAt(t, copied))); diff != "" {
		t.Errorf("contents of the backup after its migration (-before +after):\n%s", diff)
	}
	if err := playCalls(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.Schema != len(steps) {
		t.Errorf("Info = %+v, %v; want schema %d", info, err, len(steps))
	}
	if problems, err := s.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

// BenchmarkRecord measures Record for intents and outcomes of calls, with one and many writers.
func BenchmarkRecord(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := openAt(b, newPath(b))
			var next atomic.Int64
			b.SetParallelism(writers)
			b.RunParallel(func(p *testing.PB) {
				c := &caller{name: fmt.Sprintf("s%d", next.Add(1))}
				for p.Next() {
					if err := s.Record(b.Context(), scope, []store.Call{c.next()}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkCalls measures Calls in a scope with a hundred thousand calls.
func BenchmarkCalls(b *testing.B) {
	s := openAt(b, newPath(b))
	const calls = 100_000
	for n := 0; n < calls; {
		c := &caller{name: fmt.Sprintf("s%d", n/100)}
		var some []store.Call
		for range 100 {
			some = append(some, c.next())
			c.done++ // they stay open
			n++
		}
		if err := s.Record(b.Context(), scope, some); err != nil {
			b.Fatal(err)
		}
	}
	for name, filter := range map[string]store.CallFilter{
		"all": {}, "last=50": {Limit: 50}, "session": {Session: "s7"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Calls(b.Context(), scope, filter) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
