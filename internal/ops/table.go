package ops

import (
	"net/http"

	"github.com/carrel-dev/carrel/api"
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
	Sessions = Op[api.SessionsRequest, api.List[api.SessionInfo]]{Operation: Operation{
		"sessions", get, "/sessions", read, "List the sessions of the scope, last updated first", "items", "",
	}}
	FindSession = Op[api.WordRequest, api.SessionResult]{Operation: Operation{
		"find-session", get, "/session", read, "Find the session that an id, the beginning of one, @last or @prev names", "", "",
	}}
	Session = Op[api.SessionRequest, api.SessionInfo]{Operation: Operation{
		"session", get, "/sessions/{session}", read, "Say what is known of a session without reading it", "", "",
	}}
	RemovedSessions = Op[api.None, api.List[api.SessionInfo]]{Operation: Operation{
		"removed-sessions", get, "/removed/sessions", read, "List the sessions that were removed or purged, last updated first", "", "",
	}}
	RemoveSession = Op[api.SessionRequest, api.SessionRemoval]{Operation: Operation{
		"remove-session", post, "/sessions/{session}/remove", erase, "Take a session out of use; restore-session brings it back", "", "",
	}}
	RestoreSession = Op[api.SessionRequest, api.SessionRemoval]{Operation: Operation{
		"restore-session", post, "/sessions/{session}/restore", erase, "Bring back a session that was removed", "", "",
	}}
	PurgeSession = Op[api.SessionRequest, api.SessionRemoval]{Operation: Operation{
		"purge-session", post, "/sessions/{session}/purge", erase, "Erase a session, and what was made from it, for good", "", "",
	}}
	Import = Op[api.ImportRequest, api.ImportResult]{Operation: Operation{
		"import", post, "/sessions", write, "Take a conversation in", "", "data",
	}, Also: func(r *api.ImportRequest) []governance.Permission {
		if r.Anew {
			return []governance.Permission{erase}
		}
		return nil
	}}
	Append = Op[api.AppendRequest, api.ImportResult]{Operation: Operation{
		"append", post, "/sessions/{session}/messages", write, "Add messages to the end of a session, or begin one", "", "",
	}}
	Messages = Op[api.MessagesRequest, api.MessagesResult]{Operation: Operation{
		"messages", get, "/sessions/{session}/messages", read, "List the blocks of a session", "messages", "",
	}}
	Context = Op[api.ContextRequest, api.ContextResult]{Operation: Operation{
		"context", get, "/sessions/{session}/context", read, "Say what takes up the window of a session", "", "",
	}}
	Trigger = Op[api.TriggerRequest, api.TriggerResult]{Operation: Operation{
		"trigger", post, "/sessions/{session}/trigger", read, "Say whether a compression is due", "", "",
	}}
	Compress = Op[api.CompressRequest, api.CompressResult]{Operation: Operation{
		"compress", post, "/sessions/{session}/compress", write, "Make the window of a session smaller", "", "",
	}}
	Discard = Op[api.DiscardRequest, api.DiscardResult]{Operation: Operation{
		"discard", post, "/discard", write, "Take blocks out of the window", "", "",
	}}
	PageBlocks = Op[api.PageRequest, api.PageResult]{Operation: Operation{
		"page", post, "/page", write, "Put stubs in place of blocks", "", "",
	}}
	Pin = Op[api.PinRequest, api.PinResult]{Operation: Operation{
		"pin", post, "/pin", write, "Pin blocks, or let them go", "", "",
	}}
	Undo = Op[api.UndoRequest, api.UndoResult]{Operation: Operation{
		"undo", post, "/undo", write, "Take the last operation back, or another", "", "",
	}}
	Mark = Op[api.MarkRequest, api.MarkResult]{Operation: Operation{
		"mark", put, "/sessions/{session}/mark", write, "Mark a session as critical, or not", "", "",
	}}
	Export = Op[api.ExportRequest, api.ExportResult]{Operation: Operation{
		"export", get, "/sessions/{session}/export", read, "Write what is in the window in the format of a provider", "", "",
	}}
	Repair = Op[api.RepairRequest, api.RepairResult]{Operation: Operation{
		"repair", post, "/repair", read, "Mend a request that its provider would refuse", "", "data",
	}}
	Recall = Op[api.RecallRequest, api.RecallResult]{Operation: Operation{
		"recall", get, "/items/{block}", read, "Return the original bytes of a block, an artifact or a summary", "", "",
	}}
	Why = Op[api.BlockRequest, api.WhyResult]{Operation: Operation{
		"why", get, "/items/{block}/why", read, "Say why a block is where it is", "", "",
	}}
	Search = Op[api.SearchRequest, api.List[api.Found]]{Operation: Operation{
		"search", get, "/search", read, "Find blocks by words", "", "",
	}}
	Stats = Op[api.SessionRequest, api.StatsResult]{Operation: Operation{
		"stats", get, "/sessions/{session}/stats", read, "Count what the tasks of a session took", "", "",
	}}
	Cost = Op[api.CostRequest, api.CostResult]{Operation: Operation{
		"cost", get, "/cost", read, "Say what conversations cost, and why caches were not read", "", "",
	}}
	State = Op[api.SessionRequest, api.ProtocolState]{Operation: Operation{
		"state", get, "/sessions/{session}/state", read, "Return the state of compression of a session", "", "",
	}}
	Journal = Op[api.JournalRequest, api.List[store.Entry]]{Operation: Operation{
		"journal", get, "/sessions/{session}/journal", read, "List what happened to a session", "items", "",
	}}
	DiffSession = Op[api.DiffSessionRequest, api.SessionDelta]{Operation: Operation{
		"diff-session", get, "/sessions/{session}/diff", read, "Say how the window of a session at one moment became that at another", "", "",
	}}
	Brief = Op[api.BriefRequest, api.BriefResult]{Operation: Operation{
		"brief", get, "/sessions/{session}/brief", read, "Say what must survive a compaction of a session", "", "",
	}}
	Summary = Op[api.SessionRequest, api.SummaryResult]{Operation: Operation{
		"summary", get, "/sessions/{session}/summary", read, "Return the summary that stands in the window", "", "",
	}}
	CheckSummary = Op[api.CheckSummaryRequest, api.CheckSummaryResult]{Operation: Operation{
		"check-summary", post, "/sessions/{session}/summary/check", read, "Hold a summary against the session", "", "",
	}}
	Probes = Op[api.ProbesRequest, api.ProbesResult]{Operation: Operation{
		"probes", get, "/sessions/{session}/probes", read, "Generate probes from a session", "", "",
	}}
	RunProbes = Op[api.RunProbesRequest, api.RunProbesResult]{Operation: Operation{
		"run-probes", post, "/probes/run", read, "Ask probes of a window or a text", "", "",
	}}
	ProbeReport = Op[api.SessionRequest, api.ProbeReport]{Operation: Operation{
		"probe-report", get, "/sessions/{session}/probes/report", read, "Return how the compressions of a session did", "", "",
	}}
)

// The operations on contracts and packets.
var (
	Contract = Op[api.SessionRequest, api.ContractResult]{Operation: Operation{
		"contract", get, "/sessions/{session}/contract", read, "Return the contract of a session", "", "",
	}}
	AmendContract = Op[api.AmendContractRequest, api.AmendContractResult]{Operation: Operation{
		"amend-contract", post, "/contracts", write, "Begin a contract, add to one, or close it", "", "",
	}}
	CheckContract = Op[api.SessionRequest, contract.Report]{Operation: Operation{
		"check-contract", get, "/sessions/{session}/contract/check", read, "Run the contract of a session", "", "",
	}}
	Handoff = Op[api.HandoffRequest, api.HandoffResult]{Operation: Operation{
		"handoff", post, "/sessions/{session}/handoff", read, "Make a packet that carries a session to another agent", "", "",
	}}
	CheckHandoff = Op[api.CheckHandoffRequest, api.HandoffResult]{Operation: Operation{
		"check-handoff", post, "/handoffs/check", read, "Read a packet and say what is wrong with it", "", "",
	}}
	Accept = Op[api.AcceptRequest, api.AcceptResult]{Operation: Operation{
		"accept", post, "/handoffs/accept", write, "Begin a session with a packet", "", "",
	}}
)

// The operations on artifacts and contexts.
var (
	Put = Op[api.PutRequest, api.List[api.Artifact]]{Operation: Operation{
		"put", post, "/artifacts", write, "Take artifacts in, all or none", "", "",
	}, Also: func(r *api.PutRequest) []governance.Permission {
		for _, a := range r.Artifacts {
			if a != nil && (a.VerifiedBy != "" || a.AllowSecrets) {
				return []governance.Permission{review} // it takes a person's word
			}
		}
		return nil
	}}
	Artifacts = Op[api.ArtifactsRequest, api.List[api.Artifact]]{Operation: Operation{
		"artifacts", get, "/artifacts", read, "List artifacts", "items", "",
	}}
	Get = Op[api.GetRequest, api.GetResult]{Operation: Operation{
		"get", get, "/artifacts/{id}", read, "Return an artifact with its content", "", "",
	}, Also: func(r *api.GetRequest) []governance.Permission {
		if r.Refetch {
			return []governance.Permission{write}
		}
		return nil
	}}
	PinArtifact = Op[api.PinArtifactRequest, api.Artifact]{Operation: Operation{
		"pin-artifact", put, "/artifacts/{id}/pin", write, "Pin an artifact, or let it go", "", "",
	}}
	Remove = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"remove", post, "/artifacts/remove", erase, "Take artifacts out of use; restore brings them back", "", "",
	}}
	Restore = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"restore", post, "/artifacts/restore", erase, "Bring removed artifacts back", "", "",
	}}
	Refute = Op[api.RefuteRequest, api.RemovalResult]{Operation: Operation{
		"refute", post, "/artifacts/refute", erase, "Recall what turned out to be wrong, and what was made from it", "", "",
	}}
	Purge = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"purge", post, "/artifacts/purge", erase, "Erase the bytes of artifacts, for good", "", "",
	}}
	Stash = Op[api.StashRequest, api.StashResult]{Operation: Operation{
		"stash", post, "/stash", write, "Keep the output of a tool outside of the window", "", "",
	}, Also: func(r *api.StashRequest) []governance.Permission {
		if r.AllowSecrets {
			return []governance.Permission{review}
		}
		return nil
	}}
	CollectStash = Op[api.CollectRequest, api.RemovalResult]{Operation: Operation{
		"collect-stash", post, "/stash/collect", erase, "Erase what is in the stash and has expired", "", "",
	}}
	Triage = Op[api.TriageRequest, api.TriageResult]{Operation: Operation{
		"triage", post, "/triage", read, "Score artifacts for a question", "", "",
	}}
	Assemble = Op[api.AssembleRequest, api.AssembleResult]{Operation: Operation{
		"assemble", post, "/assemble", write, "Make a context for a question within a budget, and seal its manifest", "", "",
	}}
	Manifests = Op[api.ManifestsRequest, api.List[store.Manifest]]{Operation: Operation{
		"manifests", get, "/manifests", read, "List manifests, newest first", "items", "",
	}}
	Manifest = Op[api.IDRequest, api.ManifestResult]{Operation: Operation{
		"manifest", get, "/manifests/{id}", read, "Return a manifest with its sealed document", "", "",
	}}
	DiffManifests = Op[api.DiffRequest, api.DiffResult]{Operation: Operation{
		"diff-manifests", get, "/manifests/{id}/diff", read, "Say how two manifests differ", "", "",
	}}
	VerifyManifest = Op[api.IDRequest, api.VerifyResult]{Operation: Operation{
		"verify-manifest", get, "/manifests/{id}/verify", read, "Check the seal of a manifest and everything it refers to", "", "",
	}}
	Replay = Op[api.IDRequest, api.ReplayResult]{Operation: Operation{
		"replay", get, "/manifests/{id}/replay", read, "Return a context as it was handed out", "", "",
	}}
	Commit = Op[api.CommitRequest, api.CommitResult]{Operation: Operation{
		"commit", post, "/memories", write, "Ask the gate to let a memory or the outcome of a context in", "", "",
	}}
	Reviews = Op[api.None, api.List[api.ReviewEntry]]{Operation: Operation{
		"reviews", get, "/reviews", read, "List what the gate holds for a person", "", "",
	}}
	Review = Op[api.IDRequest, api.ReviewEntry]{Operation: Operation{
		"review", get, "/reviews/{id}", read, "Return what the gate holds, and why", "", "",
	}}
	Decide = Op[api.DecideRequest, api.Artifact]{Operation: Operation{
		"decide", post, "/reviews/{id}/decision", review, "Approve or reject what the gate holds", "", "",
	}}
	Log = Op[api.LogRequest, api.List[store.Entry]]{Operation: Operation{
		"log", get, "/log", read, "List what happened to artifacts and contexts", "items", "",
	}}
)

// The operations on calls to models.
var (
	Calls = Op[api.CallsRequest, api.List[api.Call]]{Operation: Operation{
		"calls", get, "/calls", read, "List calls to models, last begun first", "items", "",
	}}
	Call = Op[api.IDRequest, api.CallResult]{Operation: Operation{
		"call", get, "/calls/{id}", read, "Return one call to a model, with what was sent, what it cost and why the cache was not read", "", "",
	}}
	Report = Op[api.ReportRequest, api.ReportResult]{Operation: Operation{
		"report", get, "/report", read, "Say what was sent to models, and by how much less than what clients sent", "", "",
	}}
)

// What a server answers besides the engine's jobs.
var (
	Whoami = Op[api.None, api.Identity]{Operation: Operation{
		"whoami", get, "/whoami", "", "Say who the credential is for, and what it allows", "", "",
	}}
	Events = Op[api.EventsRequest, api.Event]{Operation: Operation{
		"events", get, "/events", read, "Stream what happens, to a session or in the whole scope", "", "",
	}}
)

// table has every operation that is a job of the engine, in the order of the documentation.
var table = [...]interface{ describe() *Operation }{
	&Sessions, &FindSession, &Session, &RemovedSessions, &RemoveSession, &RestoreSession, &PurgeSession, &Import, &Append, &Messages, &Context, &Trigger, &Compress, &Discard, &PageBlocks, &Pin, &Undo, &Mark,
	&Export, &Repair, &Recall, &Why, &Search, &Stats, &Cost, &State, &Journal, &DiffSession, &Brief, &Summary, &CheckSummary, &Probes, &RunProbes, &ProbeReport,
	&Contract, &AmendContract, &CheckContract, &Handoff, &CheckHandoff, &Accept,
	&Put, &Artifacts, &Get, &PinArtifact, &Remove, &Restore, &Refute, &Purge, &Stash, &CollectStash, &Triage, &Assemble,
	&Manifests, &Manifest, &DiffManifests, &VerifyManifest, &Replay, &Commit, &Reviews, &Review, &Decide, &Log,
	&Calls, &Call, &Report,
}
