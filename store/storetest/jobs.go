package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// soon is longer than any check, and over is a time that has passed: a job that is begun for it can
// be taken at once.
const (
	soon = time.Hour
	over = -time.Second
)

var jobChecks = []check{
	{"a job is one process's at a time", jobsAreTaken},
	{"a job keeps the data of who began it", jobsKeepData},
	{"a job that ended is nobody's, and can begin again", jobsEnd},
	{"open jobs are those of the scope that nobody has", jobsAreListed},
	{"a process that lost its job writes nothing", lostJobsWriteNothing},
	{"a job of another scope does not concern a write", jobsAreOfAScope},
}

func newJob(name, mark string) *store.Job {
	return &store.Job{Scope: scope, Name: name, Mark: mark, Actor: governance.ActorUser}
}

// begin begins a job for a time. It fails the test if the error is not want.
func begin(t *testing.T, s store.Store, j *store.Job, d time.Duration, want error) {
	t.Helper()
	got, err := s.BeginJob(t.Context(), j, d)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("BeginJob of %q by %s: %v, want %v", j.Name, j.Mark, err, want)
	}
	if err == nil && (got.Scope != j.Scope || got.Name != j.Name || got.Mark != j.Mark) {
		t.Errorf("BeginJob of %q by %s returns %+v", j.Name, j.Mark, got)
	}
}

func jobsAreTaken(t *testing.T, s store.Store) {
	begin(t, s, newJob("purge", "a"), soon, nil)
	begin(t, s, newJob("purge", "b"), soon, store.ErrTaken)
	begin(t, s, newJob("purge", "a"), soon, nil) // again, as after an answer that was lost
	begin(t, s, newJob("other", "b"), soon, nil)
	for _, keep := range []time.Duration{soon, over} {
		if err := s.KeepJob(t.Context(), newJob("purge", "b"), keep); !errors.Is(err, store.ErrTaken) || !errors.Is(err, store.ErrBusy) {
			t.Errorf("another keeps the job: %v, want %v", err, store.ErrTaken)
		}
	}
	if err := s.EndJob(t.Context(), newJob("purge", "b")); !errors.Is(err, store.ErrTaken) {
		t.Errorf("another ends the job: %v, want %v", err, store.ErrTaken)
	}
	if err := s.KeepJob(t.Context(), newJob("purge", "a"), over); err != nil {
		t.Fatal(err)
	}
	begin(t, s, newJob("purge", "b"), soon, nil)
	begin(t, s, newJob("purge", "a"), soon, store.ErrTaken)
	if err := s.KeepJob(t.Context(), newJob("purge", "a"), soon); !errors.Is(err, store.ErrTaken) {
		t.Errorf("who has lost the job keeps it: %v, want %v", err, store.ErrTaken)
	}
}

func jobsKeepData(t *testing.T, s store.Store) {
	first := newJob("purge", "a")
	first.Data = []byte(`{"derived": ["s2"]}`)
	begin(t, s, first, over, nil)
	second := newJob("purge", "b")
	second.Data = []byte(`{}`)
	got, err := s.BeginJob(t.Context(), second, soon)
	if err != nil {
		t.Fatal(err)
	}
	want := *first
	want.Mark = "b"
	equal(t, "the job that was taken over", *got, want)
}

func jobsEnd(t *testing.T, s store.Store) {
	begin(t, s, newJob("purge", "a"), soon, nil)
	for range 2 { // again, as after an answer that was lost
		if err := s.EndJob(t.Context(), newJob("purge", "a")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KeepJob(t.Context(), newJob("purge", "a"), soon); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a job that ended is kept: %v, want %v", err, store.ErrTaken)
	}
	begin(t, s, newJob("purge", "b"), soon, nil)
}

func jobsAreListed(t *testing.T, s store.Store) {
	begin(t, s, newJob("2", "a"), over, nil)
	begin(t, s, newJob("1", "a"), over, nil)
	begin(t, s, newJob("3", "a"), soon, nil)
	elsewhere := newJob("4", "a")
	elsewhere.Scope = "test/elsewhere"
	begin(t, s, elsewhere, over, nil)
	got, err := s.OpenJobs(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "open jobs", got, []store.Job{*newJob("1", "a"), *newJob("2", "a")})
}

// lose begins a job through the store a, for a time that is over at once, and then lets the store b
// take the job, as another process would. It returns two contexts for writes of that job: lost is
// for the process that began the job and no longer has it, and taken is for the process that has
// it.
func lose(t *testing.T, a, b store.Store) (lost, taken context.Context) {
	t.Helper()
	begin(t, a, newJob("purge", "a"), over, nil)
	begin(t, b, newJob("purge", "b"), soon, nil)
	return store.WithJob(t.Context(), newJob("purge", "a")), store.WithJob(t.Context(), newJob("purge", "b"))
}

func lostJobsWriteNothing(t *testing.T, s store.Store) { lostTo(t, s, s) }

// lostTo checks that the handle a of a store writes nothing for a job that the handle b has taken.
func lostTo(t *testing.T, a, b store.Store) {
	Fill(t, a, scope)
	before := contents(t, a, scope)
	at, err := a.Head(t.Context(), scope, "s")
	if err != nil {
		t.Fatal(err)
	}
	lost, taken := lose(t, a, b)
	write := func(ctx context.Context, s store.Store, n int) (applied, updated error) {
		_, applied = s.Apply(ctx, scope, "s", at.Revision, newChange(fmt.Sprint("job change ", n)))
		u := newUpdate(fmt.Sprint("job update ", n))
		add(u, fmt.Sprint("job-artifact-", n), "text")
		_, updated = s.Update(ctx, scope, u)
		return applied, updated
	}
	if applied, updated := write(lost, a, 1); !errors.Is(applied, store.ErrTaken) || !errors.Is(updated, store.ErrTaken) {
		t.Errorf("who has lost the job writes: %v, %v; want %v", applied, updated, store.ErrTaken)
	}
	equal(t, "contents", contents(t, b, scope), before)
	if applied, updated := write(taken, b, 2); applied != nil || updated != nil {
		t.Errorf("who has the job writes: %v, %v", applied, updated)
	}
	at.Revision++
	if err := b.EndJob(t.Context(), newJob("purge", "b")); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{lost, taken} {
		if applied, updated := write(ctx, a, 3); !errors.Is(applied, store.ErrTaken) || !errors.Is(updated, store.ErrTaken) {
			t.Errorf("after the end of the job: %v, %v; want %v", applied, updated, store.ErrTaken)
		}
	}
}

func jobsAreOfAScope(t *testing.T, s store.Store) {
	elsewhere := newJob("purge", "a")
	elsewhere.Scope = "test/elsewhere"
	if _, err := s.Apply(store.WithJob(t.Context(), elsewhere), scope, "s", 0, newChange("op1")); err != nil {
		t.Errorf("a write in another scope: %v", err)
	}
}

// oneOpenerTakesJobs checks that exactly one of many concurrent calls of BeginJob, at two handles,
// gets an open job.
func oneOpenerTakesJobs(t *testing.T, a, b store.Store) {
	for round := range 8 {
		name := fmt.Sprint("job ", round)
		dead := newJob(name, "dead")
		dead.Actor = "ada"
		begin(t, a, dead, over, nil)
		var mark atomic.Value
		won := winners(t, 8, func(i int) error {
			j := newJob(name, fmt.Sprint(i))
			got, err := []store.Store{a, b}[i%2].BeginJob(t.Context(), j, soon)
			switch {
			case err == nil:
				mark.Store(j.Mark)
				if got.Actor != dead.Actor {
					t.Errorf("the job is for %s, want %s", got.Actor, dead.Actor)
				}
			case errors.Is(err, store.ErrTaken):
				return store.ErrConflict // which is what losers get
			}
			return err
		})
		if won != 1 {
			t.Fatalf("round %d: %d got the job, want 1", round, won)
		}
		if err := b.KeepJob(t.Context(), newJob(name, mark.Load().(string)), soon); err != nil {
			t.Errorf("round %d: who got the job does not have it: %v", round, err)
		}
	}
}
