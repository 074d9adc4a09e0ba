package httpjson

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// An AgainError is an error that may pass.
type AgainError struct {
	Err   error
	After time.Duration // that the server asks for
}

func (e *AgainError) Error() string { return e.Err.Error() }
func (e *AgainError) Unwrap() error { return e.Err }

// Tries say how often a request is sent again, and after which pauses.
type Tries struct {
	More    int           // tries after the first; below 0 is none
	First   time.Duration // longest pause before the second try; it doubles from then on
	Longest time.Duration // of all pauses
	Sleep   func(context.Context, time.Duration) error
	Rand    func(n int64) int64
}

// Do tries until there is no error, or one that is no [AgainError], or no try is left.
// A pause is at least what the server asks for and half of ours; one that asks for more
// than the longest is not asked again. The error is that of the last try, or the
// context's.
func (t *Tries) Do(ctx context.Context, try func() error) error {
	for attempt := 0; ; attempt++ {
		err := try()
		again, ok := errors.AsType[*AgainError](err)
		if !ok || attempt >= t.More || again.After > t.Longest {
			return err
		}
		full := min(t.First<<min(attempt, 10), t.Longest)
		pause := max(again.After, full/2+time.Duration(t.Rand(int64(full/2))))
		if err := t.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Sleep waits for a time, or until the context is done.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// RetryAfter returns how long the server asks to wait: a number of seconds, or
// a time, which is taken against the server's own clock.
func RetryAfter(h http.Header) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}
