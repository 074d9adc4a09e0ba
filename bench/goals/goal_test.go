package main

import (
	"bytes"
	"context"
	"errors"
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
	b := &bench{out: &out, rounds: 3}
	met, err := b.run(t.Context(), []goal{
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
	if _, err := b.run(t.Context(), []goal{{name: "x", setup: func(context.Context, *bench, string) (sides, error) { return sides{}, broken }}}); !errors.Is(err, broken) {
		t.Errorf("a goal that cannot be set up: %v", err)
	}
}
