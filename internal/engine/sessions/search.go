package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Search returns blocks that contain words of a query in any form, and blocks beside these in
// their session, best first: those that have every word of the query before all others. The
// score of a block is its own by BM25 over all blocks of the scope, without function words, and
// shares of the scores of its neighbors, as in [retrieval.NeighborShares].
//
// The index yields the best blocks. Search reads only the rows and items of these and of their
// neighbors.
func (e *Sessions) Search(ctx context.Context, scope governance.Scope, req *api.SearchRequest) (_ *api.List[api.Found], err error) {
	defer base.During("search", &err)

	s := search{e: e, scope: scope, req: req, heads: make(map[transcript.SessionID]*store.Head), loaded: make(map[transcript.SessionID]*hold.Snapshot)}
	s.terms, s.stems = retrieval.ContentTermsAndStems(req.Query)
	limit := req.Limit
	if limit <= 0 {
		limit = 10
	}
	if len(s.terms) == 0 {
		return &api.List[api.Found]{Items: []api.Found{}}, nil
	}
	if s.views, err = e.Store.Postings(ctx, scope, s.stems); err != nil {
		return nil, err
	}
	for k := max(limit, leastCandidates); ; k *= 4 { // more, if some do not fit the request
		best := retrieval.FindBest(s.views, k, retrieval.RankIDF)
		candidates, err := s.candidates(ctx, best)
		if err != nil {
			return nil, err
		}
		found, err := s.describe(ctx, candidates, limit)
		if err != nil {
			return nil, err
		}
		if len(best) < k || len(found) == limit {
			return &api.List[api.Found]{Items: found}, nil
		}
	}
}

// A search is a search request with the sessions that were read for it.
type search struct {
	e            *Sessions
	scope        governance.Scope
	req          *api.SearchRequest
	terms, stems []string // of the query; parallel
	views        []postings.View
	heads        map[transcript.SessionID]*store.Head
	loaded       map[transcript.SessionID]*hold.Snapshot
}

// describe returns at most limit results: the first candidates that fit the request.
func (s *search) describe(ctx context.Context, candidates []candidate, limit int) ([]api.Found, error) {
	found := []api.Found{}
	for i := range candidates {
		if len(found) == limit {
			break
		}
		c := &candidates[i]
		f, said, err := s.block(ctx, c.ref)
		if errors.Is(err, store.ErrNotFound) {
			err = s.lost(ctx, c.number, c.ref)
		}
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		f.Score, f.Terms = c.score, []string{}
		var stems []string
		for k, term := range s.terms {
			if c.best != nil && c.best.Has(s.views, k) {
				f.Terms, stems = append(f.Terms, term), append(stems, s.stems[k])
			}
		}
		f.Excerpt = excerpt(said, f.Terms, stems)
		found = append(found, *f)
	}
	return found, nil
}

// lost is called if the store lacks a block that the index has under a number. It returns an error
// if the store still has the number, and nil if the block was removed since the index was read.
func (s *search) lost(ctx context.Context, number int64, ref store.BlockRef) error {
	now, err := s.e.Store.Numbered(ctx, s.scope, []int64{number})
	if err == nil && now[0] == ref {
		err = fmt.Errorf("%w: block %s of session %s is in the index but not stored", store.ErrCorrupt, ref.Block, ref.Session)
	}
	return err
}

// block describes a block and returns its text, or nil if the request excludes the block or it is
// in no window of a session in use. It fails with [store.ErrNotFound] if the block does not
// exist.
func (s *search) block(ctx context.Context, ref store.BlockRef) (*api.Found, string, error) {
	if ref.Session == "" || s.req.Session != "" && ref.Session != s.req.Session {
		return nil, "", nil
	}
	head, err := s.head(ctx, ref.Session)
	if err != nil || head == nil {
		return nil, "", err
	}
	row, err := s.e.Store.Block(ctx, s.scope, ref)
	if err != nil || row.State == store.StatePurged || s.req.Kind != "" && row.Kind != s.req.Kind {
		return nil, "", err
	}
	f := &api.Found{
		Session: ref.Session, Block: row.ID, Kind: row.Kind, Earlier: row.Earlier, Turn: row.Turn, State: row.State, Tokens: row.Tokens,
	}
	if !row.Off || row.Earlier > 0 {
		said, ok, err := s.e.Piece(ctx, s.scope, head, row)
		if err != nil || ok {
			return f, said, err
		}
	}
	all, err := s.load(ctx, ref.Session)
	if err != nil || all == nil {
		return nil, "", err
	}
	whole := all.WithEarlier()
	i := whole.Index(row.ID)
	if i < 0 {
		return nil, "", nil // it left the conversation
	}
	f.Earlier = all.WindowOf(i)
	return f, whole.Blocks[i].Text(whole.Session.Messages), nil
}

// head returns the head of a session, or nil if the session was removed or purged.
func (s *search) head(ctx context.Context, id transcript.SessionID) (*store.Head, error) {
	if h, known := s.heads[id]; known {
		return h, nil
	}
	h, err := s.e.Head(ctx, s.scope, id)
	if _, retired := errors.AsType[*hold.RetiredError](err); retired {
		h, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.heads[id] = h
	return h, err
}

// load returns a session, or nil if it is not in use.
func (s *search) load(ctx context.Context, id transcript.SessionID) (*hold.Snapshot, error) {
	if h := s.loaded[id]; h != nil {
		return h, nil
	}
	h, err := s.e.Load(ctx, s.scope, id)
	if _, retired := errors.AsType[*hold.RetiredError](err); retired {
		return nil, nil //nolint:nilnil // the session is not in use
	}
	s.loaded[id] = h
	return h, err
}

// excerpt returns part of a text around the first of the words in it, or around the first word
// that begins with one of the stems.
func excerpt(said string, words, stems []string) string {
	const before, length = 40, 160
	low := strings.ToLower(said)
	if len(low) != len(said) {
		low = said // lower case has another length, so positions would differ
	}
	at := first(low, words)
	if at < 0 {
		at = first(low, stems)
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

// first returns the lowest position at which one of the words is in a text, or -1.
func first(in string, words []string) int {
	at := -1
	for _, w := range words {
		if i := strings.Index(in, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}
