package rest

import (
	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

// register makes a route of every operation of the table.
func (s *server) register() {
	s.registerSessions()
	s.registerContracts()
	s.registerArtifacts()
	s.registerCalls()
	s.registerPlain()
}

func (s *server) registerSessions() {
	handle(s, &ops.Sessions, (*carrel.Engine).Sessions)
	handle(s, &ops.FindSession, (*carrel.Engine).FindSession)
	handle(s, &ops.Session, (*carrel.Engine).Session)
	handle(s, &ops.RemovedSessions, (*carrel.Engine).RemovedSessions)
	handleWrite(s, &ops.RemoveSession, (*carrel.Engine).RemoveSession, nil, nil)
	handleWrite(s, &ops.RestoreSession, (*carrel.Engine).RestoreSession, nil, nil)
	handleWrite(s, &ops.PurgeSession, (*carrel.Engine).PurgeSession, nil, nil)
	handleWrite(s, &ops.Import, (*carrel.Engine).Import, bareImport, importAgain).notes(noteImport)
	handleWrite(s, &ops.Append, (*carrel.Engine).Append, bareImport, importAgain).notes(noteImport)
	handle(s, &ops.Messages, (*carrel.Engine).Messages)
	handle(s, &ops.Context, (*carrel.Engine).Context)
	handle(s, &ops.Trigger, (*carrel.Engine).Trigger)
	handleWrite(s, &ops.Compress, (*carrel.Engine).Compress, bareCompress, nil).notes(noteCompress)
	handleWrite(s, &ops.Discard, (*carrel.Engine).Discard, bareDiscard, discardAgain)
	handleWrite(s, &ops.PageBlocks, (*carrel.Engine).Page, nil, nil)
	handleWrite(s, &ops.Pin, (*carrel.Engine).Pin, nil, nil)
	handleWrite(s, &ops.Undo, (*carrel.Engine).Undo, nil, nil)
	handleWrite(s, &ops.Mark, (*carrel.Engine).Mark, nil, nil)
	handle(s, &ops.Repair, (*carrel.Engine).Repair)
	handle(s, &ops.Export, (*carrel.Engine).Export).content(func(r *api.ExportResult) []byte { return r.Data })
	handle(s, &ops.Recall, (*carrel.Engine).Recall).content(func(r *api.RecallResult) []byte { return r.Data }).notes(noteRecall)
	handle(s, &ops.Why, (*carrel.Engine).Why)
	handle(s, &ops.Search, (*carrel.Engine).Search).notes(noteSearch)
	handle(s, &ops.Stats, (*carrel.Engine).Stats)
	handle(s, &ops.Cost, (*carrel.Engine).Cost)
	handle(s, &ops.State, (*carrel.Engine).State)
	handle(s, &ops.Journal, (*carrel.Engine).Journal)
	handle(s, &ops.Summary, (*carrel.Engine).Summary)
	handle(s, &ops.CheckSummary, (*carrel.Engine).CheckSummary)
	handle(s, &ops.Probes, (*carrel.Engine).Probes)
	handle(s, &ops.RunProbes, (*carrel.Engine).RunProbes).notes(noteProbes)
	handle(s, &ops.DiffSession, (*carrel.Engine).DiffSession)
	handle(s, &ops.Brief, (*carrel.Engine).Brief)
	handle(s, &ops.ProbeReport, (*carrel.Engine).ProbeReport)
}

func (s *server) registerContracts() {
	handle(s, &ops.Contract, (*carrel.Engine).Contract)
	handleWrite(s, &ops.AmendContract, (*carrel.Engine).AmendContract, bareContract, contractAgain)
	handle(s, &ops.CheckContract, (*carrel.Engine).CheckContract)
	handle(s, &ops.Handoff, (*carrel.Engine).Handoff).binds(hand)
	handle(s, &ops.CheckHandoff, (*carrel.Engine).CheckHandoff)
	handleWrite(s, &ops.Accept, (*carrel.Engine).Accept, bareAccept, acceptAgain)
}

func (s *server) registerArtifacts() {
	handleWrite(s, &ops.Put, (*carrel.Engine).Put, barePut, putAgain).binds(setVerifier)
	handle(s, &ops.Artifacts, (*carrel.Engine).Artifacts)
	handle(s, &ops.Get, (*carrel.Engine).Get).content(func(r *api.GetResult) []byte { return r.Content })
	handleWrite(s, &ops.PinArtifact, (*carrel.Engine).PinArtifact, bareArtifact, artifactAgain)
	handleWrite(s, &ops.Remove, (*carrel.Engine).Remove, nil, nil)
	handleWrite(s, &ops.Restore, (*carrel.Engine).Restore, nil, nil)
	handleWrite(s, &ops.Refute, (*carrel.Engine).Refute, nil, nil)
	handleWrite(s, &ops.Purge, (*carrel.Engine).Purge, nil, nil)
	handleWrite(s, &ops.Stash, (*carrel.Engine).Stash, bareStash, stashAgain)
	handleWrite(s, &ops.CollectStash, (*carrel.Engine).CollectStash, nil, nil)
	handle(s, &ops.Triage, (*carrel.Engine).Triage)
	handleWrite(s, &ops.Assemble, (*carrel.Engine).Assemble, bareAssemble, assembleAgain).notes(noteAssemble)
	handle(s, &ops.Manifests, (*carrel.Engine).Manifests)
	handle(s, &ops.Manifest, (*carrel.Engine).Manifest)
	handle(s, &ops.DiffManifests, (*carrel.Engine).DiffManifests)
	handle(s, &ops.VerifyManifest, (*carrel.Engine).VerifyManifest)
	handle(s, &ops.Replay, (*carrel.Engine).Replay).content(func(r *api.ReplayResult) []byte { return r.Data })
	handleWrite(s, &ops.Commit, (*carrel.Engine).Commit, bareCommit, commitAgain).notes(noteCommit)
	handle(s, &ops.Reviews, (*carrel.Engine).Reviews)
	handle(s, &ops.Review, (*carrel.Engine).Review)
	handleWrite(s, &ops.Decide, (*carrel.Engine).Decide, bareArtifact, artifactAgain).binds(sign)
	handle(s, &ops.Log, (*carrel.Engine).Log)
}

func (s *server) registerCalls() {
	handle(s, &ops.Calls, (*carrel.Engine).Calls)
	handle(s, &ops.Call, (*carrel.Engine).Call)
	handle(s, &ops.Report, (*carrel.Engine).Report)
}
