package sqlite_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// epoch is the time of the first change of every script.
var epoch = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// A script makes the changes of one session: an import, then typical changes by agents. The changes
// depend only on the name of the session, so that a test can compute the content of a store at any
// revision.
type script struct {
	id     transcript.SessionID
	rng    *rand.Rand
	done   int // number of changes made
	cells  int // number of cells made
	items  int // length of the list of items
	blocks []store.Block
}

func newScript(id transcript.SessionID) *script {
	h := fnv.New64a()
	fmt.Fprint(h, id)
	return &script{id: id, rng: rand.New(rand.NewPCG(h.Sum64(), 1))}
}

// next returns the next change.
func (s *script) next() *store.Change {
	s.done++
	c := &store.Change{
		Entry: store.Entry{
			ID: fmt.Sprintf("op-%s-%d", s.id, s.done), Actor: governance.ActorUser,
			Time: epoch.Add(time.Duration(s.done) * time.Second), Data: fmt.Appendf(nil, `{"n": %d}`, s.done),
		},
		Statements: []string{fmt.Sprintf("(change %d)", s.done)},
	}
	switch roll := s.rng.IntN(10); {
	case s.done == 1:
		c.Entry.Op = "import"
		s.add(c, 5+s.rng.IntN(10))
	case roll < 5:
		c.Entry.Op = "append"
		s.add(c, 1+s.rng.IntN(4))
	case roll < 9:
		c.Entry.Op = "page"
		s.page(c)
	default:
		c.Entry.Op = "rewind"
		s.rewind(c)
		s.add(c, 2)
	}
	s.head(c)
	return c
}

// cell adds a cell to a change and returns its id.
func (s *script) cell(c *store.Change, kind store.CellKind) store.CellID {
	s.cells++
	id := store.CellID(fmt.Sprintf("%s-%06d", s.id, s.cells))
	body := strings.Repeat(fmt.Sprintf("%s line %d\n", id, s.rng.IntN(1000)), s.rng.IntN(40))
	cell := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte(body)}
	cell.Commit = digest.Commit(cell.Salt, string(kind), cell.Body)
	c.Cells = append(c.Cells, cell)
	return id
}

// add appends n blocks.
func (s *script) add(c *store.Change, n int) {
	c.ItemsFrom = s.items
	for range n {
		b := store.Block{
			ID:   transcript.BlockID(fmt.Sprintf("%08x", s.rng.Uint32())),
			Turn: s.turn(), Kind: transcript.KindTool, Tools: []string{"Bash"},
			Tokens: 100, State: store.StateLive, Form: "full", Window: 100,
		}
		for range 1 + s.rng.IntN(3) {
			id := s.cell(c, store.CellItem)
			b.Cells, c.Items = append(b.Cells, id), append(c.Items, id)
			s.items++
		}
		s.blocks = append(s.blocks, b)
		c.Blocks = append(c.Blocks, b)
		c.Index = append(c.Index, store.IndexEntry{Block: b.ID, Words: postings.Counts(store.Words(string(c.Cells[len(c.Cells)-1].Body)))})
	}
}

// turn returns the turn of the next block.
func (s *script) turn() int {
	turn := 1
	for _, b := range s.blocks {
		if !b.Off {
			turn++
		}
	}
	return turn
}

// page changes the state of some blocks.
func (s *script) page(c *store.Change) {
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.Off || s.rng.IntN(3) > 0 {
			continue
		}
		switch s.rng.IntN(3) {
		case 0:
			b.State, b.Form, b.Window, b.Stub = store.StateLive, "full", b.Tokens, ""
		case 1:
			b.State, b.Form, b.Window, b.Stub = store.StateStub, "stub", 7, s.cell(c, store.CellStub)
			c.Edges = append(c.Edges, store.Edge{Derived: b.Stub, Source: b.Cells[0], Rel: "stub"})
		default:
			b.State, b.Form, b.Window, b.Stub = store.StateCold, "none", 0, ""
		}
		c.Blocks = append(c.Blocks, *b)
	}
}

// rewind marks the last blocks as off.
func (s *script) rewind(c *store.Change) {
	for n := s.rng.IntN(4); n > 0; n-- {
		for i := range slices.Backward(s.blocks) {
			if b := &s.blocks[i]; !b.Off {
				b.Off = true
				s.items -= len(b.Cells)
				c.Blocks = append(c.Blocks, *b)
				break
			}
		}
	}
}

func (s *script) head(c *store.Change) {
	c.Head = store.Head{Format: "test", Encoding: "o200k", Created: epoch, Updated: c.Entry.Time}
	for _, b := range s.blocks {
		if !b.Off {
			c.Head.Blocks++
			c.Head.Messages += len(b.Cells)
			c.Head.Tokens += b.Tokens
			c.Head.Window += b.Window
		}
	}
}

// An author makes the updates of one writer, to artifacts of its own. The updates depend only on its
// name and on the versions that Update has returned to it.
type author struct {
	name    string
	done    int           // number of updates made
	version store.Version // version of the last update
	last    *store.Update
}

// next returns the next update.
func (a *author) next() *store.Update {
	n := a.done + 1
	id := func(what string, n int) string { return fmt.Sprintf("%s-%s-%d", a.name, what, n) }
	at := epoch.Add(time.Duration(n) * time.Second)
	u := &store.Update{Entry: store.Entry{
		ID: id("up", n), Op: "put", Actor: governance.ActorUser, Time: at, Data: fmt.Appendf(nil, `{"n": %d}`, n),
	}}
	cell := func(what string, kind store.CellKind, body string) store.CellID {
		c := store.Cell{ID: store.CellID(id(what, n)), Kind: kind, Salt: digest.Salt(digest.Of([]byte(id(what, n)))), Body: []byte(body)}
		c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
		u.Cells = append(u.Cells, c)
		return c.ID
	}
	text := strings.Repeat(id("line", n)+" ", n%50)
	u.Artifacts = []store.Write{{Artifact: store.Artifact{
		ID: store.ArtifactID(id("art", n)), Class: provenance.Memory, Status: store.StatusLive,
		Content: cell("text", store.CellText, text), About: cell("about", store.CellAbout, "{}"),
		Created: at, Updated: at, Address: id("address", n),
	}}}
	u.Index = []store.ArtifactText{{Artifact: u.Artifacts[0].ID, Text: text}}
	sent := cell("sent", store.CellSegment, text)
	u.Edges = []store.Edge{{Derived: sent, Source: u.Artifacts[0].Content, Rel: "sent"}}
	u.Manifest = &store.Manifest{ID: id("m", n), Created: at, Body: []byte("{}"), Uses: []store.ArtifactID{u.Artifacts[0].ID}}
	if a.last != nil {
		before := a.last.Artifacts[0]
		before.Status, before.At = store.StatusTombstoned, a.version
		if n%7 == 0 {
			before.Status, u.Purge = store.StatusPurged, []store.CellID{before.Content}
		}
		u.Artifacts = append(u.Artifacts, before)
		u.Manifest.Uses = append(u.Manifest.Uses, before.ID)
		u.Outcome = &store.ContextOutcome{Manifest: a.last.Manifest.ID, Actor: governance.ActorUser, Time: at}
	}
	return u
}

// made tells the author that u was made and which version it got.
func (a *author) made(u *store.Update, version store.Version) {
	a.done, a.last, a.version = a.done+1, u, version
}
