package client

import (
	"context"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/store"
)

// Put does [carrel.Engine.Put] on the server.
func (c *Client) Put(ctx context.Context, scope governance.Scope, reqs ...*carrel.PutRequest) ([]carrel.Artifact, error) {
	return items(do(ctx, c, scope, &api.Put, &api.PutRequest{Artifacts: reqs}))
}

// Artifacts does [carrel.Engine.Artifacts] on the server.
func (c *Client) Artifacts(ctx context.Context, scope governance.Scope, req *carrel.ArtifactsRequest) ([]carrel.Artifact, error) {
	return pages(req.Limit, func(at api.Cursor) (*api.Page[carrel.Artifact], error) {
		page := &api.ArtifactsRequest{ArtifactsRequest: *req, After: at.After}
		page.Limit = at.Limit
		return do(ctx, c, scope, &api.Artifacts, page)
	})
}

// Get does [carrel.Engine.Get] on the server.
func (c *Client) Get(ctx context.Context, scope governance.Scope, req *carrel.GetRequest) (*carrel.GetResult, error) {
	return do(ctx, c, scope, &api.Get, req)
}

// PinArtifact does [carrel.Engine.PinArtifact] on the server.
func (c *Client) PinArtifact(ctx context.Context, scope governance.Scope, id string, pinned bool) (*carrel.Artifact, error) {
	return do(ctx, c, scope, &api.PinArtifact, &api.PinArtifactRequest{ID: id, Pinned: pinned})
}

// Remove does [carrel.Engine.Remove] on the server.
func (c *Client) Remove(ctx context.Context, scope governance.Scope, ids ...string) (*carrel.RemovalResult, error) {
	return do(ctx, c, scope, &api.Remove, &api.IDsRequest{IDs: ids})
}

// Restore does [carrel.Engine.Restore] on the server.
func (c *Client) Restore(ctx context.Context, scope governance.Scope, ids ...string) (*carrel.RemovalResult, error) {
	return do(ctx, c, scope, &api.Restore, &api.IDsRequest{IDs: ids})
}

// Refute does [carrel.Engine.Refute] on the server.
func (c *Client) Refute(ctx context.Context, scope governance.Scope, req *carrel.RefuteRequest) (*carrel.RemovalResult, error) {
	return do(ctx, c, scope, &api.Refute, req)
}

// Purge does [carrel.Engine.Purge] on the server.
func (c *Client) Purge(ctx context.Context, scope governance.Scope, ids ...string) (*carrel.RemovalResult, error) {
	return do(ctx, c, scope, &api.Purge, &api.IDsRequest{IDs: ids})
}

// Stash does [carrel.Engine.Stash] on the server.
func (c *Client) Stash(ctx context.Context, scope governance.Scope, req *carrel.StashRequest) (*carrel.StashResult, error) {
	return do(ctx, c, scope, &api.Stash, req)
}

// CollectStash does [carrel.Engine.CollectStash] on the server.
func (c *Client) CollectStash(ctx context.Context, scope governance.Scope, dryRun bool) (*carrel.RemovalResult, error) {
	return do(ctx, c, scope, &api.CollectStash, &api.CollectRequest{DryRun: dryRun})
}

// Triage does [carrel.Engine.Triage] on the server.
func (c *Client) Triage(ctx context.Context, scope governance.Scope, req *carrel.TriageRequest) (*carrel.TriageResult, error) {
	return do(ctx, c, scope, &api.Triage, req)
}

// Log does [carrel.Engine.Log] on the server.
func (c *Client) Log(ctx context.Context, scope governance.Scope, after store.Version) ([]store.Entry, error) {
	return pages(0, func(at api.Cursor) (*api.Page[store.Entry], error) {
		return do(ctx, c, scope, &api.Log, &api.LogRequest{Since: after, Cursor: at})
	})
}
