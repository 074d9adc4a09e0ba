package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/llmtest"
)

// costs returns a step that says what it costs.
func costs(input, output int64) llmtest.Step {
	return llmtest.Step{Text: "yes", Usage: llm.Usage{Input: input, Output: output}}
}

// Unless somebody sets a ceiling, nothing is ever sent.
func TestNothingIsSentByDefault(t *testing.T) {
	for _, l := range []*llm.Limits{nil, {}, {Tokens: -1}, {Calls: 100, Time: time.Hour, Reply: 10}} {
		s := &llmtest.Script{Steps: []llmtest.Step{llmtest.Say("yes")}, Repeat: true}
		m := llm.Limited(s, l)
		for range 3 {
			if r, err := m.Generate(t.Context(), &llm.Prompt{Text: "?"}); r != nil || !errors.Is(err, llm.ErrSpend) {
				t.Errorf("%v, %v, want ErrSpend", r, err)
			}
		}
		if s.Calls() != 0 || m.Spent() != (llm.Spending{}) {
			t.Errorf("%d calls, spent %+v", s.Calls(), m.Spent())
		}
	}
}

func TestLimits(t *testing.T) {
	one := func(string) int { return 10 }
	// A call reserves 64 for its frame, 20 for its texts and 100 for the reply.
	const need = 184
	for _, tt := range []struct {
		name   string
		limits llm.Limits
		steps  []llmtest.Step
		want   []error // of the calls
		tokens int64
		sent   int
	}{
		{"all that is needed", llm.Limits{Tokens: need}, []llmtest.Step{costs(10, 5)}, []error{nil}, 15, 1},
		{"one less than is needed", llm.Limits{Tokens: need - 1}, nil, []error{llm.ErrSpend}, 0, 0},
		{"what is left over is for later", llm.Limits{Tokens: need + 15}, []llmtest.Step{costs(10, 5), costs(100, 0)}, []error{nil, nil, llm.ErrSpend}, 115, 2},
		{"more than was thought", llm.Limits{Tokens: 10 * need}, []llmtest.Step{costs(5000, 5000)}, []error{nil, llm.ErrSpend}, 10000, 1},
		{"numbers without end", llm.Limits{Tokens: math.MaxInt64}, []llmtest.Step{costs(math.MaxInt64, math.MaxInt64)}, []error{nil, llm.ErrSpend}, math.MaxInt64, 1},
		{"numbers below 0", llm.Limits{Tokens: need}, []llmtest.Step{costs(-5000, -1), costs(1, 1)}, []error{nil, nil}, 2, 2},
		{"an error costs what it may have cost", llm.Limits{Tokens: 2*need - 1}, []llmtest.Step{llmtest.Fail(llm.ErrUnavailable)}, []error{llm.ErrUnavailable, llm.ErrSpend}, need, 1},
		{"a refused request costs nothing", llm.Limits{Tokens: need}, []llmtest.Step{llmtest.Fail(llm.ErrRefused), costs(1, 1)}, []error{llm.ErrRefused, nil}, 2, 2},
		{"calls", llm.Limits{Tokens: 100 * need, Calls: 2}, []llmtest.Step{costs(1, 1), llmtest.Fail(llm.ErrReply), costs(1, 1)}, []error{nil, llm.ErrReply, llm.ErrSpend}, 2 + need, 2},
		{"one token", llm.Limits{Tokens: 1}, nil, []error{llm.ErrSpend}, 0, 0},
		{"the ceiling is passed by one", llm.Limits{Tokens: need}, []llmtest.Step{costs(need, 1)}, []error{nil, llm.ErrSpend}, need + 1, 1},
		{"calls below 0", llm.Limits{Tokens: 100 * need, Calls: -1}, nil, []error{llm.ErrSpend}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.limits.Count, tt.limits.Reply = one, 100
			s := &llmtest.Script{Steps: tt.steps}
			m := llm.Limited(s, &tt.limits)
			for i, want := range tt.want {
				if r, err := m.Generate(t.Context(), &llm.Prompt{System: "s", Text: "t"}); !errors.Is(err, want) || (r == nil) != (want != nil) {
					t.Errorf("call %d: %v, %v, want %v", i, r, err, want)
				}
			}
			if got := m.Spent(); got.Tokens != tt.tokens || got.Reserved != 0 || got.Calls != tt.sent || s.Calls() != tt.sent {
				t.Errorf("spent %+v in %d calls, want %d in %d", got, s.Calls(), tt.tokens, tt.sent)
			}
		})
	}
}

// The length that was reserved is the length that is asked for.
func TestLengthThatIsAskedFor(t *testing.T) {
	s := &llmtest.Script{Steps: []llmtest.Step{llmtest.Say("yes")}, Repeat: true, Tokens: 7}
	m := llm.Limited(s, &llm.Limits{Tokens: 1e6})
	for _, n := range []int{0, 1, -1} {
		if _, err := m.Generate(t.Context(), &llm.Prompt{MaxTokens: n}); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]llm.Prompt{{MaxTokens: llm.DefaultReply}, {MaxTokens: 1}, {MaxTokens: llm.DefaultReply}}, s.Prompts()); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if m.Name() != "script" || m.Window() != 7 || m.Limits().Calls != llm.DefaultCalls {
		t.Errorf("%s, %d, %+v", m.Name(), m.Window(), m.Limits())
	}
}

func TestTimeOfAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Script{Func: func(call int, _ *llm.Prompt) llmtest.Step {
			if call == 0 {
				return llmtest.Say("yes")
			}
			return llmtest.Hang()
		}}
		m := llm.Limited(s, &llm.Limits{Tokens: 1e9, Time: time.Minute})
		if _, err := m.Generate(t.Context(), &llm.Prompt{}); err != nil {
			t.Error(err)
		}
		// The caller's own end comes first, and is the caller's.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := m.Generate(ctx, &llm.Prompt{}); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, llm.ErrSpend) {
			t.Errorf("error is %v, want the context's", err)
		}
		began := time.Now()
		if _, err := m.Generate(t.Context(), &llm.Prompt{}); !errors.Is(err, llm.ErrSpend) || time.Since(began) != 40*time.Second {
			t.Errorf("error is %v after %v, want ErrSpend after what was left", err, time.Since(began))
		}
		if _, err := m.Generate(t.Context(), &llm.Prompt{}); !errors.Is(err, llm.ErrSpend) || s.Calls() != 3 {
			t.Errorf("error is %v after %d calls, want ErrSpend after 3", err, s.Calls())
		}
	})
}

// The time is used up exactly.
func TestNoTimeIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Script{Func: func(int, *llm.Prompt) llmtest.Step {
			time.Sleep(time.Minute - 1) // of the bubble's clock
			return llmtest.Say("yes")
		}}
		m := llm.Limited(s, &llm.Limits{Tokens: 1e9, Time: 2 * (time.Minute - 1)})
		for i, want := range []error{nil, nil, llm.ErrSpend} {
			if _, err := m.Generate(t.Context(), &llm.Prompt{}); !errors.Is(err, want) {
				t.Errorf("call %d: %v, want %v", i, err, want)
			}
		}
		if s.Calls() != 2 || m.Spent().Time != 2*(time.Minute-1) {
			t.Errorf("%d calls, spent %+v", s.Calls(), m.Spent())
		}
	})
}

// A deadline of the server's own is not that the time ran out.
func TestOnlyTheOwnDeadlineIsOfTheLimit(t *testing.T) {
	s := &llmtest.Script{Steps: []llmtest.Step{llmtest.Fail(llm.ErrUnavailable), llmtest.Fail(llm.ErrRefused)}}
	m := llm.Limited(s, &llm.Limits{Tokens: 1e9})
	for _, want := range []error{llm.ErrUnavailable, llm.ErrRefused} {
		if _, err := m.Generate(t.Context(), &llm.Prompt{}); !errors.Is(err, want) || errors.Is(err, llm.ErrSpend) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// Whatever many callers ask for at the same time, the ceiling holds while replies
// cost no more than was reserved.
func TestCeilingHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ceiling := rapid.Int64Range(0, 5000).Draw(t, "ceiling")
		lengths := rapid.SliceOfN(rapid.IntRange(0, 900), 1, 24).Draw(t, "lengths")
		s := &llmtest.Script{Func: func(call int, p *llm.Prompt) llmtest.Step {
			if call%5 == 4 {
				return llmtest.Fail(llm.ErrUnavailable)
			}
			return costs(int64(llm.Bound(p.Text)), int64(p.MaxTokens))
		}}
		m := llm.Limited(s, &llm.Limits{Tokens: ceiling, Reply: 50})
		var wg sync.WaitGroup
		for _, n := range lengths {
			wg.Go(func() {
				_, err := m.Generate(context.Background(), &llm.Prompt{Text: fmt.Sprintf("%*d", n, 1)})
				if err != nil && !errors.Is(err, llm.ErrSpend) && !errors.Is(err, llm.ErrUnavailable) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := m.Spent(); got.Tokens > ceiling || got.Reserved != 0 || got.Calls != s.Calls() {
			t.Fatalf("spent %+v of %d in %d calls", got, ceiling, s.Calls())
		}
	})
}

func TestUsage(t *testing.T) {
	p := &llm.Prompt{System: "ab", Text: "cde", MaxTokens: 9}
	if got := p.Most(); got.Input != 5+64 || got.Output != 9 {
		t.Errorf("at most %+v, want a token for each byte, and 64 for the frame", got)
	}
	for text, want := range map[string]int{"": 0, "a": 1, "ab": 1, "abc": 2, "abcd": 2, "abcdefghi": 5} {
		if got := llm.Bound(text); got != want {
			t.Errorf("bound of %q is %d, want %d", text, got, want)
		}
	}
	for _, tt := range []struct{ u, v, want llm.Usage }{
		{llm.Usage{Input: 1, Output: 1}, llm.Usage{Input: 8, Output: 9}, llm.Usage{Input: 1, Output: 1}},
		{llm.Usage{}, llm.Usage{Input: 8, Output: 9}, llm.Usage{Input: 8, Output: 9}},
		{llm.Usage{Input: -1, Output: -1}, llm.Usage{Input: 8, Output: 9}, llm.Usage{Input: 8, Output: 9}},
	} {
		if got := tt.u.Or(tt.v); got != tt.want {
			t.Errorf("%+v or %+v is %+v, want %+v", tt.u, tt.v, got, tt.want)
		}
	}
	if got := (llm.Usage{Input: 3}).Or(llm.Usage{Input: 8, Output: 9}).Add(llm.Usage{Input: 1, Output: 1}); got != (llm.Usage{Input: 4, Output: 10}) {
		t.Errorf("usage is %+v", got)
	}
}
