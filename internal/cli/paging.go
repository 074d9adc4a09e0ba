package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
)

func newPage(_ *Env, g *globals) *cobra.Command {
	req := &carrel.PageRequest{}
	cmd := &cobra.Command{
		Use:   "page ID...",
		Short: "Put stubs in place of blocks, by hand",
		Long: `Page puts a stub of one line in place of each block that is named, all or not at
all, whatever its score. The stub names the block, what it was and what of it the
rest of the conversation may need; "carrel recall" has the original, and "carrel
undo" takes the pass back. No later compression brings the block back.

A block under a hard rule is refused, and so is one that has left the window, or
whose stub would be no shorter: then nothing is done, the exit code is 9, and each
block that is refused is listed with the reason. See "carrel help budget" for the
rules.`,
		Example: `  carrel page 1f03a9c2
  carrel page 1f03a9c2 77b0e4d1 -n`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: g.completeBlock,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Blocks = args
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				res, err := a.Page(ctx, a.scope, req)
				if err != nil {
					return err
				}
				return g.result(document{name: "page", value: res}, func(p *page) { printPaged(p, res, req.DryRun) })
			})
		},
	}
	writes(cmd, &req.DryRun)
	return cmd
}

func printPaged(p *page, r *carrel.PageResult, dry bool) {
	t := &table{head: []string{"id", "turn", "kind", "", "before", "after"}}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		was := "already"
		if b.Changed {
			was = "now"
		}
		t.add(b.Block, b.Turn, string(b.Kind), was, b.Before, b.After)
	}
	p.table(t)
	if !p.tty {
		p.fields([]any{"session", r.Session}, []any{"op", r.Op}, []any{"before", r.Before}, []any{"after", r.After})
		return
	}
	p.line("")
	p.line("window %s → %s tokens", thousands(int64(r.Before)), thousands(int64(r.After)))
	if r.Op != "" {
		p.line("undo   carrel undo %s --session %s", r.Op, short(r.Session))
	}
	if dry {
		p.line("dry run: nothing was written")
	}
}
