package sqlite

import (
	"context"
	"database/sql"
	"errors"
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

// placeMask takes the place out of a key.
const placeMask = 1<<40 - 1

// scope returns the key of a scope and its version: 0 and 0 for one that never
// saw an update, which is the key of none.
func (v view) scope(scope governance.Scope) (base int64, version store.Version, err error) {
	err = v.row(selectScope, []any{scope}, &base, &version)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return base, version, err
}

// within calls f with a view and the key of a scope, if there is the scope.
func (s *Store) within(ctx context.Context, scope governance.Scope, f func(v view, base int64) error) error {
	return s.view(ctx, func(v view) error {
		base, _, err := v.scope(scope)
		if err != nil || base == 0 {
			return err
		}
		return f(v, base)
	})
}

// list yields what f emits of a scope.
func list[T any](ctx context.Context, s *Store, scope governance.Scope, f func(v view, base int64, emit func(T) error) error) iter.Seq2[T, error] {
	return stream(ctx, s, func(v view, emit func(T) error) error {
		base, _, err := v.scope(scope)
		if err != nil || base == 0 {
			return err
		}
		return f(v, base, emit)
	})
}

// Version implements [store.Artifacts].
func (s *Store) Version(ctx context.Context, scope governance.Scope) (version store.Version, err error) {
	err = s.view(ctx, func(v view) error {
		_, version, err = v.scope(scope)
		return err
	})
	return version, err
}

// Artifacts implements [store.Artifacts].
func (s *Store) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return list(ctx, s, scope, func(v view, base int64, emit func(*store.Artifact) error) error {
		if after <= 0 {
			return v.artifacts(emit, selectArtifacts, base, -1)
		}
		if after >= placeMask {
			return nil
		}
		return v.artifacts(emit, selectArtifactsAfter, base+int64(after))
	})
}

// artifacts emits the artifacts that a query finds.
func (v view) artifacts(emit func(*store.Artifact) error, query string, args ...any) error {
	return v.each(func(rows *sql.Rows) error {
		a := new(store.Artifact)
		var created, updated int64
		var expires sql.NullInt64
		err := rows.Scan(&a.Seq, &a.ID, &a.Version, &a.Class, &a.Status, &a.Pinned, &a.Content, &a.About, &a.Bytes, &a.Tokens,
			&a.Encoding, &a.Source, &created, &updated, &expires, &a.Address, (*[]byte)(&a.Gate))
		if err != nil {
			return err
		}
		a.Seq &= placeMask
		a.Version &= placeMask
		a.Created, a.Updated = timeOf(created), timeOf(updated)
		if expires.Valid {
			a.Expires = timeOf(expires.Int64)
		}
		return emit(a)
	}, query, args...)
}

// Pick implements [store.Artifacts].
func (s *Store) Pick(ctx context.Context, scope governance.Scope, p *store.Pick, limit int) (picked []store.Artifact, err error) {
	limit = max(0, limit)
	err = s.within(ctx, scope, func(v view, base int64) error {
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
			return v.artifacts(emit, pickStatus, base, limit, p.Status)
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

// pickCells emits the artifacts that have one of the cells as their content.
func (v view) pickCells(emit func(*store.Artifact) error, base int64, cells []store.CellID, limit int) error {
	var docs []int64
	for _, id := range cells {
		found, err := v.numbers(selectContents, base, id)
		if err != nil {
			return err
		}
		docs = append(docs, found...)
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	return v.pickDocs(emit, docs[:min(limit, len(docs))])
}

// docsAt returns the docs at some places of a scope, each once, in order.
func docsAt(base int64, seqs []int64) (docs []int64) {
	for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if 0 < seq && seq <= placeMask {
			docs = append(docs, base+seq)
		}
	}
	return docs
}

// pickDocs emits the artifacts with some docs, those that are there.
func (v view) pickDocs(emit func(*store.Artifact) error, docs []int64) error {
	for _, doc := range docs {
		if err := v.artifacts(emit, selectArtifact, doc); err != nil {
			return err
		}
	}
	return nil
}

// numbers runs a query for rows of one number.
func (v view) numbers(query string, args ...any) (all []int64, err error) {
	err = v.each(func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		all = append(all, n)
		return err
	}, query, args...)
	return all, err
}

// Hits implements [store.Artifacts].
func (s *Store) Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) (hits []int64, err error) {
	err = s.within(ctx, scope, func(v view, base int64) error {
		var last int64
		if err := v.row(selectLast, []any{base}, &last); err != nil {
			return err
		}
		mark := mark(scope)
		hits, err = store.FindHits(terms, limit, last, func(words []string, after int64, most int) ([]int64, error) {
			match := `"` + mark + strings.Join(words, `" AND "`+mark) + `"`
			return v.places(match, base, after, most)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// places returns the places of artifacts that match, behind a place: those of
// the newest, so many at most.
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
func (s *Store) Manifest(ctx context.Context, scope governance.Scope, id string) (m *store.Manifest, err error) {
	err = s.within(ctx, scope, func(v view, base int64) error {
		return v.each(func(rows *sql.Rows) (err error) {
			m, err = v.manifest(rows)
			return err
		}, selectManifest, base, id)
	})
	if err == nil && m == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", id, err)
	}
	return m, nil
}

// manifest returns the manifest in a row with a body, with all that goes with it.
func (v view) manifest(rows *sql.Rows) (*store.Manifest, error) {
	var body []byte
	m, err := scanManifest(rows, &body)
	if err != nil {
		return nil, err
	}
	m.Body = body
	key := int64(m.Version)
	m.Version &= placeMask
	err = v.each(func(rows *sql.Rows) error {
		var id store.ArtifactID
		err := rows.Scan(&id)
		m.Uses = append(m.Uses, id)
		return err
	}, selectUses, key)
	if err != nil {
		return nil, err
	}
	return m, v.each(func(rows *sql.Rows) error {
		o := store.Outcome{Manifest: m.ID}
		var millis int64
		if err := rows.Scan(&o.Version, &o.Actor, &millis, (*[]byte)(&o.Data)); err != nil {
			return err
		}
		o.Version &= placeMask
		o.Time = timeOf(millis)
		m.Made = append(m.Made, o)
		return nil
	}, selectOutcomes, key)
}

// scanManifest returns the manifest in a row; its version is its key.
func scanManifest(rows *sql.Rows, more ...any) (*store.Manifest, error) {
	var m store.Manifest
	var created int64
	var seal sql.RawBytes // until the next row
	dest := append([]any{&m.ID, &m.Version, &m.Session, &created, &m.Format, &m.Tier, &m.Budget, &m.Total, &seal}, more...)
	if err := rows.Scan(dest...); err != nil {
		return nil, err
	}
	if len(seal) != digest.Size {
		return nil, fmt.Errorf("manifest %s: its seal has %d bytes: %w", m.ID, len(seal), store.ErrCorrupt)
	}
	m.Created, m.Seal = timeOf(created), digest.Digest(seal)
	return &m, nil
}

// Manifests implements [store.Ledger].
func (s *Store) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return list(ctx, s, scope, func(v view, base int64, emit func(*store.Manifest) error) error {
		query, args := selectManifests, []any{base}
		if session != "" {
			query, args = selectSessionManifests, append(args, session)
		}
		return v.each(func(rows *sql.Rows) error {
			m, err := scanManifest(rows)
			if err != nil {
				return err
			}
			m.Version &= placeMask
			return emit(m)
		}, query, args...)
	})
}

// Users implements [store.Ledger].
func (s *Store) Users(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) (users []string, err error) {
	found := make(map[int64]string) // by key
	err = s.within(ctx, scope, func(v view, base int64) error {
		for _, id := range ids {
			err := v.each(func(rows *sql.Rows) error {
				var key int64
				var manifest string
				err := rows.Scan(&key, &manifest)
				found[key] = manifest
				return err
			}, selectUsers, base, id)
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
func (s *Store) Log(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	return list(ctx, s, scope, func(v view, base int64, emit func(*store.Entry) error) error {
		return v.each(func(rows *sql.Rows) error {
			return emitEntry(rows, emit)
		}, selectLog, base+int64(max(0, min(after, placeMask))), base)
	})
}
