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
	handle(s, &api.Session, bySession(engine.Session))
	handle(s, &api.RemovedSessions, engine.removedSessions)
	handleWrite(s, &api.RemoveSession, bySession(engine.RemoveSession), nil, nil)
	handleWrite(s, &api.RestoreSession, bySession(engine.RestoreSession), nil, nil)
	handleWrite(s, &api.PurgeSession, bySession(engine.PurgeSession), nil, nil)
	handleWrite(s, &api.Import, engine.Import, bareImport, importAgain).notes(noteImport)
	handleWrite(s, &api.Append, engine.Append, bareImport, importAgain).notes(noteImport)
	handle(s, &api.Messages, engine.messages)
	handle(s, &api.Context, engine.contextOf)
	handle(s, &api.Trigger, engine.Trigger)
	handleWrite(s, &api.Compress, engine.Compress, bareCompress, nil).notes(noteCompress)
	handleWrite(s, &api.Discard, engine.Discard, bareDiscard, discardAgain)
	handleWrite(s, &api.PageBlocks, engine.Page, nil, nil)
	handleWrite(s, &api.Pin, engine.Pin, nil, nil)
	handleWrite(s, &api.Undo, engine.Undo, nil, nil)
	handleWrite(s, &api.Mark, engine.Mark, nil, nil)
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
	handleWrite(s, &api.AmendContract, engine.AmendContract, bareContract, contractAgain)
	handle(s, &api.CheckContract, bySession(engine.CheckContract))
	handle(s, &api.Handoff, engine.Handoff).binds(hand)
	handle(s, &api.CheckHandoff, engine.CheckHandoff)
	handleWrite(s, &api.Accept, engine.Accept, bareAccept, acceptAgain)
}

func (s *server) registerArtifacts() {
	handleWrite(s, &api.Put, engine.put, barePut, putAgain).binds(vouch)
	handle(s, &api.Artifacts, engine.artifacts)
	handle(s, &api.Get, engine.Get).content(func(r *carrel.GetResult) []byte { return r.Content })
	handleWrite(s, &api.PinArtifact, engine.pinArtifact, bareArtifact, artifactAgain)
	handleWrite(s, &api.Remove, byIDs(engine.Remove), nil, nil)
	handleWrite(s, &api.Restore, byIDs(engine.Restore), nil, nil)
	handleWrite(s, &api.Refute, engine.Refute, nil, nil)
	handleWrite(s, &api.Purge, byIDs(engine.Purge), nil, nil)
	handleWrite(s, &api.Stash, engine.Stash, bareStash, stashAgain)
	handleWrite(s, &api.CollectStash, engine.collectStash, nil, nil)
	handle(s, &api.Triage, engine.Triage)
	handleWrite(s, &api.Assemble, engine.Assemble, bareAssemble, assembleAgain).notes(noteAssemble)
	handle(s, &api.Manifests, engine.manifests)
	handle(s, &api.Manifest, engine.manifestOf)
	handle(s, &api.DiffManifests, engine.diffManifests)
	handle(s, &api.VerifyManifest, byID(engine.VerifyManifest))
	handle(s, &api.Replay, engine.replay).content(func(r *api.ReplayResult) []byte { return r.Data })
	handleWrite(s, &api.Commit, engine.Commit, bareCommit, commitAgain).notes(noteCommit)
	handle(s, &api.Reviews, engine.reviews)
	handle(s, &api.Review, byID(engine.Review))
	handleWrite(s, &api.Decide, engine.Decide, bareArtifact, artifactAgain).binds(sign)
	handle(s, &api.Log, engine.log)
}
