package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Get returns an artifact and its content. If the artifact has a source and the
// source has changed, Get fetches it again first; it fails with an error of
// package artifact if the source is gone or cannot be read. For a purged
// artifact it fails with [ErrGone]. An artifact that is held, refuted or
// removed is returned with that status.
func (e *Engine) Get(ctx context.Context, scope governance.Scope, req *GetRequest) (*GetResult, error) {
	return e.artifacts.Get(ctx, scope, req)
}

// Artifacts returns the artifacts of a scope, newest first. Expired artifacts
// are included and marked.
func (e *Engine) Artifacts(ctx context.Context, scope governance.Scope, req *ArtifactsRequest) (*List[Artifact], error) {
	return e.artifacts.Artifacts(ctx, scope, req)
}

// Remove takes artifacts out of use: no context includes them. Their content is kept;
// [Engine.Restore] brings them back. Artifacts derived from them stay in use.
func (e *Engine) Remove(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Remove(ctx, scope, req)
}

// Restore brings back the named artifacts, which must be removed or refuted. It neither checks
// their sources nor restores what is derived from them: to undo [Engine.Refute], name every
// artifact of its result that is to come back. A memory goes back to the status that it had: one
// that the gate held is held again, one that a person rejected is rejected again.
func (e *Engine) Restore(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Restore(ctx, scope, req)
}

// Refute marks artifacts as wrong, and with them everything derived from
// them: no context includes any of it. The result lists these artifacts and the contexts that
// used them. [Engine.Restore] brings back those that it is given.
func (e *Engine) Refute(ctx context.Context, scope governance.Scope, req *RefuteRequest) (*RemovalResult, error) {
	return e.artifacts.Refute(ctx, scope, req)
}

// Purge erases artifacts for good: their content, metadata and versions, and
// everything derived from them, such as pieces of contexts and memories. IDs,
// commitments and the log stay, so that manifests still verify; [Engine.Get]
// and [Engine.Replay] then fail with [ErrGone].
func (e *Engine) Purge(ctx context.Context, scope governance.Scope, req *IDsRequest) (*RemovalResult, error) {
	return e.artifacts.Purge(ctx, scope, req)
}

// PinArtifact pins or unpins an artifact. A pinned artifact goes into every
// context of its scope.
func (e *Engine) PinArtifact(ctx context.Context, scope governance.Scope, req *PinArtifactRequest) (*Artifact, error) {
	return e.artifacts.PinArtifact(ctx, scope, req)
}

// Stash stores the output of a tool and returns a pointer for the window: a text with the head
// and the tail of the output, the lines between them that the session most likely needs, and the
// command that returns the whole output. Equal outputs of a scope are stored once; equal outputs
// after equal conversations give equal pointers. It fails with [ErrPolicy] if the output looks as
// if it held a credential. When it returns without an error, the output is stored durably.
func (e *Engine) Stash(ctx context.Context, scope governance.Scope, req *StashRequest) (*StashResult, error) {
	return e.artifacts.Stash(ctx, scope, req)
}

// CollectStash purges expired artifacts of the stash and everything derived
// from them. A dry run only lists them.
func (e *Engine) CollectStash(ctx context.Context, scope governance.Scope, req *CollectRequest) (*RemovalResult, error) {
	return e.artifacts.CollectStash(ctx, scope, req)
}

// Put stores artifacts, all or none. It does not ask their sources. It fails with [ErrPolicy] if one
// looks as if it held a credential, or has the id of a memory that the gate held or a person
// rejected.
func (e *Engine) Put(ctx context.Context, scope governance.Scope, req *PutRequest) (*List[Artifact], error) {
	return e.artifacts.Put(ctx, scope, req)
}
