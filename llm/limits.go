package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// ErrSpend means that a limit of [Limits] does not allow a call. Either nothing was sent, or
// the call was stopped when its time was over.
var ErrSpend = errors.New("limit of what models may spend")

// Limits are the limits for the spending of a generator. The zero value allows
// no call.
type Limits struct {
	// Tokens is the limit for all prompts and replies together. The default is 0, so that
	// nothing is sent.
	Tokens int64

	// Calls is the limit for the number of calls. The default is [DefaultCalls].
	Calls int

	// Time is the limit for the total duration of all calls. The default is one hour.
	Time time.Duration

	// Reply is the most tokens of a reply if its prompt sets no limit. The default is
	// [DefaultReply].
	Reply int

	// Count counts tokens. If it counts too few, a call may exceed Tokens. The default is [Bound].
	Count func(text string) int

	// Now returns the time. The default is time.Now.
	Now func() time.Time
}

// Defaults of [Limits].
const (
	DefaultCalls = 200
	defaultTime  = time.Hour
	DefaultReply = 4096
)

// Spending is what a generator with [Limits] has spent so far, and what its running calls may
// still spend; see [Limited].
type Spending struct {
	Calls    int
	Tokens   int64
	Reserved int64 // most tokens of the running calls, not in Tokens yet
	Time     time.Duration
}

// A meter is a [Generator] with limits.
type meter struct {
	generator Generator
	limits    Limits

	mu    sync.Mutex // guards what follows
	spent Spending
}

// Limited returns g with limits, a [Generator] that is safe for concurrent use. A nil *Limits
// allows nothing. The method Generate of the result fails with [ErrSpend] if a limit does not
// allow the call. The method Spent returns a [Spending], and the method Limits the limits with
// the defaults filled in.
//
// Before a call, the result reserves the tokens of the prompt and the most that the reply may
// have. If they exceed a limit, it sends nothing. Afterwards it replaces the reserved tokens by the
// usage of the reply. A failed call costs all reserved tokens, because the model may have
// worked on it, unless the server refused the request. So a server that is down uses up the
// limit. The result trusts the usage that servers report. Each caller may exceed the limit by
// one call if a prompt has more tokens than counted or a server ignores the limit of a reply.
//
// If a driver sends a refused request again, the tries count as one call. If a server charges
// for requests that it refused or dropped, a call may cost as many times more as the driver has
// tries. Set its retries to remote.NoRetries where that matters.
func Limited(g Generator, l *Limits) *meter {
	m := &meter{generator: g}
	if l != nil {
		m.limits = *l
	}
	setDefault(&m.limits.Calls, DefaultCalls)
	setDefault(&m.limits.Time, defaultTime)
	setDefault(&m.limits.Reply, DefaultReply)
	if m.limits.Count == nil {
		m.limits.Count = Bound
	}
	if m.limits.Now == nil {
		m.limits.Now = time.Now //nolint:forbidigo // the default clock
	}
	return m
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Name implements [Generator].
func (m *meter) Name() string { return m.generator.Name() }

// Window implements [Generator].
func (m *meter) Window() int { return m.generator.Window() }

// Spent returns the spending so far.
func (m *meter) Spent() Spending {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// Limits returns the limits, with the defaults filled in.
func (m *meter) Limits() Limits { return m.limits }

// Generate implements [Generator]. It fails with [ErrSpend] if a limit does not allow the call.
func (m *meter) Generate(ctx context.Context, p *Prompt) (*Reply, error) {
	limited := *p
	if limited.MaxTokens <= 0 {
		limited.MaxTokens = m.limits.Reply
	}
	// If the limits allow no prompt at all, the prompt need not be counted.
	var need int64
	if m.limits.Tokens > 0 {
		need = sum(framing, int64(m.limits.Count(p.System)), int64(m.limits.Count(p.Text)), int64(limited.MaxTokens))
	}
	left, err := m.reserve(need)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	call, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	began := m.limits.Now()
	reply, err := m.generator.Generate(call, &limited)
	m.settle(need, m.limits.Now().Sub(began), reply, err)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: %w: the time of %v is used", m.Name(), ErrSpend, m.limits.Time)
	}
	return reply, err
}

// reserve reserves need tokens for a call and returns the time that is left for it.
func (m *meter) reserve(need int64) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.limits
	used := sum(m.spent.Tokens, m.spent.Reserved)
	switch {
	case l.Tokens <= 0:
		return 0, fmt.Errorf("%w: 0 tokens, so that no call is allowed", ErrSpend)
	case need > l.Tokens-used:
		return 0, fmt.Errorf("%w: %d tokens, of which %d are used, and this call may take %d", ErrSpend, l.Tokens, used, need)
	case m.spent.Calls >= l.Calls:
		return 0, fmt.Errorf("%w: all %d calls are used", ErrSpend, l.Calls)
	case m.spent.Time >= l.Time:
		return 0, fmt.Errorf("%w: the time of %v is used", ErrSpend, l.Time)
	}
	m.spent.Calls++
	m.spent.Reserved += need
	return l.Time - m.spent.Time, nil
}

// settle replaces the reserved tokens of a call by its cost.
func (m *meter) settle(need int64, took time.Duration, reply *Reply, err error) {
	cost := need
	switch {
	case errors.Is(err, ErrRefused):
		cost = 0
	case err == nil:
		cost = sum(max(0, reply.Usage.Input), max(0, reply.Usage.Output))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent.Reserved -= need
	m.spent.Tokens = sum(m.spent.Tokens, cost)
	m.spent.Time += max(0, took)
}

// sum adds numbers of 0 or more. It returns the largest int64 if the sum overflows.
func sum(numbers ...int64) int64 {
	var total int64
	for _, n := range numbers {
		if n > math.MaxInt64-total {
			return math.MaxInt64
		}
		total += n
	}
	return total
}
