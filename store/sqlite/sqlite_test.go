package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, filepath.Join(t.TempDir(), "carrel.db")) })
}

// openAt opens a store that is closed when the test ends.
func openAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
