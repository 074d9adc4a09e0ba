package rest

import (
	"context"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// The results of writes are kept for their idempotency keys without content: only ids, names of
// kinds and figures. For each operation that writes, a function bare... removes the content of
// its result, and a function ...Again restores it from the store, where purged content is gone.

// An again has the values that the functions ending in Again, such as importAgain, need to restore
// the result of a write for a later request with the same idempotency key.
type again struct {
	engine *carrel.Engine
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	scope  governance.Scope
}

// bareImport removes the title, the model, the branches and the warnings.
func bareImport(r *carrel.ImportResult) { r.Title, r.Model, r.Branches, r.Warnings = "", "", nil, nil }

// importAgain restores the title and the model of the session.
func importAgain[Req any](a *again, _ *Req, r *carrel.ImportResult) error {
	info, err := a.engine.Session(a.ctx, a.scope, &carrel.SessionRequest{Session: r.Session})
	if err == nil {
		r.Title, r.Model = info.Title, info.Model
	}
	return err
}

// bareCompress removes text of the conversation, and lists that grow with its length.
func bareCompress(r *carrel.CompressResult) {
	r.Intent, r.Probes, r.Attempts, r.Warnings, r.Todos, r.TodoList, r.Decisions = nil, nil, nil, nil, nil, nil, nil
	if r.Summary != nil {
		s := *r.Summary
		s.Edits, s.Left = nil, nil
		r.Summary = &s
	}
}

// bareDiscard removes the previews of the blocks.
func bareDiscard(r *carrel.DiscardResult) {
	r.Discarded = slices.Clone(r.Discarded)
	for i := range r.Discarded {
		r.Discarded[i].Preview = ""
	}
}

// discardAgain restores the previews of the blocks.
func discardAgain(a *again, _ *carrel.DiscardRequest, r *carrel.DiscardResult) error {
	if len(r.Discarded) == 0 {
		return nil
	}
	list, err := a.engine.Messages(a.ctx, a.scope, &carrel.MessagesRequest{Session: r.Session})
	if err != nil {
		return err
	}
	for i := range r.Discarded {
		d := &r.Discarded[i]
		if at := slices.IndexFunc(list.Messages, func(b carrel.BlockInfo) bool { return b.ID == d.Block }); at >= 0 {
			d.Preview = list.Messages[at].Preview
		}
	}
	return nil
}

// bareContract removes the added statements, but keeps their number.
func bareContract(r *carrel.AmendContractResult) { r.Added, r.Said = make([]string, len(r.Added)), nil }

// contractAgain restores the added statements from the contract. The write made the contract
// r.Total statements long, so the added ones are the last of the first r.Total.
func contractAgain(a *again, _ *carrel.AmendContractRequest, r *carrel.AmendContractResult) error {
	lines, err := a.engine.Contract(a.ctx, a.scope, &carrel.SessionRequest{Session: r.Session})
	if err != nil {
		return err
	}
	if len(lines.Statements) >= r.Total && r.Total >= len(r.Added) {
		copy(r.Added, lines.Statements[r.Total-len(r.Added):])
	}
	report, err := a.engine.CheckContract(a.ctx, a.scope, &carrel.SessionRequest{Session: r.Session})
	if err == nil {
		r.Said = report.Shown
	}
	return err
}

// bareAccept removes the packet, which a repeated request brings along.
func bareAccept(r *carrel.AcceptResult) { r.File, r.Packet, r.Findings = "", nil, nil }

// acceptAgain restores the packet from the request. It fails if the session no longer exists.
func acceptAgain(a *again, req *carrel.AcceptRequest, r *carrel.AcceptResult) error {
	if _, err := a.engine.Session(a.ctx, a.scope, &carrel.SessionRequest{Session: r.Session}); err != nil {
		return err
	}
	read := *req
	read.DryRun = true // reads the packet and writes nothing
	res, err := a.engine.Accept(a.ctx, a.scope, &read)
	if err == nil {
		r.File, r.Packet, r.Findings = res.File, res.Packet, res.Findings
	}
	return err
}

// bareArtifact removes all but the id.
func bareArtifact(r *carrel.Artifact) { *r = carrel.Artifact{ID: r.ID} }

// artifact sets r to the present state in the store of the artifact with the id r.ID.
func (a *again) artifact(r *carrel.Artifact) error {
	res, err := a.engine.Get(a.ctx, a.scope, &carrel.GetRequest{ID: string(r.ID), Info: true})
	if err == nil {
		*r = res.Artifact
	}
	return err
}

func artifactAgain[Req any](a *again, _ *Req, r *carrel.Artifact) error { return a.artifact(r) }

func barePut(r *api.List[carrel.Artifact]) {
	for i := range r.Items {
		bareArtifact(&r.Items[i])
	}
}

func putAgain(a *again, _ *api.PutRequest, r *api.List[carrel.Artifact]) error {
	for i := range r.Items {
		if err := a.artifact(&r.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func bareStash(r *carrel.StashResult) {
	bareArtifact(&r.Artifact)
	r.Pointer = ""
}

// stashAgain restores the artifact and the pointer to the stashed text. It fails if the artifact no
// longer exists.
func stashAgain(a *again, req *carrel.StashRequest, r *carrel.StashResult) error {
	if err := a.artifact(&r.Artifact); err != nil {
		return err
	}
	known := *req
	known.Known = true
	res, err := a.engine.Stash(a.ctx, a.scope, &known)
	if err == nil {
		r.Pointer, r.Tokens = res.Pointer, res.Tokens
	}
	return err
}

func bareCommit(r *carrel.CommitResult) {
	if r.Artifact != nil {
		r.Artifact = &carrel.Artifact{ID: r.Artifact.ID}
	}
}

func commitAgain(a *again, _ *carrel.CommitRequest, r *carrel.CommitResult) error {
	if r.Artifact == nil {
		return nil
	}
	return a.artifact(r.Artifact)
}

// bareAssemble removes the context. Of each artifact in the context, it removes everything except
// the id.
func bareAssemble(r *carrel.AssembleResult) {
	r.Data, r.Warning = nil, ""
	r.Used = slices.Clone(r.Used)
	for i := range r.Used {
		bareArtifact(&r.Used[i].Artifact)
	}
}

// assembleAgain restores the context, byte for byte, from its manifest.
func assembleAgain(a *again, _ *carrel.AssembleRequest, r *carrel.AssembleResult) error {
	data, err := a.engine.Replay(a.ctx, a.scope, &carrel.IDRequest{ID: r.Manifest})
	if err != nil {
		return err
	}
	r.Data = data.Data
	for i := range r.Used {
		if err := a.artifact(&r.Used[i].Artifact); err != nil {
			return err
		}
	}
	return nil
}
