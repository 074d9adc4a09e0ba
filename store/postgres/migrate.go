package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/store"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration takes the schema from the version before to its own.
type migration struct{ name, sql string }

// migrations returns the steps to the newest schema; the first makes version 1.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // in the order of their numbers
	if err != nil {
		return nil, err
	}
	all := make([]migration, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all[i] = migration{path.Base(name), string(text)}
	}
	return all, nil
}

const (
	// The row 0 says whose the table is. Who migrates has it locked.
	createMigrations = `
		CREATE TABLE IF NOT EXISTS migration (version BIGINT PRIMARY KEY, name TEXT NOT NULL);
		INSERT INTO migration (version, name) VALUES (0, 'carrel') ON CONFLICT DO NOTHING`
	lockMigrations  = `SELECT name FROM migration WHERE version = 0 FOR UPDATE`
	selectSchema    = `SELECT max(version) FROM migration`
	insertMigration = `INSERT INTO migration (version, name) VALUES ($1, $2)`
)

// schema returns the version of the schema, 0 if there is none.
func (s *database) schema(ctx context.Context) (version int, err error) {
	err = s.transact(ctx, anyScope, reading, func(t *tx) error {
		version = 0
		t.row(selectSchema, nil, &version)
		return t.flush()
	})
	if codeOf(err) == codeNoTable {
		return 0, nil
	}
	return version, err
}

// migrate brings the store to the newest schema, each step in a transaction. A role that may
// not make tables opens a store that has it.
func (s *database) migrate(ctx context.Context) error {
	version, err := s.schema(ctx)
	if err != nil || version == len(s.steps) {
		return err
	}
	if version > len(s.steps) {
		return &store.SchemaError{Path: s.address, Have: version, Know: len(s.steps)}
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release(c)
	if version == 0 {
		_, err := c.Exec(ctx, createMigrations)
		if isTaken(err) { // by another node, at the same time
			_, err = c.Exec(ctx, createMigrations)
		}
		if err != nil {
			return err
		}
	}
	for done := false; !done; {
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) (err error) {
			done, err = s.migrateOnce(ctx, tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// migrateOnce takes one step and reports whether none was left. The version is read under
// the lock: another node may have been here first.
func (s *database) migrateOnce(ctx context.Context, tx pgx.Tx) (done bool, err error) {
	var owner string
	if err := tx.QueryRow(ctx, lockMigrations).Scan(&owner); err != nil {
		return false, err
	}
	if owner != "carrel" {
		return false, fmt.Errorf("store %s: the table of migrations is another program's: use a database of its own", s.address)
	}
	var version int
	if err := tx.QueryRow(ctx, selectSchema).Scan(&version); err != nil {
		return false, err
	}
	if version >= len(s.steps) {
		return true, nil
	}
	step := s.steps[version]
	if _, err := tx.Exec(ctx, step.sql); err != nil {
		if codeOf(err) == codeTableExists {
			err = fmt.Errorf("%w: use a database of its own", err)
		}
		return false, fmt.Errorf("migration %s: %w", step.name, err)
	}
	if version+1 == len(s.steps) { // not before: a step may have to see rows of all scopes
		if err := wall(ctx, tx); err != nil {
			return false, fmt.Errorf("migration %s: %w", step.name, err)
		}
	}
	_, err = tx.Exec(ctx, insertMigration, version+1, step.name)
	return false, err
}

const (
	// All tables that have a scope, with what row-level security there is for them: whether
	// it is on, whether it binds the owner, whether who asks is the owner, and how many
	// policies there are.
	selectWalls = `
		SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_has_role(c.relowner, 'MEMBER'),
			(SELECT count(*) FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attname = 'scope' AND NOT a.attisdropped
		ORDER BY c.relname`

	// A setting that is not set is an error, and so is one that is empty. The subquery is
	// evaluated once for a statement, and not for each row.
	createWall = `
		ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
		ALTER TABLE %[1]s FORCE ROW LEVEL SECURITY;
		CREATE POLICY own_scope ON %[1]s USING (scope = (` + scopeOfSetting + `)) WITH CHECK (scope = (` + scopeOfSetting + `))`
	scopeOfSetting = `
		SELECT substr(decode(s, 'hex'), 2 + get_byte(decode(s, 'hex'), 0)) FROM (SELECT current_setting('carrel.scope') AS s) AS setting`
)

// A walled is a table that has a scope, with what row-level security there is for it.
type walled struct {
	Name           string
	On, Force, Own bool
	Policies       int
}

// wall puts row-level security on the tables that have none yet.
func wall(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, selectWalls)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[walled])
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.Policies == 0 {
			if _, err := tx.Exec(ctx, fmt.Sprintf(createWall, pgx.Identifier{t.Name}.Sanitize())); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWalls reports a table whose rows the role sees whatever their scope.
func (s *database) checkWalls(ctx context.Context) error {
	var tables []walled
	err := s.transact(ctx, anyScope, reading, func(t *tx) error {
		tables = nil
		t.rows(each(&tables, func(rows pgx.Rows) (walled, error) { return pgx.RowToStructByPos[walled](rows) }), selectWalls)
		return nil
	})
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errors.New("no table of the schema has a scope")
	}
	for _, t := range tables {
		switch {
		case !t.On || t.Policies != 1:
			return s.refuse("row-level security of table %[1]s is off, or not as it was made: ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY", t.Name)
		case t.Own && !t.Force:
			return s.refuse("row-level security does not bind the owner of table %[1]s: ALTER TABLE %[1]s FORCE ROW LEVEL SECURITY", t.Name)
		}
	}
	return nil
}
