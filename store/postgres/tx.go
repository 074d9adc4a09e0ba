package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carrel-dev/carrel/governance"
)

// A mode says how a transaction begins.
type mode string

// The modes of transactions.
const (
	reading mode = `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`
	writing mode = `BEGIN ISOLATION LEVEL READ COMMITTED`
)

// A place is the scope that a transaction is in, or nil if it is in none.
type place *governance.Scope

// anyScope is for what is of no scope: a transaction in it sees nothing of any.
var anyScope place

func in(scope governance.Scope) place { return &scope }

// What a transaction sets for itself and for nothing behind it, so that connections may be
// anybody's in between. The policies of the tables read the scope; who stands still in the
// middle gives its locks up after a minute.
const (
	setWaits = `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', '60000', true)`

	// All tables are read by their keys, and what is read first in the order of a key. A
	// planner that knows them as empty, from before they were filled, would rather read the
	// whole of them, or all of a word and sort it.
	setByKey = `, set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`
	setScope = `, set_config('carrel.scope', $2, true)`
)

// begin adds the beginning of a transaction.
func (t *tx) begin(at place, how mode) {
	sql, values := setWaits, []any{strconv.FormatInt(t.s.patience.Milliseconds(), 10)}
	if t.s.byKey {
		sql += setByKey
	}
	if at != nil {
		sql, values = sql+setScope, append(values, setting(*at))
	}
	t.do("", string(how))
	t.do("", sql, values...)
}

// setting returns a scope as the policies read it. The byte before it tells an empty name from
// a setting that is not set.
func setting(scope governance.Scope) string { return hex.EncodeToString(append([]byte{0}, scope...)) }

// A step is a statement that was not sent yet.
type step struct {
	sql  string
	args []any
	what string               // that it writes, for an error
	rows func(pgx.Rows) error // for each row, or nil
	one  []any                // where the only row goes, or nil
}

// A tx is a transaction. Its steps are gathered and sent together, in one round trip, with
// [tx.flush] and at its end. What fails in a step of the last round trip because of a row that
// was read would fail too late: a transaction that writes flushes what it decides by.
type tx struct {
	ctx   context.Context
	s     *database
	conn  *pgx.Conn
	steps []step

	// again says that the transaction was done before and nobody has told whether it was
	// made. If it was, what it wrote has its mark, which all its attempts share and no other
	// transaction has.
	again bool
	mark  []byte
}

// do adds a statement that returns no rows.
func (t *tx) do(what, sql string, args ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, what: what})
}

// rows adds a query, with what is called for each row.
func (t *tx) rows(f func(pgx.Rows) error, sql string, args ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, rows: f})
}

// row adds a query for one row. If there is none, it leaves dest alone.
func (t *tx) row(sql string, args []any, dest ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, one: dest})
}

// flush sends the steps. The error is that of the first which fails.
func (t *tx) flush() error { return t.flushIn(t.ctx) }

func (t *tx) flushIn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	steps := t.steps
	t.steps = nil
	if len(steps) == 0 {
		return nil
	}
	var batch pgx.Batch
	for i := range steps {
		sql := steps[i].sql
		if t.s.rewrite != nil {
			sql = t.s.rewrite(sql)
		}
		batch.Queue(sql, steps[i].args...)
	}
	results := t.conn.SendBatch(ctx, &batch)
	for i := range steps {
		if err := steps[i].read(results); err != nil {
			_ = results.Close() // the error above tells more
			return during(err, steps[i].what)
		}
	}
	return results.Close()
}

func (s *step) read(results pgx.BatchResults) error {
	if s.rows == nil && s.one == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if s.one != nil {
			err = rows.Scan(s.one...)
		} else {
			err = s.rows(rows)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// lastWait is how long the end of a transaction is waited for when its context has ended.
const lastWait = 30 * time.Second

// The pauses before a transaction is done again.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 400 * time.Millisecond
)

// transact does a transaction: f adds steps, and may flush. It is done again, from its
// beginning, while others are in its way and while the connection is lost, so that f begins
// with a clean slate each time.
func (s *database) transact(ctx context.Context, at place, how mode, f func(t *tx) error) error {
	again, mark := false, make([]byte, 16)
	_, _ = rand.Read(mark) // which never fails
	for waited, pause := time.Duration(0), firstPause; ; waited, pause = waited+pause, min(2*pause, longPause) {
		unknown, err := s.attempt(ctx, at, how, again, mark, f)
		if err == nil || ctx.Err() != nil && !unknown {
			return err
		}
		again = again || unknown && how == writing && !s.forgetful
		lost := isLost(err)
		if lost {
			s.pool.Reset() // the others may be lost, too
		}
		if !lost && !isInTheWay(err) || waited+pause > s.patience {
			return s.explain(err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// attempt does a transaction once. If it fails with unknown set, it may have been made.
func (s *database) attempt(ctx context.Context, at place, how mode, again bool, mark []byte, f func(t *tx) error) (unknown bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release(c)
	t := &tx{ctx: ctx, s: s, conn: c.Conn(), again: again, mark: mark}
	t.begin(at, how)
	if err := f(t); errors.Is(err, errMade) {
		return false, nil // release rolls back
	} else if err != nil {
		return false, t.lost(err)
	}
	t.do("", `COMMIT`)
	if how == writing {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWait)
		defer cancel()
	}
	err = t.lost(t.flushIn(ctx))
	return isLost(err), err
}

// lost returns an error that says whether the connection was lost with it.
func (t *tx) lost(err error) error {
	if err != nil && t.conn.IsClosed() {
		return &lostError{err}
	}
	return err
}

// errMade ends a transaction of which an earlier attempt turned out to have been made.
var errMade = errors.New("made already")

// release gives a connection back, out of any transaction.
func release(c *pgxpool.Conn) {
	if conn := c.Conn(); !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), lastWait)
		defer cancel()
		_, _ = conn.Exec(ctx, `ROLLBACK`) // one that fails costs the connection
	}
	c.Release()
}

// args returns the parameters of a statement: names and texts as bytes, whatever they are.
func args(all ...any) []any {
	for i, a := range all {
		if scope, ok := a.(governance.Scope); ok {
			all[i] = raw(scope)
		}
	}
	return all
}

// raw returns a name or a text as a value.
func raw[T ~string](s T) []byte { return []byte(s) }

// maybe returns a name as a value, NULL if it is empty.
func maybe[T ~string](s T) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// raws returns names as one value.
func raws[T ~string](all []T) [][]byte {
	values := make([][]byte, len(all))
	for i, s := range all {
		values[i] = []byte(s)
	}
	return values
}

// whole returns bytes as a value that is not NULL.
func whole(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// A target is where a name or a text of a column goes.
type target[T ~string] struct{ to *T }

// ScanBytes implements [pgtype.BytesScanner]. NULL is empty.
func (t target[T]) ScanBytes(v []byte) error {
	*t.to = T(v)
	return nil
}

var _ pgtype.BytesScanner = target[string]{}

// to returns where a name or a text goes.
func to[T ~string](p *T) pgtype.BytesScanner { return target[T]{p} }

// column returns a function that appends the only column of a row, names.
func column[T ~string](all *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value T
		err := rows.Scan(to(&value))
		*all = append(*all, value)
		return err
	}
}

// numbers returns a function that appends the only column of a row, numbers.
func numbers(all *[]int64) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value int64
		err := rows.Scan(&value)
		*all = append(*all, value)
		return err
	}
}

// millis returns a time as a value.
func millis(t time.Time) int64 { return t.UnixMilli() }

// maybeMillis returns a time as a value, NULL if it is zero.
func maybeMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// timeOf returns the time that a column holds.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis).UTC() }

// maybeTime returns the time that a column holds, zero if it is NULL.
func maybeTime(millis *int64) time.Time {
	if millis == nil {
		return time.Time{}
	}
	return timeOf(*millis)
}

// about returns what a step writes.
func about(format string, args ...any) string { return fmt.Sprintf(format, args...) }
