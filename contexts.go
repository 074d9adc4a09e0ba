package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/contexts"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// Assemble makes a context for a query within a budget: a system text, pinned
// artifacts, what is in the window of a session, the artifacts that triage
// finds worth a place, and the query, in this order, so that what stays the
// same from call to call comes first.
//
// What everything would take is measured before anything is cut; the tier
// follows from it (see package assembly), and the result is never over the
// budget. If even the parts that no tier touches are over it, the error is an
// [ErrBudget] with their sizes. A session that is too large for the budget is
// cut as by [Engine.Compress], in this context alone.
//
// Artifacts stand between fences that name their source and that no text can
// close, and characters that cannot be seen are made visible. Every artifact is
// checked against its source before it is used.
//
// The account of all this, the manifest, is sealed and stored before the
// context is handed out.
func (e *Engine) Assemble(ctx context.Context, scope governance.Scope, req *AssembleRequest) (*AssembleResult, error) {
	return e.contexts.Assemble(ctx, scope, req)
}

// Policy names everything that decides about contexts and memories: the policy
// of triage, the ladder, and the threshold of the gate. Manifests and verdicts
// are bound to it.
func (e *Engine) Policy() string {
	return e.shared.PolicyName
}

// Bind binds a verdict to a text, a scope and the policy of now. It is for those
// who judge the very text that they commit; an evaluator elsewhere binds its
// own verdicts.
func (e *Engine) Bind(v *assembly.Verdict, scope governance.Scope, text string) {
	e.contexts.Bind(v, scope, text)
}

// Commit passes the outcome of a context, and the memory that is proposed from
// it, through the gate. The confidence comes from outside, always: Carrel
// computes none. What passes is committed: the memory is stored, with its
// lineage, and may enter contexts. What the gate holds is stored apart until a
// person decides, see [Engine.Review], or until it comes again with a verdict
// that passes. What it refuses is not stored, and
// changes nothing at all.
//
// Without a text, only the outcome of the context is recorded, beside its
// manifest.
func (e *Engine) Commit(ctx context.Context, scope governance.Scope, req *CommitRequest) (*CommitResult, error) {
	return e.contexts.Commit(ctx, scope, req)
}

// Reviews returns the memories that wait for a person, oldest first.
func (e *Engine) Reviews(ctx context.Context, scope governance.Scope, req *None) (*List[ReviewEntry], error) {
	return e.contexts.Reviews(ctx, scope, req)
}

// Review returns a memory that was through the gate, whatever became of it.
func (e *Engine) Review(ctx context.Context, scope governance.Scope, req *IDRequest) (*ReviewEntry, error) {
	return e.contexts.Review(ctx, scope, req)
}

// Decide ends a review. An approved memory counts as verified by the person who
// approved it. A text in place of the one proposed must not hold a credential.
// Two people cannot decide the same: for the second it is an [ErrRequest].
func (e *Engine) Decide(ctx context.Context, scope governance.Scope, d *DecideRequest) (*Artifact, error) {
	return e.contexts.Decide(ctx, scope, d)
}

// Manifests returns the manifests of a scope, or of one of its sessions, newest
// first, limit at most, without their documents. A limit of 0 is no limit.
func (e *Engine) Manifests(ctx context.Context, scope governance.Scope, req *ManifestsRequest) (*List[store.Manifest], error) {
	return e.contexts.Manifests(ctx, scope, req)
}

// Manifest returns a manifest by its id or the beginning of it, with what came
// of the context. "@last" is the newest.
func (e *Engine) Manifest(ctx context.Context, scope governance.Scope, req *IDRequest) (*ManifestResult, error) {
	return e.contexts.Manifest(ctx, scope, req)
}

// DiffManifests returns how one context became another.
func (e *Engine) DiffManifests(ctx context.Context, scope governance.Scope, req *DiffRequest) (*manifest.Delta, error) {
	return e.contexts.DiffManifests(ctx, scope, req)
}

// VerifyManifest checks a manifest: the seal of its document, the commitment of
// every segment, and the context as a whole. What does not hold is an
// [ErrIntegrity].
func (e *Engine) VerifyManifest(ctx context.Context, scope governance.Scope, req *IDRequest) (*VerifyResult, error) {
	return e.contexts.VerifyManifest(ctx, scope, req)
}

// Replay rebuilds the exact bytes of the context that a manifest is about. If
// any of them were purged, it is [ErrGone].
func (e *Engine) Replay(ctx context.Context, scope governance.Scope, req *IDRequest) (*ReplayResult, error) {
	return e.contexts.Replay(ctx, scope, req)
}

// Log returns what happened to the artifacts and contexts of a scope after a
// version, in order.
func (e *Engine) Log(ctx context.Context, scope governance.Scope, req *LogRequest) (*List[store.Entry], error) {
	return e.contexts.Log(ctx, scope, req)
}

// Triage scores the artifacts of a scope for a query, as [Engine.Assemble]
// does, and assembles nothing. Sources are asked, and what has changed is
// fetched.
func (e *Engine) Triage(ctx context.Context, scope governance.Scope, req *TriageRequest) (*TriageResult, error) {
	return e.contexts.Triage(ctx, scope, req)
}

// VerifyDocument checks the document of a manifest that was exported, without
// a store: that it is in its one form and that its seal holds.
func VerifyDocument(data []byte) (*VerifyResult, error) { return contexts.VerifyDocument(data) }
