// Package carrel is the context engine for agents of language models: it
// decides what stays in the context window, what becomes a stub that can be
// recalled, and what leaves. It never breaks a request, never loses a byte,
// never drops anything silently, and can say afterwards why.
//
// # Jobs
//
// An [Engine] works on a [store.Store]. [Engine.Import] takes a conversation
// in, [Engine.Compress] makes it fit a budget, [Engine.Export] writes what is
// in the window in a provider's format, valid and otherwise byte for byte what
// came in. [Engine.Recall] returns the original bytes of any block,
// [Engine.Search] finds blocks, [Engine.Why] says why a block is where it is,
// and [Engine.Undo] restores the window that was there before.
//
// Each session has a contract, a program that says what became of its blocks, and,
// with [Engine.AmendContract], what was decided, asked and corrected, and which rules
// bind the engine: a pass after which the contract would fail is refused.
// [Engine.Handoff] makes a packet that carries a session to another agent, and
// [Engine.Accept] begins one with it.
//
// [Engine.Put] takes in artifacts, which are pieces of context from outside of
// the conversations, and [Engine.Assemble] makes a context of them for a
// question, within a budget. Its manifest accounts for every byte and for
// everything left out: [Engine.Manifest], [Engine.Replay], [Engine.VerifyManifest].
// [Engine.Commit] is the gate for what an agent wants remembered, [Engine.Decide]
// a person's word about what the gate held. [Engine.Refute] recalls what turned
// out to be wrong, [Engine.Purge] erases.
//
// Who stands between a client and a provider records with [Engine.Begin] and [Engine.End]
// what was sent and what came of it, and keeps with [Engine.NewEpoch] and
// [Engine.KeepRewrite] what was sent in place of what the client sent. [Engine.Report] and
// [Engine.Calls] tell of it.
//
// Each job reads what it needs at a revision, asks the pure packages below
// (transcript, pager, facts, intent, retrieval, contract, handoff, triage, assembly,
// manifest),
// and writes one [store.Change] or [store.Update]. If somebody else wrote in
// between, it reads again, three times at most. A job that fails has changed
// nothing.
//
// # Without a model
//
// Nothing here needs a model or a network; [Options] takes an embedder, and
// sources that artifacts are fetched from again. Equal conversations, artifacts,
// requests, times and options give equal plans, stubs, exports and contexts. The
// clock says how old an artifact is and whether it has expired, and what is
// recorded; nothing else depends on it. The random source is for ids and salts.
package carrel

import (
	"context"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/artifacts"
	"github.com/carrel-dev/carrel/internal/engine/audit"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/calls"
	"github.com/carrel-dev/carrel/internal/engine/contexts"
	"github.com/carrel-dev/carrel/internal/engine/contracts"
	"github.com/carrel-dev/carrel/internal/engine/handoffs"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/sessions"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/engine/windows"
	"github.com/carrel-dev/carrel/store"
)

// An Engine does jobs on a store. It is safe for concurrent use.
type Engine struct {
	base      *base.Base
	shared    *stacks.Shared
	memory    *hold.Memory
	sessions  *sessions.Sessions
	windows   *windows.Windows
	artifacts *artifacts.Artifacts
	contexts  *contexts.Contexts
	contracts *contracts.Contracts
	handoffs  *handoffs.Handoffs
	calls     *calls.Calls
	audit     *audit.Audit
}

// New returns an engine over s. The engine does not own s: close the store
// after the last job has returned.
func New(s store.Store, opts *Options) (*Engine, error) {
	if s == nil {
		return nil, errors.New("carrel: no store")
	}
	if opts == nil {
		opts = new(Options)
	}
	o, err := base.Options(*opts).Complete()
	if err != nil {
		return nil, fmt.Errorf("carrel: options: %w", err)
	}
	shared, err := stacks.NewShared(&o)
	if err != nil {
		return nil, err
	}
	return furnish(&base.Base{Store: s, Opts: o}, shared, new(hold.Memory)), nil
}

// furnish returns an engine with all its rooms.
func furnish(b *base.Base, shared *stacks.Shared, memory *hold.Memory) *Engine {
	b.Store = memory.Sessions.Over(b.Store)
	r := &record.Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: b, Shared: shared}, Memory: memory}}
	e := &Engine{
		base: b, shared: shared, memory: memory,
		sessions: &sessions.Sessions{Recorder: r}, windows: &windows.Windows{Recorder: r},
		artifacts: &artifacts.Artifacts{Recorder: r}, contracts: &contracts.Contracts{Recorder: r},
	}
	e.contexts = &contexts.Contexts{Recorder: r, FitWindow: e.windows.FitWindow}
	e.handoffs = &handoffs.Handoffs{Recorder: r, Import: e.sessions.ImportTitled}
	e.calls = &calls.Calls{Recorder: r, Import: e.sessions.Import, Compress: e.windows.Compress, Export: e.sessions.Export}
	e.audit = &audit.Audit{Recorder: r, Verify: e.contexts.VerifyManifest}
	return e
}

// As returns an engine that acts for another actor, and sees what s lets it see: a
// view of the same store, such as one that guards it. Both engines share what is
// kept in memory, which is of one scope each, and read only after the store has
// said what the scope is at.
func (e *Engine) As(actor governance.Actor, s store.Store) *Engine {
	b := &base.Base{Store: s, Opts: e.base.Opts}
	b.Opts.Actor = actor
	return furnish(b, e.shared, e.memory)
}

// WithProgress returns a context in which jobs tell f how far they are, in place of
// [Options.Progress]. f must be safe for concurrent use.
func WithProgress(ctx context.Context, f func(job string, done, total int)) context.Context {
	return api.WithProgress(ctx, f)
}
