package carrel

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// StashTTL is how long what is in the stash lives by default.
const StashTTL = 7 * 24 * time.Hour

// A StashRequest brings the output of a tool in.
type StashRequest struct {
	Content      []byte         `json:"content"`
	Title        string         `json:"title,omitempty"`  // such as the command
	Source       string         `json:"source,omitempty"` // where it comes from; only told
	TTL          *time.Duration `json:"ttl,omitempty"`    // StashTTL by default
	AllowSecrets bool           `json:"allow_secrets,omitempty"`
}

// A StashResult is the pointer to what is in the stash.
type StashResult struct {
	Artifact
	Pointer string      `json:"pointer"` // to put into the window in place of the output
	Tokens  token.Count `json:"pointer_tokens"`
	Known   bool        `json:"known"` // the same bytes were there already
}

// Stash keeps the output of a tool outside of the window and returns a pointer
// to put in its place, with head and tail of it. Equal outputs of a scope are
// kept once: then the result is the one that is there. It fails with
// [ErrPolicy] if the output looks as if it held a credential.
func (e *Engine) Stash(ctx context.Context, scope governance.Scope, req *StashRequest) (_ *StashResult, err error) {
	defer during("stash", &err)

	put := &PutRequest{
		Class: provenance.Tool, Title: req.Title, Content: req.Content, Source: req.Source, TTL: req.TTL,
		AllowSecrets: req.AllowSecrets, stash: true,
	}
	if put.TTL == nil {
		ttl := StashTTL
		put.TTL = &ttl
	}
	if err := e.checkPut(put); err != nil {
		return nil, err
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
		p, err := e.pageOf(ctx, scope, a)
		if err != nil {
			return nil, err
		}
		if p.text == string(req.Content) {
			return e.stashed(e.describeArtifact(a, &p.note), p.text, true), nil
		}
	}
	out, err := e.Put(ctx, scope, put)
	if err != nil {
		return nil, err
	}
	return e.stashed(out[0], string(req.Content), false), nil
}

func (e *Engine) stashed(a Artifact, text string, known bool) *StashResult {
	res := &StashResult{Artifact: a, Pointer: pointer(a.ID, text), Known: known}
	res.Tokens = e.artifactCounter().Count(res.Pointer)
	return res
}

// CollectStash purges what is in the stash and has expired, and what was made
// from it. A dry run only tells what it would purge.
func (e *Engine) CollectStash(ctx context.Context, scope governance.Scope, dryRun bool) (_ *RemovalResult, err error) {
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
	case dryRun:
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
	return e.Purge(ctx, scope, ids...)
}

// pointer returns what stands in the window for what is in the stash: head and
// tail of it, and how to get the rest.
func pointer(id store.ArtifactID, text string) string {
	lines := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		lines++
	}
	mark := fmt.Sprintf("[carrel: stashed %d bytes, %d lines as %s: carrel stash get %s]", len(text), lines, id, id)
	if len(text) <= 2*headTail {
		return mark + "\n" + text
	}
	head, tail := text[:headTail], text[len(text)-headTail:]
	if i := strings.LastIndexByte(head, '\n'); i > headTail/2 {
		head = head[:i+1]
	} else {
		head = cutBytes(text, headTail) + "\n"
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < headTail/2 {
		tail = tail[i+1:]
	} else {
		for tail != "" && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	return mark + "\n" + head + fmt.Sprintf("[carrel: %d bytes left out here]\n", len(text)-len(head)-len(tail)) + tail
}
