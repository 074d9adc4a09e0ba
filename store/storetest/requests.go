package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
)

// A SharedStore is a store with the role [store.Requests].
type SharedStore interface {
	store.Store
	store.Requests
}

// RunRequests checks the role [store.Requests]. Each check calls the function open for a new empty
// store, and then calls the returned function handle twice, for the handles of two nodes. A driver
// that cannot open a store twice returns the same handle.
func RunRequests(t *testing.T, open func(t *testing.T) (handle func() SharedStore)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b SharedStore)
	}{
		{"a request is recorded with the first write that is made for it, and read by all", requestIsRecorded},
		{"a write for a request that another attempt has recorded fails with ErrRepeated and changes nothing", requestIsMadeOnce},
		{"one of many attempts at a request succeeds", oneAttemptIsMade},
		{"a write that is refused records no request", refusedIsNoRequest},
		{"only the recorded attempt can set the outcome", outcomeOfAnAttempt},
		{"a request that no write has recorded is recorded with its outcome", outcomeAlone},
		{"a request is remembered for RequestTime", requestsEnd},
		{"requests with different scopes, actors or keys are independent", requestsAreApart},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle := open(t)
			c.run(t, handle(), handle())
		})
	}
}

// newRequest returns an attempt at a request in the scope of the checks.
func newRequest(key, attempt string) *store.Request {
	return &store.Request{
		Scope: scope, Actor: "ada", Key: key, Attempt: attempt, Asking: digest.Of([]byte(key)), Time: epoch.Truncate(time.Millisecond),
	}
}

// checkRequest reads the recorded request with the scope, the actor and the key of the request in
// of. It checks that the result is equal to want, or that nothing is recorded if want is nil.
func checkRequest(t *testing.T, s SharedStore, of, want *store.Request) {
	t.Helper()
	got, err := s.Request(t.Context(), of.Scope, of.Actor, of.Key)
	if want == nil {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Request = %+v, %v; want ErrNotFound", got, err)
		}
		return
	}
	if err != nil {
		t.Errorf("Request: %v", err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Request (-want +got):\n%s", diff)
	}
}

// applyFor applies a change for a request.
func applyFor(t *testing.T, s SharedStore, r *store.Request, at store.Revision, entry string) error {
	t.Helper()
	_, err := s.Apply(store.WithRequest(t.Context(), r), scope, "s", at, newChange(entry))
	return err
}

// updateFor makes an update for a request.
func updateFor(t *testing.T, s SharedStore, r *store.Request, entry string) error {
	t.Helper()
	_, err := s.Update(store.WithRequest(t.Context(), r), scope, &store.Update{Entry: newChange(entry).Entry})
	return err
}

func requestIsRecorded(t *testing.T, a, b SharedStore) {
	one, two := newRequest("one", "x"), newRequest("two", "x")
	checkRequest(t, a, one, nil)
	if err := errors.Join(applyFor(t, a, one, 0, "op1"), applyFor(t, a, one, 1, "op2"), updateFor(t, b, two, "up1"), updateFor(t, b, two, "up2")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []SharedStore{a, b} {
		checkRequest(t, s, one, one)
		checkRequest(t, s, two, two)
	}
}

func requestIsMadeOnce(t *testing.T, a, b SharedStore) {
	for _, key := range []string{"applied", "updated"} {
		if err := applyFor(t, a, newRequest("applied", "x"), 0, "op1"); key == "applied" && err != nil {
			t.Fatal(err)
		}
		if err := updateFor(t, a, newRequest("updated", "x"), "up1"); key == "applied" && err != nil {
			t.Fatal(err)
		}
		before := contents(t, a, scope)
		if err := applyFor(t, b, newRequest(key, "y"), 1, "op2"); !errors.Is(err, store.ErrRepeated) {
			t.Errorf("Apply for %s: %v, want ErrRepeated", key, err)
		}
		if err := applyFor(t, b, newRequest(key, "y"), 7, "op2"); !errors.Is(err, store.ErrRepeated) {
			t.Errorf("Apply for %s at another revision: %v, want ErrRepeated", key, err)
		}
		if err := updateFor(t, b, newRequest(key, "y"), "up2"); !errors.Is(err, store.ErrRepeated) {
			t.Errorf("Update for %s: %v, want ErrRepeated", key, err)
		}
		equal(t, "what is there afterwards", contents(t, b, scope), before)
	}
}

func oneAttemptIsMade(t *testing.T, a, b SharedStore) {
	const attempts = 8
	errs := make([]error, attempts)
	id := func(i int) string { return string(rune('a' + i)) }
	var wg sync.WaitGroup
	for i := range attempts {
		wg.Go(func() { errs[i] = updateFor(t, []SharedStore{a, b}[i%2], newRequest("k", id(i)), "up"+id(i)) })
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			checkRequest(t, a, newRequest("k", ""), newRequest("k", id(i)))
		} else if !errors.Is(err, store.ErrRepeated) {
			t.Errorf("attempt %s: %v, want ErrRepeated", id(i), err)
		}
	}
	if won != 1 {
		t.Errorf("%d attempts were made, want 1", won)
	}
}

func refusedIsNoRequest(t *testing.T, a, b SharedStore) {
	r := newRequest("k", "x")
	if err := applyFor(t, a, r, 3, "op1"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Apply at a revision that there is not: %v, want ErrConflict", err)
	}
	checkRequest(t, b, r, nil)
	if err := applyFor(t, b, newRequest("k", "y"), 0, "op1"); err != nil {
		t.Error(err)
	}
}

func outcomeOfAnAttempt(t *testing.T, a, b SharedStore) {
	r, other := newRequest("k", "x"), newRequest("k", "y")
	if err := applyFor(t, a, r, 0, "op1"); err != nil {
		t.Fatal(err)
	}
	r.Outcome, other.Outcome = []byte(`{"a": 1}`), []byte(`{"b": 2}`)
	for _, settled := range []*store.Request{other, r, other} {
		if err := b.SettleRequest(t.Context(), settled); err != nil {
			t.Fatal(err)
		}
	}
	checkRequest(t, a, r, r)
	if err := errors.Join(a.DropRequest(t.Context(), other), a.DropRequest(t.Context(), newRequest("another", "x"))); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, b, r, r)
	if err := a.DropRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, b, r, nil)
}

func outcomeAlone(t *testing.T, a, b SharedStore) {
	r := newRequest("k", "x")
	r.Outcome = []byte("{}")
	if err := a.SettleRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, b, r, r)
	if err := updateFor(t, b, newRequest("k", "y"), "up1"); !errors.Is(err, store.ErrRepeated) {
		t.Errorf("Update: %v, want ErrRepeated", err)
	}
}

func requestsEnd(t *testing.T, a, b SharedStore) {
	r := newRequest("k", "x")
	r.Outcome = []byte("{}")
	if err := a.SettleRequest(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	later := newRequest("k", "y")
	later.Time = r.Time.Add(store.RequestTime - time.Millisecond)
	if err := updateFor(t, b, later, "up1"); !errors.Is(err, store.ErrRepeated) {
		t.Errorf("Update before the end: %v, want ErrRepeated", err)
	}
	later.Time = r.Time.Add(store.RequestTime)
	if err := updateFor(t, b, later, "up1"); err != nil {
		t.Errorf("Update at the end: %v", err)
	}
	checkRequest(t, a, r, later) // the outcome of the first is gone
	another := newRequest("another", "z")
	another.Time = later.Time.Add(store.RequestTime)
	if err := a.SettleRequest(t.Context(), another); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, b, later, nil)
	checkRequest(t, b, another, another)
}

func requestsAreApart(t *testing.T, a, b SharedStore) {
	r := newRequest("k", "x")
	if err := applyFor(t, a, r, 0, "op1"); err != nil {
		t.Fatal(err)
	}
	actor, key, elsewhere := newRequest("k", "y"), newRequest("K", "y"), newRequest("k", "y")
	actor.Actor, elsewhere.Scope = "bob", "test/other"
	for i, other := range []*store.Request{actor, key, elsewhere} {
		checkRequest(t, b, other, nil)
		if err := applyFor(t, b, other, store.Revision(i+1), string(rune('p'+i))); err != nil {
			t.Errorf("Apply for %+v: %v", other, err)
		}
	}
	checkRequest(t, b, elsewhere, nil) // that write was in scope, so it did not record the request of another scope
	if got, err := b.Scopes(t.Context()); err != nil || len(got) != 1 || got[0] != scope {
		t.Errorf("Scopes = %v, %v", got, err)
	}
}
