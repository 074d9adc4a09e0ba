package main

import "context"

var pagerGoals = []goal{
	{name: "pager", says: "carrel pager on 100,000 blocks against the earlier build", bound: faster(0.95), before: true, setup: pagerOf(100_000)},
}

// pagerOf compares package pager with package pager/seed, the port of the original
// pager, on a history of that many blocks.
func pagerOf(blocks int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		ours, other, err := b.both(ctx)
		if err != nil {
			return sides{}, err
		}
		args, _, err := growPager(ctx, ours, dir, blocks)
		return sides{ours: command(ours, nil, args...), other: command(other, nil, args...)}, err
	}
}
