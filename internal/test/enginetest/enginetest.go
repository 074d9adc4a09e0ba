// Package enginetest is the one suite of behavior that the engine and its client pass:
// whoever does the jobs, they come to the same.
//
// [Jobs] has every job. [Run] checks each promise that can be seen from outside, with
// real conversations in several formats. It tests neither how the jobs are done nor
// who may have them done.
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

// Actor is who must be doing the jobs that are checked: where a job says who did
// something, it is this one.
const Actor governance.Actor = "dana"

// Run checks jobs. Each check has its own: open starts with an empty store in which
// every scope is free, and registers its cleanup with t.
func Run(t *testing.T, open func(t *testing.T) (Jobs, governance.Scope)) {
	for _, c := range slices.Concat(conversations, windows, agreements, artifacts, contexts, refusals) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			jobs, in := open(t)
			c.run(&world{T: t, Jobs: jobs, in: in})
		})
	}
}

// A check is one promise.
type check struct {
	name string
	run  func(w *world)
}

// A world is where a check takes place.
type world struct {
	*testing.T
	Jobs

	in governance.Scope
}

// ctx returns the context of the check. [Jobs] has a job of that name, too.
func (w *world) ctx() context.Context { return w.T.Context() }

// An outcome is what a job returned.
type outcome[Res any] struct {
	res Res
	err error
}

func try[Res any](res Res, err error) outcome[Res] { return outcome[Res]{res, err} }

// must returns the result of a job that has to succeed.
func (o outcome[Res]) must(w *world) Res {
	w.Helper()
	if o.err != nil {
		w.Fatal(o.err)
	}
	return o.res
}

// fails checks that an error is one of a kind.
func (w *world) fails(what string, err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// same checks that two values are equal. No list and an empty one are.
func (w *world) same(what string, got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// holds checks what must be so.
func (w *world) holds(ok bool, format string, args ...any) {
	w.Helper()
	if !ok {
		w.Errorf(format, args...)
	}
}
