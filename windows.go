package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
)

// Brief returns in few words what of a session must survive a compaction. It is made of
// the account of all its windows, see package account: what persons said, what they
// corrected, what is pinned and ruled, how the work stands, what was decided, which of the
// agent's sentences are worth most, what is open, which files were changed, and of commands
// that are attempts at the same thing the newest and how it ended. Texts are the
// conversation's own; each names the block that has all of it. What a compaction by
// the agent took out of the conversation is in it, too. For a restart it has nothing that
// the summary says with which the window begins. It changes nothing.
//
// Of each kind what is newest comes first, and no kind crowds out another. What there
// is no room for is counted.
func (e *Engine) Brief(ctx context.Context, scope governance.Scope, req *BriefRequest) (*BriefResult, error) {
	return e.windows.Brief(ctx, scope, req)
}

// Compress cuts what is in the window of a session until it fits a budget. A
// window that fits is left alone, unless somebody asks for a larger budget than that
// of the last pass: then what passes took out comes back, as far as it fits. What was
// discarded, paged by hand or compacted by the agent's client, does not.
//
// # Strategies
//
// Anchored, hybrid, regenerative and opaque put a summary in place
// of older blocks, all but the last few. It is made from the blocks that are new
// since the last compression, by a program or, if the options have a generator, by
// a model, and merged with what there was; regenerative makes it from all.
// What is still too large then leaves by rule and score, along the sequence that
// package pager describes, or, in a sliding window, oldest first. Account, which is the
// default, importance, pager and window do only that, each in its way.
//
// Anchored writes an account, and of its summary the id by which all of it is recalled. If
// that does not answer the probes, it puts the summary itself into the window, and keeps
// lines beside it.
//
// Account has a model's text, too, if the options have a generator: where it passes the
// checks, it takes the place of the agent's sentences, and all else of the account stays. If
// it does not, the account is as without a model.
//
// # Probes
//
// A window with a new summary is accepted if it answers probes that were
// generated from the originals; see package probe. If it does not, a summary with
// more detail is tried, then one that covers fewer blocks, then a sliding window.
// If none of it is accepted, the error is an [ErrProbes]. An opaque summary is
// graded, too, but refused only where the request says how much it must answer.
//
// Besides its window, the new summary alone must be accepted by the judgement that
// [Judgement] describes, so that [Engine.CheckSummary] accepts what was accepted here.
//
// # Writing
//
// The result is checked by the rules of the session's provider before anything is
// written, and written whole: the new places of the blocks, their stubs, the
// summary, the journal and the contract. Every byte stays in the store.
//
// It fails with [ErrBudget] if what rules hold does not fit, and says how small the window
// can become, which a request for the smallest makes; with [ErrInvalid] if
// the provider would refuse the result, and with [ErrPolicy] if the strategy is
// opaque and the session is critical. Then nothing has changed.
func (e *Engine) Compress(ctx context.Context, scope governance.Scope, req *CompressRequest) (*CompressResult, error) {
	return e.windows.Compress(ctx, scope, req)
}

// Discard takes blocks out of the window of a session. They can be recalled and
// the discard undone. Blocks that are named go all or not at all: if a rule keeps
// one of them, if one is not in the window, or if the window would fall below its
// floor, the error is an [ErrPolicy] with a [*pager.DiscardError] that lists every
// block that is refused. An automatic discard takes blocks in the order of
// [pager.PlanDiscard] until the window is near its target.
//
// The result is checked by the rules of the session's provider, and is an
// [ErrInvalid] if they would refuse it. After an error nothing has changed.
func (e *Engine) Discard(ctx context.Context, scope governance.Scope, req *DiscardRequest) (*DiscardResult, error) {
	return e.windows.Discard(ctx, scope, req)
}

// Messages returns the blocks of a session.
func (e *Engine) Messages(ctx context.Context, scope governance.Scope, req *MessagesRequest) (*MessagesResult, error) {
	return e.windows.Messages(ctx, scope, req)
}

// Context says what fills the window of a session. A capacity of 0 is that of
// the engine's options.
func (e *Engine) Context(ctx context.Context, scope governance.Scope, req *ContextRequest) (*ContextResult, error) {
	return e.windows.Context(ctx, scope, req)
}

// Mark marks a session as critical, or lifts the mark: in a critical one nothing
// stands for blocks that nobody can read and check, so that [StrategyOpaque] is
// refused.
func (e *Engine) Mark(ctx context.Context, scope governance.Scope, req *MarkRequest) (*MarkResult, error) {
	return e.windows.Mark(ctx, scope, req)
}

// Page puts stubs of one line in place of blocks, whatever their scores, as a pass that
// can be undone. Blocks go all or not at all: if one of them is under a hard rule or not
// in the window, or if its stub would be no shorter, the error is an [ErrPolicy] with a
// [*pager.DiscardError] that lists every block that is refused. A block that is a stub
// already stays as it is. Page asks for no floor, and no later pass brings back what it
// took out; [Engine.Recall] and [Engine.Undo] do.
//
// The result is checked by the rules of the session's provider, and is an
// [ErrInvalid] if they would refuse it. After an error nothing has changed.
func (e *Engine) Page(ctx context.Context, scope governance.Scope, req *PageRequest) (*PageResult, error) {
	return e.windows.Page(ctx, scope, req)
}

// Pin puts blocks under the hard rule [pager.RulePin], or lifts it. A block
// that is not whole in the window is not brought back by a pin: it stays as it
// is from then on. Nor is one of an earlier window: there a pin says what a brief and a
// packet must name. Blocks of one session change together.
func (e *Engine) Pin(ctx context.Context, scope governance.Scope, req *PinRequest) (*PinResult, error) {
	return e.windows.Pin(ctx, scope, req)
}

// Probes generates probes from the originals of a session.
func (e *Engine) Probes(ctx context.Context, scope governance.Scope, req *ProbesRequest) (*ProbesResult, error) {
	return e.windows.Probes(ctx, scope, req)
}

// RunProbes asks probes of what is in the window of a session, or of a text. It
// changes nothing.
func (e *Engine) RunProbes(ctx context.Context, scope governance.Scope, req *RunProbesRequest) (*RunProbesResult, error) {
	return e.windows.RunProbes(ctx, scope, req)
}

// ProbeReport returns the rounds of compression of a session, and how the share of
// answered probes drifted.
func (e *Engine) ProbeReport(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ProbeReport, error) {
	return e.windows.ProbeReport(ctx, scope, req)
}

// Cost says what conversations cost: one, or all of the scope. It goes by what the client
// recorded of what the provider charged for each call, and by the prices of
// [Options.Prices], and finds where a call could have read more from the provider's cache
// than it did. A session in a format that does not record that is an [ErrRequest] if it is
// asked for, and is otherwise listed apart. What managing the windows had changed is
// arithmetic over the same figures and no promise.
func (e *Engine) Cost(ctx context.Context, scope governance.Scope, req *CostRequest) (*CostResult, error) {
	return e.windows.Cost(ctx, scope, req)
}

// Stats estimates what the tasks of a session cost, from the conversation alone:
// each reply of the model is a call that read all that was said before, as it was
// imported, and what a provider caches is counted like the rest. A call before a
// compaction by the client read its own window.
func (e *Engine) Stats(ctx context.Context, scope governance.Scope, req *SessionRequest) (*StatsResult, error) {
	return e.windows.Stats(ctx, scope, req)
}

// Summary returns what stands in the window of a session for its older blocks.
// A session that has none is [store.ErrNotFound].
func (e *Engine) Summary(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SummaryResult, error) {
	return e.windows.Summary(ctx, scope, req)
}

// CheckSummary says whether a summary could stand for the blocks of a session, by
// the judgement that [Judgement] describes. It changes nothing.
func (e *Engine) CheckSummary(ctx context.Context, scope governance.Scope, req *CheckSummaryRequest) (*CheckSummaryResult, error) {
	return e.windows.CheckSummary(ctx, scope, req)
}

// State returns the state of compression of a session.
func (e *Engine) State(ctx context.Context, scope governance.Scope, req *SessionRequest) (*ProtocolState, error) {
	return e.windows.State(ctx, scope, req)
}

// Trigger says whether a session is due for a pass. It changes nothing.
func (e *Engine) Trigger(ctx context.Context, scope governance.Scope, req *TriggerRequest) (*TriggerResult, error) {
	return e.windows.Trigger(ctx, scope, req)
}

// Undo takes back the last operation of a session that is not undone: the
// window is then what it was before, exactly, and so are the pins. Another
// operation can only be named if it is that one. An import is not undone: it
// took nothing away.
func (e *Engine) Undo(ctx context.Context, scope governance.Scope, req *UndoRequest) (*UndoResult, error) {
	return e.windows.Undo(ctx, scope, req)
}

// Why tells of every decision about a block, with the rule or the inputs of
// the score, and what rule and score it has now; and of its names and lines how
// likely the agent needs them again, by what, and whether they are in the window. If
// the last pass made an account, it tells the same of the units of the block, with what
// they cost and what brings back those that are not there.
func (e *Engine) Why(ctx context.Context, scope governance.Scope, req *BlockRequest) (*WhyResult, error) {
	return e.windows.Why(ctx, scope, req)
}
