package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	selectCellIDs = `SELECT cell_id FROM cell WHERE scope = ?1 ORDER BY cell_id`
	selectEdges   = `SELECT derived, source, rel FROM edge WHERE scope = ?1 ORDER BY derived, source, rel`
	selectDocsOf  = `SELECT doc, block_id, imprint FROM doc WHERE scope = ?1 AND session_id = ?2 ORDER BY doc`
)

// AllCells implements [store.Movable].
func (s *database) AllCells(ctx context.Context, scope governance.Scope) ([]store.CellID, error) {
	return inSingle(ctx, s, func(v view) ([]store.CellID, error) { return column[store.CellID](v.each, selectCellIDs, scope) })
}

// AllEdges implements [store.Movable].
func (s *database) AllEdges(ctx context.Context, scope governance.Scope) ([]store.Edge, error) {
	return inView(ctx, s, func(v view) ([]store.Edge, error) {
		var have, want imprint
		edges, err := collect(v.each, func(e *store.Edge) []any { return []any{&e.Derived, &e.Source, &e.Rel} }, selectEdges, scope)
		if err != nil {
			return nil, err
		}
		for i := range edges {
			have.join(edgeImprint(scope, &edges[i]))
		}
		err = v.row(selectEdgeTotal, []any{scope}, &want)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		if err == nil && have != want {
			err = damaged("the list of edges between cells")
		}
		return edges, err
	})
}

// BlockWords implements [store.Movable].
func (s *database) BlockWords(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID) (map[transcript.SessionID][]store.IndexEntry, error) {
	return inView(ctx, s, func(v view) (map[transcript.SessionID][]store.IndexEntry, error) {
		all, docs := make(map[transcript.SessionID][]store.IndexEntry), make(map[int64]map[string]uint32)
		for _, id := range sessions {
			err := v.each(func(rows *sql.Rows) error {
				var doc int64
				var own imprint
				e := store.IndexEntry{Words: make(map[string]uint32)}
				err := rows.Scan(&doc, &e.Block, &own)
				if err == nil && !same(docImprint(doc, scope, store.BlockRef{Session: id, Block: e.Block}), own) {
					err = damagedIndex()
				}
				docs[doc], all[id] = e.Words, append(all[id], e)
				return err
			}, selectDocsOf, scope, id)
			if err != nil {
				return nil, err
			}
		}
		segments, err := segmentsOf(v.each, selectSegments, scope)
		if err != nil {
			return nil, err
		}
		for _, g := range segments {
			pages, err := pagesOf(v.each, g.key)
			if err != nil {
				return nil, err
			}
			if postings.Collect(pages, g.ids, g.lengths, docs) != nil {
				return nil, damagedIndex()
			}
		}
		if postings.Lost(docs) {
			return nil, damagedIndex()
		}
		return all, nil
	})
}

// AddCells implements [store.Movable].
func (s *database) AddCells(ctx context.Context, scope governance.Scope, cells []store.Cell, edges []store.Edge) error {
	err := errors.Join(ctx.Err(), store.ValidateMoved(cells))
	if err == nil {
		err = s.submit(&job{
			ctx: ctx, size: sizeOf(cells, nil), rows: len(cells) + len(edges),
			write: func(w *writer) error { return w.addText(ctx, scope, cells, edges) },
		})
	}
	if err != nil {
		return fmt.Errorf("cells: %w", s.explain(err))
	}
	return nil
}
