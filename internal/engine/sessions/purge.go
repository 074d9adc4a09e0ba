package sessions

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// PurgeJob begins the name of a job that purges a session, whose id follows.
const PurgeJob = "purge session "

// purgeTime is how long the store reserves the job of a purge for this process. The purge renews
// the reservation before each session.
const purgeTime = 2 * time.Minute

// A purgePlan is the data of the job of a purge. Once the text of a session is erased, only the
// plan still names the sessions that the purge must erase.
type purgePlan struct {
	Derived []transcript.SessionID `json:"derived,omitempty"`
	Heirs   []transcript.SessionID `json:"heirs,omitempty"`
}

// PurgeSession erases a session, removed or not: its conversation with all earlier imports, its
// summaries, stubs, contract and index. It also erases everything derived from it: its text in
// contexts, the memories made from these, and the sessions that began with one of its packets.
//
// If the process dies meanwhile, or the purge fails after it has erased text, another call for the
// session finishes the purge. It fails with
// [store.ErrTaken] while another process purges the session.
func (e *Sessions) PurgeSession(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.SessionRemoval, err error) {
	id := req.Session
	defer base.During("purge", &err, "session "+string(id))

	job := &store.Job{Scope: scope, Name: PurgeJob + string(id), Mark: rand.Text(), Actor: e.Opts.Actor}
	head, err := e.AnyHead(ctx, scope, id)
	switch {
	case err != nil:
		return nil, err
	case head.Status == store.StatusPurged:
		if err := e.endOpen(ctx, job); err != nil {
			return nil, err
		}
		return nil, hold.CheckInUse(head)
	}
	res := &api.SessionRemoval{Session: id, Status: store.StatusPurged}
	if err := e.successors(ctx, scope, res); err != nil {
		return nil, err
	}
	if job, err = e.beginPurge(ctx, job, res); err != nil {
		return nil, err
	}
	within := store.WithJob(ctx, job)
	all := append([]transcript.SessionID{id}, res.Derived...)
	res.Cells, err = base.Retry(within, func() (int, error) { return e.eraseCells(within, scope, all, res) })
	kept, done := errors.AsType[*stacks.SnapshotError](err)
	e.Forget(scope) // the texts are gone, whatever follows, or may be gone
	if err != nil && !done {
		e.leave(ctx, job, func(ctx context.Context, j *store.Job) error {
			if _, err := e.About(ctx, scope, head); err == nil {
				return e.Store.EndJob(ctx, j) // nothing is erased
			}
			return e.Store.KeepJob(ctx, j, 0) // as when the store cannot delete blobs of cells that are purged
		})
		return nil, err
	}
	for _, one := range slices.Backward(all) { // the session itself is the last
		if err = e.Store.KeepJob(ctx, job, purgeTime); err == nil {
			res.Op, err = base.Retry(within, func() (string, error) { return e.eraseSession(within, scope, one, res.Cells) })
		}
		if err != nil {
			e.leave(ctx, job, func(ctx context.Context, j *store.Job) error { return e.Store.KeepJob(ctx, j, 0) })
			return nil, err
		}
	}
	e.leave(ctx, job, e.Store.EndJob)
	e.Forget(scope)
	if kept != nil {
		return nil, kept
	}
	return res, nil
}

// beginPurge begins the job of a purge. If an earlier process has begun it, beginPurge adds to res
// the sessions that are in the plan of that process.
func (e *Sessions) beginPurge(ctx context.Context, job *store.Job, res *api.SessionRemoval) (*store.Job, error) {
	var err error
	if job.Data, err = json.Marshal(purgePlan{Derived: res.Derived, Heirs: res.Heirs}); err != nil {
		return nil, err
	}
	begun, err := e.Store.BeginJob(ctx, job, purgeTime)
	if err != nil {
		return nil, err
	}
	var plan purgePlan
	if err := json.Unmarshal(begun.Data, &plan); err != nil {
		return nil, fmt.Errorf("%w: decode the data of job %q: %w", store.ErrCorrupt, job.Name, err)
	}
	res.Derived, res.Heirs = union(plan.Derived, res.Derived), union(plan.Heirs, res.Heirs)
	return begun, nil
}

// union returns the elements of a, followed by the elements of b that are not in a.
func union(a, b []transcript.SessionID) []transcript.SessionID {
	for _, id := range b {
		if !slices.Contains(a, id) {
			a = append(a, id)
		}
	}
	return a
}

// leaveTime is how long the method leave waits for the store.
const leaveTime = 5 * time.Second

// leave calls the function how, even if ctx is canceled. That is a function of the store that ends
// a job or gives it up. If it fails, another process can take the job when its reservation is over.
func (e *Sessions) leave(ctx context.Context, job *store.Job, how func(context.Context, *store.Job) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	_ = how(ctx, job)
}

// endOpen ends a job that is still open because a process died after the last write of its purge.
func (e *Sessions) endOpen(ctx context.Context, job *store.Job) error {
	open, err := e.Store.OpenJobs(ctx, job.Scope)
	if err != nil || !slices.ContainsFunc(open, func(o store.Job) bool { return o.Name == job.Name }) {
		return err
	}
	if job, err = e.Store.BeginJob(ctx, job, purgeTime); err == nil {
		err = e.Store.EndJob(ctx, job)
	}
	return err
}
