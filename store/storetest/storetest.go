// Package storetest tests implementations of [store.Store].
//
// [Run] checks a driver against the contract of package store. Each check is named after a sentence
// of the contract and gets an empty store of its own. [RunCredentials] checks the role
// [store.Credentials], [RunRequests] the role [store.Requests], [RunMovable] the role
// [store.Movable], [RunBlobs] the role [store.Blobs], and [RunOpeners] a store that is open several
// times. [Read] returns the contents of a scope, so that two stores can be compared. The checks are
// deterministic, except for the scheduling of concurrent ones.
//
// The package imports testing: it is for tests only.
package storetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Run runs all checks of a [store.Store] in parallel. Each check calls open, which
// makes an empty store and registers its cleanup with t.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range slices.Concat(checks, artifactChecks, erasureChecks, callChecks, jobChecks) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// CloseAfter closes a store when a test or a property-based test ends.
func CloseAfter(t interface {
	Cleanup(f func())
	Error(args ...any)
}, s store.Admin,
) {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

type check struct {
	name string
	run  func(t *testing.T, s store.Store)
}

// scope is the scope of most checks.
const scope governance.Scope = "test/suite"

// epoch is the time of the first records of the checks.
var epoch = time.Date(2026, time.January, 2, 3, 4, 5, 678_000_000, time.UTC)

// newCell returns a cell with a salt derived from its id.
func newCell(id store.CellID, kind store.CellKind, body string) store.Cell {
	c := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte(body)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// newBlock returns a live block of 10 tokens.
func newBlock(id transcript.BlockID, turn int, cells ...store.CellID) store.Block {
	return store.Block{
		ID: id, Turn: turn, Kind: transcript.KindUser, Tokens: 10,
		State: store.StateLive, Form: "full", Window: 10, Cells: cells,
	}
}

// newChange returns a change that has only times and a journal entry with the given id.
func newChange(entry string) *store.Change {
	return &store.Change{
		Head:  store.Head{Created: epoch, Updated: epoch},
		Entry: store.Entry{ID: entry, Op: "import", Actor: governance.ActorUser, Time: epoch},
	}
}

// fullChange returns a change with a value in every field except Erase, for a new
// session. All ids begin with prefix.
func fullChange(prefix string) *store.Change {
	cell := func(s string) store.CellID { return store.CellID(prefix + s) }
	block := func(s string) transcript.BlockID { return transcript.BlockID(prefix + s) }
	tool := newBlock(block("b2"), 2, cell("c2"), cell("c1"))
	tool.Kind, tool.Tools, tool.Pinned = transcript.KindTool, []string{"Bash", "Read"}, true
	tool.State, tool.Form, tool.Window, tool.Stub = store.StateStub, "stub", 3, cell("stub")
	gone := newBlock(block("b0"), 1, cell("c2"))
	gone.Off = true
	c := newChange(prefix + "op1")
	c.Head = store.Head{
		Format: "claudecode", Model: "a model", Encoding: "o200k", About: cell("about"), Summary: cell("summary"),
		Messages: 3, Blocks: 2, Tokens: 20, Window: 13, Bytes: 9,
		Created: epoch, Updated: epoch.Add(time.Second),
	}
	c.Cells = []store.Cell{
		newCell(cell("c1"), store.CellItem, "one\n"),
		newCell(cell("c2"), store.CellItem, "two \x00\xff"),
		newCell(cell("stub"), store.CellStub, "a stub"),
		newCell(cell("about"), store.CellAbout, `{"title":"t"}`),
		newCell(cell("summary"), store.CellSummary, `{"text":"s"}`),
		newCell(cell("sent"), store.CellSent, `[{"role":"user"}]`),
	}
	c.Rewrites = []store.Rewrite{{Chain: digest.Of([]byte(prefix)), Kind: store.RewriteHead, Epoch: 1, Messages: 2, Cell: cell("sent")}}
	c.Edges = []store.Edge{
		{Derived: cell("stub"), Source: cell("c2"), Rel: "stub"},
		{Derived: cell("stub"), Source: cell("c1"), Rel: "stub"},
	}
	c.Items = []store.CellID{cell("c1"), cell("c2"), cell("c1")}
	c.Blocks = []store.Block{newBlock(block("b1"), 1, cell("c1")), tool, gone}
	c.Index = []store.IndexEntry{{Block: block("b1"), Words: postings.Counts(store.Words("one apple"))}, {Block: block("b2"), Words: postings.Counts(store.Words("two apples"))}}
	c.Entry.Data = []byte(`{"b": 1.0, "a": [ ]}`)
	c.Statements = []string{`(fact "one")`, `(fact "two")`}
	return c
}

// apply applies a change that must succeed.
func apply(t *testing.T, s store.Store, sc governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) store.Revision {
	t.Helper()
	rev, err := s.Apply(t.Context(), sc, id, at, c)
	if err != nil {
		t.Fatalf("Apply to %q at %d: %v", id, at, err)
	}
	if rev != at+1 {
		t.Fatalf("Apply to %q at %d made revision %d, want %d", id, at, rev, at+1)
	}
	return rev
}

// contents returns the contents of a scope, or fails the test.
func contents(t *testing.T, s store.Store, sc governance.Scope) *Contents {
	t.Helper()
	c, err := Read(t.Context(), s, sc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// collect returns the values of an iteration and the error that ends it.
func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// equal reports an error if got differs from want.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// yields checks that the names of the values of an iteration, joined by spaces, are want.
func yields[T any](t *testing.T, what string, seq iter.Seq2[T, error], name func(T) string, want string) {
	t.Helper()
	all, err := collect(seq)
	lists(t, what, all, err, name, want)
}

// lists checks that err is nil, and that the names of the values in all, joined by spaces, are
// equal to want.
func lists[T any](t *testing.T, what string, all []T, err error, name func(T) string, want string) {
	t.Helper()
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = name(v)
	}
	if got := strings.Join(names, " "); got != want || err != nil {
		t.Errorf("%s = %q, %v; want %q", what, got, err, want)
	}
}

// itself returns name as a string. It is the name function for lists of names.
func itself[T ~string](name T) string { return string(name) }

// Short names of types of arguments.
type (
	ctxT   = context.Context
	scopeT = governance.Scope
	idT    = transcript.SessionID
)

// A sessionCall calls a method about a session and returns its error.
type sessionCall func(ctx ctxT, sc scopeT, id idT) error

// calls returns every method that reads or writes a session, by name.
func calls(s store.Store) map[string]sessionCall {
	return map[string]sessionCall{
		"Head":       func(ctx ctxT, sc scopeT, id idT) error { return errorOf(s.Head(ctx, sc, id)) },
		"Blocks":     func(ctx ctxT, sc scopeT, id idT) error { return errorOf(collect(s.Blocks(ctx, sc, id))) },
		"Items":      func(ctx ctxT, sc scopeT, id idT) error { return errorOf(s.Items(ctx, sc, id)) },
		"Entries":    func(ctx ctxT, sc scopeT, id idT) error { return errorOf(collect(s.Entries(ctx, sc, id, 0))) },
		"Rewrites":   func(ctx ctxT, sc scopeT, id idT) error { return errorOf(collect(s.Rewrites(ctx, sc, id))) },
		"Statements": func(ctx ctxT, sc scopeT, id idT) error { return errorOf(collect(s.Statements(ctx, sc, id))) },
	}
}

// errorOf returns the error of a call.
func errorOf[T any](_ T, err error) error { return err }

// numbered returns prefix with n in four digits, so that the names sort by n.
func numbered(prefix string, n int) string { return fmt.Sprintf("%s%04d", prefix, n) }
