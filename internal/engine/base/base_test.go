package base

import (
	"fmt"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
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
