package move

import (
	"context"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// outdated reports whether the copy of a session has lines of the contract or rewrites that the
// source has erased.
func (m *mover) outdated(ctx context.Context, p *plan, id transcript.SessionID) (bool, error) {
	have, err := m.listsOf(ctx, m.to, p, id)
	if err != nil {
		return false, err
	}
	want, err := m.listsOf(ctx, m.from, p, id)
	if err != nil {
		return false, source(err)
	}
	return !have.within(want), nil
}

// lists are the parts of a session that grow with each change. Only an erasure takes something from
// them.
type lists struct {
	statements []string
	rewrites   map[rewriteKey]store.Rewrite
}

// A rewriteKey identifies a rewrite within its session.
type rewriteKey struct {
	kind  store.RewriteKind
	chain digest.Digest
}

func (m *mover) listsOf(ctx context.Context, of store.Store, p *plan, id transcript.SessionID) (*lists, error) {
	statements, err := collect(of.Statements(ctx, p.scope, id))
	if err != nil {
		return nil, err
	}
	l := &lists{statements, make(map[rewriteKey]store.Rewrite)}
	for r, err := range of.Rewrites(ctx, p.scope, id) {
		if err != nil {
			return nil, err
		}
		l.rewrites[rewriteKey{r.Kind, r.Chain}] = *r
	}
	return l, nil
}

// within reports whether the lists in others can come from l by additions alone, without an
// erasure.
func (l *lists) within(others *lists) bool {
	for k := range l.rewrites {
		if _, ok := others.rewrites[k]; !ok {
			return false
		}
	}
	_, ok := cutPrefix(others.statements, l.statements)
	return ok
}

// cutPrefix reports whether the list all begins with the list some. If so, it returns the remaining
// elements of all.
func cutPrefix(all, some []string) (rest []string, ok bool) {
	n := len(some)
	if n > len(all) || !slices.Equal(some, all[:n]) {
		return nil, false
	}
	return all[n:], true
}

// copySession makes the last change of a session. words and have are the words of its blocks in
// the source and in the copy.
func (m *mover) copySession(ctx context.Context, p *plan, s *sessionPlan, words, have []store.IndexEntry) error {
	c, err := m.present(ctx, p, s)
	if err != nil {
		return source(err)
	}
	if s.have > 0 {
		brought, err := m.to.Brought(ctx, p.scope, s.id)
		if err != nil {
			return err
		}
		c.Adopt = without(c.Adopt, brought)
	}
	if c.Head.Status == store.StatusPurged {
		c.Erase = true // the source has no lines of the contract, words and rewrites either
	} else {
		c.Index = changed(words, have)
		if err := m.growLists(ctx, p, s, c); err != nil {
			return err
		}
	}
	s.have, err = m.to.Apply(ctx, p.scope, s.id, s.have, c)
	return err
}

// growLists removes from a change the lines of the contract and the rewrites that the copy already
// has.
func (m *mover) growLists(ctx context.Context, p *plan, s *sessionPlan, c *store.Change) error {
	if s.have == 0 {
		return nil
	}
	there, err := m.listsOf(ctx, m.to, p, s.id)
	if err != nil {
		return err
	}
	rest, ok := cutPrefix(c.Statements, there.statements)
	if !ok {
		return &OtherError{p.scope, "session " + string(s.id) + " has another contract"}
	}
	c.Statements = rest
	c.Rewrites = slices.DeleteFunc(c.Rewrites, func(r store.Rewrite) bool { return there.rewrites[rewriteKey{r.Kind, r.Chain}] == r })
	return nil
}

// present returns the last change of a session. The change contains everything that the session has
// now, as if no change before it had written anything.
func (m *mover) present(ctx context.Context, p *plan, s *sessionPlan) (*store.Change, error) {
	head, err := m.from.Head(ctx, p.scope, s.id)
	if err != nil {
		return nil, err
	}
	entries, err := collect(m.from.Entries(ctx, p.scope, s.id, s.want-1))
	if err != nil {
		return nil, err
	}
	if head.Revision != s.want || len(entries) != 1 {
		return nil, &DifferError{Scope: p.scope, Changed: true}
	}
	c := &store.Change{Head: *head, Entry: *entries[0]}
	items, err := m.from.Items(ctx, p.scope, s.id)
	if err != nil {
		return nil, err
	}
	c.Items = append([]store.CellID{}, items...) // nil would keep the list that is there
	for b, err := range m.from.Blocks(ctx, p.scope, s.id) {
		if err != nil {
			return nil, err
		}
		c.Blocks = append(c.Blocks, *b)
	}
	l, err := m.listsOf(ctx, m.from, p, s.id)
	if err != nil {
		return nil, err
	}
	c.Statements, c.Rewrites = l.statements, slices.Collect(maps.Values(l.rewrites))
	c.Adopt, err = m.from.Brought(ctx, p.scope, s.id)
	return c, err
}

// changed compares two lists of index entries of a session: words is that of the source, and have
// is that of the copy. It returns the entries of words that are new or different, and an empty
// entry for each block that has no words any more.
func changed(words, have []store.IndexEntry) (entries []store.IndexEntry) {
	there := make(map[transcript.BlockID]map[string]uint32, len(have))
	for _, e := range have {
		there[e.Block] = e.Words
	}
	for _, e := range words {
		if old, ok := there[e.Block]; !ok || !maps.Equal(old, e.Words) {
			entries = append(entries, e)
		}
		delete(there, e.Block)
	}
	for _, block := range slices.Sorted(maps.Keys(there)) {
		entries = append(entries, store.IndexEntry{Block: block})
	}
	return entries
}
