package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// millisNow is the time of the machine's clock. All processes that have the file open run on this
// machine.
const millisNow = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

const (
	beginJob = `
		INSERT INTO job (scope, name, mark, actor, data, until, imprint) VALUES (?1, ?2, ?3, ?4, ?5, ` + millisNow + ` + ?6, ?7)
		ON CONFLICT (scope, name) DO UPDATE SET mark = excluded.mark, until = excluded.until
		WHERE job.mark = excluded.mark OR job.until <= ` + millisNow
	jobColumns = `SELECT name, mark, actor, data, imprint FROM job `
	selectJob  = jobColumns + `WHERE scope = ?1 AND name = ?2`
	keepJob    = `UPDATE job SET until = ` + millisNow + ` + ?4 WHERE scope = ?1 AND name = ?2 AND mark = ?3`
	endJob     = `DELETE FROM job WHERE scope = ?1 AND name = ?2 AND mark = ?3`
	allJobs    = jobColumns + `WHERE scope = ?1 ORDER BY name`
	openJobs   = jobColumns + `WHERE scope = ?1 AND until <= ` + millisNow + ` ORDER BY name`
)

// jobImprint returns the imprint of a job.
func jobImprint(j *store.Job) imprint {
	return recordOf("job").text(string(j.Scope), j.Name, string(j.Actor)).value(document(j.Data)).imprint()
}

// scanJob reads a row with the columns of jobColumns.
func scanJob(scope governance.Scope, scan func(dest ...any) error) (*store.Job, error) {
	j := &store.Job{Scope: scope}
	var own imprint
	if err := scan(&j.Name, &j.Mark, &j.Actor, &j.Data, &own); err != nil {
		return nil, err
	}
	if !same(jobImprint(j), own) {
		return nil, damaged("job %s", j.Name)
	}
	return j, nil
}

// fence returns ErrTaken if ctx has a job of the scope that is no longer recorded with its mark:
// another process has taken the job, or it has ended.
func (w *writer) fence(ctx context.Context, scope governance.Scope) error {
	j := store.JobFrom(ctx, scope)
	if j == nil {
		return nil
	}
	there, err := w.job(j)
	if err == nil && there == nil {
		err = store.ErrTaken
	}
	return err
}

// job returns the recorded job with the name of j, or nil if none is recorded. It fails with
// ErrTaken if the recorded job has another mark than j.
func (w *writer) job(j *store.Job) (*store.Job, error) {
	there, err := scanJob(j.Scope, func(dest ...any) error { return w.row(selectJob, []any{j.Scope, j.Name}, dest...) })
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case there.Mark != j.Mark:
		return nil, store.ErrTaken
	}
	return there, nil
}

// ofJob runs a statement that writes, and then reads the job j. It returns the recorded job, or nil
// if none is recorded. It fails with ErrTaken if the recorded job has another mark than j.
func (s *database) ofJob(ctx context.Context, j *store.Job, query string, args ...any) (there *store.Job, err error) {
	err = s.submit(&job{ctx: ctx, write: func(w *writer) (err error) {
		if err = w.exec(query, append([]any{j.Scope, j.Name, j.Mark}, args...)...); err == nil {
			there, err = w.job(j)
		}
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Name, s.explain(err))
	}
	return there, nil
}

// BeginJob implements [store.Jobs].
func (s *database) BeginJob(ctx context.Context, j *store.Job, d time.Duration) (*store.Job, error) {
	own := jobImprint(j)
	return s.ofJob(ctx, j, beginJob, j.Actor, document(j.Data), d.Milliseconds(), own.blob())
}

// KeepJob implements [store.Jobs].
func (s *database) KeepJob(ctx context.Context, j *store.Job, d time.Duration) error {
	kept, err := s.ofJob(ctx, j, keepJob, d.Milliseconds())
	if err == nil && kept == nil {
		err = fmt.Errorf("job %s: %w", j.Name, store.ErrTaken)
	}
	return err
}

// EndJob implements [store.Jobs].
func (s *database) EndJob(ctx context.Context, j *store.Job) error {
	_, err := s.ofJob(ctx, j, endJob)
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
func (s *database) jobs(ctx context.Context, scope governance.Scope, query string) (found []store.Job, err error) {
	err = s.view(ctx, func(v view) error {
		found = nil
		return v.each(func(rows *sql.Rows) error {
			j, err := scanJob(scope, rows.Scan)
			if err == nil {
				found = append(found, *j)
			}
			return err
		}, query, scope)
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", s.explain(err))
	}
	return found, nil
}
