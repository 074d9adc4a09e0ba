package carrel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// Get returns an artifact and its content. One that has a source is fetched
// again first if the source has changed; if it is gone there, or cannot be
// fetched, that is the error, wrapping those of package artifact. What was
// purged is [ErrGone]; what is held, refuted or removed is returned, with that
// status.
func (e *Engine) Get(ctx context.Context, scope governance.Scope, req *GetRequest) (_ *GetResult, err error) {
	defer during("get artifact "+req.ID, &err)

	var res *GetResult
	err = retry(ctx, func() error {
		res, err = e.get(ctx, scope, req)
		return err
	})
	return res, err
}

func (e *Engine) get(ctx context.Context, scope governance.Scope, req *GetRequest) (*GetResult, error) {
	a, err := e.find(ctx, scope, req.ID, false)
	if err != nil {
		return nil, err
	}
	if req.Info {
		return e.getInfo(ctx, scope, a)
	}
	p, err := e.pageOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	res := &GetResult{}
	live := a.Status == store.StatusLive && !expired(a, e.now())
	if a.Source == "" || a.Source == sourceStash {
		if req.Refetch {
			return nil, fmt.Errorf("%w: it has no source that it could be fetched from", ErrRequest)
		}
	} else if live || req.Refetch {
		pages := []*page{p}
		fetches, err := e.check(ctx, scope, pages)
		if err != nil {
			return nil, err
		}
		if fetches[0].err != nil {
			return nil, fetches[0].err
		}
		if p, res.Fetch = pages[0], fetches[0].outcome; req.Refetch && res.Fetch == manifest.OutcomeUnchanged {
			if p, err = e.renewTime(ctx, scope, p); err != nil {
				return nil, err
			}
		}
	}
	res.Artifact, res.Content = e.describeArtifact(&p.row, &p.note), []byte(p.text)
	return res, nil
}

// getInfo returns an artifact without its content.
func (e *Engine) getInfo(ctx context.Context, scope governance.Scope, a *store.Artifact) (*GetResult, error) {
	if a.Status == store.StatusPurged {
		return nil, ErrGone
	}
	n, err := e.noteOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	return &GetResult{Artifact: e.describeArtifact(a, n)}, nil
}

// pageOf returns the page of an artifact.
func (e *Engine) pageOf(ctx context.Context, scope governance.Scope, a *store.Artifact) (*page, error) {
	pages, err := e.fault(ctx, scope, []spot{{int(a.Seq - 1), a.ID, a.Version}})
	switch {
	case err != nil:
		return nil, err
	case pages[0] != nil:
		return pages[0], nil
	case a.Status == store.StatusPurged:
		return nil, fmt.Errorf("artifact %s: %w", a.ID, ErrGone)
	}
	return nil, fmt.Errorf("artifact %s: %w", a.ID, store.ErrConflict)
}

// renewTime begins the life of an artifact anew: its source says that the
// content is still true.
func (e *Engine) renewTime(ctx context.Context, scope governance.Scope, p *page) (*page, error) {
	u := &store.Update{}
	if err := e.renew(scope, u, p, &artifact.Fetched{Content: []byte(p.text), ETag: p.note.ETag, Modified: p.note.Modified}); err != nil {
		return nil, err
	}
	version, err := e.update(ctx, scope, u, "refetch", map[string]any{"artifacts": 1})
	if err != nil {
		return nil, err
	}
	row := u.Artifacts[0].Artifact
	row.Seq, row.Version = p.row.Seq, version
	return e.readPage(ctx, scope, &row)
}

// Artifacts returns the artifacts of a scope, newest first. What has expired is
// among them, and says so.
func (e *Engine) Artifacts(ctx context.Context, scope governance.Scope, req *ArtifactsRequest) (_ *List[Artifact], err error) {
	defer during("list artifacts", &err)

	// An artifact does not say where it stands in the order, so the key is its id; and if
	// the list no longer has that, because of what became of it, the list of all has.
	filter := *req
	filter.Cursor = Cursor{}
	return pageOfList(&listing[Artifact, store.ArtifactID]{
		name: "artifacts", scope: scope, of: filter,
		fetch: func(limit int) ([]Artifact, error) { return e.artifacts(ctx, scope, req, limit) },
		key:   func(a *Artifact) store.ArtifactID { return a.ID },
		behind: func(id store.ArtifactID) (func(*Artifact) bool, error) {
			all, err := e.artifacts(ctx, scope, &ArtifactsRequest{All: true}, 0)
			if err != nil {
				return nil, err
			}
			passed := make(map[store.ArtifactID]bool)
			for at := slices.IndexFunc(all, func(a Artifact) bool { return a.ID == id }); at >= 0; at-- {
				passed[all[at].ID] = true
			}
			return func(a *Artifact) bool { return !passed[a.ID] }, nil
		},
	}, req.Cursor)
}

// artifacts returns what a request asks for, newest first, limit at most; 0 means all.
func (e *Engine) artifacts(ctx context.Context, scope governance.Scope, req *ArtifactsRequest, limit int) ([]Artifact, error) {
	status := cmp.Or(req.Status, store.StatusLive)
	var rows []store.Artifact
	now := e.now()
	for a, err := range e.store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return nil, err
		}
		if req.Expired && !expired(a, now) {
			continue
		}
		if (req.All || a.Status == status) && (req.Class == "" || a.Class == req.Class) && (!req.Stash || a.Source == sourceStash) {
			rows = append(rows, *a)
		}
	}
	slices.Reverse(rows)
	list := []Artifact{}
	for batch := range slices.Chunk(rows, notesAtATime) {
		notes, err := e.notesOf(ctx, scope, batch)
		if err != nil {
			return nil, err
		}
		for i, n := range notes {
			if req.Subject != "" && n.Subject != req.Subject || req.Source != "" && n.Source != req.Source {
				continue
			}
			if list = append(list, e.describeArtifact(&batch[i], n)); len(list) == limit {
				return list, nil
			}
		}
	}
	return list, nil
}

// notesAtATime is how many notes are read with one question to the store.
const notesAtATime = 500

// notesOf reads the notes of artifacts. Of what was purged, nothing is known.
func (e *Engine) notesOf(ctx context.Context, scope governance.Scope, rows []store.Artifact) ([]*note, error) {
	notes := make([]*note, len(rows))
	at := make(map[store.CellID]int, len(rows))
	var cells []store.CellID
	for i := range rows {
		notes[i] = &note{}
		if rows[i].Status != store.StatusPurged {
			at[rows[i].About] = i
			cells = append(cells, rows[i].About)
		}
	}
	for c, err := range e.store.Cells(ctx, scope, cells) {
		if errors.Is(err, store.ErrGone) { // purged since the rows were read
			for i := range rows {
				if notes[i], err = e.noteOf(ctx, scope, &rows[i]); err != nil {
					return nil, err
				}
			}
			return notes, nil
		}
		if err != nil {
			return nil, err
		}
		i := at[c.ID]
		if err := json.Unmarshal(c.Body, notes[i]); err != nil {
			return nil, fmt.Errorf("%w: about artifact %s: %w", store.ErrCorrupt, rows[i].ID, err)
		}
	}
	return notes, nil
}

// noteOf reads what the about cell of an artifact says. Of what was purged,
// nothing is known.
func (e *Engine) noteOf(ctx context.Context, scope governance.Scope, a *store.Artifact) (*note, error) {
	n := &note{}
	for c, err := range e.store.Cells(ctx, scope, []store.CellID{a.About}) {
		if errors.Is(err, store.ErrGone) {
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(c.Body, n); err != nil {
			return nil, fmt.Errorf("%w: about artifact %s: %w", store.ErrCorrupt, a.ID, err)
		}
	}
	return n, nil
}

// Remove takes artifacts out: they enter no context any more. Their content is
// kept, and [Engine.Restore] brings them back.
func (e *Engine) Remove(ctx context.Context, scope governance.Scope, req *IDsRequest) (_ *RemovalResult, err error) {
	defer during("remove", &err)
	return e.setStatus(ctx, scope, "remove", req.IDs, func(a *store.Artifact) (store.Status, error) {
		if a.Status == store.StatusPurged {
			return "", notPossible(a)
		}
		return store.StatusTombstoned, nil
	})
}

// Restore brings back what was removed or refuted. A memory that the gate held is held
// again, and one that a person rejected is rejected: neither enters a context by this.
func (e *Engine) Restore(ctx context.Context, scope governance.Scope, req *IDsRequest) (_ *RemovalResult, err error) {
	defer during("restore", &err)
	return e.setStatus(ctx, scope, "restore", req.IDs, func(a *store.Artifact) (store.Status, error) {
		if a.Status != store.StatusTombstoned && a.Status != store.StatusRefuted {
			return "", notPossible(a)
		}
		return admitted(a)
	})
}

// notPossible says that an artifact is not in a state for what is asked.
func notPossible(a *store.Artifact) error {
	return fmt.Errorf("%w: artifact %s is %s", ErrRequest, a.ID, a.Status)
}

// admitted returns what the gate and whoever reviewed made of an artifact, whatever
// became of it since: live, unless it was held and nobody has approved it.
func admitted(a *store.Artifact) (store.Status, error) {
	if len(a.Gate) == 0 {
		return store.StatusLive, nil
	}
	var g gated
	if err := json.Unmarshal(a.Gate, &g); err != nil {
		return "", fmt.Errorf("%w: gate of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	switch {
	case g.Decided == decidedRejected:
		return store.StatusRejected, nil
	case g.Outcome == assembly.Hold && g.Decided == "":
		return store.StatusHeld, nil
	}
	return store.StatusLive, nil
}

// setStatus gives artifacts the status that they are to have, if there is one for all.
func (e *Engine) setStatus(ctx context.Context, scope governance.Scope, op string, ids []string, status func(*store.Artifact) (store.Status, error)) (*RemovalResult, error) {
	var res *RemovalResult
	err := retry(ctx, func() error {
		rows, err := e.named(ctx, scope, ids)
		if err != nil {
			return err
		}
		u := &store.Update{}
		for i := range rows {
			to, err := status(&rows[i])
			if err != nil {
				return err
			}
			if err := e.restate(ctx, scope, u, &rows[i], to); err != nil {
				return err
			}
		}
		res, err = e.removal(ctx, scope, rows, len(rows))
		if err != nil {
			return err
		}
		_, err = e.update(ctx, scope, u, op, map[string]any{"artifacts": res.Artifacts})
		return err
	})
	return res, err
}

// blocksNamed returns the artifacts with some ids, each once.
func (e *Engine) named(ctx context.Context, scope governance.Scope, ids []string) ([]store.Artifact, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no artifact is named", ErrRequest)
	}
	var rows []store.Artifact
	for _, id := range ids {
		a, err := e.find(ctx, scope, id, false)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rows, func(b store.Artifact) bool { return b.ID == a.ID }) {
			rows = append(rows, *a)
		}
	}
	return rows, nil
}

// restate adds the change of an artifact's status to an update, and makes it
// findable only if it is live.
func (e *Engine) restate(ctx context.Context, scope governance.Scope, u *store.Update, a *store.Artifact, to store.Status) error {
	w := store.Write{Artifact: *a, At: a.Version}
	w.Status, w.Updated = to, e.now()
	text := ""
	switch to {
	case store.StatusLive:
		p, err := e.pageOf(ctx, scope, a)
		if err != nil {
			return err
		}
		live := page{row: w.Artifact, note: p.note, text: p.text}
		text = live.indexed()
	case store.StatusPurged:
		w.Address, w.Pinned = "", false
	case store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned:
	}
	u.Artifacts = append(u.Artifacts, w)
	u.Index = append(u.Index, store.ArtifactText{Artifact: a.ID, Text: text})
	return nil
}

// removal describes what happens to some artifacts, of which the first were
// named.
func (e *Engine) removal(ctx context.Context, scope governance.Scope, rows []store.Artifact, named int) (*RemovalResult, error) {
	res := &RemovalResult{Derived: len(rows) - named}
	for i := range rows {
		res.Artifacts = append(res.Artifacts, rows[i].ID)
	}
	var err error
	res.Manifests, err = e.store.Users(ctx, scope, res.Artifacts)
	return res, err
}

// Refute recalls what turned out to be wrong, with everything that was made
// from it: none of it enters a context any more. The result lists the contexts
// that had used any of it. [Engine.Restore] takes it back.
func (e *Engine) Refute(ctx context.Context, scope governance.Scope, req *RefuteRequest) (_ *RemovalResult, err error) {
	defer during("refute", &err)

	var res *RemovalResult
	err = retry(ctx, func() error {
		f, err := e.lineage(ctx, scope, req.IDs, req.Source)
		if err != nil {
			return err
		}
		u := &store.Update{}
		for i := range f.rows {
			if s := f.rows[i].Status; s == store.StatusPurged || s == store.StatusRefuted {
				continue
			}
			if err := e.restate(ctx, scope, u, &f.rows[i], store.StatusRefuted); err != nil {
				return err
			}
		}
		if res, err = e.removal(ctx, scope, f.rows, f.named); err != nil {
			return err
		}
		_, err = e.update(ctx, scope, u, "refute", map[string]any{"artifacts": res.Artifacts})
		return err
	})
	return res, err
}

// Purge erases artifacts: their content, what is said about them, every version
// of it, and whatever was made from it: the pieces of contexts, and memories.
// What stays are ids, commitments and the log, so that manifests still verify;
// [Engine.Get] and [Engine.Replay] then say that it is gone. Nothing brings it
// back.
func (e *Engine) Purge(ctx context.Context, scope governance.Scope, req *IDsRequest) (_ *RemovalResult, err error) {
	defer during("purge", &err)

	var res *RemovalResult
	err = retry(ctx, func() error {
		f, err := e.lineage(ctx, scope, req.IDs, "")
		if err != nil {
			return err
		}
		u := &store.Update{Purge: f.cells}
		for i := range f.rows {
			if f.rows[i].Status == store.StatusPurged {
				continue
			}
			if err := e.restate(ctx, scope, u, &f.rows[i], store.StatusPurged); err != nil {
				return err
			}
		}
		if res, err = e.removal(ctx, scope, f.rows, f.named); err != nil {
			return err
		}
		res.Cells = len(f.cells)
		_, err = e.update(ctx, scope, u, "purge", map[string]any{"artifacts": res.Artifacts, "cells": len(f.cells)})
		return err
	})
	e.resident.DropScope(scope)
	e.segments.forget(scope)
	e.scans.forget(scope)
	return res, err
}

// A family is artifacts, what was made from them, and the cells of all of them.
type family struct {
	rows  []store.Artifact // the named first
	named int
	cells []store.CellID // sorted, once it is complete

	known map[store.ArtifactID]bool
	has   map[store.CellID]bool
	fresh []store.CellID // whose descendants are still to be found
}

func newFamily() *family {
	return &family{known: make(map[store.ArtifactID]bool), has: make(map[store.CellID]bool)}
}

// add adds cells to a family.
func (f *family) add(cells ...store.CellID) {
	for _, c := range cells {
		if !f.has[c] {
			f.has[c], f.fresh = true, append(f.fresh, c)
		}
	}
}

// join adds an artifact to a family, with all of its versions.
func (e *Engine) join(ctx context.Context, scope governance.Scope, f *family, a *store.Artifact) error {
	if f.known[a.ID] {
		return nil
	}
	f.known[a.ID] = true
	f.rows = append(f.rows, *a)
	own, err := e.versions(ctx, scope, a)
	f.add(own...)
	return err
}

// lineage returns the family of the artifacts that are named or come from a
// source. All versions of an artifact belong to it.
func (e *Engine) lineage(ctx context.Context, scope governance.Scope, ids []string, source string) (*family, error) {
	if len(ids) == 0 && source == "" {
		return nil, fmt.Errorf("%w: no artifact is named", ErrRequest)
	}
	f := newFamily()
	if len(ids) > 0 {
		rows, err := e.named(ctx, scope, ids)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if err := e.join(ctx, scope, f, &rows[i]); err != nil {
				return nil, err
			}
		}
	}
	if source != "" {
		err := e.eachFrom(ctx, scope, source, func(a *store.Artifact) error { return e.join(ctx, scope, f, a) })
		if err != nil {
			return nil, err
		}
	}
	if f.named = len(f.rows); f.named == 0 {
		return nil, fmt.Errorf("%s: %w", strings.TrimSpace("artifacts from "+source), store.ErrNotFound)
	}
	return f, e.descend(ctx, scope, f)
}

// descend adds to a family what was made from it. A memory that was made from another
// may have versions of its own, from which more was made: so this goes on until nothing
// is new.
func (e *Engine) descend(ctx context.Context, scope governance.Scope, f *family) error {
	for len(f.fresh) > 0 {
		derived, err := e.store.Derived(ctx, scope, f.fresh)
		if err != nil {
			return err
		}
		if len(derived) == 0 {
			break // a Pick without cells would be one of everything
		}
		f.fresh = nil
		for _, c := range derived {
			f.has[c] = true
		}
		made, err := e.store.Pick(ctx, scope, &store.Pick{Cells: derived}, max(1, len(derived)))
		if err != nil {
			return err
		}
		for i := range made {
			if err := e.join(ctx, scope, f, &made[i]); err != nil {
				return err
			}
		}
	}
	f.cells = slices.Sorted(maps.Keys(f.has))
	return nil
}

// eachFrom calls f for each artifact that comes from a source.
func (e *Engine) eachFrom(ctx context.Context, scope governance.Scope, source string, f func(*store.Artifact) error) error {
	for a, err := range e.store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return err
		}
		n, err := e.noteOf(ctx, scope, a)
		if err != nil {
			return err
		}
		if n.Source != source {
			continue
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

// versions returns the cells of all versions of an artifact.
func (e *Engine) versions(ctx context.Context, scope governance.Scope, a *store.Artifact) ([]store.CellID, error) {
	cells := []store.CellID{a.Content, a.About}
	for row := *a; ; {
		n, err := e.noteOf(ctx, scope, &row)
		if err != nil {
			return nil, err
		}
		if n.OldAbout == "" {
			return cells, nil
		}
		cells = append(cells, n.OldContent, n.OldAbout)
		row.Content, row.About = n.OldContent, n.OldAbout
	}
}

// PinArtifact puts an artifact into every context of its scope, or no longer.
func (e *Engine) PinArtifact(ctx context.Context, scope governance.Scope, req *PinArtifactRequest) (_ *Artifact, err error) {
	id, pinned := req.ID, req.Pinned
	defer during("pin artifact "+id, &err)

	var out Artifact
	err = retry(ctx, func() error {
		a, err := e.find(ctx, scope, id, false)
		if err != nil {
			return err
		}
		if a.Status != store.StatusLive {
			return fmt.Errorf("%w: artifact %s is %s", ErrRequest, a.ID, a.Status)
		}
		w := store.Write{Artifact: *a, At: a.Version}
		w.Pinned, w.Updated = pinned, e.now()
		op := "pin"
		if !pinned {
			op = "unpin"
		}
		version, err := e.update(ctx, scope, &store.Update{Artifacts: []store.Write{w}}, op, map[string]any{"artifacts": []store.ArtifactID{a.ID}})
		if err != nil {
			return err
		}
		n, err := e.noteOf(ctx, scope, a)
		if err != nil {
			return err
		}
		w.Version = version
		out = e.describeArtifact(&w.Artifact, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Resident returns the figures of the artifacts that are in memory.
func (e *Engine) Resident() artifact.Stats { return e.resident.Stats() }
