package epoch_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/token"
)

func TestGauge(t *testing.T) {
	var g epoch.Gauge
	if got := g.Read(1000); got != 1000 {
		t.Errorf("nothing is known: 1000 is read as %d", got)
	}
	g.Learn(1000, 500)
	for _, tt := range []struct{ bound, want token.Count }{{0, 0}, {200, 110}, {1000, 550}, {1400, 950}} {
		if got := g.Read(tt.bound); got != tt.want {
			t.Errorf("half was counted: %d is read as %d, want %d", tt.bound, got, tt.want)
		}
	}
	g.Learn(0, 10)
	g.Learn(10, 0)
	if got := g.Read(1000); got != 550 {
		t.Errorf("a call of which nothing is known was learned: 1000 is read as %d", got)
	}
	g.Learn(1000, 10)
	if got := g.Read(1000); got != 200 {
		t.Errorf("a hundredth was counted: 1000 is read as %d, want a fifth", got)
	}
	g.Learn(1000, 1200)
	if got := g.Read(1000); got != 1320 {
		t.Errorf("more was counted than the bound: 1000 is read as %d, want 1320", got)
	}
}

// Whatever was learned, more is never read as less, and Bound is the inverse of Read.
func TestGaugeIsMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.Int64Range(0, 4_000_000)
		var g epoch.Gauge
		g.Learn(token.Count(count.Draw(rt, "bound")), token.Count(count.Draw(rt, "counted")))
		n := token.Count(count.Draw(rt, "n"))
		if g.Read(n+1) < g.Read(n) {
			rt.Fatalf("%d is read as %d, %d as %d", n, g.Read(n), n+1, g.Read(n+1))
		}
		if b := g.Bound(n); g.Read(b) > n || g.Read(b+1) < n {
			rt.Fatalf("the bound of %d is %d, which is read as %d", n, b, g.Read(b))
		}
	})
}
