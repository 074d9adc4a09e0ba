// Package stores opens the stores for tests that work on any driver. It is the only place that
// selects the driver.
//
// CARREL_TEST_STORE names the driver: memory (the default), sqlite, postgres, or blobs for a store in
// a file that keeps the bodies of all cells in blobs. A test about one driver opens that driver
// itself.
//
// The package is for tests only.
package stores

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"time"

	_ "pgregory.net/rapid" // has the flag

	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob/file"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/offload"
	driver "github.com/carrel-dev/carrel/store/postgres"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
)

// variable is the name of the environment variable that selects the driver.
const variable = "CARREL_TEST_STORE"

// fewCases is how many cases properties have on PostgreSQL, where each write waits for a server.
const fewCases = "5"

// The flag -rapid.checks overrides this.
var _ = func() error {
	if os.Getenv(variable) != "postgres" {
		return nil
	}
	return flag.Set("rapid.checks", fewCases)
}()

// New returns an empty store of the selected driver. It is closed after the test.
func New(t postgres.T) store.Database {
	t.Helper()
	switch name := os.Getenv(variable); name {
	case "", "memory":
		return memory.New()
	case "sqlite":
		return SQLite(t)
	case "postgres":
		return Postgres(t)
	case "blobs":
		return Blobs(t, SQLite(t))
	default:
		t.Fatalf("%s is %q, want memory, sqlite, postgres or blobs", variable, name)
		return nil
	}
}

// SQLite returns an empty store in a file.
func SQLite(t postgres.T) store.Database {
	t.Helper()
	return closing(t)(sqlite.Open(context.Background(), filepath.Join(newDir(t), "carrel.db"), nil))
}

// newDir returns an empty directory, which is deleted after the test.
func newDir(t postgres.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "carrel-store-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Blobs returns a store that keeps the bodies of all cells of s in blobs, in a new directory.
func Blobs(t postgres.T, s store.Database) store.Database {
	t.Helper()
	bucket, err := file.New(newDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return offload.New(s.(offload.Wrapped), &offload.Options{Place: bucket, Least: 1})
}

// Postgres returns an empty store in a database. Without PostgreSQL, the test is skipped.
func Postgres(t postgres.T) store.Database {
	t.Helper()
	return PostgresAt(t, postgres.New(t))
}

// PostgresAt returns the store in a database, which other stores may have open, too. It waits
// longer for locks than a user's store does, because the tests of many packages share the
// machine.
func PostgresAt(t postgres.T, address string) store.Database {
	t.Helper()
	return closing(t)(driver.Open(context.Background(), address, &driver.Options{Patience: time.Minute}))
}

// closing returns a function that takes the results of opening a store. It fails the test
// if there is an error; otherwise it returns the store, which is closed after the test.
func closing(t postgres.T) func(store.Database, error) store.Database {
	return func(s store.Database, err error) store.Database {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		storetest.CloseAfter(t, s)
		return s
	}
}
