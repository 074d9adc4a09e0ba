package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

const (
	reserveBlob = `
		INSERT INTO loose_blob (scope, blob, since, dropping) VALUES (?1, ?2, ` + millisNow + `, 0) ON CONFLICT DO NOTHING`
	takeBlob       = `DELETE FROM loose_blob WHERE scope = ?1 AND blob = ?2 AND dropping = 0 RETURNING 1`
	insertCellBlob = `INSERT INTO cell_blob (scope, cell_id, blob) VALUES (?1, ?2, ?3)`

	// A purge makes the blob of a cell loose.
	loosenBlob = `
		INSERT INTO loose_blob (scope, blob, since, dropping)
		SELECT scope, blob, ` + millisNow + `, 1 FROM cell_blob WHERE scope = ?1 AND cell_id = ?2`
	deleteCellBlob = `DELETE FROM cell_blob WHERE scope = ?1 AND cell_id = ?2`

	// Skips a row of loose_blob whose blob belongs to a cell: only damage makes such a row.
	isLoose         = `NOT EXISTS (SELECT 1 FROM cell_blob c WHERE c.scope = l.scope AND c.blob = l.blob)`
	selectLoose     = `SELECT blob FROM loose_blob l WHERE scope = ?1 AND (dropping = 1 OR since <= ` + millisNow + ` - ?2) AND ` + isLoose + ` ORDER BY blob`
	dropBlob        = `UPDATE loose_blob AS l SET dropping = 1 WHERE scope = ?1 AND blob = ?2 AND ` + isLoose + ` RETURNING 1`
	forgetBlob      = `DELETE FROM loose_blob WHERE scope = ?1 AND blob = ?2 AND dropping = 1`
	selectCellBlob  = `SELECT cell_id, blob FROM cell_blob WHERE scope = ?1 AND cell_id = ?2`
	selectCellBlobs = `SELECT cell_id, blob FROM cell_blob WHERE scope = ?1`

	// blobOf is the expression for the blob of a row of the table "cell", which has the alias c. It
	// looks the blob up only if the row has no body, which is rare.
	blobOf = `CASE WHEN c.len = 0 THEN (SELECT b.blob FROM cell_blob b WHERE b.scope = c.scope AND b.cell_id = c.cell_id) END`
)

// takeBlob records the reserved blob of a cell that is being written. The blob is then no longer
// loose.
func (w *writer) takeBlob(scope governance.Scope, c *store.Cell) error {
	_, err := w.number(takeBlob, scope, c.Blob)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("cell %s: its blob is not reserved: %w", c.ID, store.ErrConflict)
	}
	if err == nil {
		err = w.exec(insertCellBlob, scope, c.ID, c.Blob)
	}
	return err
}

// inBlobs calls f with each of the keys, in one transaction for writing.
func (s *database) inBlobs(ctx context.Context, keys []store.BlobKey, f func(w *writer, key store.BlobKey) error) error {
	err := s.submit(&job{ctx: ctx, rows: len(keys), write: func(w *writer) error {
		for _, key := range keys {
			if err := f(w, key); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("blobs: %w", s.explain(err))
	}
	return nil
}

// ReserveBlobs implements [store.Blobs].
func (s *database) ReserveBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) error {
	return s.inBlobs(ctx, keys, func(w *writer, key store.BlobKey) error { return w.exec(reserveBlob, scope, key) })
}

// LooseBlobs implements [store.Blobs].
func (s *database) LooseBlobs(ctx context.Context, scope governance.Scope, age time.Duration) ([]store.BlobKey, error) {
	return inSingle(ctx, s, func(v view) ([]store.BlobKey, error) {
		return column[store.BlobKey](v.each, selectLoose, scope, age.Milliseconds())
	})
}

// DropBlobs implements [store.Blobs].
func (s *database) DropBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) (dropped []store.BlobKey, err error) {
	err = s.inBlobs(ctx, keys, func(w *writer, key store.BlobKey) error {
		_, err := w.number(dropBlob, scope, key)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		dropped = append(dropped, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}

// ForgetBlobs implements [store.Blobs].
func (s *database) ForgetBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) error {
	return s.inBlobs(ctx, keys, func(w *writer, key store.BlobKey) error { return w.exec(forgetBlob, scope, key) })
}

// CellBlobs implements [store.Blobs].
func (s *database) CellBlobs(ctx context.Context, scope governance.Scope, ids []store.CellID) (map[store.CellID]store.BlobKey, error) {
	return inView(ctx, s, func(v view) (map[store.CellID]store.BlobKey, error) {
		blobs := make(map[store.CellID]store.BlobKey)
		collect := func(rows *sql.Rows) error {
			var id store.CellID
			var key store.BlobKey
			err := rows.Scan(&id, &key)
			blobs[id] = key
			return err
		}
		if ids == nil {
			return blobs, v.each(collect, selectCellBlobs, scope)
		}
		for _, id := range ids {
			if err := v.each(collect, selectCellBlob, scope, id); err != nil {
				return nil, err
			}
		}
		return blobs, nil
	})
}
