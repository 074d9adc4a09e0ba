package sessions

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Follow stores the new part of a file, with the same effect and errors as carrel.Engine.Import of
// the whole file. If it reads only the end, the branches, warnings and logged calls in the result
// are only those of the end; if the file did not change, the result has none.
func (e *Sessions) Follow(ctx context.Context, scope governance.Scope, req *api.FollowRequest) (_ *api.ImportResult, err error) {
	defer base.During("follow "+req.Name, &err)

	if req.File == nil || req.Size < 0 {
		return nil, fmt.Errorf("%w: no file is given, or its size is below 0", api.ErrRequest)
	}
	res, err := base.Retry(ctx, func() (*api.ImportResult, error) { return e.continueFile(ctx, scope, req) })
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	// The import of the whole file works whatever went wrong above, or returns the error that
	// matters.
	data, err := io.ReadAll(io.NewSectionReader(req.File, 0, req.Size))
	if err != nil {
		return nil, err
	}
	return e.Import(ctx, scope, &api.ImportRequest{Name: req.Name, Format: req.Format, Data: data})
}

// A continuer is a format whose files grow at the end.
type continuer interface {
	transcript.Format

	// Continue decodes the end of a file, or returns nil, see [claudecode.Format.Continue].
	Continue(name string, end []byte, known func(id string) bool) *transcript.Session

	// SessionOf returns the session of the file with a name, or "" if the name does not tell.
	SessionOf(name string) transcript.SessionID
}

const (
	// trailRules is the version of the rules by which the formats read files. It is raised when a
	// format changes how it reads; then files are read whole again.
	trailRules = 2

	// headBytes is how many bytes at the start of a file are compared to find out whether it is the
	// same file as before.
	headBytes = 4 << 10
)

func readNameSet(body []byte) hold.NameSet {
	s := make(hold.NameSet, 0, len(body)/4)
	for ; len(body) >= 4; body = body[4:] {
		s = append(s, binary.BigEndian.Uint32(body))
	}
	return s
}

// continueFile stores the new part of a file, or returns [hold.ErrReadWhole].
func (e *Sessions) continueFile(ctx context.Context, scope governance.Scope, req *api.FollowRequest) (*api.ImportResult, error) {
	f, err := hold.FormatNamed(req.Format)
	if err != nil {
		return nil, err
	}
	format, ok := f.(continuer)
	if !ok {
		return nil, hold.ErrReadWhole
	}
	id := format.SessionOf(filepath.Base(req.Name))
	if id == "" {
		return nil, hold.ErrReadWhole
	}
	head, err := e.Head(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	about, err := e.About(ctx, scope, head)
	if err != nil {
		return nil, err
	}
	t := about.Trail
	if t == nil || t.Rules != trailRules || head.Format != f.Name() || head.Bytes != t.Size || about.Title == "" {
		return nil, hold.ErrReadWhole
	}
	end, err := t.Read(req.File, req.Size)
	if err != nil {
		return nil, err
	}
	if req.Size == t.Size {
		return &api.ImportResult{
			Session: head.ID, Format: head.Format, Title: about.Title, Model: head.Model, Encoding: head.Encoding,
			Messages: head.Messages, Blocks: head.Blocks, Earlier: t.Earlier, Tokens: head.Tokens, Bytes: int(t.Size),
		}, nil
	}
	old, err := e.holdEnd(ctx, scope, format, head, t, end[:t.Size-t.From])
	if err != nil {
		return nil, err
	}
	s := format.Continue(string(head.ID), end, old.Prefix.Known)
	if s == nil || s.ID != head.ID {
		return nil, hold.ErrReadWhole
	}
	if err := e.checkNewIDs(ctx, scope, s); err != nil {
		return nil, err
	}
	s.Title, s.Model, s.Project = about.Title, cmp.Or(s.Model, head.Model), cmp.Or(s.Project, about.Project)
	return e.importOver(ctx, scope, &api.ImportRequest{Name: req.Name, Data: end}, s, old)
}

// holdEnd returns a snapshot of the part of a session that is in the end of its file.
func (e *Sessions) holdEnd(ctx context.Context, scope governance.Scope, f continuer, head *store.Head, t *hold.FileProgress, end []byte) (*hold.Snapshot, error) {
	s := f.Continue(string(head.ID), end, func(string) bool { return false })
	if s == nil {
		return nil, hold.ErrReadWhole
	}
	blocks, _ := s.Blocks()
	pieces, owner := pack(s, end)
	row, err := e.Store.Block(ctx, scope, store.BlockRef{Session: head.ID, Block: t.Block})
	if err != nil {
		return nil, err
	}
	if len(blocks) != 1 || len(pieces) != len(t.Cells) || row.Off || row.State != store.StateLive || row.Form != string(pager.Whole) {
		return nil, hold.ErrReadWhole
	}
	ofItem := make([]store.CellID, len(owner))
	for item, piece := range owner {
		ofItem[item] = t.Cells[piece]
	}
	if !slices.Equal(hold.CellsOf(s.Messages, &blocks[0], ofItem), row.Cells) {
		return nil, hold.ErrReadWhole
	}
	blocks[0].ID = row.ID
	begin := &hold.FilePrefix{Trail: *t, End: make(map[string]bool), Messages: head.Messages - len(s.Messages), Blocks: head.Blocks - 1}
	for i := range s.Items {
		for _, id := range s.Items[i].Brings {
			begin.End[id] = true
		}
	}
	bodies, err := e.Bodies(ctx, scope, t.Names)
	if err != nil {
		return nil, err
	}
	for _, body := range bodies {
		begin.Names = append(begin.Names, readNameSet(body))
	}
	return &hold.Snapshot{Head: head, Session: s, Blocks: blocks, Rows: []store.Block{*row}, Items: t.Cells, Bodies: pieces, Prefix: begin}, nil
}

// mostAlike is how many stored blocks with the same short id checkNewIDs reads at most. If the
// store has as many, checkNewIDs does not examine them, and the whole file is read.
const mostAlike = 16

// checkNewIDs returns [hold.ErrReadWhole] if a new block may have the same short id as a stored
// block of the session, because only an import of the whole file gives the new block the right id.
// The first block of s is not new.
func (e *Sessions) checkNewIDs(ctx context.Context, scope governance.Scope, s *transcript.Session) error {
	blocks, _ := s.Blocks()
	for i := 1; i < len(blocks); i++ {
		refs, err := e.Store.Find(ctx, scope, blocks[i].ID.Short(), mostAlike)
		if err != nil {
			return err
		}
		if len(refs) == mostAlike || slices.ContainsFunc(refs, func(r store.BlockRef) bool { return r.Session == s.ID }) {
			return hold.ErrReadWhole
		}
	}
	return nil
}

// trail returns how far a file was read, and the cells to store for that. It returns nil if the
// file must be read whole when it has grown.
func (e *Sessions) trail(s *transcript.Session, input []byte, m *merge, owner []int, items []store.CellID) (*hold.FileProgress, []store.Cell, error) {
	f, err := hold.FormatNamed(s.Format)
	if err != nil {
		return nil, nil, err
	}
	format, ok := f.(continuer)
	if !ok || len(m.blocks) == m.now {
		return nil, nil, nil
	}
	last := &m.blocks[len(m.blocks)-1]
	first := len(s.Items)
	for _, k := range last.Messages {
		first = min(first, slices.Min(m.msgs[k].Items))
	}
	from := 0
	for i := range first {
		from += len(s.Items[i].Raw)
	}
	before := make(map[string]bool, first)
	addNames(before, s.Items[:first])
	end := format.Continue(string(s.ID), input[from:], func(id string) bool { return before[id] || m.begin.Known(id) })
	if end == nil || end.ID != s.ID {
		return nil, nil, nil
	}
	if blocks, _ := end.Blocks(); len(blocks) != 1 || len(blocks[0].Messages) != len(last.Messages) {
		return nil, nil, nil
	}
	addNames(before, s.Items[first:])
	b := &m.begin
	t := &hold.FileProgress{
		Rules: trailRules, Size: b.Trail.From + int64(len(input)), From: b.Trail.From + int64(from),
		HeadSize: b.Trail.HeadSize, Head: b.Trail.Head, End: digest.Of(input[from:]),
		Pieces: b.Trail.Pieces + owner[first], Cells: items[owner[first]:], Block: m.rows[len(m.rows)-1].ID,
		Earlier: b.Trail.Earlier + m.now, Warnings: b.Trail.Warnings + len(s.Warnings),
	}
	if b.Trail.Size == 0 {
		t.HeadSize = min(headBytes, len(input))
		t.Head = digest.Of(input[:t.HeadSize])
	}
	cells, err := e.keepNames(t, b, before)
	return t, cells, err
}

// addNames adds the ids that items define or mention.
func addNames(to map[string]bool, items []transcript.Item) {
	for i := range items {
		for _, names := range [...][]string{items[i].Brings, items[i].Mentions} {
			for _, id := range names {
				to[id] = true
			}
		}
	}
}

// keepNames sets the sets of t to those of b with the ids added. It returns the cell of the new
// set, if there is one. It joins small sets of b with the new one, so that there are few sets. A
// large set is rewritten only after many ids have been added.
func (e *Sessions) keepNames(t *hold.FileProgress, b *hold.FilePrefix, ids map[string]bool) ([]store.Cell, error) {
	var fresh hold.NameSet
	for id := range ids {
		if !slices.ContainsFunc(b.Names, func(s hold.NameSet) bool { return s.Has(id) }) {
			fresh = append(fresh, hold.NameHash(id))
		}
	}
	t.Names = b.Trail.Names
	if len(fresh) == 0 {
		return nil, nil
	}
	n := len(b.Names)
	for ; n > 0 && len(b.Names[n-1]) <= 2*len(fresh); n-- {
		fresh = append(fresh, b.Names[n-1]...)
	}
	slices.Sort(fresh)
	cell, err := e.Cell(store.CellNames, slices.Compact(fresh).Body())
	t.Names = append(slices.Clone(t.Names[:n]), cell.ID)
	return []store.Cell{cell}, err
}
