package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Contents has all records of a scope that methods of a store return, with every
// list in its documented order. If two stores have equal Contents, a reader cannot
// tell the scopes apart, except by searches and Brought.
type Contents struct {
	Sessions  []Session
	Version   store.Version
	Artifacts []store.Artifact
	Texts     []Text           // cells of the artifacts, and cells derived from them, by id
	Manifests []store.Manifest // newest first
	Log       []store.Entry
	Calls     []store.Call // highest Seq first
}

// A Text is a cell that an artifact refers to or that is derived from one.
type Text struct {
	Cell  store.Cell   // without Salt and Body if Gone
	Gone  bool         // whether it was purged; Cell.Gone is not set
	Edges []store.Edge // edges to its sources
}

// A Session has all records of a session.
type Session struct {
	Head       store.Head
	Blocks     []store.Block
	Items      []store.CellID
	Cells      []store.Cell // cells of the items, of each block with its stub, of the head and of the rewrites, in this order
	Edges      []store.Edge // edges of those cells to their sources, by id
	Entries    []store.Entry
	Statements []string
	Rewrites   []store.Rewrite
}

// Read returns the contents of a scope.
func Read(ctx context.Context, s store.Store, scope governance.Scope) (*Contents, error) {
	var c Contents
	var err error
	if c.Sessions, err = ReadSessions(ctx, s, scope); err != nil {
		return nil, err
	}
	if c.Version, err = s.Version(ctx, scope); err != nil {
		return nil, err
	}
	if c.Artifacts, err = values(s.Artifacts(ctx, scope, 0)); err != nil {
		return nil, err
	}
	if c.Texts, err = readTexts(ctx, s, scope, c.Artifacts); err != nil {
		return nil, err
	}
	for m, err := range s.Manifests(ctx, scope, "") {
		if err != nil {
			return nil, err
		}
		full, err := s.Manifest(ctx, scope, m.ID)
		if err != nil {
			return nil, err
		}
		c.Manifests = append(c.Manifests, *full)
	}
	if c.Log, err = values(s.Log(ctx, scope, 0)); err != nil {
		return nil, err
	}
	if c.Calls, err = values(s.Calls(ctx, scope, store.CallFilter{})); err != nil {
		return nil, err
	}
	return &c, nil
}

// ReadSessions returns the contents of the sessions of a scope.
func ReadSessions(ctx context.Context, s store.Store, scope governance.Scope) ([]Session, error) {
	var all []Session
	for head, err := range s.Heads(ctx, scope) {
		if err != nil {
			return nil, err
		}
		se, err := ReadSession(ctx, s, scope, head.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, *se)
	}
	return all, nil
}

// readTexts returns the cells that artifacts refer to, and those derived from them.
func readTexts(ctx context.Context, s store.Store, scope governance.Scope, artifacts []store.Artifact) ([]Text, error) {
	var ids []store.CellID
	for i := range artifacts {
		ids = append(ids, artifacts[i].Content, artifacts[i].About)
	}
	derived, err := s.Derived(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	ids = append(ids, derived...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	texts := make([]Text, 0, len(ids))
	for len(texts) < len(ids) {
		for c, err := range s.Cells(ctx, scope, ids[len(texts):]) {
			if gone, ok := errors.AsType[*store.GoneError](err); ok {
				texts = append(texts, Text{Cell: store.Cell{ID: gone.Cell, Kind: gone.Kind, Commit: gone.Commit}, Gone: true})
				break
			}
			if err != nil {
				return nil, err
			}
			texts = append(texts, Text{Cell: *c})
		}
	}
	for i := range texts {
		if texts[i].Edges, err = s.Sources(ctx, scope, texts[i].Cell.ID); err != nil {
			return nil, err
		}
	}
	return texts, nil
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
	if se.Blocks, err = values(s.Blocks(ctx, scope, id)); err != nil {
		return nil, err
	}
	for _, b := range se.Blocks {
		ids = append(ids, b.Cells...)
		if b.Stub != "" {
			ids = append(ids, b.Stub)
		}
	}
	if head.About != "" {
		ids = append(ids, head.About)
	}
	if head.Summary != "" {
		ids = append(ids, head.Summary)
	}
	if se.Rewrites, err = values(s.Rewrites(ctx, scope, id)); err != nil {
		return nil, err
	}
	for i := range se.Rewrites {
		ids = append(ids, se.Rewrites[i].Cell)
	}
	if se.Cells, err = values(s.Cells(ctx, scope, ids)); err != nil {
		return nil, err
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		edges, err := s.Sources(ctx, scope, id)
		if err != nil {
			return nil, err
		}
		se.Edges = append(se.Edges, edges...)
	}
	if se.Entries, err = values(s.Entries(ctx, scope, id, 0)); err != nil {
		return nil, err
	}
	if se.Statements, err = collect(s.Statements(ctx, scope, id)); err != nil {
		return nil, err
	}
	return se, nil
}

// Diff returns the differences between two values, such as [Contents], or "" if they
// are equal. An empty list equals nil.
func Diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameCell))
}

// sameCell reports whether two cells are equal. It avoids the comparison of bodies
// by package cmp, which takes seconds.
func sameCell(a, b store.Cell) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Salt == b.Salt && a.Commit == b.Commit && bytes.Equal(a.Body, b.Body)
}
