// Package memory is a [store.Database] in memory. It is the reference
// implementation with which tests compare other drivers, and a store for tests.
//
// It implements the contract of package store in the simplest way: one lock, ordinary maps, and
// copies of all values that go in or come out. It also has the role [store.Requests]. Its content
// ends with the process, so its writes are not durable, and Backup fails with
// [errors.ErrUnsupported]. Results never depend on the order of a map.
//
// Errors are those of package store. A store is safe for concurrent use.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A database is a store in memory.
type database struct {
	mu     sync.RWMutex
	scopes map[governance.Scope]*space
	issued map[string]*store.Credential // by id

	requests map[requestKey]*store.Request
	jobs     map[jobKey]*job
}

// New returns an empty store.
func New() store.Database {
	return &database{scopes: make(map[governance.Scope]*space), issued: make(map[string]*store.Credential), requests: make(map[requestKey]*store.Request), jobs: make(map[jobKey]*job)}
}

// A space has all records of a scope.
type space struct {
	sessions map[transcript.SessionID]*session
	cells    map[store.CellID]*cell
	edges    map[store.Edge]bool
	entries  map[string]bool // ids of the entries of journals and of the log

	artifacts []store.Artifact          // the artifact with Seq n is at index n-1
	places    map[store.ArtifactID]int  // indexes in artifacts
	words     map[int64]map[string]bool // words of the index entry of each artifact, by Seq
	manifests []*store.Manifest         // oldest first
	log       []store.Entry             // one for each version
	numbers   int64                     // last number of a block in the index

	calls  []store.Call   // the call with Seq n is at index n-1
	callAt map[string]int // indexes in calls, by id
}

// A findable is the index entry of a block, with its number.
type findable struct {
	number int64
	words  map[string]uint32 // frequency of each word
}

// A cell is a stored cell. It is never changed, only replaced.
type cell struct {
	store.Cell
	gone bool // whether it was purged
}

type session struct {
	head       store.Head
	items      []store.CellID
	blocks     map[transcript.BlockID]*store.Block
	found      map[transcript.BlockID]findable
	journal    []store.Entry
	statements []string
	brought    []store.CellID // cells that its changes added
	rewrites   map[rewriteKey]store.Rewrite
}

// space returns the records of a scope. For a scope without records it returns a
// new empty space, which is not in s.scopes. The caller holds the lock.
func (s *database) space(scope governance.Scope) *space {
	if sp := s.scopes[scope]; sp != nil {
		return sp
	}
	return &space{
		sessions: make(map[transcript.SessionID]*session),
		cells:    make(map[store.CellID]*cell),
		edges:    make(map[store.Edge]bool),
		entries:  make(map[string]bool),
		places:   make(map[store.ArtifactID]int),
		words:    make(map[int64]map[string]bool),
		callAt:   make(map[string]int),
	}
}

// Apply implements [store.Sessions].
func (s *database) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := errors.Join(ctx.Err(), c.Validate()); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.space(scope)
	old := sp.sessions[id]
	if old == nil {
		old = new(session)
	}
	request, err := s.claim(ctx, scope)
	if err == nil {
		err = s.fence(ctx, scope)
	}
	if err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	if old.head.Revision != at {
		return 0, fmt.Errorf("session %s: not at revision %d: %w", id, at, store.ErrConflict)
	}
	if err := sp.admit(old, c); err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	sp.write(old, id, c)
	s.scopes[scope] = sp
	s.record(request)
	return at + 1, nil
}

// admitText returns an error if cells, edges or an entry cannot be added. It changes nothing. The
// returned function known fails with ErrNotFound at the first of the given ids that is neither
// stored nor the id of a new cell; its argument what names the record that refers to the ids.
func (sp *space) admitText(cells []store.Cell, edges []store.Edge, entry string) (known func(what string, ids ...store.CellID) error, err error) {
	if sp.entries[entry] {
		return nil, fmt.Errorf("entry %s already exists", entry)
	}
	added := make(map[store.CellID]bool, len(cells))
	for i := range cells {
		id := cells[i].ID
		if sp.cells[id] != nil {
			return nil, fmt.Errorf("cell %s already exists", id)
		}
		added[id] = true
	}
	known = func(what string, ids ...store.CellID) error {
		for _, id := range ids {
			if !added[id] && sp.cells[id] == nil {
				return fmt.Errorf("%s: cell %s: %w", what, id, store.ErrNotFound)
			}
		}
		return nil
	}
	seen := make(map[store.Edge]bool, len(edges))
	for _, e := range edges {
		if err := known("edge", e.Derived, e.Source); err != nil {
			return nil, err
		}
		if sp.edges[e] || seen[e] {
			return nil, fmt.Errorf("edge from %s to %s already exists", e.Derived, e.Source)
		}
		seen[e] = true
	}
	return known, nil
}

// writeText adds cells and edges that admitText has accepted.
func (sp *space) writeText(cells []store.Cell, edges []store.Edge) {
	for i := range cells {
		sp.cells[cells[i].ID] = &cell{*copyCell(&cells[i]), cells[i].Gone}
	}
	for _, e := range edges {
		sp.edges[e] = true
	}
}

// admit returns an error if a change of session old cannot be made. It changes nothing.
func (sp *space) admit(old *session, c *store.Change) error {
	known, err := sp.admitText(c.Cells, c.Edges, c.Entry.ID)
	if err != nil {
		return err
	}
	for _, id := range []store.CellID{c.Head.About, c.Head.Summary} {
		if id == "" {
			continue
		}
		if err := known("head", id); err != nil {
			return err
		}
	}
	if c.ItemsFrom > len(old.items) && c.Items != nil {
		return fmt.Errorf("ItemsFrom is %d, beyond the %d items of the session", c.ItemsFrom, len(old.items))
	}
	if err := errors.Join(known("items", c.Items...), known("adopted", c.Adopt...)); err != nil {
		return err
	}
	blocks := maps.Clone(old.blocks)
	if blocks == nil {
		blocks = make(map[transcript.BlockID]*store.Block, len(c.Blocks))
	}
	for i := range c.Blocks {
		b := &c.Blocks[i]
		if err := known("block "+string(b.ID), b.Cells...); err != nil {
			return err
		}
		if b.Stub != "" {
			if err := known("block "+string(b.ID), b.Stub); err != nil {
				return err
			}
		}
		blocks[b.ID] = b
	}
	for _, e := range c.Index {
		if blocks[e.Block] == nil {
			return fmt.Errorf("index entry of block %s: %w", e.Block, store.ErrNotFound)
		}
	}
	return uniqueTurns(blocks)
}

// uniqueTurns returns an error if two visible blocks have the same turn.
func uniqueTurns(blocks map[transcript.BlockID]*store.Block) error {
	owner := make(map[int]transcript.BlockID, len(blocks))
	for _, b := range slices.SortedFunc(maps.Values(blocks), byTurn) {
		if b.Off {
			continue
		}
		if other, ok := owner[b.Turn]; ok {
			return fmt.Errorf("blocks %s and %s are both at turn %d", other, b.ID, b.Turn)
		}
		owner[b.Turn] = b.ID
	}
	return nil
}

// write makes a change that admit has accepted.
func (sp *space) write(old *session, id transcript.SessionID, c *store.Change) {
	revision := old.head.Revision + 1
	sp.writeText(c.Cells, c.Edges)
	if old.blocks == nil {
		old.blocks = make(map[transcript.BlockID]*store.Block)
		old.found = make(map[transcript.BlockID]findable)
		old.rewrites = make(map[rewriteKey]store.Rewrite)
	}
	for i := range c.Blocks {
		old.blocks[c.Blocks[i].ID] = copyBlock(&c.Blocks[i])
	}
	for _, e := range c.Index {
		sp.numbers++
		old.found[e.Block] = findable{sp.numbers, maps.Clone(e.Words)}
	}
	if c.Items != nil {
		old.items = append(slices.Clone(old.items[:c.ItemsFrom]), c.Items...)
	}
	entry := copyEntry(&c.Entry)
	entry.Revision = revision
	old.journal = append(old.journal, *entry)
	sp.entries[entry.ID] = true
	old.statements = append(old.statements, c.Statements...)
	for i := range c.Cells {
		old.brought = append(old.brought, c.Cells[i].ID)
	}
	old.brought = append(old.brought, c.Adopt...)
	for _, r := range c.Rewrites {
		old.rewrites[rewriteKey{r.Kind, r.Chain}] = r
	}
	if c.Erase {
		old.statements = nil
		clear(old.rewrites)
		clear(old.found)
	}

	old.head = c.Head
	old.head.ID, old.head.Revision = id, revision
	old.head.Created, old.head.Updated = wholeMillis(c.Head.Created), wholeMillis(c.Head.Updated)
	sp.sessions[id] = old
}

// Head implements [store.Sessions].
func (s *database) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	var head store.Head
	err := s.read(ctx, scope, id, func(se *session) { head = se.head })
	if err != nil {
		return nil, err
	}
	return &head, nil
}

// Heads implements [store.Sessions].
func (s *database) Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*store.Head, error] {
	return list(ctx, s, scope, func(sp *space) []*store.Head {
		var heads []*store.Head
		for _, se := range sp.sessions {
			heads = append(heads, new(se.head))
		}
		slices.SortFunc(heads, func(a, b *store.Head) int {
			return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
		})
		return heads
	})
}

// Blocks implements [store.Sessions].
func (s *database) Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return snapshot(ctx, s, scope, id, func(se *session) []*store.Block {
		var blocks []*store.Block
		for _, b := range se.blocks {
			blocks = append(blocks, copyBlock(b))
		}
		slices.SortFunc(blocks, byTurn)
		return blocks
	})
}

// Items implements [store.Sessions].
func (s *database) Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	var items []store.CellID
	err := s.read(ctx, scope, id, func(se *session) { items = slices.Clone(se.items) })
	return items, err
}

// Cells implements [store.Cells].
func (s *database) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		cells := make([]*cell, len(ids))
		err := s.look(ctx, scope, func(sp *space) {
			for i, id := range ids {
				cells[i] = sp.cells[id] // a cell never changes, so it can be copied later
			}
		})
		if err != nil {
			yield(nil, err)
			return
		}
		for i, c := range cells {
			switch {
			case c == nil:
				yield(nil, fmt.Errorf("cell %s: %w", ids[i], store.ErrNotFound))
				return
			case c.gone:
				yield(nil, &store.GoneError{Cell: c.ID, Kind: c.Kind, Commit: c.Commit})
				return
			case !c.Holds():
				yield(nil, fmt.Errorf("cell %s: its commitment does not match the body: %w", ids[i], store.ErrCorrupt))
				return
			case !yield(copyCell(&c.Cell), nil):
				return
			}
		}
	}
}

// Sources implements [store.Cells].
func (s *database) Sources(ctx context.Context, scope governance.Scope, id store.CellID) (edges []store.Edge, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		for e := range sp.edges {
			if e.Derived == id {
				edges = append(edges, e)
			}
		}
	})
	slices.SortFunc(edges, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Rel, b.Rel))
	})
	return edges, err
}

// Derived implements [store.Cells].
func (s *database) Derived(ctx context.Context, scope governance.Scope, ids []store.CellID) ([]store.CellID, error) {
	made := make(map[store.CellID][]store.CellID) // from each cell
	err := s.look(ctx, scope, func(sp *space) {
		for e := range sp.edges {
			made[e.Source] = append(made[e.Source], e.Derived)
		}
	})
	if err != nil {
		return nil, err
	}
	seen := make(map[store.CellID]bool)
	for rest := slices.Clone(ids); len(rest) > 0; {
		last := len(rest) - 1
		id := rest[last]
		rest = rest[:last]
		if !seen[id] {
			seen[id] = true
			rest = append(rest, made[id]...)
		}
	}
	for _, id := range ids {
		delete(seen, id)
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// Brought implements [store.Cells].
func (s *database) Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) (cells []store.CellID, err error) {
	err = s.read(ctx, scope, id, func(se *session) { cells = slices.Sorted(slices.Values(se.brought)) })
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return cells, err
}

// Entries implements [store.Journal].
func (s *database) Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return snapshot(ctx, s, scope, id, func(se *session) []*store.Entry {
		var entries []*store.Entry
		for i := range se.journal {
			if se.journal[i].Revision > after {
				entries = append(entries, copyEntry(&se.journal[i]))
			}
		}
		return entries
	})
}

// Statements implements [store.Journal].
func (s *database) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error] {
	return snapshot(ctx, s, scope, id, func(se *session) []string { return slices.Clone(se.statements) })
}

// Block implements [store.Finder].
func (s *database) Block(ctx context.Context, scope governance.Scope, ref store.BlockRef) (b *store.Block, err error) {
	err = s.read(ctx, scope, ref.Session, func(se *session) {
		if has := se.blocks[ref.Block]; has != nil {
			b = copyBlock(has)
		}
	})
	if err == nil && b == nil {
		err = fmt.Errorf("block %s of session %s: %w", ref.Block, ref.Session, store.ErrNotFound)
	}
	return b, err
}

// Find implements [store.Finder].
func (s *database) Find(ctx context.Context, scope governance.Scope, prefix string, limit int) (refs []store.BlockRef, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		for id, se := range sp.sessions {
			for block := range se.blocks {
				if strings.HasPrefix(string(block), prefix) {
					refs = append(refs, store.BlockRef{Session: id, Block: block})
				}
			}
		}
	})
	slices.SortFunc(refs, byRef)
	return refs[:max(0, min(limit, len(refs)))], err
}

// Postings implements [store.Finder].
func (s *database) Postings(ctx context.Context, scope governance.Scope, words []string) (views []postings.View, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		var all []findable
		for _, se := range sp.sessions {
			all = slices.AppendSeq(all, maps.Values(se.found))
		}
		slices.SortFunc(all, func(a, b findable) int { return cmp.Compare(a.number, b.number) })
		var x postings.Index
		for _, f := range all {
			x.Add(f.number, f.words)
		}
		views = []postings.View{x.View(words)}
	})
	return views, err
}

// Numbered implements [store.Finder].
func (s *database) Numbered(ctx context.Context, scope governance.Scope, numbers []int64) (refs []store.BlockRef, err error) {
	err = s.look(ctx, scope, func(sp *space) {
		all := make(map[int64]store.BlockRef)
		for id, se := range sp.sessions {
			for block, f := range se.found {
				all[f.number] = store.BlockRef{Session: id, Block: block}
			}
		}
		refs = make([]store.BlockRef, len(numbers))
		for i, number := range numbers {
			refs[i] = all[number]
		}
	})
	return refs, err
}

// wordsOf returns the set of the words of text.
func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range store.Words(text) {
		words[w] = true
	}
	return words
}

// Info implements [store.Admin].
func (s *database) Info(ctx context.Context) (*store.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	info := &store.Info{Driver: "memory", Version: "1", Schema: 1}
	for _, sp := range s.scopes {
		info.Sessions += int64(len(sp.sessions))
		info.Cells += int64(len(sp.cells))
		info.Artifacts += int64(len(sp.artifacts))
		info.Manifests += int64(len(sp.manifests))
		for _, se := range sp.sessions {
			info.Blocks += int64(len(se.blocks))
		}
		for _, c := range sp.cells {
			info.Bytes += int64(len(c.Body))
		}
	}
	return info, nil
}

// Scopes implements [store.Admin].
func (s *database) Scopes(ctx context.Context) ([]governance.Scope, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.scopes)), nil
}

// Check implements [store.Admin].
func (s *database) Check(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var problems []string
	for _, scope := range slices.Sorted(maps.Keys(s.scopes)) {
		sp := s.scopes[scope]
		for _, id := range slices.Sorted(maps.Keys(sp.cells)) {
			if c := sp.cells[id]; !c.gone && !c.Holds() {
				problems = append(problems, fmt.Sprintf("scope %s: cell %s: its commitment does not match the body", scope, id))
			}
		}
		for _, id := range slices.Sorted(maps.Keys(sp.sessions)) {
			se := sp.sessions[id]
			var sum token.Count
			visible := 0
			for _, b := range se.blocks {
				if !b.Off {
					sum += b.Tokens
					visible++
				}
			}
			if sum != se.head.Tokens {
				problems = append(problems, fmt.Sprintf("scope %s: session %s: its head has %d tokens, its blocks %d", scope, id, se.head.Tokens, sum))
			}
			if visible != se.head.Blocks {
				problems = append(problems, fmt.Sprintf("scope %s: session %s: its head has %d blocks, there are %d", scope, id, se.head.Blocks, visible))
			}
		}
	}
	return problems, nil
}

// Backup implements [store.Admin]. It fails with [errors.ErrUnsupported].
func (s *database) Backup(context.Context, string) error {
	return fmt.Errorf("backup of a store in memory: %w", errors.ErrUnsupported)
}

// Ready implements [store.Database].
func (s *database) Ready(ctx context.Context) error { return ctx.Err() }

// Close implements [store.Admin]. It does nothing.
func (s *database) Close() error { return nil }

// read calls f with a session while it holds the lock. It returns ErrNotFound if
// the session does not exist.
func (s *database) read(ctx context.Context, scope governance.Scope, id transcript.SessionID, f func(*session)) error {
	var found error
	err := s.look(ctx, scope, func(sp *space) {
		if se := sp.sessions[id]; se != nil {
			f(se)
			return
		}
		found = fmt.Errorf("session %s: %w", id, store.ErrNotFound)
	})
	return cmp.Or(err, found)
}

// snapshot yields the values that f returns for a session. It calls f when the iteration begins.
func snapshot[T any](ctx context.Context, s *database, scope governance.Scope, id transcript.SessionID, f func(*session) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		if err := s.read(ctx, scope, id, func(se *session) { all = f(se) }); err != nil {
			yield(*new(T), err)
			return
		}
		yieldAll(all, yield)
	}
}

func yieldAll[T any](all []T, yield func(T, error) bool) {
	for _, v := range all {
		if !yield(v, nil) {
			return
		}
	}
}

func byTurn(a, b *store.Block) int {
	if a.Off != b.Off {
		if a.Off {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID))
}

func byRef(a, b store.BlockRef) int {
	return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Block, b.Block))
}

func copyCell(c *store.Cell) *store.Cell {
	d := *c
	d.Body = bytes.Clone(c.Body)
	return &d
}

func copyBlock(b *store.Block) *store.Block {
	d := *b
	d.Tools, d.Cells = slices.Clone(b.Tools), slices.Clone(b.Cells)
	return &d
}

func copyEntry(e *store.Entry) *store.Entry {
	d := *e
	d.Time, d.Data = wholeMillis(e.Time), bytes.Clone(e.Data)
	return &d
}

// wholeMillis returns t in UTC, truncated to whole milliseconds.
func wholeMillis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
