package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Begin records durably that a call to a model is about to be sent. It fails
// with [store.ErrConflict] if a call with that id exists.
func (e *Engine) Begin(ctx context.Context, scope governance.Scope, req *BeginRequest) (*BeginResult, error) {
	return e.calls.Begin(ctx, scope, req)
}

// End records the outcome of a call durably. It fails with
// [store.ErrNotFound] if the call was never begun, and with
// [store.ErrConflict] if it has ended. A call that ended as unknown may still
// end as done or failed.
func (e *Engine) End(ctx context.Context, scope governance.Scope, req *EndRequest) (*EndResult, error) {
	return e.calls.End(ctx, scope, req)
}

// CloseCalls ends open calls as unknown, because their sender no longer runs
// and cannot report their outcome.
func (e *Engine) CloseCalls(ctx context.Context, scope governance.Scope, req *CloseCallsRequest) (*CloseCallsResult, error) {
	return e.calls.CloseCalls(ctx, scope, req)
}

// Calls returns the calls to models of a scope or of one session, the last
// begun first. Calls hold no text, and they stay when their session is purged.
func (e *Engine) Calls(ctx context.Context, scope governance.Scope, req *CallsRequest) (*List[Call], error) {
	return e.calls.Calls(ctx, scope, req)
}

// Call returns the record of one call: the sent body, as far as it is recorded, the length of
// the beginning that it shares with the call before it, the cost, and the cause of a cache miss.
// A call is named by its id, or by its number in the order in which the calls of the scope were
// begun. It fails with [store.ErrNotFound] if there is none.
func (e *Engine) Call(ctx context.Context, scope governance.Scope, req *IDRequest) (*CallResult, error) {
	return e.calls.Call(ctx, scope, req)
}

// Report sums up the requests of clients to models and the requests that Carrel sent in their
// place. It has separate sums for sessions that Carrel managed, for sessions that it left alone for
// comparison, and for all others.
func (e *Engine) Report(ctx context.Context, scope governance.Scope, req *ReportRequest) (*ReportResult, error) {
	return e.calls.Report(ctx, scope, req)
}

// Rewrites returns the rewrites of a session: the messages that were sent to models in place of
// the client's messages. A caller that sends the conversation again must send these bytes again:
// the provider's cache finds no others.
func (e *Engine) Rewrites(ctx context.Context, scope governance.Scope, req *SessionRequest) (*RewritesResult, error) {
	return e.calls.Rewrites(ctx, scope, req)
}

// KeepRewrite stores durably the messages that are about to be sent in place of a client's
// messages. They are erased with the session.
func (e *Engine) KeepRewrite(ctx context.Context, scope governance.Scope, req *KeepRewriteRequest) (*KeepRewriteResult, error) {
	return e.calls.KeepRewrite(ctx, scope, req)
}

// NewEpoch makes the window of a conversation smaller with [StrategyAccount] and stores the head:
// the messages that are sent from then on in place of the client's messages. It imports the body of
// the client's request, and goes back to an older message if the client did; compresses the window;
// exports it in the same format; and takes the list of messages from the export. Import,
// compression and head are three changes of the session. A caller that is interrupted between them
// repeats the request and gets the same head.
//
// The conversation stays recallable byte for byte. NewEpoch fails like
// [Engine.Import] and [Engine.Compress], with [ErrRequest] if the body has no
// list of messages, and with [ErrPolicy] if fields beside the messages would
// have to change.
func (e *Engine) NewEpoch(ctx context.Context, scope governance.Scope, req *NewEpochRequest) (*NewEpochResult, error) {
	return e.calls.NewEpoch(ctx, scope, req)
}
