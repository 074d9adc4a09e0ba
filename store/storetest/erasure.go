package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// erasureChecks are the checks of sessions that are removed or purged.
var erasureChecks = []check{
	{"A session keeps the status that a change gives it, and comes back live", statusOfSession},
	{"Apply refuses an invalid status of a session, and an erasure of a live session", statusRefused},
	{"Brought returns every cell that the changes of a session added, and no other", brought},
	{"Erase deletes contract and index entries of one session, and nothing else", erased},
	{"An erased session with purged cells has valid references", erasedIsWhole},
	{"A session that is purged may begin again", begunAgain},
}

// retire returns a change that only sets the status of a session that fullChange(prefix) made.
func retire(prefix, entry string, status store.Status) *store.Change {
	c := newChange(prefix + entry)
	c.Head = fullChange(prefix).Head
	c.Head.Status = status
	return c
}

func statusOfSession(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "other", 0, fullChange("y"))
	statuses := func(want store.Status) {
		t.Helper()
		heads, err := collect(s.Heads(t.Context(), scope))
		if err != nil || len(heads) != 2 {
			t.Fatalf("%d heads, %v", len(heads), err)
		}
		for _, h := range heads {
			one, err := s.Head(t.Context(), scope, h.ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "head and that of the list", one, h)
			expected := want
			if h.ID == "other" {
				expected = ""
			}
			if h.Status != expected {
				t.Errorf("session %s is %q, want %q", h.ID, h.Status, expected)
			}
		}
	}
	statuses("")
	before := contents(t, s, scope)
	for i, status := range []store.Status{store.StatusTombstoned, store.StatusPurged, store.StatusTombstoned, ""} {
		apply(t, s, scope, "s", store.Revision(i+1), retire("x", "op"+string(rune('a'+i)), status))
		statuses(status)
	}
	after := contents(t, s, scope)
	for i := range after.Sessions { // only the journal and the revision differ
		after.Sessions[i].Entries, before.Sessions[i].Entries = nil, nil
		after.Sessions[i].Head.Revision, before.Sessions[i].Head.Revision = 0, 0
	}
	equal(t, "contents", after, before)
}

func statusRefused(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	before := contents(t, s, scope)
	for _, status := range []store.Status{store.StatusLive, store.StatusRefuted, store.StatusHeld, "gone"} {
		if _, err := s.Apply(t.Context(), scope, "s", 1, retire("x", "op", status)); err == nil {
			t.Errorf("the status %q is taken", status)
		}
	}
	for _, c := range []*store.Change{retire("x", "op", ""), retire("x", "op", store.StatusTombstoned), retire("x", "op", store.StatusPurged)} {
		c.Erase = true
		if c.Head.Status == store.StatusPurged {
			c.Statements = []string{"more"}
		}
		if _, err := s.Apply(t.Context(), scope, "s", 1, c); err == nil {
			t.Errorf("a session that is %q is erased, with %d statements more", c.Head.Status, len(c.Statements))
		}
	}
	equal(t, "contents", contents(t, s, scope), before)
}

func brought(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "other", 0, fullChange("y"))
	next := retire("x", "op2", "")
	next.Cells = []store.Cell{newCell("xc0", store.CellItem, "in place of one"), newCell("xabout2", store.CellAbout, "{}")}
	next.Head.About, next.ItemsFrom, next.Items = "xabout2", 0, []store.CellID{"xc0"}
	apply(t, s, scope, "s", 1, next) // no record refers to xabout any more
	want := []store.CellID{"xabout", "xabout2", "xc0", "xc1", "xc2", "xsent", "xstub", "xsummary"}
	for sc, expected := range map[governance.Scope][]store.CellID{scope: want, "test": nil, "test/other": nil} {
		if got, err := s.Brought(t.Context(), sc, "s"); err != nil || !slices.Equal(got, expected) {
			t.Errorf("scope %s: %q, %v; want %q", sc, got, err, expected)
		}
	}
	if got, err := s.Brought(t.Context(), scope, "none"); err != nil || len(got) > 0 {
		t.Errorf("no session brought %q, %v", got, err)
	}
	refused := retire("x", "op2", "")
	refused.Cells = []store.Cell{newCell("xlost", store.CellItem, "lost")}
	if _, err := s.Apply(t.Context(), scope, "s", 2, refused); err == nil {
		t.Fatal("an entry is taken twice")
	}
	if got, err := s.Brought(t.Context(), scope, "s"); err != nil || !slices.Equal(got, want) {
		t.Errorf("after a change that was refused: %q, %v", got, err)
	}
}

// erasure returns the change that erases a session that fullChange(prefix) made.
func erasure(prefix string) *store.Change {
	c := retire(prefix, "erase", store.StatusPurged)
	c.Head.Summary, c.Erase = "", true
	for _, b := range fullChange(prefix).Blocks {
		b.State, b.Stub, b.Window, b.Tools, b.Pinned = store.StatePurged, "", 0, nil, false
		c.Blocks = append(c.Blocks, b)
	}
	return c
}

func erased(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "other", 0, fullChange("y"))
	apply(t, s, "test/other", "s", 0, fullChange("x"))
	other, elsewhere := contents(t, s, scope).Sessions, contents(t, s, "test/other")
	apply(t, s, scope, "s", 1, erasure("x"))

	if lines, err := collect(s.Statements(t.Context(), scope, "s")); err != nil || len(lines) > 0 {
		t.Errorf("statements %q, %v", lines, err)
	}
	refs, err := Containing(t.Context(), s, scope, "apple", "apples", "one", "two")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what is found", refs, []store.BlockRef{{Session: "other", Block: "yb1"}, {Session: "other", Block: "yb2"}})
	if refs, err := s.Find(t.Context(), scope, "x", 10); err != nil || len(refs) != 3 {
		t.Errorf("found by id: %v, %v", refs, err)
	}
	for _, se := range contents(t, s, scope).Sessions {
		if se.Head.ID == "other" {
			equal(t, "the other session", se, other[slices.IndexFunc(other, func(o Session) bool { return o.Head.ID == "other" })])
		}
	}
	equal(t, "another scope", contents(t, s, "test/other"), elsewhere)
}

func erasedIsWhole(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	cells, err := s.Brought(t.Context(), scope, "s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Update(t.Context(), scope, &store.Update{Purge: cells, Entry: store.Entry{ID: "purge", Op: "purge", Actor: governance.ActorUser, Time: epoch}})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, scope, "s", 1, erasure("x"))
	for _, id := range cells {
		_, err := collect(s.Cells(t.Context(), scope, []store.CellID{id}))
		if gone, ok := errors.AsType[*store.GoneError](err); !ok || gone.Cell != id || gone.Commit == (store.Cell{}).Commit {
			t.Errorf("cell %s: %v", id, err)
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("problems %q, %v", problems, err)
	}
	if list, err := collect(s.Entries(t.Context(), scope, "s", 0)); err != nil || len(list) != 2 {
		t.Errorf("%d entries, %v", len(list), err)
	}
}

func begunAgain(t *testing.T, s store.Store) {
	apply(t, s, scope, "s", 0, fullChange("x"))
	apply(t, s, scope, "s", 1, erasure("x"))
	again := fullChange("z")
	for _, b := range erasure("x").Blocks {
		b.Off = true
		again.Blocks = append(again.Blocks, b)
	}
	apply(t, s, scope, "s", 2, again)
	h, err := s.Head(t.Context(), scope, "s")
	if err != nil || h.Status != "" {
		t.Errorf("head %+v, %v", h, err)
	}
	refs, err := Containing(t.Context(), s, scope, "apple")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what is found", refs, []store.BlockRef{{Session: "s", Block: "zb1"}})
	blocks, err := collect(s.Blocks(t.Context(), scope, "s"))
	if err != nil || len(blocks) != 6 || blocks[0].ID != transcript.BlockID("zb1") {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
}
