// Package carrel is the context engine for agents of language models. It
// decides which blocks of a conversation stay in the context window, which
// become stubs that can be recalled, and which leave. Every result is valid
// for its provider, every byte stays recallable, and every decision is
// recorded.
//
// To make a conversation fit a budget, in memory and without a store:
//
//	t, err := carrel.Trim(ctx, data, &carrel.CompressRequest{
//		Target: carrel.Target{Tokens: 40_000},
//	}, nil)
//
// To keep conversations, decisions and artifacts, open a store and an engine:
//
//	s, err := sqlite.Open(ctx, "carrel.db", nil) // package store/sqlite
//	...
//	e, err := carrel.New(s, nil)
//	...
//	in, err := e.Import(ctx, governance.DefaultScope, &carrel.ImportRequest{Name: name, Data: data})
//	...
//	_, err = e.Compress(ctx, governance.DefaultScope, &carrel.CompressRequest{
//		Session: in.Session, Target: carrel.Target{Tokens: 40_000},
//	})
//	...
//	out, err := e.Export(ctx, governance.DefaultScope, &carrel.ExportRequest{Session: in.Session})
//
// A scope names the owner of sessions and artifacts. A job works in one scope
// and sees nothing of another. A single user takes [governance.DefaultScope].
//
// # Jobs
//
// An [Engine] works on a [store.Store]. [Engine.Import] stores a
// conversation, [Engine.Compress] makes its window fit a budget, and
// [Engine.Export] writes the window in a provider's format; untouched parts
// are byte for byte as imported. [Engine.Recall] returns the original bytes
// of any block, [Engine.Search] finds blocks, [Engine.Why] explains where a
// block is, and [Engine.Undo] restores the window before the last operation.
//
// Each session has a contract: a program that records the states of its blocks and, with
// [Engine.AmendContract], decisions, questions, corrections and the rules that the engine must
// keep. A pass is a run of a job that takes blocks out of a window or brings them back; it is
// automatic if no person asked for it. The engine refuses a pass after which the contract would
// fail. [Engine.Handoff] makes a packet that carries a session to another agent, and
// [Engine.Accept] begins a session with it.
//
// [Engine.Put] stores artifacts, which are pieces of context from outside of
// conversations, and [Engine.Assemble] makes a context from them for a query,
// within a budget. The manifest of a context accounts for every byte and for
// everything left out: [Engine.Manifest], [Engine.Replay],
// [Engine.VerifyManifest]. [Engine.Commit] is the gate for memories that an
// agent proposes; [Engine.Decide] records a person's decision about a memory
// that the gate held. [Engine.Refute] marks artifacts as wrong,
// [Engine.Purge] erases them.
//
// A proxy between a client and a provider records each call with
// [Engine.Begin] and [Engine.End], and stores the messages that it sends in
// place of the client's with [Engine.NewEpoch] and [Engine.KeepRewrite].
// [Engine.Report] and [Engine.Calls] return these records.
//
// Each job reads its input at a revision, asks the pure packages (transcript, pager, facts,
// intent, retrieval, contract, handoff, triage, assembly, manifest), and writes one
// [store.Change] or [store.Update]. If another writer changed the revision in between, it begins
// again; after the third conflict it fails with [store.ErrConflict]. A job that fails has changed
// nothing. [Engine.NewEpoch] and [Engine.PurgeSession] write several changes; if one is
// interrupted, call it again.
//
// A request with a [Cursor] asks for one page: at most Limit entries, after those of the page
// before. A limit of 0 means all; over HTTP and MCP it means [api.DefaultLimit].
//
// # Without a model
//
// No job needs a model or a network. [Options] takes an embedder, a generator
// and sources from which artifacts are fetched again. Equal conversations,
// artifacts, requests, times and options give equal plans, stubs, exports and
// contexts. The clock decides only the age and the expiry of artifacts and
// the times in records; the random source only makes ids and salts.
//
// # Compatibility
//
// The API may change before version 1.0; CHANGELOG.md lists each change. A
// store that an earlier version wrote is migrated when it is opened. Manifests
// and packets name the version of their format.
package carrel

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	"github.com/carrel-dev/carrel/transcript"
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

// New returns an engine over s. The engine does not own s: the caller closes it after the last
// job has returned. opts may be nil. New fails if s is nil or if an option is invalid.
func New(s store.Store, opts *Options) (*Engine, error) {
	if s == nil {
		return nil, errors.New("carrel: New needs a store: the first argument is nil")
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

// furnish returns an engine that uses b. It creates the parts of package internal/engine that do
// the engine's jobs.
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

// As returns an engine that acts for another actor on s, a view of the same
// store such as one of package guard. Both engines share their caches. The
// caches reveal nothing that s refuses: before the engine uses an entry, it
// asks s for the revision of the session or scope of the entry.
func (e *Engine) As(actor governance.Actor, s store.Store) *Engine {
	b := &base.Base{Store: s, Opts: e.base.Opts}
	b.Opts.Actor = actor
	return furnish(b, e.shared, e.memory)
}

// FinishJobs finishes the purges of a scope that other processes began and did not finish,
// each as the actor who began it. It returns the names of the jobs that it finished. If one
// fails, it still tries the others.
func (e *Engine) FinishJobs(ctx context.Context, scope governance.Scope) (finished []string, err error) {
	open, err := e.base.Store.OpenJobs(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("carrel: finish jobs: %w", err)
	}
	var failed error
	for i := range open {
		id, is := strings.CutPrefix(open[i].Name, sessions.PurgeJob)
		if !is {
			continue // of a newer version
		}
		_, err := e.As(open[i].Actor, e.base.Store).PurgeSession(ctx, scope, &SessionRequest{Session: transcript.SessionID(id)})
		switch {
		case err == nil || errors.Is(err, ErrGone):
			finished = append(finished, open[i].Name)
		case !errors.Is(err, store.ErrTaken): // another process was faster
			failed = errors.Join(failed, err)
		}
	}
	return finished, failed
}

// WithProgress returns a context in which jobs report their progress to f
// instead of [Options.Progress]. Jobs may call f concurrently.
func WithProgress(ctx context.Context, f func(job string, done, total int)) context.Context {
	return api.WithProgress(ctx, f)
}
