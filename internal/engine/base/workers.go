package base

import (
	"sync"
	"sync/atomic"
)

// Workers are the goroutines of one job. If one panics, the others finish, and Wait panics in the
// goroutine that called it, where a server can recover. Counters and sources are code of the
// caller and may panic.
type Workers struct {
	wg     sync.WaitGroup
	thrown atomic.Pointer[any] // value of the first panic
}

// Go runs the function do in a new goroutine.
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

// Wait waits for all goroutines. It panics if one of them did.
func (c *Workers) Wait() {
	c.wg.Wait()
	if v := c.thrown.Load(); v != nil {
		panic(*v)
	}
}
