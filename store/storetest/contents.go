package storetest

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Contents is all that can be read of the sessions of a scope, with every list
// in the order of the contract. Those of two stores are equal exactly if the
// stores are, as far as a reader can tell.
type Contents []Session

// A Session is all that can be read of one session.
type Session struct {
	Head       store.Head
	Blocks     []store.Block
	Items      []store.CellID
	Cells      []store.Cell // of items, stubs, blocks and the head, in this order
	Edges      []store.Edge // of those cells, by their ids
	Entries    []store.Entry
	Statements []string
}

// Read returns the contents of a scope.
func Read(ctx context.Context, s store.Store, scope governance.Scope) (Contents, error) {
	var contents Contents
	for head, err := range s.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		se, err := ReadSession(ctx, s, scope, head.ID)
		if err != nil {
			return nil, err
		}
		contents = append(contents, *se)
	}
	return contents, nil
}

// ReadSession returns the contents of one session.
func ReadSession(ctx context.Context, s store.Store, scope governance.Scope, id transcript.SessionID) (*Session, error) {
	head, err := s.Head(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	se := &Session{Head: *head}
	if se.Items, err = s.Items(ctx, scope, id); err != nil {
		return nil, err
	}
	ids := append([]store.CellID(nil), se.Items...)
	for b, err := range s.Blocks(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		se.Blocks = append(se.Blocks, *b)
		ids = append(ids, b.Cells...)
		if b.Stub != "" {
			ids = append(ids, b.Stub)
		}
	}
	if head.About != "" {
		ids = append(ids, head.About)
	}
	for c, err := range s.Cells(ctx, scope, ids) {
		if err != nil {
			return nil, err
		}
		se.Cells = append(se.Cells, *c)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		edges, err := s.Sources(ctx, scope, id)
		if err != nil {
			return nil, err
		}
		se.Edges = append(se.Edges, edges...)
	}
	for e, err := range s.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		se.Entries = append(se.Entries, *e)
	}
	for line, err := range s.Statements(ctx, scope, id) {
		if err != nil {
			return nil, err
		}
		se.Statements = append(se.Statements, line)
	}
	return se, nil
}

// Diff returns how two values differ, such as two [Contents]: nothing, if they
// do not. An empty list is like none.
func Diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameCell))
}

// sameCell compares cells as a whole: byte by byte, cmp takes seconds.
func sameCell(a, b store.Cell) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Salt == b.Salt && a.Commit == b.Commit && bytes.Equal(a.Body, b.Body)
}
