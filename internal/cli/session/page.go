package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

func newPage(j *job.Job) *cobra.Command {
	req := &carrel.PageRequest{}
	cmd := &cobra.Command{
		Use:   "page ID...",
		Short: "Put stubs in place of blocks, by hand",
		Long: `Page puts a stub of one line in place of each named block, all or none, without
regard to their scores. The stub names the block, its kind, and the identifiers that the rest of the
conversation may need; "carrel recall" returns the original, and "carrel undo" takes the pass
back. No later compression brings the blocks back.

A block is refused if a hard rule keeps it, if it has left the window, or if its stub would not be
shorter: then nothing is changed, the exit code is 9, and each refused block is listed with the
reason. See "carrel help budget" for the rules.`,
		Example: `  carrel page 1f03a9c2
  carrel page 1f03a9c2 77b0e4d1 -n`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: j.CompleteBlock,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Blocks = args
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Page(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("page", res, func(p *out.Page) { printPaged(p, res, req.DryRun) })
			})
		},
	}
	job.Writes(cmd, &req.DryRun)
	return cmd
}

func printPaged(p *out.Page, r *carrel.PageResult, dry bool) {
	t := &out.Table{Head: []string{"id", "turn", "kind", "", "before", "after"}}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		was := "already"
		if b.Changed {
			was = "now"
		}
		t.Add(b.Block, b.Turn, string(b.Kind), was, b.Before, b.After)
	}
	p.Table(t)
	if !p.TTY {
		p.Fields([]any{"session", r.Session}, []any{"op", r.Op}, []any{"before", r.Before}, []any{"after", r.After})
		return
	}
	p.Line("")
	p.Line("window %s → %s tokens", out.Thousands(r.Before), out.Thousands(r.After))
	if r.Op != "" {
		p.Line("undo   carrel undo %s --session %s", r.Op, out.Short(r.Session))
	}
	if dry {
		p.Line("dry run: nothing was written")
	}
}
