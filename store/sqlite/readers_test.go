package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// addSession adds a session with one block of one cell.
func addSession(t *testing.T, s store.Database, n int) {
	t.Helper()
	u := &store.Update{}
	addSecret(u, n, 1)
	cell := u.Cells[0]
	c := &store.Change{
		Cells: u.Cells[:1], Items: []store.CellID{cell.ID},
		Blocks: []store.Block{{ID: "b", Turn: 1, Kind: "user", State: store.StateLive, Cells: []store.CellID{cell.ID}}},
		Head:   store.Head{Format: "openai", Messages: 1, Blocks: 1, Created: epoch, Updated: epoch},
		Entry:  store.Entry{ID: fmt.Sprintf("s%d", n), Op: "import", Actor: governance.ActorUser, Time: epoch},
	}
	if _, err := s.Apply(t.Context(), scope, "s", store.Revision(n), c); err != nil {
		t.Fatal(err)
	}
}

// nested runs three iterations, each within the one before, and calls inside in the innermost.
func nested(ctx context.Context, s store.Database, inside func()) error {
	for h, err := range s.Heads(ctx, scope) {
		if err != nil {
			return err
		}
		for b, err := range s.Blocks(ctx, scope, h.ID) {
			if err != nil {
				return err
			}
			for _, err := range s.Cells(ctx, scope, b.Cells) {
				if err != nil {
					return err
				}
				inside()
			}
			if _, err := s.Version(ctx, scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// Even if the pool keeps few connections, nested reads do not wait for other nested reads or for a
// writer.
func TestReadersDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	for _, readers := range []int{1, 2} {
		s, err := sqlite.Open(t.Context(), newPath(t), &sqlite.Options{Readers: readers})
		if err != nil {
			t.Fatal(err)
		}
		addSession(t, s, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		const many = 32
		var inside, all sync.WaitGroup
		inside.Add(many)
		errs := make(chan error, 2*many)
		for i := range many {
			all.Go(func() {
				errs <- nested(ctx, s, func() {
					inside.Done()
					inside.Wait() // until all of them are here
				})
			})
			all.Go(func() {
				_, err := s.Update(ctx, scope, &store.Update{Entry: store.Entry{ID: fmt.Sprintf("u%d", i), Actor: governance.ActorUser, Time: epoch}})
				errs <- err
			})
		}
		stop := context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				panic("readers wait for one another")
			}
		})
		all.Wait()
		stop()
		cancel()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Errorf("%d readers: %v", readers, err)
			}
		}
		if kept, _ := sqlite.Idle(s); kept != readers {
			t.Errorf("%d connections are kept, want %d", kept, readers)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// By default the pool keeps as many connections as a server needs at once, so that none is closed
// and opened again between requests.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	s := openAt(t, newPath(t))
	addSession(t, s, 0)
	const many = sqlite.DefaultReaders / 4 // each needs three connections, and sometimes one more
	for range 2 {
		var inside, all sync.WaitGroup
		inside.Add(many)
		for range many {
			all.Go(func() {
				err := nested(t.Context(), s, func() {
					inside.Done()
					inside.Wait()
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if kept, closed := sqlite.Idle(s); kept < 3*many || closed != 0 {
			t.Errorf("%d connections are kept, %d were closed", kept, closed)
		}
	}
	// The first time counts what is used, a second time closes what was not used since.
	kept, _ := sqlite.Idle(s)
	if again := sqlite.Thin(s); !again {
		t.Error("connections that are free are not looked at again")
	}
	if now, _ := sqlite.Idle(s); now != kept {
		t.Errorf("%d of %d connections are kept that were just used", now, kept)
	}
	if _, err := s.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := sqlite.Thin(s)
	if now, _ := sqlite.Idle(s); now == 0 || now >= kept || !again {
		t.Errorf("%d of %d connections are kept, want those that were used again", now, kept)
	}
	if again := sqlite.Thin(s); again {
		t.Error("without free connections they are looked at again")
	}
	if now, _ := sqlite.Idle(s); now != 0 {
		t.Errorf("%d connections are kept that nobody uses", now)
	}
}
