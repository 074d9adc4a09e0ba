package api

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func TestKinds(t *testing.T) {
	slugs := make(map[string]bool)
	for _, k := range append(Kinds(), Input, Unexpected) {
		if slugs[k.Slug] {
			t.Errorf("two kinds are called %s", k.Slug)
		}
		slugs[k.Slug] = true
	}
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{store.ErrNotFound, NotFound},
		{&store.GoneError{}, Gone},
		{store.ErrConflict, Conflict},
		{fmt.Errorf("%w: %w", store.ErrCorrupt, store.ErrNotFound), corrupt},
		{&governance.DeniedError{}, Denied},
		{ErrUnauthenticated, Unauthenticated},
		{&pager.FloorError{}, budgetKind},
		{&transcript.SyntaxError{}, Input},
		{context.Canceled, Canceled},
		{errors.New("x"), Unexpected},
	} {
		if got := KindOf(fmt.Errorf("job: %w", tt.err)); got != tt.want {
			t.Errorf("%v is of kind %+v, want %+v", tt.err, got, tt.want)
		}
	}
}

func TestFloorIsSummedByRule(t *testing.T) {
	p := NewProblem(&pager.FloorError{Budget: 10, Need: 60, Fixed: 5, Held: []pager.Holding{
		{Block: "a", Rule: pager.RuleEdit, Tokens: 30},
		{Block: "b", Rule: pager.RuleSystem, Tokens: 15},
		{Block: "c", Rule: pager.RuleEdit, Tokens: 10},
	}})
	want := []RuleSum{{pager.RuleEdit, 2, 40}, {pager.RuleSystem, 1, 15}}
	if diff := cmp.Diff(want, p.Floor.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// A detail leaves out what the title says, if a cause follows it as words of their own.
func TestDetailsOfProblems(t *testing.T) {
	said := ErrRequest.Error()
	for want, err := range map[string]error{
		"no name":                  fmt.Errorf("%w: no name", ErrRequest),
		"import x: no name":        fmt.Errorf("import x: %w: no name", ErrRequest),
		"(" + said + ": a)":        fmt.Errorf("(%w: a)", ErrRequest),
		"import x: " + said + ": ": fmt.Errorf("import x: %w: ", ErrRequest),
	} {
		if got := NewProblem(err).Detail; got != want {
			t.Errorf("%v: detail %q, want %q", err, got, want)
		}
	}
	broken := []transcript.Violation{{}, {}}
	if got, want := (&InvalidError{Format: "chat", Violations: broken}).Error(), fmt.Sprintf("%v: chat, 2 reasons, the first: %v", ErrInvalid, broken[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A context has no blocks that rules keep: its problem does not speak of them.
func TestFloorOfAContext(t *testing.T) {
	p := NewProblem(fmt.Errorf("assemble: %w: %w", ErrBudget, &assembly.FloorError{Budget: 40, Need: 364}))
	if want := "give a budget of as many tokens as are needed"; p.Hint != want || p.Floor != nil {
		t.Errorf("the hint is %q, with %v, want %q", p.Hint, p.Floor, want)
	}
}

// jsonFields returns the names of the strings of a struct, as JSON has them.
// Who is refused is told what to do.
func TestProblemsNameTheNextStep(t *testing.T) {
	for _, err := range []error{ErrUnauthenticated, governance.ErrDenied, ErrRequest, ErrAmbiguous, ErrBudget, store.ErrConflict, store.ErrBusy} {
		if p := NewProblem(err); p.Hint == "" {
			t.Errorf("%v: nothing to try next", err)
		}
	}
}

// Who asked for a compression that fails its probes is told what was tried, and by which
// probes the best of it failed; there may have been none.
func TestProbesProblem(t *testing.T) {
	attempts := []Attempt{{Strategy: "window", Passed: 1, Probes: 2}}
	failed := probe.Result{Probe: probe.Probe{ID: "p2"}, Place: probe.Lost}
	report := &probe.Report{Results: []probe.Result{{Probe: probe.Probe{ID: "p1"}, Place: probe.Window}, failed}}
	for _, tt := range []struct {
		name   string
		report *probe.Report
		want   []probe.Result
	}{
		{"with a report", report, []probe.Result{failed}},
		{"without one", nil, nil},
	} {
		p := NewProblem(fmt.Errorf("compress: %w", &ProbesError{Attempts: attempts, Report: tt.report}))
		if diff := cmp.Diff(tt.want, p.Probes); diff != "" {
			t.Errorf("%s: probes (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(attempts, p.Attempts); diff != "" {
			t.Errorf("%s: attempts (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What an error says about the best of several attempts does not depend on their order.
func TestTheBestAttempt(t *testing.T) {
	none := Attempt{Strategy: "account", Reasons: []string{"the budget is too small"}}
	zero := Attempt{Strategy: "anchored", Probes: 4, Reasons: []string{"0 of 4"}}
	half := Attempt{Strategy: "anchored", Probes: 4, Passed: 2, Score: ratio.Of(1, 2), RedFlags: []string{"2 of 4"}}
	plain := Attempt{Strategy: "window", Probes: 4, Passed: 3, Score: ratio.Of(3, 4)}
	for _, tt := range []struct {
		attempts []Attempt
		want     string
	}{
		{[]Attempt{half}, "2 of 4"},
		{[]Attempt{none, {Probes: 1, Reasons: []string{"0 of 1"}}}, "in the best of 2 attempts, 0 of 1"},
		{[]Attempt{none, zero}, "in the best of 2 attempts, 0 of 4"},
		{[]Attempt{zero, half, none, half}, "in the best of 4 attempts, 2 of 4"},
		{[]Attempt{half, plain, zero}, "in the best of 3 attempts, 3 of 4 probes passed"},
	} {
		e := &ProbesError{Attempts: tt.attempts}
		if got := e.Error(); got != ErrProbes.Error()+": "+tt.want {
			t.Errorf("%+v: %q, want %q", tt.attempts, got, tt.want)
		}
	}
}

// The scope of a request is the one that it names, or the one that its credential is for.
