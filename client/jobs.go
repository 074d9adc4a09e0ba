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

// Sessions does [carrel.Engine.Sessions].
func (c *Client) Sessions(ctx context.Context, scope governance.Scope, req *api.SessionsRequest) (*api.List[api.SessionInfo], error) {
	return listAll(ctx, c, scope, &ops.Sessions, req)
}

// FindSession does [carrel.Engine.FindSession].
func (c *Client) FindSession(ctx context.Context, scope governance.Scope, req *api.WordRequest) (*api.SessionResult, error) {
	return do(ctx, c, scope, &ops.FindSession, req)
}

// Session does [carrel.Engine.Session].
func (c *Client) Session(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionInfo, error) {
	return do(ctx, c, scope, &ops.Session, req)
}

// RemovedSessions does [carrel.Engine.RemovedSessions].
func (c *Client) RemovedSessions(ctx context.Context, scope governance.Scope, req *api.None) (*api.List[api.SessionInfo], error) {
	return do(ctx, c, scope, &ops.RemovedSessions, req)
}

// RemoveSession does [carrel.Engine.RemoveSession].
func (c *Client) RemoveSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.RemoveSession, req)
}

// RestoreSession does [carrel.Engine.RestoreSession].
func (c *Client) RestoreSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.RestoreSession, req)
}

// PurgeSession does [carrel.Engine.PurgeSession].
func (c *Client) PurgeSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SessionRemoval, error) {
	return do(ctx, c, scope, &ops.PurgeSession, req)
}

// Import does [carrel.Engine.Import].
func (c *Client) Import(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error) {
	return do(ctx, c, scope, &ops.Import, req)
}

// Append does [carrel.Engine.Append].
func (c *Client) Append(ctx context.Context, scope governance.Scope, req *api.AppendRequest) (*api.ImportResult, error) {
	return do(ctx, c, scope, &ops.Append, req)
}

// Messages does [carrel.Engine.Messages].
func (c *Client) Messages(ctx context.Context, scope governance.Scope, req *api.MessagesRequest) (*api.MessagesResult, error) {
	for range 3 {
		if res, err := c.messages(ctx, scope, req); res != nil || err != nil {
			return res, err
		}
	}
	return nil, store.ErrConflict
}

// Context does [carrel.Engine.Context].
func (c *Client) Context(ctx context.Context, scope governance.Scope, req *api.ContextRequest) (*api.ContextResult, error) {
	return do(ctx, c, scope, &ops.Context, req)
}

// Trigger does [carrel.Engine.Trigger].
func (c *Client) Trigger(ctx context.Context, scope governance.Scope, req *api.TriggerRequest) (*api.TriggerResult, error) {
	return do(ctx, c, scope, &ops.Trigger, req)
}

// Compress does [carrel.Engine.Compress].
func (c *Client) Compress(ctx context.Context, scope governance.Scope, req *api.CompressRequest) (*api.CompressResult, error) {
	return do(ctx, c, scope, &ops.Compress, req)
}

// Discard does [carrel.Engine.Discard].
func (c *Client) Discard(ctx context.Context, scope governance.Scope, req *api.DiscardRequest) (*api.DiscardResult, error) {
	return do(ctx, c, scope, &ops.Discard, req)
}

// Page does [carrel.Engine.Page].
func (c *Client) Page(ctx context.Context, scope governance.Scope, req *api.PageRequest) (*api.PageResult, error) {
	return do(ctx, c, scope, &ops.PageBlocks, req)
}

// Pin does [carrel.Engine.Pin].
func (c *Client) Pin(ctx context.Context, scope governance.Scope, req *api.PinRequest) (*api.PinResult, error) {
	return do(ctx, c, scope, &ops.Pin, req)
}

// Undo does [carrel.Engine.Undo].
func (c *Client) Undo(ctx context.Context, scope governance.Scope, req *api.UndoRequest) (*api.UndoResult, error) {
	return do(ctx, c, scope, &ops.Undo, req)
}

// Mark does [carrel.Engine.Mark].
func (c *Client) Mark(ctx context.Context, scope governance.Scope, req *api.MarkRequest) (*api.MarkResult, error) {
	return do(ctx, c, scope, &ops.Mark, req)
}

// Export does [carrel.Engine.Export].
func (c *Client) Export(ctx context.Context, scope governance.Scope, req *api.ExportRequest) (*api.ExportResult, error) {
	return do(ctx, c, scope, &ops.Export, req)
}

// Repair does [carrel.Engine.Repair].
func (c *Client) Repair(ctx context.Context, scope governance.Scope, req *api.RepairRequest) (*api.RepairResult, error) {
	return do(ctx, c, scope, &ops.Repair, req)
}

// Recall does [carrel.Engine.Recall].
func (c *Client) Recall(ctx context.Context, scope governance.Scope, req *api.RecallRequest) (*api.RecallResult, error) {
	return do(ctx, c, scope, &ops.Recall, req)
}

// Why does [carrel.Engine.Why].
func (c *Client) Why(ctx context.Context, scope governance.Scope, req *api.BlockRequest) (*api.WhyResult, error) {
	return do(ctx, c, scope, &ops.Why, req)
}

// Search does [carrel.Engine.Search].
func (c *Client) Search(ctx context.Context, scope governance.Scope, req *api.SearchRequest) (*api.List[api.Found], error) {
	return do(ctx, c, scope, &ops.Search, req)
}

// Cost does [carrel.Engine.Cost].
func (c *Client) Cost(ctx context.Context, scope governance.Scope, req *api.CostRequest) (*api.CostResult, error) {
	return do(ctx, c, scope, &ops.Cost, req)
}

// Stats does [carrel.Engine.Stats].
func (c *Client) Stats(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.StatsResult, error) {
	return do(ctx, c, scope, &ops.Stats, req)
}

// State does [carrel.Engine.State].
func (c *Client) State(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ProtocolState, error) {
	return do(ctx, c, scope, &ops.State, req)
}

// Journal does [carrel.Engine.Journal].
func (c *Client) Journal(ctx context.Context, scope governance.Scope, req *api.JournalRequest) (*api.List[store.Entry], error) {
	return listAll(ctx, c, scope, &ops.Journal, req)
}

// DiffSession does [carrel.Engine.DiffSession].
func (c *Client) DiffSession(ctx context.Context, scope governance.Scope, req *api.DiffSessionRequest) (*api.SessionDelta, error) {
	return do(ctx, c, scope, &ops.DiffSession, req)
}

// Brief does [carrel.Engine.Brief].
func (c *Client) Brief(ctx context.Context, scope governance.Scope, req *api.BriefRequest) (*api.BriefResult, error) {
	return do(ctx, c, scope, &ops.Brief, req)
}

// Summary does [carrel.Engine.Summary].
func (c *Client) Summary(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.SummaryResult, error) {
	return do(ctx, c, scope, &ops.Summary, req)
}

// CheckSummary does [carrel.Engine.CheckSummary].
func (c *Client) CheckSummary(ctx context.Context, scope governance.Scope, req *api.CheckSummaryRequest) (*api.CheckSummaryResult, error) {
	return do(ctx, c, scope, &ops.CheckSummary, req)
}

// Probes does [carrel.Engine.Probes].
func (c *Client) Probes(ctx context.Context, scope governance.Scope, req *api.ProbesRequest) (*api.ProbesResult, error) {
	return do(ctx, c, scope, &ops.Probes, req)
}

// RunProbes does [carrel.Engine.RunProbes].
func (c *Client) RunProbes(ctx context.Context, scope governance.Scope, req *api.RunProbesRequest) (*api.RunProbesResult, error) {
	return do(ctx, c, scope, &ops.RunProbes, req)
}

// ProbeReport does [carrel.Engine.ProbeReport].
func (c *Client) ProbeReport(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ProbeReport, error) {
	return do(ctx, c, scope, &ops.ProbeReport, req)
}

// Contract does [carrel.Engine.Contract].
func (c *Client) Contract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*api.ContractResult, error) {
	return do(ctx, c, scope, &ops.Contract, req)
}

// AmendContract does [carrel.Engine.AmendContract].
func (c *Client) AmendContract(ctx context.Context, scope governance.Scope, req *api.AmendContractRequest) (*api.AmendContractResult, error) {
	return do(ctx, c, scope, &ops.AmendContract, req)
}

// CheckContract does [carrel.Engine.CheckContract].
func (c *Client) CheckContract(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (*contract.Report, error) {
	return do(ctx, c, scope, &ops.CheckContract, req)
}

// Handoff does [carrel.Engine.Handoff].
func (c *Client) Handoff(ctx context.Context, scope governance.Scope, req *api.HandoffRequest) (*api.HandoffResult, error) {
	return do(ctx, c, scope, &ops.Handoff, req)
}

// CheckHandoff does [carrel.Engine.CheckHandoff].
func (c *Client) CheckHandoff(ctx context.Context, scope governance.Scope, req *api.CheckHandoffRequest) (*api.HandoffResult, error) {
	return do(ctx, c, scope, &ops.CheckHandoff, req)
}

// Accept does [carrel.Engine.Accept].
func (c *Client) Accept(ctx context.Context, scope governance.Scope, req *api.AcceptRequest) (*api.AcceptResult, error) {
	return do(ctx, c, scope, &ops.Accept, req)
}

// Put does [carrel.Engine.Put].
func (c *Client) Put(ctx context.Context, scope governance.Scope, req *api.PutRequest) (*api.List[api.Artifact], error) {
	return do(ctx, c, scope, &ops.Put, req)
}

// Artifacts does [carrel.Engine.Artifacts].
func (c *Client) Artifacts(ctx context.Context, scope governance.Scope, req *api.ArtifactsRequest) (*api.List[api.Artifact], error) {
	return listAll(ctx, c, scope, &ops.Artifacts, req)
}

// Get does [carrel.Engine.Get].
func (c *Client) Get(ctx context.Context, scope governance.Scope, req *api.GetRequest) (*api.GetResult, error) {
	return do(ctx, c, scope, &ops.Get, req)
}

// PinArtifact does [carrel.Engine.PinArtifact].
func (c *Client) PinArtifact(ctx context.Context, scope governance.Scope, req *api.PinArtifactRequest) (*api.Artifact, error) {
	return do(ctx, c, scope, &ops.PinArtifact, req)
}

// Remove does [carrel.Engine.Remove].
func (c *Client) Remove(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Remove, req)
}

// Restore does [carrel.Engine.Restore].
func (c *Client) Restore(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Restore, req)
}

// Refute does [carrel.Engine.Refute].
func (c *Client) Refute(ctx context.Context, scope governance.Scope, req *api.RefuteRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Refute, req)
}

// Purge does [carrel.Engine.Purge].
func (c *Client) Purge(ctx context.Context, scope governance.Scope, req *api.IDsRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.Purge, req)
}

// Stash does [carrel.Engine.Stash].
func (c *Client) Stash(ctx context.Context, scope governance.Scope, req *api.StashRequest) (*api.StashResult, error) {
	return do(ctx, c, scope, &ops.Stash, req)
}

// CollectStash does [carrel.Engine.CollectStash].
func (c *Client) CollectStash(ctx context.Context, scope governance.Scope, req *api.CollectRequest) (*api.RemovalResult, error) {
	return do(ctx, c, scope, &ops.CollectStash, req)
}

// Triage does [carrel.Engine.Triage].
func (c *Client) Triage(ctx context.Context, scope governance.Scope, req *api.TriageRequest) (*api.TriageResult, error) {
	return do(ctx, c, scope, &ops.Triage, req)
}

// Assemble does [carrel.Engine.Assemble].
func (c *Client) Assemble(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (*api.AssembleResult, error) {
	return do(ctx, c, scope, &ops.Assemble, req)
}

// Manifests does [carrel.Engine.Manifests].
func (c *Client) Manifests(ctx context.Context, scope governance.Scope, req *api.ManifestsRequest) (*api.List[store.Manifest], error) {
	return listAll(ctx, c, scope, &ops.Manifests, req)
}

// Manifest does [carrel.Engine.Manifest].
func (c *Client) Manifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ManifestResult, error) {
	return do(ctx, c, scope, &ops.Manifest, req)
}

// DiffManifests does [carrel.Engine.DiffManifests].
func (c *Client) DiffManifests(ctx context.Context, scope governance.Scope, req *api.DiffRequest) (*api.DiffResult, error) {
	return do(ctx, c, scope, &ops.DiffManifests, req)
}

// VerifyManifest does [carrel.Engine.VerifyManifest].
func (c *Client) VerifyManifest(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.VerifyResult, error) {
	return do(ctx, c, scope, &ops.VerifyManifest, req)
}

// Replay does [carrel.Engine.Replay].
func (c *Client) Replay(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ReplayResult, error) {
	return do(ctx, c, scope, &ops.Replay, req)
}

// Commit does [carrel.Engine.Commit].
func (c *Client) Commit(ctx context.Context, scope governance.Scope, req *api.CommitRequest) (*api.CommitResult, error) {
	return do(ctx, c, scope, &ops.Commit, req)
}

// Reviews does [carrel.Engine.Reviews].
func (c *Client) Reviews(ctx context.Context, scope governance.Scope, req *api.None) (*api.List[api.ReviewEntry], error) {
	return do(ctx, c, scope, &ops.Reviews, req)
}

// Review does [carrel.Engine.Review].
func (c *Client) Review(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.ReviewEntry, error) {
	return do(ctx, c, scope, &ops.Review, req)
}

// Decide does [carrel.Engine.Decide].
func (c *Client) Decide(ctx context.Context, scope governance.Scope, req *api.DecideRequest) (*api.Artifact, error) {
	return do(ctx, c, scope, &ops.Decide, req)
}

// Log does [carrel.Engine.Log].
func (c *Client) Log(ctx context.Context, scope governance.Scope, req *api.LogRequest) (*api.List[store.Entry], error) {
	return listAll(ctx, c, scope, &ops.Log, req)
}

// Calls does [carrel.Engine.Calls].
func (c *Client) Calls(ctx context.Context, scope governance.Scope, req *api.CallsRequest) (*api.List[api.Call], error) {
	return listAll(ctx, c, scope, &ops.Calls, req)
}

// Call does [carrel.Engine.Call].
func (c *Client) Call(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.CallResult, error) {
	return do(ctx, c, scope, &ops.Call, req)
}

// Report does [carrel.Engine.Report].
func (c *Client) Report(ctx context.Context, scope governance.Scope, req *api.ReportRequest) (*api.ReportResult, error) {
	return do(ctx, c, scope, &ops.Report, req)
}
