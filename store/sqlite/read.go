package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A view is a connection for reading. In a transaction it shows the database as it was when the
// transaction began.
type view struct {
	*conn

	ctx  context.Context
	s    *database
	long context.Context // context of queries: ctx in a longView, otherwise context.Background
}

// errStop ends an iteration early, when its consumer stops or all results are found.
var errStop = errors.New("stop")

// view calls f with a view in a transaction. When ctx ends, reading stops before the next row.
func (s *database) view(ctx context.Context, f func(v view) error) error {
	return s.single(ctx, func(v view) error { return v.inTransaction(f) })
}

// longView does the same as view, for queries that may search long for a row: the end of ctx also
// interrupts the search.
func (s *database) longView(ctx context.Context, f func(v view) error) error {
	return s.single(ctx, func(v view) error {
		v.long = ctx
		return v.inTransaction(f)
	})
}

// single calls f with a view without a transaction. One query alone is consistent without it.
func (s *database) single(ctx context.Context, f func(v view) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer s.readers.put(c)
	return s.explain(f(view{c, ctx, s, context.Background()}))
}

// inTransaction calls f within a read transaction, and rolls it back.
func (v view) inTransaction(f func(v view) error) error {
	if err := v.exec(beginReading); err != nil {
		return err
	}
	defer func() { v.open = v.exec(rollback) != nil }()
	return f(v)
}

// stream yields the values that f emits. It opens a view when the iteration begins. If f fails,
// its error is yielded last.
func stream[T any](ctx context.Context, s *database, f func(v view, emit func(T) error) error) iter.Seq2[T, error] {
	return streamIn(ctx, s.view, f)
}

// streamSingle does the same as stream, for a function f that runs only one query, which needs no
// transaction.
func streamSingle[T any](ctx context.Context, s *database, f func(v view, emit func(T) error) error) iter.Seq2[T, error] {
	return streamIn(ctx, s.single, f)
}

func streamIn[T any](ctx context.Context, in func(context.Context, func(view) error) error, f func(v view, emit func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := in(ctx, func(v view) error {
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

// row runs a query that returns one row, or fails with [sql.ErrNoRows].
func (v view) row(query string, args []any, dest ...any) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	return v.conn.row(query, args, dest...)
}

// each runs a query and calls f for each row.
func (v view) each(f func(rows *sql.Rows) error, query string, args ...any) error {
	return v.eachUntil(v.long, func(rows *sql.Rows) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		return f(rows)
	}, query, args...)
}

// eachRow calls f for each row, and closes the rows.
func eachRow(rows *sql.Rows, f func(rows *sql.Rows) error) error {
	defer rows.Close() // rows.Err has the error
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// An eachFunc runs a query and calls f for each row.
type eachFunc func(f func(rows *sql.Rows) error, query string, args ...any) error

// collect returns the rows of a query. The function dest returns the destinations for the columns
// of a row.
func collect[T any](each eachFunc, dest func(*T) []any, query string, args ...any) (all []T, err error) {
	err = each(func(rows *sql.Rows) error {
		var row T
		err := rows.Scan(dest(&row)...)
		all = append(all, row)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// column returns the values of a query with one column.
func column[T any](each eachFunc, query string, args ...any) ([]T, error) {
	return collect(each, func(value *T) []any { return []any{value} }, query, args...)
}

// inView returns the result of f, called with a view in a transaction. With an error, the result
// is zero.
func inView[T any](ctx context.Context, s *database, f func(v view) (T, error)) (T, error) {
	return inSingle(ctx, s, func(v view) (read T, err error) {
		err = v.inTransaction(func(v view) error {
			read, err = f(v)
			return err
		})
		return read, err
	})
}

// inSingle returns the result of f, called with a view without a transaction. With an error, the
// result is zero.
func inSingle[T any](ctx context.Context, s *database, f func(v view) (T, error)) (read T, err error) {
	err = s.single(ctx, func(v view) error {
		read, err = f(v)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return read, nil
}

// head returns the head of a session, or ErrNotFound.
func (v view) head(scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	h, err := scanHead(scope, func(dest ...any) error { return v.row(selectHead, []any{scope, id}, dest...) })
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return h, nil
}

// scanHead returns the head in a row and checks its imprint.
func scanHead(scope governance.Scope, scan func(dest ...any) error) (*store.Head, error) {
	h, own, err := readHead(scan)
	if err == nil && !same(headImprint(scope, h), own) {
		err = damaged("the head of session %s", h.ID)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func readHead(scan func(dest ...any) error) (_ *store.Head, own imprint, _ error) {
	var h store.Head
	var created, updated int64
	err := scan(&h.ID, &h.Revision, &h.Status, &h.Format, &h.Model, &h.Encoding, &h.About, &h.Summary,
		&h.Messages, &h.Blocks, &h.Tokens, &h.Window, &h.Bytes, &created, &updated, &own)
	h.Created, h.Updated = timeOf(created), timeOf(updated)
	return &h, own, err
}

// Head implements [store.Sessions].
func (s *database) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	return inSingle(ctx, s, func(v view) (*store.Head, error) { return v.head(scope, id) })
}

// Heads implements [store.Sessions].
func (s *database) Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*store.Head, error] {
	return stream(ctx, s, func(v view, emit func(*store.Head) error) error {
		heads, err := v.heads(scope)
		return emitAll(heads, err, emit)
	})
}

// heads returns all heads of a scope.
func (v view) heads(scope governance.Scope) (heads []*store.Head, err error) {
	var have, want int
	if err := v.row(countHeads, []any{scope}, &have, &want); err != nil {
		return nil, err
	}
	if have != want {
		return nil, damaged("the list of sessions of scope %s", scope)
	}
	err = v.each(func(rows *sql.Rows) error {
		h, err := scanHead(scope, rows.Scan)
		heads = append(heads, h)
		return err
	}, selectHeads, scope)
	return heads, err
}

// emitAll emits all values, or returns err if it is not nil. Lists are read and checked as a whole
// before the first value is emitted.
func emitAll[T any](all []T, err error, emit func(T) error) error {
	if err != nil {
		return err
	}
	for _, value := range all {
		if err := emit(value); err != nil {
			return err
		}
	}
	return nil
}

// total returns the imprints of the lists of an existing session.
func (v view) total(scope governance.Scope, id transcript.SessionID) (t sessionTotal, err error) {
	err = v.row(selectSessionTotal, []any{scope, id}, &t.items, &t.blocks, &t.statements, &t.rewrites)
	if errors.Is(err, sql.ErrNoRows) {
		err = damaged("the record of the lists of session %s", id)
	}
	return t, err
}

// Blocks implements [store.Sessions].
func (s *database) Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return stream(ctx, s, func(v view, emit func(*store.Block) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		blocks, damage := v.blocks(scope, id)
		if damage != nil && !errors.Is(damage, store.ErrCorrupt) {
			return damage
		}
		// The intact blocks come first and the damage last, so that a caller who needs only
		// one block gets it.
		if err := emitAll(blocks, nil, emit); err != nil {
			return err
		}
		return damage
	})
}

// blocks returns all blocks of an existing session. If some are damaged, it returns a
// [store.ErrCorrupt] and the intact blocks; if the record of the session's lists is missing, only that
// error.
func (v view) blocks(scope governance.Scope, id transcript.SessionID) (blocks []*store.Block, err error) {
	total, err := v.total(scope, id)
	if err != nil {
		return nil, err
	}
	cells := make(map[transcript.BlockID][]store.CellID)
	if err := v.each(collectCells(cells), selectBlockCells, scope, id); err != nil {
		return nil, err
	}
	var all imprint
	var damage error // the first damage
	err = v.each(func(rows *sql.Rows) error {
		b, own, err := scanBlock(scope, id, rows, cells)
		all.join(own)
		if errors.Is(err, store.ErrCorrupt) {
			damage = cmp.Or(damage, err)
			return nil
		}
		blocks = append(blocks, b)
		return err
	}, selectBlocks, scope, id)
	if all != total.blocks {
		damage = cmp.Or(damage, damaged("the list of blocks of session %s", id))
	}
	return blocks, cmp.Or(err, damage)
}

// scanBlock returns the block in a row and its stored imprint, which it checks. The map cells has
// the cells of each block.
func scanBlock(scope governance.Scope, id transcript.SessionID, rows *sql.Rows, cells map[transcript.BlockID][]store.CellID) (*store.Block, imprint, error) {
	b, tools, own, err := readBlock(rows, cells)
	if err != nil {
		return nil, own, fmt.Errorf("block %s of session %s: %w", b.ID, id, err)
	}
	if !same(blockImprint(scope, id, b, tools), own) {
		return nil, own, damaged("block %s of session %s", b.ID, id)
	}
	if err := json.Unmarshal([]byte(tools), &b.Tools); err != nil {
		return nil, own, fmt.Errorf("block %s: %w: its list of tools cannot be parsed: %w", b.ID, store.ErrCorrupt, err)
	}
	return b, own, nil
}

// readBlock returns the block in a row, the stored JSON of its tools, and its stored imprint.
func readBlock(rows *sql.Rows, cells map[transcript.BlockID][]store.CellID) (_ *store.Block, tools string, own imprint, _ error) {
	var b store.Block
	err := rows.Scan(&b.ID, &b.Turn, &b.Kind, &tools, &b.Tokens, &b.State, &b.Form, &b.Window, &b.Stub, (*flag)(&b.Pinned), (*flag)(&b.Off), &own, &b.Earlier)
	b.Cells = cells[b.ID]
	return &b, tools, own, err
}

// collectCells returns a function that appends the cell in a row to those of its block.
func collectCells(cells map[transcript.BlockID][]store.CellID) func(rows *sql.Rows) error {
	return func(rows *sql.Rows) error {
		var block transcript.BlockID
		var cell store.CellID
		err := rows.Scan(&block, &cell)
		cells[block] = append(cells[block], cell)
		return err
	}
}

// Items implements [store.Sessions].
func (s *database) Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	return inView(ctx, s, func(v view) ([]store.CellID, error) {
		if _, err := v.head(scope, id); err != nil {
			return nil, err
		}
		return v.items(scope, id)
	})
}

// readList returns the values of a query that returns a position and a value in each row. It fails
// unless the imprint of the whole list equals want. The text in what names the list in the error.
func readList[T any](v view, scope governance.Scope, id transcript.SessionID, query string,
	imprintOf func(scope governance.Scope, id transcript.SessionID, at int64, value T) imprint, want imprint, what string,
) (list []T, err error) {
	var all imprint
	err = v.each(func(rows *sql.Rows) error {
		var at int64
		var value T
		err := rows.Scan(&at, &value)
		list = append(list, value)
		all.join(imprintOf(scope, id, at, value))
		return err
	}, query, scope, id)
	if err == nil && all != want {
		err = damaged("%s of session %s", what, id)
	}
	return list, err
}

// items returns all items of an existing session.
func (v view) items(scope governance.Scope, id transcript.SessionID) (items []store.CellID, err error) {
	total, err := v.total(scope, id)
	if err != nil {
		return nil, err
	}
	return readList(v, scope, id, selectItems, itemImprint, total.items, "the list of items")
}

// Cells implements [store.Cells].
func (s *database) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	if len(ids) <= cellsAtOnce {
		return streamSingle(ctx, s, func(v view, emit func(*store.Cell) error) error {
			return s.someCells(v, scope, ids, emit)
		})
	}
	return stream(ctx, s, func(v view, emit func(*store.Cell) error) error {
		for rest := range slices.Chunk(ids, cellsAtOnce) {
			if err := s.someCells(v, scope, rest, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

// someCells emits the cells with the given ids, at most cellsAtOnce.
func (s *database) someCells(v view, scope governance.Scope, ids []store.CellID, emit func(*store.Cell) error) error {
	missing := func(place int) error { return fmt.Errorf("cell %s: %w", ids[place], store.ErrNotFound) }
	query, n := selectCells, cellsAtOnce
	if len(ids) <= fewCells {
		query, n = selectFewCells, fewCells
	}
	next := 0
	err := v.each(func(rows *sql.Rows) error {
		var place int
		var own bool
		var row cellRow
		if err := rows.Scan(&place, &own, &row.state, &row.kind, &row.commitment, &row.salt, &row.body, &row.own, &row.blob); err != nil {
			return err
		}
		if place != next {
			return missing(next)
		}
		next++
		if !own || !same(cellImprint(scope, &row, ids[place]), row.own) {
			return fmt.Errorf("%s: %w", s.path, damaged("cell %s", ids[place]))
		}
		if row.state == cellPurged && len(row.commitment) == digest.Size {
			return &store.GoneError{Cell: ids[place], Kind: row.kind, Commit: digest.Digest(row.commitment)}
		}
		c, ok := row.cell(ids[place])
		if c != nil && c.Blob != "" {
			return &store.AwayError{Cell: *c}
		}
		if !ok {
			return fmt.Errorf("%s: cell %s: its commitment does not match the body: %w", s.path, ids[place], store.ErrCorrupt)
		}
		return emit(c)
	}, query, cellArgs(scope, ids, n)...)
	if err == nil && next < len(ids) {
		err = missing(next)
	}
	return err
}

// cellArgs returns the arguments of a query for at most n cells. Unused ones are NULL.
func cellArgs(scope governance.Scope, ids []store.CellID, n int) []any {
	args := make([]any, 1+n)
	args[0] = scope
	for i, id := range ids {
		args[1+i] = id
	}
	return args
}

// A cellRow is a row of the table cell, as it is stored.
type cellRow struct {
	kind             store.CellKind
	state            string
	commitment, salt sql.RawBytes // valid until the next row
	body             []byte
	own              imprint
	blob             store.BlobKey // of the body, or empty
}

// The states of a cell in this driver.
const (
	cellLive   = "live"
	cellPurged = "purged"
)

// cell returns the cell in a row, and whether its commitment matches the body, which is true for a
// cell with a blob: that is checked when the blob is read. If the row is damaged, the cell may be nil.
func (r *cellRow) cell(id store.CellID) (*store.Cell, bool) {
	if len(r.commitment) != digest.Size || len(r.salt) != digest.Size {
		return nil, false
	}
	c := &store.Cell{
		ID: id, Kind: r.kind, Salt: digest.Salt(r.salt), Commit: digest.Digest(r.commitment), Body: r.body,
	}
	if r.blob != "" && len(r.body) == 0 {
		c.Body, c.Blob = nil, r.blob
		return c, true
	}
	return c, c.Holds()
}

// Sources implements [store.Cells].
func (s *database) Sources(ctx context.Context, scope governance.Scope, id store.CellID) ([]store.Edge, error) {
	return inView(ctx, s, func(v view) ([]store.Edge, error) {
		return collect(v.each, func(e *store.Edge) []any {
			e.Derived = id
			return []any{&e.Source, &e.Rel}
		}, selectSources, scope, id)
	})
}

// Derived implements [store.Cells].
func (s *database) Derived(ctx context.Context, scope governance.Scope, ids []store.CellID) ([]store.CellID, error) {
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
				found, err := column[store.CellID](v.each, selectDerived, cellArgs(scope, some, cellsAtOnce)...)
				if err != nil {
					return err
				}
				for _, id := range found {
					if !seen[id] {
						seen[id] = true
						next = append(next, id)
					}
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
func (s *database) Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return stream(ctx, s, func(v view, emit func(*store.Entry) error) error {
		h, err := v.head(scope, id)
		if err != nil {
			return err
		}
		entries, err := v.journal(scope, h, max(0, after))
		return emitAll(entries, err, emit)
	})
}

// journal returns the journal of a session after a revision.
func (v view) journal(scope governance.Scope, h *store.Head, after store.Revision) ([]*store.Entry, error) {
	entries, err := v.entries(after, h.Revision, func(e *store.Entry) imprint {
		return entryImprint(scope, h.ID, e)
	}, selectEntries, scope, h.ID, after)
	if errors.Is(err, store.ErrCorrupt) {
		err = fmt.Errorf("session %s: %w", h.ID, err)
	}
	return entries, err
}

// entries returns the entries of a query. It fails unless there is one for each revision from
// after+1 to last, and each matches its imprint, which printOf computes.
func (v view) entries(after, last store.Revision, printOf func(*store.Entry) imprint, query string, args ...any) (all []*store.Entry, err error) {
	next := after + 1
	err = v.each(func(rows *sql.Rows) error {
		var e store.Entry
		var millis int64
		var own imprint
		if err := rows.Scan(&e.Revision, &e.ID, &e.Op, &e.Actor, &millis, (*[]byte)(&e.Data), &own); err != nil {
			return err
		}
		e.Time = timeOf(millis)
		intact := same(printOf(&e), own)
		e.Revision &= placeMask
		if !intact || e.Revision != next {
			return damaged("entry %d of the journal", next)
		}
		next++
		all = append(all, &e)
		return nil
	}, query, args...)
	if err == nil && next <= last {
		err = damaged("entry %d of the journal", next)
	}
	return all, err
}

// Statements implements [store.Journal].
func (s *database) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error] {
	return stream(ctx, s, func(v view, emit func(string) error) error {
		if _, err := v.head(scope, id); err != nil {
			return err
		}
		lines, err := v.statements(scope, id)
		return emitAll(lines, err, emit)
	})
}

// statements returns all lines of the contract of an existing session.
func (v view) statements(scope governance.Scope, id transcript.SessionID) (lines []string, err error) {
	total, err := v.total(scope, id)
	if err != nil {
		return nil, err
	}
	return readList(v, scope, id, selectStatements, statementImprint, total.statements, "the contract")
}
