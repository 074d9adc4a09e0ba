package auth

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// Turns bounds the number of large jobs that each actor runs at once, over all surfaces, so that
// one credential cannot occupy all processors. A large job reads or writes a whole conversation or
// makes a context. While it waits for the disk it can give its turn to another, see [Rest]. A zero
// field has the default, which its comment gives last. Turns is safe for concurrent use.
type Turns struct {
	Most int           // jobs of one actor at once; one less than GOMAXPROCS, at least 1
	Wait time.Duration // longest wait of a job for its turn; 10 s

	mu     sync.Mutex
	actors map[governance.Actor]*line // actors with jobs
}

// A line is the jobs of one actor: those that have a turn, and those that wait for one.
type line struct {
	busy    int             // jobs with a turn
	resting int             // jobs that gave their turn away for a while
	waiting []chan struct{} // one for each waiting job, the oldest first; closed when its turn comes
}

type turnKey struct{}

// A turn is the turn of one job.
type turn struct {
	turns *Turns
	actor governance.Actor
}

// Load returns how many large jobs run, and how many wait for their turn.
func (t *Turns) Load() (running, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.actors {
		running, waiting = running+l.busy+l.resting, waiting+len(l.waiting)
	}
	return running, waiting
}

// Take waits until the actor may begin another large job. It returns a context for the job, which
// [Rest] uses, and release, which the job calls at its end. It fails with [api.ErrTooMany] after
// Wait.
func (t *Turns) Take(ctx context.Context, actor governance.Actor) (job context.Context, release func(), err error) {
	if mine := t.enter(actor); mine != nil {
		timer := time.NewTimer(orElse(t.Wait, 10*time.Second))
		defer timer.Stop()
		select {
		case <-mine:
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			err = fmt.Errorf("%w: %d at a time for one actor", api.ErrTooMany, t.most())
		}
		if err != nil && t.withdraw(actor, mine) {
			return nil, nil, err
		}
	}
	job = context.WithValue(ctx, turnKey{}, &turn{t, actor})
	return job, sync.OnceFunc(func() { t.change(actor, -1, 0) }), nil
}

// Rest gives the turn of the job with context ctx to another job until back is called, exactly
// once. A job calls it before it waits for the disk. After back the job goes on at once; no other
// job begins until fewer than Most have a turn. Without a job in ctx, Rest does nothing.
func Rest(ctx context.Context) (back func()) {
	one, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return func() {}
	}
	one.turns.change(one.actor, -1, 1)
	return func() { one.turns.change(one.actor, 1, -1) }
}

func (t *Turns) most() int { return orElse(t.Most, max(1, runtime.GOMAXPROCS(0)-1)) }

// enter gives an actor a turn and returns nil. If no turn is free, it returns a channel that is
// closed when the turn comes.
func (t *Turns) enter(actor governance.Actor) (mine chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.actors == nil {
		t.actors = make(map[governance.Actor]*line)
	}
	of := t.actors[actor]
	if of == nil {
		of = new(line)
		t.actors[actor] = of
	}
	if of.busy < t.most() {
		of.busy++
		return nil
	}
	mine = make(chan struct{})
	of.waiting = append(of.waiting, mine)
	return mine
}

// withdraw removes a waiting job from the line. It returns false if the turn of the job had
// come already.
func (t *Turns) withdraw(actor governance.Actor, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.actors[actor] // it is there, as the job waits or has its turn
	for i, c := range of.waiting {
		if c == mine {
			of.waiting = append(of.waiting[:i], of.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// change adds the numbers busy and resting to the counts of an actor, and gives free turns to
// waiting jobs.
func (t *Turns) change(actor governance.Actor, busy, resting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.actors[actor]
	of.busy, of.resting = of.busy+busy, of.resting+resting
	for of.busy < t.most() && len(of.waiting) > 0 {
		close(of.waiting[0])
		of.waiting, of.busy = of.waiting[1:], of.busy+1
	}
	if of.busy+of.resting == 0 {
		delete(t.actors, actor) // no job waits, or it would have a turn now
	}
}
