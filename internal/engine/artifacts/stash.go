package artifacts

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Stash stores the output of a tool outside the window and returns a pointer to put in its place:
// a line that says how to recall the output, its head and tail, and the lines between that the
// session most likely needs.
func (e *Artifacts) Stash(ctx context.Context, scope governance.Scope, req *api.StashRequest) (_ *api.StashResult, err error) {
	defer base.During("stash", &err)

	if e.Redacts(req.Redact) {
		r := *req
		r.Content, r.Title = []byte(secret.RedactPersonal(string(req.Content))), secret.RedactPersonal(req.Title)
		req = &r
	}
	put := &api.NewArtifact{
		Class: provenance.Tool, Title: req.Title, Content: req.Content, Source: req.Source, TTL: req.TTL,
		AllowSecrets: req.AllowSecrets,
	}
	if put.TTL == nil {
		ttl := api.StashTTL
		put.TTL = &ttl
	}
	if req.Tokens != 0 && req.Tokens < api.LeastStashTokens {
		return nil, fmt.Errorf("%w: a pointer of %d tokens is too small: want %d or more", api.ErrRequest, req.Tokens, api.LeastStashTokens)
	}
	if req.FirstLine < 0 {
		return nil, fmt.Errorf("%w: the number of the first line is %d: want 1 or more", api.ErrRequest, req.FirstLine)
	}
	if err := e.CheckPut(put); err != nil {
		return nil, err
	}
	p := &pager.PointerRequest{
		Text: string(req.Content), Limit: cmp.Or(req.Tokens, api.StashTokens), Tool: req.Tool, Input: req.Input,
		Numbered: req.FirstLine > 0, First: max(req.FirstLine, 1), Count: e.ArtifactCounter().Count, Model: e.Opts.Model,
		Pieces: func(msgs []transcript.Message, blocks []transcript.Block) []facts.Piece {
			return e.PiecesOf(scope, msgs, blocks)
		},
	}
	if req.Session != "" {
		h, err := e.Load(ctx, scope, req.Session)
		if err != nil {
			return nil, err
		}
		p.Before = h.Session.Messages
	}
	if len(req.History) > 0 {
		if p.Before, err = messagesOf(req.Format, req.History); err != nil {
			return nil, err
		}
	}
	found, err := e.Store.Pick(ctx, scope, &store.Pick{Address: stacks.Address(scope, stacks.SourceStash, req.Content)}, 100)
	if err != nil {
		return nil, err
	}
	for i := range found {
		a := &found[i]
		if a.Status != store.StatusLive || stacks.Expired(a, e.Now()) {
			continue
		}
		kept, err := e.Resident(ctx, scope, a)
		if err != nil {
			return nil, err
		}
		if kept.Text == p.Text {
			return stashed(p, e.DescribeArtifact(a, &kept.Note), true), nil
		}
	}
	if req.Known {
		return nil, fmt.Errorf("%w: the output is not in the stash: stash it without known", store.ErrNotFound)
	}
	out, err := e.PutAll(ctx, scope, []*api.NewArtifact{put}, func(string) string { return stacks.SourceStash })
	if err != nil {
		return nil, err
	}
	return stashed(p, out[0], false), nil
}

// messagesOf decodes parts of a conversation, each on its own, and returns their messages in order.
// It skips a part that it cannot decode.
func messagesOf(format string, parts [][]byte) ([]transcript.Message, error) {
	f, err := hold.FormatNamed(format)
	if err != nil {
		return nil, err
	}
	var msgs []transcript.Message
	for _, part := range parts {
		if s, err := f.Decode("history", part); err == nil {
			msgs = append(msgs, s.Messages...)
		}
	}
	return msgs, nil
}

// stashed returns a pointer to an output in the stash.
func stashed(p *pager.PointerRequest, a api.Artifact, known bool) *api.StashResult {
	p.ID = string(a.ID)
	res := &api.StashResult{Artifact: a, Pointer: pager.Pointer(p), Known: known}
	res.Tokens = p.Count(res.Pointer)
	return res
}

// CollectStash purges expired outputs in the stash, and everything derived from them.
func (e *Artifacts) CollectStash(ctx context.Context, scope governance.Scope, req *api.CollectRequest) (_ *api.RemovalResult, err error) {
	defer base.During("collect stash", &err)

	var ids []string
	now := e.Now()
	for a, err := range e.Store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return nil, err
		}
		if a.Source == stacks.SourceStash && a.Status != store.StatusPurged && stacks.Expired(a, now) {
			ids = append(ids, string(a.ID))
		}
	}
	switch {
	case len(ids) == 0:
		return &api.RemovalResult{Artifacts: []store.ArtifactID{}, Manifests: []string{}}, nil
	case req.DryRun:
		f, err := e.Lineage(ctx, scope, ids, "")
		if err != nil {
			return nil, err
		}
		res, err := e.removal(ctx, scope, f)
		if err != nil {
			return nil, err
		}
		res.Cells = len(f.Cells)
		return res, nil
	}
	return e.Purge(ctx, scope, &api.IDsRequest{IDs: ids})
}
