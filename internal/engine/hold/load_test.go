package hold

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A session that others change all the time is in conflict. An error of the store stays what it is,
// at every attempt.
func TestLoadOfASessionThatChanges(t *testing.T) {
	d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{}}, Memory: new(Memory)}
	d.Store = stores.New(t)
	if _, err := d.Store.Apply(t.Context(), keptScope, "s", 0, anyChange(rand.New(rand.NewPCG(1, 1)), 1, 0, nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no disk")
	for fails := range Rereads + 2 {
		reads := 0
		_, err := d.LoadWith(t.Context(), keptScope, "s", func(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
			if reads++; reads == fails {
				return nil, broken
			}
			head, err := d.Store.Head(ctx, scope, id)
			if err != nil {
				return nil, err
			}
			changed := *head
			changed.Revision += store.Revision(reads)
			return &changed, nil
		})
		want := broken
		if fails == 0 {
			want = store.ErrConflict
		}
		if !errors.Is(err, want) {
			t.Errorf("if read %d of the head fails: %v, want %v", fails, err, want)
		}
	}
}
