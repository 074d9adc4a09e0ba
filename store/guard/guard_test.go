package guard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	scope governance.Scope = "acme/web"
	actor governance.Actor = "mallory"
)

var epoch = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

func clock() time.Time { return epoch }

// A guarded store with all permissions in all scopes behaves like the store itself.
func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		return guard.New(memory.New(), governance.Whole(governance.ActorUser), clock)
	})
}

// demands has the permission that each method of a store needs. A method with an empty
// permission needs all permissions in all scopes.
var demands = map[string]governance.Permission{
	"Apply": governance.Write, "Update": governance.Write,
	"Head": governance.Read, "Heads": governance.Read, "Blocks": governance.Read, "Items": governance.Read,
	"Cells": governance.Read, "Sources": governance.Read, "Derived": governance.Read, "Brought": governance.Read,
	"Entries": governance.Read, "Statements": governance.Read, "Find": governance.Read, "Postings": governance.Read, "Numbered": governance.Read,
	"Block":   governance.Read,
	"Version": governance.Read, "Artifacts": governance.Read, "Pick": governance.Read, "Hits": governance.Read,
	"Manifest": governance.Read, "Manifests": governance.Read, "Users": governance.Read, "Log": governance.Read,
	"Record": governance.Write, "Calls": governance.Read, "Rewrites": governance.Read,
	"BeginJob": governance.Write, "KeepJob": governance.Write, "EndJob": governance.Write, "OpenJobs": governance.Read,
	"Info": "", "Scopes": "", "Check": "", "Backup": "", "Close": "",
}

var storeType = reflect.TypeFor[store.Store]()

// Every method of store.Store is in demands, and a guard has no other methods, no role
// store.Credentials and no embedded store through which calls could bypass it.
func TestEveryMethodIsConsidered(t *testing.T) {
	for m := range storeType.Methods() {
		if _, ok := demands[m.Name]; !ok {
			t.Errorf("demands has no permission for %s", m.Name)
		}
	}
	if len(demands) != storeType.NumMethod() {
		t.Errorf("demands has %d methods, the store has %d", len(demands), storeType.NumMethod())
	}
	g := guard.New(memory.New(), governance.Whole(actor), clock)
	for m := range reflect.TypeOf(g).Methods() {
		if _, ok := storeType.MethodByName(m.Name); !ok {
			t.Errorf("%s of a guard is not a method of a store", m.Name)
		}
	}
	if _, ok := g.(store.Credentials); ok {
		t.Error("a guard has the role store.Credentials")
	}
	fields := reflect.TypeOf(g).Elem()
	for f := range fields.Fields() {
		if f.Anonymous {
			t.Errorf("%s is embedded: its methods come through", f.Name)
		}
	}
}

// untouched is a store whose methods all panic.
type untouched struct{ store.Store }

// call calls a method of a store in a scope. It returns the error, and whether the call
// has reached the untouched store behind the guard.
func call(t *testing.T, s store.Store, method string, in governance.Scope) (err error, touched bool) {
	t.Helper()
	defer func() { touched = recover() != nil }()
	m := reflect.ValueOf(s).MethodByName(method)
	var args []reflect.Value
	for kind := range m.Type().Ins() {
		switch kind {
		case reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(t.Context()))
		case reflect.TypeFor[governance.Scope]():
			args = append(args, reflect.ValueOf(in))
		case reflect.TypeFor[*store.Change]():
			args = append(args, reflect.ValueOf(&store.Change{Entry: store.Entry{ID: "op", Actor: actor}}))
		case reflect.TypeFor[*store.Update]():
			args = append(args, reflect.ValueOf(&store.Update{Entry: store.Entry{ID: "op", Actor: actor}}))
		case reflect.TypeFor[*store.Job]():
			args = append(args, reflect.ValueOf(&store.Job{Scope: in, Name: "job", Actor: actor}))
		default:
			args = append(args, reflect.Zero(kind))
		}
	}
	out := m.Call(args)
	last := out[len(out)-1]
	if last.Kind() == reflect.Func {
		return drain(t, method, last), false
	}
	err, _ = reflect.TypeAssert[error](last)
	if len(out) == 2 && err != nil && !out[0].IsZero() {
		t.Errorf("%s is refused and returns %v", method, out[0])
	}
	return err, false
}

// drain returns the error that an iteration yields, and fails the test if it yields
// anything else.
func drain(t *testing.T, method string, seq reflect.Value) (err error) {
	t.Helper()
	n := 0
	for value, last := range seq.Seq2() {
		n++
		err, _ = reflect.TypeAssert[error](last)
		if !value.IsZero() {
			t.Errorf("%s is refused and yields %v", method, value)
		}
	}
	if n != 1 {
		t.Errorf("%s is refused and yields %d times", method, n)
	}
	return err
}

// subsets yields all sets of permissions.
func subsets() iter.Seq[[]governance.Permission] {
	return func(yield func([]governance.Permission) bool) {
		for bits := range 1 << len(governance.Permissions()) {
			var set []governance.Permission
			for i, p := range governance.Permissions() {
				if bits>>i&1 == 1 {
					set = append(set, p)
				}
			}
			if !yield(set) {
				return
			}
		}
	}
}

// For every method, set of permissions, pattern, scope and expiry: the guard calls the
// store if the grant allows it, and otherwise returns a DeniedError without a call.
func TestMatrix(t *testing.T) {
	patterns := [][]governance.ScopePattern{{"*"}, {"acme/*"}, {"acme/web"}, {"acme"}, {"rival/web", "acme/web"}, {"acme/web/*"}, nil}
	scopes := []governance.Scope{scope, "rival/web", "ghost/web", "acme", "acme/web/agent", "acme/webb", "*", "acme/*", ""}
	for method, permission := range demands {
		for set := range subsets() {
			for _, p := range patterns {
				for _, in := range scopes {
					for _, expires := range []time.Time{{}, epoch, epoch.Add(1)} {
						grant := &governance.Grant{Actor: actor, Scopes: p, Permissions: set, Expires: expires}
						want := !expires.Equal(epoch) && slices.Contains(set, permission) &&
							slices.ContainsFunc(p, func(p governance.ScopePattern) bool { return p.Matches(in) })
						if permission == "" || in == "" {
							want = !expires.Equal(epoch) && len(set) == len(governance.Permissions()) && slices.Contains(p, "*")
						}
						err, touched := call(t, guard.New(untouched{}, grant, clock), method, in)
						denied, _ := errors.AsType[*governance.DeniedError](err)
						if touched != want || want == (denied != nil) {
							t.Fatalf("%s in %q with %v in %v until %v: touched is %t, %v", method, in, set, p, expires, touched, err)
						}
						if denied != nil && (denied.Actor != actor || permission != "" && in != "" && denied.Scope != in) {
							t.Fatalf("%s: denied is %+v", method, denied)
						}
					}
				}
			}
		}
	}
}

// Changes to a grant after New have no effect, and a grant expires while it is in use.
func TestGrantIsFixedAndExpires(t *testing.T) {
	now := epoch
	grant := &governance.Grant{
		Actor: actor, Scopes: []governance.ScopePattern{scopePattern}, Permissions: []governance.Permission{governance.Read}, Expires: epoch.Add(time.Hour),
	}
	s := guard.New(memory.New(), grant, func() time.Time { return now })
	grant.Scopes[0], grant.Permissions[0], grant.Expires = "rival/*", governance.Write, time.Time{}
	heads := s.Heads(t.Context(), scope)
	if _, err := s.Version(t.Context(), scope); err != nil {
		t.Errorf("what was granted: %v", err)
	}
	if _, err := s.Version(t.Context(), "rival/web"); !errors.Is(err, governance.ErrDenied) {
		t.Errorf("what was granted later: %v, want it denied", err)
	}
	now = epoch.Add(time.Hour)
	if _, err := s.Version(t.Context(), scope); !errors.Is(err, governance.ErrDenied) {
		t.Errorf("when it has expired: %v, want it denied", err)
	}
	for h, err := range heads {
		if h != nil || !errors.Is(err, governance.ErrDenied) {
			t.Errorf("an iteration that begins when it has expired yields %v, %v", h, err)
		}
	}
	if _, err := guard.New(memory.New(), nil, nil).Version(t.Context(), scope); !errors.Is(err, governance.ErrDenied) {
		t.Errorf("without a grant: %v, want it denied", err)
	}
}

const scopePattern = governance.ScopePattern(scope)

// granted returns s guarded by a grant of some permissions in the scope of the tests.
func granted(s store.Store, set ...governance.Permission) store.Store {
	return guard.New(s, &governance.Grant{Actor: actor, Scopes: []governance.ScopePattern{scopePattern}, Permissions: set}, clock)
}

// A guard refuses journal entries with an actor other than that of the grant.
func TestEntriesAreByTheActor(t *testing.T) {
	s := memory.New()
	g := granted(s, governance.Permissions()...)
	for _, by := range []governance.Actor{"user", "", "mallory ", "Mallory"} {
		revision, applied := g.Apply(t.Context(), scope, "s", 0, &store.Change{Entry: store.Entry{ID: "op_1", Actor: by}})
		version, updated := g.Update(t.Context(), scope, &store.Update{Entry: store.Entry{ID: "op_2", Actor: by}})
		if revision != 0 || version != 0 {
			t.Errorf("an entry of %q is at revision %d and at version %d", by, revision, version)
		}
		for _, err := range []error{applied, updated} {
			if !errors.Is(err, governance.ErrDenied) {
				t.Errorf("an entry of %q: %v, want it denied", by, err)
			}
		}
	}
	info, err := s.Info(t.Context())
	if version, verr := s.Version(t.Context(), scope); version != 0 || info.Sessions != 0 || err != nil || verr != nil {
		t.Errorf("version %d and %d sessions, %v, %v; want nothing", version, info.Sessions, err, verr)
	}
	if _, err := g.Apply(t.Context(), scope, "s", 0, &store.Change{Entry: store.Entry{ID: "op_1", Actor: actor}}); err != nil {
		t.Error(err)
	}
}

// A block can become purged, and a session can adopt cells, only with the permission Erase.
func TestPurgedBlocks(t *testing.T) {
	for set := range subsets() {
		c := &store.Change{
			Head: store.Head{Blocks: 1}, Entry: store.Entry{ID: "op_1", Actor: actor},
			Blocks: []store.Block{{ID: "b", Turn: 1, State: store.StatePurged}},
		}
		at, err := granted(memory.New(), set...).Apply(t.Context(), scope, "s", 0, c)
		want := slices.Contains(set, governance.Write) && slices.Contains(set, governance.Erase)
		if errors.Is(err, governance.ErrDenied) == want || want && err != nil || !want && at != 0 {
			t.Errorf("with %v: revision %d, %v", set, at, err)
		}
		erased := &store.Change{Entry: store.Entry{ID: "op_1", Actor: actor}, Erase: true} // the store refuses it, because it has no status
		if _, err := granted(memory.New(), set...).Apply(t.Context(), scope, "s", 0, erased); errors.Is(err, governance.ErrDenied) == want || err == nil {
			t.Errorf("an erasure with %v: %v", set, err)
		}
		adopts := &store.Change{Entry: store.Entry{ID: "op_1", Actor: actor}, Adopt: []store.CellID{"c"}} // the store has no such cell
		if _, err := granted(memory.New(), set...).Apply(t.Context(), scope, "s", 0, adopts); errors.Is(err, governance.ErrDenied) == want || err == nil {
			t.Errorf("a session that adopts a cell with %v: %v", set, err)
		}
	}
}

// A session can be removed and restored only with the permission Erase.
func TestRetiredSessions(t *testing.T) {
	for set := range subsets() {
		for _, tt := range []struct{ from, to store.Status }{
			{"", store.StatusTombstoned}, {"", store.StatusPurged}, {store.StatusTombstoned, ""}, {store.StatusTombstoned, store.StatusPurged}, {store.StatusPurged, ""},
		} {
			s := memory.New()
			apply := func(s store.Store, at store.Revision, entry string, status store.Status) error {
				c := &store.Change{Head: store.Head{Status: status}, Entry: store.Entry{ID: entry, Actor: actor}, Erase: status == store.StatusPurged}
				revision, err := s.Apply(t.Context(), scope, "s", at, c)
				if err != nil && revision != 0 {
					t.Errorf("what is refused has revision %d", revision)
				}
				return err
			}
			if err := apply(s, 0, "op_1", tt.from); err != nil {
				t.Fatal(err)
			}
			if err := apply(granted(s, set...), 0, "op_1", tt.to); err == nil {
				t.Errorf("from %q to %q with %v: begins anew", tt.from, tt.to, set)
			}
			err := apply(granted(s, set...), 1, "op_2", tt.to)
			want := slices.Contains(set, governance.Write) && slices.Contains(set, governance.Erase)
			if errors.Is(err, governance.ErrDenied) == want || want && err != nil {
				t.Errorf("from %q to %q with %v: %v", tt.from, tt.to, set, err)
			}
		}
	}
}

// fingerprint returns a digest of the contents of the scope.
func fingerprint(t *testing.T, s store.Store) string {
	t.Helper()
	d, err := storetest.Fingerprint(t.Context(), s, scope)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(d)
}

// A hurried store has another writer, who removes the session right after its head was read.
type hurried struct{ store.Store }

func (h hurried) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	head, err := h.Store.Head(ctx, scope, id)
	at := store.Revision(0)
	if err == nil {
		at = head.Revision
	}
	c := &store.Change{Head: store.Head{Status: store.StatusTombstoned}, Entry: store.Entry{ID: "op_remove", Actor: "other"}}
	if _, err := h.Apply(ctx, scope, id, at, c); err != nil {
		panic(err)
	}
	return head, err
}

// Who may not erase cannot restore a session that is removed between the look of the guard and the
// change.
func TestASessionThatIsRemovedMeanwhile(t *testing.T) {
	for at := range store.Revision(2) { // of the session that the guard sees, if it sees one
		s := memory.New()
		if at > 0 {
			if _, err := s.Apply(t.Context(), scope, "s", 0, &store.Change{Entry: store.Entry{ID: "op_1", Actor: actor}}); err != nil {
				t.Fatal(err)
			}
		}
		g := granted(hurried{s}, governance.Read, governance.Write)
		if _, err := g.Apply(t.Context(), scope, "s", at+1, &store.Change{Entry: store.Entry{ID: "op_2", Actor: actor}}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("a change of revision %d, which nobody has seen: %v, want a conflict", at+1, err)
		}
		head, err := s.Head(t.Context(), scope, "s")
		if err != nil || head.Status != store.StatusTombstoned {
			t.Errorf("the session is %+v, %v, want it removed", head, err)
		}
	}
}
