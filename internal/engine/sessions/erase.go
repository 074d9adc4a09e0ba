package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// RemoveSession takes a session out of use: no list or search returns it, and nothing reads or
// continues it, until carrel.Engine.RestoreSession restores it.
func (e *Sessions) RemoveSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SessionRemoval, err error) {
	id := req.Session
	defer base.During("remove", &err, "session "+string(id))
	return e.restatus(ctx, scope, id, "remove", "", store.StatusTombstoned)
}

// RestoreSession restores a session that was removed.
func (e *Sessions) RestoreSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SessionRemoval, err error) {
	id := req.Session
	defer base.During("restore", &err, "session "+string(id))
	return e.restatus(ctx, scope, id, "restore", store.StatusTombstoned, "")
}

// restatus changes the status of a session. The parameters from and to are the old and the new
// status. It fails with [api.ErrRequest] if the session is in use and from is another status, and
// with a [*hold.RetiredError] if the session is removed or purged and from is another status.
func (e *Sessions) restatus(ctx context.Context, scope governance.Scope, id transcript.SessionID, op string, from, to store.Status) (*api.SessionRemoval, error) {
	return base.Retry(ctx, func() (*api.SessionRemoval, error) {
		head, err := e.AnyHead(ctx, scope, id)
		switch {
		case err != nil:
			return nil, err
		case head.Status == from:
		case head.Status == "":
			return nil, base.Statef(api.ErrRequest, "session %s is not removed", id)
		default:
			return nil, hold.CheckInUse(head)
		}
		c := &store.Change{Head: *head}
		c.Head.Status, c.Head.Updated = to, e.Now()
		res := &api.SessionRemoval{Session: id, Status: cmp.Or(to, store.StatusLive)}
		res.Op, err = e.Apply(ctx, scope, head, c, op, struct{}{})
		return res, err
	})
}

// successors adds two lists to res: the sessions that began with a packet of the session or of
// another successor, and the sessions whose contracts inherited from any of these.
func (e *Sessions) successors(ctx context.Context, scope governance.Scope, res *api.SessionRemoval) error {
	var heads []*store.Head
	for h, err := range e.Store.Heads(ctx, scope) {
		if err != nil {
			return err
		}
		if h.Status != store.StatusPurged && h.ID != res.Session {
			heads = append(heads, h)
		}
	}
	packets := make(map[transcript.SessionID]string) // the session that each packet names
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

// packetOf returns the session that is named in the packet with which a session began, or "" if
// it began with none.
func (e *Sessions) packetOf(ctx context.Context, scope governance.Scope, head *store.Head) (string, error) {
	a, err := e.About(ctx, scope, head)
	if errors.Is(err, store.ErrGone) { // another purge is at it
		return "", nil
	}
	if err != nil || !strings.Contains(a.Title, "Handoff") { // in that of Accept, and in the first line of a packet
		return "", err
	}
	h, data, err := e.Read(ctx, scope, head)
	if err == nil {
		err = h.Decode(data)
	}
	if err != nil {
		return "", err
	}
	packet, _ := h.Packet()
	if packet == nil {
		return "", nil // whatever the title says
	}
	return packet.Session, nil
}

// parents returns the sessions from whose contracts the contract of a session inherited.
func (e *Sessions) parents(ctx context.Context, scope governance.Scope, id transcript.SessionID) (list []transcript.SessionID, err error) {
	for entry, err := range e.Store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		var a record.AmendEntry
		if entry.Op == hold.OpContract && json.Unmarshal(entry.Data, &a) == nil && a.Parent != "" {
			list = append(list, a.Parent)
		}
	}
	return list, nil
}

// eraseCells purges the cells of sessions and everything derived from them, records in res what
// it erased, and returns the number of cells.
func (e *Sessions) eraseCells(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID, res *api.SessionRemoval) (int, error) {
	f := stacks.NewFamily()
	res.Manifests, res.Memories = nil, nil
	var held []*store.Manifest
	for _, id := range sessions {
		brought, err := e.Store.Brought(ctx, scope, id)
		if err != nil {
			return 0, err
		}
		f.Add(brought...)
		for m, err := range e.Store.Manifests(ctx, scope, id) {
			if err != nil {
				return 0, err
			}
			held = append(held, m)
		}
	}
	slices.SortFunc(held, func(a, b *store.Manifest) int { return cmp.Compare(b.Version, a.Version) })
	for _, m := range held {
		res.Manifests = append(res.Manifests, m.ID)
	}
	if err := e.Descend(ctx, scope, f); err != nil {
		return 0, err
	}
	u := &store.Update{Purge: f.Cells}
	for i := range f.Rows {
		res.Memories = append(res.Memories, f.Rows[i].ID)
		if f.Rows[i].Status == store.StatusPurged {
			continue
		}
		if err := e.SetStatus(ctx, scope, u, &f.Rows[i], store.StatusPurged); err != nil {
			return 0, err
		}
	}
	_, err := e.Update(ctx, scope, u, "purge", map[string]any{"sessions": sessions, "artifacts": res.Memories, "cells": len(u.Purge)})
	return len(u.Purge), err
}

// eraseSession purges the data of a session that is not in cells, such as its rows. It returns the
// id of the journal entry. It does nothing to a session that is already purged.
func (e *Sessions) eraseSession(ctx context.Context, scope governance.Scope, id transcript.SessionID, cells int) (string, error) {
	head, err := e.AnyHead(ctx, scope, id)
	if err != nil || head.Status == store.StatusPurged { // by the process that began the job
		return "", err
	}
	c := &store.Change{Head: *head, Erase: true}
	c.Head.Status, c.Head.Model, c.Head.Summary, c.Head.Window, c.Head.Updated = store.StatusPurged, "", "", 0, e.Now()
	for b, err := range e.Store.Blocks(ctx, scope, id) {
		if err != nil {
			return "", err
		}
		hold.SetPurged(b)
		c.Blocks = append(c.Blocks, *b)
	}
	return e.Apply(ctx, scope, head, c, "purge", map[string]any{"cells": cells, "blocks": len(c.Blocks)})
}

// RemovedSessions returns the sessions that were removed or purged, last updated first.
func (e *Sessions) RemovedSessions(ctx context.Context, scope governance.Scope, _ *api.None) (_ *api.List[api.SessionInfo], err error) {
	defer base.During("list removed sessions", &err)

	var heads, removed []*store.Head
	for h, err := range e.Store.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		if h.Status != "" {
			heads = append(heads, h)
		}
		if h.Status == store.StatusTombstoned {
			removed = append(removed, h)
		}
	}
	described, err := e.describe(ctx, scope, removed)
	if err != nil {
		return nil, err
	}
	list := []api.SessionInfo{}
	for _, h := range heads {
		switch {
		case h.Status != store.StatusTombstoned:
			list = append(list, hold.SessionInfo(h, &hold.About{}))
		case len(described) > 0 && described[0].Session == h.ID: // else it was purged since the list was read
			list, described = append(list, described[0]), described[1:]
		}
	}
	return &api.List[api.SessionInfo]{Items: list}, nil
}

// purgedBefore returns a snapshot of a purged session, so that a conversation can be imported over
// it. None of its blocks matches a block of the import.
func (e *Sessions) purgedBefore(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*hold.Snapshot, error) {
	head, err := e.AnyHead(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	h := &hold.Snapshot{Head: head, Session: &transcript.Session{ID: id}}
	h.Head.Format = "" // any format may replace it
	for b, err := range e.Store.Blocks(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		h.Off = append(h.Off, *b)
	}
	return h, nil
}
