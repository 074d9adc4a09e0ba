package postgres

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/store/storetest"
)

// newStore returns an empty store.
func newStore(t *testing.T) *database {
	t.Helper()
	return openStore(t, postgres.New(t))
}

func openStore(t *testing.T, address string) *database {
	t.Helper()
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), address, &Options{Conns: 4}, steps)
	if err != nil {
		t.Fatal(err)
	}
	storetest.CloseAfter(t, s)
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newStore(t) })
}

func TestOpeners(t *testing.T) {
	storetest.RunOpeners(t, func(t *testing.T) func() store.Store {
		address := postgres.New(t)
		return func() store.Store { return openStore(t, address) }
	})
}

// A guarded store with all permissions in all scopes behaves like the store itself.
func TestConformanceBehindGuard(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return guard.New(newStore(t), governance.Whole(governance.ActorUser), func() time.Time { return time.Unix(0, 0) })
	})
}

func TestCredentials(t *testing.T) {
	storetest.RunCredentials(t, func(t *testing.T) func() store.Credentials {
		address := postgres.New(t)
		return func() store.Credentials { return openStore(t, address) }
	})
}

func TestMovable(t *testing.T) {
	storetest.RunMovable(t, func(t *testing.T) storetest.MovableStore { return newStore(t) })
}

func TestBlobs(t *testing.T) {
	storetest.RunBlobs(t, func(t *testing.T) func() storetest.BlobStore {
		address := postgres.New(t)
		return func() storetest.BlobStore { return openStore(t, address) }
	})
}

func TestRequests(t *testing.T) {
	storetest.RunRequests(t, func(t *testing.T) func() storetest.SharedStore {
		address := postgres.New(t)
		return func() storetest.SharedStore { return openStore(t, address) }
	})
}

// The migrations have the same names as those of store/sqlite.
func TestMigrationsAreTwins(t *testing.T) {
	files, err := filepath.Glob("../sqlite/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, file := range files {
		want = append(want, filepath.Base(file))
	}
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		have = append(have, step.name)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("names of migrations (-sqlite +postgres):\n%s", diff)
	}
}
