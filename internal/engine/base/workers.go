package base

import (
	"sync"
	"sync/atomic"
)

// Workers are the goroutines of one job. If one of them panics, the others finish, and the
// panic goes on in the goroutine that waits for them, where a server can catch it:
// counters and sources are code of somebody else.
type Workers struct {
	wg     sync.WaitGroup
	thrown atomic.Pointer[any] // what one of them panicked with
}

// Go has another goroutine do something.
func (c *Workers) Go(do func()) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.thrown.Store(&v)
			}
		}()
		do()
	})
}

// Wait waits for all.
func (c *Workers) Wait() {
	c.wg.Wait()
	if v := c.thrown.Load(); v != nil {
		panic(*v)
	}
}
