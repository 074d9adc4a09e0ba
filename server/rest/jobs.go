package rest

import (
	"context"
	"math"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// An engine is Carrel's, with the methods that operations need besides its own.
type engine struct{ *carrel.Engine }

// What follows gives methods of the engine that take plain arguments, or return a
// list, the form that all others have.

// bySession is a method that takes a session.
func bySession[Res any](do func(engine, context.Context, governance.Scope, transcript.SessionID) (*Res, error)) method[api.SessionRequest, Res] {
	return func(e engine, ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*Res, error) {
		return do(e, ctx, scope, req.Session)
	}
}

// byID is a method that takes the id of something.
func byID[Res any](do func(engine, context.Context, governance.Scope, string) (*Res, error)) method[api.IDRequest, Res] {
	return func(e engine, ctx context.Context, scope governance.Scope, req *api.IDRequest) (*Res, error) {
		return do(e, ctx, scope, req.ID)
	}
}

// byIDs is a method that takes the ids of artifacts.
func byIDs(do func(engine, context.Context, governance.Scope, ...string) (*carrel.RemovalResult, error)) method[api.IDsRequest, carrel.RemovalResult] {
	return func(e engine, ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*carrel.RemovalResult, error) {
		return do(e, ctx, scope, req.IDs...)
	}
}

// whole returns a list in one page.
func whole[T any](items []T, err error) (*api.Page[T], error) {
	if err != nil {
		return nil, err
	}
	if items == nil {
		items = []T{}
	}
	return &api.Page[T]{Items: items}, nil
}

// paged returns a page of a list.
func paged[T, K any](l *listing[T, K], c api.Cursor) (*api.Page[T], error) {
	items, next, err := l.page(c.Limit, c.After)
	if err != nil {
		return nil, err
	}
	return &api.Page[T]{Items: items, Next: next}, nil
}

// A sessionKey is where a session stands in the list: last updated first, then by
// id.
type sessionKey struct {
	Updated int64 // milliseconds
	Session transcript.SessionID
}

func (e engine) sessions(ctx context.Context, scope governance.Scope, req *api.SessionsRequest) (*api.Page[carrel.SessionInfo], error) {
	return paged(&listing[carrel.SessionInfo, sessionKey]{
		name: api.Sessions.Name, scope: scope,
		fetch: func(limit int) ([]carrel.SessionInfo, error) { return e.Sessions(ctx, scope, limit) },
		key:   func(s *carrel.SessionInfo) sessionKey { return sessionKey{s.Updated.UnixMilli(), s.Session} },
		behind: func(k sessionKey) (func(*carrel.SessionInfo) bool, error) {
			return func(s *carrel.SessionInfo) bool {
				updated := s.Updated.UnixMilli()
				return updated < k.Updated || updated == k.Updated && s.Session > k.Session
			}, nil
		},
	}, req.Cursor)
}

func (e engine) removedSessions(ctx context.Context, scope governance.Scope, _ *api.None) (*api.Page[carrel.SessionInfo], error) {
	return whole(e.RemovedSessions(ctx, scope))
}

func (e engine) findSession(ctx context.Context, scope governance.Scope, req *api.WordRequest) (*api.SessionResult, error) {
	id, err := e.FindSession(ctx, scope, req.Word)
	if err != nil {
		return nil, err
	}
	return &api.SessionResult{Session: id}, nil
}

func (e engine) messages(ctx context.Context, scope governance.Scope, req *api.MessagesRequest) (*api.MessagesResult, error) {
	res, err := e.Messages(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	l := &listing[carrel.BlockInfo, int]{
		name: api.Messages.Name, scope: scope, of: req.Session,
		fetch: func(int) ([]carrel.BlockInfo, error) { return res.Blocks, nil },
		key:   place,
		behind: func(at int) (func(*carrel.BlockInfo) bool, error) {
			return func(b *carrel.BlockInfo) bool { return place(b) > at }, nil
		},
	}
	page := &api.MessagesResult{MessagesResult: *res, Count: res.Messages}
	page.Blocks, page.Next, err = l.page(req.Limit, req.After)
	return page, err
}

// place orders the blocks of a session: those of earlier windows come first, and turns
// are counted in each window.
func place(b *carrel.BlockInfo) int {
	window := b.Earlier
	if window == 0 {
		window = math.MaxInt32
	}
	return window<<31 | b.Turn
}

func (e engine) contextOf(ctx context.Context, scope governance.Scope, req *api.ContextRequest) (*carrel.ContextResult, error) {
	return e.Context(ctx, scope, req.Session, req.Window)
}

func (e engine) why(ctx context.Context, scope governance.Scope, req *api.BlockRequest) (*carrel.WhyResult, error) {
	return e.Why(ctx, scope, req.Block)
}

func (e engine) search(ctx context.Context, scope governance.Scope, req *carrel.SearchRequest) (*api.Page[carrel.Found], error) {
	return whole(e.Search(ctx, scope, req))
}

func (e engine) journal(ctx context.Context, scope governance.Scope, req *api.JournalRequest) (*api.Page[store.Entry], error) {
	return paged(entries(api.Journal.Name, scope, []any{req.Session, req.Since}, func() ([]store.Entry, error) {
		return e.Journal(ctx, scope, req.Session, req.Since)
	}), req.Cursor)
}

func (e engine) log(ctx context.Context, scope governance.Scope, req *api.LogRequest) (*api.Page[store.Entry], error) {
	return paged(entries(api.Log.Name, scope, req.Since, func() ([]store.Entry, error) {
		return e.Log(ctx, scope, req.Since)
	}), req.Cursor)
}

// entries is a journal or a log, in the order of its revisions.
func entries(name string, scope governance.Scope, of any, fetch func() ([]store.Entry, error)) *listing[store.Entry, store.Revision] {
	return &listing[store.Entry, store.Revision]{
		name: name, scope: scope, of: of,
		fetch: func(int) ([]store.Entry, error) { return fetch() },
		key:   func(e *store.Entry) store.Revision { return e.Revision },
		behind: func(at store.Revision) (func(*store.Entry) bool, error) {
			return func(e *store.Entry) bool { return e.Revision > at }, nil
		},
	}
}

func (e engine) contractOf(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ContractResult, error) {
	statements, err := e.Contract(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	return &api.ContractResult{Statements: statements}, nil
}

func (e engine) put(ctx context.Context, scope governance.Scope, req *api.PutRequest) (*api.Page[carrel.Artifact], error) {
	for i, a := range req.Artifacts {
		if a == nil {
			return nil, bad("artifacts", "element %d is null", i)
		}
	}
	return whole(e.Put(ctx, scope, req.Artifacts...))
}

// vouch makes the caller the one who vouches for what is put in.
func vouch(req *api.PutRequest, g *governance.Grant) {
	for _, a := range req.Artifacts {
		if a != nil && a.VerifiedBy != "" {
			a.VerifiedBy = string(g.Actor)
		}
	}
}

// artifacts lists artifacts, newest first. An artifact does not say where it stands
// in that order, so the key is its id; and if the list no longer has that, because
// of what became of it, the list of all has.
func (e engine) artifacts(ctx context.Context, scope governance.Scope, req *api.ArtifactsRequest) (*api.Page[carrel.Artifact], error) {
	filter := req.ArtifactsRequest
	filter.Limit = 0
	return paged(&listing[carrel.Artifact, store.ArtifactID]{
		name: api.Artifacts.Name, scope: scope, of: filter,
		fetch: func(limit int) ([]carrel.Artifact, error) {
			some := filter
			some.Limit = limit
			return e.Artifacts(ctx, scope, &some)
		},
		key: func(a *carrel.Artifact) store.ArtifactID { return a.ID },
		behind: func(id store.ArtifactID) (func(*carrel.Artifact) bool, error) {
			all, err := e.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true})
			if err != nil {
				return nil, err
			}
			passed := make(map[store.ArtifactID]bool)
			for at := slices.IndexFunc(all, func(a carrel.Artifact) bool { return a.ID == id }); at >= 0; at-- {
				passed[all[at].ID] = true
			}
			return func(a *carrel.Artifact) bool { return !passed[a.ID] }, nil
		},
	}, api.Cursor{Limit: req.Limit, After: req.After})
}

func (e engine) pinArtifact(ctx context.Context, scope governance.Scope, req *api.PinArtifactRequest) (*carrel.Artifact, error) {
	return e.PinArtifact(ctx, scope, req.ID, req.Pinned)
}

func (e engine) collectStash(ctx context.Context, scope governance.Scope, req *api.CollectRequest) (*carrel.RemovalResult, error) {
	return e.CollectStash(ctx, scope, req.DryRun)
}

func (e engine) manifests(ctx context.Context, scope governance.Scope, req *api.ManifestsRequest) (*api.Page[store.Manifest], error) {
	return paged(&listing[store.Manifest, store.Version]{
		name: api.Manifests.Name, scope: scope, of: req.Session,
		fetch: func(limit int) ([]store.Manifest, error) { return e.Manifests(ctx, scope, req.Session, limit) },
		key:   func(m *store.Manifest) store.Version { return m.Version },
		behind: func(at store.Version) (func(*store.Manifest) bool, error) {
			return func(m *store.Manifest) bool { return m.Version < at }, nil
		},
	}, req.Cursor)
}

func (e engine) manifestOf(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ManifestResult, error) {
	m, _, err := e.Manifest(ctx, scope, req.ID)
	if err != nil {
		return nil, err
	}
	res := &api.ManifestResult{Manifest: *m, Document: m.Body}
	res.Body = nil
	return res, nil
}

func (e engine) diffManifests(ctx context.Context, scope governance.Scope, req *api.DiffRequest) (*manifest.Delta, error) {
	return e.DiffManifests(ctx, scope, req.ID, req.Other)
}

func (e engine) replay(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ReplayResult, error) {
	data, err := e.Replay(ctx, scope, req.ID)
	if err != nil {
		return nil, err
	}
	return &api.ReplayResult{Data: data}, nil
}

func (e engine) reviews(ctx context.Context, scope governance.Scope, _ *api.None) (*api.Page[carrel.ReviewEntry], error) {
	return whole(e.Reviews(ctx, scope))
}

// hand makes the caller the one who hands a session on.
func hand(req *carrel.HandoffRequest, g *governance.Grant) { req.By = string(g.Actor) }

// sign makes the caller the one who decides.
func sign(req *carrel.ReviewDecision, g *governance.Grant) { req.By = string(g.Actor) }
