package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// The most that one transaction takes of what is waiting. Both bound how long
// the first of a batch waits for the last.
const (
	batchJobs  = 256
	batchBytes = 8 << 20
)

// A job is a change on its way to the disk.
type job struct {
	ctx   context.Context
	scope governance.Scope
	id    transcript.SessionID
	at    store.Revision
	c     *store.Change
	words []string // of c.Index, as the index takes them

	taken atomic.Bool   // by the writer, or by the caller who gave up
	err   error         // set before done is closed
	done  chan struct{} // closed when the change is durable, or refused
}

// take reports whether the job is the caller's from now on.
func (j *job) take() bool { return j.taken.CompareAndSwap(false, true) }

// finish tells the one who waits.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// size returns about how many bytes the job writes.
func (j *job) size() int {
	n := 0
	for i := range j.c.Cells {
		n += len(j.c.Cells[i].Body)
	}
	for _, words := range j.words {
		n += len(words)
	}
	return n
}

// A finding is a row of the index.
type finding struct {
	doc   int64
	words string
}

// Apply implements [store.Sessions]. Once the writer has begun with a change,
// the change is made even if ctx ends before it is durable.
func (s *Store) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := errors.Join(ctx.Err(), c.Validate()); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	j := &job{ctx: ctx, scope: scope, id: id, at: at, c: c, done: make(chan struct{})}
	for i := range c.Index {
		j.words = append(j.words, indexWords(scope, c.Index[i].Text)) // here and not where all wait for it
	}
	if err := s.submit(ctx, j); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, s.explain(err))
	}
	return at + 1, nil
}

// submit hands a job to the writer and waits until it is done.
func (s *Store) submit(ctx context.Context, j *job) error {
	select {
	case s.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return fs.ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		if j.take() {
			return ctx.Err()
		}
	}
	<-j.done
	return j.err
}

// write makes changes until the store is closed.
func (s *Store) write() {
	defer close(s.written)
	for {
		select {
		case j := <-s.queue:
			s.writer.batch(j, s.queue)
		case <-s.closing:
			return
		}
	}
}

// A writer has the connection that writes. One goroutine uses it.
type writer struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	found []finding // what the transaction has yet to add to the index

	// ackEarly acknowledges changes before they are committed. Nothing in this
	// package sets it: the tests do, to prove that they would notice.
	ackEarly bool
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{conn: conn, stmts: make(map[string]*sql.Stmt)}
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// batch makes the change of first, and of what else is waiting, in one
// transaction. Each is refused by itself, and all fail together if the
// transaction does.
func (w *writer) batch(first *job, queue <-chan *job) {
	w.found = w.found[:0]
	err := w.exec(begin)
	var jobs []*job // those that have to be told
	size := 0
	for j := first; j != nil; {
		if j.take() {
			jobs = append(jobs, j)
			if err == nil {
				size += j.size()
				j.err, err = w.change(j)
			}
		}
		j = nil
		if err == nil && len(jobs) < batchJobs && size < batchBytes {
			select {
			case j = <-queue:
			default:
			}
		}
	}
	if w.ackEarly {
		for _, j := range jobs {
			j.finish(j.err)
		}
	}
	if err == nil {
		err = w.index()
	}
	if err == nil {
		err = w.exec(commit)
	}
	if err != nil {
		_ = w.exec(rollback) // the engine may have done so already; the error above tells more
	}
	if w.ackEarly {
		return
	}
	for _, j := range jobs {
		if err != nil {
			j.err = err // even if it was refused: because of a change that is gone, perhaps
		}
		j.finish(j.err)
	}
}

// change makes one change within the transaction. It returns why the change
// was refused, or that the transaction is lost.
func (w *writer) change(j *job) (refused, lost error) {
	if err := w.exec(savepoint); err != nil {
		return nil, err
	}
	found := len(w.found)
	if refused = w.apply(j); refused != nil {
		w.found = w.found[:found]
		if err := w.exec(rollbackTo); err != nil {
			return nil, refused // the engine has rolled all back, for this reason
		}
	}
	return refused, w.exec(release)
}

// index adds what the changes of a transaction make findable. That comes last,
// because the index writes out what it has gathered at every savepoint.
func (w *writer) index() error {
	for _, f := range w.found {
		if err := w.exec(replaceWords, f.doc, f.words); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement. It is not interrupted: to interrupt one would roll
// back the changes of others.
func (w *writer) exec(query string, args ...any) error {
	stmt, err := w.prepare(query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background(), args...)
	return err
}

// number runs a statement that returns one number, or [sql.ErrNoRows].
func (w *writer) number(query string, args ...any) (n int64, err error) {
	stmt, err := w.prepare(query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return 0, err
	}
	err = stmt.QueryRowContext(context.Background(), args...).Scan(&n)
	return n, err
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	if stmt := w.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = stmt
	return stmt, nil
}
