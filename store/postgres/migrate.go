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

// A migration changes the schema from one version to the next.
type migration struct{ name, sql string }

// migrations returns all migrations, in order. The first makes version 1.
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
	// Row 0 names the program that owns the table. Every migration locks this row.
	createMigrations = `
		CREATE TABLE IF NOT EXISTS migration (version BIGINT PRIMARY KEY, name TEXT NOT NULL);
		INSERT INTO migration (version, name) VALUES (0, 'carrel') ON CONFLICT DO NOTHING`
	lockMigrations  = `SELECT name FROM migration WHERE version = 0 FOR UPDATE`
	selectSchema    = `SELECT max(version) FROM migration`
	insertMigration = `INSERT INTO migration (version, name) VALUES ($1, $2)`
)

// schema returns the version of the schema, or 0 if there is no table of migrations.
func (s *database) schema(ctx context.Context) (version int, err error) {
	err = s.transact(ctx, noScope, reading, func(t *tx) error {
		version = 0
		t.row(selectSchema, nil, &version)
		return t.flush()
	})
	if codeOf(err) == codeNoTable {
		return 0, nil
	}
	return version, err
}

// current fails unless the store exists and has the newest schema.
func (s *database) current(ctx context.Context) error {
	version, err := s.schema(ctx)
	switch {
	case err != nil:
		return err
	case version > len(s.steps):
		return &store.SchemaError{Path: s.address, Have: version, Know: len(s.steps)}
	case version == 0:
		return &troubleError{Address: s.address, Kind: store.ErrNotFound, Next: nextNoStore}
	case version < len(s.steps):
		return &troubleError{Address: s.address, Kind: store.ErrUnreadable, Next: nextUpgrade}
	}
	return s.checkWalls(ctx)
}

// migrate brings the store to the newest schema, with a transaction for each migration. If the
// schema is already the newest, it needs no permission to create tables.
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

// migrateOnce runs the next migration and reports whether none was left. It reads the version
// under the lock, because another node may migrate at the same time.
func (s *database) migrateOnce(ctx context.Context, tx pgx.Tx) (done bool, err error) {
	var owner string
	if err := tx.QueryRow(ctx, lockMigrations).Scan(&owner); err != nil {
		return false, err
	}
	if owner != "carrel" {
		return false, fmt.Errorf("store %s: the table migration belongs to another program: use an empty database", s.address)
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
			err = fmt.Errorf("%w: use an empty database", err)
		}
		return false, fmt.Errorf("migration %s: %w", step.name, err)
	}
	if version+1 == len(s.steps) { // only now, because a migration may need the rows of all scopes
		if err := wall(ctx, tx); err != nil {
			return false, fmt.Errorf("migration %s: %w", step.name, err)
		}
	}
	_, err = tx.Exec(ctx, insertMigration, version+1, step.name)
	return false, err
}

const (
	// All tables with a column "scope", with their row-level security: whether it is on, whether
	// it binds the owner, whether the current role is the owner, and the number of policies.
	selectWalls = `
		SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_has_role(c.relowner, 'MEMBER'),
			(SELECT count(*) FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attname = 'scope' AND NOT a.attisdropped
		ORDER BY c.relname`

	// A missing or empty setting is an error. The subquery is evaluated once for each statement,
	// not for each row.
	createWall = `
		ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
		ALTER TABLE %[1]s FORCE ROW LEVEL SECURITY;
		CREATE POLICY own_scope ON %[1]s USING (scope = (` + scopeOfSetting + `)) WITH CHECK (scope = (` + scopeOfSetting + `))`
	scopeOfSetting = `
		SELECT substr(decode(s, 'hex'), 2 + get_byte(decode(s, 'hex'), 0)) FROM (SELECT current_setting('carrel.scope') AS s) AS setting`
)

// A walled describes the row-level security of a table with a column "scope".
type walled struct {
	Name           string
	On, Force, Own bool
	Policies       int
}

// wall adds row-level security to those tables with a column "scope" that do not have it yet.
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

// checkWalls returns an [UnsafeError] if row-level security does not restrict the role to one scope
// in some table.
func (s *database) checkWalls(ctx context.Context) error {
	var tables []walled
	err := s.transact(ctx, noScope, reading, func(t *tx) error {
		tables = nil
		t.rows(each(&tables, func(rows pgx.Rows) (walled, error) { return pgx.RowToStructByPos[walled](rows) }), selectWalls)
		return nil
	})
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errors.New("the current schema has no table with a column scope: check the search_path of the role")
	}
	for _, t := range tables {
		switch {
		case !t.On || t.Policies != 1:
			return s.refuse("row-level security of table %[1]s is off, or has other policies than own_scope: ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY, and drop the others", t.Name)
		case t.Own && !t.Force:
			return s.refuse("row-level security does not bind the owner of table %[1]s: ALTER TABLE %[1]s FORCE ROW LEVEL SECURITY", t.Name)
		}
	}
	return nil
}
