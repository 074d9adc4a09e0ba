package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/carrel-dev/carrel/store"
)

// applicationID marks a file as a store of Carrel, in the header of the file.
const applicationID = 0x43617272 // "Carr"

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration changes the schema from one version to the next.
type migration struct {
	name  string
	sql   string
	after func(w *writer) error // runs after sql, for work that SQL cannot do; may be nil
}

// programs has the functions that run after the SQL of some migrations, by the migration's name.
var programs = map[string]func(w *writer) error{"0006_imprints.sql": imprintAll, "0007_postings.sql": indexAll}

// migrations returns the migrations of a directory, in order. The first makes version 1.
func migrations(dir fs.FS) ([]migration, error) {
	names, err := fs.Glob(dir, "migrations/*.sql") // in the order of their numbers
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{name: path.Base(name), sql: string(text), after: programs[path.Base(name)]})
	}
	return all, nil
}

// identify returns the version of a store's schema, or 0 for an empty database. It fails with
// ErrForeign for a database of another program, and with a [store.SchemaError] if the version is
// greater than the version in know. It writes nothing.
func identify(ctx context.Context, conn *sql.Conn, path string, know int) (int, error) {
	var id, tables, version int
	if err := conn.QueryRowContext(ctx, selectIdentity).Scan(&id, &tables); err != nil {
		return 0, err
	}
	switch {
	case id == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("%s: %w: name another file", path, ErrForeign)
	}
	if err := conn.QueryRowContext(ctx, selectSchema).Scan(&version); err != nil {
		return 0, err
	}
	if version > know {
		return 0, &store.SchemaError{Path: path, Have: version, Know: know}
	}
	return version, nil
}

// migrate brings a store to the newest schema, with a transaction for each migration.
func migrate(ctx context.Context, conn *sql.Conn, path string, all []migration) error {
	for {
		done, err := migrateOnce(ctx, conn, path, all)
		if done || err != nil {
			return err
		}
	}
}

// migrateOnce runs the next migration and reports whether none was left. It reads the version
// within the transaction, because another process may migrate at the same time.
func migrateOnce(ctx context.Context, conn *sql.Conn, path string, all []migration) (done bool, err error) {
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return false, err
	}
	defer func() {
		if done || err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), rollback) // the error above tells more
		}
	}()
	version, err := identify(ctx, conn, path, len(all))
	if err != nil || version == len(all) {
		return true, err
	}
	m := all[version]
	if version == 0 {
		if _, err := conn.ExecContext(ctx, createIdentity); err != nil {
			return false, err
		}
	}
	if _, err := conn.ExecContext(ctx, m.sql); err != nil {
		return false, fmt.Errorf("migration %s: %w", m.name, err)
	}
	if m.after != nil {
		w := newWriter(conn, 0)
		if err := errors.Join(m.after(w), w.forget()); err != nil {
			return false, fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	if _, err := conn.ExecContext(ctx, insertMigration, version+1, m.name); err != nil {
		return false, err
	}
	_, err = conn.ExecContext(ctx, commit)
	return false, err
}
