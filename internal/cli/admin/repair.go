package admin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

func newRepair(j *job.Job) *cobra.Command {
	req := &carrel.RepairRequest{}
	var to job.Output
	var dry bool
	cmd := &cobra.Command{
		Use:   "repair FILE|- [--provider P] [-o FILE]",
		Short: "Mend a request that a provider would refuse",
		Long: `Repair repairs a request by the rules of its provider, in this order: calls with a
duplicate id get new ids, results move behind their calls, a call without a result gets a result
that says so, a result without a call becomes a quotation, and parts are put into the order that
the provider requires. Each repair is listed with its rule. Parts that need no repair keep their
bytes, and a request without violations is unchanged byte for byte.

If a violation cannot be repaired, nothing is written, the exit code is 1, and the violations are
listed.

--without-thinking removes all thinking: use it if the provider refused a signature of thinking,
which only the provider can check.`,
		Example: `  carrel repair request.json --provider anthropic -o mended.json
  carrel repair request.json -n`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if !to.ToFile() && j.JSON != "" && !dry {
				return out.Usagef("--json: needs -o: the conversation goes to a file, as the report takes standard output")
			}
			if req.Name = args[0]; req.Name == "-" {
				req.Name = ""
			}
			if req.Data, err = j.Read(args[0]); err != nil {
				return err
			}
			res, err := carrel.Repair(req)
			switch {
			case errors.Is(err, carrel.ErrInvalid):
				return out.Hinted(err, "nothing was written; change by hand what no repair can mend, and repair it again")
			case errors.Is(err, carrel.ErrFormat):
				return out.Hinted(err, "--provider takes "+strings.Join(carrel.Mendable(), ", ")+"; carrel import and carrel export --to convert a conversation")
			case err != nil:
				return err
			}
			if !dry {
				if err := saveRepair(j, res, to); err != nil || j.JSON == "" {
					return err
				}
			}
			res.Data = nil
			return j.Result("repair", res, func(p *out.Page) { printRepair(p, res) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Provider, "provider", "", "whose request it is: anthropic, openai or responses; by default whose it looks like")
	f.BoolVar(&req.WithoutThinking, "without-thinking", false, "take all thinking out")
	job.Offer(cmd, "provider", carrel.Mendable()...)
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	job.Writes(cmd, &dry)
	return cmd
}

// saveRepair writes a request to a file, and a report of the repairs to standard error.
func saveRepair(j *job.Job, res *carrel.RepairResult, to job.Output) error {
	if err := j.Write(to, res.Data); err != nil {
		return err
	}
	for _, f := range res.Repairs {
		j.Note("repaired: %s: %s%s", out.MessageWords(f.Message), f.What, inBrackets(f.Rule))
	}
	if to.ToFile() {
		j.Note("wrote %s: %s, %s bytes, %s", to.File, res.Format, out.Thousands(res.Bytes), out.Count(len(res.Repairs), "repair"))
	}
	return nil
}

func inBrackets(rule string) string {
	if rule == "" {
		return ""
	}
	return " (" + rule + ")"
}

func printRepair(p *out.Page, r *carrel.RepairResult) {
	if r.Intact {
		p.Line("%s ok", r.Format)
		return
	}
	t := &out.Table{Head: []string{"rule", "message", "repair"}}
	for _, f := range r.Repairs {
		t.Add(f.Rule, fmt.Sprint(f.Message), f.What)
	}
	p.Table(t)
}
