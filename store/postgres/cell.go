package postgres

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	// The arrays have equal lengths.
	insertCells = `
		INSERT INTO cell (scope, cell_id, kind, state, commitment, len, salt, body)
		SELECT $1, id, kind, CASE WHEN body IS NULL THEN 'purged' ELSE 'live' END, commitment, coalesce(length(body), 0), salt, body
		FROM unnest($2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[]) AS c (id, kind, commitment, salt, body)`
	insertEdges = `
		INSERT INTO edge (scope, derived, source, rel)
		SELECT $1, derived, source, rel FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS e (derived, source, rel)`

	selectCells   = `SELECT cell_id, kind, state, commitment, salt, body, ` + blobOf + ` FROM cell c WHERE scope = $1 AND cell_id = ANY ($2)`
	selectSources = `SELECT source, rel FROM edge WHERE scope = $1 AND derived = $2 ORDER BY source, rel`
	selectDerived = `
		WITH RECURSIVE made (id) AS (
			SELECT derived FROM edge WHERE scope = $1 AND source = ANY ($2)
			UNION SELECT e.derived FROM edge e JOIN made ON e.source = made.id WHERE scope = $1
		)
		SELECT id FROM made WHERE id <> ALL ($2) ORDER BY id`
	selectBrought = `SELECT cell_id FROM session_cell WHERE scope = $1 AND session_id = $2 ORDER BY cell_id`
)

// The limits of one statement that writes, in rows and bytes.
const (
	rowsAtOnce  = 1000
	bytesAtOnce = 4 << 20
)

// cellsAtOnce is the number of cells that one query reads.
const cellsAtOnce = 64

// cellPurged is the state of a purged cell.
const cellPurged = "purged"

// addCells adds statements that write cells. Each statement has at most rowsAtOnce cells, and at
// most bytesAtOnce bytes of bodies unless a single body is longer.
func (t *tx) addCells(scope governance.Scope, cells []store.Cell) {
	for len(cells) > 0 {
		var ids, commitments, salts, bodies [][]byte
		var kinds []string
		size := 0
		for i := range cells {
			c := &cells[i]
			if size += len(c.Body); i == rowsAtOnce || i > 0 && size > bytesAtOnce {
				break
			}
			ids, kinds = append(ids, raw(c.ID)), append(kinds, string(c.Kind))
			salt, body := c.Salt[:], whole(c.Body)
			if c.Gone {
				salt, body = nil, nil
			}
			commitments, salts, bodies = append(commitments, c.Commit[:]), append(salts, salt), append(bodies, body)
		}
		t.do(about("cells from %s on", cells[0].ID), insertCells, raw(scope), ids, kinds, commitments, salts, bodies)
		t.addCellBlobs(scope, cells[:len(ids)])
		cells = cells[len(ids):]
	}
}

// addEdges adds statements that write edges.
func (t *tx) addEdges(scope governance.Scope, edges []store.Edge) {
	for some := range slices.Chunk(edges, rowsAtOnce) {
		var derived, sources, rels [][]byte
		for i := range some {
			derived, sources, rels = append(derived, raw(some[i].Derived)), append(sources, raw(some[i].Source)), append(rels, raw(some[i].Rel))
		}
		t.do(about("edges from %s on", some[0].Derived), insertEdges, raw(scope), derived, sources, rels)
	}
}

// Cells implements [store.Cells].
func (s *database) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		if len(ids) == 0 && ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		for some := range slices.Chunk(ids, cellsAtOnce) {
			rows, err := s.cells(ctx, scope, some)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, id := range some {
				c, err := s.cell(rows, id)
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// A cellRow is a row of the table cell.
type cellRow struct {
	id                     store.CellID
	kind                   store.CellKind
	state                  string
	commitment, salt, body []byte
	blob                   store.BlobKey // of the body, or empty
	given                  bool          // whether the method cell of database has returned this body already
}

func (s *database) cells(ctx context.Context, scope governance.Scope, ids []store.CellID) (map[store.CellID]*cellRow, error) {
	rows, err := read(ctx, s, scope, func(t *tx) (*[]*cellRow, error) {
		all := new([]*cellRow)
		t.rows(each(all, scanCell), selectCells, raw(scope), raws(ids))
		return all, nil
	})
	byID := make(map[store.CellID]*cellRow, len(rows))
	for _, r := range rows {
		byID[r.id] = r
	}
	return byID, err
}

func scanCell(rows pgx.Rows) (*cellRow, error) {
	r := new(cellRow)
	err := rows.Scan(to(&r.id), &r.kind, &r.state, &r.commitment, &r.salt, &r.body, to(&r.blob))
	return r, err
}

// cell returns the cell with an id from rows. No two results share a body. A caller that changes a
// body must not ask for the same id in rows again. cell fails if the cell is missing, purged or
// damaged, or if its body is in a blob.
func (s *database) cell(rows map[store.CellID]*cellRow, id store.CellID) (*store.Cell, error) {
	r := rows[id]
	if r == nil {
		return nil, fmt.Errorf("cell %s: %w", id, store.ErrNotFound)
	}
	if r.state == cellPurged && len(r.commitment) == digest.Size {
		return nil, &store.GoneError{Cell: id, Kind: r.kind, Commit: digest.Digest(r.commitment)}
	}
	c, ok := r.cell()
	if c != nil && c.Blob != "" {
		return nil, &store.AwayError{Cell: *c}
	}
	if !ok {
		return nil, fmt.Errorf("%s: cell %s: its commitment does not match the body: %w", s.address, id, store.ErrCorrupt)
	}
	if r.given {
		c.Body = slices.Clone(c.Body)
	}
	r.given = true
	return c, nil
}

// cell returns the cell in a row, and whether its commitment matches the body. The commitment of a
// cell with a blob is not checked here. If the row is damaged, the cell may be nil.
func (r *cellRow) cell() (*store.Cell, bool) {
	if len(r.commitment) != digest.Size || len(r.salt) != digest.Size {
		return nil, false
	}
	c := &store.Cell{ID: r.id, Kind: r.kind, Salt: digest.Salt(r.salt), Commit: digest.Digest(r.commitment), Body: r.body}
	if r.blob != "" && len(r.body) == 0 {
		c.Body, c.Blob = nil, r.blob
		return c, true
	}
	return c, c.Holds()
}

// Sources implements [store.Cells].
func (s *database) Sources(ctx context.Context, scope governance.Scope, id store.CellID) ([]store.Edge, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.Edge, error) {
		edges := new([]store.Edge)
		t.rows(each(edges, func(rows pgx.Rows) (store.Edge, error) {
			e := store.Edge{Derived: id}
			err := rows.Scan(to(&e.Source), to(&e.Rel))
			return e, err
		}), selectSources, raw(scope), raw(id))
		return edges, nil
	})
}

// Derived implements [store.Cells].
func (s *database) Derived(ctx context.Context, scope governance.Scope, ids []store.CellID) ([]store.CellID, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.CellID, error) {
		derived := new([]store.CellID)
		t.rows(column(derived), selectDerived, raw(scope), raws(ids))
		return derived, nil
	})
}

// Brought implements [store.Cells].
func (s *database) Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.CellID, error) {
		cells := new([]store.CellID)
		t.rows(column(cells), selectBrought, raw(scope), raw(id))
		return cells, nil
	})
}
