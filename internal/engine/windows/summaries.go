package windows

import (
	"context"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// headAndSummary returns the head of a session and the summary in its window, or nil if there is
// none.
func (e *Windows) headAndSummary(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, *hold.WindowSummary, error) {
	head, err := e.Head(ctx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.ReadSummary(ctx, scope, head.Summary)
	return head, s, err
}

// Summary returns the summary in the window of a session. It fails with [store.ErrNotFound] if
// there is none.
func (e *Windows) Summary(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SummaryResult, err error) {
	id := req.Session
	defer base.During("summary", &err, "of session "+string(id))

	_, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, api.About(api.SubjectNoSummary, base.Statef(store.ErrNotFound, "session %s has no summary", id))
	}
	return &api.SummaryResult{Session: id, SummaryInfo: *summaryInfo(s, nil), Text: s.Text, Summary: s.Whole()}, nil
}

// CheckSummary judges whether a text may replace the first blocks of a session as their summary:
// see [api.Judgement].
func (e *Windows) CheckSummary(ctx context.Context, scope governance.Scope, req *api.CheckSummaryRequest) (_ *api.CheckSummaryResult, err error) {
	defer base.During("check a summary", &err, "of session "+string(req.Session))

	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	j, s, err := e.judged(h, req.Data, req.Blocks, req.ProbeMin)
	if err != nil {
		return nil, err
	}
	return &api.CheckSummaryResult{Session: req.Session, Judgement: *j, Summary: s}, nil
}

// State returns, as one document, the tokens of a session, those of its window, and its summary.
func (e *Windows) State(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.ProtocolState, err error) {
	id := req.Session
	defer base.During("state", &err, "of session "+string(id))

	head, s, err := e.headAndSummary(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	st := &api.ProtocolState{Compression: api.CompressionState{Session: id, Tokens: head.Tokens, Window: head.Window}}
	if s != nil {
		c := &st.Compression
		c.Summary = s.Whole()
		c.Count, c.At, c.ProbeScore = c.Summary.Count, c.Summary.At, c.Summary.ProbeScore
	}
	return st, nil
}

func summaryInfo(s *hold.WindowSummary, d *drafted) *api.SummaryInfo {
	info := &api.SummaryInfo{
		ID: s.ID, Covers: s.Covers, Tokens: s.Tokens, Count: s.Summary.Count, Depth: s.Summary.Depth, Model: s.Summary.Model,
	}
	if d != nil {
		info.Fresh, info.Merged, info.Edits, info.Left = d.fresh, d.merged, d.edits, d.left
	}
	return info
}
