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

// An actor has no more large jobs at once than there may be, and others have their own.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := &auth.Turns{Most: 2, Wait: time.Minute}
		take := func(actor string) func() {
			release, err := turns.Take(t.Context(), governance.Actor("agent:"+actor))
			if err != nil {
				t.Fatalf("%s: %v", actor, err)
			}
			return release
		}
		first, second, other := take("a"), take("a"), take("b")
		begin := time.Now()
		if _, err := turns.Take(t.Context(), "agent:a"); !errors.Is(err, api.ErrTooMany) || time.Since(begin) != time.Minute {
			t.Errorf("a third after %v: %v", time.Since(begin), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Take(gone, "agent:a"); !errors.Is(err, context.Canceled) {
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
