package triage

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/provenance"
)

// randomTable returns a table like that of a long-lived store, in no order: a
// quarter is expired, and a tenth is refuted, absent or promoted.
func randomTable(n int) *Table {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var t Table
	for range n {
		created := noon.Add(-time.Duration(r.ExpFloat64() * 30 * float64(day)))
		row := Row{Class: classes[r.IntN(len(classes))], Created: created}
		if r.IntN(2) == 0 {
			row.Expires = created.Add(time.Duration(r.Int64N(int64(60 * day))))
		}
		if r.IntN(10) == 0 {
			row.Flags = 1 << r.IntN(3)
		}
		t.Append(row)
	}
	return &t
}

// sortedTable returns the rows of a table in the order of their creation, as a
// store appends them.
func sortedTable(t *Table) *Table {
	rows := make([]Row, t.Len())
	for i := range rows {
		rows[i] = t.Row(i)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Created.Compare(b.Created) })
	var sorted Table
	for _, r := range rows {
		sorted.Append(r)
	}
	return &sorted
}

// someHits returns up to 200 rows of a table with n rows.
func someHits(n int) []int {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	hits := make([]int, min(n, 200))
	for i := range hits {
		hits[i] = r.IntN(n)
	}
	return hits
}

var sizes = []struct {
	name string
	rows int
}{{"1k", 1_000}, {"100k", 100_000}, {"1M", 1_000_000}}

// perCandidate reports the time of a step by row.
func perCandidate(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/candidate")
}

// Pass one over rows in no order, in the order of their creation, and over rows
// that all have the same score.
func BenchmarkFirst(b *testing.B) {
	p := DefaultPolicy()
	for _, size := range sizes {
		table, hits := randomTable(size.rows), someHits(size.rows)
		var same Table
		for range size.rows {
			same.Append(Row{Class: provenance.Document, Created: noon})
		}
		for _, order := range []struct {
			name  string
			table *Table
		}{{"", table}, {"/sorted", sortedTable(table)}, {"/same", &same}} {
			b.Run(size.name+order.name, func(b *testing.B) {
				b.ReportAllocs()
				var used *First
				for b.Loop() {
					if used = p.First(order.table, noon, hits, used); len(used.Admitted) != p.Admit {
						b.Fatal("places are empty")
					}
				}
				perCandidate(b, size.rows)
			})
		}
	}
}
