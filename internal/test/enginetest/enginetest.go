// Package enginetest has the tests of behavior that the engine and its client share: both must
// return the same results.
//
// [Jobs] has every job. [Run] checks the promises that can be observed from outside, with
// realistic conversations in several formats. It tests neither the implementation of jobs nor
// permissions.
package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/governance"
)

// Actor is the actor of all jobs under test, where a job records one.
const Actor governance.Actor = "dana"

// Run checks the jobs of an implementation. Each check calls the function open, which
// returns jobs over an empty store and a scope that no other check uses. The function
// registers its cleanup with t.
func Run(t *testing.T, open func(t *testing.T) (Jobs, governance.Scope)) {
	for _, c := range slices.Concat(conversations, windows, agreements, artifacts, contexts, refusals) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			jobs, in := open(t)
			c.run(&world{T: t, Jobs: jobs, in: in})
		})
	}
}

// A check tests one promise.
type check struct {
	name string
	run  func(w *world)
}

// A world is the environment of a check.
type world struct {
	*testing.T
	Jobs

	in governance.Scope
}

// ctx returns the context of the check. It is needed because the embedded
// [Jobs] and testing.T both have a method Context.
func (w *world) ctx() context.Context { return w.T.Context() }

// An outcome is the result of a job with its error.
type outcome[Res any] struct {
	res Res
	err error
}

func try[Res any](res Res, err error) outcome[Res] { return outcome[Res]{res, err} }

// must returns the result of a job that must succeed.
func (o outcome[Res]) must(w *world) Res {
	w.Helper()
	if o.err != nil {
		w.Fatal(o.err)
	}
	return o.res
}

// fails reports a test error unless the error err is, or wraps, the error want.
// The text what names the job in the message.
func (w *world) fails(what string, err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// same checks that the values got and want are equal. A nil list equals an
// empty one. The text what names the values in the message.
func (w *world) same(what string, got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// holds fails the check with the given message unless ok is true.
func (w *world) holds(ok bool, format string, args ...any) {
	w.Helper()
	if !ok {
		w.Errorf(format, args...)
	}
}
