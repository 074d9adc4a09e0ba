// Package artifacts stores pieces of context from outside the conversations and the outputs of
// tools, until they are removed, refuted or purged.
package artifacts

import (
	"cmp"
	"context"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// Artifacts has the operations on artifacts and on the stash.
type Artifacts struct {
	*record.Recorder
}

// Put adds artifacts: all of them, or none. It fails with [api.ErrPolicy] if one looks like a
// credential, or would replace a memory that the gate held or a reviewer rejected. It does not ask
// the sources.
func (e *Artifacts) Put(ctx context.Context, scope governance.Scope, req *api.PutRequest) (_ *api.List[api.Artifact], err error) {
	defer base.During("put", &err)

	out, err := e.PutAll(ctx, scope, req.Artifacts, stacks.SourceKind)
	if err != nil {
		return nil, err
	}
	return &api.List[api.Artifact]{Items: out}, nil
}

// Get returns an artifact and its content.
func (e *Artifacts) Get(ctx context.Context, scope governance.Scope, req *api.GetRequest) (_ *api.GetResult, err error) {
	defer base.During("get", &err, "artifact "+req.ID)

	return base.Retry(ctx, func() (*api.GetResult, error) { return e.get(ctx, scope, req) })
}

func (e *Artifacts) get(ctx context.Context, scope governance.Scope, req *api.GetRequest) (*api.GetResult, error) {
	a, err := e.FindArtifact(ctx, scope, req.ID, false)
	if err != nil {
		return nil, err
	}
	if req.Info {
		return e.getInfo(ctx, scope, a)
	}
	p, err := e.Resident(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	res := &api.GetResult{}
	live := a.Status == store.StatusLive && !stacks.Expired(a, e.Now())
	if a.Source == "" || a.Source == stacks.SourceStash {
		if req.Refetch {
			return nil, &api.FieldError{Field: "refetch", Text: "the artifact has no source to fetch"}
		}
	} else if live || req.Refetch {
		pages := []*stacks.Resident{p}
		fetches, err := e.CheckSources(ctx, scope, pages)
		if err != nil {
			return nil, err
		}
		if fetches[0].Err != nil {
			return nil, fetches[0].Err
		}
		if p, res.Fetch = pages[0], fetches[0].Outcome; req.Refetch && res.Fetch == manifest.OutcomeUnchanged {
			if p, err = e.renewTime(ctx, scope, p); err != nil {
				return nil, err
			}
		}
	}
	res.Artifact, res.Content = e.DescribeArtifact(&p.Row, &p.Note), []byte(p.Text)
	return res, nil
}

// getInfo returns an artifact without its content.
func (e *Artifacts) getInfo(ctx context.Context, scope governance.Scope, a *store.Artifact) (*api.GetResult, error) {
	if a.Status == store.StatusPurged {
		return nil, base.Statef(api.ErrGone, "artifact %s was purged", a.ID)
	}
	n, err := e.NoteOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	return &api.GetResult{Artifact: e.DescribeArtifact(a, n)}, nil
}

// renewTime restarts the time to live of an artifact, because its source confirmed the content.
func (e *Artifacts) renewTime(ctx context.Context, scope governance.Scope, p *stacks.Resident) (*stacks.Resident, error) {
	u := &store.Update{}
	if err := e.Renew(scope, u, p, &artifact.Fetched{Content: []byte(p.Text), ETag: p.Note.ETag, Modified: p.Note.Modified}); err != nil {
		return nil, err
	}
	version, err := e.Update(ctx, scope, u, "refetch", map[string]any{"artifacts": 1})
	if err != nil {
		return nil, err
	}
	row := u.Artifacts[0].Artifact
	row.Seq, row.Version = p.Row.Seq, version
	return e.ReadResident(ctx, scope, &row)
}

// Artifacts returns the artifacts of a scope, newest first.
func (e *Artifacts) Artifacts(ctx context.Context, scope governance.Scope, req *api.ArtifactsRequest) (_ *api.List[api.Artifact], err error) {
	defer base.During("list artifacts", &err)

	// The key of an artifact is its id. If the id of a cursor is no longer in the filtered list,
	// because its status changed, Behind looks in the list of all artifacts.
	filter := *req
	filter.Cursor = api.Cursor{}
	return base.ListPage(&base.Listing[api.Artifact, store.ArtifactID]{
		Name: "artifacts", Scope: scope, Of: filter,
		Fetch: func(limit int) ([]api.Artifact, error) { return e.artifacts(ctx, scope, req, limit) },
		Key:   func(a *api.Artifact) store.ArtifactID { return a.ID },
		Behind: func(id store.ArtifactID) (func(*api.Artifact) bool, error) {
			all, err := e.artifacts(ctx, scope, &api.ArtifactsRequest{All: true}, 0)
			if err != nil {
				return nil, err
			}
			passed := make(map[store.ArtifactID]bool)
			for at := slices.IndexFunc(all, func(a api.Artifact) bool { return a.ID == id }); at >= 0; at-- {
				passed[all[at].ID] = true
			}
			return func(a *api.Artifact) bool { return !passed[a.ID] }, nil
		},
	}, req.Cursor)
}

// artifacts returns at most limit artifacts that match a request, newest first; 0 means all.
func (e *Artifacts) artifacts(ctx context.Context, scope governance.Scope, req *api.ArtifactsRequest, limit int) ([]api.Artifact, error) {
	status := cmp.Or(req.Status, store.StatusLive)
	var rows []store.Artifact
	now := e.Now()
	for a, err := range e.Store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return nil, err
		}
		if req.Expired && !stacks.Expired(a, now) {
			continue
		}
		if (req.All || a.Status == status) && (req.Class == "" || a.Class == req.Class) && (!req.Stash || a.Source == stacks.SourceStash) {
			rows = append(rows, *a)
		}
	}
	slices.Reverse(rows)
	list := []api.Artifact{}
	for batch := range slices.Chunk(rows, notesAtATime) {
		notes, err := e.NotesOf(ctx, scope, batch)
		if err != nil {
			return nil, err
		}
		for i, n := range notes {
			if req.Subject != "" && n.Subject != req.Subject || req.Source != "" && n.Source != req.Source {
				continue
			}
			if list = append(list, e.DescribeArtifact(&batch[i], n)); len(list) == limit {
				return list, nil
			}
		}
	}
	return list, nil
}

// notesAtATime is how many notes are read with one query to the store.
const notesAtATime = 500

// Remove removes artifacts: no context uses them any more.
func (e *Artifacts) Remove(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (_ *api.RemovalResult, err error) {
	defer base.During("remove", &err)
	return e.restate(ctx, scope, "remove", e.named(ctx, scope, req.IDs), func(a *store.Artifact) (store.Status, error) {
		if a.Status == store.StatusPurged {
			return "", base.Statef(api.ErrRequest, "artifact %s was purged", a.ID)
		}
		return store.StatusTombstoned, nil
	})
}

// Restore restores artifacts that were removed or refuted.
func (e *Artifacts) Restore(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (_ *api.RemovalResult, err error) {
	defer base.During("restore", &err)
	return e.restate(ctx, scope, "restore", e.named(ctx, scope, req.IDs), func(a *store.Artifact) (store.Status, error) {
		if a.Status != store.StatusTombstoned && a.Status != store.StatusRefuted {
			return "", notRemoved(a)
		}
		return stacks.GateStatus(a)
	})
}

// notRemoved returns the error that an artifact is neither removed nor refuted.
func notRemoved(a *store.Artifact) error {
	if a.Status == store.StatusPurged {
		return base.Statef(api.ErrRequest, "artifact %s was purged, and nothing brings it back", a.ID)
	}
	return base.Statef(api.ErrRequest, "artifact %s is neither removed nor refuted", a.ID)
}

// Refute marks artifacts as wrong, with everything derived from them: no context uses them any
// more.
func (e *Artifacts) Refute(ctx context.Context, scope governance.Scope, req *api.RefuteRequest) (_ *api.RemovalResult, err error) {
	defer base.During("refute", &err)
	family := func() (*stacks.Family, error) { return e.Lineage(ctx, scope, req.IDs, req.Source) }
	return e.restate(ctx, scope, "refute", family, func(a *store.Artifact) (store.Status, error) {
		if a.Status == store.StatusPurged || a.Status == store.StatusRefuted {
			return "", nil
		}
		return store.StatusRefuted, nil
	})
}

// opPurge is the operation of [Artifacts.Purge] in the log.
const opPurge = "purge"

// Purge erases artifacts: their content, notes and all versions, and everything derived from
// them, such as segments of contexts and memories.
func (e *Artifacts) Purge(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (_ *api.RemovalResult, err error) {
	defer base.During("purge", &err)
	family := func() (*stacks.Family, error) { return e.Lineage(ctx, scope, req.IDs, "") }
	res, err := e.restate(ctx, scope, opPurge, family, func(a *store.Artifact) (store.Status, error) {
		if a.Status == store.StatusPurged {
			return "", nil
		}
		return store.StatusPurged, nil
	})
	e.Forget(scope)
	return res, err
}

// named returns a function that reads the artifacts with the given ids, without those derived
// from them.
func (e *Artifacts) named(ctx context.Context, scope governance.Scope, ids []string) func() (*stacks.Family, error) {
	return func() (*stacks.Family, error) {
		rows, err := e.NamedArtifacts(ctx, scope, ids)
		return &stacks.Family{Rows: rows, Named: len(rows)}, err
	}
}

// restate sets the status of some artifacts and of everything derived from them, which the function
// family returns. The new status of each is the result of the function status; "" means that the
// artifact stays the same. If status fails for one artifact, none is changed.
func (e *Artifacts) restate(ctx context.Context, scope governance.Scope, op string, family func() (*stacks.Family, error), status func(*store.Artifact) (store.Status, error)) (*api.RemovalResult, error) {
	return base.Retry(ctx, func() (*api.RemovalResult, error) {
		f, err := family()
		if err != nil {
			return nil, err
		}
		u := &store.Update{}
		for i := range f.Rows {
			to, err := status(&f.Rows[i])
			if err == nil && to != "" {
				err = e.SetStatus(ctx, scope, u, &f.Rows[i], to)
			}
			if err != nil {
				return nil, err
			}
		}
		res, err := e.removal(ctx, scope, f)
		if err != nil {
			return nil, err
		}
		data := map[string]any{"artifacts": res.Artifacts}
		if op == opPurge {
			u.Purge, res.Cells, data["cells"] = f.Cells, len(f.Cells), len(f.Cells)
		}
		_, err = e.Update(ctx, scope, u, op, data)
		return res, err
	})
}

// removal returns the result of an operation on a family, that is, on some artifacts and everything
// derived from them.
func (e *Artifacts) removal(ctx context.Context, scope governance.Scope, f *stacks.Family) (*api.RemovalResult, error) {
	res := &api.RemovalResult{Artifacts: []store.ArtifactID{}, Derived: len(f.Rows) - f.Named}
	for i := range f.Rows {
		res.Artifacts = append(res.Artifacts, f.Rows[i].ID)
	}
	var err error
	res.Manifests, err = e.Store.Users(ctx, scope, res.Artifacts)
	res.Manifests = base.List(res.Manifests)
	return res, err
}

// PinArtifact pins an artifact, so that every context of its scope has it, or unpins it.
func (e *Artifacts) PinArtifact(ctx context.Context, scope governance.Scope, req *api.PinArtifactRequest) (_ *api.Artifact, err error) {
	defer base.During("pin", &err, "artifact "+req.ID)
	return base.Retry(ctx, func() (*api.Artifact, error) { return e.pin(ctx, scope, req) })
}

func (e *Artifacts) pin(ctx context.Context, scope governance.Scope, req *api.PinArtifactRequest) (*api.Artifact, error) {
	a, err := e.FindArtifact(ctx, scope, req.ID, false)
	if err != nil {
		return nil, err
	}
	if a.Status != store.StatusLive {
		return nil, base.Statef(api.ErrRequest, "artifact %s is %s and cannot be pinned", a.ID, a.Status)
	}
	w := store.Write{Artifact: *a, At: a.Version}
	w.Pinned, w.Updated = req.Pinned, e.Now()
	op := "pin"
	if !req.Pinned {
		op = "unpin"
	}
	w.Version, err = e.Update(ctx, scope, &store.Update{Artifacts: []store.Write{w}}, op, map[string]any{"artifacts": []store.ArtifactID{a.ID}})
	if err != nil {
		return nil, err
	}
	n, err := e.NoteOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	return new(e.DescribeArtifact(&w.Artifact, n)), nil
}
