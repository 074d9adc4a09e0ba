package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

const (
	reserveBlobs = `
		INSERT INTO loose_blob (scope, blob, since, dropping)
		SELECT $1, key, ` + millisNow + `, false FROM unnest($2::bytea[]) AS k (key) ON CONFLICT DO NOTHING`
	takeBlobs       = `DELETE FROM loose_blob WHERE scope = $1 AND blob = ANY ($2) AND NOT dropping RETURNING blob`
	insertCellBlobs = `
		INSERT INTO cell_blob (scope, cell_id, blob)
		SELECT $1, id, key FROM unnest($2::bytea[], $3::bytea[]) AS c (id, key)`

	// A purge makes the blobs of cells loose.
	loosenBlobs = `
		INSERT INTO loose_blob (scope, blob, since, dropping)
		SELECT $1, blob, ` + millisNow + `, true FROM cell_blob WHERE scope = $1 AND cell_id = ANY ($2)`
	deleteCellBlobs = `DELETE FROM cell_blob WHERE scope = $1 AND cell_id = ANY ($2)`

	isLoose     = `NOT EXISTS (SELECT 1 FROM cell_blob c WHERE c.scope = $1 AND c.blob = l.blob)`
	selectLoose = `
		SELECT blob FROM loose_blob l WHERE scope = $1 AND (dropping OR since <= ` + millisNow + ` - $2) AND ` + isLoose + ` ORDER BY blob`
	dropBlobs   = `UPDATE loose_blob l SET dropping = true WHERE scope = $1 AND blob = ANY ($2) AND ` + isLoose
	selectDrops = `SELECT blob FROM loose_blob l WHERE scope = $1 AND blob = ANY ($2) AND dropping AND ` + isLoose + ` ORDER BY blob`
	forgetBlobs = `DELETE FROM loose_blob WHERE scope = $1 AND blob = ANY ($2) AND dropping`

	selectCellBlobs    = `SELECT cell_id, blob FROM cell_blob WHERE scope = $1 AND cell_id = ANY ($2)`
	selectAllCellBlobs = `SELECT cell_id, blob FROM cell_blob WHERE scope = $1`

	// blobOf is the expression for the blob of a row of the table "cell", which has the alias c. It
	// looks the blob up only if the row has no body, which is rare.
	blobOf = `CASE WHEN c.len = 0 THEN (SELECT b.blob FROM cell_blob b WHERE b.scope = $1 AND b.cell_id = c.cell_id) END`
)

// takeBlobs adds a statement that takes the reserved blobs of cells, which are then no longer
// loose. After a flush, the function taken returns ErrConflict if a blob is not reserved. The rows
// of the blobs are locked until the transaction ends, so that no other node drops a blob meanwhile.
func (t *tx) takeBlobs(scope governance.Scope, cells []store.Cell) (taken func() error) {
	keys := store.BlobsOf(cells)
	if len(keys) == 0 {
		return func() error { return nil }
	}
	var took []store.BlobKey
	t.rows(column(&took), takeBlobs, raw(scope), raws(keys))
	return func() error {
		if len(took) != len(keys) {
			return fmt.Errorf("%d of %d blobs are not reserved: %w", len(keys)-len(took), len(keys), store.ErrConflict)
		}
		return nil
	}
}

// addCellBlobs adds a statement that records the blob of each cell that has one.
func (t *tx) addCellBlobs(scope governance.Scope, cells []store.Cell) {
	var ids, keys [][]byte
	for i := range cells {
		if c := &cells[i]; c.Blob != "" {
			ids, keys = append(ids, raw(c.ID)), append(keys, raw(c.Blob))
		}
	}
	if len(ids) > 0 {
		t.do("blobs", insertCellBlobs, raw(scope), ids, keys)
	}
}

// ReserveBlobs implements [store.Blobs].
func (s *database) ReserveBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) error {
	return s.write(ctx, scope, func(t *tx) error {
		t.do("blobs", reserveBlobs, raw(scope), raws(keys))
		return nil
	})
}

// LooseBlobs implements [store.Blobs].
func (s *database) LooseBlobs(ctx context.Context, scope governance.Scope, age time.Duration) ([]store.BlobKey, error) {
	return read(ctx, s, scope, func(t *tx) (*[]store.BlobKey, error) {
		keys := new([]store.BlobKey)
		t.rows(column(keys), selectLoose, raw(scope), age.Milliseconds())
		return keys, nil
	})
}

// DropBlobs implements [store.Blobs].
func (s *database) DropBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) (dropped []store.BlobKey, err error) {
	err = s.write(ctx, scope, func(t *tx) error {
		dropped = nil
		t.do("blobs", dropBlobs, raw(scope), raws(keys))
		t.rows(column(&dropped), selectDrops, raw(scope), raws(keys))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}

// ForgetBlobs implements [store.Blobs].
func (s *database) ForgetBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) error {
	return s.write(ctx, scope, func(t *tx) error {
		t.do("blobs", forgetBlobs, raw(scope), raws(keys))
		return nil
	})
}

// CellBlobs implements [store.Blobs].
func (s *database) CellBlobs(ctx context.Context, scope governance.Scope, ids []store.CellID) (map[store.CellID]store.BlobKey, error) {
	return read(ctx, s, scope, func(t *tx) (*map[store.CellID]store.BlobKey, error) {
		blobs := make(map[store.CellID]store.BlobKey)
		query, values := selectAllCellBlobs, args(scope)
		if ids != nil {
			query, values = selectCellBlobs, args(scope, raws(ids))
		}
		t.rows(func(rows pgx.Rows) error {
			var id store.CellID
			var key store.BlobKey
			err := rows.Scan(to(&id), to(&key))
			blobs[id] = key
			return err
		}, query, values...)
		return &blobs, nil
	})
}
