package carrel

import (
	"sync"
	"sync/atomic"
)

// A crew is the goroutines of one job. If one of them panics, the others finish, and the
// panic goes on in the goroutine that waits for them, where a server can catch it:
// counters and sources are code of somebody else.
type crew struct {
	wg     sync.WaitGroup
	thrown atomic.Pointer[any] // what one of them panicked with
}

// hire has another goroutine do something.
func (c *crew) hire(do func()) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.thrown.Store(&v)
			}
		}()
		do()
	})
}

// finish waits for all.
func (c *crew) finish() {
	c.wg.Wait()
	if v := c.thrown.Load(); v != nil {
		panic(*v)
	}
}
