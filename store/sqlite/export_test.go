package sqlite

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/store"
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

// Idle returns how many connections for reading are kept, and how many were closed
// because there were more than that.
func Idle(s store.Database) (kept int, closed int64) {
	p := s.(*database).readers
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free), p.surplus
}

// LimitPages says how many pages the file of a store may have, and no fewer than it has.
func LimitPages(s store.Database, pages int) error {
	return s.(*database).submit(&job{ctx: context.Background(), write: func(w *writer) error {
		var now int
		return w.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &now)
	}})
}

// Nests reports whether a store has ever written within a savepoint. Nothing may be
// writing.
func Nests(s store.Database) bool { return s.(*database).writer.stmts[savepoint] != nil }

// LargeRows is largeRows.
const LargeRows = largeRows

// DocsAt returns the docs at some places of a scope.
func DocsAt(base int64, places []int64) []int64 { return docsAt(base, places) }
