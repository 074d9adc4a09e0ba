package enginetest

import (
	"context"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Short names of the arguments of every job.
type (
	ctx   = context.Context
	scope = governance.Scope
)

// Jobs are all jobs of the engine, in the order of the table in package internal/ops.
//
//nolint:interfacebloat // it is the list of the jobs
type Jobs interface {
	Sessions(ctx, scope, *api.SessionsRequest) (*api.List[api.SessionInfo], error)
	FindSession(ctx, scope, *api.WordRequest) (*api.SessionResult, error)
	Session(ctx, scope, *api.SessionRequest) (*api.SessionInfo, error)
	RemovedSessions(ctx, scope, *api.None) (*api.List[api.SessionInfo], error)
	RemoveSession(ctx, scope, *api.SessionRequest) (*api.SessionRemoval, error)
	RestoreSession(ctx, scope, *api.SessionRequest) (*api.SessionRemoval, error)
	PurgeSession(ctx, scope, *api.SessionRequest) (*api.SessionRemoval, error)
	Import(ctx, scope, *api.ImportRequest) (*api.ImportResult, error)
	Append(ctx, scope, *api.AppendRequest) (*api.ImportResult, error)
	Messages(ctx, scope, *api.MessagesRequest) (*api.MessagesResult, error)
	Context(ctx, scope, *api.ContextRequest) (*api.ContextResult, error)
	Trigger(ctx, scope, *api.TriggerRequest) (*api.TriggerResult, error)
	Compress(ctx, scope, *api.CompressRequest) (*api.CompressResult, error)
	Discard(ctx, scope, *api.DiscardRequest) (*api.DiscardResult, error)
	Page(ctx, scope, *api.PageRequest) (*api.PageResult, error)
	Pin(ctx, scope, *api.PinRequest) (*api.PinResult, error)
	Undo(ctx, scope, *api.UndoRequest) (*api.UndoResult, error)
	Mark(ctx, scope, *api.MarkRequest) (*api.MarkResult, error)
	Export(ctx, scope, *api.ExportRequest) (*api.ExportResult, error)
	Repair(ctx, scope, *api.RepairRequest) (*api.RepairResult, error)
	Recall(ctx, scope, *api.RecallRequest) (*api.RecallResult, error)
	Why(ctx, scope, *api.BlockRequest) (*api.WhyResult, error)
	Search(ctx, scope, *api.SearchRequest) (*api.List[api.Found], error)
	Stats(ctx, scope, *api.SessionRequest) (*api.StatsResult, error)
	Cost(ctx, scope, *api.CostRequest) (*api.CostResult, error)
	State(ctx, scope, *api.SessionRequest) (*api.ProtocolState, error)
	Journal(ctx, scope, *api.JournalRequest) (*api.List[store.Entry], error)
	Brief(ctx, scope, *api.BriefRequest) (*api.BriefResult, error)
	Summary(ctx, scope, *api.SessionRequest) (*api.SummaryResult, error)
	CheckSummary(ctx, scope, *api.CheckSummaryRequest) (*api.CheckSummaryResult, error)
	Probes(ctx, scope, *api.ProbesRequest) (*api.ProbesResult, error)
	RunProbes(ctx, scope, *api.RunProbesRequest) (*api.RunProbesResult, error)
	DiffSession(ctx, scope, *api.DiffSessionRequest) (*api.SessionDelta, error)
	ProbeReport(ctx, scope, *api.SessionRequest) (*api.ProbeReport, error)
	Contract(ctx, scope, *api.SessionRequest) (*api.ContractResult, error)
	AmendContract(ctx, scope, *api.AmendContractRequest) (*api.AmendContractResult, error)
	CheckContract(ctx, scope, *api.SessionRequest) (*contract.Report, error)
	Handoff(ctx, scope, *api.HandoffRequest) (*api.HandoffResult, error)
	CheckHandoff(ctx, scope, *api.CheckHandoffRequest) (*api.HandoffResult, error)
	Accept(ctx, scope, *api.AcceptRequest) (*api.AcceptResult, error)
	Put(ctx, scope, *api.PutRequest) (*api.List[api.Artifact], error)
	Artifacts(ctx, scope, *api.ArtifactsRequest) (*api.List[api.Artifact], error)
	Get(ctx, scope, *api.GetRequest) (*api.GetResult, error)
	PinArtifact(ctx, scope, *api.PinArtifactRequest) (*api.Artifact, error)
	Remove(ctx, scope, *api.IDsRequest) (*api.RemovalResult, error)
	Restore(ctx, scope, *api.IDsRequest) (*api.RemovalResult, error)
	Refute(ctx, scope, *api.RefuteRequest) (*api.RemovalResult, error)
	Purge(ctx, scope, *api.IDsRequest) (*api.RemovalResult, error)
	Stash(ctx, scope, *api.StashRequest) (*api.StashResult, error)
	CollectStash(ctx, scope, *api.CollectRequest) (*api.RemovalResult, error)
	Triage(ctx, scope, *api.TriageRequest) (*api.TriageResult, error)
	Assemble(ctx, scope, *api.AssembleRequest) (*api.AssembleResult, error)
	Manifests(ctx, scope, *api.ManifestsRequest) (*api.List[store.Manifest], error)
	Manifest(ctx, scope, *api.IDRequest) (*api.ManifestResult, error)
	DiffManifests(ctx, scope, *api.DiffRequest) (*api.DiffResult, error)
	VerifyManifest(ctx, scope, *api.IDRequest) (*api.VerifyResult, error)
	Replay(ctx, scope, *api.IDRequest) (*api.ReplayResult, error)
	Commit(ctx, scope, *api.CommitRequest) (*api.CommitResult, error)
	Reviews(ctx, scope, *api.None) (*api.List[api.ReviewEntry], error)
	Review(ctx, scope, *api.IDRequest) (*api.ReviewEntry, error)
	Decide(ctx, scope, *api.DecideRequest) (*api.Artifact, error)
	Log(ctx, scope, *api.LogRequest) (*api.List[store.Entry], error)
	Calls(ctx, scope, *api.CallsRequest) (*api.List[api.Call], error)
	Call(ctx, scope, *api.IDRequest) (*api.CallResult, error)
	Report(ctx, scope, *api.ReportRequest) (*api.ReportResult, error)
}

// The engine and its client implement the same jobs.
var (
	_ Jobs = (*carrel.Engine)(nil)
	_ Jobs = (*client.Client)(nil)
)
