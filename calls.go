package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Begin records that a call to a model is about to be sent. It is durable when Begin
// returns: whatever happens then, the call is known. It fails with [store.ErrConflict] if a
// call with that id was begun already.
func (e *Engine) Begin(ctx context.Context, scope governance.Scope, req *BeginRequest) (*BeginResult, error) {
	return e.calls.Begin(ctx, scope, req)
}

// End records what came of a call, durably. It fails with [store.ErrNotFound] if the call
// was never begun, and with [store.ErrConflict] if it has ended; one that ended as unknown
// may still end as done or failed.
func (e *Engine) End(ctx context.Context, scope governance.Scope, req *EndRequest) (*EndResult, error) {
	return e.calls.End(ctx, scope, req)
}

// CloseCalls ends calls of which nobody has said what came of them, because who sent them
// is no more: as unknown, never as done.
func (e *Engine) CloseCalls(ctx context.Context, scope governance.Scope, req *CloseCallsRequest) (*CloseCallsResult, error) {
	return e.calls.CloseCalls(ctx, scope, req)
}

// Calls returns the calls to models of a scope, or of one session, last begun first, limit
// at most; 0 means all. They hold no text, and stay when their session is purged.
func (e *Engine) Calls(ctx context.Context, scope governance.Scope, req *CallsRequest) (*List[Call], error) {
	return e.calls.Calls(ctx, scope, req)
}

// Report says what was sent to models, and by how much less than what clients sent, apart
// for sessions that were managed, that were left as they are for comparison, and others.
func (e *Engine) Report(ctx context.Context, scope governance.Scope, req *ReportRequest) (*ReportResult, error) {
	return e.calls.Report(ctx, scope, req)
}

// Rewrites returns what was sent to models in place of what a client sent in a session, so
// that the same is sent again.
func (e *Engine) Rewrites(ctx context.Context, scope governance.Scope, req *SessionRequest) (*RewritesResult, error) {
	return e.calls.Rewrites(ctx, scope, req)
}

// KeepRewrite keeps what is about to be sent in place of what a client sent. It is durable
// when KeepRewrite returns, and is erased with the session.
func (e *Engine) KeepRewrite(ctx context.Context, scope governance.Scope, req *KeepRewriteRequest) (*KeepRewriteResult, error) {
	return e.calls.KeepRewrite(ctx, scope, req)
}

// NewEpoch makes the window of a conversation smaller, by an account, and keeps what is sent
// from then on in place of its messages. It imports the body of the client's request, and
// goes back where the client went back; compresses the window; exports it in the same
// format; and takes the list of messages out of that. Each of import, compression and head
// is one change of the session: who is interrupted between two of them asks again, and gets
// the same head.
//
// The conversation stays recallable, byte for byte. NewEpoch fails as [Engine.Import] and
// [Engine.Compress] do, with an [ErrRequest] if the body has no list of messages, and with
// an [ErrPolicy] if what stands beside the messages would have to change, too.
func (e *Engine) NewEpoch(ctx context.Context, scope governance.Scope, req *NewEpochRequest) (*NewEpochResult, error) {
	return e.calls.NewEpoch(ctx, scope, req)
}
