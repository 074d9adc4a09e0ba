package carrel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Recall returns the bytes that a block was imported in, or what it says. It
// does so whatever the state of the block, until the bytes are erased, and
// changes nothing. Of an artifact it returns the whole text, as long as the
// artifact is live; what was removed, refuted or held is an [ErrPolicy]. It fails
// with [store.ErrNotFound], [ErrAmbiguous] or [ErrGone]. Of a summary it returns
// the whole, with what the window has no room for, as Markdown.
func (e *Engine) Recall(ctx context.Context, scope governance.Scope, req *RecallRequest) (_ *RecallResult, err error) {
	defer during("recall "+req.Block, &err)

	if strings.HasPrefix(req.Block, summaryPrefix) {
		return e.recallSummary(ctx, scope, req)
	}
	ref, row, err := e.findBlock(ctx, scope, req.Block)
	if errors.Is(err, store.ErrNotFound) {
		if res, found := e.recallArtifact(ctx, scope, req); !errors.Is(found, store.ErrNotFound) {
			return res, found
		}
	}
	if err != nil {
		return nil, err
	}
	if row.State == store.StatePurged {
		return nil, ErrGone
	}
	res := &RecallResult{Session: ref.Session, Block: row.ID, Kind: row.Kind, Turn: row.Turn, State: row.State, Tokens: row.Tokens}
	bodies, err := e.bodies(ctx, scope, row.Cells)
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

// cut fills in the range of the data that was asked for.
func cutRecalled(r *RecallResult, data []byte, req *RecallRequest) error {
	r.Size, r.Digest = len(data), digest.Of(data)
	to := req.To
	if to == 0 {
		to = len(data)
	}
	if req.From < 0 || req.From > to || to > len(data) {
		return fmt.Errorf("%w: range %d:%d of %d bytes", ErrRequest, req.From, to, len(data))
	}
	r.Data = data[req.From:to]
	return nil
}

// recallArtifact returns the whole text of an artifact, of which a context may
// have had a part.
func (e *Engine) recallArtifact(ctx context.Context, scope governance.Scope, req *RecallRequest) (*RecallResult, error) {
	a, err := e.find(ctx, scope, req.Block, false)
	if err != nil {
		return nil, err
	}
	switch a.Status {
	case store.StatusLive:
	case store.StatusPurged:
		return nil, ErrGone
	case store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned:
		return nil, fmt.Errorf("%w: artifact %s is %s", ErrPolicy, a.ID, a.Status)
	}
	p, err := e.pageOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	res := &RecallResult{Artifact: a.ID, Class: a.Class, Tokens: a.Tokens}
	return res, cutRecalled(res, []byte(p.text), req)
}

// recallSummary returns the whole of a session's summary.
func (e *Engine) recallSummary(ctx context.Context, scope governance.Scope, req *RecallRequest) (*RecallResult, error) {
	var found *store.Head
	for h, err := range e.store.Heads(ctx, scope) {
		switch {
		case err != nil:
			return nil, err
		case h.Status != "" || h.Summary == "" || !strings.HasPrefix(string(summaryID(h.ID)), req.Block):
			continue
		case found != nil:
			return nil, fmt.Errorf("%w: summary %s could be of session %s or %s", ErrAmbiguous, req.Block, found.ID, h.ID)
		}
		found = h
	}
	if found == nil {
		return nil, fmt.Errorf("summary %s: %w", req.Block, store.ErrNotFound)
	}
	s, err := e.standIn(ctx, scope, found.Summary)
	if err != nil {
		return nil, err
	}
	res := &RecallResult{Session: found.ID, Block: s.ID, Kind: transcript.KindSummary, State: store.StateStub, Tokens: s.Tokens}
	return res, cutRecalled(res, []byte(s.whole().Markdown()), req)
}

// blockText returns what a block says. A block that left the conversation has
// only its bytes.
func (e *Engine) blockText(ctx context.Context, scope governance.Scope, ref store.Ref, raw []byte) ([]byte, error) {
	h, err := e.load(ctx, scope, ref.Session)
	if err != nil {
		return nil, err
	}
	all := h.entire()
	if i := all.index(ref.Block); i >= 0 {
		return []byte(all.texts()[i]), nil
	}
	return raw, nil
}

// findBlock returns the block whose id begins with a prefix. A "block-" or "#"
// before it, as contracts and stubs have it, is ignored.
func (e *Engine) findBlock(ctx context.Context, scope governance.Scope, prefix string) (store.Ref, *store.Block, error) {
	id := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(prefix, "#"), "block-"))
	if id == "" {
		return store.Ref{}, nil, fmt.Errorf("%w: no block id", store.ErrNotFound)
	}
	refs, err := e.store.Find(ctx, scope, id, 6)
	switch {
	case err != nil:
		return store.Ref{}, nil, err
	case len(refs) == 0:
		return store.Ref{}, nil, fmt.Errorf("block %s: %w", prefix, store.ErrNotFound)
	case len(refs) > 1:
		var ids []string
		for _, r := range refs {
			ids = append(ids, string(r.Block))
		}
		return store.Ref{}, nil, fmt.Errorf("%w: block %s could be %s", ErrAmbiguous, prefix, strings.Join(ids, ", "))
	}
	if _, err := e.head(ctx, scope, refs[0].Session); err != nil {
		return store.Ref{}, nil, err
	}
	for b, err := range e.store.Blocks(ctx, scope, refs[0].Session) {
		if err != nil {
			return store.Ref{}, nil, err
		}
		if b.ID == refs[0].Block {
			return refs[0], b, nil
		}
	}
	return store.Ref{}, nil, fmt.Errorf("%w: block %s is indexed but not there", store.ErrCorrupt, prefix)
}

// FindSession returns the session that a word names: an id or the beginning of
// one, or "@last", "@prev" or "-2" for the one updated last, before that, or
// two before that. One that was removed or purged is found by its id alone.
func (e *Engine) FindSession(ctx context.Context, scope governance.Scope, req *WordRequest) (_ *SessionResult, err error) {
	defer during("find session "+req.Word, &err)

	id, err := e.findSession(ctx, scope, req.Word)
	if err != nil {
		return nil, err
	}
	return &SessionResult{Session: id}, nil
}

// findSession returns the id that a word names.
func (e *Engine) findSession(ctx context.Context, scope governance.Scope, word string) (transcript.SessionID, error) {
	back := map[string]int{"": 0, "@last": 0, "-0": 0, "@prev": 1, "-1": 1, "-2": 2, "-3": 3, "-4": 4, "-5": 5, "-6": 6, "-7": 7, "-8": 8, "-9": 9}
	nth, byAge := back[word]
	if !byAge {
		if _, err := e.store.Head(ctx, scope, transcript.SessionID(word)); !errors.Is(err, store.ErrNotFound) {
			return transcript.SessionID(word), err // whatever is wrong with others
		}
	}
	var found []string
	i := 0
	for h, err := range e.store.Heads(ctx, scope) {
		switch {
		case err != nil:
			return "", err
		case byAge && h.Status != "":
			continue
		case byAge && i == nth:
			return h.ID, nil
		case !byAge && strings.HasPrefix(string(h.ID), word):
			found = append(found, string(h.ID))
		}
		i++
	}
	switch {
	case len(found) == 1:
		return transcript.SessionID(found[0]), nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: could be %s", ErrAmbiguous, strings.Join(found[:min(len(found), 6)], ", "))
	case i == 0:
		return "", fmt.Errorf("%w: no session is stored", store.ErrNotFound)
	}
	return "", store.ErrNotFound
}
