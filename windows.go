package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Brief returns the facts of a session that must survive a compaction, as a short text. It is
// made from the account of all windows of the session, see package account: users' messages and
// corrections, pins and rules, the state of the work, decisions, the most valuable sentences of
// the agent, open points, changed files, and the last command of each group of attempts with its
// outcome. Entries quote the conversation and name the block that has the whole text. Blocks that
// the agent compacted are included. A brief for a restart omits whatever the summary at the
// beginning of the window says. Brief changes nothing.
//
// In each kind of entry the newest comes first, and every kind has its share
// of the budget. The result counts the entries that do not fit.
func (e *Engine) Brief(ctx context.Context, scope governance.Scope, req *BriefRequest) (*BriefResult, error) {
	return e.windows.Brief(ctx, scope, req)
}

// Compress cuts the window of a session to a budget. A window that fits is
// left alone, unless the request has a larger budget than the last pass: then
// blocks that passes took out come back as far as they fit. Blocks that were
// discarded, paged by hand, or compacted by the agent's client do not.
//
// # Strategies
//
// [StrategyAccount], the default, [StrategyImportance], [StrategyPager] and [StrategyWindow] make
// no summary. StrategyWindow takes the oldest blocks out. The others choose by rule and score:
// StrategyAccount puts an account in place of blocks, StrategyImportance keeps lines of blocks, and
// StrategyPager makes blocks stubs or takes them out.
//
// [StrategyAnchored], [StrategyHybrid], [StrategyRegenerative] and [StrategyOpaque] replace all but
// the last few blocks by a summary. A program, or a model if the options have a generator, makes it
// from the blocks that are new since the last compression and merges it with the earlier summary;
// StrategyRegenerative makes it from all blocks. If the window is still too large, blocks leave by
// rule and score, in the sequence that package pager describes.
//
// StrategyAnchored puts an account into the window, with the id by which [Engine.Recall] returns
// the summary. If this window does not answer the probes, it puts the text of the summary into the
// window, with the lines of blocks that are most likely needed again.
//
// With a generator, StrategyAccount also asks a model for a text. If that text passes
// the checks, it replaces the agent's sentences in the account; otherwise the
// account is the same as without a model.
//
// # Probes
//
// A window with a new summary must answer probes that were generated from the original blocks;
// see package probe. If it does not, Compress tries a more detailed summary, then one that covers
// fewer blocks, then a sliding window. If none is accepted, the error is an [ErrProbes]. The
// result has the score of an opaque summary, but a low score is an error only if the request has
// a ProbeMin.
//
// The text of the new summary must also pass, without the rest of the window,
// the rules of [api.Judgement], by which [Engine.CheckSummary] judges too.
//
// # Writing
//
// Compress validates the result by the rules of the session's provider before
// it writes, and writes everything at once: the states of the blocks, their
// stubs, the summary, the journal and the contract. All bytes stay in the
// store.
//
// Compress fails with [ErrBudget], which has the smallest possible size, if
// the blocks that rules keep do not fit; a request with Smallest asks for
// that size. It fails with [ErrInvalid] if the provider would refuse the
// result, and with [ErrPolicy] if the strategy is opaque and the session is
// critical. An error leaves the session unchanged.
func (e *Engine) Compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (*CompressResult, error) {
	return e.windows.Compress(ctx, scope, req)
}

// Discard takes blocks out of the window of a session. They stay recallable, and [Engine.Undo]
// brings them back. Named blocks leave all or not at all: if a rule keeps one, if one is not in
// the window, or if the window would fall below its floor, the error is an [ErrPolicy] with a
// [*pager.DiscardError] that lists the refused blocks. An automatic discard takes blocks in the
// order of [pager.PlanDiscard] until the window is not above its target or no block may leave.
//
// If the session's provider would refuse the result, the error is an
// [ErrInvalid]. An error leaves the session unchanged.
func (e *Engine) Discard(ctx context.Context, scope governance.Scope, req *DiscardRequest) (*DiscardResult, error) {
	return e.windows.Discard(ctx, scope, req)
}

// DiffSession compares the window of a session at two moments. It returns the
// operations between them, and every block whose state or pin differs. It reads only
// the journal.
func (e *Engine) DiffSession(ctx context.Context, scope governance.Scope, req *DiffSessionRequest) (*SessionDelta, error) {
	return e.windows.DiffSession(ctx, scope, req)
}

// Messages returns the blocks of a session in every state, those of earlier windows first.
func (e *Engine) Messages(ctx context.Context, scope governance.Scope, req *MessagesRequest) (*MessagesResult, error) {
	return e.windows.Messages(ctx, scope, req)
}

// Context returns the sizes of the parts of a session's window. If req.Window
// is 0, the context window is that of [Options.Window] or of the model.
func (e *Engine) Context(ctx context.Context, scope governance.Scope, req *ContextRequest) (*ContextResult, error) {
	return e.windows.Context(ctx, scope, req)
}

// Mark marks a session as critical or removes the mark. [StrategyOpaque] is
// refused for a critical session, because its summaries cannot be read and
// checked.
func (e *Engine) Mark(ctx context.Context, scope governance.Scope, req *MarkRequest) (*MarkResult, error) {
	return e.windows.Mark(ctx, scope, req)
}

// Page replaces blocks by stubs of one line, whatever their scores;
// [Engine.Undo] takes it back. Blocks are paged all or none: if a hard rule
// keeps one, if one is not in the window, or if a stub would not be shorter,
// the error is an [ErrPolicy] with a [*pager.DiscardError] that lists the
// refused blocks. A block that is a stub already stays one. Page ignores the
// floor, and no later pass brings its blocks back into the window; only
// [Engine.Undo] does. [Engine.Recall] returns their bytes and leaves the stubs.
//
// If the session's provider would refuse the result, the error is an
// [ErrInvalid]. An error leaves the session unchanged.
func (e *Engine) Page(ctx context.Context, scope governance.Scope, req *PageRequest) (*PageResult, error) {
	return e.windows.Page(ctx, scope, req)
}

// Pin puts blocks under the hard rule [pager.RulePin], or ends this rule for them. A pinned block
// keeps its present state: a pin does not bring a block back into the window. A pinned block of an
// earlier window is named in every brief and packet. The blocks must be of one session and change
// together.
func (e *Engine) Pin(ctx context.Context, scope governance.Scope, req *PinRequest) (*PinResult, error) {
	return e.windows.Pin(ctx, scope, req)
}

// Probes generates probes from the original blocks of a session.
func (e *Engine) Probes(ctx context.Context, scope governance.Scope, req *ProbesRequest) (*ProbesResult, error) {
	return e.windows.Probes(ctx, scope, req)
}

// RunProbes checks which probes the window of a session, or a text, answers.
// It changes nothing.
func (e *Engine) RunProbes(ctx context.Context, scope governance.Scope, req *RunProbesRequest) (*RunProbesResult, error) {
	return e.windows.RunProbes(ctx, scope, req)
}

// ProbeReport returns the compressions of a session with their probe results
// and the change of the score over them.
func (e *Engine) ProbeReport(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ProbeReport, error) {
	return e.windows.ProbeReport(ctx, scope, req)
}

// Cost returns the cost of one conversation or of all conversations of the scope, from the usage
// that clients recorded for each call and the prices of [Options.Prices]. It finds calls that could
// have read more from the provider's cache. If the request names a session whose format records no
// usage, the error is an [ErrRequest]; in the cost of a scope, such sessions are listed separately.
// Managed in the result estimates the cost with windows that Carrel's proxy keeps small.
func (e *Engine) Cost(ctx context.Context, scope governance.Scope, req *CostRequest) (*CostResult, error) {
	return e.windows.Cost(ctx, scope, req)
}

// Stats estimates the tokens that each task of a session cost; a task begins with a user's request.
// Stats assumes that each reply of the model was one call that read all messages before the reply,
// uncompressed. Tokens from a cache count in full. For a call before a compaction by the client, it
// counts the window before that compaction.
func (e *Engine) Stats(ctx context.Context, scope governance.Scope, req *SessionRequest) (*StatsResult, error) {
	return e.windows.Stats(ctx, scope, req)
}

// Summary returns the summary in the window of a session. It fails with
// [store.ErrNotFound] if there is none.
func (e *Engine) Summary(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SummaryResult, error) {
	return e.windows.Summary(ctx, scope, req)
}

// CheckSummary checks whether a summary may replace the blocks of a session,
// as [Judgement] describes. It changes nothing.
func (e *Engine) CheckSummary(ctx context.Context, scope governance.Scope, req *CheckSummaryRequest) (*CheckSummaryResult, error) {
	return e.windows.CheckSummary(ctx, scope, req)
}

// State returns the sections of a session's anchored summary, and the counts of its compressions,
// as the document that the context-compression skill (Context Protocol 2.0) reads.
func (e *Engine) State(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ProtocolState, error) {
	return e.windows.State(ctx, scope, req)
}

// Trigger reports whether a pass over a session is due. It changes nothing.
func (e *Engine) Trigger(ctx context.Context, scope governance.Scope, req *TriggerRequest) (*TriggerResult, error) {
	return e.windows.Trigger(ctx, scope, req)
}

// Undo takes back the last operation of a session that is not undone yet, and restores window and
// pins exactly. It undoes operations of Compress, NewEpoch, Page, Discard and Pin and skips all
// others; no job takes back an undo. It fails with [store.ErrNotFound] if there is no such
// operation, and with [ErrPolicy] if the request names another than the last one.
func (e *Engine) Undo(ctx context.Context, scope governance.Scope, req *UndoRequest) (*UndoResult, error) {
	return e.windows.Undo(ctx, scope, req)
}

// Why returns the decisions about a block, each with its rule or the inputs of its score, and the
// rule and the score that it would have now. For up to ten identifiers and ten lines of the block
// it returns the probability that the agent needs them again, the reasons, and whether they are
// in the window. If the last pass made an account, it also returns the units of the block: worth,
// cost, reasons, and for one that is not in the window the smallest target that includes it.
func (e *Engine) Why(ctx context.Context, scope governance.Scope, req *BlockRequest) (*WhyResult, error) {
	return e.windows.Why(ctx, scope, req)
}
