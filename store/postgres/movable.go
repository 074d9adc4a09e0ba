package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	selectCellIDs = `SELECT cell_id FROM cell WHERE scope = $1 ORDER BY cell_id`
	selectEdges   = `SELECT derived, source, rel FROM edge WHERE scope = $1 ORDER BY derived, source, rel`
	selectDocsOf  = `SELECT doc, session_id, block_id FROM doc WHERE scope = $1 AND session_id = ANY ($2) ORDER BY doc`
)

// AllCells implements [store.Movable].
func (s *database) AllCells(ctx context.Context, scope governance.Scope) ([]store.CellID, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.CellID, error) {
		ids := new([]store.CellID)
		t.rows(column(ids), selectCellIDs, raw(scope))
		return ids, nil
	})
}

// AllEdges implements [store.Movable].
func (s *database) AllEdges(ctx context.Context, scope governance.Scope) ([]store.Edge, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.Edge, error) {
		edges := new([]store.Edge)
		t.rows(each(edges, func(rows pgx.Rows) (e store.Edge, err error) {
			err = rows.Scan(to(&e.Derived), to(&e.Source), to(&e.Rel))
			return e, err
		}), selectEdges, raw(scope))
		return edges, nil
	})
}

// BlockWords implements [store.Movable].
func (s *database) BlockWords(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID) (map[transcript.SessionID][]store.IndexEntry, error) {
	return read(ctx, s, scope, func(t *tx) (*map[transcript.SessionID][]store.IndexEntry, error) {
		all, docs := make(map[transcript.SessionID][]store.IndexEntry), make(map[int64]map[string]uint32)
		var segments []*segment
		t.rows(func(rows pgx.Rows) error {
			var doc int64
			var id transcript.SessionID
			e := store.IndexEntry{Words: make(map[string]uint32)}
			err := rows.Scan(&doc, to(&id), to(&e.Block))
			docs[doc], all[id] = e.Words, append(all[id], e)
			return err
		}, selectDocsOf, raw(scope), raws(sessions))
		t.rows(each(&segments, scanSegment), selectSegments, raw(scope))
		if err := t.flush(); err != nil {
			return nil, err
		}
		for _, g := range segments {
			var pages [][]byte
			t.rows(func(rows pgx.Rows) error {
				var key, page int64
				var body []byte
				err := rows.Scan(&key, &page, &body)
				pages = append(pages, body)
				return err
			}, selectPages, raw(scope), []int64{g.key})
			if err := t.flush(); err != nil {
				return nil, err
			}
			if postings.Collect(pages, g.ids, g.lengths, docs) != nil {
				return nil, damagedIndex()
			}
		}
		if postings.Lost(docs) {
			return nil, damagedIndex()
		}
		return &all, nil
	})
}

// AddCells implements [store.Movable]. If the connection is lost at the commit, AddCells tries again
// and may then fail because the cells of its first attempt exist.
func (s *database) AddCells(ctx context.Context, scope governance.Scope, cells []store.Cell, edges []store.Edge) error {
	err := errors.Join(ctx.Err(), store.ValidateMoved(cells))
	if err == nil {
		err = s.write(ctx, scope, func(t *tx) error {
			if taken := t.takeBlobs(scope, cells); len(store.BlobsOf(cells)) > 0 {
				if err := errors.Join(t.flush(), taken()); err != nil {
					return err
				}
			}
			t.addCells(scope, cells)
			t.addEdges(scope, edges)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	return nil
}
