package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// checkSchema reports each table, index and trigger whose definition differs from that of the
// migrations. PRAGMA integrity_check does not detect this.
func (s *database) checkSchema(ctx context.Context, v view, report func(string, ...any)) error {
	want, err := schemaOf(ctx, s.steps)
	if err != nil {
		return err
	}
	have := make(map[string]string)
	if err := v.each(collectSchema(have), selectObjects); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			report("schema: %s differs from its migration", name)
		}
		delete(have, name)
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		report("schema: %s does not belong to it", name)
	}
	return nil
}

// schemaOf runs the migrations in steps, and returns for each object of the resulting schema the
// statement that creates it. The keys are kind and name, as in "table cell".
func schemaOf(ctx context.Context, steps []migration) (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	made := make(map[string]string)
	return made, withConn(ctx, db, func(conn *sql.Conn) error {
		if err := migrate(ctx, conn, ":memory:", steps); err != nil {
			return err
		}
		return eachOf(ctx, conn, collectSchema(made), selectObjects)
	})
}

func collectSchema(into map[string]string) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return err
		}
		into[kind+" "+name] = text
		return nil
	}
}
