package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

type jobKey struct {
	scope governance.Scope
	name  string
}

// A job is a stored job. The process with its mark has it until the time in until.
type job struct {
	store.Job
	until time.Time
}

// copyJob returns a copy of a job for a caller.
func copyJob(j *store.Job) store.Job {
	c := *j
	c.Data = bytes.Clone(j.Data)
	return c
}

// now returns the time of the database.
func now() time.Time {
	return time.Now() //nolint:forbidigo // the driver is the database, which has a clock
}

// fence returns ErrTaken if ctx has a job of the scope that is no longer recorded with its mark:
// another process has taken the job, or it has ended. The caller holds the lock.
func (s *database) fence(ctx context.Context, scope governance.Scope) error {
	j := store.JobFrom(ctx, scope)
	if j == nil {
		return nil
	}
	if there := s.jobs[jobKey{scope, j.Name}]; there == nil || there.Mark != j.Mark {
		return store.ErrTaken
	}
	return nil
}

// BeginJob implements [store.Jobs].
func (s *database) BeginJob(ctx context.Context, j *store.Job, d time.Duration) (*store.Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := jobKey{j.Scope, j.Name}
	there := s.jobs[key]
	switch {
	case there == nil:
		there = &job{Job: copyJob(j)}
		s.jobs[key] = there
	case there.Mark != j.Mark && there.until.After(now()):
		return nil, fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	there.Mark, there.until = j.Mark, now().Add(d)
	begun := copyJob(&there.Job)
	return &begun, nil
}

// KeepJob implements [store.Jobs].
func (s *database) KeepJob(ctx context.Context, j *store.Job, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := s.jobs[jobKey{j.Scope, j.Name}]
	if there == nil || there.Mark != j.Mark {
		return fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	there.until = now().Add(d)
	return nil
}

// EndJob implements [store.Jobs].
func (s *database) EndJob(ctx context.Context, j *store.Job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := jobKey{j.Scope, j.Name}
	if there := s.jobs[key]; there != nil && there.Mark != j.Mark {
		return fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	delete(s.jobs, key)
	return nil
}

// OpenJobs implements [store.Jobs].
func (s *database) OpenJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	return s.jobsWhere(ctx, scope, func(j *job) bool { return !j.until.After(now()) })
}

// AllJobs implements [store.Movable].
func (s *database) AllJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	return s.jobsWhere(ctx, scope, func(*job) bool { return true })
}

// jobsWhere returns the jobs of a scope for which the function is returns true.
func (s *database) jobsWhere(ctx context.Context, scope governance.Scope, is func(*job) bool) ([]store.Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []store.Job
	for key, j := range s.jobs {
		if key.scope == scope && is(j) {
			found = append(found, copyJob(&j.Job))
		}
	}
	slices.SortFunc(found, func(a, b store.Job) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}
