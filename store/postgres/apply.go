package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	insertScope = `INSERT INTO scope (name) VALUES ($1) ON CONFLICT DO NOTHING`

	beginSession = `INSERT INTO session (scope, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING revision, items, statements`
	lockSession  = `SELECT revision, items, statements FROM session WHERE scope = $1 AND session_id = $2 FOR UPDATE`
	selectEntry  = `SELECT count(*) FROM entry WHERE scope = $1 AND session_id = $2 AND revision = $3 AND mark = $4`

	updateSession = `
		UPDATE session SET revision = $3, format = $4, model = $5, encoding = $6, about = $7, summary = $8, messages = $9, blocks = $10,
			tokens = $11, window_tokens = $12, bytes = $13, created = $14, updated = $15, status = $16, items = $17, statements = $18
		WHERE scope = $1 AND session_id = $2`

	insertSessionCells = `INSERT INTO session_cell (scope, session_id, cell_id) SELECT $1, $2, id FROM unnest($3::bytea[]) AS c (id)`

	deleteItems = `DELETE FROM item WHERE scope = $1 AND session_id = $2 AND ord >= $3`
	insertItems = `
		INSERT INTO item (scope, session_id, ord, cell_id)
		SELECT $1, $2, $3 + n - 1, id FROM unnest($4::bytea[]) WITH ORDINALITY AS c (id, n)`

	// Blocks that will be replaced are first marked as off, which frees their turns, so that
	// blocks can trade turns.
	yieldTurns  = `UPDATE block SET off = true WHERE scope = $1 AND session_id = $2 AND block_id = ANY ($3)`
	upsertBlock = `
		INSERT INTO block (scope, session_id, block_id, turn, kind, tools, tokens, state, form, window_tokens, stub, pinned, off, earlier)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (scope, session_id, block_id) DO UPDATE SET turn = excluded.turn, kind = excluded.kind, tools = excluded.tools,
			tokens = excluded.tokens, state = excluded.state, form = excluded.form, window_tokens = excluded.window_tokens,
			stub = excluded.stub, pinned = excluded.pinned, off = excluded.off, earlier = excluded.earlier`
	deleteBlockCells = `DELETE FROM block_cell WHERE scope = $1 AND session_id = $2 AND block_id = ANY ($3)`
	insertBlockCells = `
		INSERT INTO block_cell (scope, session_id, block_id, ord, cell_id)
		SELECT $1, $2, block, ord, id FROM unnest($3::bytea[], $4::bigint[], $5::bytea[]) AS c (block, ord, id)`

	insertEntryName = `INSERT INTO entry_name (scope, entry_id) VALUES ($1, $2)`
	insertEntry     = `
		INSERT INTO entry (scope, session_id, revision, entry_id, op, actor, time, data, mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	insertStatements = `
		INSERT INTO statement (scope, session_id, ord, text)
		SELECT $1, $2, $3 + n - 1, text FROM unnest($4::bytea[]) WITH ORDINALITY AS c (text, n)`
	deleteStatements = `DELETE FROM statement WHERE scope = $1 AND session_id = $2`

	upsertRewrite = `
		INSERT INTO rewrite (scope, session_id, kind, chain, epoch, messages, cell_id) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (scope, session_id, kind, chain) DO UPDATE
		SET epoch = excluded.epoch, messages = excluded.messages, cell_id = excluded.cell_id`
	deleteRewrites = `DELETE FROM rewrite WHERE scope = $1 AND session_id = $2`
)

// A change has a [store.Change] and the other arguments of the call of Apply, for one attempt to
// write it.
type change struct {
	scope   governance.Scope
	id      transcript.SessionID
	at      store.Revision
	c       *store.Change
	segment *postings.Segment // index segment of c.Index; its ids are positions in c.Index

	items, statements int64 // numbers of items and statements of the session
}

// Apply implements [store.Sessions].
func (s *database) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := errors.Join(ctx.Err(), c.Validate()); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	segment := segmentOf(c.Index) // shared by all attempts, none of which changes it
	err := s.write(ctx, scope, func(t *tx) error {
		return t.apply(&change{scope: scope, id: id, at: at, c: c, segment: segment})
	})
	if err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	return at + 1, nil
}

// write runs a transaction that writes in a scope. The first write also adds the name of the
// scope to the table scope.
func (s *database) write(ctx context.Context, scope governance.Scope, f func(t *tx) error) error {
	_, known := s.known.Load(scope)
	err := s.transact(ctx, in(scope), writing, func(t *tx) error {
		if !known {
			t.do("scope", insertScope, raw(scope))
		}
		return f(t)
	})
	if err == nil && !known {
		s.known.Store(scope, true)
	}
	return err
}

// apply adds the statements that write a change.
func (t *tx) apply(j *change) error {
	if err := t.lock(j); err != nil {
		return err
	}
	if c := j.c; c.Items != nil && int64(c.ItemsFrom) > j.items {
		return fmt.Errorf("ItemsFrom is %d, beyond the %d items of the session", c.ItemsFrom, j.items)
	}
	t.addCells(j.scope, j.c.Cells)
	t.addEdges(j.scope, j.c.Edges)
	t.applyItems(j)
	if err := t.applyBlocks(j); err != nil {
		return err
	}
	t.applyJournal(j)
	t.applyHead(j)
	for i := range j.c.Rewrites {
		r := &j.c.Rewrites[i]
		t.do(about("rewrite with cell %s", r.Cell), upsertRewrite, raw(j.scope), raw(j.id), r.Kind, r.Chain[:], r.Epoch, r.Messages, raw(r.Cell))
	}
	return t.applyIndex(j)
}

// lock locks the session and fails with ErrConflict unless it is at the revision of the change. It
// returns errMade if an earlier attempt has already written the change.
func (t *tx) lock(j *change) error {
	present := int64(-1) // no session
	query := lockSession
	if j.at == 0 {
		query = beginSession
	}
	t.row(query, args(raw(j.scope), raw(j.id)), &present, &j.items, &j.statements)
	made := int64(0)
	if t.again {
		t.row(selectEntry, args(raw(j.scope), raw(j.id), j.at+1, t.mark), &made)
	}
	repeated, fenced, taken := t.claim(j.scope), t.fence(j.scope), t.takeBlobs(j.scope, j.c.Cells)
	if err := t.flush(); err != nil {
		return err
	}
	if made > 0 {
		return errMade
	}
	if err := errors.Join(repeated(), fenced()); err != nil {
		return err
	}
	if present != int64(j.at) || j.at < 0 {
		return fmt.Errorf("not at revision %d: %w", j.at, store.ErrConflict)
	}
	return taken()
}

func (t *tx) applyItems(j *change) {
	if j.c.Items == nil {
		return
	}
	if int64(j.c.ItemsFrom) < j.items {
		t.do("items", deleteItems, raw(j.scope), raw(j.id), j.c.ItemsFrom)
	}
	j.items = int64(j.c.ItemsFrom)
	for some := range slices.Chunk(j.c.Items, rowsAtOnce) {
		t.do(about("items with cells from %s on", some[0]), insertItems, raw(j.scope), raw(j.id), j.items, raws(some))
		j.items += int64(len(some))
	}
}

func (t *tx) applyBlocks(j *change) error {
	if len(j.c.Blocks) == 0 {
		return nil
	}
	ids := make([][]byte, len(j.c.Blocks))
	for i := range j.c.Blocks {
		ids[i] = raw(j.c.Blocks[i].ID)
	}
	if j.at > 0 {
		t.do("blocks", yieldTurns, raw(j.scope), raw(j.id), ids)
		t.do("blocks", deleteBlockCells, raw(j.scope), raw(j.id), ids)
	}
	var blocks, cells [][]byte
	var ords []int64
	for i := range j.c.Blocks {
		b := &j.c.Blocks[i]
		tools, err := json.Marshal(b.Tools)
		if err != nil {
			return err
		}
		t.do(about("block %s at turn %d", b.ID, b.Turn), upsertBlock, raw(j.scope), raw(j.id), raw(b.ID), b.Turn, b.Kind, string(tools),
			b.Tokens, b.State, b.Form, b.Window, maybe(b.Stub), b.Pinned, b.Off, b.Earlier)
		for n, cell := range b.Cells {
			blocks, ords, cells = append(blocks, ids[i]), append(ords, int64(n)), append(cells, raw(cell))
		}
	}
	for from := 0; from < len(cells); from += rowsAtOnce {
		end := min(from+rowsAtOnce, len(cells))
		t.do(about("blocks with cells from %s on", cells[from]), insertBlockCells, raw(j.scope), raw(j.id), blocks[from:end], ords[from:end], cells[from:end])
	}
	return nil
}

func (t *tx) applyJournal(j *change) {
	e := &j.c.Entry
	t.do(about("journal entry %s", e.ID), insertEntryName, raw(j.scope), raw(e.ID))
	t.do(about("journal entry %s", e.ID), insertEntry, raw(j.scope), raw(j.id), j.at+1, raw(e.ID), raw(e.Op), raw(e.Actor), millis(e.Time), []byte(e.Data), t.mark)
	if len(j.c.Statements) > 0 {
		t.do("statements", insertStatements, raw(j.scope), raw(j.id), j.statements, raws(j.c.Statements))
		j.statements += int64(len(j.c.Statements))
	}
	if j.c.Erase {
		t.do("statements", deleteStatements, raw(j.scope), raw(j.id))
		t.do("rewrites", deleteRewrites, raw(j.scope), raw(j.id))
		j.statements = 0
	}
}

// applyHead adds to t the statement that updates the head of the session. If the change j has new
// or adopted cells, it also adds the statement that records them as cells of the session.
func (t *tx) applyHead(j *change) {
	h := &j.c.Head
	t.do(about("head with cells %s and %s", h.About, h.Summary), updateSession, raw(j.scope), raw(j.id), j.at+1, raw(h.Format), raw(h.Model), raw(h.Encoding),
		maybe(h.About), maybe(h.Summary), h.Messages, h.Blocks, h.Tokens, h.Window, h.Bytes, millis(h.Created), millis(h.Updated), h.Status,
		j.items, j.statements)
	if len(j.c.Cells)+len(j.c.Adopt) > 0 {
		ids := raws(j.c.Adopt)
		for i := range j.c.Cells {
			ids = append(ids, raw(j.c.Cells[i].ID))
		}
		t.do("cells of the session", insertSessionCells, raw(j.scope), raw(j.id), ids)
	}
}
