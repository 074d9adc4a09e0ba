package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

const (
	// A request that is older than store.RequestTime is replaced by the new one.
	insertRequest = `
		INSERT INTO request (scope, actor, key, attempt, asking, time) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (scope, actor, key) DO UPDATE
		SET attempt = excluded.attempt, asking = excluded.asking, time = excluded.time, outcome = NULL WHERE request.time <= $7`
	selectRequest  = `SELECT attempt, asking, time, outcome FROM request WHERE scope = $1 AND actor = $2 AND key = $3`
	selectRequests = `SELECT actor, key, attempt, asking, time, outcome FROM request WHERE scope = $1 ORDER BY time, actor, key`
	selectAttempt  = `SELECT attempt FROM request WHERE scope = $1 AND actor = $2 AND key = $3`
	settleRequest  = `UPDATE request SET outcome = $5 WHERE scope = $1 AND actor = $2 AND key = $3 AND attempt = $4`
	deleteRequest  = `DELETE FROM request WHERE scope = $1 AND actor = $2 AND key = $3 AND attempt = $4`
	deleteRequests = `DELETE FROM request WHERE scope = $1 AND time <= $2`
)

var _ store.Requests = (*database)(nil)

// addRequest adds a statement that records a request, unless another attempt has recorded it within
// store.RequestTime.
func (t *tx) addRequest(r *store.Request) {
	t.do("request", insertRequest, raw(r.Scope), raw(r.Actor), raw(r.Key), raw(r.Attempt), r.Asking[:], millis(r.Time),
		millis(r.Time.Add(-store.RequestTime)))
}

// claim adds statements that record the request in the transaction's context, if the context has a
// request of the scope. After a flush, repeated returns ErrRepeated if another attempt has recorded
// the request.
func (t *tx) claim(scope governance.Scope) (repeated func() error) {
	r := store.RequestFrom(t.ctx, scope)
	if r == nil {
		return func() error { return nil }
	}
	attempt := ""
	t.addRequest(r)
	t.row(selectAttempt, args(raw(scope), raw(r.Actor), raw(r.Key)), to(&attempt))
	return func() error {
		if attempt != r.Attempt {
			return store.ErrRepeated
		}
		return nil
	}
}

// Request implements [store.Requests].
func (s *database) Request(ctx context.Context, scope governance.Scope, actor governance.Actor, key string) (*store.Request, error) {
	found, err := read(ctx, s, scope, func(t *tx) (*[]store.Request, error) {
		found := new([]store.Request)
		t.rows(each(found, func(rows pgx.Rows) (store.Request, error) {
			r := store.Request{Scope: scope, Actor: actor, Key: key}
			err := scanRequest(rows, &r)
			return r, err
		}), selectRequest, raw(scope), raw(actor), raw(key))
		return found, nil
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return &found[0], nil
}

// scanRequest reads a row with the values of names, and then those of a request that no name has.
func scanRequest(rows pgx.Rows, r *store.Request, names ...any) error {
	var asking []byte
	var at int64
	err := rows.Scan(append(names, to(&r.Attempt), &asking, &at, &r.Outcome)...)
	copy(r.Asking[:], asking)
	r.Time = timeOf(at)
	return err
}

// AllRequests implements [store.Requests].
func (s *database) AllRequests(ctx context.Context, scope governance.Scope) ([]store.Request, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.Request, error) {
		found := new([]store.Request)
		t.rows(each(found, func(rows pgx.Rows) (store.Request, error) {
			r := store.Request{Scope: scope}
			err := scanRequest(rows, &r, to(&r.Actor), to(&r.Key))
			return r, err
		}), selectRequests, raw(scope))
		return found, nil
	})
}

// SettleRequest implements [store.Requests].
func (s *database) SettleRequest(ctx context.Context, r *store.Request) error {
	return s.ofRequest(ctx, r, func(t *tx) {
		t.addRequest(r)
		t.do("request", settleRequest, raw(r.Scope), raw(r.Actor), raw(r.Key), raw(r.Attempt), r.Outcome)
		t.do("requests", deleteRequests, raw(r.Scope), millis(r.Time.Add(-store.RequestTime)))
	})
}

// DropRequest implements [store.Requests].
func (s *database) DropRequest(ctx context.Context, r *store.Request) error {
	return s.ofRequest(ctx, r, func(t *tx) {
		t.do("request", deleteRequest, raw(r.Scope), raw(r.Actor), raw(r.Key), raw(r.Attempt))
	})
}

// ofRequest runs a transaction that writes about a request. The statements of f must be idempotent,
// because the transaction may run twice.
func (s *database) ofRequest(ctx context.Context, r *store.Request, f func(t *tx)) error {
	err := s.transact(ctx, in(r.Scope), writing, func(t *tx) error {
		f(t)
		return nil
	})
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}
