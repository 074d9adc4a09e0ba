package triage_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/triage"
)

func Example() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var table triage.Table
	table.Append(triage.Row{Class: provenance.Verified, Created: now.AddDate(0, -6, 0)})
	table.Append(triage.Row{Class: provenance.Tool, Created: now.Add(-time.Hour), Expires: now})
	table.Append(triage.Row{Class: provenance.Retrieved, Created: now.AddDate(0, 0, -14)})
	table.Append(triage.Row{Class: provenance.Scratchpad, Created: now})

	policy := triage.DefaultPolicy()
	first := policy.First(&table, now, []int{2}, nil)
	scored, err := policy.Second(first, func(rows []int) ([]ratio.Ratio, error) {
		return slices.Repeat([]ratio.Ratio{250_000}, len(rows)), nil // all are a little similar
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range scored {
		fmt.Println("row", s.Row, s.Score, s.Tag)
	}
	for row := range table.Len() {
		fmt.Println("row", row, first.Reason(row))
	}
	// Output:
	// row 0 0.674616 red
	// row 2 0.440000 yellow
	// row 0 admitted
	// row 1 expired
	// row 2 admitted
	// row 3 distrusted
}
