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
// that one token cannot hold all processors. The zero value of every field is its
// default. It is safe for concurrent use.
type Turns struct {
	Most int           // jobs of one actor at once; one less than there are processors, and 1 at least
	Wait time.Duration // how long a job waits for its turn; 10 s

	mu     sync.Mutex
	actors map[governance.Actor]*turn // nobody who has and waits for nothing
}

// A turn is what one actor has.
type turn struct {
	slots chan struct{} // one for each job that is being done
	users int           // that have a slot or wait for one
}

// Take waits until an actor may begin another large job, whose end release tells. If
// that takes too long, the error is an [api.ErrTooMany].
func (t *Turns) Take(ctx context.Context, actor governance.Actor) (release func(), err error) {
	one := t.enter(actor)
	timer := time.NewTimer(orElse(t.Wait, 10*time.Second))
	defer timer.Stop()
	select {
	case one.slots <- struct{}{}:
		return sync.OnceFunc(func() {
			<-one.slots
			t.leave(actor)
		}), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = fmt.Errorf("%w: %d at a time for one actor", api.ErrTooMany, cap(one.slots))
	}
	t.leave(actor)
	return nil, err
}

// enter counts a job of an actor's.
func (t *Turns) enter(actor governance.Actor) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.actors == nil {
		t.actors = make(map[governance.Actor]*turn)
	}
	one := t.actors[actor]
	if one == nil {
		one = &turn{slots: make(chan struct{}, orElse(t.Most, max(1, runtime.GOMAXPROCS(0)-1)))}
		t.actors[actor] = one
	}
	one.users++
	return one
}

func (t *Turns) leave(actor governance.Actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.actors[actor]; one.users > 1 {
		one.users--
		return
	}
	delete(t.actors, actor)
}
