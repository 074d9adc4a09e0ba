// Package llmtest has a model for tests, which says what a script says.
//
// A [Script] is useless in production. It needs no network and no clock, and is
// safe for concurrent use; which caller gets which step is then a matter of
// chance, unless [Script.Func] answers.
package llmtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/carrel-dev/carrel/llm"
)

// A Step is how a [Script] answers one call.
type Step struct {
	Text  string    // of the reply
	Stop  llm.Stop  // of the reply; the default is [llm.StopEnd]
	Usage llm.Usage // of the reply; the default is [llm.Bound] of the texts
	Err   error     // instead of a reply
	Hang  bool      // until the context is done, whose error is then returned
}

// Say returns the step of a reply.
func Say(text string) Step { return Step{Text: text} }

// Fail returns the step of an error.
func Fail(err error) Step { return Step{Err: err} }

// Hang returns the step of a model that says nothing.
func Hang() Step { return Step{Hang: true} }

// A Script is an [llm.Generator] that takes its steps in order. The zero value
// has none, and reports [llm.ErrUnavailable] for every call.
type Script struct {
	Steps  []Step
	Repeat bool // the last step for ever

	// Func, if it is set, says which step to take for a call, from 0, instead of
	// Steps.
	Func func(call int, p *llm.Prompt) Step

	Model  string // the name; the default is "script"
	Tokens int    // the window

	mu      sync.Mutex // guards what follows
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
	if r.Stop == "" {
		r.Stop = llm.StopEnd
	}
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
	return Fail(fmt.Errorf("script has %d steps: %w", len(s.Steps), llm.ErrUnavailable))
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

// Calls returns how often the model was asked.
func (s *Script) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prompts)
}

// Prompts returns what the model was asked, in order.
func (s *Script) Prompts() []llm.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.prompts)
}
