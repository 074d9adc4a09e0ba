package move

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Fingerprint returns a digest of the contents of a scope: sessions with their
// blocks, journals and contracts, artifacts with the cells derived from them,
// manifests, the log, and calls, in their documented orders. Two stores, or one
// store at two times, have the same fingerprint if a reader cannot tell them apart.
// The fingerprint does not cover the indexes of words.
//
// Text is represented by its commitment, whose salt is random, so that a text
// cannot be guessed from a fingerprint. Fingerprint reads in several transactions,
// so there must be no concurrent writes.
func Fingerprint(ctx context.Context, s store.Store, scope governance.Scope) (digest.Digest, error) {
	f := &fingerprint{ctx: ctx, s: s, scope: scope, hash: sha256.New(), cells: make(map[store.CellID]bool)}
	f.text("carrel scope 1")
	for _, part := range []func() error{f.sessions, f.artifacts, f.manifests, f.log, f.calls, f.lineage} {
		if err := part(); err != nil {
			return digest.Digest{}, err
		}
	}
	return digest.Digest(f.hash.Sum(nil)), nil
}

// A fingerprint holds what [Fingerprint] needs while it computes: the store, the hash, and the
// cells that it has come across.
type fingerprint struct {
	ctx   context.Context
	s     store.Store
	scope governance.Scope
	hash  hash.Hash
	cells map[store.CellID]bool // cells that a record refers to
}

// text adds texts to the hash, each after its length, so that their boundaries count.
func (f *fingerprint) text(texts ...string) {
	for _, text := range texts {
		f.number(int64(len(text)))
		f.hash.Write([]byte(text)) // never fails
	}
}

// number adds numbers to the hash.
func (f *fingerprint) number(numbers ...int64) {
	for _, n := range numbers {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n)) //nolint:gosec // only the bits matter
		f.hash.Write(b[:])
	}
}

// flag adds booleans to the hash.
func (f *fingerprint) flag(flags ...bool) {
	for _, yes := range flags {
		n := int64(0)
		if yes {
			n = 1
		}
		f.number(n)
	}
}

// time adds times to the hash.
func (f *fingerprint) time(times ...time.Time) {
	for _, t := range times {
		f.number(t.UnixMilli())
	}
}

// document adds a JSON document, which may be nil.
func (f *fingerprint) document(data []byte) {
	f.flag(data != nil)
	f.text(string(data))
}

// refer adds the ids of cells to the hash and to f.cells. Later [fingerprint.lineage] adds the
// cells in f.cells to the hash.
func (f *fingerprint) refer(ids ...store.CellID) {
	f.number(int64(len(ids)))
	for _, id := range ids {
		f.text(string(id))
		if id != "" {
			f.cells[id] = true
		}
	}
}

func (f *fingerprint) entry(e *store.Entry) {
	f.number(int64(e.Revision))
	f.text(e.ID, e.Op, string(e.Actor))
	f.time(e.Time)
	f.document(e.Data)
}

func (f *fingerprint) sessions() error {
	for h, err := range f.s.Heads(f.ctx, f.scope) {
		if err != nil {
			return err
		}
		f.text("session", string(h.ID), string(h.Status), h.Format, h.Model, h.Encoding)
		f.number(int64(h.Revision), int64(h.Messages), int64(h.Blocks), int64(h.Tokens), int64(h.Window), h.Bytes)
		f.time(h.Created, h.Updated)
		f.refer(h.About, h.Summary)
		if err := f.session(h); err != nil {
			return err
		}
	}
	return nil
}

// session adds the items, blocks, journal, contract and rewrites of a session.
func (f *fingerprint) session(h *store.Head) error {
	items, err := f.s.Items(f.ctx, f.scope, h.ID)
	if err != nil {
		return err
	}
	f.refer(items...)
	for b, err := range f.s.Blocks(f.ctx, f.scope, h.ID) {
		if err != nil {
			return err
		}
		f.text("block", string(b.ID), string(b.Kind), string(b.State), b.Form)
		f.number(int64(b.Turn), int64(b.Earlier), int64(b.Tokens), int64(b.Window), int64(len(b.Tools)))
		f.text(b.Tools...)
		f.flag(b.Pinned, b.Off)
		f.refer(b.Stub)
		f.refer(b.Cells...)
	}
	for e, err := range f.s.Entries(f.ctx, f.scope, h.ID, 0) {
		if err != nil {
			return err
		}
		f.text("entry")
		f.entry(e)
	}
	for line, err := range f.s.Statements(f.ctx, f.scope, h.ID) {
		if err != nil {
			return err
		}
		f.text("statement", line)
	}
	for r, err := range f.s.Rewrites(f.ctx, f.scope, h.ID) {
		if err != nil {
			return err
		}
		f.text("rewrite", r.Chain.String(), string(r.Kind))
		f.number(int64(r.Epoch), int64(r.Messages))
		f.refer(r.Cell)
	}
	return nil
}

func (f *fingerprint) artifacts() error {
	version, err := f.s.Version(f.ctx, f.scope)
	if err != nil {
		return err
	}
	f.number(int64(version))
	for a, err := range f.s.Artifacts(f.ctx, f.scope, 0) {
		if err != nil {
			return err
		}
		f.text("artifact", string(a.ID), string(a.Class), string(a.Status), a.Encoding, a.Source, a.Address)
		f.number(a.Seq, int64(a.Version), a.Bytes, int64(a.Tokens))
		f.flag(a.Pinned)
		f.time(a.Created, a.Updated, a.Expires)
		f.document(a.Gate)
		f.refer(a.Content, a.About)
	}
	return nil
}

func (f *fingerprint) manifests() error {
	for short, err := range f.s.Manifests(f.ctx, f.scope, "") {
		if err != nil {
			return err
		}
		m, err := f.s.Manifest(f.ctx, f.scope, short.ID)
		if err != nil {
			return err
		}
		f.text("manifest", m.ID, string(m.Session), m.Format, string(m.Tier), m.Seal.String(), string(m.Body))
		f.number(int64(m.Version), int64(m.Budget), int64(m.Total), int64(len(m.Uses)))
		f.time(m.Created)
		for _, id := range m.Uses {
			f.text(string(id))
		}
		for i := range m.Made {
			o := &m.Made[i]
			f.text("outcome", string(o.Actor))
			f.number(int64(o.Version))
			f.time(o.Time)
			f.document(o.Data)
		}
	}
	return nil
}

func (f *fingerprint) log() error {
	for e, err := range f.s.Log(f.ctx, f.scope, 0) {
		if err != nil {
			return err
		}
		f.text("log")
		f.entry(e)
	}
	return nil
}

func (f *fingerprint) calls() error {
	for c, err := range f.s.Calls(f.ctx, f.scope, store.CallFilter{}) {
		if err != nil {
			return err
		}
		f.text("call", c.ID, string(c.Session), string(c.State))
		f.number(c.Seq)
		f.time(c.Begun, c.Ended)
		f.document(c.Intent)
		f.document(c.Outcome)
	}
	return nil
}

// lineage adds cells to the hash: those in f.cells, to which records refer, and all that were
// derived from these. It first adds the commitment of each cell, and then the edges from each cell
// to its sources. The order is that of the ids of the cells.
func (f *fingerprint) lineage() error {
	ids := slices.Sorted(maps.Keys(f.cells))
	derived, err := f.s.Derived(f.ctx, f.scope, ids)
	if err != nil {
		return err
	}
	ids = append(ids, derived...)
	slices.Sort(ids)
	err = cellsOf(f.ctx, f.s, f.scope, ids, func(c *store.Cell) error {
		f.cell(c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		edges, err := f.s.Sources(f.ctx, f.scope, id)
		if err != nil {
			return err
		}
		f.edges(edges)
	}
	return nil
}

// cell adds a cell by its commitment.
func (f *fingerprint) cell(c *store.Cell) {
	f.text("cell", string(c.ID), string(c.Kind), c.Commit.String())
	f.flag(c.Gone)
}

func (f *fingerprint) edges(edges []store.Edge) {
	for _, e := range edges {
		f.text("edge", string(e.Derived), string(e.Source), e.Rel)
	}
}

// cellsOf passes each of the cells with the given ids to the function do, also purged cells.
func cellsOf(ctx context.Context, s store.Store, scope governance.Scope, ids []store.CellID, do func(c *store.Cell) error) error {
	for next := 0; next < len(ids); {
		for c, err := range s.Cells(ctx, scope, ids[next:]) {
			if gone, ok := errors.AsType[*store.GoneError](err); ok {
				c, err = &store.Cell{ID: gone.Cell, Kind: gone.Kind, Commit: gone.Commit, Gone: true}, nil
			}
			if err == nil {
				err = do(c)
			}
			if err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

// indexed adds the cells that each session has brought, and the words of its blocks.
func (f *fingerprint) indexed(s store.Database) error {
	heads, err := collect(s.Heads(f.ctx, f.scope))
	if err != nil {
		return err
	}
	for some := range inBatches(heads, func(h *store.Head) int { return h.Blocks }) {
		var ids []transcript.SessionID
		for _, h := range some {
			ids = append(ids, h.ID)
		}
		words, err := s.BlockWords(f.ctx, f.scope, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			brought, err := s.Brought(f.ctx, f.scope, id)
			if err != nil {
				return err
			}
			f.text("brought", string(id))
			f.refer(brought...)
			entries := words[id]
			slices.SortFunc(entries, func(a, b store.IndexEntry) int { return cmp.Compare(a.Block, b.Block) })
			for _, e := range entries {
				f.text("words", string(e.Block))
				for _, word := range slices.Sorted(maps.Keys(e.Words)) {
					f.text(word)
					f.number(int64(e.Words[word]))
				}
			}
		}
	}
	return nil
}

// inBatches divides the list all into consecutive parts and yields them. The function blocks
// returns how many blocks an element has. The elements of a part have at most blocksAtOnce blocks in
// total; an element with more is a part by itself.
func inBatches[T any](all []T, blocks func(T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		from, size := 0, 0
		for i, v := range all {
			if size += blocks(v) + 1; size > blocksAtOnce && i > from {
				if !yield(all[from:i]) {
					return
				}
				from, size = i, blocks(v)+1
			}
		}
		if from < len(all) {
			yield(all[from:])
		}
	}
}
