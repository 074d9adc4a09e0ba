package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/store"
)

// canary is in every text of the scenario, and may be in no log and no metric.
const canary = "canary-7f3b"

// leak is a conversation of the corpus: a coding agent mends a leaking pool.
func leak(t testing.TB) []byte {
	t.Helper()
	archive, err := txtar.ParseFile("../../testdata/summaries/01-go-pool-leak.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "conversation.json" {
			return f.Data
		}
	}
	t.Fatal("no conversation in the archive")
	return nil
}

// A scenario asks for every operation at least once.
type scenario struct {
	*world
	met func(op *ops.Operation, body []byte, rec *httptest.ResponseRecorder) // sees each exchange
	ids map[string]string                                                    // that paths and bodies refer to
}

// run asks for an operation. Path fields and query come from fields that are in braces;
// the body is what is left.
func (s *scenario) run(op *ops.Operation, body any, fields ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	path := op.Path
	query := make([]string, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		if hole := "{" + fields[i] + "}"; strings.Contains(path, hole) {
			path = strings.ReplaceAll(path, hole, fields[i+1])
		} else {
			query = append(query, fields[i]+"="+fields[i+1])
		}
	}
	if query != nil {
		path += "?" + strings.Join(query, "&")
	}
	if op.Method != http.MethodGet && body == nil {
		body = map[string]any{}
	}
	var data []byte
	if op.Raw != "" {
		data = body.([]byte)
		body = string(data)
	} else if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			s.t.Fatal(err)
		}
		body = string(data)
	}
	rec := s.ask(op.Method, api.Prefix+path, body)
	if s.met != nil {
		s.met(op, data, rec)
	}
	return rec
}

// must asks for an operation that must succeed.
func must[T any](s *scenario, op *ops.Operation, body any, fields ...string) *T {
	s.t.Helper()
	rec := s.run(op, body, fields...)
	if rec.Code != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", op.Name, rec.Code, rec.Body)
	}
	return get[T](s.t, rec)
}

type fields map[string]any

func newScenario(t testing.TB, met func(*ops.Operation, []byte, *httptest.ResponseRecorder)) *scenario {
	t.Helper()
	w := newWorldOf(t, newEngine(t, nil), nil)
	return &scenario{world: w, met: met}
}

// play asks for everything.
func (s *scenario) play() {
	s.t.Helper()
	s.playSession()
	s.playWindow()
	s.playContracts()
	s.playArtifacts()
	s.playMemories()
	s.playCalls()
	s.playErasure()
}

func (s *scenario) playSession() {
	in := must[carrel.ImportResult](s, &ops.Import.Operation, leak(s.t), "name", "leak.json")
	id := string(in.Session)
	s.ids = map[string]string{"session": id}
	must[carrel.ImportResult](s, &ops.Append.Operation, fields{"messages": say("why is it red? "+canary, "it is not")}, "session", "other")
	must[api.List[carrel.SessionInfo]](s, &ops.Sessions.Operation, nil)
	must[api.SessionResult](s, &ops.FindSession.Operation, nil, "word", "@last")
	must[carrel.SessionInfo](s, &ops.Session.Operation, nil, "session", id)
	must[carrel.ContextResult](s, &ops.Context.Operation, nil, "session", id)
	must[carrel.TriggerResult](s, &ops.Trigger.Operation, nil, "session", id)
	must[carrel.StatsResult](s, &ops.Stats.Operation, nil, "session", id)
	must[carrel.CostResult](s, &ops.Cost.Operation, nil, "since", "2026-01-05T10:00:00Z")
	must[carrel.ProbesResult](s, &ops.Probes.Operation, nil, "session", id)
	must[carrel.ProtocolState](s, &ops.State.Operation, nil, "session", id) // without a summary yet
	must[carrel.BriefResult](s, &ops.Brief.Operation, nil, "session", id)
	must[api.List[carrel.Found]](s, &ops.Search.Operation, nil, "query", canary)
	must[carrel.MarkResult](s, &ops.Mark.Operation, fields{"critical": true}, "session", "other")
}

func (s *scenario) playWindow() {
	id := s.ids["session"]
	list := must[api.MessagesResult](s, &ops.Messages.Operation, nil, "session", id, "limit", "50")
	block := string(list.Messages[2].ID)
	s.ids["block"] = block
	must[carrel.CompressResult](s, &ops.Compress.Operation, fields{"target": "60%", "strategy": "anchored", "probe_min": 0}, "session", id)
	must[carrel.ProtocolState](s, &ops.State.Operation, nil, "session", id)
	sum := must[carrel.SummaryResult](s, &ops.Summary.Operation, nil, "session", id)
	text, err := json.Marshal(sum.Summary)
	if err != nil {
		s.t.Fatal(err)
	}
	must[carrel.CheckSummaryResult](s, &ops.CheckSummary.Operation, fields{"data": text}, "session", id)
	must[carrel.RunProbesResult](s, &ops.RunProbes.Operation, fields{"session": id})
	if d := must[carrel.SessionDelta](s, &ops.DiffSession.Operation, nil, "session", id, "from", "start"); len(d.Blocks) == 0 {
		s.t.Errorf("nothing differs after a compression: %+v", d)
	}
	must[carrel.ProbeReport](s, &ops.ProbeReport.Operation, nil, "session", id)
	must[carrel.ExportResult](s, &ops.Export.Operation, nil, "session", id)
	must[carrel.RecallResult](s, &ops.Recall.Operation, nil, "block", block)
	must[carrel.RepairResult](s, &ops.Repair.Operation, leak(s.t), "name", "leak.json")
	must[carrel.WhyResult](s, &ops.Why.Operation, nil, "block", block)
	must[carrel.UndoResult](s, &ops.Undo.Operation, fields{"session": id})
	must[carrel.PageResult](s, &ops.PageBlocks.Operation, fields{"blocks": []string{block}, "dry_run": true})
	must[carrel.PinResult](s, &ops.Pin.Operation, fields{"blocks": []string{block}})
	must[carrel.DiscardResult](s, &ops.Discard.Operation, fields{"session": id, "auto": true, "to": 1, "trigger": fields{"floor": 1}, "dry_run": true})
	must[api.List[json.RawMessage]](s, &ops.Journal.Operation, nil, "session", id)
}

func (s *scenario) playContracts() {
	id := s.ids["session"]
	must[api.ContractResult](s, &ops.Contract.Operation, nil, "session", id)
	must[carrel.AmendContractResult](s, &ops.AmendContract.Operation, fields{"session": id, "init": true, "decisions": []string{"use port 8080"}})
	must[json.RawMessage](s, &ops.CheckContract.Operation, nil, "session", id)
	packet := must[struct{ Packet json.RawMessage }](s, &ops.Handoff.Operation, nil, "session", id)
	must[carrel.HandoffResult](s, &ops.CheckHandoff.Operation, fields{"name": "packet.json", "data": []byte(packet.Packet), "session": id})
	must[carrel.AcceptResult](s, &ops.Accept.Operation, fields{"name": "packet.json", "data": []byte(packet.Packet)})
}

func (s *scenario) playArtifacts() {
	content := base64.StdEncoding.EncodeToString([]byte("The pool leaks at shutdown. " + canary))
	page := must[api.List[carrel.Artifact]](s, &ops.Put.Operation, fields{"artifacts": []fields{
		{"class": "document", "content": content, "title": "pool", "ttl": int64(3_600_000_000_000)},
		{"class": "transcript", "content": content},
	}})
	a, b := string(page.Items[0].ID), string(page.Items[1].ID)
	s.ids["a"], s.ids["b"] = a, b
	must[api.List[carrel.Artifact]](s, &ops.Artifacts.Operation, nil, "limit", "1")
	must[carrel.GetResult](s, &ops.Get.Operation, nil, "id", a)
	must[carrel.RecallResult](s, &ops.Recall.Operation, nil, "block", a)
	must[carrel.Artifact](s, &ops.PinArtifact.Operation, fields{"pinned": true}, "id", a)
	must[carrel.StashResult](s, &ops.Stash.Operation, fields{"content": content, "title": "make test", "ttl": 0})
	must[carrel.TriageResult](s, &ops.Triage.Operation, fields{"query": "why does the pool leak?"})
	for range 2 {
		res := must[carrel.AssembleResult](s, &ops.Assemble.Operation, fields{"query": "why does the pool leak?", "budget": 5000})
		s.ids["other"], s.ids["manifest"] = s.ids["manifest"], res.Manifest
	}
	m := s.ids["manifest"]
	must[json.RawMessage](s, &ops.Manifests.Operation, nil)
	must[api.ManifestResult](s, &ops.Manifest.Operation, nil, "id", m)
	must[json.RawMessage](s, &ops.DiffManifests.Operation, nil, "id", m, "other", s.ids["other"])
	must[carrel.VerifyResult](s, &ops.VerifyManifest.Operation, nil, "id", m)
	must[api.ReplayResult](s, &ops.Replay.Operation, nil, "id", m)
}

func (s *scenario) playCalls() {
	intent := carrel.CallIntent{Dialect: "anthropic", Model: "a model", Messages: 3, Bytes: 900, SentBytes: 400, Epoch: 1, Managed: true, Reason: "managed"}
	for _, call := range []string{"call_1", "call_2"} {
		if _, err := s.engine.Begin(s.t.Context(), "local", &carrel.BeginRequest{Call: call, Session: "s", CallIntent: intent}); err != nil {
			s.t.Fatal(err)
		}
	}
	_, err := s.engine.End(s.t.Context(), "local", &carrel.EndRequest{
		Call: "call_1", State: store.CallDone, CallOutcome: carrel.CallOutcome{Status: 200, Usage: carrel.Usage{Input: 7, CacheRead: 90}, Stop: "end_turn", First: time.UnixMilli(1)},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	list := must[api.List[carrel.Call]](s, &ops.Calls.Operation, nil, "session", "s", "since", "2026-01-01T00:00:00Z")
	if len(list.Items) != 2 || list.Items[1].Usage.CacheRead != 90 {
		s.t.Errorf("calls = %+v", list.Items)
	}
	for id, want := range map[string]string{"call_1": "call_1", "2": "call_2"} {
		if got := must[carrel.CallResult](s, &ops.Call.Operation, nil, "id", id); got.ID != want {
			s.t.Errorf("call %s is %s, want %s", id, got.ID, want)
		}
	}
	report := must[carrel.ReportResult](s, &ops.Report.Operation, nil)
	if report.Managed.Calls != 2 || report.Total.Open != 1 {
		s.t.Errorf("report = %+v", report)
	}
	if none := must[carrel.ReportResult](s, &ops.Report.Operation, nil, "since", "2200-01-01T00:00:00Z"); none.Total.Calls != 0 {
		s.t.Errorf("report of the future = %+v", none)
	}
}

func (s *scenario) playMemories() {
	text := "The pool leaks since the worker has no stop channel. " + canary
	verdict := func(confidence float64) fields {
		return fields{
			"evaluator": "rules", "confidence": confidence, "content": digest.Of([]byte(text)).String(), "scope": "local",
			"policy": s.engine.Policy(), "expires": time.Time{},
		}
	}
	must[carrel.CommitResult](s, &ops.Commit.Operation, fields{"manifest": s.ids["manifest"], "verdict": verdict(0.9)})
	held := must[carrel.CommitResult](s, &ops.Commit.Operation, fields{"manifest": s.ids["manifest"], "text": text, "verdict": verdict(0.1)})
	if held.Artifact == nil {
		s.t.Fatalf("the gate held nothing: %+v", held)
	}
	id := string(held.Artifact.ID)
	must[api.List[carrel.ReviewEntry]](s, &ops.Reviews.Operation, nil)
	must[carrel.ReviewEntry](s, &ops.Review.Operation, nil, "id", id)
	must[carrel.Artifact](s, &ops.Decide.Operation, fields{"approve": true}, "id", id)
	must[api.ManifestResult](s, &ops.Manifest.Operation, nil, "id", s.ids["manifest"])
}

func (s *scenario) playErasure() {
	a, b := s.ids["a"], s.ids["b"]
	must[carrel.RemovalResult](s, &ops.Remove.Operation, fields{"ids": []string{a}})
	must[carrel.RemovalResult](s, &ops.Restore.Operation, fields{"ids": []string{a}})
	must[carrel.RemovalResult](s, &ops.Refute.Operation, fields{"ids": []string{b}})
	must[carrel.RemovalResult](s, &ops.Purge.Operation, fields{"ids": []string{b}})
	must[carrel.RemovalResult](s, &ops.CollectStash.Operation, nil)
	must[carrel.ImportResult](s, &ops.Append.Operation, appended("to be erased"), "session", "short-lived")
	must[carrel.SessionRemoval](s, &ops.RemoveSession.Operation, nil, "session", "short-lived")
	must[api.List[carrel.SessionInfo]](s, &ops.RemovedSessions.Operation, nil)
	must[carrel.SessionRemoval](s, &ops.RestoreSession.Operation, nil, "session", "short-lived")
	must[carrel.SessionRemoval](s, &ops.PurgeSession.Operation, nil, "session", "short-lived")
	must[api.List[carrel.Artifact]](s, &ops.Artifacts.Operation, nil, "all", "true")
	must[api.List[json.RawMessage]](s, &ops.Log.Operation, nil)
	// What cannot be done: problems, too, are as the document says.
	s.run(&ops.Get.Operation, nil, "id", "gone")
	s.run(&ops.Get.Operation, nil, "id", b)
	s.run(&ops.Compress.Operation, fields{"target": 1}, "session", s.ids["session"])
	s.run(&ops.AmendContract.Operation, fields{"session": s.ids["session"], "decisions": []string{"do not use port 8080"}})
	s.run(&ops.Discard.Operation, fields{"session": s.ids["session"], "ids": []string{s.ids["block"]}})
}
