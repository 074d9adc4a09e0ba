package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// ErrSpend means that a limit of [Limits] forbids the call. Nothing was sent, or
// the time was up.
var ErrSpend = errors.New("limit of what models may spend")

// Limits bound the spending of a generator. The zero value forbids every
// call.
type Limits struct {
	// Tokens is the most tokens of prompts and replies together. The default
	// is 0, so that nothing is sent.
	Tokens int64

	// Calls is how often the generator may be asked. The default is
	// [DefaultCalls].
	Calls int

	// Time is how long all calls may take, added up. The default is
	// [defaultTime].
	Time time.Duration

	// Reply is the most tokens of a reply to a prompt without a limit of its
	// own. The default is [DefaultReply].
	Reply int

	// Count counts tokens, rather too many than too few. The default is [Bound].
	Count func(text string) int

	// Now tells the time. The default is time.Now.
	Now func() time.Time
}

// Defaults of [Limits].
const (
	DefaultCalls = 200
	defaultTime  = time.Hour
	DefaultReply = 4096
)

// Spending is the number of tokens spent, and those reserved by running
// calls.
type Spending struct {
	Calls    int
	Tokens   int64
	Reserved int64 // tokens
	Time     time.Duration
}

// A meter is a [Generator] within limits. It is safe for concurrent use.
//
// Before a call it reserves what the prompt has and the reply may have at most;
// what is not within the ceiling is not sent. Afterwards the usage of the reply
// takes the place of that. A call that fails costs all that was reserved, since
// the model may have worked on it, unless it was refused; so a server that is down
// uses the ceiling up. What servers say of usage is believed, and a prompt that
// has more tokens than was counted, or a server that does not heed the length it
// was asked for, may lead past the ceiling, by one call of each caller.
//
// A driver that sends a request again, after it was turned away, does so within
// one call: that counts once. If a server should charge for requests that it
// turned away or dropped, a call costs up to as many times as much as the driver
// has tries. Set its retries to none where that matters.
type meter struct {
	generator Generator
	limits    Limits

	mu    sync.Mutex // guards what follows
	spent Spending
}

// Limited returns g within limits. A nil *Limits forbids everything.
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
		m.limits.Now = time.Now //nolint:forbidigo // this is the default clock
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

// Generate implements [Generator]. It fails with [ErrSpend] where a limit
// forbids it.
func (m *meter) Generate(ctx context.Context, p *Prompt) (*Reply, error) {
	limited := *p
	if limited.MaxTokens <= 0 {
		limited.MaxTokens = m.limits.Reply
	}
	// What the ceiling forbids whatever the prompt has need not be counted.
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
		return nil, fmt.Errorf("%s: %w: %v of time", m.Name(), ErrSpend, m.limits.Time)
	}
	return reply, err
}

// reserve sets tokens aside for a call and returns how long it may take.
func (m *meter) reserve(need int64) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.limits
	used := sum(m.spent.Tokens, m.spent.Reserved)
	switch {
	case l.Tokens <= 0:
		return 0, fmt.Errorf("%w: 0 tokens", ErrSpend)
	case need > l.Tokens-used:
		return 0, fmt.Errorf("%w: %d tokens, of which %d are used, and this takes up to %d", ErrSpend, l.Tokens, used, need)
	case m.spent.Calls >= l.Calls:
		return 0, fmt.Errorf("%w: %d calls", ErrSpend, l.Calls)
	case m.spent.Time >= l.Time:
		return 0, fmt.Errorf("%w: %v of time", ErrSpend, l.Time)
	}
	m.spent.Calls++
	m.spent.Reserved += need
	return l.Time - m.spent.Time, nil
}

// settle puts what a call cost in the place of what was set aside for it.
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

// sum adds numbers of at least 0, as far as they go.
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
