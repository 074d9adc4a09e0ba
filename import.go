package carrel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ImportRequest is a file with a conversation.
type ImportRequest struct {
	Name   string `json:"name,omitempty"`   // of the file; goes into errors
	Format string `json:"format,omitempty"` // "" or "auto" finds out
	Data   []byte `json:"data"`             // must not be changed afterwards
	DryRun bool   `json:"dry_run,omitempty"`

	title string // in place of what the conversation gives
}

// An ImportResult says what was imported.
type ImportResult struct {
	Session  transcript.SessionID `json:"session"`
	Format   string               `json:"format"`
	Title    string               `json:"title,omitempty"`
	Model    string               `json:"model,omitempty"`
	Encoding string               `json:"encoding"`
	Messages int                  `json:"messages"`
	Blocks   int                  `json:"blocks"`
	Tokens   token.Count          `json:"tokens"`
	Bytes    int                  `json:"bytes"`
	Added    int                  `json:"added"`   // blocks that were not known
	Changed  bool                 `json:"changed"` // something was written, or would be
	Branches []transcript.Branch  `json:"branches,omitempty"`
	Warnings []transcript.Warning `json:"warnings,omitempty"`
	Op       string               `json:"op,omitempty"`
}

// imported is what the journal keeps of an import.
type imported struct {
	Bytes    int         `json:"bytes"`
	Messages int         `json:"messages"`
	Blocks   int         `json:"blocks"`
	Added    int         `json:"added"`
	Off      int         `json:"off"`
	Tokens   token.Count `json:"tokens"`
	Warnings int         `json:"warnings"`
	Reset    bool        `json:"reset,omitempty"` // blocks that a summary stood for came back
}

// Import stores a conversation, or what is new in one that is stored already.
// Blocks that are the same as before keep their ids and their places in the
// window; blocks that are no longer in the conversation stay recallable.
// Importing the same bytes again changes nothing.
//
// It fails with a [*transcript.SyntaxError] or an [ErrFormat] if the file
// cannot be read, and then nothing is stored.
func (e *Engine) Import(ctx context.Context, scope governance.Scope, req *ImportRequest) (_ *ImportResult, err error) {
	defer during("import "+req.Name, &err)

	f, err := pick(req.Format, req.Data)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	s.Title = cmp.Or(req.title, s.Title)
	var res *ImportResult
	err = retry(ctx, func() error {
		res, err = e.importSession(ctx, scope, req, s)
		return err
	})
	return res, err
}

func (e *Engine) importSession(ctx context.Context, scope governance.Scope, req *ImportRequest, s *transcript.Session) (*ImportResult, error) {
	old, err := e.load(ctx, scope, s.ID)
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
	if old != nil && bytes.Equal(old.session.Bytes(), req.Data) {
		res.Encoding, res.Tokens, res.Blocks = old.head.Encoding, old.head.Tokens, len(old.rows)
		return res, nil
	}
	m, err := e.merge(ctx, s, old)
	if err != nil {
		return nil, err
	}
	res.Encoding, res.Tokens, res.Blocks, res.Added = m.meter.counter.Encoding(), m.tokens, len(m.blocks), m.added
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

// A merge is a session matched with what is stored of it.
type merge struct {
	meter  meter
	blocks []transcript.Block
	rows   []store.Block // one for each block; new ones have no cells yet
	fresh  []bool        // the row is new, or its bytes are
	off    []store.Block // stored blocks that are no longer in the conversation
	tokens token.Count
	window token.Count
	added  int
	resets bool // the summary is of blocks that are no longer there
}

// merge matches the blocks of a session with those stored: a block with the
// same bytes at the same place is the same, and one that only grew is, too.
func (e *Engine) merge(ctx context.Context, s *transcript.Session, old *held) (*merge, error) {
	m := &merge{blocks: transcript.Group(s.ID, 0, s.Messages)}
	encoding := ""
	if old != nil {
		encoding = old.head.Encoding
	}
	var err error
	if m.meter, err = e.meterFor(s, encoding); err != nil {
		return nil, err
	}
	m.rows = make([]store.Block, len(m.blocks))
	m.fresh = make([]bool, len(m.blocks))
	used := make(map[transcript.BlockID]bool)
	same := 0
	if old != nil {
		for _, b := range old.off {
			used[b.ID] = true
		}
		for i := range old.rows {
			used[old.rows[i].ID] = true
		}
		for same < min(len(m.blocks), len(old.blocks)) {
			was := old.session.RawBlock(&old.blocks[same])
			is := s.RawBlock(&m.blocks[same])
			grew := len(is) > len(was) && bytes.HasPrefix(is, was) && old.rows[same].Form == string(pager.Whole)
			if !bytes.Equal(was, is) && !grew {
				break
			}
			m.rows[same], m.fresh[same] = old.rows[same], grew
			m.blocks[same].ID = old.rows[same].ID
			same++
		}
		m.off = append(m.off, old.rows[same:]...)
		for i := range m.off {
			m.off[i].Off = true
		}
	}
	var count []int // blocks to count
	for i := range m.blocks {
		b := &m.blocks[i]
		if i >= same {
			m.fresh[i] = true
			m.added++
			for try := 0; used[b.ID]; try++ {
				b.ID = transcript.NewBlockID(s.ID, int(old.head.Revision), b.Turn, s.Messages[b.Messages[0]].ID, try)
			}
			m.rows[i] = store.Block{ID: b.ID, Turn: b.Turn, Kind: b.Kind, State: store.StateLive, Form: string(pager.Whole)}
		}
		if m.fresh[i] {
			count = append(count, i)
		}
	}
	todo := make([]transcript.Block, len(count))
	for k, i := range count {
		todo[k] = m.blocks[i]
	}
	for k, n := range e.countBlocks(ctx, m.meter, s.Messages, todo) {
		r := &m.rows[count[k]]
		r.Tokens, r.Window = n, n
		r.Tools = toolNames(s.Messages, &m.blocks[count[k]])
	}
	m.window = m.meter.fixed(s)
	if old != nil && old.summary != nil {
		if m.resets = same < old.summary.Covers; m.resets {
			m.reset(same)
		} else {
			m.window += old.summary.Tokens
		}
	}
	for i := range m.rows {
		m.tokens += m.rows[i].Tokens
		m.window += m.rows[i].Window
	}
	return m, nil
}

// reset brings the first blocks back as they came in: what stood for them speaks
// of others, too, that are no longer in the conversation.
func (m *merge) reset(blocks int) {
	for i := range blocks {
		r := &m.rows[i]
		r.State, r.Form, r.Stub, r.Window = store.StateLive, string(pager.Whole), "", r.Tokens
	}
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
	for i := range m.blocks {
		r := &m.rows[i]
		var cells []store.CellID
		moved := m.fresh[i] || m.resets
		for _, k := range m.blocks[i].Messages {
			for _, item := range s.Messages[k].Items {
				cells = append(cells, items[owner[item]])
				moved = moved || owner[item] >= c.ItemsFrom
			}
		}
		r.Cells = cells
		if moved {
			c.Blocks = append(c.Blocks, *r)
		}
		if m.fresh[i] {
			c.Index = append(c.Index, store.IndexEntry{Block: r.ID, Text: m.blocks[i].Text(s.Messages)})
		}
	}
	c.Blocks = append(c.Blocks, m.off...)

	what := about{Title: s.Title, Project: s.Project, Name: filepath.Base(req.Name)}
	if old != nil {
		was, err := e.about(ctx, scope, old.head)
		if err != nil {
			return nil, err
		}
		what.Critical = was.Critical
	}
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
		Messages: len(s.Messages), Blocks: len(m.blocks), Tokens: m.tokens, Window: m.window,
		Bytes: int64(len(req.Data)), Created: created, Updated: e.now(),
	}
	if old != nil && !m.resets {
		c.Head.Summary = old.head.Summary
	}
	c.Entry, err = e.entry(scope, s.ID, at, "import", imported{
		Bytes: len(req.Data), Messages: len(s.Messages), Blocks: len(m.blocks), Added: m.added,
		Off: len(m.off), Tokens: m.tokens, Warnings: len(s.Warnings), Reset: m.resets,
	})
	return c, err
}

// pack joins the items of a session to the pieces of its input that become
// cells: each item of a message is one, and so is each run of others. It
// returns the piece that each item is in.
func pack(s *transcript.Session, input []byte) (pieces [][]byte, owner []int) {
	ofMessage := make([]bool, len(s.Items))
	for i := range s.Messages {
		for _, item := range s.Messages[i].Items {
			ofMessage[item] = true
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
