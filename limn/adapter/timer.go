package adapter

import (
	"context"

	"github.com/carrel-dev/carrel/limn"
)

// openTimer opens a source that counts intervals, up to the limit of the pack if it has one.
func openTimer(p *limn.Pack, o *Options) source {
	ticks, stop := o.Ticker(p.Interval)
	return func(ctx context.Context, emit func(limn.LiveValue) bool) {
		defer stop()
		for n := 1; p.Limit == 0 || n <= p.Limit; n++ {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-ticks:
				if !ok || !emit(limn.LiveValue{Name: "tick", Value: limn.Int(int64(n))}) {
					return
				}
			}
		}
	}
}
