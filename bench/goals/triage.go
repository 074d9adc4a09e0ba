package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/triage"
)

var triageGoals = []goal{
	{name: "triage-scan-1M", says: "pass one over a million artifacts against reading their columns", bound: within(1.5), setup: triageAgainstScan(1_000_000)},
	{name: "triage-scan-100k", says: "pass one over 100,000 artifacts against reading their columns", bound: within(1.6), setup: triageAgainstScan(100_000)},
	{name: "triage-objects", says: "pass one over 100,000 artifacts against sorting objects by their scores", bound: faster(30), setup: triageAgainstObjects(100_000)},
}

// atNoon is the time of all judgements in these goals.
var atNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// invented returns n rows like those of a long-lived store, in random order: half of them have
// an expiry, some have expired, and a tenth is refuted, absent or promoted.
func invented(n int) []triage.Row {
	const day = 24 * time.Hour
	r := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // the same each time
	rows := make([]triage.Row, n)
	for i := range rows {
		created := atNoon.Add(-time.Duration(r.ExpFloat64() * 30 * float64(day)))
		rows[i] = triage.Row{Class: provenance.Classes()[r.IntN(len(provenance.Classes()))], Created: created}
		if r.IntN(2) == 0 {
			rows[i].Expires = created.Add(time.Duration(r.Int64N(int64(60 * day))))
		}
		if r.IntN(10) == 0 {
			rows[i].Flags = 1 << r.IntN(3)
		}
	}
	return rows
}

// firstOf returns a side that runs pass one of triage over rows, and a pointer to its latest
// result.
func firstOf(rows []triage.Row) (side, *triage.First) {
	policy, first, table := triage.DefaultPolicy(), new(triage.First), new(triage.Table)
	for _, r := range rows {
		table.Append(r)
	}
	return took(func() { policy.First(table, atNoon, nil, first) }), first
}

// took returns a side that calls f ten times and takes the least duration, since f always does
// the same.
func took(f func()) side {
	return least(10, timed(func(context.Context) error { f(); return nil }))
}

// triageAgainstScan compares pass one with a scan that only sums the columns of the same rows: two
// times and a byte for each row.
func triageAgainstScan(n int) func(context.Context, *bench, string) (sides, error) {
	return func(context.Context, *bench, string) (sides, error) {
		rows := invented(n)
		created, expires, kinds := make([]int64, n), make([]int64, n), make([]uint8, n)
		for i, r := range rows {
			created[i], expires[i], kinds[i] = r.Created.UnixMilli(), r.Expires.UnixMilli(), uint8(r.Flags)
		}
		ours, _ := firstOf(rows)
		seen := int64(0) // prevents the compiler from removing the scan
		return sides{
			ours:  ours,
			other: took(func() { seen += sum(created) + sum(expires) + sum(kinds) }),
			close: func() error {
				if seen == 0 {
					return errors.New("the scan summed columns without values")
				}
				return nil
			},
		}, nil
	}
}

// sum sums a column, four values at a time.
func sum[T int64 | uint8](column []T) int64 {
	var a, b, c, d int64
	for ; len(column) >= 4; column = column[4:] {
		a, b, c, d = a+int64(column[0]), b+int64(column[1]), c+int64(column[2]), d+int64(column[3])
	}
	return a + b + c + d
}

// triageAgainstObjects compares pass one with the obvious implementation: objects with times,
// floating point, and sorting of all candidates. Both choose the same rows.
func triageAgainstObjects(n int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, _ *bench, _ string) (sides, error) {
		type object struct {
			triage.Row
			at    int
			score float64
		}
		policy, rows := triage.DefaultPolicy(), invented(n)
		objects := make([]*object, n)
		for i, r := range rows {
			objects[i] = &object{Row: r, at: i}
		}
		var open []*object
		choose := func() {
			open = nil
			for _, o := range objects {
				rule := policy.Classes[o.Class]
				if o.Flags&(triage.Refuted|triage.Absent) != 0 || !o.Expires.IsZero() && !atNoon.Before(o.Expires) ||
					rule.Rank < policy.Trust && o.Flags&triage.Promoted == 0 {
					continue
				}
				recency := math.Exp2(-float64(atNoon.Sub(o.Created)) / float64(rule.HalfLife))
				o.score = (float64(rule.Recency)*recency + float64(rule.Provenance)*float64(rule.Rank)/1e6) / float64(rule.Recency+rule.Provenance)
				open = append(open, o)
			}
			slices.SortStableFunc(open, func(a, b *object) int { return cmp.Compare(b.score, a.score) })
		}
		ours, first := firstOf(rows)
		if _, err := ours(ctx); err != nil {
			return sides{}, err
		}
		choose()
		chosen := make(map[int]bool, policy.Admit)
		for _, o := range open[:policy.Admit] {
			chosen[o.at] = true
		}
		if slices.ContainsFunc(first.Admitted, func(c triage.Candidate) bool { return !chosen[c.Row] }) {
			return sides{}, errors.New("pass one and the obvious implementation choose different rows")
		}
		return sides{ours: ours, other: took(choose)}, nil
	}
}
