package sessions

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// candidates is how many blocks the store may offer to be ranked.
const candidates = 400

// Search returns blocks that share words with a query, best first.
func (e *Sessions) Search(ctx context.Context, scope governance.Scope, req *api.SearchRequest) (_ *api.List[api.Found], err error) {
	defer base.During("search", &err)

	terms := retrieval.Terms(req.Query)
	if len(terms) == 0 {
		return &api.List[api.Found]{Items: []api.Found{}}, nil
	}
	refs, err := e.Store.Candidates(ctx, scope, terms, candidates)
	if err != nil {
		return nil, err
	}
	found, docs, err := e.describe(ctx, scope, refs, req)
	if err != nil {
		return nil, err
	}
	limit := req.Limit
	if limit <= 0 {
		limit = 10
	}
	hits := retrieval.Rank(req.Query, docs)
	out := make([]api.Found, 0, limit)
	for _, h := range hits[:min(limit, len(hits))] {
		f := found[h.Index]
		f.Score, f.Terms = h.Score, h.Terms
		f.Excerpt = excerpt(docs[h.Index].Text, h.Terms)
		out = append(out, f)
	}
	return &api.List[api.Found]{Items: out}, nil
}

// describe reads the candidates that fit a request, session by session.
func (e *Sessions) describe(ctx context.Context, scope governance.Scope, refs []store.BlockRef, req *api.SearchRequest) ([]api.Found, []retrieval.Document, error) {
	bySession := make(map[transcript.SessionID]map[transcript.BlockID]bool)
	var sessions []transcript.SessionID
	for _, r := range refs {
		if req.Session != "" && r.Session != req.Session {
			continue
		}
		if bySession[r.Session] == nil {
			bySession[r.Session] = make(map[transcript.BlockID]bool)
			sessions = append(sessions, r.Session)
		}
		bySession[r.Session][r.Block] = true
	}
	slices.Sort(sessions)
	var found []api.Found
	var docs []retrieval.Document
	for _, id := range sessions {
		h, err := e.Load(ctx, scope, id)
		if _, ok := errors.AsType[*hold.RetiredError](err); ok {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		all := h.Entire()
		for i := range all.Rows {
			row := &all.Rows[i]
			if !bySession[id][row.ID] || req.Kind != "" && row.Kind != req.Kind {
				continue
			}
			found = append(found, api.Found{
				Session: id, Block: row.ID, Kind: row.Kind, Earlier: h.WindowOf(i), Turn: row.Turn, State: row.State, Tokens: row.Tokens,
			})
			docs = append(docs, retrieval.Document{ID: string(row.ID), Text: all.Blocks[i].Text(all.Session.Messages)})
		}
	}
	return found, docs, nil
}

// excerpt returns some of a text around the first of the words in it.
func excerpt(said string, words []string) string {
	const before, length = 40, 160
	low := strings.ToLower(said)
	if len(low) != len(said) {
		low = said // lower case is longer somewhere: positions would not fit
	}
	at := -1
	for _, w := range words {
		if i := strings.Index(low, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	from := text.Floor(said, at-before)
	to := text.Ceil(said, from+length)
	s := text.Line(said[from:to], to-from)
	if from > 0 {
		s = text.Ellipsis + s
	}
	if to < len(said) {
		s += text.Ellipsis
	}
	return s
}
