package contract

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager/seed"
)

func newRecency(j *job.Job) *cobra.Command {
	var ages []string
	cmd := &cobra.Command{
		Use:   "recency --ages N,...",
		Short: "Print how recent blocks of some ages are",
		Long: `Recency prints 1/(1+ln(1+age)) for each age, to four decimals: the recency of a
block in the score of the strategy pager. An age is a number of turns, which need not be whole; 0
is the present turn.`,
		Example: `  carrel debug recency --ages 0,1,10,100`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			lines := make([]recencyLine, len(ages))
			for i, word := range ages {
				age, err := strconv.ParseFloat(word, 64)
				if err != nil || age < 0 || math.IsNaN(age) || math.IsInf(age, 0) {
					return out.Usagef("--ages: %q is not an age: give a number of turns, 0 or more", word)
				}
				lines[i] = recencyLine{age, seed.Recency(age)}
			}
			if len(lines) == 0 {
				return out.Usagef("recency: name ages with --ages")
			}
			value := map[string]any{"ages": lines}
			return j.List("recency", value, "ages", func(p *out.Page) {
				t := &out.Table{Head: []string{"age", "recency"}}
				for i, l := range lines {
					t.Add(ages[i], strconv.FormatFloat(l.Recency, 'f', 4, 64))
				}
				p.Table(t)
			})
		},
	}
	cmd.Flags().StringSliceVar(&ages, "ages", nil, "`turns` since a block")
	return cmd
}

// A recencyLine is the recency of one age.
type recencyLine struct {
	Age     float64 `json:"age"` // in turns
	Recency float64 `json:"recency"`
}
