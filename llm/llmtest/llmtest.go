// Package llmtest has a model for tests, which answers from a script.
//
// A [Script] needs no network and no clock. It is safe for concurrent use, but then the order
// in which callers get the steps is random, unless [Script.Func] chooses them.
package llmtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/carrel-dev/carrel/llm"
)

// A Step is the answer of a [Script] to one call.
type Step struct {
	Text  string    // text of the reply
	Stop  llm.Stop  // why the reply ends; the default is [llm.StopEnd]
	Usage llm.Usage // tokens of the call; the default is [llm.Bound] of the texts
	Err   error     // returned instead of a reply
	Hang  bool      // whether to wait until the context is done and return its error, even if Err is set
}

// Say returns a step that replies with text.
func Say(text string) Step { return Step{Text: text} }

// Fail returns a step that fails with err.
func Fail(err error) Step { return Step{Err: err} }

// Hang returns a step that never answers.
func Hang() Step { return Step{Hang: true} }

// A Script is an [llm.Generator] that takes its steps in order. A call after the last step fails
// with [llm.ErrUnavailable], unless Repeat is set. Do not change the fields after the first call.
type Script struct {
	Steps  []Step
	Repeat bool // whether to repeat the last step forever

	// Func, if it is not nil, returns the step for a call, instead of Steps. Calls are numbered
	// from 0.
	Func func(call int, p *llm.Prompt) Step

	Model  string // name of the model; the default is "script"
	Tokens int    // result of Window; 0 means unknown

	mu      sync.Mutex // guards the following fields
	prompts []llm.Prompt
}

// Generate implements [llm.Generator].
func (s *Script) Generate(ctx context.Context, p *llm.Prompt) (*llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	step := s.step(p)
	switch {
	case step.Hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case step.Err != nil:
		return nil, step.Err
	}
	r := &llm.Reply{Text: step.Text, Model: s.Name(), Stop: step.Stop, Usage: step.Usage}
	r.Stop = cmp.Or(r.Stop, llm.StopEnd)
	if r.Usage == (llm.Usage{}) {
		r.Usage = llm.Usage{Input: int64(llm.Bound(p.System) + llm.Bound(p.Text)), Output: int64(llm.Bound(step.Text))}
	}
	return r, nil
}

// step records a prompt and returns the step for it.
func (s *Script) step(p *llm.Prompt) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := len(s.prompts)
	s.prompts = append(s.prompts, *p)
	switch {
	case s.Func != nil:
		return s.Func(call, p)
	case call < len(s.Steps):
		return s.Steps[call]
	case s.Repeat && len(s.Steps) > 0:
		return s.Steps[len(s.Steps)-1]
	}
	return Fail(fmt.Errorf("the script has only %d steps: %w", len(s.Steps), llm.ErrUnavailable))
}

// Name implements [llm.Generator].
func (s *Script) Name() string {
	if s.Model == "" {
		return "script"
	}
	return s.Model
}

// Window implements [llm.Generator].
func (s *Script) Window() int { return s.Tokens }

// Calls returns the number of calls.
func (s *Script) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prompts)
}

// Prompts returns the prompts of all calls, in order.
func (s *Script) Prompts() []llm.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.prompts)
}
