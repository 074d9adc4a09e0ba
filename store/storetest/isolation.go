package storetest

import (
	"errors"
	"testing"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Fill writes records of all kinds into an empty scope: the session "s", artifacts, a manifest and
// a call.
func Fill(t *testing.T, s store.Store, sc governance.Scope) {
	t.Helper()
	apply(t, s, sc, "s", 0, fullChange("w"))
	update(t, s, sc, fullUpdate("x"))
	record(t, s, sc, begun("call_1", "s", 0))
}

// Leaks tries to read and change the records that [Fill] has written into one scope, theirs. It
// calls all methods in another scope, mine, and returns the names of the calls that found or
// changed a record.
func Leaks(t *testing.T, s store.Store, theirs, mine governance.Scope) (leaks []string) {
	t.Helper()
	before := contents(t, s, theirs)
	begin(t, s, &store.Job{Scope: theirs, Name: "purge", Mark: "a", Actor: governance.ActorUser}, over, nil)
	asked := map[string]func() (int, error){
		"Block": func() (int, error) {
			b, err := s.Block(t.Context(), mine, store.BlockRef{Session: "s", Block: "wb1"})
			if b == nil {
				return 0, err
			}
			return 1, err
		},
		"Cells":    func() (int, error) { return size(s.Cells(t.Context(), mine, []store.CellID{"wc1"})) },
		"Sources":  func() (int, error) { return count(s.Sources(t.Context(), mine, "wstub")) },
		"Derived":  func() (int, error) { return count(s.Derived(t.Context(), mine, []store.CellID{"wc1"})) },
		"Brought":  func() (int, error) { return count(s.Brought(t.Context(), mine, "s")) },
		"OpenJobs": func() (int, error) { return count(s.OpenJobs(t.Context(), mine)) },
		"Find":     func() (int, error) { return count(s.Find(t.Context(), mine, "w", 9)) },
		"Postings": func() (int, error) {
			views, err := s.Postings(t.Context(), mine, []string{"apple"})
			n := 0
			for i := range views {
				n += len(views[i].IDs)
			}
			return n, err
		},
		"Numbered": func() (int, error) {
			refs, err := s.Numbered(t.Context(), mine, []int64{1, 2, 3})
			n := 0
			for _, ref := range refs {
				if ref != (store.BlockRef{}) {
					n++
				}
			}
			return n, err
		},
		"Apply at their revision": func() (int, error) {
			_, err := s.Apply(t.Context(), mine, "s", 1, newChange("op_mine"))
			return wrote(err)
		},
		"Apply with their cell": func() (int, error) {
			c := newChange("op_cell")
			c.Items = []store.CellID{"wc1"}
			_, err := s.Apply(t.Context(), mine, "of_mine", 0, c)
			return wrote(err)
		},
		"Record of the end of their call": func() (int, error) {
			return wrote(s.Record(t.Context(), mine, []store.Call{ended("call_1", store.CallDone)}))
		},
		"Update that purges their cell": func() (int, error) {
			u := newUpdate("op_purge")
			u.Purge = []store.CellID{"wc1"}
			_, err := s.Update(t.Context(), mine, u)
			return wrote(err)
		},
	}
	for name, ask := range calls(s) {
		asked[name] = func() (int, error) {
			err := ask(t.Context(), mine, "s")
			if err == nil {
				return 1, nil
			}
			return 0, err
		}
	}
	for name, ask := range reads(s) {
		asked["all: "+name] = func() (int, error) { return ask(t.Context(), mine) }
	}
	asked["all: Heads"] = func() (int, error) { return size(s.Heads(t.Context(), mine)) }
	for _, name := range sortedNames(asked) {
		if n, err := asked[name](); n > 0 || err != nil && !errors.Is(err, store.ErrNotFound) {
			leaks = append(leaks, name)
		}
	}
	if after, err := Read(t.Context(), s, theirs); err != nil || Diff(before, after) != "" {
		leaks = append(leaks, "the contents of the other scope")
	}
	return leaks
}

// wrote returns 1 if a write succeeded. A conflict is not an error, because a write in an empty scope
// fails in the same way.
func wrote(err error) (int, error) {
	if errors.Is(err, store.ErrConflict) {
		return 0, nil
	}
	if err == nil {
		return 1, nil
	}
	return 0, err
}
