package rest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits bound what a server takes on at once. The zero value of every field is its
// default.
type Limits struct {
	Body    int64         // largest body of a request, in bytes; 32 MiB
	Bodies  int64         // bytes of all bodies that are in memory at once; 256 MiB
	Jobs    int           // that are done at once; 64
	Queue   time.Duration // how long a request waits for its turn; 10 s
	Job     time.Duration // how long a job may take; 10 minutes
	Streams int           // of events, that one credential may have open; 4
	Poll    time.Duration // how often a stream of events looks for new ones; 500 ms

	Replays     int   // writes that are known by their idempotency keys; 10 000
	ReplayBytes int64 // of what is kept of their results; 16 MiB
}

const mebibyte = 1 << 20

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

// A queue lets a weight through at once, and everybody else wait for a while.
type queue struct {
	sem  *semaphore.Weighted
	wait time.Duration
	what string
}

func newQueue(n int64, wait time.Duration, what string) *queue {
	return &queue{semaphore.NewWeighted(n), wait, what}
}

// take waits for a place of a weight, which release gives back.
func (q *queue) take(ctx context.Context, n int64) (release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	if err := q.sem.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &refusal{kind: overloaded, detail: fmt.Sprintf("too many %s at once", q.what), hint: "try again"}
	}
	return sync.OnceFunc(func() { q.sem.Release(n) }), nil
}

// A tally counts what each of several has, up to a number.
type tally struct {
	mu    sync.Mutex
	most  int
	count map[string]int
}

// take counts one more, unless there are as many as there may be. Release counts
// it no longer.
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
