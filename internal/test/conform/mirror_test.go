package conform

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A mirror does each job twice, by an engine and by a client of an engine that is the
// same, and finds what is different.
type mirror struct {
	t      *testing.T
	engine Jobs
	client Jobs
}

// both does a job twice and returns what the client returned.
func both[Res any](m *mirror, name string, do func(Jobs) (Res, error)) (Res, error) {
	m.t.Helper()
	want, wanted := do(m.engine)
	got, err := do(m.client)
	m.errors(name, err, wanted)
	if err == nil && wanted == nil {
		m.compare(name, got, want)
	}
	return got, err
}

// alike says when results are equal. What is looked at of a state is in the statements
// that it was read from.
func alike() cmp.Options {
	some := func(a, b []byte) bool { return len(a)+len(b) > 0 }
	return cmp.Options{cmpopts.EquateEmpty(), cmp.FilterValues(some, cmp.Comparer(bytes.Equal)), cmpopts.IgnoreUnexported(contract.State{})}
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

func (m *mirror) Manifest(x ctx, s scope, a string) (*store.Manifest, *manifest.Sealed, error) {
	want, wantSealed, wanted := m.engine.Manifest(x, s, a)
	got, sealed, err := m.client.Manifest(x, s, a)
	m.compare("Manifest", got, want)
	m.errors("Manifest", err, wanted)
	if sealed != nil && wantSealed != nil {
		m.compare("Manifest", string(sealed.Bytes()), string(wantSealed.Bytes()))
	}
	return got, sealed, err
}

func (m *mirror) Sessions(x ctx, s scope, a int) ([]carrel.SessionInfo, error) {
	return both(m, "Sessions", func(j Jobs) ([]carrel.SessionInfo, error) { return j.Sessions(x, s, a) })
}

func (m *mirror) FindSession(x ctx, s scope, a string) (id, error) {
	return both(m, "FindSession", func(j Jobs) (id, error) { return j.FindSession(x, s, a) })
}

func (m *mirror) Session(x ctx, s scope, a id) (*carrel.SessionInfo, error) {
	return both(m, "Session", func(j Jobs) (*carrel.SessionInfo, error) { return j.Session(x, s, a) })
}

func (m *mirror) RemovedSessions(x ctx, s scope) ([]carrel.SessionInfo, error) {
	return both(m, "RemovedSessions", func(j Jobs) ([]carrel.SessionInfo, error) { return j.RemovedSessions(x, s) })
}

func (m *mirror) RemoveSession(x ctx, s scope, a id) (*carrel.SessionRemoval, error) {
	return both(m, "RemoveSession", func(j Jobs) (*carrel.SessionRemoval, error) { return j.RemoveSession(x, s, a) })
}

func (m *mirror) RestoreSession(x ctx, s scope, a id) (*carrel.SessionRemoval, error) {
	return both(m, "RestoreSession", func(j Jobs) (*carrel.SessionRemoval, error) { return j.RestoreSession(x, s, a) })
}

func (m *mirror) PurgeSession(x ctx, s scope, a id) (*carrel.SessionRemoval, error) {
	return both(m, "PurgeSession", func(j Jobs) (*carrel.SessionRemoval, error) { return j.PurgeSession(x, s, a) })
}

func (m *mirror) Import(x ctx, s scope, a *carrel.ImportRequest) (*carrel.ImportResult, error) {
	return both(m, "Import", func(j Jobs) (*carrel.ImportResult, error) { return j.Import(x, s, a) })
}

func (m *mirror) Append(x ctx, s scope, a *carrel.AppendRequest) (*carrel.ImportResult, error) {
	return both(m, "Append", func(j Jobs) (*carrel.ImportResult, error) { return j.Append(x, s, a) })
}

func (m *mirror) Export(x ctx, s scope, a *carrel.ExportRequest) (*carrel.ExportResult, error) {
	return both(m, "Export", func(j Jobs) (*carrel.ExportResult, error) { return j.Export(x, s, a) })
}

func (m *mirror) Trigger(x ctx, s scope, a *carrel.TriggerRequest) (*carrel.TriggerResult, error) {
	return both(m, "Trigger", func(j Jobs) (*carrel.TriggerResult, error) { return j.Trigger(x, s, a) })
}

func (m *mirror) Compress(x ctx, s scope, a *carrel.CompressRequest) (*carrel.CompressResult, error) {
	return both(m, "Compress", func(j Jobs) (*carrel.CompressResult, error) { return j.Compress(x, s, a) })
}

func (m *mirror) Discard(x ctx, s scope, a *carrel.DiscardRequest) (*carrel.DiscardResult, error) {
	return both(m, "Discard", func(j Jobs) (*carrel.DiscardResult, error) { return j.Discard(x, s, a) })
}

func (m *mirror) Undo(x ctx, s scope, a *carrel.UndoRequest) (*carrel.UndoResult, error) {
	return both(m, "Undo", func(j Jobs) (*carrel.UndoResult, error) { return j.Undo(x, s, a) })
}

func (m *mirror) Mark(x ctx, s scope, a *carrel.MarkRequest) (*carrel.MarkResult, error) {
	return both(m, "Mark", func(j Jobs) (*carrel.MarkResult, error) { return j.Mark(x, s, a) })
}

func (m *mirror) Messages(x ctx, s scope, a id) (*carrel.MessagesResult, error) {
	return both(m, "Messages", func(j Jobs) (*carrel.MessagesResult, error) { return j.Messages(x, s, a) })
}

func (m *mirror) Page(x ctx, s scope, a *carrel.PageRequest) (*carrel.PageResult, error) {
	return both(m, "Page", func(j Jobs) (*carrel.PageResult, error) { return j.Page(x, s, a) })
}

func (m *mirror) Pin(x ctx, s scope, a *carrel.PinRequest) (*carrel.PinResult, error) {
	return both(m, "Pin", func(j Jobs) (*carrel.PinResult, error) { return j.Pin(x, s, a) })
}

func (m *mirror) Recall(x ctx, s scope, a *carrel.RecallRequest) (*carrel.RecallResult, error) {
	return both(m, "Recall", func(j Jobs) (*carrel.RecallResult, error) { return j.Recall(x, s, a) })
}

func (m *mirror) Search(x ctx, s scope, a *carrel.SearchRequest) ([]carrel.Found, error) {
	return both(m, "Search", func(j Jobs) ([]carrel.Found, error) { return j.Search(x, s, a) })
}

func (m *mirror) Why(x ctx, s scope, a string) (*carrel.WhyResult, error) {
	return both(m, "Why", func(j Jobs) (*carrel.WhyResult, error) { return j.Why(x, s, a) })
}

func (m *mirror) Context(x ctx, s scope, a id, b token.Count) (*carrel.ContextResult, error) {
	return both(m, "Context", func(j Jobs) (*carrel.ContextResult, error) { return j.Context(x, s, a, b) })
}

func (m *mirror) Stats(x ctx, s scope, a id) (*carrel.StatsResult, error) {
	return both(m, "Stats", func(j Jobs) (*carrel.StatsResult, error) { return j.Stats(x, s, a) })
}

func (m *mirror) State(x ctx, s scope, a id) (*carrel.State, error) {
	return both(m, "State", func(j Jobs) (*carrel.State, error) { return j.State(x, s, a) })
}

func (m *mirror) Journal(x ctx, s scope, a id, b store.Revision) ([]store.Entry, error) {
	return both(m, "Journal", func(j Jobs) ([]store.Entry, error) { return j.Journal(x, s, a, b) })
}

func (m *mirror) Log(x ctx, s scope, a store.Version) ([]store.Entry, error) {
	return both(m, "Log", func(j Jobs) ([]store.Entry, error) { return j.Log(x, s, a) })
}

func (m *mirror) Summary(x ctx, s scope, a id) (*carrel.SummaryResult, error) {
	return both(m, "Summary", func(j Jobs) (*carrel.SummaryResult, error) { return j.Summary(x, s, a) })
}

func (m *mirror) CheckSummary(x ctx, s scope, a *carrel.CheckSummaryRequest) (*carrel.CheckSummaryResult, error) {
	return both(m, "CheckSummary", func(j Jobs) (*carrel.CheckSummaryResult, error) { return j.CheckSummary(x, s, a) })
}

func (m *mirror) Probes(x ctx, s scope, a *carrel.ProbesRequest) (*carrel.ProbesResult, error) {
	return both(m, "Probes", func(j Jobs) (*carrel.ProbesResult, error) { return j.Probes(x, s, a) })
}

func (m *mirror) RunProbes(x ctx, s scope, a *carrel.RunProbesRequest) (*carrel.RunProbesResult, error) {
	return both(m, "RunProbes", func(j Jobs) (*carrel.RunProbesResult, error) { return j.RunProbes(x, s, a) })
}

func (m *mirror) Brief(x ctx, s scope, a *carrel.BriefRequest) (*carrel.BriefResult, error) {
	return both(m, "Brief", func(j Jobs) (*carrel.BriefResult, error) { return j.Brief(x, s, a) })
}

func (m *mirror) ProbeReport(x ctx, s scope, a id) (*carrel.ProbeReport, error) {
	return both(m, "ProbeReport", func(j Jobs) (*carrel.ProbeReport, error) { return j.ProbeReport(x, s, a) })
}

func (m *mirror) Contract(x ctx, s scope, a id) ([]string, error) {
	return both(m, "Contract", func(j Jobs) ([]string, error) { return j.Contract(x, s, a) })
}

func (m *mirror) AmendContract(x ctx, s scope, a *carrel.ContractRequest) (*carrel.ContractResult, error) {
	return both(m, "AmendContract", func(j Jobs) (*carrel.ContractResult, error) { return j.AmendContract(x, s, a) })
}

func (m *mirror) CheckContract(x ctx, s scope, a id) (*contract.Report, error) {
	return both(m, "CheckContract", func(j Jobs) (*contract.Report, error) { return j.CheckContract(x, s, a) })
}

func (m *mirror) Handoff(x ctx, s scope, a *carrel.HandoffRequest) (*carrel.HandoffResult, error) {
	return both(m, "Handoff", func(j Jobs) (*carrel.HandoffResult, error) { return j.Handoff(x, s, a) })
}

func (m *mirror) CheckHandoff(x ctx, s scope, a *carrel.CheckHandoffRequest) (*carrel.HandoffResult, error) {
	return both(m, "CheckHandoff", func(j Jobs) (*carrel.HandoffResult, error) { return j.CheckHandoff(x, s, a) })
}

func (m *mirror) Accept(x ctx, s scope, a *carrel.AcceptRequest) (*carrel.AcceptResult, error) {
	return both(m, "Accept", func(j Jobs) (*carrel.AcceptResult, error) { return j.Accept(x, s, a) })
}

func (m *mirror) Put(x ctx, s scope, a ...*carrel.PutRequest) ([]carrel.Artifact, error) {
	return both(m, "Put", func(j Jobs) ([]carrel.Artifact, error) { return j.Put(x, s, a...) })
}

func (m *mirror) Artifacts(x ctx, s scope, a *carrel.ArtifactsRequest) ([]carrel.Artifact, error) {
	return both(m, "Artifacts", func(j Jobs) ([]carrel.Artifact, error) { return j.Artifacts(x, s, a) })
}

func (m *mirror) Get(x ctx, s scope, a *carrel.GetRequest) (*carrel.GetResult, error) {
	return both(m, "Get", func(j Jobs) (*carrel.GetResult, error) { return j.Get(x, s, a) })
}

func (m *mirror) PinArtifact(x ctx, s scope, a string, b bool) (*carrel.Artifact, error) {
	return both(m, "PinArtifact", func(j Jobs) (*carrel.Artifact, error) { return j.PinArtifact(x, s, a, b) })
}

func (m *mirror) Stash(x ctx, s scope, a *carrel.StashRequest) (*carrel.StashResult, error) {
	return both(m, "Stash", func(j Jobs) (*carrel.StashResult, error) { return j.Stash(x, s, a) })
}

func (m *mirror) Remove(x ctx, s scope, a ...string) (*carrel.RemovalResult, error) {
	return both(m, "Remove", func(j Jobs) (*carrel.RemovalResult, error) { return j.Remove(x, s, a...) })
}

func (m *mirror) Restore(x ctx, s scope, a ...string) (*carrel.RemovalResult, error) {
	return both(m, "Restore", func(j Jobs) (*carrel.RemovalResult, error) { return j.Restore(x, s, a...) })
}

func (m *mirror) Refute(x ctx, s scope, a *carrel.RefuteRequest) (*carrel.RemovalResult, error) {
	return both(m, "Refute", func(j Jobs) (*carrel.RemovalResult, error) { return j.Refute(x, s, a) })
}

func (m *mirror) Purge(x ctx, s scope, a ...string) (*carrel.RemovalResult, error) {
	return both(m, "Purge", func(j Jobs) (*carrel.RemovalResult, error) { return j.Purge(x, s, a...) })
}

func (m *mirror) CollectStash(x ctx, s scope, a bool) (*carrel.RemovalResult, error) {
	return both(m, "CollectStash", func(j Jobs) (*carrel.RemovalResult, error) { return j.CollectStash(x, s, a) })
}

func (m *mirror) Triage(x ctx, s scope, a *carrel.TriageRequest) (*carrel.TriageResult, error) {
	return both(m, "Triage", func(j Jobs) (*carrel.TriageResult, error) { return j.Triage(x, s, a) })
}

func (m *mirror) Assemble(x ctx, s scope, a *carrel.AssembleRequest) (*carrel.AssembleResult, error) {
	return both(m, "Assemble", func(j Jobs) (*carrel.AssembleResult, error) { return j.Assemble(x, s, a) })
}

func (m *mirror) Replay(x ctx, s scope, a string) ([]byte, error) {
	return both(m, "Replay", func(j Jobs) ([]byte, error) { return j.Replay(x, s, a) })
}

func (m *mirror) Manifests(x ctx, s scope, a id, b int) ([]store.Manifest, error) {
	return both(m, "Manifests", func(j Jobs) ([]store.Manifest, error) { return j.Manifests(x, s, a, b) })
}

func (m *mirror) DiffManifests(x ctx, s scope, a string, b string) (*manifest.Delta, error) {
	return both(m, "DiffManifests", func(j Jobs) (*manifest.Delta, error) { return j.DiffManifests(x, s, a, b) })
}

func (m *mirror) VerifyManifest(x ctx, s scope, a string) (*carrel.VerifyResult, error) {
	return both(m, "VerifyManifest", func(j Jobs) (*carrel.VerifyResult, error) { return j.VerifyManifest(x, s, a) })
}

func (m *mirror) Commit(x ctx, s scope, a *carrel.CommitRequest) (*carrel.CommitResult, error) {
	return both(m, "Commit", func(j Jobs) (*carrel.CommitResult, error) { return j.Commit(x, s, a) })
}

func (m *mirror) Reviews(x ctx, s scope) ([]carrel.ReviewEntry, error) {
	return both(m, "Reviews", func(j Jobs) ([]carrel.ReviewEntry, error) { return j.Reviews(x, s) })
}

func (m *mirror) Review(x ctx, s scope, a string) (*carrel.ReviewEntry, error) {
	return both(m, "Review", func(j Jobs) (*carrel.ReviewEntry, error) { return j.Review(x, s, a) })
}

func (m *mirror) Decide(x ctx, s scope, a *carrel.ReviewDecision) (*carrel.Artifact, error) {
	return both(m, "Decide", func(j Jobs) (*carrel.Artifact, error) { return j.Decide(x, s, a) })
}
