package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	selectVersion = `SELECT version, seq FROM version WHERE scope = $1`

	artifactColumns = `
		SELECT seq, artifact_id, version, class, status, pinned, content, about, bytes, tokens,
			encoding, source, created, updated, expires, address, gate
		FROM artifact WHERE scope = $1 `
	selectArtifacts = artifactColumns + `AND version > $2 ORDER BY seq`

	pickAll     = artifactColumns + `ORDER BY seq LIMIT $2`
	pickFrom    = artifactColumns + `AND artifact_id >= $3 ORDER BY seq LIMIT $2`
	pickAddress = artifactColumns + `AND address = $3 AND address <> '' ORDER BY seq LIMIT $2`
	pickStatus  = artifactColumns + `AND status = $3 AND status <> 'live' ORDER BY seq LIMIT $2`
	pickLive    = artifactColumns + `AND status = 'live' ORDER BY seq LIMIT $2`
	pickCells   = artifactColumns + `AND content = ANY ($3) ORDER BY seq LIMIT $2`
	pickSeqs    = artifactColumns + `AND seq = ANY ($3) ORDER BY seq LIMIT $2`

	// The inner query is an array, so that it is done first. Otherwise the planner may read the
	// whole scope in the order of seq, to stop at the limit.
	pickPrefix = artifactColumns + `AND seq = ANY (
			ARRAY (SELECT seq FROM artifact WHERE scope = $1 AND artifact_id >= $3 AND artifact_id < $4)
		) ORDER BY seq LIMIT $2`

	selectHits = `SELECT seq FROM artifact_word WHERE scope = $1 AND word = $2 AND seq > $3 ORDER BY seq DESC LIMIT $4`

	// The inner query is a value, so that the planner looks up each artifact with the first word.
	// The planner would turn EXISTS into a join and, while it has no statistics of the words, read
	// all rows of the second word for each row of the first.
	selectBoth = `
		SELECT w.seq FROM artifact_word w
		WHERE scope = $1 AND word = $2 AND w.seq > $3
			AND (SELECT true FROM artifact_word v WHERE v.scope = w.scope AND v.word = $5 AND v.seq = w.seq)
		ORDER BY seq DESC LIMIT $4`

	manifestColumns = `SELECT manifest_id, version, session_id, created, format, tier, budget, total, seal`
	selectManifest  = manifestColumns + `, body FROM manifest WHERE scope = $1 AND manifest_id = $2`
	selectManifests = manifestColumns + `, NULL::bytea FROM manifest
		WHERE scope = $1 AND ($2::bytea IS NULL OR session_id = $2) ORDER BY version DESC`
	selectUses = `
		SELECT a.artifact_id FROM manifest m JOIN manifest_use u ON u.scope = m.scope AND u.version = m.version
			JOIN artifact a ON a.scope = u.scope AND a.seq = u.seq
		WHERE m.scope = $1 AND m.manifest_id = $2 ORDER BY u.ord`
	selectOutcomes = `
		SELECT o.version, o.actor, o.time, o.data FROM manifest m JOIN outcome o ON o.scope = m.scope AND o.manifest = m.version
		WHERE m.scope = $1 AND m.manifest_id = $2 ORDER BY o.version`
	selectUsers = `
		SELECT m.manifest_id FROM manifest m
		WHERE m.scope = $1 AND EXISTS (
			SELECT 1 FROM manifest_use u JOIN artifact a ON a.scope = u.scope AND a.seq = u.seq
			WHERE u.scope = m.scope AND u.version = m.version AND a.artifact_id = ANY ($2))
		ORDER BY m.version`
	selectLog = `SELECT version, entry_id, op, actor, time, data FROM log WHERE scope = $1 AND version > $2 ORDER BY version`
)

// Version implements [store.Artifacts].
func (s *database) Version(ctx context.Context, scope governance.Scope) (store.Version, error) {
	return read(ctx, s, scope, func(t *tx) (*store.Version, error) {
		version, seq := new(store.Version), int64(0)
		t.row(selectVersion, args(raw(scope)), version, &seq)
		return version, nil
	})
}

func scanArtifact(rows pgx.Rows) (*store.Artifact, error) {
	a := new(store.Artifact)
	var created, updated int64
	var expires *int64
	err := rows.Scan(&a.Seq, to(&a.ID), &a.Version, &a.Class, &a.Status, &a.Pinned, to(&a.Content), to(&a.About), &a.Bytes, &a.Tokens,
		to(&a.Encoding), to(&a.Source), &created, &updated, &expires, to(&a.Address), (*[]byte)(&a.Gate))
	a.Created, a.Updated, a.Expires = timeOf(created), timeOf(updated), maybeTime(expires)
	return a, err
}

// Artifacts implements [store.Artifacts].
func (s *database) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return list(ctx, s, scope, func(t *tx) (*[]*store.Artifact, error) {
		all := new([]*store.Artifact)
		t.rows(each(all, scanArtifact), selectArtifacts, raw(scope), after)
		return all, nil
	})
}

// Pick implements [store.Artifacts].
func (s *database) Pick(ctx context.Context, scope governance.Scope, p *store.Pick, limit int) ([]store.Artifact, error) {
	sql, values := pickAll, args(raw(scope), max(0, limit))
	switch {
	case p.Cells != nil:
		sql, values = pickCells, append(values, raws(p.Cells))
	case p.Seqs != nil:
		sql, values = pickSeqs, append(values, p.Seqs)
	case p.Status == store.StatusLive:
		sql = pickLive
	case p.Status != "":
		sql, values = pickStatus, append(values, p.Status)
	case p.Address != "":
		sql, values = pickAddress, append(values, raw(p.Address))
	case p.Prefix != "":
		sql, values = pickFrom, append(values, raw(p.Prefix))
		if end := after(p.Prefix); end != nil {
			sql, values = pickPrefix, append(values, end)
		}
	}
	return read(ctx, s, scope, func(t *tx) (*[]store.Artifact, error) {
		picked := new([]store.Artifact)
		t.rows(each(picked, func(rows pgx.Rows) (store.Artifact, error) {
			a, err := scanArtifact(rows)
			return *a, err
		}), sql, values...)
		return picked, nil
	})
}

// Hits implements [store.Artifacts].
func (s *database) Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) ([]int64, error) {
	return read(ctx, s, scope, func(t *tx) (*[]int64, error) {
		version, last := int64(0), int64(0)
		t.row(selectVersion, args(raw(scope)), &version, &last)
		if err := t.flush(); err != nil {
			return nil, err
		}
		hits, err := store.FindHits(terms, limit, last, func(words []string, after int64, most int) (places []int64, err error) {
			if len(words) == 1 {
				t.rows(numbers(&places), selectHits, raw(scope), wordOf(words[0]), after, most)
			} else {
				t.rows(numbers(&places), selectBoth, raw(scope), wordOf(words[0]), after, most, wordOf(words[1]))
			}
			return places, t.flush()
		})
		return &hits, err
	})
}

func scanManifest(rows pgx.Rows) (*store.Manifest, error) {
	var m store.Manifest
	var created int64
	var seal []byte
	err := rows.Scan(to(&m.ID), &m.Version, to(&m.Session), &created, to(&m.Format), &m.Tier, &m.Budget, &m.Total, &seal, &m.Body)
	if err == nil && len(seal) != digest.Size {
		err = fmt.Errorf("manifest %s: its seal has %d bytes: %w", m.ID, len(seal), store.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	m.Created, m.Seal = timeOf(created), digest.Digest(seal)
	return &m, nil
}

// Manifest implements [store.Ledger].
func (s *database) Manifest(ctx context.Context, scope governance.Scope, id string) (*store.Manifest, error) {
	var uses []store.ArtifactID
	var made []store.ContextOutcome
	found, err := read(ctx, s, scope, func(t *tx) (*[]*store.Manifest, error) {
		all := new([]*store.Manifest)
		uses, made = nil, nil
		t.rows(each(all, scanManifest), selectManifest, raw(scope), raw(id))
		t.rows(column(&uses), selectUses, raw(scope), raw(id))
		t.rows(each(&made, func(rows pgx.Rows) (store.ContextOutcome, error) {
			o := store.ContextOutcome{Manifest: id}
			var at int64
			err := rows.Scan(&o.Version, to(&o.Actor), &at, (*[]byte)(&o.Data))
			o.Time = timeOf(at)
			return o, err
		}), selectOutcomes, raw(scope), raw(id))
		return all, nil
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", id, err)
	}
	m := found[0]
	m.Uses, m.Made = uses, made
	return m, nil
}

// Manifests implements [store.Ledger].
func (s *database) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return list(ctx, s, scope, func(t *tx) (*[]*store.Manifest, error) {
		all := new([]*store.Manifest)
		t.rows(each(all, scanManifest), selectManifests, raw(scope), maybe(session))
		return all, nil
	})
}

// Users implements [store.Ledger].
func (s *database) Users(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) ([]string, error) {
	return read(ctx, s, scope, func(t *tx) (*[]string, error) {
		users := new([]string)
		t.rows(column(users), selectUsers, raw(scope), raws(ids))
		return users, nil
	})
}

// Log implements [store.Ledger].
func (s *database) Log(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	return list(ctx, s, scope, func(t *tx) (*[]*store.Entry, error) {
		entries := new([]*store.Entry)
		t.rows(each(entries, scanEntry), selectLog, raw(scope), after)
		return entries, nil
	})
}
