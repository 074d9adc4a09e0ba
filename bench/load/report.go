package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// A tally has the counts of one client.
type tally struct {
	took      map[string][]time.Duration // by operation
	checked   map[string]int             // values that were read back, by kind
	conflicts int
	problems  []string
}

func newTally() *tally {
	return &tally{took: make(map[string][]time.Duration), checked: make(map[string]int)}
}

// time runs an operation and records its duration or its error.
func (t *tally) time(op string, do func() error) {
	begun := time.Now()
	err := do()
	t.took[op] = append(t.took[op], time.Since(begun))
	if err != nil {
		t.problems = append(t.problems, op+": "+err.Error())
	}
}

// check counts a value of the kind what that was read back. If err is not nil,
// it records err as a problem.
func (t *tally) check(what string, err error) {
	t.checked[what]++
	if err != nil {
		t.problems = append(t.problems, "read back: "+err.Error())
	}
}

// A report is the result of a run. Times are in milliseconds.
type report struct {
	Clients   int            `json:"clients"`
	Servers   int            `json:"servers"`
	Seconds   float64        `json:"seconds"`
	Ops       []figures      `json:"operations"` // the last entry is the sum
	Conflicts int            `json:"conflicts"`
	Checked   map[string]int `json:"read_back"`
	Memory    []sample       `json:"memory"`
	Problems  []string       `json:"problems"`
}

// figures are the figures of one operation.
type figures struct {
	Op    string  `json:"operation"`
	Count int     `json:"count"`
	Rate  float64 `json:"per_second"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// add adds the counts of a client to the report. It appends the client's
// durations to the lists in the map took, which has a list for each operation.
func (r *report) add(t *tally, took map[string][]time.Duration) {
	for op, list := range t.took {
		took[op] = append(took[op], list...)
	}
	for what, n := range t.checked {
		r.Checked[what] += n
	}
	r.Conflicts += t.conflicts
	r.Problems = append(r.Problems, t.problems...)
}

// sum computes the figures of each operation, and of all together, from the
// durations in the map took.
func (r *report) sum(took map[string][]time.Duration) {
	var all []time.Duration
	for _, op := range slices.Sorted(maps.Keys(took)) {
		r.Ops = append(r.Ops, r.figures(op, took[op]))
		all = append(all, took[op]...)
	}
	r.Ops = append(r.Ops, r.figures("all", all))
}

func (r *report) figures(op string, took []time.Duration) figures {
	slices.Sort(took)
	at := func(percent int) float64 {
		if len(took) == 0 {
			return 0
		}
		// The nearest rank: this percentage of all operations took no longer.
		rank := max((len(took)*percent+99)/100, 1)
		return float64(took[rank-1]) / float64(time.Millisecond)
	}
	return figures{op, len(took), float64(len(took)) / r.Seconds, at(50), at(90), at(99), at(100)}
}

const mebibyte = 1 << 20

// write writes the report for people, or for programs.
func (r *report) write(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(out, "%d clients, %d servers over one store, %.0f s\n\n", r.Clients, r.Servers, r.Seconds)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "operation\tcount\tper s\tp50 ms\tp90 ms\tp99 ms\tmax ms\t")
	for _, f := range r.Ops {
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", f.Op, f.Count, f.Rate, f.P50, f.P90, f.P99, f.Max)
	}
	fmt.Fprintln(table, "\nMiB at\theap\tlive\theld\t")
	for i := range 7 {
		if n := len(r.Memory); n > 0 {
			s := r.Memory[i*(n-1)/6]
			fmt.Fprintf(table, "%.0f s\t%.1f\t%.1f\t%.1f\t\n", s.At.Seconds(), inMiB(s.Heap), inMiB(s.Live), inMiB(s.Held))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nread back: %d sessions, %d artifacts, %d contexts; somebody else was faster %d times\n",
		r.Checked["sessions"], r.Checked["artifacts"], r.Checked["contexts"], r.Conflicts)
	const most = 20
	for _, p := range r.Problems[:min(most, len(r.Problems))] {
		fmt.Fprintln(out, "PROBLEM", p)
	}
	fmt.Fprintf(out, "%d errors or lost writes\n", len(r.Problems))
	return nil
}

func inMiB(n int64) float64 { return float64(n) / mebibyte }
