package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// AllCells implements [store.Movable].
func (s *database) AllCells(ctx context.Context, scope governance.Scope) (ids []store.CellID, err error) {
	err = s.look(ctx, scope, func(sp *space) { ids = slices.Sorted(maps.Keys(sp.cells)) })
	return ids, err
}

// AllEdges implements [store.Movable].
func (s *database) AllEdges(ctx context.Context, scope governance.Scope) (edges []store.Edge, err error) {
	err = s.look(ctx, scope, func(sp *space) { edges = slices.Collect(maps.Keys(sp.edges)) })
	slices.SortFunc(edges, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(a.Derived, b.Derived), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Rel, b.Rel))
	})
	return edges, err
}

// BlockWords implements [store.Movable].
func (s *database) BlockWords(ctx context.Context, scope governance.Scope, sessions []transcript.SessionID) (map[transcript.SessionID][]store.IndexEntry, error) {
	all := make(map[transcript.SessionID][]store.IndexEntry)
	err := s.look(ctx, scope, func(sp *space) {
		for _, id := range sessions {
			se := sp.sessions[id]
			if se == nil {
				continue
			}
			blocks := slices.SortedFunc(maps.Keys(se.found), func(a, b transcript.BlockID) int {
				return cmp.Compare(se.found[a].number, se.found[b].number)
			})
			for _, block := range blocks {
				if words := se.found[block].words; len(words) > 0 {
					all[id] = append(all[id], store.IndexEntry{Block: block, Words: maps.Clone(words)})
				}
			}
		}
	})
	return all, err
}

// AddCells implements [store.Movable].
func (s *database) AddCells(ctx context.Context, scope governance.Scope, cells []store.Cell, edges []store.Edge) error {
	if err := errors.Join(ctx.Err(), store.ValidateMoved(cells)); err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.space(scope)
	if _, err := sp.admitText(cells, edges, ""); err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	sp.writeText(cells, edges)
	s.scopes[scope] = sp
	return nil
}
