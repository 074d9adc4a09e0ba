package service

import (
	"context"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A waiting store takes another turn for the same actor while it writes.
type waiting struct {
	store.Store

	turns *auth.Turns
}

func (w waiting) turn(ctx context.Context) error {
	_, release, err := w.turns.Take(ctx, "ada")
	if err == nil {
		release()
	}
	return err
}

func (w waiting) Apply(ctx context.Context, _ governance.Scope, _ transcript.SessionID, _ store.Revision, _ *store.Change) (store.Revision, error) {
	return 0, w.turn(ctx)
}

func (w waiting) Update(ctx context.Context, _ governance.Scope, _ *store.Update) (store.Version, error) {
	return 0, w.turn(ctx)
}

// While a large job waits for its write, another of the same actor may work.
func TestWritersRest(t *testing.T) {
	turns := &auth.Turns{Most: 1, Wait: time.Millisecond}
	job, release, err := turns.Take(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	s := resting{waiting{turns: turns}}
	if _, err := s.Apply(job, "local", "s", 0, nil); err != nil {
		t.Errorf("a change: %v", err)
	}
	if _, err := s.Update(job, "local", nil); err != nil {
		t.Errorf("an update: %v", err)
	}
}
