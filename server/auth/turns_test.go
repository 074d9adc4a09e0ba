package auth_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
)

// An actor has at most Turns.Most large jobs at once, and other actors have their own turns.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &auth.Turns{Most: 2, Wait: time.Minute}
		take := func(actor string) func() {
			_, release, err := turns.Take(t.Context(), governance.Actor("agent:"+actor))
			if err != nil {
				t.Fatalf("%s: %v", actor, err)
			}
			return release
		}
		first, second, other := take("a"), take("a"), take("b")
		begin := time.Now()
		if _, _, err := turns.Take(t.Context(), "agent:a"); !errors.Is(err, api.ErrTooMany) || time.Since(begin) != time.Minute {
			t.Errorf("a third after %v: %v", time.Since(begin), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := turns.Take(gone, "agent:a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a third that nobody waits for: %v", err)
		}
		got := make(chan func())
		go func() { got <- take("a") }()
		synctest.Wait()
		select {
		case <-got:
			t.Error("a third began beside two")
		default:
		}
		if running, waiting := turns.Load(); running != 3 || waiting != 1 {
			t.Errorf("%d jobs run and %d wait, want 3 and 1", running, waiting)
		}
		first()
		first() // a second time it is nothing
		third := <-got
		for _, release := range []func(){second, third, other} {
			release()
		}
		take("a")()
		take("a")()
	})
}

// late is a context that is over as soon as a caller waits for its end; then calls the function then.
type late struct {
	context.Context

	then func()
}

func (l late) Done() <-chan struct{} {
	l.then()
	over := make(chan struct{})
	close(over)
	return over
}

func (late) Err() error { return context.Canceled }

// A turn that comes when nobody waits for it any more is not lost.
func TestTurnThatComesLate(t *testing.T) {
	turns := &auth.Turns{Most: 1, Wait: time.Minute}
	for range 64 { // the turn or the end is noticed first, by chance
		_, release, err := turns.Take(t.Context(), "agent:a")
		if err != nil {
			t.Fatal(err)
		}
		if _, end, err := turns.Take(late{t.Context(), release}, "agent:a"); err == nil {
			end()
		}
		if running, waiting := turns.Load(); running != 0 || waiting != 0 {
			t.Fatalf("%d jobs run and %d wait, want none", running, waiting)
		}
	}
}

// A job that waits for the disk lets the next one begin, goes on at once when it has what
// it waited for, and then none begins until there are no more than may be.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &auth.Turns{Most: 1, Wait: time.Minute}
		job, release, err := turns.Take(t.Context(), "agent:a")
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan func(), 2)
		for range 2 {
			go func() {
				_, release, err := turns.Take(t.Context(), "agent:a")
				if err != nil {
					t.Error(err)
				}
				begun <- release
			}()
		}
		begins := func(want int, when string) {
			t.Helper()
			synctest.Wait()
			if len(begun) != want {
				t.Errorf("%s, %d jobs have begun, want %d", when, len(begun), want)
			}
		}
		begins(0, "while one works")
		back := auth.Rest(job)
		begins(1, "while it rests")
		if running, waiting := turns.Load(); running != 2 || waiting != 1 {
			t.Errorf("%d jobs run and %d wait while one rests, want 2 and 1", running, waiting)
		}
		back()
		begins(1, "when it goes on")
		(<-begun)()
		begins(0, "when one of two has ended")
		release()
		begins(1, "when both have ended")
		(<-begun)()
		auth.Rest(t.Context())() // who has no turn gives none away
	})
}
