package store

import (
	"context"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// ErrTaken means that another process does the job. It is an [ErrBusy].
var ErrTaken = fmt.Errorf("%w: another process does the job", ErrBusy)

// A Job is work that takes several writes, such as the purge of a session. One process at a time
// does it. If that process dies, another one finishes the work.
type Job struct {
	Scope governance.Scope
	Name  string           // says what is done, such as "purge session s1"
	Mark  string           // random; of the process that does it
	Actor governance.Actor // who asked for it
	Data  []byte           // JSON: ids that whoever finishes the work must know; no text
}

// Jobs stores jobs that have begun and not ended. A process has a job for a limited time by the
// clock of the database, and has to keep it. When the time is over, any other process can take
// the job, with a mark of its own.
//
// If the context of an Apply or Update has a job of the same scope, see [WithJob], it fails with
// ErrTaken and writes nothing unless the job still has the same mark at its commit. So a process
// that was stopped for longer than its time cannot write late.
type Jobs interface {
	// BeginJob records a job and gives it to j.Mark for a time. If it is recorded already,
	// BeginJob takes it if nobody has it, and else fails with ErrTaken. It returns the job as
	// recorded, with the actor and the data of whoever began it.
	BeginJob(ctx context.Context, j *Job, d time.Duration) (*Job, error)

	// KeepJob gives a job to j.Mark for a time from now on, or with 0 leaves it to any other
	// process. It fails with ErrTaken if another mark has the job, or if it has ended.
	KeepJob(ctx context.Context, j *Job, d time.Duration) error

	// EndJob deletes a job. It fails with ErrTaken if another mark has it, and does nothing if
	// it is not recorded.
	EndJob(ctx context.Context, j *Job) error

	// OpenJobs returns the jobs of a scope that nobody has, ordered by name.
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
