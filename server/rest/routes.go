package rest

import (
	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/api"
)

// register makes a route of every operation of the table.
func (s *server) register() {
	s.registerSessions()
	s.registerContracts()
	s.registerArtifacts()
	s.registerPlain()
}

func (s *server) registerSessions() {
	handle(s, &api.Sessions, engine.sessions)
	handle(s, &api.FindSession, engine.findSession)
	handle(s, &api.Import, engine.Import).notes(noteImport)
	handle(s, &api.Append, engine.Append).notes(noteImport)
	handle(s, &api.Messages, engine.messages)
	handle(s, &api.Context, engine.contextOf)
	handle(s, &api.Trigger, engine.Trigger)
	handle(s, &api.Compress, engine.Compress).notes(noteCompress)
	handle(s, &api.Discard, engine.Discard)
	handle(s, &api.Pin, engine.Pin)
	handle(s, &api.Undo, engine.Undo)
	handle(s, &api.Mark, engine.Mark)
	handle(s, &api.Export, engine.Export).content(func(r *carrel.ExportResult) []byte { return r.Data })
	handle(s, &api.Recall, engine.Recall).content(func(r *carrel.RecallResult) []byte { return r.Data }).notes(noteRecall)
	handle(s, &api.Why, engine.why)
	handle(s, &api.Search, engine.search).notes(noteSearch)
	handle(s, &api.Stats, bySession(engine.Stats))
	handle(s, &api.State, bySession(engine.State))
	handle(s, &api.Journal, engine.journal)
	handle(s, &api.Summary, bySession(engine.Summary))
	handle(s, &api.CheckSummary, engine.CheckSummary)
	handle(s, &api.Probes, engine.Probes)
	handle(s, &api.RunProbes, engine.RunProbes).notes(noteProbes)
	handle(s, &api.Brief, engine.Brief)
	handle(s, &api.ProbeReport, bySession(engine.ProbeReport))
}

func (s *server) registerContracts() {
	handle(s, &api.Contract, engine.contractOf)
	handle(s, &api.AmendContract, engine.AmendContract)
	handle(s, &api.CheckContract, bySession(engine.CheckContract))
	handle(s, &api.Handoff, engine.Handoff).binds(hand)
	handle(s, &api.CheckHandoff, engine.CheckHandoff)
	handle(s, &api.Accept, engine.Accept)
}

func (s *server) registerArtifacts() {
	handle(s, &api.Put, engine.put).binds(vouch)
	handle(s, &api.Artifacts, engine.artifacts)
	handle(s, &api.Get, engine.Get).content(func(r *carrel.GetResult) []byte { return r.Content })
	handle(s, &api.PinArtifact, engine.pinArtifact)
	handle(s, &api.Remove, byIDs(engine.Remove))
	handle(s, &api.Restore, byIDs(engine.Restore))
	handle(s, &api.Refute, engine.Refute)
	handle(s, &api.Purge, byIDs(engine.Purge))
	handle(s, &api.Stash, engine.Stash)
	handle(s, &api.CollectStash, engine.collectStash)
	handle(s, &api.Triage, engine.Triage)
	handle(s, &api.Assemble, engine.Assemble).notes(noteAssemble)
	handle(s, &api.Manifests, engine.manifests)
	handle(s, &api.Manifest, engine.manifestOf)
	handle(s, &api.DiffManifests, engine.diffManifests)
	handle(s, &api.VerifyManifest, byID(engine.VerifyManifest))
	handle(s, &api.Replay, engine.replay).content(func(r *api.ReplayResult) []byte { return r.Data })
	handle(s, &api.Commit, engine.Commit).notes(noteCommit)
	handle(s, &api.Reviews, engine.reviews)
	handle(s, &api.Review, byID(engine.Review))
	handle(s, &api.Decide, engine.Decide).binds(sign)
	handle(s, &api.Log, engine.log)
}
