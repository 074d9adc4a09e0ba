package carrel

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Follow stores what is new in a file, exactly as an [Engine.Import] of the whole file
// would, and with the same errors. Of a file that has only grown at its end it reads a
// piece of its beginning, its last block as it was stored and what is behind that: so
// the cost does not grow with the file. It reads all of a file that is not known, goes
// back to an older message, was compacted, or has a last line that has not ended; and of
// one whose first bytes or last block are not as they were. What was rewritten in between
// without a change of length is noticed by the next import of all of it.
//
// Where it read no more than the end, the result lists the branches of that alone.
func (e *Engine) Follow(ctx context.Context, scope governance.Scope, req *FollowRequest) (_ *ImportResult, err error) {
	defer during("follow "+req.Name, &err)

	if req.File == nil || req.Size < 0 {
		return nil, fmt.Errorf("%w: there is no file, or its size is below 0", ErrRequest)
	}
	var res *ImportResult
	err = retry(ctx, func() error {
		res, err = e.continueFile(ctx, scope, req)
		return err
	})
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	// Whatever went wrong, an import of the whole file works, or returns the error that counts.
	data, err := io.ReadAll(io.NewSectionReader(req.File, 0, req.Size))
	if err != nil {
		return nil, err
	}
	return e.Import(ctx, scope, &ImportRequest{Name: req.Name, Format: req.Format, Data: data})
}

// errWhole means that what is new in a file cannot be known from its end.
var errWhole = errors.New("the whole file has to be read")

// A continuer is a format whose files grow at their end.
type continuer interface {
	transcript.Format

	// Continue decodes the end of a file, or returns nil, see [claudecode.Format.Continue].
	Continue(name string, end []byte, known func(id string) bool) *transcript.Session

	// Names returns the ids that items bring, and those that they mention.
	Names(items []transcript.Item) (brought, mentioned []string)
}

const (
	// trailRules is the version of the rules by which the formats read files. It grows
	// when one of them reads a file otherwise than before: then all of it is read anew.
	trailRules = 1

	// headBytes is how much of the beginning of a file is compared.
	headBytes = 4 << 10
)

// A trail is how far a file was read. It is in the about cell of the session, which each
// import writes anew, and is erased with that. The end of the file begins with the last
// block of the conversation.
type trail struct {
	Rules    int                `json:"rules"`
	Size     int64              `json:"size"` // bytes that were read
	From     int64              `json:"from"` // where the end begins
	HeadSize int                `json:"head_size"`
	Head     digest.Digest      `json:"head"`   // of the first HeadSize bytes
	End      digest.Digest      `json:"end"`    // of the bytes between From and Size
	Pieces   int                `json:"pieces"` // items of the store that are before the end
	Cells    []store.CellID     `json:"cells"`  // the items of the end
	Block    transcript.BlockID `json:"block"`  // the block of the end
	Earlier  int                `json:"earlier,omitempty"`
	Warnings int                `json:"warnings,omitempty"`
	Names    []store.CellID     `json:"names"` // what has the ids of all rows, the largest first
}

// A beginning is what is known of a file before its end. The zero value is that of a file
// that is read as a whole.
type beginning struct {
	trail    trail
	names    []nameSet       // of trail.Names
	end      map[string]bool // ids that the end brought when it was read
	messages int
	blocks   int
}

// known reports whether a row of the beginning has an id. It may be wrong with a yes.
func (b *beginning) known(id string) bool {
	return !b.end[id] && slices.ContainsFunc(b.names, func(s nameSet) bool { return s.has(id) })
}

// A nameSet is the hashes of ids, in order.
type nameSet []uint32

func nameHash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id)) // a hash takes everything
	return h.Sum32()
}

func (s nameSet) has(id string) bool {
	_, ok := slices.BinarySearch(s, nameHash(id))
	return ok
}

func (s nameSet) body() []byte {
	b := make([]byte, 0, 4*len(s))
	for _, n := range s {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

func readNameSet(body []byte) nameSet {
	s := make(nameSet, 0, len(body)/4)
	for ; len(body) >= 4; body = body[4:] {
		s = append(s, binary.BigEndian.Uint32(body))
	}
	return s
}

// continueFile stores what is new in a file, or returns an [errWhole].
func (e *Engine) continueFile(ctx context.Context, scope governance.Scope, req *FollowRequest) (*ImportResult, error) {
	f, err := FormatNamed(req.Format)
	if err != nil {
		return nil, err
	}
	format, ok := f.(continuer)
	if !ok {
		return nil, errWhole
	}
	name := filepath.Base(req.Name)
	head, err := e.head(ctx, scope, transcript.SessionID(strings.TrimSuffix(name, filepath.Ext(name))))
	if err != nil {
		return nil, err
	}
	about, err := e.about(ctx, scope, head)
	if err != nil {
		return nil, err
	}
	t := about.Trail
	if t == nil || t.Rules != trailRules || head.Format != f.Name() || head.Bytes != t.Size || about.Title == "" {
		return nil, errWhole
	}
	end, err := t.read(req.File, req.Size)
	if err != nil {
		return nil, err
	}
	if req.Size == t.Size {
		return &ImportResult{
			Session: head.ID, Format: head.Format, Title: about.Title, Model: head.Model, Encoding: head.Encoding,
			Messages: head.Messages, Blocks: head.Blocks, Earlier: t.Earlier, Tokens: head.Tokens, Bytes: int(t.Size),
		}, nil
	}
	old, err := e.holdEnd(ctx, scope, format, head, t, end[:t.Size-t.From])
	if err != nil {
		return nil, err
	}
	s := format.Continue(string(head.ID), end, old.begin.known)
	if s == nil || s.ID != head.ID {
		return nil, errWhole
	}
	if err := e.unheardOf(ctx, scope, s); err != nil {
		return nil, err
	}
	s.Title, s.Model = about.Title, cmp.Or(s.Model, head.Model)
	return e.importOver(ctx, scope, &ImportRequest{Name: req.Name, Data: end}, s, old)
}

// read returns the end of a file of a size, and what is behind it, if the file is the one
// that was read and has not become shorter.
func (t *trail) read(file io.ReaderAt, size int64) ([]byte, error) {
	if t.From > t.Size || t.Size > size {
		return nil, errWhole
	}
	head, err := io.ReadAll(io.NewSectionReader(file, 0, int64(t.HeadSize)))
	if err != nil {
		return nil, err
	}
	if digest.Of(head) != t.Head {
		return nil, errWhole
	}
	end, err := io.ReadAll(io.NewSectionReader(file, t.From, size-t.From))
	if err != nil {
		return nil, err
	}
	if int64(len(end)) != size-t.From || digest.Of(end[:t.Size-t.From]) != t.End {
		return nil, errWhole
	}
	return end, nil
}

// holdEnd returns of a session what its file ends with.
func (e *Engine) holdEnd(ctx context.Context, scope governance.Scope, f continuer, head *store.Head, t *trail, end []byte) (*held, error) {
	s := f.Continue(string(head.ID), end, func(string) bool { return false })
	if s == nil {
		return nil, errWhole
	}
	blocks, _ := s.Blocks()
	pieces, owner := pack(s, end)
	row, err := e.store.Block(ctx, scope, store.Ref{Session: head.ID, Block: t.Block})
	if err != nil {
		return nil, err
	}
	if len(blocks) != 1 || len(pieces) != len(t.Cells) || row.Off || row.State != store.StateLive || row.Form != string(pager.Whole) {
		return nil, errWhole
	}
	ofItem := make([]store.CellID, len(owner))
	for item, piece := range owner {
		ofItem[item] = t.Cells[piece]
	}
	if !slices.Equal(cellsOf(s.Messages, &blocks[0], ofItem), row.Cells) {
		return nil, errWhole
	}
	blocks[0].ID = row.ID
	begin := &beginning{trail: *t, end: make(map[string]bool), messages: head.Messages - len(s.Messages), blocks: head.Blocks - 1}
	brought, _ := f.Names(s.Items)
	for _, id := range brought {
		begin.end[id] = true
	}
	bodies, err := e.bodies(ctx, scope, t.Names)
	if err != nil {
		return nil, err
	}
	for _, body := range bodies {
		begin.names = append(begin.names, readNameSet(body))
	}
	return &held{head: head, session: s, blocks: blocks, rows: []store.Block{*row}, items: t.Cells, bodies: pieces, begin: begin}, nil
}

// mostAlike is how many blocks of a scope may have ids that begin as that of a new block.
const mostAlike = 16

// unheardOf returns an error unless the ids of the blocks behind the first are as they
// would be if all blocks of the session were named: none begins as one that is known.
func (e *Engine) unheardOf(ctx context.Context, scope governance.Scope, s *transcript.Session) error {
	blocks, _ := s.Blocks()
	for i := 1; i < len(blocks); i++ {
		refs, err := e.store.Find(ctx, scope, blocks[i].ID.Short(), mostAlike)
		if err != nil {
			return err
		}
		if len(refs) == mostAlike || slices.ContainsFunc(refs, func(r store.Ref) bool { return r.Session == s.ID }) {
			return errWhole
		}
	}
	return nil
}

// trail returns how far a file was read, with the cells that it needs, or nil if the file
// must be read as a whole when it has grown.
func (e *Engine) trail(s *transcript.Session, input []byte, m *merge, owner []int, items []store.CellID) (*trail, []store.Cell, error) {
	f, err := FormatNamed(s.Format)
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
	brought, mentioned := format.Names(s.Items[:first])
	before := make(map[string]bool, len(brought))
	for _, id := range slices.Concat(brought, mentioned) {
		before[id] = true
	}
	end := format.Continue(string(s.ID), input[from:], func(id string) bool { return before[id] || m.begin.known(id) })
	if end == nil || end.ID != s.ID {
		return nil, nil, nil
	}
	if blocks, _ := end.Blocks(); len(blocks) != 1 || len(blocks[0].Messages) != len(last.Messages) {
		return nil, nil, nil
	}
	brought, mentioned = format.Names(s.Items[first:])
	for _, id := range slices.Concat(brought, mentioned) {
		before[id] = true
	}
	b := &m.begin
	t := &trail{
		Rules: trailRules, Size: b.trail.From + int64(len(input)), From: b.trail.From + int64(from),
		HeadSize: b.trail.HeadSize, Head: b.trail.Head, End: digest.Of(input[from:]),
		Pieces: b.trail.Pieces + owner[first], Cells: items[owner[first]:], Block: m.rows[len(m.rows)-1].ID,
		Earlier: b.trail.Earlier + m.now, Warnings: b.trail.Warnings + len(s.Warnings),
	}
	if b.trail.Size == 0 {
		t.HeadSize = min(headBytes, len(input))
		t.Head = digest.Of(input[:t.HeadSize])
	}
	cells, err := e.keepNames(t, b, before)
	return t, cells, err
}

// keepNames adds ids to those that a trail has. Small sets are joined, so that there are
// few of them and that none is written again but when there are as many new ones.
func (e *Engine) keepNames(t *trail, b *beginning, ids map[string]bool) ([]store.Cell, error) {
	var fresh nameSet
	for id := range ids {
		if !slices.ContainsFunc(b.names, func(s nameSet) bool { return s.has(id) }) {
			fresh = append(fresh, nameHash(id))
		}
	}
	t.Names = b.trail.Names
	if len(fresh) == 0 {
		return nil, nil
	}
	n := len(b.names)
	for ; n > 0 && len(b.names[n-1]) <= 2*len(fresh); n-- {
		fresh = append(fresh, b.names[n-1]...)
	}
	slices.Sort(fresh)
	cell, err := e.cell(store.CellNames, slices.Compact(fresh).body())
	t.Names = append(slices.Clone(t.Names[:n]), cell.ID)
	return []store.Cell{cell}, err
}
