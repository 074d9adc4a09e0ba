package admin

import (
	"fmt"

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
		Long: `Repair mends a request by the rules of its provider, in this order: calls with the
same id get ids of their own, results go behind their calls, a call that nobody
answered gets a result that says so, a result without a call becomes a quotation,
and what remains is put where the provider wants it. Each repair is listed with
the rule that was broken. What is not mended keeps its bytes, and a request that
breaks no rule comes out byte for byte.

Where something is wrong that cannot be mended, nothing is written and the exit
code is 1; the rules are listed.

--without-thinking takes all thinking out: for a request that was refused because
of the signature of its thinking, which only the provider can check.`,
		Example: `  carrel repair request.json --provider anthropic -o mended.json
  carrel repair request.json -n`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if !to.ToFile() && j.JSON != "" && !dry {
				return out.Usagef("--json: name a file with -o, as standard output holds one document")
			}
			if req.Name = args[0]; req.Name == "-" {
				req.Name = ""
			}
			if req.Data, err = j.Read(args[0]); err != nil {
				return err
			}
			res, err := carrel.Repair(req)
			if err != nil {
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

// saveRepair writes a request to a file, and what was mended to standard error.
func saveRepair(j *job.Job, res *carrel.RepairResult, to job.Output) error {
	if err := j.Write(to, res.Data); err != nil {
		return err
	}
	for _, f := range res.Repairs {
		j.Note("repaired: message %d: %s%s", f.Message, f.What, inBrackets(f.Rule))
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
	t := &out.Table{Head: []string{"rule", "message", "what was mended"}}
	for _, f := range r.Repairs {
		t.Add(f.Rule, fmt.Sprint(f.Message), f.What)
	}
	p.Table(t)
}
