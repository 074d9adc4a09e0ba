package httpjson

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// An AgainError is an error of a request that may succeed if it is sent again.
type AgainError struct {
	Err   error
	After time.Duration // pause that the server asks for, or 0
}

func (e *AgainError) Error() string { return e.Err.Error() }
func (e *AgainError) Unwrap() error { return e.Err }

// Tries says how often a request is sent again, and after which pauses.
type Tries struct {
	More    int           // tries after the first; a number below 0 means none
	First   time.Duration // longest pause before the second try; doubles with each further try
	Longest time.Duration // upper bound of all pauses
	Sleep   func(context.Context, time.Duration) error
	Rand    func(n int64) int64 // returns a random number from 0 to n-1
}

// Do calls the function try. If that returns an [AgainError] and tries are left, Do pauses and
// calls it again. A pause is a random time between half and all of the pause that First gives, but
// at least the time that the server asks for. If the server asks for more than Longest, Do gives
// up. It returns the error of the last try, or of Sleep.
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

// Sleep waits for the duration d. If the context is done earlier, it returns the error of the
// context.
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

// RetryAfter returns the pause that the header Retry-After asks for. The header has a number of
// seconds, or a time; the pause is then the difference between that time and the server's clock in
// the header Date. RetryAfter returns 0 if there is no valid pause.
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
