package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Assemble does [carrel.Engine.Assemble] on the server.
func (c *Client) Assemble(ctx context.Context, scope governance.Scope, req *carrel.AssembleRequest) (*carrel.AssembleResult, error) {
	return do(ctx, c, scope, &api.Assemble, req)
}

// Manifests does [carrel.Engine.Manifests] on the server.
func (c *Client) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID, limit int) ([]store.Manifest, error) {
	return pages(limit, func(at api.Cursor) (*api.Page[store.Manifest], error) {
		return do(ctx, c, scope, &api.Manifests, &api.ManifestsRequest{Session: session, Cursor: at})
	})
}

// Manifest does [carrel.Engine.Manifest] on the server. The document is read here, and
// its seal held against the one that was recorded.
func (c *Client) Manifest(ctx context.Context, scope governance.Scope, id string) (*store.Manifest, *manifest.Sealed, error) {
	res, err := do(ctx, c, scope, &api.Manifest, &api.IDRequest{ID: id})
	if err != nil {
		return nil, nil, err
	}
	sealed, err := manifest.Parse(res.Document)
	if err == nil && !sealed.Seal().Equal(res.Seal) {
		err = errors.New("its seal is not the one that was recorded")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("show manifest %s: %w: %w", id, carrel.ErrIntegrity, err)
	}
	m := res.Manifest
	m.Body = res.Document
	return &m, sealed, nil
}

// DiffManifests does [carrel.Engine.DiffManifests] on the server.
func (c *Client) DiffManifests(ctx context.Context, scope governance.Scope, a, b string) (*manifest.Delta, error) {
	return do(ctx, c, scope, &api.DiffManifests, &api.DiffRequest{ID: a, Other: b})
}

// VerifyManifest does [carrel.Engine.VerifyManifest] on the server.
func (c *Client) VerifyManifest(ctx context.Context, scope governance.Scope, id string) (*carrel.VerifyResult, error) {
	return do(ctx, c, scope, &api.VerifyManifest, &api.IDRequest{ID: id})
}

// Replay does [carrel.Engine.Replay] on the server.
func (c *Client) Replay(ctx context.Context, scope governance.Scope, id string) ([]byte, error) {
	res, err := do(ctx, c, scope, &api.Replay, &api.IDRequest{ID: id})
	if err != nil {
		return nil, err
	}
	return res.Data, nil
}

// Commit does [carrel.Engine.Commit] on the server.
func (c *Client) Commit(ctx context.Context, scope governance.Scope, req *carrel.CommitRequest) (*carrel.CommitResult, error) {
	return do(ctx, c, scope, &api.Commit, req)
}

// Reviews does [carrel.Engine.Reviews] on the server.
func (c *Client) Reviews(ctx context.Context, scope governance.Scope) ([]carrel.ReviewEntry, error) {
	return items(do(ctx, c, scope, &api.Reviews, &api.None{}))
}

// Review does [carrel.Engine.Review] on the server.
func (c *Client) Review(ctx context.Context, scope governance.Scope, id string) (*carrel.ReviewEntry, error) {
	return do(ctx, c, scope, &api.Review, &api.IDRequest{ID: id})
}

// Decide does [carrel.Engine.Decide] on the server.
func (c *Client) Decide(ctx context.Context, scope governance.Scope, d *carrel.ReviewDecision) (*carrel.Artifact, error) {
	return do(ctx, c, scope, &api.Decide, d)
}
