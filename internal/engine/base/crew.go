package base

import (
	"sync"
	"sync/atomic"
)

// A Crew is the goroutines of one job. If one of them panics, the others finish, and the
// panic goes on in the goroutine that waits for them, where a server can catch it:
// counters and sources are code of somebody else.
type Crew struct {
	wg     sync.WaitGroup
	thrown atomic.Pointer[any] // what one of them panicked with
}

// Hire has another goroutine do something.
func (c *Crew) Hire(do func()) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.thrown.Store(&v)
			}
		}()
		do()
	})
}

// Finish waits for all.
func (c *Crew) Finish() {
	c.wg.Wait()
	if v := c.thrown.Load(); v != nil {
		panic(*v)
	}
}
