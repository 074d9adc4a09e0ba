package rest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits bound the load of a server. A zero field has the default, which its comment gives last.
type Limits struct {
	Body    int64         // largest body of a request, in bytes; 32 MiB
	Bodies  int64         // bytes of all bodies that are in memory at once; 256 MiB
	Jobs    int           // jobs running at once; 64
	Queue   time.Duration // longest wait of a request for its turn; 10 s
	Job     time.Duration // longest time of a job; 10 minutes
	Streams int           // open event streams per credential; 4
	Poll    time.Duration // interval at which an event stream looks for new events; 500 ms

	Replays     int   // writes remembered by idempotency key; 10 000
	ReplayBytes int64 // bytes of the kept results of these writes; 16 MiB
}

const mebibyte = 1 << 20

// WithDefaults returns the limits with the defaults of zero fields.
func (l Limits) WithDefaults() Limits {
	l.complete()
	return l
}

func (l *Limits) complete() {
	setDefault(&l.Body, 32*mebibyte)
	setDefault(&l.Bodies, 256*mebibyte)
	setDefault(&l.Jobs, 64)
	setDefault(&l.Queue, 10*time.Second)
	setDefault(&l.Job, 10*time.Minute)
	setDefault(&l.Streams, 4)
	setDefault(&l.Poll, 500*time.Millisecond)
	setDefault(&l.Replays, 10_000)
	setDefault(&l.ReplayBytes, 16*mebibyte)
	l.Bodies = max(l.Bodies, l.Body)
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// A queue is a semaphore whose callers wait for a limited time.
type queue struct {
	sem  *semaphore.Weighted
	wait time.Duration
	what string
}

func newQueue(n int64, wait time.Duration, what string) *queue {
	return &queue{semaphore.NewWeighted(n), wait, what}
}

// take acquires the weight n, which release gives back. It fails as overloaded after q.wait. A
// weight of 0 does not wait, even if others do.
func (q *queue) take(ctx context.Context, n int64) (release func(), err error) {
	if n == 0 {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	if err := q.sem.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &refusal{kind: overloaded, detail: fmt.Sprintf("too many %s at once", q.what), hint: "try again later"}
	}
	return sync.OnceFunc(func() { q.sem.Release(n) }), nil
}

// A tally counts the open streams of each credential. The field most has the largest number that a
// credential may have.
type tally struct {
	mu    sync.Mutex
	most  int
	count map[string]int
}

// take counts one more stream for the credential with the id in who; release removes it from the
// count. If that credential already has the allowed number of streams, ok is false and nothing is
// counted.
func (t *tally) take(who string) (release func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count[who] == t.most {
		return nil, false
	}
	t.count[who]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.count[who]--; t.count[who] == 0 {
			delete(t.count, who)
		}
	}), true
}
