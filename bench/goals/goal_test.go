package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var order []string
	costs := func(name string, c ...float64) side {
		return func(context.Context) (float64, error) {
			order = append(order, name)
			cost := c[0]
			c = c[1:]
			return cost, nil
		}
	}
	closed := false
	var out bytes.Buffer
	b := &bench{out: &out, rounds: 3, tmp: t.TempDir()}
	met, err := b.compare(t.Context(), []goal{
		{name: "quick", bound: faster(4), setup: func(context.Context, *bench, string) (sides, error) {
			return sides{
				ours: costs("a", 100, 1, 2, 1), other: costs("b", 1, 4, 6, 9),
				close: func() error { closed = true; return nil },
			}, nil
		}},
		{name: "small", bound: within(1.5), setup: func(context.Context, *bench, string) (sides, error) {
			return sides{ours: costs("a", 0, 2, 2, 2), other: costs("b", 1, 1, 1, 1)}, nil
		}},
		{name: "old", before: true},
	})
	if err != nil || met || !closed {
		t.Errorf("all met: %v, closed: %v, %v", met, closed, err)
	}
	if got := strings.Join(order[:8], ""); got != "abbaabba" {
		t.Errorf("the sides ran in the order %s", got)
	}
	for _, want := range []string{
		"met    quick                       4.00 (3.00–9.00), goal ≥ 4",
		"MISSED small                       2.00 (2.00–2.00), goal ≤ 1.5",
		"-      old                      left out",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	broken := errors.New("broken")
	if _, err := b.compare(t.Context(), []goal{{name: "x", setup: func(context.Context, *bench, string) (sides, error) { return sides{}, broken }}}); !errors.Is(err, broken) {
		t.Errorf("a goal that cannot be set up: %v", err)
	}
}

// A time that grows as size·log size has a factor of 1, and one that grows as the square is
// told apart; the drawing has a line for each.
func TestGrowth(t *testing.T) {
	g := grown{growth: growth{name: "sort"}, sizes: []int{1000, 10_000, 100_000}}
	square := grown{growth: growth{name: "pairs"}, sizes: g.sizes}
	for _, size := range g.sizes {
		n := float64(size)
		g.seconds, square.seconds = append(g.seconds, n*math.Log(n)), append(square.seconds, n*n)
	}
	if f := g.factor(); math.Abs(f-1) > 1e-9 {
		t.Errorf("size·log size grows %v times as fast as that", f)
	}
	if f := square.factor(); f < 7 {
		t.Errorf("the square of the size grows %v times as fast as size·log size", f)
	}
	if drawing := drawGrowth([]grown{g, square}); strings.Count(drawing, "<polyline") != 3 || !strings.Contains(drawing, ">pairs</text>") {
		t.Errorf("the drawing is %s", drawing)
	}
}
