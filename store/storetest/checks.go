package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// checks are the checks of sessions, cells, journals and searches, each named after a sentence of the
// contract.
var checks = []check{
	{"the first revision is 1 and the next one more", firstRevisionIs1},
	{"what was applied is read back field by field", readsBackEveryField},
	{"Apply fails with ErrConflict unless the session is at the revision", applyRefusesOtherRevisions},
	{"Apply lets one of many writers win", applyLetsOneWin},
	{"concurrent writers of other sessions all succeed", otherSessionsDoNotConflict},
	{"a change with a bad part changes nothing", badPartChangesNothing},
	{"a change that refers to a missing record fails with ErrNotFound", badReferenceIsNotFound},
	{"blocks can trade turns, and the turn of a block that is off is free", blocksTradeTurns},
	{"a block is replaced by the one with its id", blocksAreReplaced},
	{"items are replaced from an index on", itemsAreReplaced},
	{"nil Items keep the list, and empty Items truncate it", itemsNilAndEmpty},
	{"Head, Blocks, Items, Entries, Statements and Rewrites of no session are ErrNotFound", noSessionIsNotFound},
	{"a session without anything has empty lists", emptySession},
	{"Heads yields last updated first, then by id", headsOrder},
	{"Blocks yields by turn, then by id, those that are off last", blocksOrder},
	{"Cells yields in the order of the ids, however often one is named", cellsOrder},
	{"Cells yields ErrNotFound at the first that does not exist", cellsNotFound},
	{"bodies with any bytes are kept", bodies},
	{"a body of 5 MB is kept", largeBody},
	{"many cells come back in one call", manyCells},
	{"Sources are ordered and there are none for no cell", sources},
	{"Entries begins after the given revision", entriesAfter},
	{"an entry's id is unique in a scope", entryIDsAreUnique},
	{"Statements yields lines in the order in which they were appended", statementsOrder},
	{"times are UTC in whole milliseconds", times},
	{"any string names a session, a scope, a block and a cell", anyStringIsAName},
	{"scopes are isolated in every method", scopesAreIsolated},
	{"Find returns the blocks whose id begins with a prefix", find},
	{"Postings has all blocks with one of the words", postingsOfWords},
	{"Postings counts frequencies and blocks", postingsCount},
	{"Numbered returns the blocks in order", numberedInOrder},
	{"an index entry replaces the earlier entry of its block", indexIsReplaced},
	{"iterators see the database as it was when the iteration began", iteratorsSeeASnapshot},
	{"iterators may be stopped early", iteratorsStopEarly},
	{"iterations may be nested", iterationsNest},
	{"the store shares no memory with its arguments and results", nothingIsShared},
	{"a canceled context is an error and changes nothing", contextDone},
	{"Info counts sessions, blocks and cells", info},
	{"Scopes returns the scopes with records, in order", scopes},
	{"Check finds nothing in an intact store and names a wrong head", checkNamesHeads},
	{"Backup makes a new file and fails with fs.ErrExist if there is one", backup},
}

func firstRevisionIs1(t *testing.T, s store.Store) {
	rev := apply(t, s, scope, "s", 0, newChange("op1"))
	rev = apply(t, s, scope, "s", rev, newChange("op2"))
	head, err := s.Head(t.Context(), scope, "s")
	if err != nil || head.Revision != rev || rev != 2 {
		t.Errorf("after two changes, Head = %+v, %v; want revision 2", head, err)
	}
	entries, err := collect(s.Entries(t.Context(), scope, "s", 0))
	if err != nil || len(entries) != 2 || entries[0].Revision != 1 || entries[1].Revision != 2 {
		t.Errorf("after two changes, Entries = %+v, %v; want revisions 1 and 2", entries, err)
	}
}

func readsBackEveryField(t *testing.T, s store.Store) {
	c := fullChange("x")
	apply(t, s, scope, "s", 0, c)
	head := c.Head
	head.ID, head.Revision = "s", 1
	entry := c.Entry
	entry.Revision = 1
	cells := func(ids ...store.CellID) (cells []store.Cell) {
		for _, id := range ids {
			i := slices.IndexFunc(c.Cells, func(c store.Cell) bool { return c.ID == id })
			cells = append(cells, c.Cells[i])
		}
		return cells
	}
	equal(t, "contents", contents(t, s, scope).Sessions, []Session{{
		Head:       head,
		Blocks:     c.Blocks,
		Items:      c.Items,
		Cells:      cells("xc1", "xc2", "xc1", "xc1", "xc2", "xc1", "xstub", "xc2", "xabout", "xsummary", "xsent"),
		Edges:      []store.Edge{{Derived: "xstub", Source: "xc1", Rel: "stub"}, {Derived: "xstub", Source: "xc2", Rel: "stub"}},
		Entries:    []store.Entry{entry},
		Statements: c.Statements,
		Rewrites:   c.Rewrites,
	}})
}

func applyRefusesOtherRevisions(t *testing.T, s store.Store) {
	for _, at := range []store.Revision{1, 7, -1} {
		if _, err := s.Apply(t.Context(), scope, "s", at, newChange("op0")); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Apply to no session at %d: %v, want ErrConflict", at, err)
		}
	}
	apply(t, s, scope, "s", 0, newChange("op1"))
	apply(t, s, scope, "s", 1, newChange("op2"))
	before := contents(t, s, scope)
	for _, at := range []store.Revision{0, 1, 3, -1} {
		if _, err := s.Apply(t.Context(), scope, "s", at, fullChange("x")); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Apply at %d to a session at 2: %v, want ErrConflict", at, err)
		}
	}
	equal(t, "contents after the refusals", contents(t, s, scope), before)
	apply(t, s, scope, "s", 2, fullChange("x"))
}

// winners makes concurrent calls of the function write, one for each writer, and returns the number
// of calls that succeed. All others must fail with ErrConflict.
func winners(t *testing.T, writers int, write func(i int) error) (won int) {
	t.Helper()
	errs := make(chan error, writers)
	for i := range writers {
		go func() { errs <- write(i) }()
	}
	for range writers {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrConflict):
			t.Errorf("a loser got %v, want ErrConflict", err)
		}
	}
	return won
}

func applyLetsOneWin(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, newChange("op1"))
	const writers = 8
	won := winners(t, writers, func(i int) error {
		_, err := s.Apply(t.Context(), scope, "s", 1, fullChange(numbered("w", i)))
		return err
	})
	if won != 1 {
		t.Errorf("%d writers won, want 1", won)
	}
	if got := contents(t, s, scope).Sessions; len(got[0].Entries) != 2 || len(got[0].Blocks) != 3 {
		t.Errorf("%d entries and %d blocks, want those of one winner: 2 and 3", len(got[0].Entries), len(got[0].Blocks))
	}
}

func otherSessionsDoNotConflict(t *testing.T, s store.Store) {
	const writers, changes = 6, 4
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			id := transcript.SessionID(numbered("s", w))
			for n := range changes {
				c := fullChange(fmt.Sprintf("w%d-%d-", w, n))
				for i := range c.Blocks {
					c.Blocks[i].Turn += 10 * n
				}
				if _, err := s.Apply(t.Context(), scope, id, store.Revision(n), c); err != nil {
					t.Errorf("Apply to %s at %d: %v", id, n, err)
				}
			}
		})
	}
	wg.Wait()
	got := contents(t, s, scope).Sessions
	if len(got) != writers {
		t.Fatalf("%d sessions, want %d", len(got), writers)
	}
	for _, se := range got {
		if se.Head.Revision != changes || len(se.Entries) != changes || len(se.Blocks) != 3*changes {
			t.Errorf("session %s: revision %d, %d entries, %d blocks; want %d, %d, %d", se.Head.ID,
				se.Head.Revision, len(se.Entries), len(se.Blocks), changes, changes, 3*changes)
		}
	}
}

// bad lists changes to a session that fullChange("x") made, each with one invalid part. In those
// with notFound, Apply must fail with ErrNotFound.
var bad = []struct {
	name     string
	notFound bool
	spoil    func(c *store.Change)
}{
	{"a block that refers to an unknown cell", true, func(c *store.Change) { c.Blocks[1].Cells = []store.CellID{"yc1", "nowhere"} }},
	{"a block whose stub is unknown", true, func(c *store.Change) { c.Blocks[1].Stub = "nowhere" }},
	{"an item that is unknown", true, func(c *store.Change) { c.Items[2] = "nowhere" }},
	{"a head about an unknown cell", true, func(c *store.Change) { c.Head.About = "nowhere" }},
	{"a head with an unknown summary", true, func(c *store.Change) { c.Head.Summary = "nowhere" }},
	{"an edge from an unknown cell", true, func(c *store.Change) { c.Edges[1].Source = "nowhere" }},
	{"an edge to an unknown cell", true, func(c *store.Change) { c.Edges[1].Derived = "nowhere" }},
	{"an index entry for an unknown block", true, func(c *store.Change) { c.Index[1].Block = "nowhere" }},
	{"a cell that is there already", false, func(c *store.Change) { c.Cells[3] = newCell("xc1", store.CellAbout, "again"); c.Head.About = "" }},
	{"a cell twice", false, func(c *store.Change) { c.Cells = append(c.Cells, c.Cells[0]) }},
	{"a commitment that does not hold", false, func(c *store.Change) { c.Cells[3].Commit[0] ^= 1 }},
	{"an edge twice", false, func(c *store.Change) { c.Edges = append(c.Edges, c.Edges[0]) }},
	{"an edge that is there already", false, func(c *store.Change) { c.Edges[0] = fullChange("x").Edges[0] }},
	{"a block twice", false, func(c *store.Change) { c.Blocks = append(c.Blocks, c.Blocks[0]) }},
	{"a state that does not exist", false, func(c *store.Change) { c.Blocks[2].State = "lukewarm" }},
	{"two visible blocks at one turn", false, func(c *store.Change) { c.Blocks[1].Turn = c.Blocks[0].Turn }},
	{"a block at the turn of one that stays", false, func(c *store.Change) { c.Blocks[1].Turn = 2 }},
	{"items from beyond the end", false, func(c *store.Change) { c.ItemsFrom = 4 }},
	{"items from before the first", false, func(c *store.Change) { c.ItemsFrom = -1 }},
	{"an entry whose id is taken", false, func(c *store.Change) { c.Entry.ID = "xop1" }},
	{"an entry without an id", false, func(c *store.Change) { c.Entry.ID = "" }},
}

// second returns a valid second change to a session that fullChange("x") made.
func second() *store.Change {
	c := fullChange("y")
	for i := range c.Blocks {
		c.Blocks[i].Turn += 10
	}
	return c
}

func badPartChangesNothing(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	before := contents(t, s, scope)
	for _, b := range bad {
		c := second()
		b.spoil(c)
		if _, err := s.Apply(t.Context(), scope, "s", 1, c); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: Apply reports %v, want a refusal that is no conflict", b.name, err)
		}
		equal(t, "contents after "+b.name, contents(t, s, scope), before)
		if refs, err := Containing(t.Context(), s, scope, "apple", "apples"); err != nil || len(refs) != 2 {
			t.Errorf("%s: Postings = %v, %v; want the 2 that were there", b.name, refs, err)
		}
		if _, err := collect(s.Cells(t.Context(), scope, []store.CellID{"yc2"})); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: its sound cells: %v, want ErrNotFound", b.name, err)
		}
	}
	apply(t, s, scope, "s", 1, second())
}

func badReferenceIsNotFound(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	for _, b := range bad {
		c := second()
		b.spoil(c)
		if _, err := s.Apply(t.Context(), scope, "s", 1, c); errors.Is(err, store.ErrNotFound) != b.notFound {
			t.Errorf("%s: %v; is it ErrNotFound? want %v", b.name, err, b.notFound)
		}
	}
}

func blocksTradeTurns(t *testing.T, s store.Store) {
	c := newChange("op1")
	c.Blocks = []store.Block{newBlock("a", 1), newBlock("b", 2), newBlock("c", 3)}
	apply(t, s, scope, "s", 0, c)

	trade := newChange("op2")
	off := newBlock("c", 3)
	off.Off = true
	trade.Blocks = []store.Block{newBlock("d", 3), newBlock("a", 2), newBlock("b", 1), off}
	apply(t, s, scope, "s", 1, trade)

	yields(t, "Blocks", s.Blocks(t.Context(), scope, "s"), blockID, "b a d c")
}

func blocksAreReplaced(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	c := newChange("op2")
	changed := newBlock("xb2", 2, "xc1")
	changed.State, changed.Form, changed.Window = store.StateCold, "none", 0
	added := newBlock("xb3", 3)
	c.Blocks = []store.Block{changed, added}
	apply(t, s, scope, "s", 1, c)

	blocks, err := collect(s.Blocks(t.Context(), scope, "s"))
	if err != nil {
		t.Fatal(err)
	}
	old := fullChange("x").Blocks
	equal(t, "Blocks", blocks, []*store.Block{&old[0], &changed, &added, &old[2]})
	for i, cells := range [][]store.CellID{{"xc1", "xc2", "xc1"}, {"xc1", "xc2"}, {"xc2", "xc2"}, nil} { // more, fewer, others, none
		c := newChange(fmt.Sprint("cells", i))
		changed.Cells = cells
		c.Blocks = []store.Block{changed}
		apply(t, s, scope, "s", store.Revision(2+i), c)
		blocks, err := collect(s.Blocks(t.Context(), scope, "s"))
		if err != nil || !slices.Equal(blocks[1].Cells, cells) {
			t.Errorf("the cells of a block are %v, %v; want %v", blocks[1].Cells, err, cells)
		}
	}
	if refs, err := Containing(t.Context(), s, scope, "apples"); err != nil || len(refs) != 1 {
		t.Errorf("a replaced block is found as %v, %v; want it to stay findable", refs, err)
	}
}

func itemsAreReplaced(t *testing.T, s store.Store) {
	c := newChange("op0")
	for i := range 5 {
		id := store.CellID(numbered("c", i))
		c.Cells = append(c.Cells, newCell(id, store.CellItem, string(id)))
		c.Items = append(c.Items, id)
	}
	apply(t, s, scope, "s", 0, c)
	for i, tt := range []struct {
		from  int
		items string
		want  string
	}{
		{5, "0 1", "0 1 2 3 4 0 1"},
		{6, "4", "0 1 2 3 4 0 4"},
		{2, "3 3", "0 1 3 3"},
		{0, "4 2 0", "4 2 0"},
	} {
		c := newChange(numbered("op", i+1))
		c.ItemsFrom = tt.from
		for n := range strings.FieldsSeq(tt.items) {
			c.Items = append(c.Items, store.CellID("c000"+n))
		}
		apply(t, s, scope, "s", store.Revision(i+1), c)
		items, err := s.Items(t.Context(), scope, "s")
		lists(t, fmt.Sprintf("items %q from %d on", tt.items, tt.from), items, err,
			func(id store.CellID) string { return strings.TrimPrefix(string(id), "c000") }, tt.want)
	}
}

func itemsNilAndEmpty(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	leave := newChange("op2")
	leave.ItemsFrom = 9 // has no effect without Items
	apply(t, s, scope, "s", 1, leave)
	items, err := s.Items(t.Context(), scope, "s")
	if err != nil || len(items) != 3 {
		t.Errorf("after nil items, Items = %v, %v; want 3", items, err)
	}
	cut := newChange("op3")
	cut.Items, cut.ItemsFrom = []store.CellID{}, 1
	apply(t, s, scope, "s", 2, cut)
	items, err = s.Items(t.Context(), scope, "s")
	if err != nil || len(items) != 1 {
		t.Errorf("after no items from 1 on, Items = %v, %v; want 1", items, err)
	}
}

func noSessionIsNotFound(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	for name, call := range calls(s) {
		if err := call(t.Context(), scope, "s"); err != nil {
			t.Errorf("%s of a session: %v", name, err)
		}
		if err := call(t.Context(), scope, "another"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of no session: %v, want ErrNotFound", name, err)
		}
	}
}

func emptySession(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, newChange("op1"))
	se, err := ReadSession(t.Context(), s, scope, "s")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(se.Blocks) + len(se.Items) + len(se.Cells) + len(se.Statements); n != 0 {
		t.Errorf("an empty session has %+v", se)
	}
	if heads, err := collect(s.Heads(t.Context(), "empty")); err != nil || len(heads) != 0 {
		t.Errorf("Heads of an empty scope = %v, %v; want none", heads, err)
	}
}

func headsOrder(t *testing.T, s store.Store) {
	for id, updated := range map[transcript.SessionID]time.Time{
		"b": epoch, "a": epoch, "c": epoch.Add(time.Millisecond), "d": epoch.Add(-time.Hour),
	} {
		c := newChange("op" + string(id))
		c.Head.Updated = updated
		apply(t, s, scope, id, 0, c)
	}
	yields(t, "Heads", s.Heads(t.Context(), scope), func(h *store.Head) string { return string(h.ID) }, "c a b d")
}

func blocksOrder(t *testing.T, s store.Store) {
	c := newChange("op1")
	off := func(id transcript.BlockID, turn int) store.Block {
		b := newBlock(id, turn)
		b.Off = true
		return b
	}
	c.Blocks = []store.Block{
		off("n", 2), newBlock("z", 1), off("m", 2), newBlock("k", 10), off("y", 1), newBlock("l", 2),
	}
	apply(t, s, scope, "s", 0, c)
	yields(t, "Blocks", s.Blocks(t.Context(), scope, "s"), blockID, "z l k y m n")
}

func blockID(b *store.Block) string { return string(b.ID) }

func cellsOrder(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	id := func(c *store.Cell) string { return string(c.ID) }
	yields(t, "Cells", s.Cells(t.Context(), scope, []store.CellID{"xstub", "xc1", "xstub", "xc2"}), id, "xstub xc1 xstub xc2")
	yields(t, "Cells of no ids", s.Cells(t.Context(), scope, nil), id, "")
}

func cellsNotFound(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	cells, err := collect(s.Cells(t.Context(), scope, []store.CellID{"xc1", "xc2", "nowhere", "xc1"}))
	if len(cells) != 2 || !errors.Is(err, store.ErrNotFound) || !strings.Contains(fmt.Sprint(err), "nowhere") {
		t.Errorf("Cells = %d cells, %v; want 2 and an ErrNotFound that names the third", len(cells), err)
	}
}

func bodies(t *testing.T, s store.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	c := newChange("op1")
	want := []string{"", "\x00", "\n", string(every), "\xff\xfe not UTF-8", "{\"a\":\t1e400}", "'; DROP TABLE cell; --"}
	for i, body := range want {
		c.Cells = append(c.Cells, newCell(store.CellID(numbered("c", i)), store.CellItem, body))
		c.Items = append(c.Items, c.Cells[i].ID)
	}
	apply(t, s, scope, "s", 0, c)
	cells, err := collect(s.Cells(t.Context(), scope, c.Items))
	if err != nil || len(cells) != len(want) {
		t.Fatalf("Cells = %d cells, %v; want %d", len(cells), err, len(want))
	}
	for i, cell := range cells {
		equal(t, fmt.Sprintf("cell with body %q", want[i]), *cell, c.Cells[i])
	}
}

func largeBody(t *testing.T, s store.Store) {
	body := strings.Repeat("0123456789abcdef", 5<<16)
	c := newChange("op1")
	c.Cells = []store.Cell{newCell("large", store.CellItem, body), newCell("small", store.CellItem, "s")}
	apply(t, s, scope, "s", 0, c)
	cells, err := collect(s.Cells(t.Context(), scope, []store.CellID{"small", "large"}))
	if err != nil || len(cells) != 2 {
		t.Fatalf("Cells = %d cells, %v; want 2", len(cells), err)
	}
	if !bytes.Equal(cells[1].Body, []byte(body)) {
		t.Errorf("the large body came back otherwise, with %d bytes", len(cells[1].Body))
	}
}

func manyCells(t *testing.T, s store.Store) {
	c := newChange("op1")
	const n = 333 // not a multiple of a likely batch size
	for i := range n {
		id := store.CellID(numbered("c", (i*331)%n))
		c.Cells = append(c.Cells, newCell(id, store.CellItem, string(id)))
		c.Items = append(c.Items, id)
	}
	apply(t, s, scope, "s", 0, c)
	items, err := s.Items(t.Context(), scope, "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Items", items, c.Items)
	cells, err := collect(s.Cells(t.Context(), scope, items))
	if err != nil || len(cells) != n {
		t.Fatalf("Cells = %d cells, %v; want %d", len(cells), err, n)
	}
	for i, cell := range cells {
		if cell.ID != items[i] || string(cell.Body) != string(items[i]) {
			t.Fatalf("cell %d is %s with body %q, want %s", i, cell.ID, cell.Body, items[i])
		}
	}
}

func sources(t *testing.T, s store.Store) {
	c := fullChange("x")
	c.Edges = append(c.Edges, store.Edge{Derived: "xstub", Source: "xc1", Rel: "quote"})
	apply(t, s, scope, "s", 0, c)
	got, err := s.Sources(t.Context(), scope, "xstub")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Sources", got, []store.Edge{
		{Derived: "xstub", Source: "xc1", Rel: "quote"},
		{Derived: "xstub", Source: "xc1", Rel: "stub"},
		{Derived: "xstub", Source: "xc2", Rel: "stub"},
	})
	for _, id := range []store.CellID{"xc1", "nowhere"} {
		if got, err := s.Sources(t.Context(), scope, id); len(got) != 0 || err != nil {
			t.Errorf("Sources of %s = %v, %v; want none", id, got, err)
		}
	}
	late := newChange("op2")
	late.Edges = []store.Edge{{Derived: "xc1", Source: "xabout", Rel: "late"}}
	apply(t, s, scope, "s", 1, late)
	if got, err := s.Sources(t.Context(), scope, "xc1"); len(got) != 1 || err != nil {
		t.Errorf("Sources of a cell that got an edge later = %v, %v; want 1", got, err)
	}
}

func entriesAfter(t *testing.T, s store.Store) {
	for i := range 4 {
		c := newChange(numbered("op", i+1))
		c.Entry.Time = epoch.Add(-time.Duration(i) * time.Hour) // the order must not depend on times
		apply(t, s, scope, "s", store.Revision(i), c)
	}
	for after, want := range map[store.Revision]string{
		-1: "op0001 op0002 op0003 op0004", 0: "op0001 op0002 op0003 op0004",
		2: "op0003 op0004", 4: "", 9: "",
	} {
		yields(t, fmt.Sprintf("Entries after %d", after), s.Entries(t.Context(), scope, "s", after), entryID, want)
	}
}

func entryID(e *store.Entry) string { return e.ID }

func entryIDsAreUnique(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, newChange("op1"))
	if _, err := s.Apply(t.Context(), scope, "another", 0, newChange("op1")); err == nil {
		t.Error("two sessions of a scope have an entry of one id")
	}
	apply(t, s, "another", "s", 0, newChange("op1"))
}

func statementsOrder(t *testing.T, s store.Store) {
	var want []string
	for i := range 12 {
		c := newChange(numbered("op", i))
		for j := range i % 4 {
			c.Statements = append(c.Statements, fmt.Sprintf("line %d of change %d: \"é\"\t", j, 12-i))
		}
		want = append(want, c.Statements...)
		apply(t, s, scope, "s", store.Revision(i), c)
	}
	got, err := collect(s.Statements(t.Context(), scope, "s"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Statements", got, want)
}

// keepsTimes checks that times are read back in UTC and whole milliseconds. The function written
// writes a record with the number i and the time in at. Then it reads the record, and returns its
// times by field.
func keepsTimes(t *testing.T, written func(i int, at time.Time) map[string]time.Time) {
	t.Helper()
	east := time.FixedZone("east", 5*60*60)
	for i, tt := range []struct{ in, want time.Time }{
		{epoch, epoch},
		{epoch.In(east), epoch},
		{epoch.Add(999_999), epoch},
		{time.Time{}, time.Time{}},
		{time.Unix(0, 0), time.Unix(0, 0).UTC()},
		{time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC)},
	} {
		for what, got := range written(i, tt.in) {
			if !got.Equal(tt.want) || got.Location() != time.UTC {
				t.Errorf("%s of %v is %v, want %v", what, tt.in, got, tt.want)
			}
		}
	}
}

func times(t *testing.T, s store.Store) {
	keepsTimes(t, func(i int, at time.Time) map[string]time.Time {
		c := newChange(numbered("op", i))
		c.Head.Created, c.Head.Updated, c.Entry.Time = at, at, at
		id := transcript.SessionID(numbered("s", i))
		apply(t, s, scope, id, 0, c)
		se, err := ReadSession(t.Context(), s, scope, id)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]time.Time{"Created": se.Head.Created, "Updated": se.Head.Updated, "Time": se.Entries[0].Time}
	})
}

// oddNames are strings that a driver might escape or compare wrongly.
var oddNames = []string{
	"", "a", "A", " a ", "a/b", "é", "e\u0301", "日本語", "🙂", "it's", `"quoted"`, "100%_", "*", "a\x00b", "\xff", "?x=1#y",
}

func anyStringIsAName(t *testing.T, s store.Store) {
	for i, name := range oddNames {
		c := fullChange(name + "|")
		apply(t, s, governance.Scope(name), transcript.SessionID(name), 0, c)
		c = fullChange(name + "!")
		apply(t, s, scope, transcript.SessionID(name), 0, c)
		if got, err := Containing(t.Context(), s, governance.Scope(name), "apple"); err != nil || len(got) != 1 {
			t.Errorf("%d: Postings of scope %q = %v, %v; want 1", i, name, got, err)
		}
		ref := store.BlockRef{Session: transcript.SessionID(name), Block: transcript.BlockID(name + "!b1")}
		if b, err := s.Block(t.Context(), scope, ref); err != nil || b.ID != ref.Block {
			t.Errorf("Block of %q = %v, %v", ref, b, err)
		}
		if got, err := s.Find(t.Context(), scope, name+"!b1", 9); err != nil || len(got) != 1 || got[0] != ref {
			t.Errorf("Find of %q = %q, %v; want %q", name+"!b1", got, err, ref)
		}
	}
	for _, name := range oddNames {
		got := contents(t, s, governance.Scope(name)).Sessions
		if len(got) != 1 || string(got[0].Head.ID) != name {
			t.Errorf("scope %q has %d sessions, want the one of its name", name, len(got))
			continue
		}
		alone, err := ReadSession(t.Context(), s, governance.Scope(name), transcript.SessionID(name))
		if err != nil {
			t.Errorf("session %q: %v", name, err)
			continue
		}
		equal(t, "session read by name", *alone, got[0])
	}
	if got := contents(t, s, scope).Sessions; len(got) != len(oddNames) {
		t.Errorf("%d sessions, want %d", len(got), len(oddNames))
	}
}

func scopesAreIsolated(t *testing.T, s store.Store) {
	const other governance.Scope = "test/suit" // a prefix of scope, but not its parent
	apply(t, s, scope, "s", 0, fullChange("x"))
	mine := contents(t, s, scope)

	for name, call := range calls(s) {
		if err := call(t.Context(), other, "s"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of a session in another scope: %v, want ErrNotFound", name, err)
		}
	}
	if heads, err := collect(s.Heads(t.Context(), other)); len(heads) != 0 || err != nil {
		t.Errorf("Heads in another scope = %v, %v; want none", heads, err)
	}
	if _, err := collect(s.Cells(t.Context(), other, []store.CellID{"xc1"})); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Cells in another scope: %v, want ErrNotFound", err)
	}
	if edges, err := s.Sources(t.Context(), other, "xstub"); len(edges) != 0 || err != nil {
		t.Errorf("Sources in another scope = %v, %v; want none", edges, err)
	}
	if b, err := s.Block(t.Context(), other, store.BlockRef{Session: "s", Block: "xb1"}); b != nil || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Block in another scope = %v, %v; want ErrNotFound", b, err)
	}
	if refs, err := s.Find(t.Context(), other, "x", 9); len(refs) != 0 || err != nil {
		t.Errorf("Find in another scope = %v, %v; want none", refs, err)
	}
	if refs, err := Containing(t.Context(), s, other, "apple"); len(refs) != 0 || err != nil {
		t.Errorf("Postings in another scope = %v, %v; want none", refs, err)
	}
	if _, err := s.Apply(t.Context(), other, "s", 1, newChange("op2")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Apply in another scope at the revision of this one: %v, want ErrConflict", err)
	}
	refer := newChange("op2")
	refer.Items = []store.CellID{"xc1"}
	if _, err := s.Apply(t.Context(), other, "s", 0, refer); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Apply that refers to a cell of another scope: %v, want ErrNotFound", err)
	}

	// All ids are free in another scope, for other content.
	c := fullChange("x")
	c.Cells[0] = newCell("xc1", store.CellItem, "another one")
	c.Statements = []string{"(another)"}
	apply(t, s, other, "s", 0, c)
	equal(t, "contents of the first scope", contents(t, s, scope), mine)
	if got := contents(t, s, other).Sessions; string(got[0].Cells[0].Body) != "another one" {
		t.Errorf("the cell of the other scope has body %q", got[0].Cells[0].Body)
	}
}

func find(t *testing.T, s store.Store) {
	for _, id := range []transcript.SessionID{"t", "s"} {
		c := newChange("op" + string(id))
		off := newBlock("abd0", 1)
		off.Off = true
		c.Blocks = []store.Block{
			newBlock("ab01", 1), off, newBlock("abc0", 3), newBlock("b000", 2), newBlock("ab\xff\xff", 9), newBlock("AB01", 10),
		}
		apply(t, s, scope, id, 0, c)
	}
	blocks, err := collect(s.Blocks(t.Context(), scope, "t"))
	if err != nil || len(blocks) != 6 {
		t.Fatalf("Blocks = %v, %v; want 6", blocks, err)
	}
	for _, want := range blocks {
		got, err := s.Block(t.Context(), scope, store.BlockRef{Session: "t", Block: want.ID})
		equal(t, fmt.Sprintf("block %q, read with the error %v", want.ID, err), got, want)
	}
	for _, ref := range []store.BlockRef{{Session: "t", Block: "ab"}, {Session: "none", Block: "ab01"}} {
		if got, err := s.Block(t.Context(), scope, ref); got != nil || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Block of %q = %v, %v; want ErrNotFound", ref, got, err)
		}
	}
	for _, tt := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"ab01", 9, "s/ab01 t/ab01"},
		{"abc", 9, "s/abc0 t/abc0"},
		{"ab", 9, "s/ab01 s/abc0 s/abd0 s/ab\xff\xff t/ab01 t/abc0 t/abd0 t/ab\xff\xff"},
		{"ab", 3, "s/ab01 s/abc0 s/abd0"},
		{"ab\xff", 9, "s/ab\xff\xff t/ab\xff\xff"},
		{"", 2, "s/AB01 s/ab01"},
		{"ab", 0, ""},
		{"abcdef", 9, ""},
		{"%", 9, ""},
	} {
		refs, err := s.Find(t.Context(), scope, tt.prefix, tt.limit)
		lists(t, fmt.Sprintf("Find of %q, %d at most", tt.prefix, tt.limit), refs, err,
			func(r store.BlockRef) string { return string(r.Session) + "/" + string(r.Block) }, tt.want)
	}
}

// indexed makes a session with a block for each text, whose index entry has the words of the text.
func indexed(t *testing.T, s store.Store, id transcript.SessionID, texts map[transcript.BlockID]string) {
	t.Helper()
	c := newChange("op" + string(id))
	turn := 0
	for block, text := range texts {
		turn++
		c.Blocks = append(c.Blocks, newBlock(block, turn))
		c.Index = append(c.Index, store.IndexEntry{Block: block, Words: postings.Counts(store.Words(text))})
	}
	apply(t, s, scope, id, 0, c)
}

// Containing returns the blocks of a scope that have at least one of the given words in their
// [store.IndexEntry], ordered by session and id.
func Containing(ctx context.Context, s store.Store, scope governance.Scope, words ...string) ([]store.BlockRef, error) {
	views, err := s.Postings(ctx, scope, words)
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for i := range views {
		v := &views[i]
		for place, id := range v.IDs {
			has := func(l *postings.List) bool { return l != nil && l.Count(uint32(place)) > 0 } //nolint:gosec // it is small
			if v.Lengths[place] > 0 && slices.ContainsFunc(v.Lists, has) {
				numbers = append(numbers, id)
			}
		}
	}
	refs, err := s.Numbered(ctx, scope, numbers)
	slices.SortFunc(refs, func(a, b store.BlockRef) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Block, b.Block))
	})
	return refs, err
}

// found returns the ids of the blocks that have at least one of the given words, joined by spaces.
func found(t *testing.T, s store.Store, words ...string) string {
	t.Helper()
	refs, err := Containing(t.Context(), s, scope, words...)
	if err != nil {
		t.Errorf("Postings of %q: %v", words, err)
	}
	var got []string
	for _, r := range refs {
		got = append(got, string(r.Block))
	}
	return strings.Join(got, " ")
}

func postingsOfWords(t *testing.T, s store.Store) {
	indexed(t, s, "s", map[transcript.BlockID]string{
		"a": "the build fails with exit_code 127",
		"b": "Run `make BUILD` again, then /usr/bin/env",
		"c": "Größe und ПРИВЕТ und 東京, naïve",
		"d": "building blocks: build-block; 3.14",
		"e": "",
	})
	indexed(t, s, "t", map[transcript.BlockID]string{"f": "another session's build"})
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"build"}, "a b d f"},
		{[]string{"BUILD"}, ""},
		{[]string{"building"}, "d"},
		{[]string{"buil"}, ""},
		{[]string{"fails", "building", "absent"}, "a d"},
		{[]string{"build", "build"}, "a b d f"},
		{[]string{"exit_code"}, "a"},
		{[]string{"exit", "code"}, ""},
		{[]string{"127"}, "a"},
		{[]string{"größe"}, "c"},
		{[]string{"grösse", "grosse"}, ""},
		{[]string{"привет"}, "c"},
		{[]string{"東京"}, "c"},
		{[]string{"naive"}, ""},
		{[]string{"usr", "bin"}, "b"},
		{[]string{"14"}, "d"},
		{nil, ""},
		{[]string{"", " ", "-", `"`, "*", "(", "OR", "text:127"}, ""},
	} {
		if got := found(t, s, tt.words...); got != tt.want {
			t.Errorf("Postings of %q has %q, want %q", tt.words, got, tt.want)
		}
	}
}

func postingsCount(t *testing.T, s store.Store) {
	indexed(t, s, "s", map[transcript.BlockID]string{"a": "common", "b": "common common other", "c": ""})
	indexed(t, s, "t", map[transcript.BlockID]string{"d": "other"})
	c := newChange("op2")
	c.Index = []store.IndexEntry{{Block: "a", Words: postings.Counts(store.Words("common rare rare"))}}
	apply(t, s, scope, "s", 1, c)
	views, err := s.Postings(t.Context(), scope, []string{"common", "other", "rare", "none"})
	if err != nil {
		t.Fatal(err)
	}
	docs, total, having, counts := 0, uint64(0), make([]int, 4), make([]uint32, 4)
	for i := range views {
		v := &views[i]
		docs, total = docs+v.Docs(), total+v.Words
		for k, l := range v.Lists {
			having[k] += v.Having(k)
			for place, length := range v.Lengths {
				if l != nil && length > 0 {
					counts[k] += l.Count(uint32(place)) //nolint:gosec // it is small
				}
			}
		}
	}
	if docs != 3 || total != 7 || !slices.Equal(having, []int{2, 2, 1, 0}) || !slices.Equal(counts, []uint32{3, 2, 2, 0}) {
		t.Errorf("%d blocks of %d words, of which %v have words, %v times; want 3 of 7, [2 2 1 0], [3 2 2 0]", docs, total, having, counts)
	}
	refs, err := s.Numbered(t.Context(), scope, []int64{1 << 40, -1})
	equal(t, "blocks with numbers that there are not", refs, make([]store.BlockRef, 2))
	if err != nil {
		t.Error(err)
	}
}

func numberedInOrder(t *testing.T, s store.Store) {
	indexed(t, s, "s", map[transcript.BlockID]string{"a": "first", "b": "second"})
	number := func(word string) int64 {
		views, err := s.Postings(t.Context(), scope, []string{word})
		if err != nil {
			t.Fatal(err)
		}
		for i := range views {
			for place, id := range views[i].IDs {
				if l := views[i].Lists[0]; l != nil && l.Count(uint32(place)) > 0 { //nolint:gosec // it is small
					return id
				}
			}
		}
		t.Fatalf("%q is in no block", word)
		return 0
	}
	a, b := number("first"), number("second")
	refs, err := s.Numbered(t.Context(), scope, []int64{b, a, 1 << 40, b})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "blocks of numbers, one of them twice", refs, []store.BlockRef{{Session: "s", Block: "b"}, {Session: "s", Block: "a"}, {}, {Session: "s", Block: "b"}})
}

func indexIsReplaced(t *testing.T, s store.Store) {
	indexed(t, s, "s", map[transcript.BlockID]string{"a": "old word", "b": "old word"})
	c := newChange("op2")
	c.Index = []store.IndexEntry{{Block: "a", Words: postings.Counts(store.Words("new word"))}, {Block: "b"}}
	apply(t, s, scope, "s", 1, c)
	for term, want := range map[string]string{"old": "", "new": "a", "word": "a"} {
		if got := found(t, s, term); got != want {
			t.Errorf("Postings of %q has %q, want %q", term, got, want)
		}
	}
}

func iteratorsSeeASnapshot(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "t", 0, fullChange("y"))
	next := func(n int) *store.Change {
		c := fullChange(numbered("z", n))
		for i := range c.Blocks {
			c.Blocks[i].Turn += 100 * (n + 1)
		}
		c.Head.Updated = epoch.Add(-time.Hour)
		return c
	}
	revision := store.Revision(1)
	// write changes session s and adds another session. An iteration that began before must not
	// see that.
	write := func() {
		apply(t, s, scope, "s", revision, next(int(revision)))
		apply(t, s, scope, transcript.SessionID(numbered("u", int(revision))), 0, newChange(numbered("opu", int(revision))))
		revision++
	}
	before, err := ReadSession(t.Context(), s, scope, "s")
	if err != nil {
		t.Fatal(err)
	}
	counts(t, "Heads", during(s.Heads(t.Context(), scope), write), 2)
	counts(t, "Blocks", during(s.Blocks(t.Context(), scope, "s"), write), len(before.Blocks)+3)
	counts(t, "Entries", during(s.Entries(t.Context(), scope, "s", 0), write), 3)
	counts(t, "Statements", during(s.Statements(t.Context(), scope, "s"), write), 8)
	// An iteration reads nothing before it begins.
	late := s.Entries(t.Context(), scope, "s", 0)
	write()
	counts(t, "Entries, begun after 6 changes", late, 6)
	counts(t, "Entries, begun again", late, 6)
}

// during yields the values of seq, and calls the function write after the first value.
func during[T any](seq iter.Seq2[T, error], write func()) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		begun := false
		for v, err := range seq {
			if !yield(v, err) {
				return
			}
			if !begun && err == nil {
				begun = true
				write()
			}
		}
	}
}

// counts checks the number of values of an iteration.
func counts[T any](t *testing.T, what string, seq iter.Seq2[T, error], want int) {
	t.Helper()
	if n, err := size(seq); n != want || err != nil {
		t.Errorf("%s yielded %d, %v; want %d", what, n, err, want)
	}
}

func iteratorsStopEarly(t *testing.T, s store.Store) {
	c := fullChange("x")
	apply(t, s, scope, "s", 0, c)
	apply(t, s, scope, "t", 0, fullChange("y"))
	for range 20 { // more than a store has connections
		stopEarly(t, s.Heads(t.Context(), scope))
		stopEarly(t, s.Blocks(t.Context(), scope, "s"))
		stopEarly(t, s.Cells(t.Context(), scope, c.Items))
		stopEarly(t, s.Entries(t.Context(), scope, "s", 0))
		stopEarly(t, s.Statements(t.Context(), scope, "s"))
	}
	apply(t, s, scope, "s", 1, newChange("op2"))
}

func stopEarly[T any](t *testing.T, seq iter.Seq2[T, error]) {
	t.Helper()
	n := 0
	for _, err := range seq {
		if n++; err != nil {
			t.Error(err)
		}
		break
	}
	if n != 1 {
		t.Errorf("the iteration yielded %d times, want one to stop at", n)
	}
}

func iterationsNest(t *testing.T, s store.Store) {
	const readers = 8
	apply(t, s, scope, "s", 0, fullChange("x"))
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for h, err := range s.Heads(t.Context(), scope) {
				if err != nil {
					t.Error(err)
					return
				}
				for b, err := range s.Blocks(t.Context(), scope, h.ID) {
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := collect(s.Cells(t.Context(), scope, b.Cells)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func nothingIsShared(t *testing.T, s store.Store) {
	c := fullChange("x")
	apply(t, s, scope, "s", 0, c)
	before := contents(t, s, scope)

	scribble := func(cells []store.Cell, blocks []store.Block, entries []store.Entry, items []store.CellID) {
		for i := range cells {
			clear(cells[i].Body)
		}
		for i := range blocks {
			clear(blocks[i].Tools)
			clear(blocks[i].Cells)
		}
		for i := range entries {
			clear(entries[i].Data)
		}
		clear(items)
	}
	scribble(c.Cells, c.Blocks, []store.Entry{c.Entry}, c.Items)
	clear(c.Statements)
	after := contents(t, s, scope)
	equal(t, "contents after what went in was changed", after, before)

	got := after.Sessions
	scribble(got[0].Cells, got[0].Blocks, got[0].Entries, got[0].Items)
	equal(t, "contents after what came out was changed", contents(t, s, scope), before)
}

func contextDone(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	before := contents(t, s, scope)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all := calls(s)
	maps.Copy(all, map[string]sessionCall{
		"Apply": func(ctx ctxT, sc scopeT, id idT) error { return errorOf(s.Apply(ctx, sc, id, 1, second())) },
		"Heads": func(ctx ctxT, sc scopeT, _ idT) error { return errorOf(collect(s.Heads(ctx, sc))) },
		"Cells": func(ctx ctxT, sc scopeT, _ idT) error {
			return errorOf(collect(s.Cells(ctx, sc, []store.CellID{"xc1"})))
		},
		"Sources": func(ctx ctxT, sc scopeT, _ idT) error { return errorOf(s.Sources(ctx, sc, "xstub")) },
		"Block": func(ctx ctxT, sc scopeT, _ idT) error {
			return errorOf(s.Block(ctx, sc, store.BlockRef{Session: "s", Block: "xb1"}))
		},
		"Find":     func(ctx ctxT, sc scopeT, _ idT) error { return errorOf(s.Find(ctx, sc, "x", 9)) },
		"Postings": func(ctx ctxT, sc scopeT, _ idT) error { return errorOf(s.Postings(ctx, sc, []string{"apple"})) },
		"Numbered": func(ctx ctxT, sc scopeT, _ idT) error { return errorOf(s.Numbered(ctx, sc, []int64{1})) },
		"Info":     func(ctx ctxT, _ scopeT, _ idT) error { return errorOf(s.Info(ctx)) },
		"Scopes":   func(ctx ctxT, _ scopeT, _ idT) error { return errorOf(s.Scopes(ctx)) },
		"Check":    func(ctx ctxT, _ scopeT, _ idT) error { return errorOf(s.Check(ctx)) },
	})
	for name, call := range all {
		if err := call(ctx, scope, "s"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s in a context that is done: %v, want context.Canceled", name, err)
		}
	}
	equal(t, "contents afterwards", contents(t, s, scope), before)
}

func info(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, "another", "s", 0, fullChange("y"))
	got, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Sessions != 2 || got.Blocks != 6 || got.Cells != 12 || got.Bytes <= 0 || got.Driver == "" || got.Version == "" || got.Schema < 1 {
		t.Errorf("Info = %+v, want 2 sessions, 6 blocks, 12 cells and all else filled in", got)
	}
}

func scopes(t *testing.T, s store.Store) {
	if got, err := s.Scopes(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("Scopes of an empty store = %q, %v", got, err)
	}
	apply(t, s, "b", "s", 0, fullChange("x"))
	apply(t, s, "a", "s", 0, fullChange("y"))
	update(t, s, "c", fullUpdate("z"))
	record(t, s, "d", begun("call_1", "", 0))
	want := []governance.Scope{"a", "b", "c", "d"}
	if got, err := s.Scopes(t.Context()); !slices.Equal(got, want) || err != nil {
		t.Errorf("Scopes = %q, %v; want %q", got, err, want)
	}
}

func checkNamesHeads(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	if problems, err := s.Check(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("Check of a sound store = %q, %v; want none", problems, err)
	}
	c := fullChange("y")
	c.Head.Tokens++
	c.Head.Blocks++
	apply(t, s, scope, "odd session", 0, c)
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) != 2 {
		t.Fatalf("Check of a store with two wrong sums = %q, %v; want 2 problems", problems, err)
	}
	for i, want := range []string{"tokens", "blocks"} {
		if !strings.Contains(problems[i], "odd session") || !strings.Contains(problems[i], want) {
			t.Errorf("problem %q does not name the session and its %s", problems[i], want)
		}
	}
	if again, err := s.Check(t.Context()); !slices.Equal(problems, again) || err != nil {
		t.Errorf("Check again = %q, %v; want %q", again, err, problems)
	}
}

func backup(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	path := filepath.Join(t.TempDir(), "a copy")
	err := s.Backup(t.Context(), path)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() == 0 {
		t.Errorf("the backup: %v, %v", fi, err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Backup to a file that exists: %v, want fs.ErrExist", err)
	}
}
