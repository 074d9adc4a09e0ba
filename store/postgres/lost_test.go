package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

// A cutter stands between a store and its server and cuts connections: before what ends a
// transaction goes to the server, or after it has gone and before the answer comes back.
type cutter struct {
	listener net.Listener
	target   string // path of the server's socket

	before, after atomic.Int64 // how many are to be cut
	cut           atomic.Int64 // how many were

	// ends reports whether a message to the server is one to cut at; the default is isEnd.
	ends func(data []byte) bool

	// meanwhile is done when a connection was cut before the end of its transaction and the
	// store has not noticed, if it is not nil.
	meanwhile func()
}

// newCutter returns a cutter before the server of a database, and the address that leads
// through it.
func newCutter(t *testing.T, address string) (*cutter, string) {
	t.Helper()
	dir := strings.TrimSuffix(strings.SplitAfter(address, "host=")[1], "&")
	dir = strings.ReplaceAll(dir, "%2F", "/")
	between, err := os.MkdirTemp("", "cut") //nolint:usetesting // a socket has a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(between) })
	c := &cutter{target: dir + "/.s.PGSQL.5432", ends: isEnd}
	if c.listener, err = net.Listen("unix", between+"/.s.PGSQL.5432"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.listener.Close() })
	go func() {
		for {
			conn, err := c.listener.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c, strings.Split(address, "host=")[0] + "host=" + strings.ReplaceAll(between, "/", "%2F")
}

// take reports whether one of a number is left, and takes it.
func take(n *atomic.Int64) bool {
	for {
		left := n.Load()
		if left <= 0 {
			return false
		}
		if n.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

func (c *cutter) serve(client net.Conn) {
	server, err := net.Dial("unix", c.target)
	if err != nil {
		_ = client.Close()
		return
	}
	var mute atomic.Bool   // nothing of the server's answers gets through any more
	var cutting sync.Mutex // while it is locked, the client does not notice that the server is gone
	var wg sync.WaitGroup
	wg.Go(func() {
		defer server.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if n > 0 {
				if ends := c.ends(buf[:n]); ends && take(&c.before) {
					c.cut.Add(1)
					cutting.Lock()
					defer cutting.Unlock()
					_ = server.Close()
					if c.meanwhile != nil {
						c.meanwhile()
					}
					_ = client.Close()
					return
				} else if ends && take(&c.after) {
					c.cut.Add(1)
					mute.Store(true)
				}
				if _, err := server.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	wg.Go(func() {
		defer func() {
			cutting.Lock()
			defer cutting.Unlock()
			_ = client.Close()
		}()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if mute.Load() {
				return // the server has answered, so it is done
			}
			if n > 0 {
				if _, err := client.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	wg.Wait()
}

// isEnd reports whether a message to the server ends a transaction that writes something: what
// these tests write has the marker in it, and goes to the server together with the COMMIT.
func isEnd(data []byte) bool {
	return strings.Contains(string(data), marker)
}

// marker is in what the writes of these tests write last, and in nothing that they read by.
const marker = "cut-here"

func openThrough(t *testing.T, address string) *database {
	t.Helper()
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), address, &Options{Conns: 4, Patience: 20 * time.Second}, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// writes are the ways to write, each of which writes something with the marker in it, of a
// number.
var writes = map[string]func(ctx context.Context, s store.Database, n int) error{
	"Apply": func(ctx context.Context, s store.Database, n int) error {
		_, err := s.Apply(ctx, "test", "s", store.Revision(n), changeOf(fmt.Sprintf("op%d", n)))
		return err
	},
	"Update": func(ctx context.Context, s store.Database, n int) error {
		version, err := s.Update(ctx, "test", &store.Update{Entry: entryOf(fmt.Sprintf("up%d", n))})
		if err == nil && version != store.Version(n+1) {
			err = fmt.Errorf("update %d made version %d", n, version)
		}
		return err
	},
	"Record of a beginning": func(ctx context.Context, s store.Database, n int) error {
		return s.Record(ctx, "test", []store.Call{{
			ID: fmt.Sprintf("call_%d", n), State: store.CallIntent, Begun: time.UnixMilli(1), Intent: []byte(`"` + marker + `"`),
		}})
	},
}

func entryOf(id string) store.Entry {
	return store.Entry{ID: id, Op: "import", Actor: governance.ActorUser, Time: time.UnixMilli(1), Data: []byte(`"` + marker + `"`)}
}

func changeOf(id string) *store.Change {
	c := &store.Change{Entry: entryOf(id), Statements: []string{id}}
	cell := store.Cell{ID: store.CellID(id), Kind: store.CellItem, Body: []byte(id)}
	cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
	c.Cells = []store.Cell{cell}
	return c
}

// A write whose connection is cut before it is made is made, and one whose connection is cut
// after it was made is not made again: the caller gets the revision that it made.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := postgres.New(t)
			openStore(t, address) // makes the tables
			c, through := newCutter(t, address)
			s := openThrough(t, through)
			for n := range 12 {
				c.before.Store(int64(n % 3))
				c.after.Store(int64(n % 2))
				if err := write(t.Context(), s, n); err != nil {
					t.Fatalf("write %d: %v", n, err)
				}
			}
			if c.cut.Load() == 0 {
				t.Error("no connection was cut")
			}
			checkMade(t, openStore(t, address), name, 12)
		})
	}
}

// checkMade checks that so many writes were made, each once.
func checkMade(t *testing.T, s *database, name string, want int) {
	t.Helper()
	got := 0
	switch name {
	case "Apply":
		se, err := storetest.ReadSession(t.Context(), s, "test", "s")
		if err != nil {
			t.Fatal(err)
		}
		if got = len(se.Entries); len(se.Statements) != got {
			t.Errorf("%d statements, want %d", len(se.Statements), got)
		}
	case "Update":
		for _, err := range s.Log(t.Context(), "test", 0) {
			if err != nil {
				t.Fatal(err)
			}
			got++
		}
	default:
		for _, err := range s.Calls(t.Context(), "test", store.CallFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			got++
		}
	}
	if got != want {
		t.Errorf("%d writes were made, want %d", got, want)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
}

// A store is opened though its connection is cut at any message to the server.
func TestOpenThroughLostConnections(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	openStore(t, address)
	for at := int64(1); ; at++ {
		c, through := newCutter(t, address)
		var messages atomic.Int64
		c.ends = func([]byte) bool { return messages.Add(1) == at }
		c.before.Store(1)
		openThrough(t, through)
		if c.cut.Load() == 0 { // it was open before
			if at < 4 {
				t.Errorf("a store is opened with %d messages", at-1)
			}
			return
		}
	}
}

// Without the look at what an earlier attempt has made, a write that was made is refused, or
// made twice: the test above would notice.
func TestLostConnectionsBites(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	openStore(t, address)
	c, through := newCutter(t, address)
	s := openThrough(t, through)
	s.forgetful = true
	c.after.Store(1)
	if err := writes["Apply"](t.Context(), s, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a write that was made, done again: %v, want ErrConflict", err)
	}
}

// Two nodes make changes for the same revision of a session, or updates, with entries of one
// id, as those follow from the revision. The first loses its connection before its change is
// made, and the second makes its own. When the first tries again it finds an entry with the
// id of its own, and is told that it was too late, not that its change was made.
func TestLostToAnother(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	second := openStore(t, address)
	c, through := newCutter(t, address)
	first := openThrough(t, through)
	for at := range store.Revision(2) { // the first has no row to be locked
		change := func(cell store.CellID) *store.Change {
			made := changeOf(string(cell))
			made.Entry.ID = fmt.Sprintf("op%d", at)
			return made
		}
		c.meanwhile = func() {
			if _, err := second.Apply(t.Context(), "test", "s", at, change(store.CellID(fmt.Sprintf("second%d", at)))); err != nil {
				t.Errorf("revision %d: the second: %v", at, err)
			}
		}
		c.before.Store(1)
		if _, err := first.Apply(t.Context(), "test", "s", at, change(store.CellID(fmt.Sprintf("first%d", at)))); !errors.Is(err, store.ErrConflict) {
			t.Errorf("revision %d: the first: %v, want ErrConflict", at, err)
		}
	}
	se, err := storetest.ReadSession(t.Context(), second, "test", "s")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"second0", "second1"}; !slices.Equal(se.Statements, want) {
		t.Errorf("statements %q, want %q", se.Statements, want)
	}

	c.meanwhile = func() {
		if _, err := second.Update(t.Context(), "test", &store.Update{Entry: entryOf("up")}); err != nil {
			t.Errorf("update: the second: %v", err)
		}
	}
	c.before.Store(1)
	if version, err := first.Update(t.Context(), "test", &store.Update{Entry: entryOf("up")}); err == nil {
		t.Errorf("update: the first was made as version %d; want an error", version)
	}
	if cut := c.cut.Load(); cut != 3 {
		t.Errorf("%d connections were cut, want 3", cut)
	}
}

// Several who write while connections are cut and sessions of the server end lose nothing
// and double nothing, and each sees a history without gaps.
func TestRetriedWrites(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	direct := openStore(t, address)
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		c, through := newCutter(t, address)
		s := openThrough(t, through)
		wg.Go(func() {
			for n := range each {
				c.before.Store(int64((n + w) % 5 / 4))
				c.after.Store(int64((n + w) % 4 / 3))
				id := transcript.SessionID(fmt.Sprintf("s%d", n%2)) // two sessions for all
				change := changeOf(fmt.Sprintf("op%d-%d", w, n))
				for {
					at := store.Revision(0)
					h, err := s.Head(t.Context(), "test", id)
					if err == nil {
						at = h.Revision
					} else if !errors.Is(err, store.ErrNotFound) {
						t.Error(err)
						return
					}
					if _, err = s.Apply(t.Context(), "test", id, at, change); err == nil {
						break
					}
					if !errors.Is(err, store.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[string]bool)
	for _, id := range []transcript.SessionID{"s0", "s1"} {
		se, err := storetest.ReadSession(t.Context(), direct, "test", id)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range se.Entries {
			if e.Revision != store.Revision(i+1) || seen[e.ID] {
				t.Errorf("session %s: entry %s at revision %d, behind %d; was it seen? %v", id, e.ID, e.Revision, i, seen[e.ID])
			}
			seen[e.ID] = true
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d writes were made, want %d", len(seen), writers*each)
	}
	if problems, err := direct.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
}

// What the server cannot be reached for in time is ErrUnreachable, and nothing hangs.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	openStore(t, address)
	c, through := newCutter(t, address)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), through, &Options{Patience: 50 * time.Millisecond}, steps)
	if err != nil {
		t.Fatal(err)
	}
	defer s.pool.Close()
	if err := c.listener.Close(); err != nil {
		t.Fatal(err)
	}
	s.pool.Reset()
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("Ready: %v, want ErrUnreachable", err)
	}
	if err := writes["Apply"](t.Context(), s, 0); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("Apply: %v, want ErrUnreachable", err)
	}
	if _, err := s.Head(t.Context(), "test", "s"); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("Head: %v, want ErrUnreachable", err)
	}
}
