package sqlite

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// AckEarly breaks a store: it acknowledges changes before it commits them.
func AckEarly(s store.Database) { s.(*database).writer.ackEarly = true }

// CheckEngine is checkEngine.
func CheckEngine(version string) error { return checkEngine(version) }

// A Migration is a step from one version of the schema to the next.
type Migration = migration

// NewMigration returns a step.
func NewMigration(name, sql string) Migration { return migration{name: name, sql: sql} }

// Migrations returns the steps of the driver.
func Migrations() ([]Migration, error) { return migrations(migrationFiles) }

// OpenWith opens a store whose schema is made by other steps.
func OpenWith(ctx context.Context, path string, steps []Migration) (store.Database, error) {
	return open(ctx, path, nil, steps)
}

// Idle returns how many free connections for reading the pool keeps, and how many it has closed
// because it had enough.
func Idle(s store.Database) (kept int, closed int64) {
	p := s.(*database).readers
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free), p.surplus
}

// LimitPages limits the file of a store to a number of pages, or to its present size if that is
// larger.
func LimitPages(s store.Database, pages int) error {
	return s.(*database).submit(&job{ctx: context.Background(), write: func(w *writer) error {
		var now int
		return w.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &now)
	}})
}

// Nests reports whether a store has ever written within a savepoint. No write may be running.
func Nests(s store.Database) bool { return s.(*database).writer.stmts[savepoint] != nil }

// A Step is a change of a session at a revision.
type Step struct {
	ID transcript.SessionID
	At store.Revision
	C  *store.Change
}

// Together applies changes in one transaction, and returns the error of each. No other write may
// be running.
func Together(ctx context.Context, s store.Database, scope governance.Scope, steps ...Step) (errs []error) {
	queue := make(chan *job, len(steps))
	var jobs []*job
	for _, step := range steps {
		j := applying(ctx, scope, step.ID, step.At, step.C)
		j.done = make(chan struct{})
		jobs = append(jobs, j)
		queue <- j
	}
	for next := <-queue; next != nil; {
		next = s.(*database).writer.batch(next, queue)
	}
	for _, j := range jobs {
		<-j.done
		errs = append(errs, s.(*database).explain(j.err))
	}
	return errs
}

// Segments returns how many segments the index of blocks has for a scope.
func Segments(ctx context.Context, s store.Database, scope governance.Scope) (n int, err error) {
	err = s.(*database).view(ctx, func(v view) error {
		all, err := segmentsOf(v.each, selectSegments, scope)
		n = len(all)
		return err
	})
	return n, err
}

// LargeRows is largeRows.
const LargeRows = largeRows

// DocsAt is docsAt.
func DocsAt(base int64, places []int64) []int64 { return docsAt(base, places) }

// After is after.
func After(prefix string) any { return after(prefix) }

// StoreError returns what a store at path tells of an error of SQLite with the given code.
func StoreError(path string, code int, err error) error {
	return (&database{path: path}).storeError(code, err)
}

// CannotWrite is cannotWrite.
func CannotWrite(err error) bool { return cannotWrite(err) }

// Thin closes the free connections that were not used since it ran last, and reports whether it will
// run again.
func Thin(s store.Database) bool {
	p := s.(*database).readers
	p.thin()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.thinner != nil
}
