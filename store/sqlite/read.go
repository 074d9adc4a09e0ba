package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A view is the database as it was when the view was opened.
type view struct {
	ctx context.Context
	s   *Store
	tx  *sql.Tx
}

// errStop ends an iteration whose consumer wants no more.
var errStop = errors.New("stop")

// view calls f with a view.
func (s *Store) view(ctx context.Context, f func(v view) error) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return s.explain(f(view{ctx, s, tx}))
}

// stream yields what f emits, in a view that is opened when the iteration
// begins. An error of f is the last thing it yields.
func stream[T any](ctx context.Context, s *Store, f func(v view, emit func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := s.view(ctx, func(v view) error {
			return f(v, func(value T) error {
				if !yield(value, nil) {
					return errStop
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(*new(T), err)
		}
	}
}

// prepare returns a query that each connection prepares once.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.readers.PrepareContext(ctx, query) //nolint:sqlclosecheck // it is kept until Close
	if err != nil {
		return nil, err
	}
	s.prepared[query] = stmt
	return stmt, nil
}

// row runs a query that returns one row.
func (v view) row(query string, args []any, dest ...any) error {
	stmt, err := v.s.prepare(v.ctx, query)
	if err != nil {
		return err
	}
	stmt = v.tx.StmtContext(v.ctx, stmt)
	defer stmt.Close() // the query stays prepared
	return stmt.QueryRowContext(v.ctx, args...).Scan(dest...)
}

// each runs a query and calls f for each row.
func (v view) each(f func(rows *sql.Rows) error, query string, args ...any) error {
	stmt, err := v.s.prepare(v.ctx, query)
	if err != nil {
		return err
	}
	stmt = v.tx.StmtContext(v.ctx, stmt)
	defer stmt.Close() // the query stays prepared
	rows, err := stmt.QueryContext(v.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close() // what is wrong, rows.Err says
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// head returns the head of a session, or ErrNotFound.
func (v view) head(scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	h, err := scanHead(func(dest ...any) error { return v.row(selectHead, []any{scope, id}, dest...) })
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return h, nil
}

func scanHead(scan func(dest ...any) error) (*store.Head, error) {
	var h store.Head
	var created, updated int64
	err := scan(&h.ID, &h.Revision, &h.Format, &h.Model, &h.Encoding, &h.About, &h.Summary,
		&h.Messages, &h.Blocks, &h.Tokens, &h.Window, &h.Bytes, &created, &updated)
	if err != nil {
		return nil, err
	}
	h.Created, h.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return &h, nil
}

// Head implements [store.Sessions].
func (s *Store) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (h *store.Head, err error) {
	err = s.view(ctx, func(v view) (err error) {
		h, err = v.head(scope, id)
		return err
	})
	return h, err
}

// Heads implements [store.Sessions].
func (s *Store) Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*store.Head, error] {
	return stream(ctx, s, func(v view, emit func(*store.Head) error) error {
		return v.each(func(rows *sql.Rows) error {
			h, err := scanHead(rows.Scan)
			if err != nil {
				return err
			}
			return emit(h)
		}, selectHeads, scope)
	})
}

// Blocks implements [store.Sessions].
func (s *Store) Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return stream(ctx, s, func(v view, emit func(*store.Block) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		cells := make(map[transcript.BlockID][]store.CellID)
		err := v.each(func(rows *sql.Rows) error {
			var block transcript.BlockID
			var cell store.CellID
			if err := rows.Scan(&block, &cell); err != nil {
				return err
			}
			cells[block] = append(cells[block], cell)
			return nil
		}, selectBlockCells, scope, id)
		if err != nil {
			return err
		}
		return v.each(func(rows *sql.Rows) error {
			b, err := s.scanBlock(rows)
			if err != nil {
				return err
			}
			b.Cells = cells[b.ID]
			return emit(b)
		}, selectBlocks, scope, id)
	})
}

func (s *Store) scanBlock(rows *sql.Rows) (*store.Block, error) {
	var b store.Block
	var tools []byte
	err := rows.Scan(&b.ID, &b.Turn, &b.Kind, &tools, &b.Tokens, &b.State, &b.Form, &b.Window, &b.Stub, &b.Pinned, &b.Off)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(tools, &b.Tools); err != nil {
		return nil, fmt.Errorf("%s: block %s: tools: %w: %w", s.path, b.ID, store.ErrCorrupt, err)
	}
	return &b, nil
}

// Items implements [store.Sessions].
func (s *Store) Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) (items []store.CellID, err error) {
	err = s.view(ctx, func(v view) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		return v.each(func(rows *sql.Rows) error {
			var cell store.CellID
			err := rows.Scan(&cell)
			items = append(items, cell)
			return err
		}, selectItems, scope, id)
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Cells implements [store.Cells].
func (s *Store) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return stream(ctx, s, func(v view, emit func(*store.Cell) error) error {
		for rest := range slices.Chunk(ids, cellsAtOnce) {
			if err := s.someCells(v, scope, rest, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

// someCells emits cells, cellsAtOnce at most.
func (s *Store) someCells(v view, scope governance.Scope, ids []store.CellID, emit func(*store.Cell) error) error {
	missing := func(place int) error { return fmt.Errorf("cell %s: %w", ids[place], store.ErrNotFound) }
	next := 0
	err := v.each(func(rows *sql.Rows) error {
		var place int
		var own, gone bool
		var row cellRow
		if err := rows.Scan(&place, &own, &gone, &row.kind, &row.commitment, &row.salt, &row.body); err != nil {
			return err
		}
		if place != next {
			return missing(next)
		}
		next++
		if gone && own && len(row.commitment) == digest.Size {
			return &store.GoneError{Cell: ids[place], Kind: row.kind, Commit: digest.Digest(row.commitment)}
		}
		c, ok := row.cell(ids[place])
		if !ok || !own {
			return fmt.Errorf("%s: cell %s: its commitment does not hold: %w", s.path, ids[place], store.ErrCorrupt)
		}
		return emit(c)
	}, selectCells, cellArgs(scope, ids)...)
	if err == nil && next < len(ids) {
		err = missing(next)
	}
	return err
}

// cellArgs returns the parameters of a query for cells, cellsAtOnce at most.
func cellArgs(scope governance.Scope, ids []store.CellID) []any {
	args := make([]any, 1+cellsAtOnce)
	args[0] = scope
	for i, id := range ids {
		args[1+i] = id
	}
	return args
}

// A cellRow is a row of the table cell, as it is stored.
type cellRow struct {
	kind             store.CellKind
	commitment, salt sql.RawBytes // until the next row
	body             []byte
}

// cell returns the cell of a row and whether its commitment holds.
func (r *cellRow) cell(id store.CellID) (*store.Cell, bool) {
	if len(r.commitment) != digest.Size || len(r.salt) != digest.Size {
		return nil, false
	}
	c := &store.Cell{
		ID: id, Kind: r.kind, Salt: digest.Salt(r.salt), Commit: digest.Digest(r.commitment), Body: r.body,
	}
	return c, c.Holds()
}

// Sources implements [store.Cells].
func (s *Store) Sources(ctx context.Context, scope governance.Scope, id store.CellID) (edges []store.Edge, err error) {
	err = s.view(ctx, func(v view) error {
		return v.each(func(rows *sql.Rows) error {
			e := store.Edge{Derived: id}
			err := rows.Scan(&e.Source, &e.Rel)
			edges = append(edges, e)
			return err
		}, selectSources, scope, id)
	})
	if err != nil {
		return nil, err
	}
	return edges, nil
}

// Derived implements [store.Cells].
func (s *Store) Derived(ctx context.Context, scope governance.Scope, ids []store.CellID) ([]store.CellID, error) {
	seen := make(map[store.CellID]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	var derived []store.CellID
	err := s.view(ctx, func(v view) error {
		for next := ids; len(next) > 0; {
			from := next
			next = nil
			for some := range slices.Chunk(from, cellsAtOnce) {
				err := v.each(func(rows *sql.Rows) error {
					var id store.CellID
					if err := rows.Scan(&id); err != nil {
						return err
					}
					if !seen[id] {
						seen[id] = true
						next = append(next, id)
					}
					return nil
				}, selectDerived, cellArgs(scope, some)...)
				if err != nil {
					return err
				}
			}
			derived = append(derived, next...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(derived)
	return derived, nil
}

// Entries implements [store.Journal].
func (s *Store) Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return stream(ctx, s, func(v view, emit func(*store.Entry) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		return v.each(func(rows *sql.Rows) error {
			return emitEntry(rows, emit)
		}, selectEntries, scope, id, after)
	})
}

func emitEntry(rows *sql.Rows, emit func(*store.Entry) error) error {
	var e store.Entry
	var millis int64
	if err := rows.Scan(&e.Revision, &e.ID, &e.Op, &e.Actor, &millis, (*[]byte)(&e.Data)); err != nil {
		return err
	}
	e.Time = time.UnixMilli(millis).UTC()
	return emit(&e)
}

// Statements implements [store.Journal].
func (s *Store) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error] {
	return stream(ctx, s, func(v view, emit func(string) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		return v.each(func(rows *sql.Rows) error {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			return emit(text)
		}, selectStatements, scope, id)
	})
}
