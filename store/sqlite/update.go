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

// An update is a [store.Update] that waits to be written.
type update struct {
	ctx   context.Context
	scope governance.Scope
	u     *store.Update
	words []string                 // for each entry of u.Index, the result of indexWords
	found map[store.ArtifactID]int // positions in u.Index

	base      int64                      // key of the scope
	version   int64                      // new version
	docs      map[store.ArtifactID]int64 // keys of the written artifacts
	unindexed map[int64]bool             // keys of new artifacts that are not yet in the index
}

// Update implements [store.Artifacts]. Once the writer has begun to write an update, it completes
// the update even if ctx ends.
//
// When Update returns, no file of the database has the purged text, with one exception: while
// another connection reads an older state, the log (-wal) may keep the text until a later update
// or until the store is closed.
func (s *database) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := errors.Join(ctx.Err(), u.Validate()); err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	j := &update{ctx: ctx, scope: scope, u: u, docs: make(map[store.ArtifactID]int64, len(u.Artifacts)), unindexed: make(map[int64]bool), found: make(map[store.ArtifactID]int, len(u.Index))}
	for i := range u.Index {
		j.words = append(j.words, indexWords(scope, u.Index[i].Text)) // computed here, so that the writer does not wait for it
		j.found[u.Index[i].Artifact] = i
	}
	err := s.submit(&job{
		ctx:    ctx,
		write:  func(w *writer) error { return w.update(j) },
		size:   sizeOf(u.Cells, j.words),
		rows:   len(u.Cells) + len(u.Edges) + len(u.Artifacts) + len(u.Index) + len(u.Purge),
		purges: len(u.Purge) > 0,
	})
	if err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, s.explain(err))
	}
	return store.Version(j.version), nil
}

// update writes an update. If it fails, its caller rolls back.
func (w *writer) update(j *update) error {
	added := int64(0)
	for i := range j.u.Artifacts {
		if j.u.Artifacts[i].At == 0 {
			added++
		}
	}
	if err := w.fence(j.ctx, j.scope); err != nil {
		return err
	}
	var seq int64
	if err := w.row(nextVersion, []any{j.scope, added}, &j.base, &j.version, &seq); err != nil {
		return err
	}
	if err := w.exec(upsertScopeTotal, j.scope, j.base, j.version, seq); err != nil {
		return err
	}
	e := &j.u.Entry
	own := logImprint(j.key(), e)
	err := w.exec(insertLog, j.key(), e.ID, e.Op, e.Actor, e.Time.UnixMilli(), document(e.Data), own.blob())
	if err != nil {
		return explainWrite(err, "entry %s", e.ID)
	}
	if err := w.addText(j.ctx, j.scope, j.u.Cells, j.u.Edges); err != nil {
		return err
	}
	seq -= added
	for i := range j.u.Artifacts {
		a := &j.u.Artifacts[i]
		if a.At == 0 {
			seq++
		}
		if err := w.updateArtifact(j, a, j.base+seq); err != nil {
			return err
		}
	}
	for _, part := range []func(*update) error{w.purge, w.indexArtifacts, w.addManifest, w.addOutcome} {
		if err := part(j); err != nil {
			return err
		}
	}
	return j.ctx.Err()
}

// key returns the key of the new version.
func (j *update) key() int64 { return j.base + j.version }

// updateArtifact writes an artifact. The parameter doc is the key for the artifact if it is new.
func (w *writer) updateArtifact(j *update, a *store.Write, doc int64) (err error) {
	var expires any // NULL: never
	if !a.Expires.IsZero() {
		expires = a.Expires.UnixMilli()
	}
	held := int64(0)
	if a.At != 0 {
		if err = w.row(selectReplaced, []any{j.base, a.ID, j.base + int64(a.At)}, &doc, &held); errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("artifact %s: not at version %d: %w", a.ID, a.At, store.ErrConflict)
		} else if err != nil {
			return err
		}
	}
	if err := w.countHeld(j, &a.Artifact, held); err != nil {
		return err
	}
	own := artifactImprint(doc, j.key(), &a.Artifact)
	args := []any{
		doc, a.ID, j.key(), a.Class, a.Status, a.Pinned, a.Content, a.About, a.Bytes, a.Tokens,
		a.Encoding, a.Source, a.Created.UnixMilli(), a.Updated.UnixMilli(), expires, a.Address, document(a.Gate), own.blob(),
	}
	if a.At == 0 {
		err = w.exec(insertArtifact, append(args, j.scope, j.sumOf(a.ID))...)
		j.unindexed[doc] = true
	} else {
		err = w.exec(updateArtifact, args...)
	}
	if isTaken(err) {
		return fmt.Errorf("artifact %s: not at version %d: %w", a.ID, a.At, store.ErrConflict)
	}
	j.docs[a.ID] = doc
	return explainWrite(err, "artifact %s with cells %s and %s", a.ID, a.Content, a.About)
}

// sumOf returns the checksum of the words of an artifact in the update's index entries, or NULL if
// it has no entry.
func (j *update) sumOf(id store.ArtifactID) any {
	if i, ok := j.found[id]; ok {
		return fieldSum(j.words[i])
	}
	return nil
}

// countHeld updates the number of held artifacts of the scope after the artifact a was written. The
// parameter was is 1 if the artifact was held before, and otherwise 0.
func (w *writer) countHeld(j *update, a *store.Artifact, was int64) error {
	if a.Status == store.StatusHeld {
		was--
	}
	if was == 0 {
		return nil
	}
	return w.exec(addHeld, j.base, -was)
}

// doc returns the key of an artifact, or ErrNotFound.
func (w *writer) doc(j *update, id store.ArtifactID) (int64, error) {
	if doc, ok := j.docs[id]; ok {
		return doc, nil
	}
	doc, err := w.number(selectDocOf, j.base, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return doc, err
}

// purge erases the cells that the update purges, and the index entries of artifacts with their
// content.
func (w *writer) purge(j *update) error {
	for _, id := range j.u.Purge {
		row := cellRow{state: cellPurged}
		err := w.row(selectCommitment, []any{j.scope, id}, &row.kind, (*[]byte)(&row.commitment))
		if errors.Is(err, sql.ErrNoRows) {
			err = store.ErrNotFound
		}
		if err == nil {
			own := cellImprint(j.scope, &row, id)
			err = errors.Join(w.exec(purgeCell, j.scope, id, own.blob()), w.exec(loosenBlob, j.scope, id), w.exec(deleteCellBlob, j.scope, id))
		}
		if err != nil {
			return fmt.Errorf("purge of cell %s: %w", id, err)
		}
		docs, err := column[int64](w.each, selectContents, j.base, id)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			if err := w.exec(setArtifactWords, doc, 0); err != nil {
				return err
			}
			w.later(deleteArtifactWords, doc)
		}
	}
	return nil
}

// indexArtifacts writes the index entries of the update. FTS5 removes deleted words from the file
// only when it rewrites the index, so an update that purges demands that.
func (w *writer) indexArtifacts(j *update) error {
	for i, e := range j.u.Index {
		doc, err := w.doc(j, e.Artifact)
		if err != nil {
			return fmt.Errorf("index entry of artifact %s: %w", e.Artifact, err)
		}
		if !j.unindexed[doc] || len(j.u.Purge) > 0 { // otherwise updateArtifact has written the sum
			if err := w.exec(setArtifactWords, doc, fieldSum(j.words[i])); err != nil {
				return err
			}
		}
		switch {
		case j.words[i] == "":
			w.later(deleteArtifactWords, doc)
		case j.unindexed[doc]:
			w.later(insertArtifactWords, doc, j.words[i])
		default:
			w.later(replaceArtifactWords, doc, j.words[i])
		}
		delete(j.unindexed, doc)
	}
	if len(j.u.Purge) > 0 {
		w.later(optimizeArtifactWords)
	}
	return nil
}

func (w *writer) addManifest(j *update) error {
	m := j.u.Manifest
	if m == nil {
		return nil
	}
	err := w.exec(insertManifest, j.key(), m.ID, m.Session, m.Created.UnixMilli(), m.Format, m.Tier,
		m.Budget, m.Total, m.Seal[:], blob(m.Body))
	if err != nil {
		return explainWrite(err, "manifest %s", m.ID)
	}
	docs := make([]int64, len(m.Uses))
	for i, id := range m.Uses {
		if docs[i], err = w.number(insertUse, j.key(), i, id); errors.Is(err, sql.ErrNoRows) {
			err = store.ErrNotFound
		}
		if err != nil {
			return explainWrite(err, "manifest %s: artifact %s", m.ID, id)
		}
	}
	own, body, uses := manifestImprint(j.key(), m), bodyImprint(j.key(), m.Body), usesImprint(j.key(), docs, m.Uses)
	if err := w.exec(insertManifestImprint, j.key(), own.blob(), body.blob(), uses.blob()); err != nil {
		return err
	}
	return w.exec(countToScope, j.base)
}

func (w *writer) addOutcome(j *update) error {
	o := j.u.Outcome
	if o == nil {
		return nil
	}
	manifest, err := w.number(selectManifestKey, j.base, o.Manifest)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("outcome of manifest %s: %w", o.Manifest, err)
	}
	own := outcomeImprint(j.key(), manifest, o)
	err = w.exec(insertOutcome, j.key(), manifest, o.Actor, o.Time.UnixMilli(), document(o.Data), own.blob())
	if err != nil {
		return err
	}
	return w.exec(countOutcome, manifest)
}

// timeOf returns the time of a column in milliseconds.
func timeOf(millis int64) time.Time { return time.UnixMilli(millis).UTC() }
