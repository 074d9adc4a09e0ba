package base

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
)

// What is not set has its default, and what is set stays.
func TestDefaultsOfOptions(t *testing.T) {
	told := func(o Options) string {
		c, err := o.Complete()
		if err != nil || c.Now == nil || c.Rand == nil || c.Progress == nil || c.Logger == nil || c.Prices == nil || c.Triage == nil {
			t.Fatalf("%+v, %v", c, err)
		}
		return fmt.Sprint(c.Weights, c.Cuts, c.Strategy, c.Ladder, c.Confidence, c.Page, c.Patience, c.Resident, c.Actor, c.Now().Year() > 2000)
	}
	if got, want := told(Options{}), fmt.Sprint(pager.DefaultWeights, pager.DefaultCuts, api.StrategyAccount, tier.DefaultLadder, assembly.DefaultThreshold, 2000, 2*time.Minute, 256<<20, governance.ActorUser, true); got != want {
		t.Errorf("the defaults are %s, want %s", got, want)
	}
	set := Options{
		Weights: pager.Weights{Recency: 1}, Cuts: pager.Cuts{Retain: 2, Evict: 1}, Strategy: api.StrategyWindow, Ladder: tier.SoftLadder, Confidence: 1, Page: -1, Patience: time.Second,
		Resident: 7, Actor: "dana", Now: func() time.Time { return time.Time{} },
	}
	if got, want := told(set), fmt.Sprint(set.Weights, set.Cuts, set.Strategy, set.Ladder, set.Confidence, set.Page, set.Patience, set.Resident, set.Actor, false); got != want {
		t.Errorf("what was set became %s, want %s", got, want)
	}
}

// A cellStore gives cells by their ids: "gone" and "broken" are errors, and "none" it does not know.
type cellStore struct{ store.Store }

func (cellStore) Cells(_ context.Context, _ governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		for _, id := range ids {
			switch id {
			case "none":
				return
			case "gone":
				yield(nil, store.ErrGone)
				return
			case "broken":
				yield(nil, store.ErrCorrupt)
				return
			}
			if !yield(&store.Cell{ID: id}, nil) {
				return
			}
		}
	}
}

// Cells are read on behind one that is gone, but not behind another error.
func TestReadCells(t *testing.T) {
	e := &Base{Store: cellStore{}}
	for ids, want := range map[string]string{
		"": "", "a b": "a b", "a gone b gone": "a gone b gone", "a broken b": "a corrupt", "a none b": "a missing", "none": "missing", "gone": "gone",
	} {
		var list []store.CellID
		for id := range strings.FieldsSeq(ids) {
			list = append(list, store.CellID(id))
		}
		var got []string
		for c, err := range e.ReadCells(t.Context(), "a", list) {
			switch {
			case errors.Is(err, store.ErrGone):
				got = append(got, "gone")
			case errors.Is(err, store.ErrCorrupt):
				got = append(got, "corrupt")
			case errors.Is(err, store.ErrNotFound):
				got = append(got, "missing")
			case err == nil:
				got = append(got, string(c.ID))
			}
			if len(got) > len(list) {
				break
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %q, want %q", ids, got, want)
		}
	}
	for _, err := range e.ReadCells(t.Context(), "a", []store.CellID{"a", "gone", "b"}) {
		if err != nil {
			t.Error(err)
		}
		break // the reader may stop at any cell
	}
}
