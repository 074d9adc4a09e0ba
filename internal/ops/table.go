package ops

import (
	"net/http"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Short names for the table.
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
		"find-session", get, "/session", read, "Find the session with an id, a prefix of one, @last or @prev", "", "",
	}}
	Session = Op[api.SessionRequest, api.SessionInfo]{Operation: Operation{
		"session", get, "/sessions/{session}", read, "Return the record of a session without its blocks", "", "",
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
		"purge-session", post, "/sessions/{session}/purge", erase, "Erase a session and everything derived from it, for good", "", "",
	}}
	Import = Op[api.ImportRequest, api.ImportResult]{Operation: Operation{
		"import", post, "/sessions", write, "Import a conversation", "", "data",
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
		"context", get, "/sessions/{session}/context", read, "Return the sizes of the parts of a session's window", "", "",
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
		"pin", post, "/pin", write, "Pin or unpin blocks", "", "",
	}}
	Undo = Op[api.UndoRequest, api.UndoResult]{Operation: Operation{
		"undo", post, "/undo", write, "Undo the last operation", "", "",
	}}
	Mark = Op[api.MarkRequest, api.MarkResult]{Operation: Operation{
		"mark", put, "/sessions/{session}/mark", write, "Mark a session as critical, or remove the mark", "", "",
	}}
	Export = Op[api.ExportRequest, api.ExportResult]{Operation: Operation{
		"export", get, "/sessions/{session}/export", read, "Write the window in the format of a provider", "", "",
	}}
	Repair = Op[api.RepairRequest, api.RepairResult]{Operation: Operation{
		"repair", post, "/repair", read, "Repair a request that its provider would refuse", "", "data",
	}}
	Recall = Op[api.RecallRequest, api.RecallResult]{Operation: Operation{
		"recall", get, "/items/{block}", read, "Return the original bytes of a block, an artifact or a summary", "", "",
	}}
	Why = Op[api.BlockRequest, api.WhyResult]{Operation: Operation{
		"why", get, "/items/{block}/why", read, "Explain the place of a block", "", "",
	}}
	Search = Op[api.SearchRequest, api.List[api.Found]]{Operation: Operation{
		"search", get, "/search", read, "Find blocks by words", "", "",
	}}
	Stats = Op[api.SessionRequest, api.StatsResult]{Operation: Operation{
		"stats", get, "/sessions/{session}/stats", read, "Estimate the tokens of a session's tasks", "", "",
	}}
	Cost = Op[api.CostRequest, api.CostResult]{Operation: Operation{
		"cost", get, "/cost", read, "Return the cost of conversations, and the causes of cache misses", "", "",
	}}
	State = Op[api.SessionRequest, api.ProtocolState]{Operation: Operation{
		"state", get, "/sessions/{session}/state", read, "Return the state of compression of a session", "", "",
	}}
	Journal = Op[api.JournalRequest, api.List[store.Entry]]{Operation: Operation{
		"journal", get, "/sessions/{session}/journal", read, "List the journal of a session", "items", "",
	}}
	DiffSession = Op[api.DiffSessionRequest, api.SessionDelta]{Operation: Operation{
		"diff-session", get, "/sessions/{session}/diff", read, "Say how the window of a session at one moment became that at another", "", "",
	}}
	Brief = Op[api.BriefRequest, api.BriefResult]{Operation: Operation{
		"brief", get, "/sessions/{session}/brief", read, "Return the facts of a session that must survive a compaction", "", "",
	}}
	Summary = Op[api.SessionRequest, api.SummaryResult]{Operation: Operation{
		"summary", get, "/sessions/{session}/summary", read, "Return the summary in the window", "", "",
	}}
	CheckSummary = Op[api.CheckSummaryRequest, api.CheckSummaryResult]{Operation: Operation{
		"check-summary", post, "/sessions/{session}/summary/check", read, "Check a summary against the session", "", "",
	}}
	Probes = Op[api.ProbesRequest, api.ProbesResult]{Operation: Operation{
		"probes", get, "/sessions/{session}/probes", read, "Generate probes from a session", "", "",
	}}
	RunProbes = Op[api.RunProbesRequest, api.RunProbesResult]{Operation: Operation{
		"run-probes", post, "/probes/run", read, "Ask probes of a window or a text", "", "",
	}}
	ProbeReport = Op[api.SessionRequest, api.ProbeReport]{Operation: Operation{
		"probe-report", get, "/sessions/{session}/probes/report", read, "Return the probe results of a session's compressions", "", "",
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
		"check-handoff", post, "/handoffs/check", read, "Check a packet", "", "",
	}}
	Accept = Op[api.AcceptRequest, api.AcceptResult]{Operation: Operation{
		"accept", post, "/handoffs/accept", write, "Begin a session with a packet", "", "",
	}}
)

// The operations on artifacts and contexts.
var (
	Put = Op[api.PutRequest, api.List[api.Artifact]]{Operation: Operation{
		"put", post, "/artifacts", write, "Store artifacts, all or none", "", "",
	}, Also: func(r *api.PutRequest) []governance.Permission {
		for _, a := range r.Artifacts {
			if a != nil && (a.VerifiedBy != "" || a.AllowSecrets) {
				return []governance.Permission{review} // it counts as a person's word
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
		"pin-artifact", put, "/artifacts/{id}/pin", write, "Pin or unpin an artifact", "", "",
	}}
	Remove = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"remove", post, "/artifacts/remove", erase, "Take artifacts out of use; restore brings them back", "", "",
	}}
	Restore = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"restore", post, "/artifacts/restore", erase, "Bring removed artifacts back", "", "",
	}}
	Refute = Op[api.RefuteRequest, api.RemovalResult]{Operation: Operation{
		"refute", post, "/artifacts/refute", erase, "Mark artifacts as wrong, with everything derived from them", "", "",
	}}
	Purge = Op[api.IDsRequest, api.RemovalResult]{Operation: Operation{
		"purge", post, "/artifacts/purge", erase, "Erase the bytes of artifacts, for good", "", "",
	}}
	Stash = Op[api.StashRequest, api.StashResult]{Operation: Operation{
		"stash", post, "/stash", write, "Stash the output of a tool outside of the window", "", "",
	}, Also: func(r *api.StashRequest) []governance.Permission {
		if r.AllowSecrets {
			return []governance.Permission{review}
		}
		return nil
	}}
	CollectStash = Op[api.CollectRequest, api.RemovalResult]{Operation: Operation{
		"collect-stash", post, "/stash/collect", erase, "Erase expired outputs from the stash", "", "",
	}}
	Triage = Op[api.TriageRequest, api.TriageResult]{Operation: Operation{
		"triage", post, "/triage", read, "Score artifacts for a query", "", "",
	}}
	Assemble = Op[api.AssembleRequest, api.AssembleResult]{Operation: Operation{
		"assemble", post, "/assemble", write, "Make a context for a query within a budget, and seal its manifest", "", "",
	}}
	Manifests = Op[api.ManifestsRequest, api.List[store.Manifest]]{Operation: Operation{
		"manifests", get, "/manifests", read, "List manifests, newest first", "items", "",
	}}
	Manifest = Op[api.IDRequest, api.ManifestResult]{Operation: Operation{
		"manifest", get, "/manifests/{id}", read, "Return a manifest with its sealed document", "", "",
	}}
	DiffManifests = Op[api.DiffRequest, api.DiffResult]{Operation: Operation{
		"diff-manifests", get, "/manifests/{id}/diff", read, "Return the differences between two manifests", "", "",
	}}
	VerifyManifest = Op[api.IDRequest, api.VerifyResult]{Operation: Operation{
		"verify-manifest", get, "/manifests/{id}/verify", read, "Check the seal of a manifest and everything it refers to", "", "",
	}}
	Replay = Op[api.IDRequest, api.ReplayResult]{Operation: Operation{
		"replay", get, "/manifests/{id}/replay", read, "Return the exact bytes of a context", "", "",
	}}
	Commit = Op[api.CommitRequest, api.CommitResult]{Operation: Operation{
		"commit", post, "/memories", write, "Pass a memory or the outcome of a context through the gate", "", "",
	}}
	Reviews = Op[api.None, api.List[api.ReviewEntry]]{Operation: Operation{
		"reviews", get, "/reviews", read, "List the memories that wait for a person's decision", "", "",
	}}
	Review = Op[api.IDRequest, api.ReviewEntry]{Operation: Operation{
		"review", get, "/reviews/{id}", read, "Return a held memory with the reason", "", "",
	}}
	Decide = Op[api.DecideRequest, api.Artifact]{Operation: Operation{
		"decide", post, "/reviews/{id}/decision", review, "Approve or reject a held memory", "", "",
	}}
	Log = Op[api.LogRequest, api.List[store.Entry]]{Operation: Operation{
		"log", get, "/log", read, "List the events of artifacts and contexts", "items", "",
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
		"report", get, "/report", read, "Report the calls to models, and how much managing saved", "", "",
	}}
)

// Other routes of a server.
var (
	Whoami = Op[api.None, api.Identity]{Operation: Operation{
		"whoami", get, "/whoami", "", "Return the actor and the permissions of the credential", "", "",
	}}
	Events = Op[api.EventsRequest, api.Event]{Operation: Operation{
		"events", get, "/events", read, "Stream the events of a session or of a scope", "", "",
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
