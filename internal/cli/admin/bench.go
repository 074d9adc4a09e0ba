package admin

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager/seed"
)

func newBench(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench retention|exam|pager",
		Short: "Measure what strategies keep, and the speed of the pager",
		Long: `Bench measures Carrel on your own sessions and on this machine. It stores nothing, and only
"bench exam ask" and "bench exam grade" send text: to the model in the settings.`,
		Example: `  carrel bench retention`,
		RunE:    job.Group("bench", "retention, exam, pager"),
	}
	cmd.AddCommand(newBenchRetention(j), newBenchExam(j), newBenchPager(j))
	return cmd
}

// A benchResult is the result of a measurement.
type benchResult struct {
	Matrix []string `json:"matrix"` // one line for each pair of weights
	Faults []string `json:"faults"`
	Blocks int      `json:"blocks"`
	Bytes  int      `json:"bytes"`
	Millis float64  `json:"ms"`
	Rate   float64  `json:"rate"` // blocks per second
	OK     bool     `json:"ok"`
}

func newBenchPager(j *job.Job) *cobra.Command {
	var blocks int
	var least float64
	var verbose bool
	cmd := &cobra.Command{
		Use:   "pager [--blocks N] [--min-rate R] [--verbose]",
		Short: "Check the pager on its sample and measure its speed",
		Long: `Pager checks and measures the strategy pager. On its sample of twelve blocks, under
four pairs of weights, it checks that it decides no block twice, that active blocks stay, that
noise leaves where similarity has the greater weight, and that the contract can be replayed. Then
it measures a whole pass over a synthetic history: reading, deciding, writing records and
statements. If a check fails or the pass is slower than --min-rate, the exit code is 1.`,
		Example:     `  carrel bench pager --blocks 100000 --min-rate 50000`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			if blocks < 1 {
				return out.Usagef("--blocks: %d is below 1", blocks)
			}
			results, faults, err := seed.Matrix()
			if err != nil {
				return err
			}
			res := &benchResult{Matrix: []string{}, Faults: append([]string{}, faults...), Blocks: blocks}
			for _, r := range results {
				res.Matrix = append(res.Matrix, r.Summary())
				if verbose {
					if _, err := j.Stderr.Write(r.AppendRecords(nil)); err != nil {
						return err
					}
				}
			}
			data := seed.Synthetic(blocks)
			res.Bytes = len(data)
			began := j.Now()
			if _, err := seed.Run("synthetic", data, nil, time.Unix(0, 0), nil); err != nil {
				return err
			}
			took := max(j.Now().Sub(began), time.Nanosecond)
			res.Millis = float64(took.Microseconds()) / 1000
			res.Rate = float64(int(float64(blocks) / took.Seconds()))
			res.OK = len(res.Faults) == 0 && res.Rate >= least
			if err := j.Result("bench", res, func(p *out.Page) { printBench(p, res) }); err != nil {
				return err
			}
			if !res.OK {
				if res.Rate < least {
					j.Note("carrel: %s blocks/s is below --min-rate %s", out.Thousands(int64(res.Rate)), out.Thousands(int64(least)))
				}
				return out.ErrNo
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&blocks, "blocks", 10_000, "`number` of blocks of the synthetic history")
	f.Float64Var(&least, "min-rate", 0, "least `number` of blocks a second")
	f.BoolVar(&verbose, "verbose", false, "print the record of each block of the sample")
	return cmd
}

func printBench(p *out.Page, r *benchResult) {
	for _, line := range r.Matrix {
		p.Line("%s", line)
	}
	for _, f := range r.Faults {
		p.Line("fault: %s", out.Visible(f))
	}
	if len(r.Faults) == 0 {
		p.Line("invariants hold")
	}
	p.Line("%s", fmt.Sprintf("%s blocks, %s bytes: %.1f ms, %s blocks/s", p.Number(int64(r.Blocks)), p.Number(int64(r.Bytes)), r.Millis, p.Number(int64(r.Rate))))
}
