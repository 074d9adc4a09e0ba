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

// A mode is the statement that begins a transaction.
type mode string

// The modes of transactions.
const (
	reading mode = `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`
	writing mode = `BEGIN ISOLATION LEVEL READ COMMITTED`
)

// A place is the scope of a transaction, or nil if it has none.
type place *governance.Scope

// noScope is the place of a transaction without a scope. It can use only the tables that have no
// column "scope".
var noScope place

func in(scope governance.Scope) place { return &scope }

// The settings of a transaction. They end with it, so that a pool of the server can share
// connections. The policies of row-level security read the scope. A transaction that is idle for a
// minute is ended, which releases its locks.
const (
	setWaits = `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', '60000', true)`

	// Every query finds its rows by a key, and a query with a limit reads them in the order of a
	// key. Without these settings, a planner with statistics from when the tables were empty would
	// scan whole tables, or read all rows of a word and sort them.
	setByKey = `, set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`
	setScope = `, set_config('carrel.scope', $2, true)`
)

// begin adds the statements that begin a transaction.
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

// setting returns a scope in the encoding of the setting carrel.scope: hexadecimal, after a zero
// byte that distinguishes an empty name from a missing setting.
func setting(scope governance.Scope) string { return hex.EncodeToString(append([]byte{0}, scope...)) }

// A step is a statement that is not sent yet.
type step struct {
	sql  string
	args []any
	what string               // what it writes, for an error
	rows func(pgx.Rows) error // called for each row, or nil
	one  []any                // destinations of the only row, or nil
}

// A tx is a transaction. It collects steps, and sends all collected ones in one round trip when
// [tx.flush] is called and when the transaction ends. The last round trip contains the commit, so a
// transaction that needs the results of its queries must call flush to get them.
type tx struct {
	ctx   context.Context
	s     *database
	conn  *pgx.Conn
	steps []step

	// again is true if it is unknown whether an earlier attempt at the transaction was
	// committed. If it was, its journal entry has the mark, a random value that all attempts
	// share.
	again bool
	mark  []byte
}

// do adds a statement that returns no rows. The text what names the written record in errors.
func (t *tx) do(what, sql string, args ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, what: what})
}

// rows adds a query and calls f for each row.
func (t *tx) rows(f func(pgx.Rows) error, sql string, args ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, rows: f})
}

// row adds a query for one row. If there is no row, dest keeps its values.
func (t *tx) row(sql string, args []any, dest ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, one: dest})
}

// flush sends the collected steps and reads their results. It returns the first error.
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
			return explainWrite(err, steps[i].what)
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

// lastWait is how long the end of a transaction that writes may take if its context has ended.
const lastWait = 30 * time.Second

// The first and the longest pause before a transaction is repeated.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 400 * time.Millisecond
)

// transact runs a transaction, for which f adds steps and may flush. It repeats the transaction from
// its beginning after a conflict with another one or a lost connection, until the patience of the
// store is over, which begins with the first of these. f must therefore reset its results each time.
// If ctx ends while it is unknown whether the transaction was committed, transact returns an error,
// although the transaction may have been made.
func (s *database) transact(ctx context.Context, at place, how mode, f func(t *tx) error) error {
	if how == writing && s.barred != nil {
		return s.barred
	}
	again, mark := false, make([]byte, 16)
	_, _ = rand.Read(mark)    // never fails
	var over <-chan time.Time // receives when the patience is over
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		unknown, err := s.attempt(ctx, at, how, again, mark, f)
		if err == nil || ctx.Err() != nil && !unknown {
			return err
		}
		again = again || unknown && how == writing && !s.forgetful
		lost := isLost(err)
		if lost {
			s.pool.Reset() // the other connections may be lost too
		}
		if !lost && !isConflict(err) {
			return s.explain(err)
		}
		if over == nil {
			over = time.After(s.patience)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-over:
			return s.explain(err)
		case <-time.After(pause):
		}
	}
}

// attempt runs the function f once, in a transaction of the mode how and the scope at. The
// arguments again and mark are for the fields of these names in [tx]. If f finds that an earlier
// attempt was committed, it returns errMade, and attempt then returns no error. If attempt returns
// an error and unknown is true, the transaction may have been committed.
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

// lost wraps err in a lostError if the connection is closed.
func (t *tx) lost(err error) error {
	if err != nil && t.conn.IsClosed() {
		return &lostError{err}
	}
	return err
}

// errMade ends a repeated transaction when it finds that an earlier attempt was committed.
var errMade = errors.New("already committed by an earlier attempt")

// release rolls back any transaction of a connection and returns it to the pool.
func release(c *pgxpool.Conn) {
	if conn := c.Conn(); !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), lastWait)
		defer cancel()
		_, _ = conn.Exec(ctx, `ROLLBACK`) // if it fails, the pool drops the connection
	}
	c.Release()
}

// args returns the arguments of a statement, with scopes converted to bytes.
func args(all ...any) []any {
	for i, a := range all {
		if scope, ok := a.(governance.Scope); ok {
			all[i] = raw(scope)
		}
	}
	return all
}

// raw returns a name or a text as a value to bind, as bytes, because it may not be valid UTF-8.
func raw[T ~string](s T) []byte { return []byte(s) }

// maybe returns a name as a value to bind: NULL if it is empty.
func maybe[T ~string](s T) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// raws returns names as an array to bind.
func raws[T ~string](all []T) [][]byte {
	values := make([][]byte, len(all))
	for i, s := range all {
		values[i] = []byte(s)
	}
	return values
}

// whole returns b as a value to bind that is never NULL.
func whole(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// A target is the destination of a column with a name or a text.
type target[T ~string] struct{ to *T }

// ScanBytes implements [pgtype.BytesScanner]. It reads NULL as an empty string.
func (t target[T]) ScanBytes(v []byte) error {
	*t.to = T(v)
	return nil
}

var _ pgtype.BytesScanner = target[string]{}

// to returns a destination for a column with a name or a text.
func to[T ~string](p *T) pgtype.BytesScanner { return target[T]{p} }

// column returns a function that appends the name in the only column of a row to *all.
func column[T ~string](all *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value T
		err := rows.Scan(to(&value))
		*all = append(*all, value)
		return err
	}
}

// numbers returns a function that appends the number in the only column of a row to *all.
func numbers(all *[]int64) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var value int64
		err := rows.Scan(&value)
		*all = append(*all, value)
		return err
	}
}

// millis returns a time as a value to bind, in milliseconds.
func millis(t time.Time) int64 { return t.UnixMilli() }

// maybeMillis returns a time as a value to bind: milliseconds, or NULL if it is zero.
func maybeMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// timeOf returns the time of a column in milliseconds.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis).UTC() }

// maybeTime returns the time of a column in milliseconds, or the zero time for NULL.
func maybeTime(millis *int64) time.Time {
	if millis == nil {
		return time.Time{}
	}
	return timeOf(*millis)
}

// about formats the name of a record, for the field "what" of a step.
func about(format string, args ...any) string { return fmt.Sprintf(format, args...) }
