package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

const (
	nextCalls = `
		INSERT INTO call_head (scope, calls) VALUES ($1, $2)
		ON CONFLICT (scope) DO UPDATE SET calls = call_head.calls + $2 RETURNING calls`
	callColumns = `SELECT seq, call_id, session_id, state, begun, ended, intent, outcome FROM call WHERE scope = $1 `
	lockCalls   = callColumns + `AND call_id = ANY ($2) ORDER BY seq FOR UPDATE`
	insertCall  = `INSERT INTO call (scope, seq, call_id, session_id, state, begun, intent) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	updateCall  = `UPDATE call SET state = $3, ended = $4, outcome = $5 WHERE scope = $1 AND seq = $2`
	selectCalls = callColumns + `
		AND ($2::bytea IS NULL OR session_id = $2) AND begun >= $3 AND (NOT $4 OR state = 'intent')
		AND ($6::bytea IS NULL OR call_id = $6) AND ($7::bigint IS NULL OR seq < $7)
		ORDER BY seq DESC LIMIT $5`
)

// Record implements [store.Calls].
func (s *database) Record(ctx context.Context, scope governance.Scope, calls []store.Call) error {
	if err := errors.Join(ctx.Err(), store.ValidateCalls(calls)); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if len(calls) == 0 {
		return nil
	}
	err := s.write(ctx, scope, func(t *tx) error { return t.record(scope, calls) })
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// record adds the statements for calls. A transaction that begins calls locks the row that numbers
// the calls of the scope, and one that ends calls locks these calls.
func (t *tx) record(scope governance.Scope, calls []store.Call) error {
	begun, last := int64(0), int64(0)
	ids := make([][]byte, len(calls))
	for i := range calls {
		ids[i] = raw(calls[i].ID)
		if calls[i].State == store.CallIntent {
			begun++
		}
	}
	if begun > 0 {
		t.row(nextCalls, args(raw(scope), begun), &last)
	}
	var there []*store.Call
	t.rows(each(&there, scanCall), lockCalls, raw(scope), ids)
	if err := t.flush(); err != nil {
		return err
	}
	present := make(map[string]*store.Call, len(there))
	for _, c := range there {
		present[c.ID] = c
	}
	made := 0
	for i := range calls {
		c := &calls[i]
		old := present[c.ID]
		if t.again && old != nil && sameCall(c, old) {
			made++
			continue
		}
		switch {
		case c.State == store.CallIntent && old != nil:
			return fmt.Errorf("call %s: the id already exists: %w", c.ID, store.ErrConflict)
		case c.State == store.CallIntent:
			begun--
			t.do("call "+c.ID, insertCall, raw(scope), last-begun, raw(c.ID), raw(c.Session), c.State, millis(c.Begun), []byte(c.Intent))
		case old == nil:
			return fmt.Errorf("call %s: %w", c.ID, store.ErrNotFound)
		case !c.Ends(old.State):
			return fmt.Errorf("call %s: it has already ended as %s: %w", c.ID, old.State, store.ErrConflict)
		default:
			t.do("call "+c.ID, updateCall, raw(scope), old.Seq, c.State, millis(c.Ended), []byte(c.Outcome))
		}
	}
	if made == len(calls) {
		return errMade
	}
	return nil
}

// sameCall reports whether the stored call in there has the values that recording c would write.
func sameCall(c, there *store.Call) bool {
	if c.State == store.CallIntent {
		return c.Session == there.Session && millis(c.Begun) == millis(there.Begun) && bytes.Equal(c.Intent, there.Intent)
	}
	return c.State == there.State && millis(c.Ended) == millis(there.Ended) && bytes.Equal(c.Outcome, there.Outcome)
}

func scanCall(rows pgx.Rows) (*store.Call, error) {
	var c store.Call
	var begun int64
	var ended *int64
	err := rows.Scan(&c.Seq, to(&c.ID), to(&c.Session), &c.State, &begun, &ended, (*[]byte)(&c.Intent), (*[]byte)(&c.Outcome))
	c.Begun, c.Ended = timeOf(begun), maybeTime(ended)
	return &c, err
}

// longAgo is earlier than any time of a call.
const longAgo = -1 << 62

// Calls implements [store.Calls].
func (s *database) Calls(ctx context.Context, scope governance.Scope, filter store.CallFilter) iter.Seq2[*store.Call, error] {
	since := int64(longAgo)
	if !filter.Since.IsZero() {
		since = millis(filter.Since)
		if timeOf(since).Before(filter.Since) {
			since++ // round up to whole milliseconds
		}
	}
	var most *int
	if filter.Limit > 0 {
		most = &filter.Limit
	}
	var before *int64
	if filter.Before > 0 {
		before = &filter.Before
	}
	return list(ctx, s, scope, func(t *tx) (*[]*store.Call, error) {
		calls := new([]*store.Call)
		t.rows(each(calls, scanCall), selectCalls, raw(scope), maybe(filter.Session), since, filter.Open, most, maybe(filter.ID), before)
		return calls, nil
	})
}
