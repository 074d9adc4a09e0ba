package sessions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Import stores a conversation, or the new part of a stored one.
func (e *Sessions) Import(ctx context.Context, scope governance.Scope, req *api.ImportRequest) (*api.ImportResult, error) {
	return e.ImportTitled(ctx, scope, req, "")
}

// ImportTitled imports a conversation under a title, or under its own if title is empty.
func (e *Sessions) ImportTitled(ctx context.Context, scope governance.Scope, req *api.ImportRequest, title string) (_ *api.ImportResult, err error) {
	defer base.During("import "+req.Name, &err)

	f, err := hold.Pick(req.Format, req.Data)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	s.Title = cmp.Or(title, s.Title)
	if l, ok := f.(transcript.Logged); ok {
		_, losses := l.Requests(s)
		s.Warnings = append(s.Warnings, losses...)
	}
	return base.Retry(ctx, func() (*api.ImportResult, error) { return e.importSession(ctx, scope, req, s) })
}

func (e *Sessions) importSession(ctx context.Context, scope governance.Scope, req *api.ImportRequest, s *transcript.Session) (*api.ImportResult, error) {
	old, err := e.Load(ctx, scope, s.ID)
	if retired, ok := errors.AsType[*hold.RetiredError](err); ok && retired.Status == store.StatusPurged {
		if !req.Anew {
			return nil, err
		}
		old, err = e.purgedBefore(ctx, scope, s.ID)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if req.Compaction != "" && old != nil && old.Head.Format == s.Format {
		if req, s, err = behindCompaction(req, s, old); err != nil {
			return nil, err
		}
	}
	return e.importOver(ctx, scope, req, s, old)
}

// importOver stores a conversation over old, which must still be at the revision at which it was
// read, or as a new session if old is nil.
func (e *Sessions) importOver(ctx context.Context, scope governance.Scope, req *api.ImportRequest, s *transcript.Session, old *hold.Snapshot) (*api.ImportResult, error) {
	res := &api.ImportResult{
		Session: s.ID, Format: s.Format, Title: s.Title, Model: s.Model, Messages: len(s.Messages),
		Bytes: len(req.Data), Branches: s.Branches, Warnings: s.Warnings, Logged: s.Logged,
	}
	if old == nil {
		old = &hold.Snapshot{Head: &store.Head{ID: s.ID}, Session: &transcript.Session{ID: s.ID}}
	}
	if old.Head.Format != "" && old.Head.Format != s.Format {
		return nil, fmt.Errorf("%w: session %s is stored in format %s, not %s: import it in the stored format", api.ErrPolicy, s.ID, old.Head.Format, s.Format)
	}
	if old.Head.Revision > 0 && !old.Outdated() && bytes.Equal(old.Session.Bytes(), req.Data) {
		res.Encoding, res.Tokens, res.Blocks, res.Earlier = old.Head.Encoding, old.Head.Tokens, len(old.Rows), old.Behind()
		return res, nil
	}
	m, err := e.merge(ctx, scope, s, old)
	if err != nil {
		return nil, err
	}
	if old.Prefix != nil && !m.onlyGrew(old) {
		return nil, hold.ErrReadWhole
	}
	if (m.shorter || cutOff(old.Session.Bytes(), req.Data)) && !req.Rewind {
		return nil, &api.ShorterError{Session: s.ID, Known: old.Session.Count(), Has: s.Count(), KnownBytes: old.Head.Bytes, Bytes: int64(len(req.Data))}
	}
	res.Encoding, res.Tokens, res.Added = m.meter.Counter.Encoding(), m.tokens, m.added
	res.Blocks, res.Earlier = m.begin.Blocks+len(m.blocks)-m.now, m.begin.Trail.Earlier+m.now
	res.Messages, res.Bytes = m.begin.Messages+res.Messages, int(m.begin.Trail.From)+res.Bytes
	for i := range m.rows {
		if m.fresh[i] {
			res.NewTokens += m.rows[i].Tokens
		}
	}
	res.Changed = true
	if req.DryRun {
		return res, nil
	}
	c, err := e.importChange(ctx, scope, req, s, old, m)
	if err != nil {
		return nil, err
	}
	data := hold.ImportEntry{
		Bytes: res.Bytes, Messages: res.Messages, Blocks: res.Blocks, Earlier: res.Earlier, Added: m.added, Off: len(m.off), Tokens: m.tokens,
		Warnings: m.begin.Trail.Warnings + len(s.Warnings), Reset: m.resets, Rewind: req.Rewind && m.shorter, Back: m.revived,
	}
	if len(m.cooled) > 0 {
		data.Compacted = &hold.CompactionEntry{Actor: clientOf(s), Rule: hold.ByClient, Windows: len(s.Earlier), Blocks: m.cooled}
	}
	if res.Op, err = e.Apply(ctx, scope, old.Head, c, hold.OpImport, data); err != nil {
		return nil, err
	}
	e.Opts.Logger.InfoContext(ctx, "imported", "session", s.ID, "blocks", res.Blocks, "added", res.Added)
	return res, nil
}

// cutOff reports whether data is a strict prefix of the known bytes: the file lost its end. An end
// of white space does not count.
func cutOff(known, data []byte) bool {
	end, begins := bytes.CutPrefix(known, data)
	return begins && len(bytes.TrimSpace(end)) > 0
}

// importChange returns the change that stores a merge.
func (e *Sessions) importChange(ctx context.Context, scope governance.Scope, req *api.ImportRequest, s *transcript.Session, old *hold.Snapshot, m *merge) (*store.Change, error) {
	now := e.Now()
	c := &store.Change{Head: store.Head{
		ID: s.ID, Format: s.Format, Model: s.Model, Encoding: m.meter.Counter.Encoding(),
		Messages: m.begin.Messages + len(s.Messages), Blocks: m.begin.Blocks + len(m.blocks) - m.now, Tokens: m.tokens, Window: m.window,
		Bytes: m.begin.Trail.From + int64(len(req.Data)), Created: old.Head.Created, Updated: now,
	}}
	if c.Head.Created.IsZero() {
		c.Head.Created = now
	}
	if !m.resets {
		c.Head.Summary = old.Head.Summary
	}
	items, owner, err := e.addItems(c, s, req.Data, old)
	if err != nil {
		return nil, err
	}
	c.ItemsFrom += m.begin.Trail.Pieces
	ofItem := make([]store.CellID, len(owner))
	for item, piece := range owner {
		ofItem[item] = items[piece]
	}
	m.addBlocks(c, ofItem)
	about := hold.About{Title: s.Title, Project: s.Project, Name: filepath.Base(req.Name), Logged: s.Logged > 0}
	if old.Head.About != "" && old.Head.Status == "" {
		was, err := e.About(ctx, scope, old.Head)
		if err != nil {
			return nil, err
		}
		about.Critical = was.Critical
		about.Logged = about.Logged || was.Logged && old.Prefix != nil // its log may be before the new part
	}
	var names []store.Cell
	if about.Trail, names, err = e.trail(s, req.Data, m, owner, items); err != nil {
		return nil, err
	}
	cell, err := e.JSONCell(store.CellAbout, about)
	if err != nil {
		return nil, err
	}
	c.Cells = append(append(c.Cells, names...), cell)
	c.Head.About = cell.ID
	return c, nil
}

// addItems adds a cell to a change for each piece of the input that is not stored. It returns the
// cells of all pieces, and the index of the piece that contains each item.
func (e *Sessions) addItems(c *store.Change, s *transcript.Session, input []byte, old *hold.Snapshot) (items []store.CellID, owner []int, err error) {
	pieces, owner := pack(s, input)
	for c.ItemsFrom < min(len(pieces), len(old.Bodies)) && bytes.Equal(pieces[c.ItemsFrom], old.Bodies[c.ItemsFrom]) {
		c.ItemsFrom++
	}
	more := len(pieces) - c.ItemsFrom
	c.Items, c.Cells = make([]store.CellID, 0, more), slices.Grow(c.Cells, more+2) // and two cells about the session
	for _, piece := range pieces[c.ItemsFrom:] {
		cell, err := e.Cell(store.CellItem, piece)
		if err != nil {
			return nil, nil, err
		}
		c.Cells, c.Items = append(c.Cells, cell), append(c.Items, cell.ID)
	}
	return slices.Concat(old.Items[:c.ItemsFrom], c.Items), owner, nil
}

// addBlocks adds to a change the blocks whose rows changed, given the cells of the items, and the
// word stems of new blocks.
func (m *merge) addBlocks(c *store.Change, ofItem []store.CellID) {
	stems := make(map[string]string)
	for i := range m.blocks {
		r := &m.rows[i]
		cells := hold.CellsOf(m.msgs, &m.blocks[i], ofItem)
		moved := m.changed[i] || !slices.Equal(cells, r.Cells)
		r.Cells = cells
		if moved {
			c.Blocks = append(c.Blocks, *r)
		}
		if m.fresh[i] {
			c.Index = append(c.Index, store.IndexEntry{Block: r.ID, Words: retrieval.CountStems(m.blocks[i].Text(m.msgs), stems)})
		}
	}
	c.Blocks = append(c.Blocks, m.off...)
}

// clientOf names the program that wrote a session, as an actor.
func clientOf(s *transcript.Session) governance.Actor { return governance.Actor("client:" + s.Format) }

// pack joins the items of a session into the pieces of its input that become cells: one piece for
// each item of a message, and one for each run of other items. It returns the index of the piece
// that contains each item.
func pack(s *transcript.Session, input []byte) (pieces [][]byte, owner []int) {
	ofMessage := make([]bool, len(s.Items))
	for _, msgs := range append(slices.Clip(s.Earlier), s.Messages) {
		for i := range msgs {
			for _, item := range msgs[i].Items {
				ofMessage[item] = true
			}
		}
	}
	owner = make([]int, len(s.Items))
	from, to := 0, 0
	for i, it := range s.Items {
		if i > 0 && (ofMessage[i] || ofMessage[i-1]) {
			pieces = append(pieces, input[from:to:to])
			from = to
		}
		to += len(it.Raw)
		owner[i] = len(pieces)
	}
	if len(s.Items) > 0 {
		pieces = append(pieces, input[from:to:to])
	}
	return pieces, owner
}
