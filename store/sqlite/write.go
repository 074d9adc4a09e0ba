package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// The most that one transaction takes of what is waiting. Both bound how long
// the first of a batch waits for the last.
const (
	batchJobs  = 256
	batchBytes = 8 << 20
)

// largeRows is how many rows a job writes that has a transaction to itself, or is the
// first of one. Only the first does without a savepoint. Within one, the engine keeps
// every page that it changes, and goes through all of them at the end of each statement
// that may fail half-way: the time would be quadratic in the number of rows.
const largeRows = 1000

// truncateWait is how long an update that purges waits for those who read what
// was there before.
const truncateWait = 100 * time.Millisecond

// A job is what one call writes, on its way to the disk.
type job struct {
	ctx    context.Context
	write  func(w *writer) error // within a transaction; what it wrote when it fails is rolled back
	size   int                   // about how many bytes it writes
	rows   int                   // about how many rows it writes
	purges bool                  // whether it erases anything

	taken atomic.Bool   // by the writer, or by the caller who gave up
	err   error         // set before done is closed
	done  chan struct{} // closed when the job is durable, or refused
}

// take reports whether the job is the caller's from now on.
func (j *job) take() bool { return j.taken.CompareAndSwap(false, true) }

// finish tells the one who waits.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// sizeOf returns about how many bytes it takes to write cells and words.
func sizeOf(cells []store.Cell, words []string) int {
	n := 0
	for i := range cells {
		n += len(cells[i].Body)
	}
	for _, w := range words {
		n += len(w)
	}
	return n
}

// A finding is a statement that changes the index.
type finding struct {
	query string
	args  []any
}

// submit hands a job to the writer and waits until it is done.
func (s *database) submit(j *job) error {
	if s.barred != nil {
		return s.barred
	}
	if err := s.moved(); err != nil {
		return err
	}
	j.done = make(chan struct{})
	select {
	case s.queue <- j:
	case <-j.ctx.Done():
		return j.ctx.Err()
	case <-s.closing:
		return fs.ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-j.ctx.Done():
		if j.take() {
			return j.ctx.Err()
		}
	}
	<-j.done
	return j.err
}

// write does jobs until the store is closed.
func (s *database) write() {
	defer close(s.written)
	for {
		select {
		case j := <-s.queue:
			for j != nil {
				j = s.writer.batch(j, s.queue)
			}
		case <-s.closing:
			return
		}
	}
}

// A writer has the connection that writes. One goroutine uses it.
type writer struct {
	*conn

	busy  time.Duration // to wait for a lock
	found []finding     // what the transaction has yet to do to the index of artifacts
	fresh []fresh       // what it has yet to add to the index of blocks
	trace bool          // the log may hold what was erased

	failed atomic.Bool // the last transaction was lost

	// ackEarly acknowledges jobs before they are committed. Nothing in this
	// package sets it: the tests do, to prove that they would notice.
	ackEarly bool
}

func newWriter(conn *sql.Conn, busy time.Duration) *writer {
	return &writer{conn: newConn(conn), busy: busy}
}

// batch does the job first, and what else is waiting, in one transaction. Each is
// refused by itself, and all fail together if the transaction does. It returns the job
// that has to be the first of the next transaction, or nil.
func (w *writer) batch(first *job, queue <-chan *job) (next *job) {
	w.found, w.fresh = w.found[:0], w.fresh[:0]
	err := w.exec(begin)
	var jobs []*job // those that have to be told
	size, purged, written := 0, false, false
	for j := first; j != nil; {
		if j.take() {
			jobs = append(jobs, j)
			if err == nil {
				size += j.size
				if j.purges {
					err = w.addFresh() // what is erased may be in it
				}
			}
			if err == nil {
				j.err, err = w.do(j, !written)
				written = written || j.err == nil
				purged = purged || j.purges && j.err == nil
			}
		}
		j = nil
		if err == nil && len(jobs) < batchJobs && size < batchBytes {
			select {
			case j = <-queue:
			default:
			}
		}
		if j != nil && written && j.rows >= largeRows {
			next, j = j, nil
		}
	}
	if w.ackEarly {
		for _, j := range jobs {
			j.finish(j.err)
		}
	}
	err = w.end(err, purged)
	if w.ackEarly {
		return next
	}
	w.failed.Store(err != nil)
	for _, j := range jobs {
		if err != nil {
			j.err = err // even if it was refused: because of a change that is gone, perhaps
		}
		j.finish(j.err)
	}
	return next
}

// end ends a transaction, which may be lost already, and returns why it is. Something was
// purged in it or not.
func (w *writer) end(err error, purged bool) error {
	if err == nil {
		err = w.index()
	}
	if err == nil {
		err = w.exec(commit)
	}
	if err != nil {
		_ = w.exec(rollback) // the engine may have done so already; the error above tells more
	}
	switch {
	case purged && err == nil:
		w.truncate(truncateWait)
	case w.trace:
		w.truncate(0)
	}
	return err
}

// do does one job within the transaction. It returns why the job was refused,
// or that the transaction is lost. If nothing is written yet, a refused job ends the
// transaction and another begins.
func (w *writer) do(j *job, first bool) (refused, lost error) {
	if first {
		if refused = j.write(w); refused != nil {
			w.found, w.fresh = w.found[:0], w.fresh[:0]
			_ = w.exec(rollback) // the engine may have done so already
			lost = w.exec(begin)
		}
		return refused, lost
	}
	if err := w.exec(savepoint); err != nil {
		return nil, err
	}
	found, fresh := len(w.found), len(w.fresh)
	if refused = j.write(w); refused != nil {
		w.found, w.fresh = w.found[:found], w.fresh[:fresh]
		if err := w.exec(rollbackTo); err != nil {
			return nil, refused // the engine has rolled all back, for this reason
		}
	}
	return refused, w.exec(release)
}

// later changes the index when the transaction ends. That comes last, because
// the index writes out what it has gathered at every savepoint.
func (w *writer) later(query string, args ...any) {
	w.found = append(w.found, finding{query, args})
}

// index does what the jobs of a transaction left for later.
func (w *writer) index() error {
	if err := w.addFresh(); err != nil {
		return err
	}
	for _, f := range w.found {
		if err := w.exec(f.query, f.args...); err != nil {
			return err
		}
	}
	return nil
}

// truncate empties the log after something was erased. It cannot while somebody
// reads what was there before: if that does not end soon, the next transaction
// tries again, and so does the last connection that is closed.
func (w *writer) truncate(wait time.Duration) {
	var busy, frames, done int
	err := errors.Join(
		w.exec(fmt.Sprintf(setBusyTimeout, wait.Milliseconds())),
		w.row(truncateLog, nil, &busy, &frames, &done),
		w.exec(fmt.Sprintf(setBusyTimeout, w.busy.Milliseconds())),
	)
	w.trace = err != nil || busy != 0
}

// number runs a statement that returns one number, or [sql.ErrNoRows].
func (w *writer) number(query string, args ...any) (n int64, err error) {
	err = w.row(query, args, &n)
	return n, err
}
