package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Update implements [store.Artifacts].
func (s *database) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := errors.Join(ctx.Err(), u.Validate()); err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.space(scope)
	request, err := s.claim(ctx, scope)
	if err == nil {
		err = s.fence(ctx, scope)
	}
	if err == nil {
		err = sp.admitUpdate(u)
	}
	if err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	version := sp.update(u)
	s.scopes[scope] = sp
	s.record(request)
	return version, nil
}

// admitUpdate returns an error if an update cannot be made. It changes nothing.
func (sp *space) admitUpdate(u *store.Update) error {
	for i := range u.Artifacts {
		if a := &u.Artifacts[i]; a.At != sp.versionOf(a.ID) {
			return fmt.Errorf("artifact %s: not at version %d: %w", a.ID, a.At, store.ErrConflict)
		}
	}
	known, err := sp.admitText(u.Cells, u.Edges, u.Entry.ID)
	if err != nil {
		return err
	}
	artifacts := make(map[store.ArtifactID]bool)
	for i := range u.Artifacts {
		a := &u.Artifacts[i]
		if err := known("artifact "+string(a.ID), a.Content, a.About); err != nil {
			return err
		}
		artifacts[a.ID] = true
	}
	there := func(what string, id store.ArtifactID) error {
		if artifacts[id] || sp.versionOf(id) > 0 {
			return nil
		}
		return fmt.Errorf("%s: artifact %s: %w", what, id, store.ErrNotFound)
	}
	for _, e := range u.Index {
		if err := there("index", e.Artifact); err != nil {
			return err
		}
	}
	if err := known("purge", u.Purge...); err != nil {
		return err
	}
	if m := u.Manifest; m != nil {
		if sp.manifest(m.ID) != nil {
			return fmt.Errorf("manifest %s already exists", m.ID)
		}
		for _, id := range m.Uses {
			if err := there("manifest "+m.ID, id); err != nil {
				return err
			}
		}
	}
	if o := u.Outcome; o != nil && sp.manifest(o.Manifest) == nil && (u.Manifest == nil || u.Manifest.ID != o.Manifest) {
		return fmt.Errorf("outcome of manifest %s: %w", o.Manifest, store.ErrNotFound)
	}
	return nil
}

// update makes an update that admitUpdate has accepted, and returns the new
// version.
func (sp *space) update(u *store.Update) store.Version {
	version := sp.version() + 1
	sp.writeText(u.Cells, u.Edges)
	for i := range u.Artifacts {
		a := copyArtifact(&u.Artifacts[i].Artifact)
		a.Version = version
		if place, ok := sp.places[a.ID]; ok {
			a.Seq = int64(place + 1)
			sp.artifacts[place] = *a
			continue
		}
		sp.places[a.ID] = len(sp.artifacts)
		a.Seq = int64(len(sp.artifacts) + 1)
		sp.artifacts = append(sp.artifacts, *a)
	}
	purged := make(map[store.CellID]bool, len(u.Purge))
	for _, id := range u.Purge {
		c := sp.cells[id]
		sp.cells[id] = &cell{store.Cell{ID: id, Kind: c.Kind, Commit: c.Commit}, true}
		purged[id] = true
	}
	for i := range sp.artifacts {
		if purged[sp.artifacts[i].Content] {
			delete(sp.words, sp.artifacts[i].Seq)
		}
	}
	for _, e := range u.Index {
		sp.words[int64(sp.places[e.Artifact]+1)] = wordsOf(e.Text)
	}
	if u.Manifest != nil {
		m := copyManifest(u.Manifest)
		m.Version, m.Made = version, nil
		sp.manifests = append(sp.manifests, m)
	}
	if u.Outcome != nil {
		o := copyOutcome(u.Outcome)
		o.Version = version
		m := sp.manifest(o.Manifest)
		m.Made = append(m.Made, o)
	}
	entry := copyEntry(&u.Entry)
	entry.Revision = store.Revision(version)
	sp.entries[entry.ID] = true
	sp.log = append(sp.log, *entry)
	return version
}

// version returns the version of the scope.
func (sp *space) version() store.Version { return store.Version(len(sp.log)) }

// versionOf returns the version of an artifact, or 0 if it does not exist.
func (sp *space) versionOf(id store.ArtifactID) store.Version {
	if place, ok := sp.places[id]; ok {
		return sp.artifacts[place].Version
	}
	return 0
}

// manifest returns a manifest, or nil.
func (sp *space) manifest(id string) *store.Manifest {
	for _, m := range sp.manifests {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Version implements [store.Artifacts].
func (s *database) Version(ctx context.Context, scope governance.Scope) (version store.Version, err error) {
	err = s.look(ctx, scope, func(sp *space) { version = sp.version() })
	return version, err
}

// Artifacts implements [store.Artifacts].
func (s *database) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return list(ctx, s, scope, func(sp *space) (all []*store.Artifact) {
		for i := range sp.artifacts {
			if a := &sp.artifacts[i]; a.Version > after {
				all = append(all, copyArtifact(a))
			}
		}
		return all
	})
}

// Pick implements [store.Artifacts].
func (s *database) Pick(ctx context.Context, scope governance.Scope, p *store.Pick, limit int) (picked []store.Artifact, err error) {
	fits := func(a *store.Artifact) bool { return strings.HasPrefix(string(a.ID), p.Prefix) }
	switch {
	case p.Cells != nil:
		fits = func(a *store.Artifact) bool { return slices.Contains(p.Cells, a.Content) }
	case p.Seqs != nil:
		fits = func(a *store.Artifact) bool { return slices.Contains(p.Seqs, a.Seq) }
	case p.Status != "":
		fits = func(a *store.Artifact) bool { return a.Status == p.Status }
	case p.Address != "":
		fits = func(a *store.Artifact) bool { return a.Address == p.Address }
	}
	err = s.look(ctx, scope, func(sp *space) {
		for i := range sp.artifacts {
			if a := &sp.artifacts[i]; len(picked) < limit && fits(a) {
				picked = append(picked, *copyArtifact(a))
			}
		}
	})
	return picked, err
}

// Hits implements [store.Artifacts].
func (s *database) Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) (hits []int64, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		// FindHits fails only if its function fails, and this one does not.
		hits, _ = store.FindHits(terms, limit, int64(len(sp.artifacts)), func(words []string, after int64, most int) (places []int64, err error) {
			for place := int64(len(sp.artifacts)); place > after && len(places) < most; place-- {
				has := sp.words[place]
				if !slices.ContainsFunc(words, func(w string) bool { return !has[w] }) {
					places = append(places, place)
				}
			}
			return places, nil
		})
	})
	return hits, err
}

// Manifest implements [store.Ledger].
func (s *database) Manifest(ctx context.Context, scope governance.Scope, id string) (m *store.Manifest, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		if found := sp.manifest(id); found != nil {
			m = copyManifest(found)
		}
	})
	if err == nil && m == nil {
		err = fmt.Errorf("manifest %s: %w", id, store.ErrNotFound)
	}
	return m, err
}

// Manifests implements [store.Ledger].
func (s *database) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return list(ctx, s, scope, func(sp *space) (all []*store.Manifest) {
		for _, m := range slices.Backward(sp.manifests) {
			if session == "" || m.Session == session {
				short := *m
				short.Body, short.Uses, short.Made = nil, nil, nil
				all = append(all, &short)
			}
		}
		return all
	})
}

// Users implements [store.Ledger].
func (s *database) Users(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) (users []string, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		for _, m := range sp.manifests {
			if slices.ContainsFunc(m.Uses, func(id store.ArtifactID) bool { return slices.Contains(ids, id) }) {
				users = append(users, m.ID)
			}
		}
	})
	return users, err
}

// Log implements [store.Ledger].
func (s *database) Log(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	return list(ctx, s, scope, func(sp *space) (all []*store.Entry) {
		for i := range sp.log {
			if store.Version(sp.log[i].Revision) > after {
				all = append(all, copyEntry(&sp.log[i]))
			}
		}
		return all
	})
}

// look calls f with the records of a scope while it holds the lock.
func (s *database) look(ctx context.Context, scope governance.Scope, f func(*space)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.space(scope))
	return nil
}

// list yields the values that f returns for a scope. It calls f when the
// iteration begins.
func list[T any](ctx context.Context, s *database, scope governance.Scope, f func(*space) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		if err := s.look(ctx, scope, func(sp *space) { all = f(sp) }); err != nil {
			yield(*new(T), err)
			return
		}
		yieldAll(all, yield)
	}
}

func copyArtifact(a *store.Artifact) *store.Artifact {
	d := *a
	d.Created, d.Updated, d.Expires = wholeMillis(a.Created), wholeMillis(a.Updated), wholeMillis(a.Expires)
	d.Gate = bytes.Clone(a.Gate)
	return &d
}

func copyManifest(m *store.Manifest) *store.Manifest {
	d := *m
	d.Created = wholeMillis(m.Created)
	d.Body, d.Uses = bytes.Clone(m.Body), slices.Clone(m.Uses)
	d.Made = nil
	for i := range m.Made {
		d.Made = append(d.Made, copyOutcome(&m.Made[i]))
	}
	return &d
}

func copyOutcome(o *store.ContextOutcome) store.ContextOutcome {
	d := *o
	d.Time, d.Data = wholeMillis(o.Time), bytes.Clone(o.Data)
	return d
}
