package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Get returns an artifact and its content. One that has a source is fetched
// again first if the source has changed; if it is gone there, or cannot be
// fetched, that is the error, wrapping those of package artifact. What was
// purged is [ErrGone]; what is held, refuted or removed is returned, with that
// status.
func (e *Engine) Get(ctx context.Context, scope governance.Scope, req *GetRequest) (*GetResult, error) {
	return e.artifacts.Get(ctx, scope, req)
}

// Artifacts returns the artifacts of a scope, newest first. What has expired is
// among them, and says so.
func (e *Engine) Artifacts(ctx context.Context, scope governance.Scope, req *ArtifactsRequest) (*List[Artifact], error) {
	return e.artifacts.Artifacts(ctx, scope, req)
}

// Remove takes artifacts out: they enter no context any more. Their content is
// kept, and [Engine.Restore] brings them back.
func (e *Engine) Remove(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Remove(ctx, scope, req)
}

// Restore brings back what was removed or refuted. A memory that the gate held is held
// again, and one that a person rejected is rejected: neither enters a context by this.
func (e *Engine) Restore(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Restore(ctx, scope, req)
}

// Refute recalls what turned out to be wrong, with everything that was made
// from it: none of it enters a context any more. The result lists the contexts
// that had used any of it. [Engine.Restore] takes it back.
func (e *Engine) Refute(ctx context.Context, scope governance.Scope, req *RefuteRequest) (*RemovalResult, error) {
	return e.artifacts.Refute(ctx, scope, req)
}

// Purge erases artifacts: their content, what is said about them, every version
// of it, and whatever was made from it: the pieces of contexts, and memories.
// What stays are ids, commitments and the log, so that manifests still verify;
// [Engine.Get] and [Engine.Replay] then say that it is gone. Nothing brings it
// back.
func (e *Engine) Purge(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Purge(ctx, scope, req)
}

// PinArtifact puts an artifact into every context of its scope, or no longer.
func (e *Engine) PinArtifact(ctx context.Context, scope governance.Scope, req *PinArtifactRequest) (*Artifact, error) {
	return e.artifacts.PinArtifact(ctx, scope, req)
}

// Stash keeps the output of a tool outside of the window and returns a pointer
// to put in its place: a line that says how to get all of it, head and tail, and
// the lines between them that are most likely to be needed in the session. Equal
// outputs of a scope are kept once: then the result is the one that is there, and
// for an equal history the pointer is the same. It fails with [ErrPolicy] if the
// output looks as if it held a credential. When it returns without an error, the
// output is in the store for good.
func (e *Engine) Stash(ctx context.Context, scope governance.Scope, req *StashRequest) (*StashResult, error) {
	return e.artifacts.Stash(ctx, scope, req)
}

// CollectStash purges what is in the stash and has expired, and what was made
// from it. A dry run only tells what it would purge.
func (e *Engine) CollectStash(ctx context.Context, scope governance.Scope, req *CollectRequest) (*RemovalResult, error) {
	return e.artifacts.CollectStash(ctx, scope, req)
}

// Put takes artifacts in: all of them, or none. It fails with [ErrPolicy] if
// one looks as if it held a credential, or names a source that may not be
// fetched from.
func (e *Engine) Put(ctx context.Context, scope governance.Scope, req *PutRequest) (*List[Artifact], error) {
	return e.artifacts.Put(ctx, scope, req)
}
