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

// Turns bounds how many large jobs each actor has done at once, over all surfaces, so
// that one credential cannot hold all processors. A job that waits for the disk holds none,
// and gives its turn to another meanwhile: see [Rest]. The zero value of every field is
// its default. It is safe for concurrent use.
type Turns struct {
	Most int           // jobs of one actor at once; one less than there are processors, and 1 at least
	Wait time.Duration // how long a job waits for its turn; 10 s

	mu     sync.Mutex
	actors map[governance.Actor]*line // nobody who has and waits for nothing
}

// A line is the jobs of one actor: those that have a turn, and those that wait for one.
type line struct {
	busy    int             // that have a turn
	resting int             // that gave theirs away for a while
	waiting []chan struct{} // closed when their turn comes, in the order in which they came
}

type turnKey struct{}

// A turn is that of one job.
type turn struct {
	turns *Turns
	actor governance.Actor
}

// Take waits until an actor may begin another large job, whose end release tells. The
// context that it returns is the job's, for [Rest]. If the wait takes too long, the
// error is an [api.ErrTooMany].
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

// Rest gives the turn of the job that ctx is of to another until back is called: the job
// waits for something that takes no processor. It then goes on at once, and no other job
// begins until there are no more than may be. Outside of a job it does nothing.
func Rest(ctx context.Context) (back func()) {
	one, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return func() {}
	}
	one.turns.change(one.actor, -1, 1)
	return func() { one.turns.change(one.actor, 1, -1) }
}

func (t *Turns) most() int { return orElse(t.Most, max(1, runtime.GOMAXPROCS(0)-1)) }

// enter gives an actor a turn and returns nil, or returns what is closed when there is
// one.
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

// withdraw takes who waits out of the line, and reports whether their turn had not come.
func (t *Turns) withdraw(actor governance.Actor, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.actors[actor]
	if of == nil {
		return false
	}
	for i, c := range of.waiting {
		if c == mine {
			of.waiting = append(of.waiting[:i], of.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// change counts the jobs of an actor anew, and lets those begin whose turn it is.
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
		delete(t.actors, actor) // nobody waits either, or one would have begun
	}
}
