package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// placeMask selects the position (the low 40 bits) of a key; the number of the scope is above it.
const placeMask = 1<<40 - 1

// A scopeRow is the row of a scope.
type scopeRow struct {
	base      int64 // key of the scope: its number << 40; 0 if the scope has had no update
	version   store.Version
	seq       int64 // position of the last artifact
	held      int   // number of held artifacts
	manifests int   // number of manifests
}

// scope returns the row of a scope, zero if the scope has had no update. It fails if the row
// does not match the copy in scope_total.
func (v view) scope(scope governance.Scope) (r scopeRow, err error) {
	var num, total, version, seq int64
	err = v.row(selectScope, []any{scope}, &num, &r.version, &r.seq, &total, &version, &seq, &r.held, &r.manifests)
	if err == nil && (num != total || int64(r.version) != version || r.seq != seq) {
		err = damaged("scope %s", scope)
	}
	r.base = num << 40
	return r, err
}

// within calls f with a view and the row of a scope. It does not call f if the scope has had no
// update.
func (s *database) within(ctx context.Context, scope governance.Scope, f func(v view, r scopeRow) error) error {
	return s.view(ctx, func(v view) error {
		r, err := v.scope(scope)
		if err != nil || r.base == 0 {
			return err
		}
		return f(v, r)
	})
}

// list yields the values that f emits for a scope; none if the scope has had no update.
func list[T any](ctx context.Context, s *database, scope governance.Scope, f func(v view, r scopeRow, emit func(T) error) error) iter.Seq2[T, error] {
	return stream(ctx, s, func(v view, emit func(T) error) error {
		r, err := v.scope(scope)
		if err != nil || r.base == 0 {
			return err
		}
		return f(v, r, emit)
	})
}

// Version implements [store.Artifacts].
func (s *database) Version(ctx context.Context, scope governance.Scope) (store.Version, error) {
	r, err := inSingle(ctx, s, func(v view) (scopeRow, error) { return v.scope(scope) })
	return r.version, err
}

// Artifacts implements [store.Artifacts].
func (s *database) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return list(ctx, s, scope, func(v view, r scopeRow, emit func(*store.Artifact) error) error {
		if after <= 0 {
			return v.allArtifacts(scope, r, emit)
		}
		if after >= placeMask {
			return nil
		}
		return v.artifacts(emit, selectArtifactsAfter, r.base+int64(after))
	})
}

// allArtifacts emits the artifacts of a scope. If some are missing, it fails after the last.
func (v view) allArtifacts(scope governance.Scope, r scopeRow, emit func(*store.Artifact) error) error {
	seen := int64(0)
	err := v.artifacts(func(a *store.Artifact) error {
		seen++
		return emit(a)
	}, selectArtifacts, r.base, -1)
	if err == nil && seen != r.seq {
		err = damaged("the list of artifacts of scope %s", scope)
	}
	return err
}

// artifacts emits the artifacts of a query, each checked against its imprint.
func (v view) artifacts(emit func(*store.Artifact) error, query string, args ...any) error {
	return v.each(func(rows *sql.Rows) error {
		a, own, err := readArtifact(rows)
		if err != nil {
			return fmt.Errorf("artifact %s: %w", a.ID, err)
		}
		if !same(artifactImprint(a.Seq, int64(a.Version), a), own) {
			return damaged("artifact %s", a.ID)
		}
		a.Seq &= placeMask
		a.Version &= placeMask
		return emit(a)
	}, query, args...)
}

// readArtifact returns the artifact in a row with its stored imprint. Seq and Version of the
// artifact are the stored keys, from which the caller must remove the number of the scope.
func readArtifact(rows *sql.Rows) (_ *store.Artifact, own imprint, _ error) {
	a := new(store.Artifact)
	var created, updated int64
	var expires sql.NullInt64
	err := rows.Scan(&a.Seq, &a.ID, &a.Version, &a.Class, &a.Status, (*flag)(&a.Pinned), &a.Content, &a.About, &a.Bytes, &a.Tokens,
		&a.Encoding, &a.Source, &created, &updated, &expires, &a.Address, (*[]byte)(&a.Gate), &own)
	a.Created, a.Updated = timeOf(created), timeOf(updated)
	if expires.Valid {
		a.Expires = timeOf(expires.Int64)
	}
	return a, own, err
}

// Pick implements [store.Artifacts].
func (s *database) Pick(ctx context.Context, scope governance.Scope, p *store.Pick, limit int) (picked []store.Artifact, err error) {
	limit = max(0, limit)
	err = s.within(ctx, scope, func(v view, r scopeRow) error {
		base := r.base
		emit := func(a *store.Artifact) error {
			picked = append(picked, *a)
			return ctx.Err()
		}
		switch {
		case p.Cells != nil:
			return v.pickCells(emit, base, p.Cells, limit)
		case p.Seqs != nil:
			return v.pickDocs(emit, docsAt(base, p.Seqs))
		case p.Status == store.StatusLive:
			return v.artifacts(emit, pickLive, base, limit)
		case p.Status != "":
			err := v.artifacts(emit, pickStatus, base, limit, p.Status)
			if err == nil && p.Status == store.StatusHeld && len(picked) != min(limit, r.held) {
				err = damaged("the list of held artifacts of scope %s", scope)
			}
			return err
		case p.Address != "":
			return v.artifacts(emit, pickAddress, base, limit, p.Address)
		case p.Prefix != "":
			return v.artifacts(emit, pickPrefix, base, limit, p.Prefix, after(p.Prefix))
		default:
			return v.artifacts(emit, selectArtifacts, base, limit)
		}
	})
	if err != nil {
		return nil, err
	}
	return picked[:min(limit, len(picked))], nil
}

// pickCells emits the artifacts whose content is one of the cells, at most limit.
func (v view) pickCells(emit func(*store.Artifact) error, base int64, cells []store.CellID, limit int) error {
	var docs []int64
	for _, id := range cells {
		found, err := column[int64](v.each, selectContents, base, id)
		if err != nil {
			return err
		}
		docs = append(docs, found...)
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	return v.pickDocs(emit, docs[:min(limit, len(docs))])
}

// docsAt returns the keys of the artifacts at the given positions of a scope, each once, in order.
// It drops positions out of range.
func docsAt(base int64, seqs []int64) (docs []int64) {
	for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if 0 < seq && seq <= placeMask {
			docs = append(docs, base+seq)
		}
	}
	return docs
}

// pickDocs emits the artifacts with the given keys. It skips the keys of artifacts that do not
// exist.
func (v view) pickDocs(emit func(*store.Artifact) error, docs []int64) error {
	for _, doc := range docs {
		if err := v.artifacts(emit, selectArtifact, doc); err != nil {
			return err
		}
	}
	return nil
}

// Hits implements [store.Artifacts].
func (s *database) Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) (hits []int64, err error) {
	err = s.within(ctx, scope, func(v view, r scopeRow) error {
		mark := mark(scope)
		hits, err = store.FindHits(terms, limit, r.seq, func(words []string, after int64, most int) ([]int64, error) {
			match := `"` + mark + strings.Join(words, `" AND "`+mark) + `"`
			return v.places(match, r.base, after, most)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// places returns the positions of the newest artifacts that match the FTS5 query in match and have
// a position greater than after. It returns at most as many as most says.
func (v view) places(match string, base, after int64, most int) (places []int64, err error) {
	var list string
	if err := v.row(selectHits, []any{match, base + after, base | placeMask, most}, &list); err != nil || list == "" {
		return nil, err
	}
	for s := range strings.SplitSeq(list, ",") {
		place, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	return places, nil
}

// Manifest implements [store.Ledger].
func (s *database) Manifest(ctx context.Context, scope governance.Scope, id string) (m *store.Manifest, err error) {
	err = s.within(ctx, scope, func(v view, r scopeRow) error {
		return v.each(func(rows *sql.Rows) (err error) {
			m, err = v.manifest(rows)
			return err
		}, selectManifest, r.base, id)
	})
	if err == nil && m == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", id, err)
	}
	return m, nil
}

// manifest returns the manifest in a row with its body, uses and outcomes.
func (v view) manifest(rows *sql.Rows) (*store.Manifest, error) {
	var body []byte
	var bodyPrint, usesPrint imprint
	m, outcomes, err := scanManifest(rows, &body, &bodyPrint, &usesPrint)
	if err != nil {
		return nil, err
	}
	key := int64(m.Version)
	m.Version &= placeMask
	m.Body = body
	var docs []int64
	err = v.each(collectUses(&docs, &m.Uses), selectUses, key)
	if err != nil {
		return nil, err
	}
	if !same(bodyImprint(key, body), bodyPrint) || !same(usesImprint(key, docs, m.Uses), usesPrint) {
		return nil, damaged("manifest %s", m.ID)
	}
	err = v.each(func(rows *sql.Rows) error {
		o, err := scanOutcome(m.ID, key, rows)
		m.Made = append(m.Made, o)
		return err
	}, selectOutcomes, key)
	if err == nil && len(m.Made) != outcomes {
		err = damaged("the list of outcomes of manifest %s", m.ID)
	}
	return m, err
}

// collectUses returns a function that appends the key and the id of the artifact in a row to *docs
// and *ids.
func collectUses(docs *[]int64, ids *[]store.ArtifactID) func(rows *sql.Rows) error {
	return func(rows *sql.Rows) error {
		var doc int64
		var id store.ArtifactID
		err := rows.Scan(&doc, &id)
		*docs, *ids = append(*docs, doc), append(*ids, id)
		return err
	}
}

// scanOutcome returns the outcome in a row and checks its imprint.
func scanOutcome(manifest string, key int64, rows *sql.Rows) (store.ContextOutcome, error) {
	o := store.ContextOutcome{Manifest: manifest}
	var millis int64
	var own imprint
	if err := rows.Scan(&o.Version, &o.Actor, &millis, (*[]byte)(&o.Data), &own); err != nil {
		return o, err
	}
	o.Time = timeOf(millis)
	if !same(outcomeImprint(int64(o.Version), key, &o), own) {
		return o, damaged("an outcome of manifest %s", manifest)
	}
	o.Version &= placeMask
	return o, nil
}

// scanManifest returns the manifest in a row and its number of outcomes, and checks its imprint.
// Version of the manifest is the stored key, from which the caller must remove the number of the
// scope.
func scanManifest(rows *sql.Rows, more ...any) (*store.Manifest, int, error) {
	m, own, outcomes, err := readManifest(rows, more...)
	if err == nil && !same(manifestImprint(int64(m.Version), m), own) {
		err = damaged("manifest %s", m.ID)
	}
	if err != nil {
		return nil, 0, err
	}
	return m, outcomes, nil
}

func readManifest(rows *sql.Rows, more ...any) (_ *store.Manifest, own imprint, outcomes int, _ error) {
	var m store.Manifest
	var created int64
	var seal sql.RawBytes // valid until the next row
	dest := append([]any{&m.ID, &m.Version, &m.Session, &created, &m.Format, &m.Tier, &m.Budget, &m.Total, &seal, &own, &outcomes}, more...)
	err := rows.Scan(dest...)
	if err == nil && len(seal) != digest.Size {
		err = fmt.Errorf("manifest %s: its seal has %d bytes: %w", m.ID, len(seal), store.ErrCorrupt)
	}
	if err != nil {
		return nil, own, 0, err
	}
	m.Created, m.Seal = timeOf(created), digest.Digest(seal)
	return &m, own, outcomes, nil
}

// Manifests implements [store.Ledger].
func (s *database) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return list(ctx, s, scope, func(v view, r scopeRow, emit func(*store.Manifest) error) error {
		all, err := v.manifests(scope, r, session)
		return emitAll(all, err, emit)
	})
}

// manifests returns the manifests of a scope, or those of session if it is not empty, newest
// first. It always reads all manifests of the scope, because only their number is recorded: a
// lost one would not be noticed otherwise.
func (v view) manifests(scope governance.Scope, r scopeRow, session transcript.SessionID) (all []*store.Manifest, err error) {
	seen := 0
	err = v.each(func(rows *sql.Rows) error {
		m, _, err := scanManifest(rows)
		if err != nil {
			return err
		}
		m.Version &= placeMask
		seen++
		if session == "" || m.Session == session {
			all = append(all, m)
		}
		return nil
	}, selectManifests, r.base)
	if err == nil && seen != r.manifests {
		err = damaged("the list of manifests of scope %s", scope)
	}
	return all, err
}

// Users implements [store.Ledger].
func (s *database) Users(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) (users []string, err error) {
	found := make(map[int64]string) // by key
	err = s.within(ctx, scope, func(v view, r scopeRow) error {
		for _, id := range ids {
			err := v.each(func(rows *sql.Rows) error {
				var key int64
				var manifest string
				err := rows.Scan(&key, &manifest)
				found[key] = manifest
				return err
			}, selectUsers, r.base, id)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		users = append(users, found[key])
	}
	return users, nil
}

// Log implements [store.Ledger].
func (s *database) Log(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	return list(ctx, s, scope, func(v view, r scopeRow, emit func(*store.Entry) error) error {
		entries, err := v.log(r, max(0, min(after, placeMask)))
		return emitAll(entries, err, emit)
	})
}

// log returns the log of a scope after a version.
func (v view) log(r scopeRow, after store.Version) ([]*store.Entry, error) {
	return v.entries(store.Revision(after), store.Revision(r.version), func(e *store.Entry) imprint {
		return logImprint(int64(e.Revision), e)
	}, selectLog, r.base+int64(after), r.base)
}
