package client

import (
	"context"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/store"
)

// Each method does the engine's job of the same name on the server.

// Sessions runs [carrel.Engine.Sessions] on the server.
func (c *Client) Sessions(ctx context.Context, scope governance.Scope, req *api.SessionsRequest) (*api.List[api.SessionInfo], error) {
	return listAll(ctx, c, scope, &ops.Sessions, req)
}

// FindSession runs [carrel.Engine.FindSession] on the server.
func (c *Client) FindSession(ctx context.Context, scope governance.Scope, req *api.WordRequest) (*api.SessionResult, error) {
	return do(ctx, c, scope, &ops.FindSession, req)
}

// Session runs [carrel.Engine.Session] on the server.
func (c *Client) Session(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionInfo, error) {
	return do(ctx, c, scope, &ops.Session, req)
}

// RemovedSessions runs [carrel.Engine.RemovedSessions] on the server.
func (c *Client) RemovedSessions(ctx context.Context, scope governance.Scope, req *api.None) (*api.List[api.SessionInfo], error) {
	return do(ctx, c, scope, &ops.RemovedSessions, req)
}

// RemoveSession runs [carrel.Engine.RemoveSession] on the server.
func (c *Client) RemoveSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.RemoveSession, req)
}

// RestoreSession runs [carrel.Engine.RestoreSession] on the server.
func (c *Client) RestoreSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.RestoreSession, req)
}

// PurgeSession runs [carrel.Engine.PurgeSession] on the server.
func (c *Client) PurgeSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.PurgeSession, req)
}

// Import runs [carrel.Engine.Import] on the server.
func (c *Client) Import(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error) {
	return do(ctx, c, scope, &ops.Import, req)
}

// Append runs [carrel.Engine.Append] on the server.
func (c *Client) Append(ctx context.Context, scope governance.Scope, req *api.AppendRequest) (*api.ImportResult, error) {
	return do(ctx, c, scope, &ops.Append, req)
}

// Messages runs [carrel.Engine.Messages] on the server.
func (c *Client) Messages(ctx context.Context, scope governance.Scope, req *api.MessagesRequest) (*api.MessagesResult, error) {
	for range 3 {
		if res, err := c.messages(ctx, scope, req); res != nil || err != nil {
			return res, err
		}
	}
	return nil, store.ErrConflict
}

// Context runs [carrel.Engine.Context] on the server.
func (c *Client) Context(ctx context.Context, scope governance.Scope, req *api.ContextRequest) (*api.ContextResult, error) {
	return do(ctx, c, scope, &ops.Context, req)
}

// Trigger runs [carrel.Engine.Trigger] on the server.
func (c *Client) Trigger(ctx context.Context, scope governance.Scope, req *api.TriggerRequest) (*api.TriggerResult, error) {
	return do(ctx, c, scope, &ops.Trigger, req)
}

// Compress runs [carrel.Engine.Compress] on the server.
func (c *Client) Compress(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (*api.CompressResult, error) {
	return do(ctx, c, scope, &ops.Compress, req)
}

// Discard runs [carrel.Engine.Discard] on the server.
func (c *Client) Discard(ctx context.Context, scope governance.Scope, req *api.DiscardRequest) (*api.DiscardResult, error) {
	return do(ctx, c, scope, &ops.Discard, req)
}

// Page runs [carrel.Engine.Page] on the server.
func (c *Client) Page(ctx context.Context, scope governance.Scope, req *api.PageRequest) (*api.PageResult, error) {
	return do(ctx, c, scope, &ops.PageBlocks, req)
}

// Pin runs [carrel.Engine.Pin] on the server.
func (c *Client) Pin(ctx context.Context, scope governance.Scope, req *api.PinRequest) (*api.PinResult, error) {
	return do(ctx, c, scope, &ops.Pin, req)
}

// Undo runs [carrel.Engine.Undo] on the server.
func (c *Client) Undo(ctx context.Context, scope governance.Scope, req *api.UndoRequest) (*api.UndoResult, error) {
	return do(ctx, c, scope, &ops.Undo, req)
}

// Mark runs [carrel.Engine.Mark] on the server.
func (c *Client) Mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (*api.MarkResult, error) {
	return do(ctx, c, scope, &ops.Mark, req)
}

// Export runs [carrel.Engine.Export] on the server.
func (c *Client) Export(ctx context.Context, scope governance.Scope, req *api.ExportRequest) (*api.ExportResult, error) {
	return do(ctx, c, scope, &ops.Export, req)
}

// Repair runs [carrel.Engine.Repair] on the server.
func (c *Client) Repair(ctx context.Context, scope governance.Scope, req *api.RepairRequest) (*api.RepairResult, error) {
	return do(ctx, c, scope, &ops.Repair, req)
}

// Recall runs [carrel.Engine.Recall] on the server.
func (c *Client) Recall(ctx context.Context, scope governance.Scope, req *api.RecallRequest) (*api.RecallResult, error) {
	return do(ctx, c, scope, &ops.Recall, req)
}

// Why runs [carrel.Engine.Why] on the server.
func (c *Client) Why(ctx context.Context, scope governance.Scope, req *api.BlockRequest) (*api.WhyResult, error) {
	return do(ctx, c, scope, &ops.Why, req)
}

// Search runs [carrel.Engine.Search] on the server.
func (c *Client) Search(ctx context.Context, scope governance.Scope, req *api.SearchRequest) (*api.List[api.Found], error) {
	return do(ctx, c, scope, &ops.Search, req)
}

// Cost runs [carrel.Engine.Cost] on the server.
func (c *Client) Cost(ctx context.Context, scope governance.Scope, req *api.CostRequest) (*api.CostResult, error) {
	return do(ctx, c, scope, &ops.Cost, req)
}

// Stats runs [carrel.Engine.Stats] on the server.
func (c *Client) Stats(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.StatsResult, error) {
	return do(ctx, c, scope, &ops.Stats, req)
}

// State runs [carrel.Engine.State] on the server.
func (c *Client) State(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ProtocolState, error) {
	return do(ctx, c, scope, &ops.State, req)
}

// Journal runs [carrel.Engine.Journal] on the server.
func (c *Client) Journal(ctx context.Context, scope governance.Scope, req *api.JournalRequest) (*api.List[store.Entry], error) {
	return listAll(ctx, c, scope, &ops.Journal, req)
}

// DiffSession runs [carrel.Engine.DiffSession] on the server.
func (c *Client) DiffSession(ctx context.Context, scope governance.Scope, req *api.DiffSessionRequest) (*api.SessionDelta, error) {
	return do(ctx, c, scope, &ops.DiffSession, req)
}

// Brief runs [carrel.Engine.Brief] on the server.
func (c *Client) Brief(ctx context.Context, scope governance.Scope, req *api.BriefRequest) (*api.BriefResult, error) {
	return do(ctx, c, scope, &ops.Brief, req)
}

// Summary runs [carrel.Engine.Summary] on the server.
func (c *Client) Summary(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SummaryResult, error) {
	return do(ctx, c, scope, &ops.Summary, req)
}

// CheckSummary runs [carrel.Engine.CheckSummary] on the server.
func (c *Client) CheckSummary(ctx context.Context, scope governance.Scope, req *api.CheckSummaryRequest) (*api.CheckSummaryResult, error) {
	return do(ctx, c, scope, &ops.CheckSummary, req)
}

// Probes runs [carrel.Engine.Probes] on the server.
func (c *Client) Probes(ctx context.Context, scope governance.Scope, req *api.ProbesRequest) (*api.ProbesResult, error) {
	return do(ctx, c, scope, &ops.Probes, req)
}

// RunProbes runs [carrel.Engine.RunProbes] on the server.
func (c *Client) RunProbes(ctx context.Context, scope governance.Scope, req *api.RunProbesRequest) (*api.RunProbesResult, error) {
	return do(ctx, c, scope, &ops.RunProbes, req)
}

// ProbeReport runs [carrel.Engine.ProbeReport] on the server.
func (c *Client) ProbeReport(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ProbeReport, error) {
	return do(ctx, c, scope, &ops.ProbeReport, req)
}

// Contract runs [carrel.Engine.Contract] on the server.
func (c *Client) Contract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ContractResult, error) {
	return do(ctx, c, scope, &ops.Contract, req)
}

// AmendContract runs [carrel.Engine.AmendContract] on the server.
func (c *Client) AmendContract(ctx context.Context, scope governance.Scope, req *api.AmendContractRequest) (*api.AmendContractResult, error) {
	return do(ctx, c, scope, &ops.AmendContract, req)
}

// CheckContract runs [carrel.Engine.CheckContract] on the server.
func (c *Client) CheckContract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*contract.Report, error) {
	return do(ctx, c, scope, &ops.CheckContract, req)
}

// Handoff runs [carrel.Engine.Handoff] on the server.
func (c *Client) Handoff(ctx context.Context, scope governance.Scope, req *api.HandoffRequest) (*api.HandoffResult, error) {
	return do(ctx, c, scope, &ops.Handoff, req)
}

// CheckHandoff runs [carrel.Engine.CheckHandoff] on the server.
func (c *Client) CheckHandoff(ctx context.Context, scope governance.Scope, req *api.CheckHandoffRequest) (*api.HandoffResult, error) {
	return do(ctx, c, scope, &ops.CheckHandoff, req)
}

// Accept runs [carrel.Engine.Accept] on the server.
func (c *Client) Accept(ctx context.Context, scope governance.Scope, req *api.AcceptRequest) (*api.AcceptResult, error) {
	return do(ctx, c, scope, &ops.Accept, req)
}

// Put runs [carrel.Engine.Put] on the server.
func (c *Client) Put(ctx context.Context, scope governance.Scope, req *api.PutRequest) (*api.List[api.Artifact], error) {
	return do(ctx, c, scope, &ops.Put, req)
}

// Artifacts runs [carrel.Engine.Artifacts] on the server.
func (c *Client) Artifacts(ctx context.Context, scope governance.Scope, req *api.ArtifactsRequest) (*api.List[api.Artifact], error) {
	return listAll(ctx, c, scope, &ops.Artifacts, req)
}

// Get runs [carrel.Engine.Get] on the server.
func (c *Client) Get(ctx context.Context, scope governance.Scope, req *api.GetRequest) (*api.GetResult, error) {
	return do(ctx, c, scope, &ops.Get, req)
}

// PinArtifact runs [carrel.Engine.PinArtifact] on the server.
func (c *Client) PinArtifact(ctx context.Context, scope governance.Scope, req *api.PinArtifactRequest) (*api.Artifact, error) {
	return do(ctx, c, scope, &ops.PinArtifact, req)
}

// Remove runs [carrel.Engine.Remove] on the server.
func (c *Client) Remove(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Remove, req)
}

// Restore runs [carrel.Engine.Restore] on the server.
func (c *Client) Restore(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Restore, req)
}

// Refute runs [carrel.Engine.Refute] on the server.
func (c *Client) Refute(ctx context.Context, scope governance.Scope, req *api.RefuteRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Refute, req)
}

// Purge runs [carrel.Engine.Purge] on the server.
func (c *Client) Purge(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Purge, req)
}

// Stash runs [carrel.Engine.Stash] on the server.
func (c *Client) Stash(ctx context.Context, scope governance.Scope, req *api.StashRequest) (*api.StashResult, error) {
	return do(ctx, c, scope, &ops.Stash, req)
}

// CollectStash runs [carrel.Engine.CollectStash] on the server.
func (c *Client) CollectStash(ctx context.Context, scope governance.Scope, req *api.CollectRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.CollectStash, req)
}

// Triage runs [carrel.Engine.Triage] on the server.
func (c *Client) Triage(ctx context.Context, scope governance.Scope, req *api.TriageRequest) (*api.TriageResult, error) {
	return do(ctx, c, scope, &ops.Triage, req)
}

// Assemble runs [carrel.Engine.Assemble] on the server.
func (c *Client) Assemble(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (*api.AssembleResult, error) {
	return do(ctx, c, scope, &ops.Assemble, req)
}

// Manifests runs [carrel.Engine.Manifests] on the server.
func (c *Client) Manifests(ctx context.Context, scope governance.Scope, req *api.ManifestsRequest) (*api.List[store.Manifest], error) {
	return listAll(ctx, c, scope, &ops.Manifests, req)
}

// Manifest runs [carrel.Engine.Manifest] on the server.
func (c *Client) Manifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ManifestResult, error) {
	return do(ctx, c, scope, &ops.Manifest, req)
}

// DiffManifests runs [carrel.Engine.DiffManifests] on the server.
func (c *Client) DiffManifests(ctx context.Context, scope governance.Scope, req *api.DiffRequest) (*api.DiffResult, error) {
	return do(ctx, c, scope, &ops.DiffManifests, req)
}

// VerifyManifest runs [carrel.Engine.VerifyManifest] on the server.
func (c *Client) VerifyManifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.VerifyResult, error) {
	return do(ctx, c, scope, &ops.VerifyManifest, req)
}

// Replay runs [carrel.Engine.Replay] on the server.
func (c *Client) Replay(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ReplayResult, error) {
	return do(ctx, c, scope, &ops.Replay, req)
}

// Commit runs [carrel.Engine.Commit] on the server.
func (c *Client) Commit(ctx context.Context, scope governance.Scope, req *api.CommitRequest) (*api.CommitResult, error) {
	return do(ctx, c, scope, &ops.Commit, req)
}

// Reviews runs [carrel.Engine.Reviews] on the server.
func (c *Client) Reviews(ctx context.Context, scope governance.Scope, req *api.None) (*api.List[api.ReviewEntry], error) {
	return do(ctx, c, scope, &ops.Reviews, req)
}

// Review runs [carrel.Engine.Review] on the server.
func (c *Client) Review(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ReviewEntry, error) {
	return do(ctx, c, scope, &ops.Review, req)
}

// Decide runs [carrel.Engine.Decide] on the server.
func (c *Client) Decide(ctx context.Context, scope governance.Scope, req *api.DecideRequest) (*api.Artifact, error) {
	return do(ctx, c, scope, &ops.Decide, req)
}

// Log runs [carrel.Engine.Log] on the server.
func (c *Client) Log(ctx context.Context, scope governance.Scope, req *api.LogRequest) (*api.List[store.Entry], error) {
	return listAll(ctx, c, scope, &ops.Log, req)
}

// Calls runs [carrel.Engine.Calls] on the server.
func (c *Client) Calls(ctx context.Context, scope governance.Scope, req *api.CallsRequest) (*api.List[api.Call], error) {
	return listAll(ctx, c, scope, &ops.Calls, req)
}

// Call runs [carrel.Engine.Call] on the server.
func (c *Client) Call(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.CallResult, error) {
	return do(ctx, c, scope, &ops.Call, req)
}

// Report runs [carrel.Engine.Report] on the server.
func (c *Client) Report(ctx context.Context, scope governance.Scope, req *api.ReportRequest) (*api.ReportResult, error) {
	return do(ctx, c, scope, &ops.Report, req)
}
