package enginetest

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
)

// engineOver returns an engine that is the same each time.
func engineOver(t *testing.T, s store.Store) *carrel.Engine {
	t.Helper()
	e, err := carrel.New(s, &carrel.Options{
		Actor: Actor, Rand: rand.NewChaCha8([32]byte{1}),
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEngineInMemory(t *testing.T) {
	Run(t, func(t *testing.T) (Jobs, governance.Scope) { return engineOver(t, memory.New()), "acme/web" })
}

func TestEngineOnSQLite(t *testing.T) {
	Run(t, func(t *testing.T) (Jobs, governance.Scope) { return engineOver(t, stores.SQLite(t)), "acme/web" })
}

func TestEngineOnPostgres(t *testing.T) {
	Run(t, func(t *testing.T) (Jobs, governance.Scope) { return engineOver(t, stores.Postgres(t)), "acme/web" })
}

// What the engine has besides jobs of every surface: how it is made and looked at, how it
// imports a file of its machine, what the proxy asks of it, and what a server does on its own.
var noJobs = map[string]bool{
	"As": true, "Bind": true, "Check": true, "Follow": true, "Policy": true,
	"Begin": true, "End": true, "CloseCalls": true, "Rewrites": true, "KeepRewrite": true, "NewEpoch": true, "FinishJobs": true,
}

func TestJobsAreAllJobsOfTheEngine(t *testing.T) {
	engine, jobs := reflect.TypeFor[*carrel.Engine](), reflect.TypeFor[Jobs]()
	for m := range engine.Methods() {
		_, ok := jobs.MethodByName(m.Name)
		if ok == noJobs[m.Name] {
			t.Errorf("%s is among the jobs: %v", m.Name, ok)
		}
	}
	if got, want := jobs.NumMethod(), engine.NumMethod()-len(noJobs); got != want {
		t.Errorf("%d jobs, want %d", got, want)
	}
}
