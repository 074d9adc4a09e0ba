package store

import (
	"context"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// ErrTaken means that another process does the job. It wraps [ErrBusy].
var ErrTaken = fmt.Errorf("%w: another process does the job", ErrBusy)

// A Job is work that takes several writes, such as the purge of a session. One process at a time
// does it. If that process dies, another one finishes the work.
type Job struct {
	Scope governance.Scope
	Name  string           // says what is done, such as "purge session s1"
	Mark  string           // random text that identifies the process that does it
	Actor governance.Actor // who asked for it
	Data  []byte           // JSON: ids that whoever finishes the work must know; no text
}

// Jobs stores jobs that have begun and not ended. A process has a job for a limited time, by the
// clock of the database, and calls KeepJob again and again to extend it. When the time is over, any
// other process can take the job, with a mark of its own.
//
// If a process calls Apply or Update with a context that has a job of the same scope, see [WithJob],
// the call fails with ErrTaken and writes nothing unless the job is still recorded with the same
// mark at the commit. A process that was stopped for too long can therefore not write late.
type Jobs interface {
	// BeginJob records the job j and gives it to the process with j.Mark for the duration d. If
	// a job with this name is recorded already, BeginJob takes that job over if its time is
	// over, and otherwise fails with ErrTaken. It returns the recorded job: with j.Mark, and with
	// the actor and the data of the process that began it.
	BeginJob(ctx context.Context, j *Job, d time.Duration) (*Job, error)

	// KeepJob extends the time of a job to d from now on. If d is 0, it releases the job to any
	// process. It fails with ErrTaken if a process with another mark has the job, or if the job
	// has ended.
	KeepJob(ctx context.Context, j *Job, d time.Duration) error

	// EndJob deletes a job. It fails with ErrTaken if a process with another mark has the job,
	// and does nothing if the job is not recorded.
	EndJob(ctx context.Context, j *Job) error

	// OpenJobs returns the jobs of a scope that no process has at present, ordered by name.
	OpenJobs(ctx context.Context, scope governance.Scope) ([]Job, error)
}

type jobKey struct{}

// WithJob returns a context for a write that is part of j.
func WithJob(ctx context.Context, j *Job) context.Context { return context.WithValue(ctx, jobKey{}, j) }

// JobFrom returns the job of [WithJob] in ctx, or nil if there is none or it is of another scope.
func JobFrom(ctx context.Context, scope governance.Scope) *Job {
	if j, ok := ctx.Value(jobKey{}).(*Job); ok && j.Scope == scope {
		return j
	}
	return nil
}
