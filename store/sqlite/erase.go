package sqlite

import (
	"context"
	"errors"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// applyStatus writes the status of a session, and the list of cells that the change adds or
// adopts.
func (w *writer) applyStatus(j *change) error {
	for i := range j.c.Cells {
		if err := w.exec(insertSessionCell, j.scope, j.id, j.c.Cells[i].ID); err != nil {
			return explainWrite(err, "cell %s", j.c.Cells[i].ID)
		}
	}
	for _, id := range j.c.Adopt {
		if err := w.exec(insertSessionCell, j.scope, j.id, id); err != nil {
			return explainWrite(err, "adopted cell %s", id)
		}
	}
	switch {
	case j.c.Head.Status != "":
		return w.exec(upsertStatus, j.scope, j.id, j.c.Head.Status)
	case j.retired:
		return w.exec(deleteStatus, j.scope, j.id)
	}
	return nil
}

// erase deletes the contract, the rewrites and the index entries of a session, if the change
// demands that. It rewrites each index segment that has words of the session or of replaced docs,
// and fails with an ErrCorrupt if one of these segments is damaged.
func (w *writer) erase(j *change) error {
	if !j.c.Erase {
		return nil
	}
	docs, err := column[int64](w.each, selectSessionDocs, j.scope, j.id)
	if err != nil {
		return err
	}
	if err := errors.Join(w.addFresh(), w.sweepSegments(j.scope, docs)); err != nil {
		return err
	}
	j.total.statements, j.total.rewrites = imprint{}, imprint{}
	for _, query := range []string{deleteDocs, deleteStatements, deleteRewrites} {
		if err := w.exec(query, j.scope, j.id); err != nil {
			return err
		}
	}
	return nil
}

// Brought implements [store.Cells].
func (s *database) Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	return inView(ctx, s, func(v view) ([]store.CellID, error) {
		return column[store.CellID](v.each, selectSessionCells, scope, id)
	})
}
