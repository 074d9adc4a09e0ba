package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A callRow is a row of the table call, without its scope.
type callRow struct {
	store.Call

	place  int64 // position among the calls of its session, from 1
	latest int64 // latest begin time of this and all earlier calls of the scope, in milliseconds
}

// Record implements [store.Calls]. Concurrent calls of Record share a transaction with each other
// and with waiting changes and updates. Once the writer has begun to write the calls, it completes
// them even if ctx ends.
func (s *database) Record(ctx context.Context, scope governance.Scope, calls []store.Call) error {
	if err := errors.Join(ctx.Err(), store.ValidateCalls(calls)); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if len(calls) == 0 {
		return nil
	}
	j := &job{ctx: ctx, rows: len(calls), write: func(w *writer) error { return w.record(scope, calls) }}
	for i := range calls {
		j.size += len(calls[i].Intent) + len(calls[i].Outcome)
	}
	if err := s.submit(j); err != nil {
		return fmt.Errorf("record: %w", s.explain(err))
	}
	return nil
}

// record writes calls. If it fails, its caller rolls back.
func (w *writer) record(scope governance.Scope, calls []store.Call) error {
	for i := range calls {
		write := w.endCall
		if calls[i].State == store.CallIntent {
			write = w.beginCall
		}
		if err := write(scope, calls[i]); err != nil {
			return fmt.Errorf("call %s: %w", calls[i].ID, err)
		}
	}
	return nil
}

// callOf returns the row of a call, or [sql.ErrNoRows].
func (w *writer) callOf(scope governance.Scope, id string) (*callRow, error) {
	return scanCall(scope, func(dest ...any) error { return w.row(selectCall, []any{scope, id}, dest...) })
}

func (w *writer) beginCall(scope governance.Scope, c store.Call) error {
	switch _, err := w.callOf(scope, c.ID); {
	case err == nil:
		return fmt.Errorf("the id already exists: %w", store.ErrConflict)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	r := &callRow{Call: c, latest: c.Begun.UnixMilli()}
	if err := w.row(nextCall, []any{scope}, &r.Seq); err != nil {
		return err
	}
	if err := w.row(nextCallOfSession, []any{scope, c.Session}, &r.place); err != nil {
		return err
	}
	if r.Seq > 1 {
		before, err := w.number(selectLatestCall, scope, r.Seq-1)
		if errors.Is(err, sql.ErrNoRows) {
			return damaged("the list of calls of scope %s", scope)
		} else if err != nil {
			return err
		}
		r.latest = max(r.latest, before)
	}
	own := callImprint(scope, r)
	err := w.exec(insertCall, scope, r.Seq, c.ID, c.Session, r.place, c.State, c.Begun.UnixMilli(), r.latest, document(c.Intent), own.blob())
	if isTaken(err) { // a row has the number that is due to be free
		return damaged("the list of calls of scope %s", scope)
	}
	return err
}

func (w *writer) endCall(scope governance.Scope, c store.Call) error {
	r, err := w.callOf(scope, c.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case err != nil:
		return err
	case !c.Ends(r.State):
		return fmt.Errorf("it has already ended as %s: %w", r.State, store.ErrConflict)
	}
	if r.State == store.CallIntent {
		if err := w.exec(closeCall, scope); err != nil {
			return err
		}
	}
	r.State, r.Ended, r.Outcome = c.State, c.Ended, c.Outcome
	own := callImprint(scope, r)
	return w.exec(updateCall, scope, r.Seq, c.State, c.Ended.UnixMilli(), document(c.Outcome), own.blob())
}

// scanCall returns the call in a row and checks its imprint.
func scanCall(scope governance.Scope, scan func(dest ...any) error) (*callRow, error) {
	var r callRow
	var begun int64
	var ended sql.NullInt64
	var own imprint
	err := scan(&r.Seq, &r.ID, &r.Session, &r.place, &r.State, &begun, &r.latest, &ended, (*[]byte)(&r.Intent), (*[]byte)(&r.Outcome), &own)
	if err != nil {
		return nil, err
	}
	r.Begun = timeOf(begun)
	if ended.Valid {
		r.Ended = timeOf(ended.Int64)
	}
	if !same(callImprint(scope, &r), own) {
		return nil, damaged("call %s", r.ID)
	}
	return &r, nil
}

// A callList describes a list of calls, newest first. Their numbers must count down to 1 without
// a gap, so that a missing row is noticed.
type callList struct {
	query  string               // query for the rows
	total  string               // query for the number of rows
	number func(*callRow) int64 // number of a call in the list; nil if the calls are not numbered
	args   []any                // arguments of both queries, the scope first
}

func allCalls(scope governance.Scope) *callList {
	return &callList{selectCalls, selectCallTotal, func(r *callRow) int64 { return r.Seq }, []any{scope}}
}

func callsOf(scope governance.Scope, session transcript.SessionID) *callList {
	return &callList{selectCallsOfSession, selectSessionCallTotal, func(r *callRow) int64 { return r.place }, []any{scope, session}}
}

func openCalls(scope governance.Scope) *callList {
	return &callList{selectOpenCalls, selectOpenCallTotal, nil, []any{scope}}
}

// callsBefore lists the calls of a scope with a Seq below seq.
func callsBefore(scope governance.Scope, seq int64) *callList {
	return &callList{selectCallsBefore, selectCallsBeforeTotal, func(r *callRow) int64 { return r.Seq }, []any{scope, seq}}
}

// Calls implements [store.Calls]. At the place of a missing call it yields an error.
func (s *database) Calls(ctx context.Context, scope governance.Scope, filter store.CallFilter) iter.Seq2[*store.Call, error] {
	list := allCalls(scope)
	switch {
	case filter.ID != "":
		return s.callNamed(ctx, scope, &filter)
	case filter.Session != "":
		list = callsOf(scope, filter.Session)
	case filter.Open:
		list = openCalls(scope)
	case filter.Before > 0:
		list = callsBefore(scope, filter.Before)
	}
	return stream(ctx, s, func(v view, emit func(*store.Call) error) error {
		found := 0
		return v.calls(scope, list, func(r *callRow) error {
			if filter.Fits(&r.Call) {
				found++
				if err := emit(&r.Call); err != nil {
					return err
				}
			}
			if filter.Limit > 0 && found == filter.Limit || !filter.Since.IsZero() && timeOf(r.latest).Before(filter.Since) {
				return errStop
			}
			return nil
		})
	})
}

// callNamed yields the call with the id of the filter, if the filter selects it.
func (s *database) callNamed(ctx context.Context, scope governance.Scope, filter *store.CallFilter) iter.Seq2[*store.Call, error] {
	return stream(ctx, s, func(v view, emit func(*store.Call) error) error {
		r, err := scanCall(scope, func(dest ...any) error { return v.row(selectCall, []any{scope, filter.ID}, dest...) })
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err == nil && filter.Fits(&r.Call):
			err = emit(&r.Call)
		}
		return err
	})
}

// calls passes each call of a list to the function emit, until emit returns an error.
func (v view) calls(scope governance.Scope, list *callList, emit func(*callRow) error) error {
	var left int64 // number of calls still to come
	if err := v.row(list.total, list.args, &left); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err := v.each(func(rows *sql.Rows) error {
		r, err := scanCall(scope, rows.Scan)
		if err != nil {
			return err
		}
		if left == 0 || list.number != nil && list.number(r) != left {
			return damaged("the list of calls of scope %s", scope)
		}
		left--
		return emit(r)
	}, list.query, list.args...)
	if err == nil && left != 0 {
		err = damaged("the list of calls of scope %s", scope)
	}
	return err
}

// applyRewrites writes the rewrites of a change, which replace those of the same kind and chain.
func (w *writer) applyRewrites(j *change) error {
	for i := range j.c.Rewrites {
		r := &j.c.Rewrites[i]
		if err := w.takeRewrites(j, deleteRewrite, j.scope, j.id, r.Kind, r.Chain[:]); err != nil {
			return err
		}
		j.total.rewrites.join(rewriteImprint(j.scope, j.id, r))
		err := w.exec(insertRewrite, j.scope, j.id, r.Kind, r.Chain[:], r.Epoch, r.Messages, r.Cell)
		if err != nil {
			return explainWrite(err, "rewrite with cell %s", r.Cell)
		}
	}
	return nil
}

// takeRewrites runs a statement that deletes rewrites, and removes them from the imprint of the
// session's list of rewrites.
func (w *writer) takeRewrites(j *change, query string, args ...any) error {
	return w.each(func(rows *sql.Rows) error {
		r, err := scanRewrite(rows)
		j.total.rewrites.join(rewriteImprint(j.scope, j.id, r))
		return err
	}, query, args...)
}

func scanRewrite(rows *sql.Rows) (*store.Rewrite, error) {
	var r store.Rewrite
	var chain []byte
	err := rows.Scan(&r.Kind, &chain, &r.Epoch, &r.Messages, &r.Cell)
	copy(r.Chain[:], chain)
	return &r, err
}

// Rewrites implements [store.Calls].
func (s *database) Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Rewrite, error] {
	return stream(ctx, s, func(v view, emit func(*store.Rewrite) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		rewrites, err := v.rewrites(scope, id)
		return emitAll(rewrites, err, emit)
	})
}

// rewrites returns all rewrites of an existing session.
func (v view) rewrites(scope governance.Scope, id transcript.SessionID) (rewrites []*store.Rewrite, err error) {
	total, err := v.total(scope, id)
	if err != nil {
		return nil, err
	}
	var all imprint
	err = v.each(func(rows *sql.Rows) error {
		r, err := scanRewrite(rows)
		all.join(rewriteImprint(scope, id, r))
		rewrites = append(rewrites, r)
		return err
	}, selectRewrites, scope, id)
	if err == nil && all != total.rewrites {
		err = damaged("the list of rewrites of session %s", id)
	}
	return rewrites, err
}

// checkCalls reads the lists of calls of each scope and session, and the lists of open calls, and
// reports damage.
func (c *checker) checkCalls() error {
	type key struct {
		scope   governance.Scope
		session transcript.SessionID
	}
	all, err := collect(c.each, func(k *key) []any { return []any{&k.scope, &k.session} }, selectCallers)
	if err != nil {
		return err
	}
	for i, k := range all {
		lists := []*callList{callsOf(k.scope, k.session)}
		if i == 0 || k.scope != all[i-1].scope {
			lists = append(lists, allCalls(k.scope), openCalls(k.scope))
		}
		for _, list := range lists {
			err := c.calls(k.scope, list, func(*callRow) error { return nil })
			if err := c.found(err, k.scope); err != nil {
				return err
			}
		}
	}
	return nil
}
