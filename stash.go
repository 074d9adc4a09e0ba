package carrel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Stash keeps the output of a tool outside of the window and returns a pointer
// to put in its place: a line that says how to get all of it, head and tail, and
// the lines between them that are most likely to be needed in the session. Equal
// outputs of a scope are kept once: then the result is the one that is there, and
// for an equal history the pointer is the same. It fails with [ErrPolicy] if the
// output looks as if it held a credential. When it returns without an error, the
// output is in the store for good.
func (e *Engine) Stash(ctx context.Context, scope governance.Scope, req *StashRequest) (_ *StashResult, err error) {
	defer during("stash", &err)

	if e.redacts(req.Redact) {
		r := *req
		r.Content, r.Title = []byte(secret.RedactPersonal(string(req.Content))), secret.RedactPersonal(req.Title)
		req = &r
	}
	put := &NewArtifact{
		Class: provenance.Tool, Title: req.Title, Content: req.Content, Source: req.Source, TTL: req.TTL,
		AllowSecrets: req.AllowSecrets,
	}
	if put.TTL == nil {
		ttl := StashTTL
		put.TTL = &ttl
	}
	if req.Tokens != 0 && req.Tokens < LeastStashTokens {
		return nil, fmt.Errorf("%w: a pointer of %d tokens, below %d", ErrRequest, req.Tokens, LeastStashTokens)
	}
	if req.FirstLine < 0 {
		return nil, fmt.Errorf("%w: the first line has the number %d, below 1", ErrRequest, req.FirstLine)
	}
	if err := e.checkPut(put); err != nil {
		return nil, err
	}
	p := &pointing{
		engine: e, scope: scope, text: string(req.Content), limit: cmp.Or(req.Tokens, StashTokens), tool: req.Tool, input: req.Input,
		numbered: req.FirstLine > 0, first: max(req.FirstLine, 1),
	}
	if req.Session != "" {
		h, err := e.load(ctx, scope, req.Session)
		if err != nil {
			return nil, err
		}
		p.before = h.session.Messages
	}
	if len(req.History) > 0 {
		if p.before, err = messagesOf(req.Format, req.History); err != nil {
			return nil, err
		}
	}
	found, err := e.store.Pick(ctx, scope, &store.Pick{Address: address(scope, sourceStash, req.Content)}, 100)
	if err != nil {
		return nil, err
	}
	for i := range found {
		a := &found[i]
		if a.Source != sourceStash || a.Status != store.StatusLive || expired(a, e.now()) {
			continue
		}
		kept, err := e.pageOf(ctx, scope, a)
		if err != nil {
			return nil, err
		}
		if kept.text == p.text {
			return p.stashed(e.describeArtifact(a, &kept.note), true), nil
		}
	}
	if req.Known {
		return nil, fmt.Errorf("%w: the output is not in the stash", store.ErrNotFound)
	}
	out, err := e.putAll(ctx, scope, []*NewArtifact{put}, func(string) string { return sourceStash })
	if err != nil {
		return nil, err
	}
	return p.stashed(out[0], false), nil
}

// messagesOf returns the messages of parts of a conversation.
func messagesOf(format string, parts [][]byte) ([]transcript.Message, error) {
	f, err := FormatNamed(format)
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

func (p *pointing) stashed(a Artifact, known bool) *StashResult {
	p.id = a.ID
	res := &StashResult{Artifact: a, Pointer: p.pointer(), Known: known}
	res.Tokens = p.count(res.Pointer)
	return res
}

// CollectStash purges what is in the stash and has expired, and what was made
// from it. A dry run only tells what it would purge.
func (e *Engine) CollectStash(ctx context.Context, scope governance.Scope, req *CollectRequest) (_ *RemovalResult, err error) {
	defer during("collect stash", &err)

	var ids []string
	now := e.now()
	for a, err := range e.store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return nil, err
		}
		if a.Source == sourceStash && a.Status != store.StatusPurged && expired(a, now) {
			ids = append(ids, string(a.ID))
		}
	}
	switch {
	case len(ids) == 0:
		return &RemovalResult{}, nil
	case req.DryRun:
		f, err := e.lineage(ctx, scope, ids, "")
		if err != nil {
			return nil, err
		}
		res, err := e.removal(ctx, scope, f.rows, f.named)
		if err == nil {
			res.Cells = len(f.cells)
		}
		return res, err
	}
	return e.Purge(ctx, scope, &IDsRequest{IDs: ids})
}
