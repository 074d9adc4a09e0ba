package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/token"
)

// The invoices of a session follow each other, and say why the cache could not be read.
func TestInvoicesOfCalls(t *testing.T) {
	used := api.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5}
	if got, want := Spend(&used), (economy.Spend{Uncached: 1, Read: 2, Write5m: 3, Write1h: 4, Output: 5}); got != want {
		t.Errorf("spend %+v, want %+v", got, want)
	}
	call := func(change func(*api.Call)) api.Call {
		c := api.Call{Session: "s"}
		c.Usage, c.Messages = used, 3
		change(&c)
		return c
	}
	plain := call(func(*api.Call) {})
	for _, tt := range []struct {
		name  string
		calls []api.Call
		want  string // of each invoice: after, and what happened
	}{
		{"none", nil, ""},
		{"three in a row", []api.Call{plain, plain, plain}, "-1, 0, 1"},
		{"one without a usage between", []api.Call{plain, {Session: "s"}, plain}, "-1, 0"},
		{"calls without a session", []api.Call{call(func(c *api.Call) { c.Session = "" }), call(func(c *api.Call) { c.Session = "" })}, "-1, -1"},
		{"fewer messages", []api.Call{plain, call(func(c *api.Call) { c.Messages = 2 })}, "-1, 0 edited"},
		{"more messages", []api.Call{plain, call(func(c *api.Call) { c.Messages = 4 })}, "-1, 0"},
		{"an older epoch", []api.Call{call(func(c *api.Call) { c.Epoch = 2 }), call(func(c *api.Call) { c.Epoch = 1 })}, "-1, 0 edited"},
		{"a newer epoch", []api.Call{call(func(c *api.Call) { c.Epoch = 1 }), call(func(c *api.Call) { c.Epoch = 2 })}, "-1, 0 cut"},
		{"managing that ends", []api.Call{call(func(c *api.Call) { c.Managed = true }), plain}, "-1, 0 cut"},
		{"managing that ends behind a head", []api.Call{call(func(c *api.Call) { c.Managed, c.Epoch = true, 2 }), plain}, "-1, 0 edited cut"},
		{"managing that a refusal ends", []api.Call{call(func(c *api.Call) { c.Managed, c.Epoch = true, 2 }), call(func(c *api.Call) { c.Managed, c.Reason = true, "stopped" })}, "-1, 0 cut"},
		{"managing that fails", []api.Call{call(func(c *api.Call) { c.Managed, c.Epoch = true, 2 }), call(func(c *api.Call) { c.Reason = "not managed: too slow" })}, "-1, 0 cut"},
		{"a client that went back as managing failed", []api.Call{call(func(c *api.Call) { c.Managed, c.Epoch = true, 2 }), call(func(c *api.Call) { c.Messages, c.Reason = 2, "not managed: error" })}, "-1, 0 edited cut"},
		{"managing that begins", []api.Call{plain, call(func(c *api.Call) { c.Managed = true })}, "-1, 0"},
		{"managing that goes on", []api.Call{call(func(c *api.Call) { c.Managed = true }), call(func(c *api.Call) { c.Managed = true })}, "-1, 0"},
		{"behind a compaction", []api.Call{call(func(c *api.Call) { c.Reason = api.ReasonCompacts }), plain, plain}, "-1, 0 compacted, 1"},
		{"behind one that was observed", []api.Call{call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Reason: api.ReasonCompacts, Tokens: 7} }), plain}, "-1 would 7, 0 compacted"},
		{"a cut that managing would have made", []api.Call{call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Tokens: 7, Epoch: 3} }), call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Tokens: 8, Epoch: 4} })}, "-1 would 7, 0 would 8 cut there"},
		{"one that it says itself", []api.Call{call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Reason: api.ReasonEpoch + "full"} })}, "-1 would 0 cut there"},
		{"the same epoch", []api.Call{call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Epoch: 3} }), call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Epoch: 3} })}, "-1 would 0, 0 would 0"},
		{"an epoch behind the first", []api.Call{call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{} }), call(func(c *api.Call) { c.Would = &api.UnmanagedEstimate{Epoch: 1} })}, "-1 would 0, 0 would 0 cut there"},
	} {
		var got []string
		for _, v := range Invoices(tt.calls) {
			words := fmt.Sprint(v.After)
			for _, w := range []struct {
				is   bool
				word string
			}{{v.Edited, " edited"}, {v.Cut, " cut"}, {v.Compacted, " compacted"}, {v.Would != nil, " would"}} {
				if w.is {
					words += w.word
				}
			}
			if w := v.Would; w != nil {
				words += fmt.Sprint(" ", w.Prompt)
				if w.Cut {
					words += " cut there"
				}
			}
			got = append(got, words)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, strings.Join(got, ", "), tt.want)
		}
	}
}

// The assumptions that a forecast tells are those that it makes.
func TestForecastsAddUp(t *testing.T) {
	prices := economy.Published()
	noon := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	var calls []economy.Invoice
	for i := range 6 {
		calls = append(calls, economy.Invoice{
			Model: "claude-opus-4-6", After: i - 1, Begun: noon.Add(time.Duration(i) * time.Hour), Ended: noon.Add(time.Duration(i) * time.Hour),
			Spend: economy.Spend{Write5m: token.Count(40_000 * (i + 1)), Output: 1000},
		})
	}
	one, two := &Forecast{Prices: prices}, &Forecast{Prices: prices}
	one.Add(calls, 200_000)
	two.Add(calls, 200_000)
	two.Add(calls, 200_000)
	a, b := one.Cost(), two.Cost()
	if a.Least <= 0 || a.Least >= a.Most || a.Epochs == 0 {
		t.Errorf("cost of one session: %+v, want a range", a)
	}
	if b.Least != 2*a.Least || b.Most != 2*a.Most || b.Epochs != 2*a.Epochs || b.Basis != basis {
		t.Errorf("cost of two: %+v, want twice that of one, %+v", b, a)
	}
}
