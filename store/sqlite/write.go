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

// The limits of a transaction, in jobs and bytes. They bound how long the first job of a batch
// waits for the last.
const (
	batchJobs  = 256
	batchBytes = 8 << 20
)

// largeRows is the number of rows that makes a job large. A large job must be the first of its
// transaction, because only the first job runs without a savepoint. With a savepoint, SQLite keeps
// every changed page and visits all of them at the end of each statement that may fail half-way:
// the time would be quadratic in the number of rows.
const largeRows = 1000

// truncateWait is how long an update that purges waits for readers of an older state.
const truncateWait = 100 * time.Millisecond

// A job is the write of one call of the store, which waits for the writer.
type job struct {
	ctx    context.Context
	write  func(w *writer) error // runs within a transaction; if it fails, its writes are rolled back
	size   int                   // estimated bytes that it writes
	rows   int                   // estimated rows that it writes
	purges bool                  // whether it erases text

	taken atomic.Bool   // set by the writer, or by a submitter who gave up
	err   error         // set before done is closed
	done  chan struct{} // closed when the job is durable or has failed
}

// take claims the job and reports whether it was free. Either the writer claims it, or a submitter
// who no longer waits.
func (j *job) take() bool { return j.taken.CompareAndSwap(false, true) }

// finish ends the wait of the submitter.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// sizeOf returns the size of the bodies of cells and of words in bytes.
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

// An indexWrite is a statement that changes the index of artifacts.
type indexWrite struct {
	query string
	args  []any
}

// submit hands a job to the writer, waits until it is durable or has failed, and returns its
// error. If the job's context ends before the writer takes the job, submit gives up.
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

// write runs jobs until the store is closed.
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

// A writer has the connection for writing. Only one goroutine uses it.
type writer struct {
	*conn

	busy  time.Duration // how long to wait for a lock
	found []indexWrite  // pending writes to the index of artifacts, for the end of the transaction
	fresh []fresh       // pending additions to the index of blocks, for the end of the transaction
	trace bool          // whether the log may still have erased text

	failed atomic.Bool // whether the last transaction failed

	// ackEarly acknowledges jobs before they are committed. Only tests set it, to prove that
	// they detect such a fault.
	ackEarly bool
}

func newWriter(conn *sql.Conn, busy time.Duration) *writer {
	return &writer{conn: newConn(conn), busy: busy}
}

// batch runs the given job, and the jobs that wait in the queue, in one transaction. A failing job
// does not affect the others, but if the transaction fails all jobs fail. If batch has taken a job
// from the queue that must be the first of the next transaction, it returns that job, and otherwise
// nil.
func (w *writer) batch(first *job, queue <-chan *job) (next *job) {
	w.found, w.fresh = w.found[:0], w.fresh[:0]
	err := w.exec(begin)
	var jobs []*job // the jobs to finish
	size, purged, written := 0, false, false
	for j := first; j != nil; {
		if j.take() {
			jobs = append(jobs, j)
			if err == nil {
				size += j.size
				if j.purges {
					err = w.addFresh() // it may have text that the job erases
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
			j.err = err // even if it failed alone: the cause may be a change that is rolled back now
		}
		j.finish(j.err)
	}
	return next
}

// end commits a transaction, or rolls it back if err, the error of its jobs, is not nil. It returns
// the error of the transaction. The parameter purged is true if a job has erased text.
func (w *writer) end(err error, purged bool) error {
	if err == nil {
		err = w.index()
	}
	if err == nil {
		err = w.exec(commit)
	}
	if err != nil {
		_ = w.exec(rollback) // SQLite may have rolled back already; the error above tells more
	}
	switch {
	case purged && err == nil:
		w.truncate(truncateWait)
	case w.trace:
		w.truncate(0)
	}
	return err
}

// do runs one job within the transaction. The result refused is the error of the job, and lost is
// that of the transaction. If first is true, nothing was written before, so the job runs without a
// savepoint. If such a job fails, do rolls back and begins a new transaction.
func (w *writer) do(j *job, first bool) (refused, lost error) {
	if first {
		if refused = j.write(w); refused != nil {
			w.found, w.fresh = w.found[:0], w.fresh[:0]
			_ = w.exec(rollback) // SQLite may have rolled back already
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
			return nil, refused // SQLite has rolled back the whole transaction because of it
		}
	}
	return refused, w.exec(release)
}

// later adds a statement for the index of artifacts, to run at the end of the transaction: FTS5
// flushes its buffer at every savepoint, which would make many small writes.
func (w *writer) later(query string, args ...any) {
	w.found = append(w.found, indexWrite{query, args})
}

// index runs the pending writes to the indexes.
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

// truncate empties the log after text was erased. For the duration wait, it waits for connections
// that read an older state. If one still reads then, the log keeps its content; the next
// transaction tries again, and so does SQLite when the last connection is closed.
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
