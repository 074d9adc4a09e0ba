package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A change has a [store.Change] that waits to be written, and the other arguments of the call of
// Apply.
type change struct {
	ctx   context.Context
	scope governance.Scope
	id    transcript.SessionID
	at    store.Revision
	c     *store.Change
	total sessionTotal

	segment *postings.Segment // index segment of c.Index; its ids are positions in c.Index

	summed, retired bool                        // whether the stored session has a summary, and whether it has a status
	items           int64                       // how many items the stored session has
	fresh           map[transcript.BlockID]bool // blocks of c that a stored session does not have yet
}

// A sessionTotal has the imprints of the lists of a session, one for each list.
type sessionTotal struct {
	items, blocks, statements, rewrites imprint
}

// Apply implements [store.Sessions]. If ctx ends while the writer writes the change, the writer may
// abandon the change, of which nothing is then written. Apply waits for that, so its result always
// says whether the change was made.
func (s *database) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := errors.Join(ctx.Err(), c.Validate()); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	if err := s.submit(applying(ctx, scope, id, at, c)); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, s.explain(err))
	}
	return at + 1, nil
}

// applying returns the job that applies a change.
func applying(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) *job {
	// The segment is built here, so that the writer does not wait for it.
	j := &change{ctx: ctx, scope: scope, id: id, at: at, c: c, segment: segmentOf(c.Index)}
	size := sizeOf(c.Cells, nil)
	for _, page := range j.segment.Pages {
		size += len(page)
	}
	rows := len(c.Cells) + len(c.Edges) + len(c.Items) + len(c.Blocks) + len(c.Index) + len(c.Statements) + len(c.Rewrites)
	return &job{ctx: ctx, size: size, rows: rows, purges: c.Erase, write: func(w *writer) error { return w.apply(j) }}
}

// apply writes a change. If it fails, its caller rolls back.
func (w *writer) apply(j *change) error {
	var at store.Revision
	var whole bool
	err := w.row(selectPresent, []any{j.scope, j.id}, &at, (*flag)(&j.summed), (*flag)(&j.retired), (*flag)(&whole),
		&j.total.items, &j.total.blocks, &j.total.statements, &j.total.rewrites, &j.items)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := w.fence(j.ctx, j.scope); err != nil {
		return err
	}
	if at != j.at {
		return fmt.Errorf("not at revision %d: %w", j.at, store.ErrConflict)
	}
	if at > 0 && !whole {
		return damaged("the record of the session's lists")
	}
	if err := w.addText(j.ctx, j.scope, j.c.Cells, j.c.Edges); err != nil {
		return err
	}
	for _, part := range []func(*change) error{
		w.applyHead, w.applyStatus, w.applyItems, w.applyBlocks, w.applyIndex, w.applyJournal, w.applyRewrites, w.erase, w.applyTotal,
	} {
		if err := part(j); err != nil {
			return err
		}
	}
	return nil
}

// addText writes cells and edges.
func (w *writer) addText(ctx context.Context, scope governance.Scope, cells []store.Cell, edges []store.Edge) error {
	for i := range cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &cells[i]
		row := cellRow{kind: c.Kind, state: cellLive, commitment: c.Commit[:]}
		salt, body := c.Salt[:], blob(c.Body)
		if c.Gone {
			row.state, salt, body = cellPurged, nil, nil
		}
		own := cellImprint(scope, &row, c.ID)
		err := w.exec(insertCell, scope, c.ID, c.Kind, row.state, c.Commit[:], len(c.Body), salt, body, own.blob())
		if err != nil {
			return explainWrite(err, "cell %s", c.ID)
		}
		if c.Blob != "" {
			if err := w.takeBlob(scope, c); err != nil {
				return err
			}
		}
	}
	return w.addEdges(scope, edges)
}

func (w *writer) addEdges(scope governance.Scope, edges []store.Edge) error {
	if len(edges) == 0 {
		return nil
	}
	var total imprint
	if err := w.row(selectEdgeTotal, []any{scope}, &total); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for i := range edges {
		e := &edges[i]
		if err := w.exec(insertEdge, scope, e.Derived, e.Source, e.Rel); err != nil {
			return explainWrite(err, "edge from %s to %s", e.Derived, e.Source)
		}
		total.join(edgeImprint(scope, e))
	}
	return w.exec(upsertEdgeTotal, scope, total.blob())
}

func (w *writer) applyHead(j *change) error {
	h := j.c.Head
	h.ID, h.Revision = j.id, j.at+1
	own := headImprint(j.scope, &h)
	err := w.exec(upsertSession, j.scope, j.id, j.at+1, h.Format, h.Model, h.Encoding, optional(h.About),
		h.Messages, h.Blocks, h.Tokens, h.Window, h.Bytes, h.Created.UnixMilli(), h.Updated.UnixMilli(), own.blob())
	switch {
	case err != nil:
		return explainWrite(err, "head with cell %s", h.About)
	case h.Summary != "":
		return explainWrite(w.exec(upsertSummary, j.scope, j.id, h.Summary), "summary with cell %s", h.Summary)
	case j.summed:
		return w.exec(deleteSummary, j.scope, j.id)
	}
	return nil
}

func (w *writer) applyItems(j *change) error {
	if j.c.Items == nil {
		return nil
	}
	if int64(j.c.ItemsFrom) > j.items {
		return fmt.Errorf("ItemsFrom is %d, beyond the %d items of the session", j.c.ItemsFrom, j.items)
	}
	if int64(j.c.ItemsFrom) < j.items {
		if err := w.deleteItems(j); err != nil {
			return err
		}
	}
	for i, cell := range j.c.Items {
		j.total.items.join(itemImprint(j.scope, j.id, int64(j.c.ItemsFrom+i), cell))
		if err := w.exec(insertItem, j.scope, j.id, j.c.ItemsFrom+i, cell); err != nil {
			return explainWrite(err, "item with cell %s", cell)
		}
	}
	return j.ctx.Err()
}

// deleteItems deletes the items that the change replaces, and removes them from the imprint.
func (w *writer) deleteItems(j *change) error {
	return w.each(func(rows *sql.Rows) error {
		var at int64
		var cell store.CellID
		err := rows.Scan(&at, &cell)
		j.total.items.join(itemImprint(j.scope, j.id, at, cell))
		return err
	}, deleteItems, j.scope, j.id, j.c.ItemsFrom)
}

func (w *writer) applyBlocks(j *change) error {
	kept := make([]keptBlock, len(j.c.Blocks))
	if j.at > 0 {
		for i := range j.c.Blocks {
			if err := w.yield(j, &j.c.Blocks[i], &kept[i]); err != nil {
				return err
			}
		}
	}
	for i := range j.c.Blocks {
		if err := w.applyBlock(j, &j.c.Blocks[i], kept[i]); err != nil {
			return err
		}
	}
	return j.ctx.Err()
}

// A keptBlock says whether a block is stored before a change, and whether the change moves it.
type keptBlock struct {
	there bool // the block is stored
	stays bool // the change leaves it at its turn
}

// yield reads the stored state of a block, removes the block from the imprint of the list, and
// frees its turn if the change moves it.
func (w *writer) yield(j *change, b *store.Block, kept *keptBlock) error {
	var old imprint
	var turn int
	var off int64
	err := w.row(selectTurn, []any{j.scope, j.id, b.ID}, &old, &turn, &off)
	if errors.Is(err, sql.ErrNoRows) {
		if j.fresh == nil {
			j.fresh = make(map[transcript.BlockID]bool)
		}
		j.fresh[b.ID] = true
		return nil
	}
	if err != nil {
		return err
	}
	j.total.blocks.join(old)
	*kept = keptBlock{there: true, stays: turn == b.Turn && (off != 0) == b.Off}
	if kept.stays {
		return nil
	}
	return w.exec(yieldTurn, j.scope, j.id, b.ID)
}

// applyBlock writes a block.
func (w *writer) applyBlock(j *change, b *store.Block, kept keptBlock) error {
	tools, err := json.Marshal(b.Tools)
	if err != nil {
		return err
	}
	own := blockImprint(j.scope, j.id, b, string(tools))
	j.total.blocks.join(own)
	query := upsertBlock
	if kept.stays {
		query = updateBlock
	}
	err = w.exec(query, j.scope, j.id, b.ID, b.Turn, b.Kind, string(tools), b.Tokens, b.State, b.Form,
		b.Window, optional(b.Stub), b.Pinned, b.Off, own.blob(), b.Earlier)
	if err != nil {
		return explainWrite(err, "block %s at turn %d", b.ID, b.Turn)
	}
	if kept.there {
		same, err := w.hasCells(j, b)
		if err != nil || same {
			return err
		}
		if err := w.exec(deleteBlockCells, j.scope, j.id, b.ID); err != nil {
			return err
		}
	}
	for i, cell := range b.Cells {
		if err := w.exec(insertBlockCell, j.scope, j.id, b.ID, i, cell); err != nil {
			return explainWrite(err, "block %s with cell %s", b.ID, cell)
		}
	}
	return nil
}

// hasCells reports whether the stored cells of a block are those that the change gives it.
func (w *writer) hasCells(j *change, b *store.Block) (bool, error) {
	n, same := 0, true
	err := w.each(func(rows *sql.Rows) error {
		var ord int
		var cell store.CellID
		err := rows.Scan(&ord, &cell)
		same = same && ord == n && n < len(b.Cells) && cell == b.Cells[n]
		n++
		return err
	}, selectPlacesOfCells, j.scope, j.id, b.ID)
	return same && n == len(b.Cells), err
}

func (w *writer) applyJournal(j *change) error {
	e := j.c.Entry
	e.Revision = j.at + 1
	own := entryImprint(j.scope, j.id, &e)
	err := w.exec(insertEntry, j.scope, j.id, e.Revision, e.ID, e.Op, e.Actor, e.Time.UnixMilli(), document(e.Data), own.blob())
	if err != nil {
		return explainWrite(err, "journal entry %s", e.ID)
	}
	if len(j.c.Statements) == 0 {
		return nil
	}
	n, err := w.number(countStatements, j.scope, j.id)
	if err != nil {
		return err
	}
	for i, text := range j.c.Statements {
		j.total.statements.join(statementImprint(j.scope, j.id, n+int64(i), text))
		if err := w.exec(insertStatement, j.scope, j.id, n+int64(i), text); err != nil {
			return err
		}
	}
	return nil
}

// applyTotal writes the new imprints of the session's lists.
func (w *writer) applyTotal(j *change) error {
	t := &j.total
	return w.exec(upsertSessionTotal, j.scope, j.id, t.items.blob(), t.blocks.blob(), t.statements.blob(), t.rewrites.blob())
}

// explainWrite adds the name of the record being written to err. It turns a violated foreign key
// into an ErrNotFound, and a violated unique key into "already exists".
func explainWrite(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code() == codes.SQLITE_CONSTRAINT_FOREIGNKEY {
		return fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	if isTaken(err) {
		return fmt.Errorf("%s already exists", what)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isTaken reports whether an error is a violation of a unique key.
func isTaken(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return false
	}
	switch e.Code() {
	case codes.SQLITE_CONSTRAINT_PRIMARYKEY, codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_TRIGGER:
		return true
	default:
		return false
	}
}

// blob returns b as a value to bind that is never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// document returns a JSON document as a value to bind: NULL if data is nil.
func document(data json.RawMessage) any {
	if data == nil {
		return nil
	}
	return blob(data)
}

// optional returns the id of a cell as a value to bind: NULL if id is empty.
func optional(id store.CellID) any {
	if id == "" {
		return nil
	}
	return string(id)
}
