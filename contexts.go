package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/contexts"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// Assemble makes a context for a query within a budget. In this order, so
// that the parts that rarely change come first, it has a system text, pinned
// artifacts, the window of a session, the artifacts that triage selects, and
// the query.
//
// Assemble measures the demand, which is the size of everything before any cut, and derives the
// tier from it (see package assembly). The result is never over the budget. If the parts that no
// tier may cut are over it, the error is an [ErrBudget] in which errors.As finds their sizes, an
// [*assembly.FloorError]. A session that is too large is cut as by [Engine.Compress], in this
// context alone; if it cannot be cut so far, the ErrBudget has the figures of [Floor].
//
// Each artifact stands between fences that name its source and that no text
// can close. Invisible characters are made visible. Every artifact is checked
// against its source before it is used.
//
// The manifest, which accounts for the context, is sealed and stored before
// Assemble returns.
func (e *Engine) Assemble(ctx context.Context, scope governance.Scope, req *AssembleRequest) (*AssembleResult, error) {
	return e.contexts.Assemble(ctx, scope, req)
}

// Policy returns one name for the policy of triage, the ladder, the limit of [Options.Page] and
// the threshold of the gate together. Manifests and verdicts are bound to it.
func (e *Engine) Policy() string {
	return e.shared.PolicyName
}

// Bind sets Content, Scope and Policy of v, so that [Engine.Commit] accepts v
// only for this text, scope and policy. Call it if the caller itself judged
// text. A verdict of another program must come with these fields.
func (e *Engine) Bind(v *assembly.Verdict, scope governance.Scope, text string) {
	e.contexts.Bind(v, scope, text)
}

// Commit passes the outcome of a context, and a memory proposed from it, through the gate. The
// caller supplies the confidence; Carrel computes none. An accepted memory is stored with its
// lineage and may enter contexts. A held memory is stored apart until a person decides (see
// [Engine.Decide]) or until it is proposed again with a verdict that passes. A refused memory is
// not stored and changes nothing.
//
// Without a text, Commit records only the outcome of the context beside its
// manifest.
func (e *Engine) Commit(ctx context.Context, scope governance.Scope, req *CommitRequest) (*CommitResult, error) {
	return e.contexts.Commit(ctx, scope, req)
}

// Reviews returns the held memories that wait for a person's decision, oldest
// first.
func (e *Engine) Reviews(ctx context.Context, scope governance.Scope, req *None) (*List[ReviewEntry], error) {
	return e.contexts.Reviews(ctx, scope, req)
}

// Review returns a memory that was proposed to the gate, whatever its status.
func (e *Engine) Review(ctx context.Context, scope governance.Scope, req *IDRequest) (*ReviewEntry, error) {
	return e.contexts.Review(ctx, scope, req)
}

// Decide ends a review. An approved memory counts as verified by the person who approved it.
// Decide fails with [ErrPolicy] if the approved text looks as if it held a credential or is that
// of a live memory. Only the first decision counts: a second one fails with [ErrRequest].
func (e *Engine) Decide(ctx context.Context, scope governance.Scope, d *DecideRequest) (*Artifact, error) {
	return e.contexts.Decide(ctx, scope, d)
}

// Manifests returns the manifests of a scope or of one session, newest first,
// without their documents.
func (e *Engine) Manifests(ctx context.Context, scope governance.Scope, req *ManifestsRequest) (*List[store.Manifest], error) {
	return e.contexts.Manifests(ctx, scope, req)
}

// Manifest returns a manifest by its id or a prefix of it, with the recorded
// outcome of its context. "@last" names the newest.
func (e *Engine) Manifest(ctx context.Context, scope governance.Scope, req *IDRequest) (*ManifestResult, error) {
	return e.contexts.Manifest(ctx, scope, req)
}

// DiffManifests returns the differences between two contexts.
func (e *Engine) DiffManifests(ctx context.Context, scope governance.Scope, req *DiffRequest) (*manifest.Delta, error) {
	return e.contexts.DiffManifests(ctx, scope, req)
}

// VerifyManifest checks a manifest: the seal of its document, the commitment of every segment,
// and the commitment of the whole context. It fails with [ErrIntegrity] if a check fails. Purged
// segments cannot be checked: the result counts them in Erased and leaves Output false.
func (e *Engine) VerifyManifest(ctx context.Context, scope governance.Scope, req *IDRequest) (*VerifyResult, error) {
	return e.contexts.VerifyManifest(ctx, scope, req)
}

// Replay rebuilds the exact bytes of a manifest's context. It fails with
// [ErrGone] if any of them were purged.
func (e *Engine) Replay(ctx context.Context, scope governance.Scope, req *IDRequest) (*ReplayResult, error) {
	return e.contexts.Replay(ctx, scope, req)
}

// Log returns the events of the artifacts and contexts of a scope after a
// version, in order.
func (e *Engine) Log(ctx context.Context, scope governance.Scope, req *LogRequest) (*List[store.Entry], error) {
	return e.contexts.Log(ctx, scope, req)
}

// Triage scores the artifacts of a scope for a query, as [Engine.Assemble]
// does, without making a context. It asks sources and fetches changed
// artifacts again.
func (e *Engine) Triage(ctx context.Context, scope governance.Scope, req *TriageRequest) (*TriageResult, error) {
	return e.contexts.Triage(ctx, scope, req)
}

// VerifyDocument checks an exported document of a manifest without a store:
// that it is in canonical form and that its seal holds. If not, it fails with
// [ErrIntegrity]. The result has only Manifest, Seal and Redacted.
func VerifyDocument(data []byte) (*VerifyResult, error) { return contexts.VerifyDocument(data) }
