package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// checkSchema reports each table, index and trigger that is not as the
// migrations make it: no structure of the file tells that its text was damaged.
func (s *database) checkSchema(ctx context.Context, v view, report func(string, ...any)) error {
	want, err := madeBy(ctx, s.steps)
	if err != nil {
		return err
	}
	have := make(map[string]string)
	if err := v.each(collectSchema(have), selectObjects); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			report("schema: %s is not as it was made", name)
		}
		delete(have, name)
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		report("schema: %s is no part of it", name)
	}
	return nil
}

// madeBy returns the statements that make each object of a schema, by its name.
func madeBy(ctx context.Context, steps []migration) (_ map[string]string, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // nothing is in it
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := migrate(ctx, conn, ":memory:", steps); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, selectObjects)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	made := make(map[string]string)
	for rows.Next() {
		if err := collectSchema(made)(rows); err != nil {
			return nil, err
		}
	}
	return made, rows.Err()
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
