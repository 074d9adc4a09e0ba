package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// millisNow is the time of the server, not that of the beginning of the transaction.
const millisNow = `CAST(date_part('epoch', clock_timestamp()) * 1000 AS BIGINT)`

const (
	beginJob = `
		INSERT INTO job (scope, name, mark, actor, data, until) VALUES ($1, $2, $3, $4, $5, ` + millisNow + ` + $6)
		ON CONFLICT (scope, name) DO UPDATE SET mark = excluded.mark, until = excluded.until
		WHERE job.mark = excluded.mark OR job.until <= ` + millisNow
	selectJob = `SELECT name, mark, actor, data FROM job WHERE scope = $1 AND name = $2`
	lockJob   = `SELECT mark FROM job WHERE scope = $1 AND name = $2 FOR UPDATE`
	keepJob   = `UPDATE job SET until = $4 + CAST(date_part('epoch', clock_timestamp()) * 1000 AS BIGINT) WHERE scope = $1 AND name = $2 AND mark = $3`
	endJob    = `DELETE FROM job WHERE scope = $1 AND name = $2 AND mark = $3`
	allJobs   = `SELECT name, mark, actor, data FROM job WHERE scope = $1 ORDER BY name`
	openJobs  = `SELECT name, mark, actor, data FROM job WHERE scope = $1 AND until <= ` + millisNow + ` ORDER BY name`
)

// fence adds a statement that locks the job in the transaction's context, if the context has a job
// of the scope. After a flush, the function fenced returns ErrTaken if the job is no longer
// recorded with its mark. Otherwise no other process can take the job until the transaction ends.
func (t *tx) fence(scope governance.Scope) (fenced func() error) {
	j := store.JobFrom(t.ctx, scope)
	if j == nil {
		return func() error { return nil }
	}
	mark := ""
	t.row(lockJob, args(raw(scope), raw(j.Name)), to(&mark))
	return func() error {
		if mark != j.Mark {
			return store.ErrTaken
		}
		return nil
	}
}

// jobsInto returns a function that reads a row as a job of the scope and appends the job to *list.
func jobsInto(list *[]store.Job, scope governance.Scope) func(pgx.Rows) error {
	return each(list, func(rows pgx.Rows) (store.Job, error) {
		j := store.Job{Scope: scope}
		err := rows.Scan(to(&j.Name), to(&j.Mark), to(&j.Actor), &j.Data)
		return j, err
	})
}

// ofJob runs a transaction with the steps that f adds, and then reads the job. It returns the
// recorded job, or nil if none is recorded. It fails with ErrTaken if the job is recorded with
// another mark.
func (s *database) ofJob(ctx context.Context, j *store.Job, f func(t *tx)) (*store.Job, error) {
	var found []store.Job
	err := s.transact(ctx, in(j.Scope), writing, func(t *tx) error {
		found = nil
		f(t)
		t.rows(jobsInto(&found, j.Scope), selectJob, raw(j.Scope), raw(j.Name))
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("job %s: %w", j.Name, err)
	case len(found) == 0:
		return nil, nil
	case found[0].Mark != j.Mark:
		return nil, fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	return &found[0], nil
}

// BeginJob implements [store.Jobs].
func (s *database) BeginJob(ctx context.Context, j *store.Job, d time.Duration) (*store.Job, error) {
	return s.ofJob(ctx, j, func(t *tx) {
		t.do("job", beginJob, raw(j.Scope), raw(j.Name), raw(j.Mark), raw(j.Actor), j.Data, d.Milliseconds())
	})
}

// KeepJob implements [store.Jobs].
func (s *database) KeepJob(ctx context.Context, j *store.Job, d time.Duration) error {
	kept, err := s.ofJob(ctx, j, func(t *tx) { t.do("job", keepJob, raw(j.Scope), raw(j.Name), raw(j.Mark), d.Milliseconds()) })
	if err == nil && kept == nil {
		err = fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	return err
}

// EndJob implements [store.Jobs].
func (s *database) EndJob(ctx context.Context, j *store.Job) error {
	_, err := s.ofJob(ctx, j, func(t *tx) { t.do("job", endJob, raw(j.Scope), raw(j.Name), raw(j.Mark)) })
	return err
}

// OpenJobs implements [store.Jobs].
func (s *database) OpenJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	return s.jobs(ctx, scope, openJobs)
}

// AllJobs implements [store.Movable].
func (s *database) AllJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	return s.jobs(ctx, scope, allJobs)
}

// jobs returns the jobs of a scope that a query finds.
func (s *database) jobs(ctx context.Context, scope governance.Scope, query string) ([]store.Job, error) {
	found, err := read(ctx, s, scope, func(t *tx) (*[]store.Job, error) {
		found := new([]store.Job)
		t.rows(jobsInto(found, scope), query, raw(scope))
		return found, nil
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return found, nil
}
