package cli

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/pager/seed"
)

func newRecency(_ *Env, g *globals) *cobra.Command {
	var ages []string
	cmd := &cobra.Command{
		Use:   "recency --ages N,...",
		Short: "Print how recent blocks of some ages are",
		Long: `Recency prints 1/(1+ln(1+age)) for each of some ages, which the score of "carrel
pager" has for the age of a block, to four decimals. An age is in turns, which need
not be whole: 0 is the current turn.`,
		Example: `  carrel recency --ages 0,1,10,100`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			lines := make([]recencyLine, len(ages))
			for i, word := range ages {
				age, err := strconv.ParseFloat(word, 64)
				if err != nil || age < 0 || math.IsNaN(age) || math.IsInf(age, 0) {
					return usagef("--ages: %q is no age: it is a number of turns from 0 on", word)
				}
				lines[i] = recencyLine{age, seed.Recency(age)}
			}
			if len(lines) == 0 {
				return usagef("recency: name ages with --ages")
			}
			value := map[string]any{"ages": lines}
			return g.result(document{"recency", value, "ages"}, func(p *page) {
				t := &table{head: []string{"age", "recency"}}
				for i, l := range lines {
					t.add(ages[i], strconv.FormatFloat(l.Recency, 'f', 4, 64))
				}
				p.table(t)
			})
		},
	}
	cmd.Flags().StringSliceVar(&ages, "ages", nil, "`turns` since a block")
	return cmd
}

// A recencyLine is the recency of an age.
type recencyLine struct {
	Age     float64 `json:"age"` // in turns
	Recency float64 `json:"recency"`
}
