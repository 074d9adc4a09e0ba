package carrel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A retiredError says that a session was removed, which is an [ErrPolicy], or purged,
// which is an [ErrGone].
type retiredError struct {
	session transcript.SessionID
	status  store.Status
}

func (e *retiredError) Error() string {
	if e.status == store.StatusPurged {
		return fmt.Sprintf("%v: session %s was purged", ErrGone, e.session)
	}
	return fmt.Sprintf("%v: session %s was removed: restore it first (carrel sessions rm --undo %s)", ErrPolicy, e.session, e.session)
}

// Is makes errors.Is(e, ErrGone) or errors.Is(e, ErrPolicy) true.
func (e *retiredError) Is(target error) bool {
	return target == ErrGone && e.status == store.StatusPurged || target == ErrPolicy && e.status == store.StatusTombstoned
}

// inUse returns why a session is not in use, or nil.
func inUse(h *store.Head) error {
	if h.Status != "" {
		return &retiredError{h.ID, h.Status}
	}
	return nil
}

// head returns the head of a session that is in use.
func (e *Engine) head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	head, err := e.store.Head(ctx, scope, id)
	if err == nil {
		err = inUse(head)
	}
	if err != nil {
		return nil, err
	}
	return head, nil
}

// RemoveSession takes a session out of use: it is not listed or found any more, and
// nothing reads or continues it, until [Engine.RestoreSession] brings it back. Its text
// is kept.
func (e *Engine) RemoveSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *SessionRemoval, err error) {
	id := req.Session
	defer during("remove session "+string(id), &err)
	return e.restatus(ctx, scope, id, "remove", "", store.StatusTombstoned)
}

// RestoreSession brings back a session that was removed, as it was.
func (e *Engine) RestoreSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *SessionRemoval, err error) {
	id := req.Session
	defer during("restore session "+string(id), &err)
	return e.restatus(ctx, scope, id, "restore", store.StatusTombstoned, "")
}

// restatus gives a session another status, if it has the first.
func (e *Engine) restatus(ctx context.Context, scope governance.Scope, id transcript.SessionID, op string, from, to store.Status) (*SessionRemoval, error) {
	var res *SessionRemoval
	err := retry(ctx, func() error {
		head, err := e.store.Head(ctx, scope, id)
		switch {
		case err != nil:
			return err
		case head.Status == from:
		case head.Status == "":
			return fmt.Errorf("%w: it was not removed", ErrRequest)
		default:
			return inUse(head)
		}
		c := &store.Change{Head: *head}
		c.Head.Status = to
		if c.Entry, err = e.entry(scope, id, head.Revision, op, struct{}{}); err != nil {
			return err
		}
		res = &SessionRemoval{Session: id, Op: c.Entry.ID, Status: to}
		if to == "" {
			res.Status = store.StatusLive
		}
		_, err = e.store.Apply(ctx, scope, id, head.Revision, c)
		return err
	})
	return res, err
}

// PurgeSession erases a session, whether or not it was removed before: its
// conversation, with what earlier imports had of it, summaries, stubs, its contract,
// and what it is found by; and what was made from it: what of it is in contexts, the
// memories that came of these, and the sessions that began with a packet of it. What
// stays are ids, figures, commitments and the journal, whose last entry is the receipt.
// Whoever recalls something of it is told that it is [ErrGone], and so is who imports it
// again, unless [ImportRequest.Anew] says so. Nothing brings it back.
//
// A session that inherited from its contract keeps what it inherited, and is named.
func (e *Engine) PurgeSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (_ *SessionRemoval, err error) {
	id := req.Session
	defer during("purge session "+string(id), &err)

	head, err := e.store.Head(ctx, scope, id)
	switch {
	case err != nil:
		return nil, err
	case head.Status == store.StatusPurged:
		return nil, inUse(head)
	}
	res := &SessionRemoval{Session: id, Status: store.StatusPurged}
	if err := e.successors(ctx, scope, res); err != nil {
		return nil, err
	}
	all := append([]transcript.SessionID{id}, res.Derived...)
	if err := retry(ctx, func() error { return e.eraseCells(ctx, scope, all, res) }); err != nil {
		return nil, err
	}
	for _, one := range slices.Backward(all) { // so that what is left undone is found again
		err := retry(ctx, func() (err error) {
			res.Op, err = e.eraseSession(ctx, scope, one, res)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	e.resident.DropScope(scope)
	e.segments.forget(scope)
	e.scans.forget(scope)
	return res, nil
}

// successors finds the sessions that began with a packet of a session, or of one that
// did, and those that inherited from one of their contracts.
func (e *Engine) successors(ctx context.Context, scope governance.Scope, res *SessionRemoval) error {
	var heads []*store.Head
	for h, err := range e.store.Heads(ctx, scope) {
		if err != nil {
			return err
		}
		if h.Status != store.StatusPurged && h.ID != res.Session {
			heads = append(heads, h)
		}
	}
	packets := make(map[transcript.SessionID]string) // what each says that it is of
	for _, h := range heads {
		of, err := e.packetOf(ctx, scope, h)
		if err != nil {
			return err
		}
		packets[h.ID] = of
	}
	all := []transcript.SessionID{res.Session}
	for i := 0; i < len(all); i++ {
		for _, h := range heads {
			of, from := packets[h.ID], string(all[i])
			if (of == from || strings.HasPrefix(of, from+" (")) && !slices.Contains(all, h.ID) {
				all = append(all, h.ID)
			}
		}
	}
	res.Derived = all[1:]
	for _, h := range heads {
		parents, err := e.parents(ctx, scope, h.ID)
		if err != nil {
			return err
		}
		if !slices.Contains(all, h.ID) && slices.ContainsFunc(parents, func(p transcript.SessionID) bool { return slices.Contains(all, p) }) {
			res.Heirs = append(res.Heirs, h.ID)
		}
	}
	return nil
}

// packetOf returns of which session the packet is that a session began with, as the
// packet says, or nothing.
func (e *Engine) packetOf(ctx context.Context, scope governance.Scope, head *store.Head) (string, error) {
	a, err := e.about(ctx, scope, head)
	if err != nil || !strings.HasPrefix(a.Title, handed) {
		return "", err
	}
	h, data, err := e.read(ctx, scope, head)
	if err == nil {
		err = h.decode(data)
	}
	if err != nil || len(h.blocks) == 0 {
		return "", err
	}
	packet, err := handoff.Parse("", []byte(h.blocks[0].Text(h.session.Messages)))
	if err != nil {
		return "", nil //nolint:nilerr // it is no packet, whatever the title says
	}
	return packet.Session, nil
}

// parents returns the sessions from whose contracts that of a session inherited.
func (e *Engine) parents(ctx context.Context, scope governance.Scope, id transcript.SessionID) (list []transcript.SessionID, err error) {
	for entry, err := range e.store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		var a amended
		if entry.Op == "contract" && json.Unmarshal(entry.Data, &a) == nil && a.Parent != "" {
			list = append(list, a.Parent)
		}
	}
	return list, nil
}

// eraseCells purges the cells of sessions and what was made from them.
func (e *Engine) eraseCells(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID, res *SessionRemoval) error {
	f := newFamily()
	res.Manifests, res.Memories = nil, nil
	for _, id := range sessions {
		brought, err := e.store.Brought(ctx, scope, id)
		if err != nil {
			return err
		}
		f.add(brought...)
		for m, err := range e.store.Manifests(ctx, scope, id) {
			if err != nil {
				return err
			}
			res.Manifests = append(res.Manifests, m.ID)
		}
	}
	if err := e.descend(ctx, scope, f); err != nil {
		return err
	}
	u := &store.Update{Purge: f.cells}
	for i := range f.rows {
		res.Memories = append(res.Memories, f.rows[i].ID)
		if f.rows[i].Status == store.StatusPurged {
			continue
		}
		if err := e.restate(ctx, scope, u, &f.rows[i], store.StatusPurged); err != nil {
			return err
		}
	}
	res.Cells = len(u.Purge)
	_, err := e.update(ctx, scope, u, "purge", map[string]any{"sessions": sessions, "artifacts": res.Memories, "cells": res.Cells})
	return err
}

// eraseSession purges what of a session is in no cell, and returns the entry that says so.
func (e *Engine) eraseSession(ctx context.Context, scope governance.Scope, id transcript.SessionID, res *SessionRemoval) (string, error) {
	head, err := e.store.Head(ctx, scope, id)
	if err != nil {
		return "", err
	}
	c := &store.Change{Head: *head, Erase: true}
	c.Head.Status, c.Head.Model, c.Head.Summary, c.Head.Window = store.StatusPurged, "", "", 0
	for b, err := range e.store.Blocks(ctx, scope, id) {
		if err != nil {
			return "", err
		}
		b.State, b.Form, b.Stub, b.Window, b.Tools, b.Pinned = store.StatePurged, string(pager.Gone), "", 0, nil, false
		c.Blocks = append(c.Blocks, *b)
	}
	data := map[string]any{"cells": res.Cells, "blocks": len(c.Blocks)}
	if c.Entry, err = e.entry(scope, id, head.Revision, "purge", data); err != nil {
		return "", err
	}
	_, err = e.store.Apply(ctx, scope, id, head.Revision, c)
	return c.Entry.ID, err
}

// RemovedSessions returns the sessions that were removed or purged, last updated first.
// Of one that was purged there are ids and figures.
func (e *Engine) RemovedSessions(ctx context.Context, scope governance.Scope, _ *None) (_ *List[SessionInfo], err error) {
	defer during("list removed sessions", &err)

	list := []SessionInfo{}
	for h, err := range e.store.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		if h.Status == "" {
			continue
		}
		info := sessionInfo(h, &about{})
		if h.Status == store.StatusTombstoned {
			switch info, err = e.info(ctx, scope, h); {
			case errors.Is(err, ErrGone): // purged meanwhile
				continue
			case err != nil:
				return nil, err
			}
		}
		list = append(list, info)
	}
	return &List[SessionInfo]{Items: list}, nil
}

// purgedBefore returns a session that was purged as one to import over: nothing of it is
// like what comes.
func (e *Engine) purgedBefore(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*held, error) {
	head, err := e.store.Head(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	h := &held{head: head, session: &transcript.Session{ID: id}}
	h.head.Format = "" // whatever it was
	for b, err := range e.store.Blocks(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		h.off = append(h.off, *b)
	}
	return h, nil
}
