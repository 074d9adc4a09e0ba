// Package audit checks the consistency of a store.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Audit checks a store.
type Audit struct {
	*record.Recorder

	// Verify checks a manifest. Package contexts implements it.
	Verify func(ctx context.Context, scope governance.Scope, req *api.IDRequest) (*api.VerifyResult, error)
}

// Check verifies all scopes of the store and returns the problems found. It returns an error only
// if the check could not be finished.
func (e *Audit) Check(ctx context.Context) (problems []string, err error) {
	defer base.During("check the store", &err)

	if problems, err = e.Store.Check(ctx); err != nil {
		return nil, err
	}
	scopes, err := e.Store.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	c := &checking{Audit: e, problems: problems}
	for _, scope := range scopes {
		if err := c.scope(ctx, scope); err != nil {
			return nil, err
		}
	}
	return c.problems, nil
}

// checking collects problems.
type checking struct {
	*Audit

	problems []string
}

// found handles the error of a check. If err says that the store is damaged, found records a
// problem and returns nil; the text of the problem begins with what format and args describe. It
// returns any other error, such as that of a busy store or a timeout.
func (c *checking) found(err error, scope governance.Scope, format string, args ...any) error {
	for _, kind := range []error{store.ErrCorrupt, store.ErrNotFound, store.ErrGone, api.ErrIntegrity, api.ErrFormat} {
		if errors.Is(err, kind) {
			c.problems = append(c.problems, fmt.Sprintf("scope %s: %s: %v", scope, fmt.Sprintf(format, args...), err))
			return nil
		}
	}
	return err
}

func (c *checking) scope(ctx context.Context, scope governance.Scope) error {
	for h, err := range c.Store.Heads(ctx, scope) {
		if err == nil {
			err = c.settled(ctx, scope, h)
		}
		if err := c.found(err, scope, "sessions"); err != nil {
			return err
		}
	}
	for m, err := range c.Store.Manifests(ctx, scope, "") {
		if err == nil {
			_, err = c.Verify(ctx, scope, &api.IDRequest{ID: m.ID})
		}
		if err := c.found(err, scope, "manifests"); err != nil {
			return err
		}
	}
	for a, err := range c.Store.Artifacts(ctx, scope, 0) {
		if err == nil {
			err = c.artifact(ctx, scope, a)
		}
		if err := c.found(err, scope, "artifacts"); err != nil {
			return err
		}
	}
	return nil
}

// artifact checks the text of an artifact.
func (c *checking) artifact(ctx context.Context, scope governance.Scope, a *store.Artifact) error {
	p, err := c.ReadResident(ctx, scope, a)
	if errors.Is(err, store.ErrGone) && a.Status == store.StatusPurged {
		return nil
	}
	if err == nil && (int64(len(p.Text)) != a.Bytes || a.Address != "" && a.Address != stacks.Address(scope, a.Source, []byte(p.Text))) {
		err = fmt.Errorf("%w: the text of artifact %s is not the one that it was stored with", store.ErrCorrupt, a.ID)
	}
	return err
}

// settled checks a session at one revision, and repeats the check while others write to it.
func (c *checking) settled(ctx context.Context, scope governance.Scope, h *store.Head) error {
	for range hold.Rereads {
		err := c.session(ctx, scope, h)
		now, headErr := c.Store.Head(ctx, scope, h.ID)
		if headErr != nil || now.Revision == h.Revision {
			if err != nil {
				err = fmt.Errorf("check session %s: %w", h.ID, err)
			}
			return err
		}
		h = now
	}
	return fmt.Errorf("session %s: %w, again at each attempt, because others write to it: check again later", h.ID, store.ErrConflict)
}

// session checks a session, even if it was removed. A purged session has nothing to check.
func (c *checking) session(ctx context.Context, scope governance.Scope, head *store.Head) error {
	if head.Status == store.StatusPurged {
		return nil
	}
	h, err := c.LoadWith(ctx, scope, head.ID, c.Store.Head)
	if err != nil {
		return err
	}
	if _, err := c.Agreement(ctx, scope, h); err != nil {
		return err
	}
	stubs, err := c.Stubs(ctx, scope, h.Rows)
	if err != nil {
		return err
	}
	decided, err := c.decisions(ctx, scope, h.Head.ID)
	if err != nil {
		return err
	}
	for i := range h.Rows {
		if err := c.block(ctx, scope, h, i, decided); err != nil {
			return fmt.Errorf("check block %s: %w", h.Rows[i].ID, err)
		}
	}
	if m, err := c.MeterFor(h.Session, h.Head.Encoding); err == nil && h.Head.Format != "" {
		want := m.Fixed(h.Session) + h.Summary.Size()
		for i := range h.Rows {
			want += h.Rows[i].Window
		}
		if want != h.Head.Window {
			return fmt.Errorf("%w: its window has %d tokens, but %d are recorded", store.ErrCorrupt, want, h.Head.Window)
		}
	}
	h.Window(h.Rows, stubs, h.Summary)
	return nil
}

// A decided is the last decision about a block in the journal.
type decided struct {
	form     pager.Form
	stub     store.CellID
	imported bool // the session was imported after the decision
}

// decisions returns the last decision in the journal about each block of a session. Blocks without
// a decision are not in the map.
func (c *checking) decisions(ctx context.Context, scope governance.Scope, id transcript.SessionID) (map[transcript.BlockID]decided, error) {
	last := make(map[transcript.BlockID]decided)
	for entry, err := range c.Store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		if entry.Op == hold.OpImport {
			for id, d := range last {
				d.imported = true
				last[id] = d
			}
			continue
		}
		var data struct {
			Moves []hold.Move `json:"moves"`
		}
		if json.Unmarshal(entry.Data, &data) != nil {
			continue // the entry is about something else
		}
		for i := range data.Moves {
			m := &data.Moves[i]
			last[m.Block] = decided{form: m.To, stub: m.ToStub}
		}
	}
	return last, nil
}

// block checks that the bytes of a block are those in the conversation, and that its form is that
// of the last decision. A block without a decision since the last import may also be whole or gone,
// because an import can bring back a block or find that it has left the conversation.
func (c *checking) block(ctx context.Context, scope governance.Scope, h *hold.Snapshot, i int, all map[transcript.BlockID]decided) error {
	r := &h.Rows[i]
	if r.State == store.StatePurged {
		return nil
	}
	bodies, err := c.Bodies(ctx, scope, r.Cells)
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.Join(bodies, nil), h.Session.RawBlock(&h.Blocks[i])) || len(r.Cells) == 0 {
		return fmt.Errorf("%w: the texts of its cells are not at its place in the conversation", store.ErrCorrupt)
	}
	if r.Kind != h.Blocks[i].Kind || !slices.Equal(r.Tools, hold.ToolNames(h.Session.Messages, &h.Blocks[i])) {
		return fmt.Errorf("%w: the kind or the tools recorded for it are not those of its bytes", store.ErrCorrupt)
	}
	is := decided{form: pager.Form(r.Form), stub: r.Stub}
	want, moved := all[r.ID]
	asImported := is.stub == "" && (is.form == pager.Whole || is.form == pager.Gone)
	allowed := is.form == want.form && is.stub == want.stub
	if !moved || want.imported {
		allowed = allowed && moved || asImported
	}
	if !allowed || hold.State(is.form) != r.State {
		return fmt.Errorf("%w: it is %s, in the form %s, but the journal says otherwise", store.ErrCorrupt, r.State, r.Form)
	}
	return nil
}
