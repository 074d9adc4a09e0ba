package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Recall returns the original bytes of a block, or its text.
func (e *Sessions) Recall(ctx context.Context, scope governance.Scope, req *api.RecallRequest) (_ *api.RecallResult, err error) {
	defer base.During("recall", &err, req.Block)

	if strings.HasPrefix(req.Block, hold.SummaryPrefix) {
		return e.recallSummary(ctx, scope, req)
	}
	ref, row, err := e.FindBlock(ctx, scope, req.Block)
	if errors.Is(err, store.ErrNotFound) {
		if res, found := e.recallArtifact(ctx, scope, req); !errors.Is(found, store.ErrNotFound) {
			return res, found
		}
	}
	if err != nil {
		return nil, err
	}
	if row.State == store.StatePurged {
		return nil, base.Statef(api.ErrGone, "block %s was purged", row.ID)
	}
	res := &api.RecallResult{Session: ref.Session, Block: row.ID, Kind: row.Kind, Turn: row.Turn, State: row.State, Tokens: row.Tokens}
	bodies, err := e.Bodies(ctx, scope, row.Cells)
	if err != nil {
		return nil, err
	}
	data := bytes.Join(bodies, nil)
	if req.Text {
		if data, err = e.blockText(ctx, scope, ref, data); err != nil {
			return nil, err
		}
	}
	return res, cutRecalled(res, data, req)
}

// cutRecalled sets the data of the result to the range that the request asks for.
func cutRecalled(r *api.RecallResult, data []byte, req *api.RecallRequest) error {
	r.Size, r.Digest = len(data), digest.Of(data)
	to := req.To
	if to == 0 {
		to = len(data)
	}
	if req.From < 0 || req.From > to || to > len(data) {
		return fmt.Errorf("%w: the range %d:%d is not within the %d bytes", api.ErrRequest, req.From, to, len(data))
	}
	r.Data = data[req.From:to]
	return nil
}

// recallArtifact returns the whole text of an artifact, even if the context had only a part of it.
func (e *Sessions) recallArtifact(ctx context.Context, scope governance.Scope, req *api.RecallRequest) (*api.RecallResult, error) {
	a, err := e.FindArtifact(ctx, scope, req.Block, false)
	if err != nil {
		return nil, err
	}
	switch a.Status {
	case store.StatusLive:
	case store.StatusPurged:
		return nil, base.Statef(api.ErrGone, "artifact %s was purged", a.ID)
	case store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned:
		return nil, base.Statef(api.ErrPolicy, "artifact %s is %s and cannot be recalled", a.ID, a.Status)
	}
	p, err := e.Resident(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	res := &api.RecallResult{Artifact: a.ID, Class: a.Class, Tokens: a.Tokens}
	return res, cutRecalled(res, []byte(p.Text), req)
}

// recallSummary returns the whole summary of a session.
func (e *Sessions) recallSummary(ctx context.Context, scope governance.Scope, req *api.RecallRequest) (*api.RecallResult, error) {
	var found *store.Head
	for h, err := range e.Store.Heads(ctx, scope) {
		switch {
		case err != nil:
			return nil, err
		case h.Status != "" || h.Summary == "" || !strings.HasPrefix(string(hold.SummaryID(h.ID)), req.Block):
			continue
		case found != nil:
			return nil, api.About(api.SubjectSummary, base.Statef(api.ErrAmbiguous, "summary %q is ambiguous: it could be of session %s or %s", req.Block, found.ID, h.ID))
		}
		found = h
	}
	if found == nil {
		return nil, api.About(api.SubjectSummary, base.Statef(store.ErrNotFound, "there is no summary %q", req.Block))
	}
	s, err := e.ReadSummary(ctx, scope, found.Summary)
	if err != nil {
		return nil, err
	}
	res := &api.RecallResult{Session: found.ID, Block: s.ID, Kind: transcript.KindSummary, State: store.StateStub, Tokens: s.Tokens}
	return res, cutRecalled(res, []byte(s.Whole().Markdown()), req)
}

// blockText returns the text of a block. If the block left the conversation, it returns raw.
func (e *Sessions) blockText(ctx context.Context, scope governance.Scope, ref store.BlockRef, raw []byte) ([]byte, error) {
	h, err := e.Load(ctx, scope, ref.Session)
	if err != nil {
		return nil, err
	}
	all := h.WithEarlier()
	if i := all.Index(ref.Block); i >= 0 {
		return []byte(all.Texts()[i]), nil
	}
	return raw, nil
}

// FindSession returns the session that a word names: an id, the start of an id, "@last" or "" for
// the last updated session, "@prev" or "-1" for the one before it, "-2" to "-9" for older ones.
func (e *Sessions) FindSession(ctx context.Context, scope governance.Scope, req *api.WordRequest) (_ *api.SessionResult, err error) {
	defer base.During("", &err, "find session "+req.Word)

	id, err := e.findSession(ctx, scope, req.Word)
	if err != nil {
		return nil, err
	}
	return &api.SessionResult{Session: id}, nil
}

// findSession returns the id of the session that a word names.
func (e *Sessions) findSession(ctx context.Context, scope governance.Scope, word string) (transcript.SessionID, error) {
	back := map[string]int{"": 0, "@last": 0, "-0": 0, "@prev": 1, "-1": 1, "-2": 2, "-3": 3, "-4": 4, "-5": 5, "-6": 6, "-7": 7, "-8": 8, "-9": 9}
	nth, byAge := back[word]
	if !byAge {
		if _, err := e.Store.Head(ctx, scope, transcript.SessionID(word)); !errors.Is(err, store.ErrNotFound) {
			return transcript.SessionID(word), err // other sessions do not matter
		}
	}
	var found, retired []string
	i := 0
	for h, err := range e.Store.Heads(ctx, scope) {
		switch {
		case err != nil:
			return "", err
		case h.Status != "":
			if strings.HasPrefix(string(h.ID), word) {
				retired = append(retired, string(h.ID))
			}
			continue
		case byAge && i == nth:
			return h.ID, nil
		case !byAge && strings.HasPrefix(string(h.ID), word):
			found = append(found, string(h.ID))
		}
		i++
	}
	if len(found) == 0 && !byAge {
		found = retired
	}
	switch {
	case len(found) == 1:
		return transcript.SessionID(found[0]), nil
	case len(found) > 1:
		return "", api.About(api.SubjectSession, base.Statef(api.ErrAmbiguous, "session %q is ambiguous: it could be %s", word, strings.Join(found[:min(len(found), 6)], ", ")))
	case i+len(retired) == 0:
		return "", api.About(api.SubjectStore, base.Statef(store.ErrNotFound, "no session is stored"))
	}
	return "", api.About(api.SubjectSession, base.Statef(store.ErrNotFound, "there is no session %q", word))
}
