package offload_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/offload"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// Variables that make a run of the test binary a child: where the store and the blobs are, and
// where it kills itself.
const (
	childPath  = "CARREL_BLOB_CHILD_PATH"
	childDir   = "CARREL_BLOB_CHILD_DIR"
	childPoint = "CARREL_BLOB_CHILD_POINT"
)

// killed kills this process, as a loss of power would.
func killed() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		select {}
	}
	return err
}

// A mortal is a database that kills the process before a write.
type mortal struct {
	offload.Wrapped

	update, forget bool
}

func (m *mortal) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if m.update {
		return 0, killed()
	}
	return m.Wrapped.Update(ctx, scope, u)
}

func (m *mortal) ForgetBlobs(ctx context.Context, scope governance.Scope, keys []store.BlobKey) error {
	if m.forget {
		return killed()
	}
	return m.Wrapped.ForgetBlobs(ctx, scope, keys)
}

// TestKillChild is the child of TestKill: it puts the cell "kept", and then dies at its point while it
// puts the cell "new", or purges the cell "gone".
func TestKillChild(t *testing.T) {
	point := os.Getenv(childPoint)
	if point == "" {
		t.Skip("it is the child of TestKill")
	}
	s, err := sqlite.Open(t.Context(), os.Getenv(childPath), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{Wrapped: s.(offload.Wrapped)}
	h := &hooked{Keeper: newPlace(t, os.Getenv(childDir))}
	w := offload.New(m, &offload.Options{Place: h, Least: 1})
	put(t, w, scope, "op1", newCell("kept", "the violet heron"), newCell("gone", "the amber heron"))
	die := func(string) error { return killed() }
	switch point {
	case "reserved":
		h.put = die
	case "written":
		h.get = die
	case "verified":
		m.update = true
	case "purged":
		h.drop = die
	case "dropped":
		m.forget = true
	}
	u := &store.Update{Entry: entry("op2"), Cells: []store.Cell{newCell("new", "the crimson heron")}}
	if point == "purged" || point == "dropped" {
		u = &store.Update{Entry: entry("op2"), Purge: []store.CellID{"gone"}}
	}
	_, err = w.Update(t.Context(), scope, u)
	t.Fatalf("the child lives: %v", err)
}

// A process that dies between any two steps loses nothing and leaves at most a blob, which is dropped
// later.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		point, what string
		files       int // in the directory after the death
	}{
		{"reserved", "before a blob is written", 2},
		{"written", "before a blob is verified", 3},
		{"verified", "before the switch", 3},
		{"purged", "after a purge, before its blob is dropped", 2},
		{"dropped", "after a blob was dropped", 1},
	} {
		t.Run(tt.what, func(t *testing.T) {
			d := newDesk(t, nil)
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillChild$")
			cmd.Env = append(os.Environ(), childPath+"="+d.path, childDir+"="+d.dir, childPoint+"="+tt.point, "GOCOVERDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if e, is := errors.AsType[*exec.ExitError](err); !is || e.ExitCode() == 1 || len(out) > 0 {
				t.Fatalf("the child ended by itself: %v\n%s", err, out)
			}
			d.sound(t, tt.files)
			purges := tt.point == "purged" || tt.point == "dropped"
			want := map[store.CellID]error{"kept": nil, "gone": nil, "new": store.ErrNotFound}
			if purges {
				want["gone"] = store.ErrGone
			}
			for id, want := range want {
				if _, err := bodyOf(t.Context(), d, scope, id); !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("cell %s: %v, want %v", id, err, want)
				}
			}
			dropper := d.Database.(offload.Dropper)
			young := 0 // blobs that DropLoose does not wait for
			if purges {
				young = 1
			}
			if n, err := dropper.DropLoose(t.Context(), scope); n != young || err != nil {
				t.Errorf("DropLoose = %d, %v; want %d", n, err, young)
			}
			offload.SetAge(d.Database, 0)
			if n, err := dropper.DropLoose(t.Context(), scope); n != 1-young || err != nil {
				t.Errorf("DropLoose of what is old = %d, %v; want %d", n, err, 1-young)
			}
			left := 2
			if purges {
				left = 1
				if found := d.holding(t, "amber heron"); len(found) > 0 {
					t.Errorf("the purged text is in %q", found)
				}
			}
			d.sound(t, left)
			if found := d.holding(t, "crimson heron"); len(found) > 0 {
				t.Errorf("the text that was not acknowledged is in %q", found)
			}
		})
	}
}
