package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/pager/seed"
)

func newBench(env *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench retention|exam|pager",
		Short: "Measure what strategies keep, and the pager",
		RunE:  group("bench", "retention, exam, pager"),
	}
	cmd.AddCommand(newBenchRetention(env, g), newBenchExam(g), newBenchPager(env, g))
	return cmd
}

// A benchResult is what a measurement found.
type benchResult struct {
	Matrix []string `json:"matrix"` // a summary for each pair of weights
	Faults []string `json:"faults"`
	Blocks int      `json:"blocks"`
	Bytes  int      `json:"bytes"`
	Millis float64  `json:"ms"`
	Rate   float64  `json:"rate"` // blocks a second
	OK     bool     `json:"ok"`
}

func newBenchPager(env *Env, g *globals) *cobra.Command {
	var blocks int
	var least float64
	var verbose bool
	cmd := &cobra.Command{
		Use:   "pager [--blocks N] [--min-rate R] [--verbose]",
		Short: "Check the pager on its sample and measure its speed",
		Long: `Bench pager decides on the sample of twelve blocks under four pairs of weights
and checks that no block is decided twice, that active blocks stay, that noise
goes where similarity weighs more, and that the contract can be replayed. Then
it measures a whole pass over a synthetic history: reading, deciding, records
and statements. If a check fails, or it is slower than --min-rate, the exit
code is 1.`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			if blocks < 1 {
				return usagef("--blocks: %d is below 1", blocks)
			}
			results, faults, err := seed.Matrix()
			if err != nil {
				return err
			}
			res := &benchResult{Matrix: []string{}, Faults: append([]string{}, faults...), Blocks: blocks}
			for _, r := range results {
				res.Matrix = append(res.Matrix, r.Summary())
				if verbose {
					if _, err := env.Stderr.Write(r.AppendRecords(nil)); err != nil {
						return err
					}
				}
			}
			data := seed.Synthetic(blocks)
			res.Bytes = len(data)
			began := env.Now()
			if _, err := seed.Run("synthetic", data, nil, time.Unix(0, 0), nil); err != nil {
				return err
			}
			took := max(env.Now().Sub(began), time.Nanosecond)
			res.Millis = float64(took.Microseconds()) / 1000
			res.Rate = float64(int(float64(blocks) / took.Seconds()))
			res.OK = len(res.Faults) == 0 && res.Rate >= least
			if err := g.result(document{name: "bench", value: res}, func(p *page) { printBench(p, res) }); err != nil {
				return err
			}
			if !res.OK {
				if res.Rate < least {
					g.note("carrel: %s blocks/s is below --min-rate %s", thousands(int64(res.Rate)), thousands(int64(least)))
				}
				return errNo
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&blocks, "blocks", 10_000, "`number` of blocks of the synthetic history")
	f.Float64Var(&least, "min-rate", 0, "blocks a second that are wanted, as a `number`")
	f.BoolVar(&verbose, "verbose", false, "print the record of each block of the sample")
	return cmd
}

func printBench(p *page, r *benchResult) {
	for _, line := range r.Matrix {
		p.line("%s", line)
	}
	for _, f := range r.Faults {
		p.line("fault: %s", visible(f))
	}
	if len(r.Faults) == 0 {
		p.line("invariants hold")
	}
	p.line("%s", fmt.Sprintf("%s blocks, %s bytes: %.1f ms, %s blocks/s", p.number(int64(r.Blocks)), p.number(int64(r.Bytes)), r.Millis, p.number(int64(r.Rate))))
}
