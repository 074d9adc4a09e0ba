package conform

import (
	"context"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Jobs are all the jobs of the engine, wherever they are done.
//
//nolint:interfacebloat // it is nothing but its parts
type Jobs interface {
	Conversations
	Keeping
	Windows
	Tidying
	Blocks
	Accounts
	Summaries
	Grades
	Agreements
	Packets
	Artifacts
	Removals
	Knowledge
	Contexts
	Manifests
	Gate
}

// The engine and its client do the same jobs.
var (
	_ Jobs = (*carrel.Engine)(nil)
	_ Jobs = (*client.Client)(nil)
)

// short names of what every job takes.
type (
	ctx   = context.Context
	scope = governance.Scope
	id    = transcript.SessionID
)

// Conversations come in and go out.
type Conversations interface {
	Sessions(ctx, scope, int) ([]carrel.SessionInfo, error)
	FindSession(ctx, scope, string) (id, error)
	Import(ctx, scope, *carrel.ImportRequest) (*carrel.ImportResult, error)
	Append(ctx, scope, *carrel.AppendRequest) (*carrel.ImportResult, error)
	Export(ctx, scope, *carrel.ExportRequest) (*carrel.ExportResult, error)
}

// Keeping is what becomes of a conversation as a whole.
type Keeping interface {
	Session(ctx, scope, id) (*carrel.SessionInfo, error)
	RemovedSessions(ctx, scope) ([]carrel.SessionInfo, error)
	RemoveSession(ctx, scope, id) (*carrel.SessionRemoval, error)
	RestoreSession(ctx, scope, id) (*carrel.SessionRemoval, error)
	PurgeSession(ctx, scope, id) (*carrel.SessionRemoval, error)
}

// Windows are made smaller, and back.
type Windows interface {
	Trigger(ctx, scope, *carrel.TriggerRequest) (*carrel.TriggerResult, error)
	Compress(ctx, scope, *carrel.CompressRequest) (*carrel.CompressResult, error)
	Undo(ctx, scope, *carrel.UndoRequest) (*carrel.UndoResult, error)
	Mark(ctx, scope, *carrel.MarkRequest) (*carrel.MarkResult, error)
}

// Tidying takes single blocks out of a window.
type Tidying interface {
	Discard(ctx, scope, *carrel.DiscardRequest) (*carrel.DiscardResult, error)
	Page(ctx, scope, *carrel.PageRequest) (*carrel.PageResult, error)
}

// Blocks are listed, found, pinned and explained.
type Blocks interface {
	Messages(ctx, scope, id) (*carrel.MessagesResult, error)
	Pin(ctx, scope, *carrel.PinRequest) (*carrel.PinResult, error)
	Recall(ctx, scope, *carrel.RecallRequest) (*carrel.RecallResult, error)
	Search(ctx, scope, *carrel.SearchRequest) ([]carrel.Found, error)
	Why(ctx, scope, string) (*carrel.WhyResult, error)
}

// Accounts say what is, and what was.
type Accounts interface {
	Context(ctx, scope, id, token.Count) (*carrel.ContextResult, error)
	Stats(ctx, scope, id) (*carrel.StatsResult, error)
	State(ctx, scope, id) (*carrel.State, error)
	Journal(ctx, scope, id, store.Revision) ([]store.Entry, error)
	Log(ctx, scope, store.Version) ([]store.Entry, error)
}

// Summaries stand for older blocks, and briefs say what must outlive them.
type Summaries interface {
	Summary(ctx, scope, id) (*carrel.SummaryResult, error)
	Brief(ctx, scope, *carrel.BriefRequest) (*carrel.BriefResult, error)
	CheckSummary(ctx, scope, *carrel.CheckSummaryRequest) (*carrel.CheckSummaryResult, error)
}

// Grades say what a window still answers.
type Grades interface {
	Probes(ctx, scope, *carrel.ProbesRequest) (*carrel.ProbesResult, error)
	RunProbes(ctx, scope, *carrel.RunProbesRequest) (*carrel.RunProbesResult, error)
	ProbeReport(ctx, scope, id) (*carrel.ProbeReport, error)
}

// Agreements are contracts of sessions.
type Agreements interface {
	Contract(ctx, scope, id) ([]string, error)
	AmendContract(ctx, scope, *carrel.ContractRequest) (*carrel.ContractResult, error)
	CheckContract(ctx, scope, id) (*contract.Report, error)
}

// Packets carry sessions to other agents.
type Packets interface {
	Handoff(ctx, scope, *carrel.HandoffRequest) (*carrel.HandoffResult, error)
	CheckHandoff(ctx, scope, *carrel.CheckHandoffRequest) (*carrel.HandoffResult, error)
	Accept(ctx, scope, *carrel.AcceptRequest) (*carrel.AcceptResult, error)
}

// Artifacts are kept.
type Artifacts interface {
	Put(ctx, scope, ...*carrel.PutRequest) ([]carrel.Artifact, error)
	Artifacts(ctx, scope, *carrel.ArtifactsRequest) ([]carrel.Artifact, error)
	Get(ctx, scope, *carrel.GetRequest) (*carrel.GetResult, error)
	PinArtifact(ctx, scope, string, bool) (*carrel.Artifact, error)
	Stash(ctx, scope, *carrel.StashRequest) (*carrel.StashResult, error)
}

// Removals take artifacts away, and back where there is a way.
type Removals interface {
	Remove(ctx, scope, ...string) (*carrel.RemovalResult, error)
	Restore(ctx, scope, ...string) (*carrel.RemovalResult, error)
	Refute(ctx, scope, *carrel.RefuteRequest) (*carrel.RemovalResult, error)
	Purge(ctx, scope, ...string) (*carrel.RemovalResult, error)
	CollectStash(ctx, scope, bool) (*carrel.RemovalResult, error)
}

// Knowledge is what artifacts are worth for a question.
type Knowledge interface {
	Triage(ctx, scope, *carrel.TriageRequest) (*carrel.TriageResult, error)
}

// Contexts are made of artifacts, and made again.
type Contexts interface {
	Assemble(ctx, scope, *carrel.AssembleRequest) (*carrel.AssembleResult, error)
	Replay(ctx, scope, string) ([]byte, error)
}

// Manifests account for contexts.
type Manifests interface {
	Manifests(ctx, scope, id, int) ([]store.Manifest, error)
	Manifest(ctx, scope, string) (*store.Manifest, *manifest.Sealed, error)
	DiffManifests(ctx, scope, string, string) (*manifest.Delta, error)
	VerifyManifest(ctx, scope, string) (*carrel.VerifyResult, error)
}

// Gate is what memories pass.
type Gate interface {
	Commit(ctx, scope, *carrel.CommitRequest) (*carrel.CommitResult, error)
	Reviews(ctx, scope) ([]carrel.ReviewEntry, error)
	Review(ctx, scope, string) (*carrel.ReviewEntry, error)
	Decide(ctx, scope, *carrel.ReviewDecision) (*carrel.Artifact, error)
}
