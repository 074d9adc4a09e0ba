package artifact

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

func newTier(j *job.Job) *cobra.Command {
	var demands []string
	var budget string
	cmd := &cobra.Command{
		Use:   "tier --demand D,... [--budget N]",
		Short: "Say which tier a demand calls for",
		Long: `Tier prints the tier of a context for each demand. A demand is the size of the
context if nothing were cut: a share of the budget such as 0.95 or 95%, or with --budget a number
of tokens. See "carrel help tiers".`,
		Example: `  carrel debug tier --demand 0.7999,0.80,0.95,1.10,1.11
  carrel debug tier --demand 41000 --budget 40000`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			opts, err := j.EngineOptions()
			if err != nil {
				return err
			}
			l := opts.Ladder
			res := &tiers{Ladder: ladder{l.Summarized, l.Core, l.Minimal}, Tiers: []tierLine{}}
			if budget != "" {
				n, err := job.ParseTokens("--budget", budget)
				if err != nil {
					return err
				}
				if n == 0 {
					return out.Usagef("--budget: must be more than 0 tokens")
				}
				res.Budget = n
			}
			for _, word := range demands {
				demand, of, err := parseDemand(word, res.Budget)
				if err != nil {
					return err
				}
				res.Tiers = append(res.Tiers, tierLine{word, l.Tier(demand, of)})
			}
			if len(res.Tiers) == 0 {
				return out.Usagef("tier: name a share of the budget with --demand")
			}
			return j.List("tier", res, "tiers", func(p *out.Page) {
				t := &out.Table{}
				for _, l := range res.Tiers {
					t.Add(l.Demand, string(l.Tier))
				}
				p.Table(t)
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&demands, "demand", nil, "`shares` of the budget, or tokens")
	f.StringVar(&budget, "budget", "", "budget in `tokens`")
	return cmd
}

// tiers is the result of the command tier.
type tiers struct {
	Ladder ladder      `json:"ladder"`
	Budget token.Count `json:"budget,omitempty"`
	Tiers  []tierLine  `json:"tiers"`
}

// A ladder is a [tier.Ladder] in percent of the budget.
type ladder struct {
	Summarized int `json:"summarized"`
	Core       int `json:"core"`
	Minimal    int `json:"minimal"`
}

// A tierLine is the tier that a demand leads to.
type tierLine struct {
	Demand string    `json:"demand"` // as it was typed
	Tier   tier.Tier `json:"tier"`
}

// parseDemand parses a demand, which is a number of tokens or a ratio such as 0.8. It returns the
// demand and the value that stands for the whole budget: the budget in tokens or, if the demand is
// a ratio in millionths, one million.
func parseDemand(s string, budget token.Count) (demand, of int64, err error) {
	if budget > 0 && strings.Trim(s, "0123456789_") == "" {
		n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
		if err != nil || n > math.MaxInt64/100 {
			return 0, 0, out.Usagef("--demand: %q is not a number of tokens", s)
		}
		return n, int64(budget), nil
	}
	r, err := job.ParseShare("--demand", s)
	return int64(r), int64(ratio.One), err
}
