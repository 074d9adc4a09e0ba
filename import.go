package carrel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// imported is what the journal keeps of an import.
type imported struct {
	Bytes    int         `json:"bytes"`
	Messages int         `json:"messages"`
	Blocks   int         `json:"blocks"`
	Added    int         `json:"added"`
	Off      int         `json:"off"`
	Tokens   token.Count `json:"tokens"`
	Warnings int         `json:"warnings"`
	Reset    bool        `json:"reset,omitempty"`   // blocks that a summary stood for came back
	Rewind   bool        `json:"rewind,omitempty"`  // it was shorter than what was known, and meant to be
	Earlier  int         `json:"earlier,omitempty"` // blocks of earlier windows

	Compacted *compacted           `json:"compacted,omitempty"`
	Back      []transcript.BlockID `json:"back,omitempty"` // that are in the conversation again, as they came in
}

// compacted is what the journal keeps of blocks that the client took out of the window.
type compacted struct {
	Actor   governance.Actor     `json:"actor"`
	Rule    pager.Rule           `json:"rule"`
	Windows int                  `json:"windows"` // that there were before the present one
	Blocks  []transcript.BlockID `json:"blocks"`
}

// Import stores a conversation, or what is new in one that is stored already.
// Blocks that are the same as before keep their ids, their pins and their places in
// the window; blocks that are no longer in the conversation stay recallable, and are
// the same when they come back. What the client itself compacted is stored, too: such
// blocks are cold, and of an earlier window. Importing the same bytes again changes
// nothing.
//
// It fails with a [*transcript.SyntaxError] or an [ErrFormat] if the file cannot be
// read, and with a [*ShorterError] if it is only a shorter copy of what is known and no
// rewind is meant. Then nothing is stored.
func (e *Engine) Import(ctx context.Context, scope governance.Scope, req *ImportRequest) (*ImportResult, error) {
	return e.importTitled(ctx, scope, req, "")
}

// importTitled imports a conversation under a title, or, if that is empty, under its own.
func (e *Engine) importTitled(ctx context.Context, scope governance.Scope, req *ImportRequest, title string) (_ *ImportResult, err error) {
	defer during("import "+req.Name, &err)

	f, err := pick(req.Format, req.Data)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	s.Title = cmp.Or(title, s.Title)
	var res *ImportResult
	err = retry(ctx, func() error {
		res, err = e.importSession(ctx, scope, req, s)
		return err
	})
	return res, err
}

func (e *Engine) importSession(ctx context.Context, scope governance.Scope, req *ImportRequest, s *transcript.Session) (*ImportResult, error) {
	old, err := e.load(ctx, scope, s.ID)
	if retired, ok := errors.AsType[*retiredError](err); ok && retired.status == store.StatusPurged {
		if !req.Anew {
			return nil, fmt.Errorf("%w: to take it in anew is a decision (carrel import --anew)", err)
		}
		old, err = e.purgedBefore(ctx, scope, s.ID)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return e.importOver(ctx, scope, req, s, old)
}

// importOver stores a conversation at the revision at which what is stored of it was
// read, or as a new one if old is nil.
func (e *Engine) importOver(ctx context.Context, scope governance.Scope, req *ImportRequest, s *transcript.Session, old *held) (*ImportResult, error) {
	res := &ImportResult{
		Session: s.ID, Format: s.Format, Title: s.Title, Model: s.Model, Messages: len(s.Messages),
		Bytes: len(req.Data), Branches: s.Branches, Warnings: s.Warnings,
	}
	if old != nil && old.head.Format != "" && old.head.Format != s.Format {
		return nil, fmt.Errorf("%w: session %s is stored in format %s, not %s", ErrPolicy, s.ID, old.head.Format, s.Format)
	}
	if old != nil && !old.outdated() && bytes.Equal(old.session.Bytes(), req.Data) {
		res.Encoding, res.Tokens, res.Blocks, res.Earlier = old.head.Encoding, old.head.Tokens, len(old.rows), old.behind()
		return res, nil
	}
	m, err := e.merge(ctx, scope, s, old)
	if err != nil {
		return nil, err
	}
	if old != nil && old.begin != nil && !m.onlyGrew(old) {
		return nil, errWhole
	}
	if old != nil && (m.shorter || cutOff(old.session.Bytes(), req.Data)) && !req.Rewind {
		return nil, &ShorterError{Session: s.ID, Known: old.session.Count(), Has: s.Count(), KnownBytes: old.head.Bytes, Bytes: int64(len(req.Data))}
	}
	res.Encoding, res.Tokens, res.Added = m.meter.counter.Encoding(), m.tokens, m.added
	res.Blocks, res.Earlier = m.begin.blocks+len(m.blocks)-m.now, m.begin.trail.Earlier+m.now
	res.Messages, res.Bytes = m.begin.messages+res.Messages, int(m.begin.trail.From)+res.Bytes
	res.Changed = true
	if req.DryRun {
		return res, nil
	}
	c, err := e.importChange(ctx, scope, req, s, old, m)
	if err != nil {
		return nil, err
	}
	at := store.Revision(0)
	if old != nil {
		at = old.head.Revision
	}
	if _, err := e.store.Apply(ctx, scope, s.ID, at, c); err != nil {
		return nil, err
	}
	res.Op = c.Entry.ID
	e.opts.Logger.InfoContext(ctx, "imported", "session", s.ID, "blocks", res.Blocks, "added", res.Added)
	return res, nil
}

// cutOff reports whether data is what is known without its end.
func cutOff(known, data []byte) bool {
	return len(data) < len(known) && bytes.HasPrefix(known, data) && len(bytes.TrimSpace(known[len(data):])) > 0
}

func toolNames(msgs []transcript.Message, b *transcript.Block) []string {
	var names []string
	for _, i := range b.Messages {
		for _, c := range msgs[i].Calls() {
			names = append(names, c.Name)
		}
	}
	return names
}

// importChange returns the change that stores a merge.
func (e *Engine) importChange(ctx context.Context, scope governance.Scope, req *ImportRequest, s *transcript.Session, old *held, m *merge) (*store.Change, error) {
	c := &store.Change{}
	at, created := store.Revision(0), e.now()
	if old != nil {
		at, created = old.head.Revision, old.head.Created
	}
	pieces, owner := pack(s, req.Data)
	for old != nil && c.ItemsFrom < min(len(pieces), len(old.bodies)) && bytes.Equal(pieces[c.ItemsFrom], old.bodies[c.ItemsFrom]) {
		c.ItemsFrom++
	}
	var items []store.CellID
	if old != nil {
		items = append(items, old.items[:c.ItemsFrom]...)
	}
	for _, piece := range pieces[c.ItemsFrom:] {
		cell, err := e.cell(store.CellItem, piece)
		if err != nil {
			return nil, err
		}
		c.Cells = append(c.Cells, cell)
		items = append(items, cell.ID)
	}
	c.Items = items[c.ItemsFrom:]
	if c.Items == nil {
		c.Items = []store.CellID{}
	}
	c.ItemsFrom += m.begin.trail.Pieces
	ofItem := make([]store.CellID, len(owner))
	for item, piece := range owner {
		ofItem[item] = items[piece]
	}
	for i := range m.blocks {
		r := &m.rows[i]
		cells := cellsOf(m.msgs, &m.blocks[i], ofItem)
		moved := m.changed[i] || !slices.Equal(cells, r.Cells)
		r.Cells = cells
		if moved {
			c.Blocks = append(c.Blocks, *r)
		}
		if m.fresh[i] {
			c.Index = append(c.Index, store.IndexEntry{Block: r.ID, Text: m.blocks[i].Text(m.msgs)})
		}
	}
	c.Blocks = append(c.Blocks, m.off...)

	what := about{Title: s.Title, Project: s.Project, Name: filepath.Base(req.Name)}
	if old != nil && old.head.Status == "" {
		was, err := e.about(ctx, scope, old.head)
		if err != nil {
			return nil, err
		}
		what.Critical = was.Critical
	}
	var names []store.Cell
	var err error
	if what.Trail, names, err = e.trail(s, req.Data, m, owner, items); err != nil {
		return nil, err
	}
	c.Cells = append(c.Cells, names...)
	body, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	cell, err := e.cell(store.CellAbout, body)
	if err != nil {
		return nil, err
	}
	c.Cells = append(c.Cells, cell)
	c.Head = store.Head{
		ID: s.ID, Format: s.Format, Model: s.Model, Encoding: m.meter.counter.Encoding(), About: cell.ID,
		Messages: m.begin.messages + len(s.Messages), Blocks: m.begin.blocks + len(m.blocks) - m.now, Tokens: m.tokens, Window: m.window,
		Bytes: m.begin.trail.From + int64(len(req.Data)), Created: created, Updated: e.now(),
	}
	if old != nil && !m.resets {
		c.Head.Summary = old.head.Summary
	}
	data := imported{
		Bytes: int(c.Head.Bytes), Messages: c.Head.Messages, Blocks: c.Head.Blocks, Earlier: m.begin.trail.Earlier + m.now, Added: m.added,
		Off: len(m.off), Tokens: m.tokens, Warnings: m.begin.trail.Warnings + len(s.Warnings), Reset: m.resets, Rewind: req.Rewind && m.shorter, Back: m.revived,
	}
	if len(m.cooled) > 0 {
		data.Compacted = &compacted{Actor: clientOf(s), Rule: byClient, Windows: len(s.Earlier), Blocks: m.cooled}
	}
	c.Entry, err = e.entry(scope, s.ID, at, "import", data)
	return c, err
}

// clientOf names the program that wrote a session, as an actor.
func clientOf(s *transcript.Session) governance.Actor { return governance.Actor("client:" + s.Format) }

// pack joins the items of a session to the pieces of its input that become
// cells: each item of a message is one, and so is each run of others. It
// returns the piece that each item is in.
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
