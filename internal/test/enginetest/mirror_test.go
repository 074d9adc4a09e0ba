package enginetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/store"
)

// A mirror does each job twice, by an engine and by a client of an engine that is the
// same, and finds what is different.
type mirror struct {
	t      *testing.T
	engine Jobs
	client Jobs
}

// both does a job twice and returns what the client returned.
func both[Req, Res any](m *mirror, name string, do func(Jobs, ctx, scope, *Req) (*Res, error), x ctx, s scope, r *Req) (*Res, error) {
	m.t.Helper()
	want, wanted := do(m.engine, x, s, r)
	got, err := do(m.client, x, s, r)
	m.errors(name, err, wanted)
	if err == nil && wanted == nil {
		m.compare(name, got, want)
	}
	return got, err
}

// alike says when results are equal. The state of a contract is not sent: its statements
// give it.
func alike() cmp.Options {
	some := func(a, b []byte) bool { return len(a)+len(b) > 0 }
	return cmp.Options{cmpopts.EquateEmpty(), cmp.FilterValues(some, cmp.Comparer(bytes.Equal)), cmpopts.IgnoreFields(contract.Report{}, "State")}
}

func (m *mirror) compare(name string, got, want any) {
	m.t.Helper()
	if diff := cmp.Diff(want, got, alike()); diff != "" {
		m.t.Errorf("%s (-engine +client):\n%s", name, diff)
	}
}

func (m *mirror) errors(name string, got, want error) {
	m.t.Helper()
	if (got == nil) != (want == nil) {
		m.t.Errorf("%s: the engine says %v, the client %v", name, want, got)
	}
	if got == nil || want == nil {
		return
	}
	if api.KindOf(want).Slug == api.Canceled.Slug && api.KindOf(got).Slug == api.Canceled.Slug {
		return // the client was not waiting any more for what the server says
	}
	if _, ok := errors.AsType[*client.Error](got); !ok {
		if got, want := api.KindOf(got).Slug, api.KindOf(want).Slug; got != want {
			m.t.Errorf("%s: the engine says %s, the client itself %s", name, want, got)
		}
		return
	}
	p := api.NewProblem(got)
	p.Request = ""
	if diff := cmp.Diff(api.NewProblem(want), p, cmpopts.EquateEmpty()); diff != "" {
		m.t.Errorf("%s: error (-engine +client):\n%s", name, diff)
	}
}

func (m *mirror) Sessions(x ctx, s scope, r *api.SessionsRequest) (*api.List[api.SessionInfo], error) {
	return both(m, "Sessions", Jobs.Sessions, x, s, r)
}

func (m *mirror) FindSession(x ctx, s scope, r *api.WordRequest) (*api.SessionResult, error) {
	return both(m, "FindSession", Jobs.FindSession, x, s, r)
}

func (m *mirror) Session(x ctx, s scope, r *api.SessionRequest) (*api.SessionInfo, error) {
	return both(m, "Session", Jobs.Session, x, s, r)
}

func (m *mirror) RemovedSessions(x ctx, s scope, r *api.None) (*api.List[api.SessionInfo], error) {
	return both(m, "RemovedSessions", Jobs.RemovedSessions, x, s, r)
}

func (m *mirror) RemoveSession(x ctx, s scope, r *api.SessionRequest) (*api.SessionRemoval, error) {
	return both(m, "RemoveSession", Jobs.RemoveSession, x, s, r)
}

func (m *mirror) RestoreSession(x ctx, s scope, r *api.SessionRequest) (*api.SessionRemoval, error) {
	return both(m, "RestoreSession", Jobs.RestoreSession, x, s, r)
}

func (m *mirror) PurgeSession(x ctx, s scope, r *api.SessionRequest) (*api.SessionRemoval, error) {
	return both(m, "PurgeSession", Jobs.PurgeSession, x, s, r)
}

func (m *mirror) Import(x ctx, s scope, r *api.ImportRequest) (*api.ImportResult, error) {
	return both(m, "Import", Jobs.Import, x, s, r)
}

func (m *mirror) Append(x ctx, s scope, r *api.AppendRequest) (*api.ImportResult, error) {
	return both(m, "Append", Jobs.Append, x, s, r)
}

func (m *mirror) Messages(x ctx, s scope, r *api.MessagesRequest) (*api.MessagesResult, error) {
	return both(m, "Messages", Jobs.Messages, x, s, r)
}

func (m *mirror) Context(x ctx, s scope, r *api.ContextRequest) (*api.ContextResult, error) {
	return both(m, "Context", Jobs.Context, x, s, r)
}

func (m *mirror) Trigger(x ctx, s scope, r *api.TriggerRequest) (*api.TriggerResult, error) {
	return both(m, "Trigger", Jobs.Trigger, x, s, r)
}

func (m *mirror) Compress(x ctx, s scope, r *api.CompressRequest) (*api.CompressResult, error) {
	return both(m, "Compress", Jobs.Compress, x, s, r)
}

func (m *mirror) Discard(x ctx, s scope, r *api.DiscardRequest) (*api.DiscardResult, error) {
	return both(m, "Discard", Jobs.Discard, x, s, r)
}

func (m *mirror) Page(x ctx, s scope, r *api.PageRequest) (*api.PageResult, error) {
	return both(m, "Page", Jobs.Page, x, s, r)
}

func (m *mirror) Pin(x ctx, s scope, r *api.PinRequest) (*api.PinResult, error) {
	return both(m, "Pin", Jobs.Pin, x, s, r)
}

func (m *mirror) Undo(x ctx, s scope, r *api.UndoRequest) (*api.UndoResult, error) {
	return both(m, "Undo", Jobs.Undo, x, s, r)
}

func (m *mirror) Mark(x ctx, s scope, r *api.MarkRequest) (*api.MarkResult, error) {
	return both(m, "Mark", Jobs.Mark, x, s, r)
}

func (m *mirror) Export(x ctx, s scope, r *api.ExportRequest) (*api.ExportResult, error) {
	return both(m, "Export", Jobs.Export, x, s, r)
}

func (m *mirror) Repair(x ctx, s scope, r *api.RepairRequest) (*api.RepairResult, error) {
	return both(m, "Repair", Jobs.Repair, x, s, r)
}

func (m *mirror) Recall(x ctx, s scope, r *api.RecallRequest) (*api.RecallResult, error) {
	return both(m, "Recall", Jobs.Recall, x, s, r)
}

func (m *mirror) Why(x ctx, s scope, r *api.BlockRequest) (*api.WhyResult, error) {
	return both(m, "Why", Jobs.Why, x, s, r)
}

func (m *mirror) Search(x ctx, s scope, r *api.SearchRequest) (*api.List[api.Found], error) {
	return both(m, "Search", Jobs.Search, x, s, r)
}

func (m *mirror) Cost(x ctx, s scope, r *api.CostRequest) (*api.CostResult, error) {
	return both(m, "Cost", Jobs.Cost, x, s, r)
}

func (m *mirror) Stats(x ctx, s scope, r *api.SessionRequest) (*api.StatsResult, error) {
	return both(m, "Stats", Jobs.Stats, x, s, r)
}

func (m *mirror) State(x ctx, s scope, r *api.SessionRequest) (*api.ProtocolState, error) {
	return both(m, "State", Jobs.State, x, s, r)
}

func (m *mirror) Journal(x ctx, s scope, r *api.JournalRequest) (*api.List[store.Entry], error) {
	return both(m, "Journal", Jobs.Journal, x, s, r)
}

func (m *mirror) Brief(x ctx, s scope, r *api.BriefRequest) (*api.BriefResult, error) {
	return both(m, "Brief", Jobs.Brief, x, s, r)
}

func (m *mirror) Summary(x ctx, s scope, r *api.SessionRequest) (*api.SummaryResult, error) {
	return both(m, "Summary", Jobs.Summary, x, s, r)
}

func (m *mirror) CheckSummary(x ctx, s scope, r *api.CheckSummaryRequest) (*api.CheckSummaryResult, error) {
	return both(m, "CheckSummary", Jobs.CheckSummary, x, s, r)
}

func (m *mirror) Probes(x ctx, s scope, r *api.ProbesRequest) (*api.ProbesResult, error) {
	return both(m, "Probes", Jobs.Probes, x, s, r)
}

func (m *mirror) RunProbes(x ctx, s scope, r *api.RunProbesRequest) (*api.RunProbesResult, error) {
	return both(m, "RunProbes", Jobs.RunProbes, x, s, r)
}

func (m *mirror) DiffSession(x ctx, s scope, r *api.DiffSessionRequest) (*api.SessionDelta, error) {
	return both(m, "DiffSession", Jobs.DiffSession, x, s, r)
}

func (m *mirror) ProbeReport(x ctx, s scope, r *api.SessionRequest) (*api.ProbeReport, error) {
	return both(m, "ProbeReport", Jobs.ProbeReport, x, s, r)
}

func (m *mirror) Contract(x ctx, s scope, r *api.SessionRequest) (*api.ContractResult, error) {
	return both(m, "Contract", Jobs.Contract, x, s, r)
}

func (m *mirror) AmendContract(x ctx, s scope, r *api.AmendContractRequest) (*api.AmendContractResult, error) {
	return both(m, "AmendContract", Jobs.AmendContract, x, s, r)
}

func (m *mirror) CheckContract(x ctx, s scope, r *api.SessionRequest) (*contract.Report, error) {
	return both(m, "CheckContract", Jobs.CheckContract, x, s, r)
}

func (m *mirror) Handoff(x ctx, s scope, r *api.HandoffRequest) (*api.HandoffResult, error) {
	return both(m, "Handoff", Jobs.Handoff, x, s, r)
}

func (m *mirror) CheckHandoff(x ctx, s scope, r *api.CheckHandoffRequest) (*api.HandoffResult, error) {
	return both(m, "CheckHandoff", Jobs.CheckHandoff, x, s, r)
}

func (m *mirror) Accept(x ctx, s scope, r *api.AcceptRequest) (*api.AcceptResult, error) {
	return both(m, "Accept", Jobs.Accept, x, s, r)
}

func (m *mirror) Put(x ctx, s scope, r *api.PutRequest) (*api.List[api.Artifact], error) {
	return both(m, "Put", Jobs.Put, x, s, r)
}

func (m *mirror) Artifacts(x ctx, s scope, r *api.ArtifactsRequest) (*api.List[api.Artifact], error) {
	return both(m, "Artifacts", Jobs.Artifacts, x, s, r)
}

func (m *mirror) Get(x ctx, s scope, r *api.GetRequest) (*api.GetResult, error) {
	return both(m, "Get", Jobs.Get, x, s, r)
}

func (m *mirror) PinArtifact(x ctx, s scope, r *api.PinArtifactRequest) (*api.Artifact, error) {
	return both(m, "PinArtifact", Jobs.PinArtifact, x, s, r)
}

func (m *mirror) Remove(x ctx, s scope, r *api.IDsRequest) (*api.RemovalResult, error) {
	return both(m, "Remove", Jobs.Remove, x, s, r)
}

func (m *mirror) Restore(x ctx, s scope, r *api.IDsRequest) (*api.RemovalResult, error) {
	return both(m, "Restore", Jobs.Restore, x, s, r)
}

func (m *mirror) Refute(x ctx, s scope, r *api.RefuteRequest) (*api.RemovalResult, error) {
	return both(m, "Refute", Jobs.Refute, x, s, r)
}

func (m *mirror) Purge(x ctx, s scope, r *api.IDsRequest) (*api.RemovalResult, error) {
	return both(m, "Purge", Jobs.Purge, x, s, r)
}

func (m *mirror) Stash(x ctx, s scope, r *api.StashRequest) (*api.StashResult, error) {
	return both(m, "Stash", Jobs.Stash, x, s, r)
}

func (m *mirror) CollectStash(x ctx, s scope, r *api.CollectRequest) (*api.RemovalResult, error) {
	return both(m, "CollectStash", Jobs.CollectStash, x, s, r)
}

func (m *mirror) Triage(x ctx, s scope, r *api.TriageRequest) (*api.TriageResult, error) {
	return both(m, "Triage", Jobs.Triage, x, s, r)
}

func (m *mirror) Assemble(x ctx, s scope, r *api.AssembleRequest) (*api.AssembleResult, error) {
	return both(m, "Assemble", Jobs.Assemble, x, s, r)
}

func (m *mirror) Manifests(x ctx, s scope, r *api.ManifestsRequest) (*api.List[store.Manifest], error) {
	return both(m, "Manifests", Jobs.Manifests, x, s, r)
}

func (m *mirror) Manifest(x ctx, s scope, r *api.IDRequest) (*api.ManifestResult, error) {
	return both(m, "Manifest", Jobs.Manifest, x, s, r)
}

func (m *mirror) DiffManifests(x ctx, s scope, r *api.DiffRequest) (*api.DiffResult, error) {
	return both(m, "DiffManifests", Jobs.DiffManifests, x, s, r)
}

func (m *mirror) VerifyManifest(x ctx, s scope, r *api.IDRequest) (*api.VerifyResult, error) {
	return both(m, "VerifyManifest", Jobs.VerifyManifest, x, s, r)
}

func (m *mirror) Replay(x ctx, s scope, r *api.IDRequest) (*api.ReplayResult, error) {
	return both(m, "Replay", Jobs.Replay, x, s, r)
}

func (m *mirror) Commit(x ctx, s scope, r *api.CommitRequest) (*api.CommitResult, error) {
	return both(m, "Commit", Jobs.Commit, x, s, r)
}

func (m *mirror) Reviews(x ctx, s scope, r *api.None) (*api.List[api.ReviewEntry], error) {
	return both(m, "Reviews", Jobs.Reviews, x, s, r)
}

func (m *mirror) Review(x ctx, s scope, r *api.IDRequest) (*api.ReviewEntry, error) {
	return both(m, "Review", Jobs.Review, x, s, r)
}

func (m *mirror) Decide(x ctx, s scope, r *api.DecideRequest) (*api.Artifact, error) {
	return both(m, "Decide", Jobs.Decide, x, s, r)
}

func (m *mirror) Log(x ctx, s scope, r *api.LogRequest) (*api.List[store.Entry], error) {
	return both(m, "Log", Jobs.Log, x, s, r)
}

func (m *mirror) Calls(x ctx, s scope, r *api.CallsRequest) (*api.List[api.Call], error) {
	return both(m, "Calls", Jobs.Calls, x, s, r)
}

func (m *mirror) Call(x ctx, s scope, r *api.IDRequest) (*api.CallResult, error) {
	return both(m, "Call", Jobs.Call, x, s, r)
}

func (m *mirror) Report(x ctx, s scope, r *api.ReportRequest) (*api.ReportResult, error) {
	return both(m, "Report", Jobs.Report, x, s, r)
}
