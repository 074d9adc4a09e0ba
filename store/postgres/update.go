package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

const (
	nextVersion = `
		INSERT INTO version (scope, version, seq) VALUES ($1, 1, $2)
		ON CONFLICT (scope) DO UPDATE SET version = version.version + 1, seq = version.seq + $2 RETURNING version, seq`
	selectVersionOf = `SELECT version FROM log WHERE scope = $1 AND entry_id = $2 AND mark = $3`
	selectPlaces    = `SELECT artifact_id, seq, version FROM artifact WHERE scope = $1 AND artifact_id = ANY ($2)`
	selectCellsOf   = `SELECT cell_id FROM cell WHERE scope = $1 AND cell_id = ANY ($2)`
	selectContents  = `SELECT seq FROM artifact WHERE scope = $1 AND content = ANY ($2)`
	selectManifestV = `SELECT version FROM manifest WHERE scope = $1 AND manifest_id = $2`

	insertLog = `INSERT INTO log (scope, version, entry_id, op, actor, time, data, mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	insertArtifact = `
		INSERT INTO artifact (scope, seq, artifact_id, version, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`
	updateArtifact = `
		UPDATE artifact SET version = $4, class = $5, status = $6, pinned = $7, content = $8, about = $9, bytes = $10, tokens = $11,
			encoding = $12, source = $13, created = $14, updated = $15, expires = $16, address = $17, gate = $18
		WHERE scope = $1 AND seq = $2 AND artifact_id = $3`

	purgeCells = `UPDATE cell SET state = 'purged', salt = NULL, body = NULL WHERE scope = $1 AND cell_id = ANY ($2)`

	// An update first deletes the old words of artifacts, then inserts the new ones.
	deleteWords = `
		DELETE FROM artifact_word w USING (
			SELECT seq, unnest(words) AS word FROM artifact_words WHERE scope = $1 AND seq = ANY ($2)
		) AS old
		WHERE scope = $1 AND w.word = old.word AND w.seq = old.seq`
	deleteWordLists = `DELETE FROM artifact_words WHERE scope = $1 AND seq = ANY ($2)`
	insertWords     = `INSERT INTO artifact_word (scope, word, seq) SELECT $1, word, $2 FROM unnest($3::bytea[]) AS w (word)`
	insertWordList  = `INSERT INTO artifact_words (scope, seq, words) VALUES ($1, $2, $3)`

	insertManifest = `
		INSERT INTO manifest (scope, version, manifest_id, session_id, created, format, tier, budget, total, seal, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	insertUses = `
		INSERT INTO manifest_use (scope, version, ord, seq)
		SELECT $1, $2, n - 1, seq FROM unnest($3::bigint[]) WITH ORDINALITY AS u (seq, n)`
	insertOutcome = `INSERT INTO outcome (scope, version, manifest, actor, time, data) VALUES ($1, $2, $3, $4, $5, $6)`
)

// An update has a [store.Update] and the values for one attempt to write it.
type update struct {
	scope governance.Scope
	u     *store.Update
	words [][][]byte // for each entry of u.Index, the result of wordsOf

	version  int64                      // new version
	places   map[store.ArtifactID]int64 // positions of all artifacts that the update names
	versions map[store.ArtifactID]int64 // versions of those of these artifacts that exist
	contents []int64                    // positions of artifacts whose content is purged
	manifest int64                      // version of the manifest of the outcome
	there    map[store.CellID]bool      // has those of the cells to purge that exist
}

// Update implements [store.Artifacts].
func (s *database) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := errors.Join(ctx.Err(), u.Validate()); err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	words := make([][][]byte, len(u.Index))
	for i := range u.Index {
		words[i] = wordsOf(u.Index[i].Text)
	}
	var version int64
	err := s.write(ctx, scope, func(t *tx) error {
		j := &update{scope: scope, u: u, words: words}
		err := t.update(j)
		version = j.version
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	return store.Version(version), nil
}

// longWord is the length in bytes above which the index has the digest of a word instead of the
// word, because PostgreSQL limits the length of keys.
const longWord = 64

// wordOf returns a word in the form of the index: the word, or its digest if it is long.
func wordOf(word string) []byte {
	if len(word) <= longWord {
		return []byte(word)
	}
	sum := sha256.Sum256([]byte(word))
	return append([]byte(" "), sum[:]...) // no word begins with a space
}

// wordsOf returns the words of a text in the form of the index, each once, in order.
func wordsOf(text string) [][]byte {
	seen := make(map[string]bool)
	for word := range store.Words(text) {
		seen[string(wordOf(word))] = true
	}
	return raws(slices.Sorted(maps.Keys(seen)))
}

// update adds the statements that write an update.
func (t *tx) update(j *update) error {
	if err := t.look(j); err != nil {
		return err
	}
	e := &j.u.Entry
	t.do(about("entry %s", e.ID), insertEntryName, raw(j.scope), raw(e.ID))
	t.do(about("entry %s", e.ID), insertLog, raw(j.scope), j.version, raw(e.ID), raw(e.Op), raw(e.Actor), millis(e.Time), []byte(e.Data), t.mark)
	t.addCells(j.scope, j.u.Cells)
	t.addEdges(j.scope, j.u.Edges)
	for i := range j.u.Artifacts {
		t.updateArtifact(j, &j.u.Artifacts[i])
	}
	for _, part := range []func(*update) error{t.purge, t.indexArtifacts, t.addManifest, t.addOutcome} {
		if err := part(j); err != nil {
			return err
		}
	}
	return nil
}

// look locks the version of the scope and reads the records that the update names. It fails if the
// update conflicts with them, and returns errMade if an earlier attempt has already written the
// update.
func (t *tx) look(j *update) error {
	added, seq, made := int64(0), int64(0), int64(0)
	names := make(map[store.ArtifactID]bool)
	for i := range j.u.Artifacts {
		if names[j.u.Artifacts[i].ID] = true; j.u.Artifacts[i].At == 0 {
			added++
		}
	}
	for i := range j.u.Index {
		names[j.u.Index[i].Artifact] = true
	}
	exists := int64(0)
	if m := j.u.Manifest; m != nil {
		for _, id := range m.Uses {
			names[id] = true
		}
		t.row(selectManifestV, args(raw(j.scope), raw(m.ID)), &exists)
	}
	t.row(nextVersion, args(raw(j.scope), added), &j.version, &seq)
	if t.again {
		t.row(selectVersionOf, args(raw(j.scope), raw(j.u.Entry.ID), t.mark), &made)
	}
	repeated, fenced, taken := t.claim(j.scope), t.fence(j.scope), t.takeBlobs(j.scope, j.u.Cells)
	j.places, j.versions, j.there = make(map[store.ArtifactID]int64), make(map[store.ArtifactID]int64), make(map[store.CellID]bool)
	t.rows(func(rows pgx.Rows) error {
		var id store.ArtifactID
		var place, version int64
		err := rows.Scan(to(&id), &place, &version)
		j.places[id], j.versions[id] = place, version
		return err
	}, selectPlaces, raw(j.scope), raws(slices.Sorted(maps.Keys(names))))
	if len(j.u.Purge) > 0 {
		var there []store.CellID
		t.rows(column(&there), selectCellsOf, raw(j.scope), raws(j.u.Purge))
		t.rows(numbers(&j.contents), selectContents, raw(j.scope), raws(j.u.Purge))
		defer func() {
			for _, id := range there {
				j.there[id] = true
			}
		}()
	}
	if j.u.Outcome != nil {
		t.row(selectManifestV, args(raw(j.scope), raw(j.u.Outcome.Manifest)), &j.manifest)
	}
	if err := t.flush(); err != nil {
		return err
	}
	if made > 0 {
		j.version = made
		return errMade
	}
	if err := errors.Join(repeated(), fenced()); err != nil {
		return err
	}
	if exists > 0 {
		return fmt.Errorf("manifest %s already exists", j.u.Manifest.ID)
	}
	return errors.Join(j.admit(seq-added), taken())
}

// admit fails with ErrConflict if an artifact is not at the version that the update states. It
// gives new artifacts the next positions after the position last.
func (j *update) admit(last int64) error {
	for i := range j.u.Artifacts {
		a := &j.u.Artifacts[i]
		if store.Version(j.versions[a.ID]) != a.At {
			return fmt.Errorf("artifact %s: not at version %d: %w", a.ID, a.At, store.ErrConflict)
		}
		if a.At == 0 {
			last++
			j.places[a.ID] = last
		}
	}
	return nil
}

// updateArtifact adds a statement that writes an artifact.
func (t *tx) updateArtifact(j *update, a *store.Write) {
	sql := updateArtifact
	if a.At == 0 {
		sql = insertArtifact
	}
	t.do(about("artifact %s with cells %s and %s", a.ID, a.Content, a.About), sql,
		raw(j.scope), j.places[a.ID], raw(a.ID), j.version, a.Class, a.Status, a.Pinned, raw(a.Content), raw(a.About), a.Bytes, a.Tokens,
		raw(a.Encoding), raw(a.Source), millis(a.Created), millis(a.Updated), maybeMillis(a.Expires), raw(a.Address), []byte(a.Gate))
}

// purge adds statements that erase cells, and the index entries of artifacts with their content.
func (t *tx) purge(j *update) error {
	if len(j.u.Purge) == 0 {
		return nil
	}
	for i := range j.u.Cells {
		j.there[j.u.Cells[i].ID] = true
	}
	gone := make(map[store.CellID]bool, len(j.u.Purge))
	for _, id := range j.u.Purge {
		if !j.there[id] {
			return fmt.Errorf("purge of cell %s: %w", id, store.ErrNotFound)
		}
		gone[id] = true
	}
	t.do("purge", purgeCells, raw(j.scope), raws(j.u.Purge))
	t.do("purge", loosenBlobs, raw(j.scope), raws(j.u.Purge))
	t.do("purge", deleteCellBlobs, raw(j.scope), raws(j.u.Purge))
	written := make(map[int64]bool, len(j.u.Artifacts))
	var unindexed []int64
	for i := range j.u.Artifacts {
		a := &j.u.Artifacts[i]
		written[j.places[a.ID]] = true
		if gone[a.Content] {
			unindexed = append(unindexed, j.places[a.ID])
		}
	}
	for _, place := range j.contents {
		if !written[place] {
			unindexed = append(unindexed, place)
		}
	}
	t.forget(j, unindexed)
	return nil
}

// forget adds statements that delete the index entries of the artifacts at the given positions.
func (t *tx) forget(j *update, places []int64) {
	if len(places) > 0 {
		t.do("words", deleteWords, raw(j.scope), places)
		t.do("words", deleteWordLists, raw(j.scope), places)
	}
}

// indexArtifacts adds statements that write the index entries of the update.
func (t *tx) indexArtifacts(j *update) error {
	var old []int64
	for _, e := range j.u.Index {
		place, ok := j.places[e.Artifact]
		if !ok {
			return fmt.Errorf("index entry of artifact %s: %w", e.Artifact, store.ErrNotFound)
		}
		if j.versions[e.Artifact] > 0 {
			old = append(old, place)
		}
	}
	t.forget(j, old)
	last := make(map[store.ArtifactID]int, len(j.u.Index)) // the last entry of an artifact counts
	for i, e := range j.u.Index {
		last[e.Artifact] = i
	}
	for i, e := range j.u.Index {
		if last[e.Artifact] == i && len(j.words[i]) > 0 {
			t.do(about("words of artifact %s", e.Artifact), insertWords, raw(j.scope), j.places[e.Artifact], j.words[i])
			t.do(about("words of artifact %s", e.Artifact), insertWordList, raw(j.scope), j.places[e.Artifact], j.words[i])
		}
	}
	return nil
}

func (t *tx) addManifest(j *update) error {
	m := j.u.Manifest
	if m == nil {
		return nil
	}
	t.do(about("manifest %s", m.ID), insertManifest, raw(j.scope), j.version, raw(m.ID), raw(m.Session), millis(m.Created),
		raw(m.Format), m.Tier, m.Budget, m.Total, m.Seal[:], whole(m.Body))
	places := make([]int64, len(m.Uses))
	for i, id := range m.Uses {
		place, ok := j.places[id]
		if !ok {
			return fmt.Errorf("manifest %s: artifact %s: %w", m.ID, id, store.ErrNotFound)
		}
		places[i] = place
	}
	if len(places) > 0 {
		t.do(about("manifest %s", m.ID), insertUses, raw(j.scope), j.version, places)
	}
	return nil
}

func (t *tx) addOutcome(j *update) error {
	o := j.u.Outcome
	if o == nil {
		return nil
	}
	if j.u.Manifest != nil && j.u.Manifest.ID == o.Manifest {
		j.manifest = j.version
	}
	if j.manifest == 0 {
		return fmt.Errorf("outcome of manifest %s: %w", o.Manifest, store.ErrNotFound)
	}
	t.do("outcome", insertOutcome, raw(j.scope), j.version, j.manifest, raw(o.Actor), millis(o.Time), []byte(o.Data))
	return nil
}
