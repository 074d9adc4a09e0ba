package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	headColumns = `session_id, revision, status, format, model, encoding, about, summary,
		messages, blocks, tokens, window_tokens, bytes, created, updated FROM session`
	selectHead  = `SELECT ` + headColumns + ` WHERE scope = $1 AND session_id = $2`
	selectHeads = `SELECT ` + headColumns + ` WHERE scope = $1 ORDER BY updated DESC, session_id`

	blockColumns = `block_id, turn, kind, tools, tokens, state, form, window_tokens, stub, pinned, off, earlier FROM block`
	selectBlocks = `SELECT ` + blockColumns + ` WHERE scope = $1 AND session_id = $2 ORDER BY off, turn, block_id`
	selectBlock  = `SELECT ` + blockColumns + ` WHERE scope = $1 AND session_id = $2 AND block_id = $3`

	selectBlockCells   = `SELECT block_id, cell_id FROM block_cell WHERE scope = $1 AND session_id = $2 ORDER BY block_id, ord`
	selectCellsOfBlock = `SELECT block_id, cell_id FROM block_cell WHERE scope = $1 AND session_id = $2 AND block_id = $3 ORDER BY ord`

	selectItems      = `SELECT cell_id FROM item WHERE scope = $1 AND session_id = $2 ORDER BY ord`
	selectStatements = `SELECT text FROM statement WHERE scope = $1 AND session_id = $2 ORDER BY ord`
	selectEntries    = `
		SELECT revision, entry_id, op, actor, time, data FROM entry
		WHERE scope = $1 AND session_id = $2 AND revision > $3 ORDER BY revision`
	selectRewrites = `
		SELECT kind, chain, epoch, messages, cell_id FROM rewrite
		WHERE scope = $1 AND session_id = $2 ORDER BY epoch, messages, kind, chain`
	selectFrom = `SELECT session_id, block_id FROM block WHERE scope = $1 AND block_id >= $2 ORDER BY session_id, block_id LIMIT $3`

	// OFFSET keeps the order out of the inner query. Otherwise the planner reads all blocks of the
	// scope in that order, to stop at the limit, instead of the few with the prefix by their key.
	selectPrefix = `
		SELECT session_id, block_id FROM (
			SELECT session_id, block_id FROM block WHERE scope = $1 AND block_id >= $2 AND block_id < $4 OFFSET 0
		) AS found ORDER BY session_id, block_id LIMIT $3`
)

// read reads a value in one transaction of a scope. f adds the steps that read the value and returns
// a pointer to it; the steps are sent, and fill the value, after f has returned.
func read[T any](ctx context.Context, s *database, scope governance.Scope, f func(t *tx) (*T, error)) (T, error) {
	var got *T
	err := s.transact(ctx, in(scope), reading, func(t *tx) (err error) {
		got, err = f(t)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return *got, nil
}

// list yields the values that f reads from a scope. It reads them when the iteration begins.
func list[T any](ctx context.Context, s *database, scope governance.Scope, f func(t *tx) (*[]T, error)) iter.Seq2[T, error] {
	return yielding(func() ([]T, error) { return read(ctx, s, scope, f) })
}

// yielding yields the values that the function read returns. It calls read when the iteration
// begins.
func yielding[T any](read func() ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		all, err := read()
		if err != nil {
			yield(*new(T), err)
			return
		}
		for _, value := range all {
			if !yield(value, nil) {
				return
			}
		}
	}
}

// each returns a function that reads a row with the function scan and appends the value to *all.
func each[T any](all *[]T, scan func(rows pgx.Rows) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		value, err := scan(rows)
		*all = append(*all, value)
		return err
	}
}

func scanHead(rows pgx.Rows) (*store.Head, error) {
	var h store.Head
	var created, updated int64
	err := rows.Scan(to(&h.ID), &h.Revision, &h.Status, to(&h.Format), to(&h.Model), to(&h.Encoding), to(&h.About), to(&h.Summary),
		&h.Messages, &h.Blocks, &h.Tokens, &h.Window, &h.Bytes, &created, &updated)
	h.Created, h.Updated = timeOf(created), timeOf(updated)
	return &h, err
}

// head adds a query for the head of a session.
func (t *tx) head(scope governance.Scope, id transcript.SessionID) *[]*store.Head {
	heads := new([]*store.Head)
	t.rows(each(heads, scanHead), selectHead, raw(scope), raw(id))
	return heads
}

// Head implements [store.Sessions].
func (s *database) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	heads, err := read(ctx, s, scope, func(t *tx) (*[]*store.Head, error) { return t.head(scope, id), nil })
	if err == nil && len(heads) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return heads[0], nil
}

// Heads implements [store.Sessions].
func (s *database) Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*store.Head, error] {
	return list(ctx, s, scope, func(t *tx) (*[]*store.Head, error) {
		heads := new([]*store.Head)
		t.rows(each(heads, scanHead), selectHeads, raw(scope))
		return heads, nil
	})
}

// ofSession reads a list of a session, or returns ErrNotFound if the session does not exist. The
// function add adds the queries that append the values of the list to *all.
func ofSession[T any](ctx context.Context, s *database, scope governance.Scope, id transcript.SessionID, add func(t *tx, all *[]T)) ([]T, error) {
	var heads *[]*store.Head
	all, err := read(ctx, s, scope, func(t *tx) (*[]T, error) {
		all := new([]T)
		heads = t.head(scope, id)
		add(t, all)
		return all, nil
	})
	if err == nil && len(*heads) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return all, nil
}

// listOf yields the values of ofSession. It reads them when the iteration begins.
func listOf[T any](ctx context.Context, s *database, scope governance.Scope, id transcript.SessionID, add func(t *tx, all *[]T)) iter.Seq2[T, error] {
	return yielding(func() ([]T, error) { return ofSession(ctx, s, scope, id, add) })
}

// Blocks implements [store.Sessions].
func (s *database) Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return listOf(ctx, s, scope, id, func(t *tx, blocks *[]*store.Block) {
		cells := make(map[transcript.BlockID][]store.CellID)
		t.rows(collectCells(cells), selectBlockCells, raw(scope), raw(id))
		t.rows(each(blocks, scanBlock(cells)), selectBlocks, raw(scope), raw(id))
	})
}

// collectCells returns a function that appends the cell in a row to those of its block.
func collectCells(cells map[transcript.BlockID][]store.CellID) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var block transcript.BlockID
		var cell store.CellID
		err := rows.Scan(to(&block), to(&cell))
		cells[block] = append(cells[block], cell)
		return err
	}
}

// scanBlock returns a function that returns the block in a row. The map cells has the cells of each
// block.
func scanBlock(cells map[transcript.BlockID][]store.CellID) func(pgx.Rows) (*store.Block, error) {
	return func(rows pgx.Rows) (*store.Block, error) {
		var b store.Block
		var tools string
		err := rows.Scan(to(&b.ID), &b.Turn, &b.Kind, &tools, &b.Tokens, &b.State, &b.Form, &b.Window, to(&b.Stub), &b.Pinned, &b.Off, &b.Earlier)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(tools), &b.Tools); err != nil {
			return nil, fmt.Errorf("block %s: %w: its list of tools cannot be parsed: %w", b.ID, store.ErrCorrupt, err)
		}
		b.Cells = cells[b.ID]
		return &b, nil
	}
}

// Items implements [store.Sessions].
func (s *database) Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	return ofSession(ctx, s, scope, id, func(t *tx, items *[]store.CellID) {
		t.rows(column(items), selectItems, raw(scope), raw(id))
	})
}

func scanEntry(rows pgx.Rows) (*store.Entry, error) {
	var e store.Entry
	var at int64
	err := rows.Scan(&e.Revision, to(&e.ID), to(&e.Op), to(&e.Actor), &at, (*[]byte)(&e.Data))
	e.Time = timeOf(at)
	return &e, err
}

// Entries implements [store.Journal].
func (s *database) Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return listOf(ctx, s, scope, id, func(t *tx, entries *[]*store.Entry) {
		t.rows(each(entries, scanEntry), selectEntries, raw(scope), raw(id), after)
	})
}

// Statements implements [store.Journal].
func (s *database) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error] {
	return listOf(ctx, s, scope, id, func(t *tx, lines *[]string) {
		t.rows(column(lines), selectStatements, raw(scope), raw(id))
	})
}

// Rewrites implements [store.Calls].
func (s *database) Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Rewrite, error] {
	return listOf(ctx, s, scope, id, func(t *tx, rewrites *[]*store.Rewrite) {
		t.rows(each(rewrites, func(rows pgx.Rows) (*store.Rewrite, error) {
			var r store.Rewrite
			var chain []byte
			err := rows.Scan(&r.Kind, &chain, &r.Epoch, &r.Messages, to(&r.Cell))
			copy(r.Chain[:], chain)
			return &r, err
		}), selectRewrites, raw(scope), raw(id))
	})
}

// Block implements [store.Finder].
func (s *database) Block(ctx context.Context, scope governance.Scope, ref store.BlockRef) (*store.Block, error) {
	blocks, err := read(ctx, s, scope, func(t *tx) (*[]*store.Block, error) {
		cells, blocks := make(map[transcript.BlockID][]store.CellID), new([]*store.Block)
		t.rows(collectCells(cells), selectCellsOfBlock, raw(scope), raw(ref.Session), raw(ref.Block))
		t.rows(each(blocks, scanBlock(cells)), selectBlock, raw(scope), raw(ref.Session), raw(ref.Block))
		return blocks, nil
	})
	if err == nil && len(blocks) == 0 {
		err = fmt.Errorf("block %s of session %s: %w", ref.Block, ref.Session, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return blocks[0], nil
}

// Find implements [store.Finder].
func (s *database) Find(ctx context.Context, scope governance.Scope, prefix string, limit int) ([]store.BlockRef, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.BlockRef, error) {
		refs := new([]store.BlockRef)
		sql, values := selectFrom, args(raw(scope), raw(prefix), max(0, limit))
		if end := after(prefix); end != nil {
			sql, values = selectPrefix, append(values, end)
		}
		t.rows(each(refs, scanRef), sql, values...)
		return refs, nil
	})
}

func scanRef(rows pgx.Rows) (r store.BlockRef, err error) {
	err = rows.Scan(to(&r.Session), to(&r.Block))
	return r, err
}

// after returns the least name that is greater than all names with the prefix, or nil if there is
// none. It is the upper bound of a range in an index.
func after(prefix string) []byte {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return nil
	}
	b[len(b)-1]++
	return b
}
