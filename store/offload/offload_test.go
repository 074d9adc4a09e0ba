package offload_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/store/blob/file"
	"github.com/carrel-dev/carrel/store/offload"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

const scope governance.Scope = "test/blobs"

// A desk is a store in a file whose bodies are in a directory, all of them.
type desk struct {
	store.Database

	path, dir string
	inner     offload.Wrapped
	place     blob.Keeper
}

// newDesk makes a store. around wraps the place, if it is not nil.
func newDesk(t *testing.T, around func(blob.Keeper) blob.Keeper) *desk {
	t.Helper()
	d := &desk{path: filepath.Join(t.TempDir(), "carrel.db"), dir: t.TempDir()}
	d.open(t, around)
	return d
}

// open opens the store, once more if it is open already.
func (d *desk) open(t *testing.T, around func(blob.Keeper) blob.Keeper) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), d.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	storetest.CloseAfter(t, s)
	d.inner, d.place = s.(offload.Wrapped), newPlace(t, d.dir)
	if around != nil {
		d.place = around(d.place)
	}
	d.Database = offload.New(d.inner, &offload.Options{Place: d.place, Least: 1})
}

func newPlace(t *testing.T, dir string) blob.Keeper {
	t.Helper()
	p, err := file.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A store whose bodies are all in blobs keeps every promise of a store.
func TestConformance(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return newDesk(t, nil) })
	})
	t.Run("postgres", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return stores.Blobs(t, stores.Postgres(t)) })
	})
}

func TestMovable(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		storetest.RunMovable(t, func(t *testing.T) storetest.MovableStore { return newDesk(t, nil) })
	})
	t.Run("postgres", func(t *testing.T) {
		storetest.RunMovable(t, func(t *testing.T) storetest.MovableStore { return stores.Blobs(t, stores.Postgres(t)) })
	})
}

// Several nodes over one database share one directory.
func TestOpeners(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		storetest.RunOpeners(t, func(t *testing.T) func() store.Store {
			d := newDesk(t, nil)
			return func() store.Store {
				d.open(t, nil)
				return d.Database
			}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		storetest.RunOpeners(t, func(t *testing.T) func() store.Store {
			address, dir := postgres.New(t), t.TempDir()
			return func() store.Store {
				s := stores.PostgresAt(t, address).(offload.Wrapped)
				return offload.New(s, &offload.Options{Place: newPlace(t, dir), Least: 1})
			}
		})
	})
}

// The role of a store on a server is kept, and a store in a file gets none.
func TestRequests(t *testing.T) {
	if _, is := newDesk(t, nil).Database.(store.Requests); is {
		t.Error("a store in a file has the role store.Requests")
	}
	storetest.RunRequests(t, func(t *testing.T) func() storetest.SharedStore {
		address, dir := postgres.New(t), t.TempDir()
		return func() storetest.SharedStore {
			s := offload.New(stores.PostgresAt(t, address).(offload.Wrapped), &offload.Options{Place: newPlace(t, dir), Least: 1})
			return s.(storetest.SharedStore)
		}
	})
}

func newCell(id store.CellID, body string) store.Cell {
	c := store.Cell{ID: id, Kind: store.CellText, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte(body)}
	c.Commit = digest.Commit(c.Salt, string(c.Kind), c.Body)
	return c
}

func entry(id string) store.Entry {
	return store.Entry{ID: id, Op: "put", Actor: governance.ActorUser, Time: time.UnixMilli(1)}
}

// put adds cells in an update.
func put(t *testing.T, s store.Store, sc governance.Scope, id string, cells ...store.Cell) {
	t.Helper()
	if _, err := s.Update(t.Context(), sc, &store.Update{Entry: entry(id), Cells: cells}); err != nil {
		t.Fatal(err)
	}
}

// bodyOf returns the body of a cell.
func bodyOf(ctx context.Context, s store.Store, sc governance.Scope, id store.CellID) (string, error) {
	for c, err := range s.Cells(ctx, sc, []store.CellID{id}) {
		if err != nil {
			return "", err
		}
		return string(c.Body), nil
	}
	return "", errors.New("nothing was yielded")
}

// blobs returns the paths of all files in the directory.
func (d *desk) blobs(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// holding returns the files of the store and of its blobs that have a text.
func (d *desk) holding(t *testing.T, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(d.path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, d.blobs(t)...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text)) {
			found = append(found, name)
		}
	}
	return found
}

// sound checks that the store has no problems, and as many files as cells with blobs.
func (d *desk) sound(t *testing.T, blobs int) {
	t.Helper()
	if problems, err := d.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check: %q, %v", problems, err)
	}
	if files := d.blobs(t); len(files) != blobs {
		t.Errorf("the directory has %q, want %d files", files, blobs)
	}
}

// Only bodies from the least size on leave the store, and they are in one place only.
func TestLargeBodiesLeaveTheStore(t *testing.T) {
	d := newDesk(t, nil)
	s := offload.New(d.inner, &offload.Options{Place: d.place, Least: 12})
	put(t, s, scope, "op1", newCell("small", "eleven char"), newCell("large", "twelve chars"), newCell("empty", ""))
	for id, want := range map[store.CellID]string{"small": "eleven char", "large": "twelve chars", "empty": ""} {
		if got, err := bodyOf(t.Context(), s, scope, id); err != nil || got != want {
			t.Errorf("cell %s = %q, %v; want %q", id, got, err, want)
		}
	}
	for text, inBlob := range map[string]bool{"eleven char": false, "twelve chars": true} {
		found := d.holding(t, text)
		if len(found) == 0 {
			t.Errorf("%q is in no file", text)
		}
		for _, name := range found {
			if strings.HasPrefix(name, d.dir) != inBlob {
				t.Errorf("%q is in %s", text, name)
			}
		}
	}
	d.sound(t, 1)
}

// After a purge no file has the text.
func TestPurgedTextIsInNoFile(t *testing.T) {
	d := newDesk(t, nil)
	put(t, d, scope, "op1", newCell("kept", "the violet heron"), newCell("gone", "the amber heron"))
	if found := d.holding(t, "amber heron"); len(found) != 1 {
		t.Fatalf("before the purge the text is in %q", found)
	}
	if _, err := d.Update(t.Context(), scope, &store.Update{Entry: entry("op2"), Purge: []store.CellID{"gone"}}); err != nil {
		t.Fatal(err)
	}
	if found := d.holding(t, "amber heron"); len(found) > 0 {
		t.Errorf("after the purge the text is in %q", found)
	}
	if _, err := bodyOf(t.Context(), d, scope, "gone"); !errors.Is(err, store.ErrGone) {
		t.Errorf("the purged cell: %v, want %v", err, store.ErrGone)
	}
	if got, err := bodyOf(t.Context(), d, scope, "kept"); err != nil || got != "the violet heron" {
		t.Errorf("the other cell = %q, %v", got, err)
	}
	d.sound(t, 1)
}

// A purge of a cell that comes in the same update leaves no blob.
func TestPurgeInTheUpdateThatAdds(t *testing.T) {
	d := newDesk(t, nil)
	u := &store.Update{Entry: entry("op1"), Cells: []store.Cell{newCell("a", "an amber heron")}, Purge: []store.CellID{"a"}}
	if _, err := d.Update(t.Context(), scope, u); err != nil {
		t.Fatal(err)
	}
	if found := d.holding(t, "amber heron"); len(found) > 0 {
		t.Errorf("the text is in %q", found)
	}
	d.sound(t, 0)
}

// A missing or changed blob is damage that names the cell, and Check finds it.
func TestDamageIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(path string) error
		reason string
	}{
		{"a blob with a changed byte", func(path string) error { return os.WriteFile(path, []byte("the amber herom"), 0o600) }, "its commitment does not match"},
		{"a blob that is cut off", func(path string) error { return os.Truncate(path, 3) }, "its commitment does not match"},
		{"a blob with more at its end", func(path string) error { return os.WriteFile(path, []byte("the amber heron, and more"), 0o600) }, "its commitment does not match"},
		{"a missing blob", os.Remove, "is not in file:///"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, nil)
			put(t, d, scope, "op1", newCell("a", "the amber heron"))
			if err := tt.damage(d.blobs(t)[0]); err != nil {
				t.Fatal(err)
			}
			_, err := bodyOf(t.Context(), d, scope, "a")
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "cell a: ") || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("reading it: %v", err)
			}
			problems, err := d.Check(t.Context())
			if err != nil || len(problems) != 1 || !strings.Contains(problems[0], "scope test/blobs: cell a: ") || !strings.Contains(problems[0], tt.reason) {
				t.Errorf("Check: %q, %v", problems, err)
			}
		})
	}
}

// A row that somebody changed so that it names the blob of another scope leads nowhere, even though
// cell and commitment are the same.
func TestARowCannotNameABlobOfAnotherScope(t *testing.T) {
	d := newDesk(t, nil)
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	const other governance.Scope = "test/other"
	put(t, d, other, "op1", newCell("a", "the amber heron"))
	if len(d.blobs(t)) != 2 {
		t.Fatalf("equal bodies of two scopes are in %q", d.blobs(t))
	}
	db, err := sql.Open("sqlite", d.path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `UPDATE cell_blob SET blob = (SELECT blob FROM cell_blob WHERE scope = ?1) WHERE scope = ?2`, scope, other)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := bodyOf(t.Context(), d, other, "a"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("the blob of another scope = %q, %v; want %v", got, err, store.ErrCorrupt)
	}
	if _, err := d.Update(t.Context(), other, &store.Update{Entry: entry("op2"), Purge: []store.CellID{"a"}}); err != nil {
		t.Fatal(err)
	}
	if got, err := bodyOf(t.Context(), d, scope, "a"); err != nil || got != "the amber heron" {
		t.Errorf("after a purge in another scope = %q, %v", got, err)
	}
}

// A place that does not answer is no damage: nothing is written, purged or judged without it.
func TestAPlaceThatDoesNotAnswer(t *testing.T) {
	d := newDesk(t, nil)
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	away := d.dir + "-unmounted"
	if err := os.Rename(d.dir, away); err != nil {
		t.Fatal(err)
	}
	_, read := bodyOf(t.Context(), d, scope, "a")
	_, checked := d.Check(t.Context())
	_, written := d.Update(t.Context(), scope, &store.Update{Entry: entry("op2"), Cells: []store.Cell{newCell("b", "another")}})
	_, purged := d.Update(t.Context(), scope, &store.Update{Entry: entry("op3"), Purge: []store.CellID{"a"}})
	for what, err := range map[string]error{"read": read, "Check": checked, "write": written, "purge": purged, "Ready": d.Ready(t.Context())} {
		if !errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", what, err, store.ErrUnreachable)
		}
	}
	if err := os.Rename(away, d.dir); err != nil {
		t.Fatal(err)
	}
	if got, err := bodyOf(t.Context(), d, scope, "a"); err != nil || got != "the amber heron" {
		t.Errorf("after the place is back = %q, %v", got, err)
	}
	if v, err := d.Version(t.Context(), scope); err != nil || v != 1 {
		t.Errorf("Version = %d, %v; want 1, as before", v, err)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
}

// Without a place, cells with blobs are neither read nor purged, and the rest works.
func TestWithoutAPlace(t *testing.T) {
	d := newDesk(t, nil)
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	s := offload.New(d.inner, new(offload.Options))
	_, read := bodyOf(t.Context(), s, scope, "a")
	_, purged := s.Update(t.Context(), scope, &store.Update{Entry: entry("op2"), Purge: []store.CellID{"a"}})
	for what, err := range map[string]error{"read": read, "purge": purged} {
		away, is := errors.AsType[*store.AwayError](err)
		if !is || away.Cell.ID != "a" || !strings.Contains(err.Error(), "blobs.url") {
			t.Errorf("%s: %v, want an AwayError for cell a that names the setting", what, err)
		}
	}
	put(t, s, scope, "op3", newCell("b", "in the store"))
	if _, err := s.Update(t.Context(), scope, &store.Update{Entry: entry("op4"), Purge: []store.CellID{"b"}}); err != nil {
		t.Errorf("purge of a body in the store: %v", err)
	}
	d.sound(t, 1)
}

// full is a database that cannot be used.
type full struct{ offload.Wrapped }

func (full) Ready(context.Context) error { return store.ErrFull }

// A store is not ready if its database is not, however ready the place is.
func TestReadyAsksTheDatabase(t *testing.T) {
	d := newDesk(t, nil)
	if err := offload.New(full{d.inner}, &offload.Options{Place: d.place}).Ready(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("Ready of a full database: %v", err)
	}
}

// A cell that arrives with a blob, as if it were written already, is refused.
func TestACellWithABlobIsRefused(t *testing.T) {
	d := newDesk(t, nil)
	c := newCell("a", "body")
	c.Blob, c.Body = store.NewBlobKey(4), nil
	if err := d.inner.ReserveBlobs(t.Context(), scope, []store.BlobKey{c.Blob}); err != nil {
		t.Fatal(err)
	}
	change := &store.Change{Entry: entry("op1"), Cells: []store.Cell{c}}
	_, applied := d.Apply(t.Context(), scope, transcript.SessionID("s"), 0, change)
	_, updated := d.Update(t.Context(), scope, &store.Update{Entry: entry("op1"), Cells: []store.Cell{c}})
	for method, err := range map[string]error{"Apply": applied, "Update": updated, "AddCells": d.AddCells(t.Context(), scope, []store.Cell{c}, nil)} {
		if err == nil || !strings.Contains(err.Error(), "already has a blob") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// A failed write leaves no blob.
func TestAFailedWriteLeavesNoBlob(t *testing.T) {
	d := newDesk(t, nil)
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	for what, u := range map[string]*store.Update{
		"a cell that exists":    {Entry: entry("op2"), Cells: []store.Cell{newCell("b", "new"), newCell("a", "the amber heron")}},
		"an entry that exists":  {Entry: entry("op1"), Cells: []store.Cell{newCell("b", "new")}},
		"an edge to no cell":    {Entry: entry("op3"), Cells: []store.Cell{newCell("b", "new")}, Edges: []store.Edge{{Derived: "b", Source: "none", Rel: "r"}}},
		"an invalid commitment": {Entry: entry("op4"), Cells: []store.Cell{{ID: "b", Kind: store.CellText, Body: []byte("new")}}},
	} {
		if _, err := d.Update(t.Context(), scope, u); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	d.sound(t, 1)
	if keys, err := d.inner.LooseBlobs(t.Context(), scope, -time.Hour); err != nil || len(keys) > 0 {
		t.Errorf("loose blobs: %q, %v", keys, err)
	}
}

// A hooked place calls functions before its methods.
type hooked struct {
	blob.Keeper

	put, get, drop func(key string) error
}

func (h *hooked) Put(ctx context.Context, key string, body []byte) error {
	if h.put != nil {
		if err := h.put(key); err != nil {
			return err
		}
	}
	return h.Keeper.Put(ctx, key, body)
}

func (h *hooked) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	if h.get != nil {
		if err := h.get(key); err != nil {
			return nil, err
		}
	}
	return h.Keeper.Get(ctx, key, most)
}

func (h *hooked) Drop(ctx context.Context, key string) error {
	if h.drop != nil {
		if err := h.drop(key); err != nil {
			return err
		}
	}
	return h.Keeper.Drop(ctx, key)
}

// What is not read back as it was written is not switched to.
func TestABlobIsVerifiedBeforeTheSwitch(t *testing.T) {
	d := newDesk(t, func(p blob.Keeper) blob.Keeper {
		return &hooked{Keeper: p, get: func(key string) error { return p.Put(t.Context(), key, []byte("not the same")) }}
	})
	_, err := d.Update(t.Context(), scope, &store.Update{Entry: entry("op1"), Cells: []store.Cell{newCell("a", "the amber heron")}})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "verify what was written: cell a") {
		t.Errorf("Update: %v", err)
	}
	if _, err := bodyOf(t.Context(), d.inner, scope, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the cell: %v, want %v", err, store.ErrNotFound)
	}
	d.sound(t, 0)
}

// A cell that is purged while its blob is read is gone, not damaged.
func TestAPurgeDuringARead(t *testing.T) {
	var d *desk
	h := &hooked{}
	d = newDesk(t, func(p blob.Keeper) blob.Keeper {
		h.Keeper = p
		return h
	})
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	h.get = func(string) error {
		h.get = nil
		_, err := d.Update(t.Context(), scope, &store.Update{Entry: entry("op2"), Purge: []store.CellID{"a"}})
		return err
	}
	if _, err := bodyOf(t.Context(), d, scope, "a"); !errors.Is(err, store.ErrGone) || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("the cell: %v, want %v", err, store.ErrGone)
	}
}

// unreached returns a store with a purged cell whose blob could not be deleted, and the hooks of its
// bucket, in which blobs can be deleted now.
func unreached(t *testing.T) (*desk, *hooked) {
	t.Helper()
	h := &hooked{}
	d := newDesk(t, func(p blob.Keeper) blob.Keeper {
		h.Keeper = p
		return h
	})
	put(t, d, scope, "op1", newCell("a", "the amber heron"))
	h.drop = func(string) error { return store.ErrUnreachable }
	_, err := d.Update(t.Context(), scope, &store.Update{Entry: entry("op2"), Purge: []store.CellID{"a"}})
	if !errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "the cells are purged") {
		t.Errorf("Update: %v", err)
	}
	if n, err := d.Database.(offload.Dropper).DropLoose(t.Context(), scope); n != 0 || !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("DropLoose while the bucket does not answer = %d, %v", n, err)
	}
	h.drop = nil
	return d, h
}

// A purge whose blobs cannot be deleted says so, and DropLoose deletes them later.
func TestAPurgeThatIsFinishedLater(t *testing.T) {
	d, _ := unreached(t)
	if n, err := d.Database.(offload.Dropper).DropLoose(t.Context(), scope); n != 1 || err != nil {
		t.Errorf("DropLoose = %d, %v; want 1", n, err)
	}
	d.sound(t, 0)
	if open, err := d.OpenJobs(t.Context(), scope); err != nil || len(open) > 0 {
		t.Errorf("OpenJobs = %v, %v; want none", open, err)
	}
}

// A purge whose blobs could not be deleted is finished by the same purge, and says so while it is not.
func TestAPurgeThatIsRepeated(t *testing.T) {
	d, h := unreached(t)
	again := func(op string) error {
		_, err := d.Update(t.Context(), scope, &store.Update{Entry: entry(op), Purge: []store.CellID{"a"}})
		return err
	}
	h.drop = func(string) error { return store.ErrUnreachable }
	if err := again("op3"); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("again, while the bucket does not answer: %v, want %v", err, store.ErrUnreachable)
	}
	h.drop = nil
	if err := again("op4"); err != nil {
		t.Errorf("again: %v", err)
	}
	d.sound(t, 0)
}

// While one process drops blobs, another one does not.
func TestOneProcessDropsAtATime(t *testing.T) {
	d, h := unreached(t)
	other := *d
	other.open(t, nil)
	h.drop = func(string) error {
		if n, err := other.Database.(offload.Dropper).DropLoose(t.Context(), scope); n != 0 || !errors.Is(err, store.ErrTaken) {
			t.Errorf("DropLoose of another process = %d, %v; want %v", n, err, store.ErrTaken)
		}
		return nil
	}
	if n, err := d.Database.(offload.Dropper).DropLoose(t.Context(), scope); n != 1 || err != nil {
		t.Errorf("DropLoose = %d, %v; want 1", n, err)
	}
}

// A blob that is being written is not dropped while it is young. If it is dropped all the same,
// because it has taken too long, its write fails and no cell is without its body.
func TestABlobInFlightIsNotDropped(t *testing.T) {
	for _, tt := range []struct {
		name string
		age  time.Duration
		want error
	}{{"a young one", offload.Age, nil}, {"one that took too long", 0, store.ErrConflict}} {
		t.Run(tt.name, func(t *testing.T) {
			h := &hooked{}
			d := newDesk(t, func(p blob.Keeper) blob.Keeper {
				h.Keeper = p
				return h
			})
			other := *d
			other.open(t, nil)
			offload.SetAge(other.Database, tt.age)
			dropped := 0
			h.get = func(key string) error { // between the write and the switch
				h.get = nil
				n, err := other.Database.(offload.Dropper).DropLoose(t.Context(), scope)
				dropped = n
				if err == nil && n > 0 { // so that the verification does not notice
					err = h.Keeper.Put(t.Context(), key, []byte("the amber heron"))
				}
				return err
			}
			_, err := d.Update(t.Context(), scope, &store.Update{Entry: entry("op1"), Cells: []store.Cell{newCell("a", "the amber heron")}})
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("Update: %v, want %v", err, tt.want)
			}
			got, err := bodyOf(t.Context(), d, scope, "a")
			if tt.want == nil {
				if dropped != 0 || got != "the amber heron" || err != nil {
					t.Errorf("dropped %d; the cell = %q, %v", dropped, got, err)
				}
				return
			}
			if dropped != 1 || !errors.Is(err, store.ErrNotFound) {
				t.Errorf("dropped %d; the cell: %v, want %v", dropped, err, store.ErrNotFound)
			}
		})
	}
}

// Writers and droppers that give blobs no time at all lose nothing that was acknowledged.
func TestWritersAndDroppers(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) func() store.Database{
		"sqlite": func(t *testing.T) func() store.Database {
			d := newDesk(t, nil)
			return func() store.Database {
				d.open(t, nil)
				return d.Database
			}
		},
		"postgres": func(t *testing.T) func() store.Database {
			address, dir := postgres.New(t), t.TempDir()
			return func() store.Database {
				return offload.New(stores.PostgresAt(t, address).(offload.Wrapped), &offload.Options{Place: newPlace(t, dir), Least: 1})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			handle := open(t)
			nodes := []store.Database{handle(), handle()}
			var mu sync.Mutex
			made, refused := make(map[store.CellID]string), 0
			var writers, droppers sync.WaitGroup
			end := make(chan struct{})
			for n, s := range nodes {
				offload.SetAge(s, 0)
				droppers.Go(func() {
					for {
						select {
						case <-end:
							return
						default:
						}
						if _, err := s.(offload.Dropper).DropLoose(t.Context(), scope); err != nil && !errors.Is(err, store.ErrTaken) && !errors.Is(err, store.ErrBusy) {
							t.Errorf("DropLoose: %v", err)
							return
						}
					}
				})
				writers.Go(func() {
					for i := range 40 {
						id := fmt.Sprintf("c%d-%d", n, i)
						_, err := s.Update(t.Context(), scope, &store.Update{Entry: entry(id), Cells: []store.Cell{newCell(store.CellID(id), "body of "+id)}})
						mu.Lock()
						switch {
						case err == nil:
							made[store.CellID(id)] = "body of " + id
						case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrCorrupt), errors.Is(err, fs.ErrNotExist): // dropped before, or while, it was verified or written
							refused++
						default:
							t.Errorf("Update: %v", err)
						}
						mu.Unlock()
					}
				})
			}
			writers.Wait()
			close(end)
			droppers.Wait()
			t.Logf("%d made, %d refused", len(made), refused)
			for id, want := range made {
				if got, err := bodyOf(t.Context(), nodes[0], scope, id); err != nil || got != want {
					t.Errorf("cell %s = %q, %v; want %q", id, got, err, want)
				}
			}
			if problems, err := nodes[1].Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("Check: %q, %v", problems, err)
			}
		})
	}
}
