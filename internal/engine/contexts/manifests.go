package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Manifests returns a page of the manifests of a scope or a session, newest first, without their
// documents.
func (e *Contexts) Manifests(ctx context.Context, scope governance.Scope, req *api.ManifestsRequest) (_ *api.List[store.Manifest], err error) {
	defer base.During("list manifests", &err)
	return base.ListPage(&base.Listing[store.Manifest, store.Version]{
		Name: "manifests", Scope: scope, Of: req.Session,
		Fetch: func(limit int) ([]store.Manifest, error) { return e.manifests(ctx, scope, req.Session, limit) },
		Key:   func(m *store.Manifest) store.Version { return m.Version },
		Behind: func(at store.Version) (func(*store.Manifest) bool, error) {
			return func(m *store.Manifest) bool { return m.Version < at }, nil
		},
	}, req.Cursor)
}

// manifests returns at most limit manifests of a scope or a session; 0 means all.
func (e *Contexts) manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID, limit int) ([]store.Manifest, error) {
	list := []store.Manifest{}
	for m, err := range e.Store.Manifests(ctx, scope, session) {
		if err != nil {
			return nil, err
		}
		if list = append(list, *m); len(list) == limit {
			break
		}
	}
	return list, nil
}

// Manifest returns a manifest, named by its id or the start of it, with the outcome of its
// context. "@last" names the newest.
func (e *Contexts) Manifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (_ *api.ManifestResult, err error) {
	defer base.During("show", &err, "manifest "+req.ID)

	m, _, err := e.manifest(ctx, scope, req.ID)
	if err != nil {
		return nil, err
	}
	m = new(*m)
	res := &api.ManifestResult{Manifest: *m, Document: m.Body}
	res.Body = nil
	return res, nil
}

// manifest returns the manifest of a context or of a call to a model. The id may be a unique
// prefix, or the id of the call.
func (e *Contexts) manifest(ctx context.Context, scope governance.Scope, id string) (*store.Manifest, *manifest.Sealed, error) {
	m, sealed, err := e.ofContext(ctx, scope, id)
	if !errors.Is(err, store.ErrNotFound) {
		return m, sealed, err
	}
	c, missing := e.SealedCall(ctx, scope, id)
	switch {
	case missing == nil:
		return c.Manifest(), c.Sealed, nil
	case errors.Is(missing, store.ErrNotFound) && record.CallManifest(id) == "":
		return nil, nil, err
	}
	return nil, nil, api.About(api.SubjectManifest, missing)
}

// ofContext returns the manifest of an assembled context.
func (e *Contexts) ofContext(ctx context.Context, scope governance.Scope, id string) (*store.Manifest, *manifest.Sealed, error) {
	id, err := e.manifestID(ctx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	m, err := e.Store.Manifest(ctx, scope, id)
	if errors.Is(err, store.ErrNotFound) {
		err = api.About(api.SubjectManifest, base.Statef(store.ErrNotFound, "there is no manifest %q in scope %s", id, scope))
	}
	if err != nil {
		return nil, nil, err
	}
	sealed, err := manifest.Parse(m.Body)
	if err == nil && !sealed.Seal().Equal(m.Seal) {
		err = errors.New("the seal of the document differs from the recorded one")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: read manifest %s: %w", api.ErrIntegrity, id, err)
	}
	return m, sealed, nil
}

// manifestID completes the id of a manifest.
func (e *Contexts) manifestID(ctx context.Context, scope governance.Scope, id string) (string, error) {
	switch {
	case id == "":
		return "", fmt.Errorf("%w: the manifest id is empty", api.ErrRequest)
	case strings.HasPrefix(id, "m_") && len(id) == len("m_")+16:
		return id, nil
	}
	var found []string
	for m, err := range e.Store.Manifests(ctx, scope, "") {
		if err != nil {
			return "", err
		}
		if id == "@last" {
			return m.ID, nil
		}
		if strings.HasPrefix(m.ID, id) || strings.HasPrefix(m.ID, "m_"+id) {
			found = append(found, m.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", api.About(api.SubjectManifest, base.Statef(store.ErrNotFound, "there is no manifest %q in scope %s", id, scope))
	case 1:
		return found[0], nil
	}
	return "", api.About(api.SubjectManifest, base.Statef(api.ErrAmbiguous, "manifest %q is ambiguous: it could be %s or %s", id, found[0], found[1]))
}

// DiffManifests returns the differences between two contexts.
func (e *Contexts) DiffManifests(ctx context.Context, scope governance.Scope, req *api.DiffRequest) (_ *manifest.Delta, err error) {
	defer base.During("diff manifests", &err)

	_, from, err := e.manifest(ctx, scope, req.ID)
	if err != nil {
		return nil, err
	}
	_, to, err := e.manifest(ctx, scope, req.Other)
	if err != nil {
		return nil, err
	}
	return manifest.Diff(from.Manifest(), to.Manifest()), nil
}

// VerifyManifest checks a manifest: the seal of its document, the commitment of every
// segment, and the context as a whole.
func (e *Contexts) VerifyManifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (_ *api.VerifyResult, err error) {
	id := req.ID
	defer base.During("verify", &err, "manifest "+id)

	m, sealed, err := e.manifest(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if err := sealed.Verify(); err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrIntegrity, err)
	}
	res := &api.VerifyResult{Manifest: m.ID, Seal: m.Seal.String(), Redacted: sealed.Redacted()}
	if c, err := e.SealedCall(ctx, scope, m.ID); !errors.Is(err, store.ErrNotFound) {
		return res, errors.Join(err, e.verifyCall(ctx, scope, c, res))
	}
	_, err = e.rebuild(ctx, scope, sealed, res)
	if errors.Is(err, api.ErrGone) {
		err = nil
	}
	return res, err
}

// verifyCall checks the manifest of a call against the record of the call: the number of bytes
// and the messages sent must match, and segments that refer to an earlier call must match the
// manifest of that call. The texts are not stored, so nothing can check them here.
func (e *Contexts) verifyCall(ctx context.Context, scope governance.Scope, c *record.SealedCall, res *api.VerifyResult) error {
	if c == nil {
		return nil
	}
	if chain, n := c.Ends(); n != c.Intent.SentBytes || !chain.Equal(c.Intent.Sent) {
		return fmt.Errorf("%w: manifest %s differs from the record of call %s", api.ErrIntegrity, res.Manifest, c.Call.ID)
	}
	for i, it := range c.Sealed.Manifest().Items {
		s, ok := it.(*manifest.Segment)
		if !ok {
			continue
		}
		res.Segments++
		if record.CallManifest(s.Cell) == "" {
			continue
		}
		before, err := e.SealedCall(ctx, scope, s.Cell)
		if err != nil {
			return fmt.Errorf("segment %d was sent before by call %s, whose manifest cannot be read: %w", i+1, s.Cell, err)
		}
		if err := before.Sealed.Verify(); err != nil {
			return fmt.Errorf("%w: verify the manifest of call %s, which segment %d refers to: %w", api.ErrIntegrity, s.Cell, i+1, err)
		}
		if chain, _ := before.Ends(); chain.String() != s.Ref {
			return fmt.Errorf("%w: segment %d is not what call %s sent", api.ErrIntegrity, i+1, s.Cell)
		}
	}
	res.Output = true
	return nil
}

// VerifyDocument checks an exported manifest without a store: the document must be in canonical
// form and its seal must be valid.
func VerifyDocument(data []byte) (*api.VerifyResult, error) {
	sealed, err := manifest.Parse(bytes.TrimSuffix(data, []byte("\n")))
	if err == nil {
		err = sealed.Verify()
	}
	if err != nil {
		return nil, base.Statef(fmt.Errorf("%w: %w", api.ErrIntegrity, err), "%v", err)
	}
	return &api.VerifyResult{
		Manifest: sealed.Manifest().Header.ID, Seal: sealed.Seal().String(), Redacted: sealed.Redacted(),
	}, nil
}

// Replay rebuilds the exact bytes of the context of a manifest.
func (e *Contexts) Replay(ctx context.Context, scope governance.Scope, req *api.IDRequest) (_ *api.ReplayResult, err error) {
	id := req.ID
	defer base.During("replay", &err, "manifest "+id)

	_, sealed, err := e.ofContext(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	data, err := e.rebuild(ctx, scope, sealed, &api.VerifyResult{})
	if err != nil {
		return nil, err
	}
	return &api.ReplayResult{Data: data}, nil
}

// rebuild joins the segments of a context. It checks each segment against its commitment, and the
// whole against that of the output.
func (e *Contexts) rebuild(ctx context.Context, scope governance.Scope, sealed *manifest.Sealed, res *api.VerifyResult) ([]byte, error) {
	var ids []store.CellID
	for _, it := range sealed.Manifest().Items {
		if s, ok := it.(*manifest.Segment); ok {
			ids = append(ids, store.CellID(s.Cell))
		}
	}
	next, stop := iter.Pull2(e.ReadCells(ctx, scope, ids))
	defer stop()
	var data []byte
	var salts []digest.Salt
	var gone error
	for i, it := range sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			c, err, _ := next()
			switch {
			case errors.Is(err, store.ErrGone):
				gone = base.Statef(api.ErrGone, "segment %d, %s %s, was purged", i+1, it.Kind, it.Ref)
				res.Erased++
			case err != nil:
				return nil, err
			case !manifest.CommitSegment(c.Salt, c.Body).Equal(it.Commit):
				return nil, fmt.Errorf("%w: segment %d, %s %s: its bytes differ from the sealed ones", api.ErrIntegrity, i+1, it.Kind, it.Ref)
			default:
				res.Segments++
				data, salts = append(data, c.Body...), append(salts, c.Salt)
			}
		case *manifest.Redacted:
			if gone == nil {
				gone = base.Statef(api.ErrGone, "item %d was purged", i+1)
			}
		case *manifest.Output:
			if gone != nil {
				return nil, gone
			}
			if !manifest.CommitOutput(salts, data).Equal(it.Commit) {
				return nil, fmt.Errorf("%w: the context as a whole differs from the sealed one", api.ErrIntegrity)
			}
			res.Output = true
		}
	}
	return data, gone
}

// Log returns the log of a scope after a version, in order.
func (e *Contexts) Log(ctx context.Context, scope governance.Scope, req *api.LogRequest) (_ *api.List[store.Entry], err error) {
	defer base.During("log", &err)
	return base.ListPage(base.Entries("log", scope, req.Since, e.Store.Log(ctx, scope, req.Since)), req.Cursor)
}
