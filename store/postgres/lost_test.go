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

// A cutter is a proxy between a store and its server that cuts connections: before it forwards the
// message that ends a transaction, or after it has forwarded it and before the answer.
type cutter struct {
	listener net.Listener
	target   string // path of the server's socket

	before, after atomic.Int64 // how many connections to cut before and after the message
	cut           atomic.Int64 // how many were cut

	// ends reports whether to cut at a message to the server; the default is isEnd.
	ends func(data []byte) bool

	// meanwhile, if not nil, is called after a connection was cut before the end of its
	// transaction, and before the store notices.
	meanwhile func()
}

// newCutter returns a cutter for the server of a database, and the address of the database through
// the cutter.
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

// take decrements n and returns true, or returns false if n is 0.
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
	var mute atomic.Bool   // whether to drop the answers of the server
	var cutting sync.Mutex // locked while the client must not notice that the server is gone
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
				return // the server has answered, so the transaction is committed
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

// isEnd reports whether a message to the server ends a transaction that writes. The records that
// these tests write contain the marker, and are sent together with the COMMIT.
func isEnd(data []byte) bool {
	return strings.Contains(string(data), marker)
}

// marker is in the last records that these tests write, and in no query.
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

// writes are the methods that write. Each writes the n-th record, which contains the marker.
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
	"AddCredential": func(ctx context.Context, s store.Database, n int) error {
		hash := digest.Of([]byte{byte(n)})
		return s.AddCredential(ctx, &store.Credential{
			ID: fmt.Sprintf("tok_%d", n), Hash: hash[:], Actor: "ci", Scopes: []governance.ScopePattern{"*"},
			Permissions: []governance.Permission{governance.Read}, Note: marker, Created: time.UnixMilli(1),
		})
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

// A write whose connection is cut before the commit is repeated. A write whose connection is cut
// after the commit is not made twice, and returns its revision.
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

// checkMade checks that the store has want writes of the kind name.
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
	case "AddCredential":
		all, err := s.Credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = len(all)
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

// Open succeeds although its connection is cut, at whichever message to the server.
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
		if c.cut.Load() == 0 { // Open needs fewer messages
			if at < 4 {
				t.Errorf("a store is opened with %d messages", at-1)
			}
			return
		}
	}
}

// Info counts each record once although its connection is cut, at whichever message to the server.
func TestInfoThroughLostConnections(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	direct := openStore(t, address)
	storetest.Fill(t, direct, "test")
	want, err := direct.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, through := newCutter(t, address)
	var left atomic.Int64 // how many messages are sent before the one at which to cut
	c.ends = func([]byte) bool { return left.Add(-1) == 0 }
	s := openThrough(t, through)
	c.before.Store(1000)
	for at := int64(1); ; at++ {
		before := c.cut.Load()
		left.Store(at)
		got, err := s.Info(t.Context())
		if err != nil || got.Cells != want.Cells || got.Sessions != want.Sessions {
			t.Errorf("cut at message %d: %+v, %v; want %+v", at, got, err, want)
		}
		if c.cut.Load() == before { // Info needs fewer messages
			return
		}
	}
}

// A control for TestLostConnections: a store that does not look for the writes of an earlier attempt
// reports a conflict for a write that was made.
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

// Two nodes make changes at the same revision of a session, or updates, whose entries have the same
// id, because ids are derived from the revision. The first node loses its connection before its
// change is committed, and the second commits its own. When the first node tries again, it finds an
// entry with the same id but another mark, and fails with a conflict.
func TestLostToAnother(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	second := openStore(t, address)
	c, through := newCutter(t, address)
	first := openThrough(t, through)
	for at := range store.Revision(2) { // at revision 0 there is no row to lock
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

// When connections of several writers are cut, no write is lost or made twice, and the journals have
// no gaps.
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
				id := transcript.SessionID(fmt.Sprintf("s%d", n%2)) // all writers share two sessions
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

// If the server cannot be reached in time, methods fail with ErrUnreachable and do not hang.
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

// If the server does not answer at all, the time of the attempts counts, and not only the pauses
// between them.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	attempts := make(chan int)
	go func() {
		var conns []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			conns = append(conns, conn) // and not a word
		}
		for _, conn := range conns {
			_ = conn.Close() // the client is gone
		}
		attempts <- len(conns)
	}()
	address := "postgres://carrel@" + l.Addr().String() + "/carrel?sslmode=disable&connect_timeout=1"
	if _, err := Open(t.Context(), address, &Options{Patience: 100 * time.Millisecond}); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("Open: %v, want ErrUnreachable", err)
	}
	_ = l.Close() // so that Accept returns
	if n := <-attempts; n > 2 {
		t.Errorf("%d attempts of a second each, with a patience of a tenth", n)
	}
}

// An attempt to connect ends, also if the address does not say when.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	between := "?"
	if strings.Contains(address, "?") {
		between = "&"
	}
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		address  string
		patience time.Duration
		want     time.Duration
	}{
		{address, 0, 5 * time.Second},
		{address, time.Second, 5 * time.Second},
		{address, time.Minute, time.Minute},
		{address + between + "connect_timeout=7", time.Minute, 7 * time.Second},
	} {
		s, err := open(t.Context(), tt.address, &Options{Patience: tt.patience}, steps)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.pool.Config().ConnConfig.ConnectTimeout; got != tt.want {
			t.Errorf("patience %v: connections are tried for %v, want %v", tt.patience, got, tt.want)
		}
		s.pool.Close()
	}
}

// The server's list of connections says which are Carrel's, unless the address says otherwise.
func TestConnectionsHaveAName(t *testing.T) {
	t.Parallel()
	address := postgres.New(t)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	between := "?"
	if strings.Contains(address, "?") {
		between = "&"
	}
	for at, want := range map[string]string{address: "carrel", address + between + "application_name=desk": "desk"} {
		s, err := open(t.Context(), at, &Options{}, steps)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := s.pool.QueryRow(t.Context(), "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()").Scan(&got); err != nil || got != want {
			t.Errorf("the connection is %q, %v, want %q", got, err, want)
		}
		s.pool.Close()
	}
}
