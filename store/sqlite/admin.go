package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/carrel-dev/carrel/store"
)

// Info implements [store.Admin].
func (s *Store) Info(ctx context.Context) (*store.Info, error) {
	info := &store.Info{Driver: "sqlite", Version: s.version, Path: s.path, Schema: len(s.steps)}
	err := s.view(ctx, func(v view) error {
		return v.row(selectCounts, nil, &info.Sessions, &info.Blocks, &info.Cells, &info.Artifacts, &info.Manifests)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{s.path, s.path + "-wal"} {
		switch fi, err := os.Stat(name); {
		case err == nil:
			info.Bytes += fi.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return info, nil
}

// ignore is for queries whose rows do not matter.
func ignore(*sql.Rows) error { return nil }

// Check implements [store.Admin]. What it finds comes in this order: the
// structure of the file, the schema, references, cells, sessions, scopes. That the words of
// an artifact are those of its text cannot be seen: the text that was indexed is
// not kept.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	err = s.view(ctx, func(v view) error {
		return errors.Join(
			// The index keeps what it knows of its own structure with the
			// connection, and looks whether it is still true at the beginning of a
			// query, but not of a check. Without these queries it finds damage
			// where another connection has written.
			v.each(ignore, touchWords),
			v.each(ignore, touchArtifactWords),
			v.each(func(rows *sql.Rows) error {
				var line string
				if err := rows.Scan(&line); err != nil {
					return err
				}
				if line != "ok" {
					report("file: %s", line)
				}
				return nil
			}, checkIntegrity),
			s.checkSchema(ctx, v, report),
			v.each(func(rows *sql.Rows) error {
				var table, parent string
				var rowid, key any
				if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
					return err
				}
				report("table %s: a row refers to a %s that is not there", table, parent)
				return nil
			}, checkForeignKeys),
			v.each(func(rows *sql.Rows) error {
				var scope, id string
				var row cellRow
				if err := rows.Scan(&scope, &id, &row.kind, &row.commitment, &row.salt, &row.body); err != nil {
					return err
				}
				if _, ok := row.cell(store.CellID(id)); !ok {
					report("scope %s: cell %s: its commitment does not hold", scope, id)
				}
				return nil
			}, selectAllCells),
			v.each(func(rows *sql.Rows) error {
				var scope, id string
				if err := rows.Scan(&scope, &id); err != nil {
					return err
				}
				report("scope %s: cell %s: it was purged, and something of it is there", scope, id)
				return nil
			}, checkPurged),
			v.checkSums(checkEntries, report, "is at revision %d, its journal has %d entries"),
			v.checkSums(checkItems, report, "has %d items, the last says there are %d"),
			v.checkSums(checkTokens, report, "its head has %d tokens, its blocks %d"),
			v.checkSums(checkBlocks, report, "its head has %d blocks, there are %d"),
			v.checkScopes(checkLog, report, "is at version %d, its log has %d entries"),
			v.checkScopes(checkArtifacts, report, "the last place is %d, there are %d artifacts"),
			v.checkScopes(checkNames, report, "artifact at place %d, of %d, has another name of its scope"),
			v.checkScopes(checkIndexed, report, "place %d, of %d, is in the index and has no artifact"),
			v.checkTokens(report),
		)
	})
	if errors.Is(err, store.ErrCorrupt) {
		report("file: %v", err) // too damaged to read on
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return problems, nil
}

// checkScopes reports each scope for which two numbers are wrong.
func (v view) checkScopes(query string, report func(string, ...any), problem string) error {
	return v.each(func(rows *sql.Rows) error {
		var scope string
		var have, want int64
		if err := rows.Scan(&scope, &have, &want); err != nil {
			return err
		}
		report("scope %s: "+problem, scope, have, want)
		return nil
	}, query)
}

// checkSums reports each session for which two numbers differ.
func (v view) checkSums(query string, report func(string, ...any), problem string) error {
	return v.each(func(rows *sql.Rows) error {
		var scope, session string
		var have, want int64
		if err := rows.Scan(&scope, &session, &have, &want); err != nil {
			return err
		}
		report("scope %s: session %s: "+problem, scope, session, have, want)
		return nil
	}, query)
}
