package api

import (
	"net/http"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// The short names are of the table alone.
const (
	get, post, put = http.MethodGet, http.MethodPost, http.MethodPut

	read, write, review, erase = governance.Read, governance.Write, governance.Review, governance.Erase
)

// The operations on conversations.
var (
	Sessions = Op[SessionsRequest, Page[carrel.SessionInfo]]{Operation: Operation{
		"sessions", get, "/sessions", read, "List the sessions of the scope, last updated first", "items",
	}}
	FindSession = Op[WordRequest, SessionResult]{Operation: Operation{
		"find-session", get, "/session", read, "Find the session that an id, the beginning of one, @last or @prev names", "",
	}}
	Session = Op[SessionRequest, carrel.SessionInfo]{Operation: Operation{
		"session", get, "/sessions/{session}", read, "Say what is known of a session without reading it", "",
	}}
	RemovedSessions = Op[None, Page[carrel.SessionInfo]]{Operation: Operation{
		"removed-sessions", get, "/removed/sessions", read, "List the sessions that were removed or purged, last updated first", "",
	}}
	RemoveSession = Op[SessionRequest, carrel.SessionRemoval]{Operation: Operation{
		"remove-session", post, "/sessions/{session}/remove", erase, "Take a session out of use; restore-session brings it back", "",
	}}
	RestoreSession = Op[SessionRequest, carrel.SessionRemoval]{Operation: Operation{
		"restore-session", post, "/sessions/{session}/restore", erase, "Bring back a session that was removed", "",
	}}
	PurgeSession = Op[SessionRequest, carrel.SessionRemoval]{Operation: Operation{
		"purge-session", post, "/sessions/{session}/purge", erase, "Erase a session, and what was made from it, for good", "",
	}}
	Import = Op[carrel.ImportRequest, carrel.ImportResult]{Operation: Operation{
		"import", post, "/sessions", write, "Take a conversation in", "",
	}, Also: func(r *carrel.ImportRequest) []governance.Permission {
		if r.Anew {
			return []governance.Permission{erase}
		}
		return nil
	}}
	Append = Op[carrel.AppendRequest, carrel.ImportResult]{Operation: Operation{
		"append", post, "/sessions/{session}/messages", write, "Add messages to the end of a session, or begin one", "",
	}}
	Messages = Op[MessagesRequest, MessagesResult]{Operation: Operation{
		"messages", get, "/sessions/{session}/messages", read, "List the blocks of a session", "messages",
	}}
	Context = Op[ContextRequest, carrel.ContextResult]{Operation: Operation{
		"context", get, "/sessions/{session}/context", read, "Say what takes up the window of a session", "",
	}}
	Trigger = Op[carrel.TriggerRequest, carrel.TriggerResult]{Operation: Operation{
		"trigger", post, "/sessions/{session}/trigger", read, "Say whether a compression is due", "",
	}}
	Compress = Op[carrel.CompressRequest, carrel.CompressResult]{Operation: Operation{
		"compress", post, "/sessions/{session}/compress", write, "Make the window of a session smaller", "",
	}}
	Discard = Op[carrel.DiscardRequest, carrel.DiscardResult]{Operation: Operation{
		"discard", post, "/discard", write, "Take blocks out of the window", "",
	}}
	PageBlocks = Op[carrel.PageRequest, carrel.PageResult]{Operation: Operation{
		"page", post, "/page", write, "Put stubs in place of blocks", "",
	}}
	Pin = Op[carrel.PinRequest, carrel.PinResult]{Operation: Operation{
		"pin", post, "/pin", write, "Pin blocks, or let them go", "",
	}}
	Undo = Op[carrel.UndoRequest, carrel.UndoResult]{Operation: Operation{
		"undo", post, "/undo", write, "Take the last operation back, or another", "",
	}}
	Mark = Op[carrel.MarkRequest, carrel.MarkResult]{Operation: Operation{
		"mark", put, "/sessions/{session}/mark", write, "Mark a session as critical, or not", "",
	}}
	Export = Op[carrel.ExportRequest, carrel.ExportResult]{Operation: Operation{
		"export", get, "/sessions/{session}/export", read, "Write what is in the window in the format of a provider", "",
	}}
	Recall = Op[carrel.RecallRequest, carrel.RecallResult]{Operation: Operation{
		"recall", get, "/items/{block}", read, "Return the original bytes of a block, an artifact or a summary", "",
	}}
	Why = Op[BlockRequest, carrel.WhyResult]{Operation: Operation{
		"why", get, "/items/{block}/why", read, "Say why a block is where it is", "",
	}}
	Search = Op[carrel.SearchRequest, Page[carrel.Found]]{Operation: Operation{
		"search", get, "/search", read, "Find blocks by words", "",
	}}
	Stats = Op[SessionRequest, carrel.StatsResult]{Operation: Operation{
		"stats", get, "/sessions/{session}/stats", read, "Count what the tasks of a session took", "",
	}}
	State = Op[SessionRequest, carrel.State]{Operation: Operation{
		"state", get, "/sessions/{session}/state", read, "Return the state of compression of a session", "",
	}}
	Journal = Op[JournalRequest, Page[store.Entry]]{Operation: Operation{
		"journal", get, "/sessions/{session}/journal", read, "List what happened to a session", "items",
	}}
	Brief = Op[carrel.BriefRequest, carrel.BriefResult]{Operation: Operation{
		"brief", get, "/sessions/{session}/brief", read, "Say what must survive a compaction of a session", "",
	}}
	Summary = Op[SessionRequest, carrel.SummaryResult]{Operation: Operation{
		"summary", get, "/sessions/{session}/summary", read, "Return the summary that stands in the window", "",
	}}
	CheckSummary = Op[carrel.CheckSummaryRequest, carrel.CheckSummaryResult]{Operation: Operation{
		"check-summary", post, "/sessions/{session}/summary/check", read, "Hold a summary against the session", "",
	}}
	Probes = Op[carrel.ProbesRequest, carrel.ProbesResult]{Operation: Operation{
		"probes", get, "/sessions/{session}/probes", read, "Generate probes from a session", "",
	}}
	RunProbes = Op[carrel.RunProbesRequest, carrel.RunProbesResult]{Operation: Operation{
		"run-probes", post, "/probes/run", read, "Ask probes of a window or a text", "",
	}}
	ProbeReport = Op[SessionRequest, carrel.ProbeReport]{Operation: Operation{
		"probe-report", get, "/sessions/{session}/probes/report", read, "Return how the compressions of a session did", "",
	}}
)

// The operations on contracts and packets.
var (
	Contract = Op[SessionRequest, ContractResult]{Operation: Operation{
		"contract", get, "/sessions/{session}/contract", read, "Return the contract of a session", "",
	}}
	AmendContract = Op[carrel.ContractRequest, carrel.ContractResult]{Operation: Operation{
		"amend-contract", post, "/contracts", write, "Begin a contract, add to one, or close it", "",
	}}
	CheckContract = Op[SessionRequest, contract.Report]{Operation: Operation{
		"check-contract", get, "/sessions/{session}/contract/check", read, "Run the contract of a session", "",
	}}
	Handoff = Op[carrel.HandoffRequest, carrel.HandoffResult]{Operation: Operation{
		"handoff", post, "/sessions/{session}/handoff", read, "Make a packet that carries a session to another agent", "",
	}}
	CheckHandoff = Op[carrel.CheckHandoffRequest, carrel.HandoffResult]{Operation: Operation{
		"check-handoff", post, "/handoffs/check", read, "Read a packet and say what is wrong with it", "",
	}}
	Accept = Op[carrel.AcceptRequest, carrel.AcceptResult]{Operation: Operation{
		"accept", post, "/handoffs/accept", write, "Begin a session with a packet", "",
	}}
)

// The operations on artifacts and contexts.
var (
	Put = Op[PutRequest, Page[carrel.Artifact]]{Operation: Operation{
		"put", post, "/artifacts", write, "Take artifacts in, all or none", "",
	}, Also: func(r *PutRequest) []governance.Permission {
		for _, a := range r.Artifacts {
			if a != nil && (a.VerifiedBy != "" || a.AllowSecrets) {
				return []governance.Permission{review} // it takes a person's word
			}
		}
		return nil
	}}
	Artifacts = Op[ArtifactsRequest, Page[carrel.Artifact]]{Operation: Operation{
		"artifacts", get, "/artifacts", read, "List artifacts", "items",
	}}
	Get = Op[carrel.GetRequest, carrel.GetResult]{Operation: Operation{
		"get", get, "/artifacts/{id}", read, "Return an artifact with its content", "",
	}, Also: func(r *carrel.GetRequest) []governance.Permission {
		if r.Refetch {
			return []governance.Permission{write}
		}
		return nil
	}}
	PinArtifact = Op[PinArtifactRequest, carrel.Artifact]{Operation: Operation{
		"pin-artifact", put, "/artifacts/{id}/pin", write, "Pin an artifact, or let it go", "",
	}}
	Remove = Op[IDsRequest, carrel.RemovalResult]{Operation: Operation{
		"remove", post, "/artifacts/remove", erase, "Take artifacts out of use; restore brings them back", "",
	}}
	Restore = Op[IDsRequest, carrel.RemovalResult]{Operation: Operation{
		"restore", post, "/artifacts/restore", erase, "Bring removed artifacts back", "",
	}}
	Refute = Op[carrel.RefuteRequest, carrel.RemovalResult]{Operation: Operation{
		"refute", post, "/artifacts/refute", erase, "Recall what turned out to be wrong, and what was made from it", "",
	}}
	Purge = Op[IDsRequest, carrel.RemovalResult]{Operation: Operation{
		"purge", post, "/artifacts/purge", erase, "Erase the bytes of artifacts, for good", "",
	}}
	Stash = Op[carrel.StashRequest, carrel.StashResult]{Operation: Operation{
		"stash", post, "/stash", write, "Keep the output of a tool outside of the window", "",
	}, Also: func(r *carrel.StashRequest) []governance.Permission {
		if r.AllowSecrets {
			return []governance.Permission{review}
		}
		return nil
	}}
	CollectStash = Op[CollectRequest, carrel.RemovalResult]{Operation: Operation{
		"collect-stash", post, "/stash/collect", erase, "Erase what is in the stash and has expired", "",
	}}
	Triage = Op[carrel.TriageRequest, carrel.TriageResult]{Operation: Operation{
		"triage", post, "/triage", read, "Score artifacts for a question", "",
	}}
	Assemble = Op[carrel.AssembleRequest, carrel.AssembleResult]{Operation: Operation{
		"assemble", post, "/assemble", write, "Make a context for a question within a budget, and seal its manifest", "",
	}}
	Manifests = Op[ManifestsRequest, Page[store.Manifest]]{Operation: Operation{
		"manifests", get, "/manifests", read, "List manifests, newest first", "items",
	}}
	Manifest = Op[IDRequest, ManifestResult]{Operation: Operation{
		"manifest", get, "/manifests/{id}", read, "Return a manifest with its sealed document", "",
	}}
	DiffManifests = Op[DiffRequest, DiffResult]{Operation: Operation{
		"diff-manifests", get, "/manifests/{id}/diff", read, "Say how two manifests differ", "",
	}}
	VerifyManifest = Op[IDRequest, carrel.VerifyResult]{Operation: Operation{
		"verify-manifest", get, "/manifests/{id}/verify", read, "Check the seal of a manifest and everything it refers to", "",
	}}
	Replay = Op[IDRequest, ReplayResult]{Operation: Operation{
		"replay", get, "/manifests/{id}/replay", read, "Return a context as it was handed out", "",
	}}
	Commit = Op[carrel.CommitRequest, carrel.CommitResult]{Operation: Operation{
		"commit", post, "/memories", write, "Ask the gate to let a memory or the outcome of a context in", "",
	}}
	Reviews = Op[None, Page[carrel.ReviewEntry]]{Operation: Operation{
		"reviews", get, "/reviews", read, "List what the gate holds for a person", "",
	}}
	Review = Op[IDRequest, carrel.ReviewEntry]{Operation: Operation{
		"review", get, "/reviews/{id}", read, "Return what the gate holds, and why", "",
	}}
	Decide = Op[carrel.ReviewDecision, carrel.Artifact]{Operation: Operation{
		"decide", post, "/reviews/{id}/decision", review, "Approve or reject what the gate holds", "",
	}}
	Log = Op[LogRequest, Page[store.Entry]]{Operation: Operation{
		"log", get, "/log", read, "List what happened to artifacts and contexts", "items",
	}}
)

// What a server answers besides the engine's jobs.
var (
	Whoami = Op[None, Identity]{Operation: Operation{
		"whoami", get, "/whoami", "", "Say who the token is for, and what it allows", "",
	}}
	Events = Op[EventsRequest, Event]{Operation: Operation{
		"events", get, "/events", read, "Stream what happens, to a session or in the whole scope", "",
	}}
)

// table has every operation that is a job of the engine, in the order of the documentation.
var table = [...]interface{ describe() *Operation }{
	&Sessions, &FindSession, &Session, &RemovedSessions, &RemoveSession, &RestoreSession, &PurgeSession, &Import, &Append, &Messages, &Context, &Trigger, &Compress, &Discard, &PageBlocks, &Pin, &Undo, &Mark,
	&Export, &Recall, &Why, &Search, &Stats, &State, &Journal, &Brief, &Summary, &CheckSummary, &Probes, &RunProbes, &ProbeReport,
	&Contract, &AmendContract, &CheckContract, &Handoff, &CheckHandoff, &Accept,
	&Put, &Artifacts, &Get, &PinArtifact, &Remove, &Restore, &Refute, &Purge, &Stash, &CollectStash, &Triage, &Assemble,
	&Manifests, &Manifest, &DiffManifests, &VerifyManifest, &Replay, &Commit, &Reviews, &Review, &Decide, &Log,
}
