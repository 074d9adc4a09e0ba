package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
)

func newUndo(_ *Env, g *globals) *cobra.Command {
	req := &carrel.UndoRequest{}
	var session string
	cmd := &cobra.Command{
		Use:   "undo [OP] [--session SESSION]",
		Short: "Take back the last compression, discard or pin",
		Long: `Undo takes back the last operation on a conversation that is not undone yet: its
window is then what it was before, exactly, and so are its pins. An import is
not undone, as it takes nothing away.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				req.Op = args[0]
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) (err error) {
				if session != "" || req.Op == "" {
					if req.Session, err = a.sessionID(ctx, session); err != nil {
						return err
					}
				}
				res, err := a.Undo(ctx, a.scope, req)
				if err != nil {
					return err
				}
				return g.result(document{name: "undo", value: res}, func(p *page) {
					if !p.tty {
						p.fields([]any{"session", res.Session}, []any{"op", res.Op}, []any{"undone", res.Undone}, []any{"kind", res.Kind},
							[]any{"blocks", res.Blocks}, []any{"before", res.Before}, []any{"after", res.After})
						return
					}
					p.line("undone %s (%s): %s, %s → %s tokens", res.Undone, res.Kind, count(res.Blocks, "block"),
						thousands(int64(res.Before)), thousands(int64(res.After)))
					if req.DryRun {
						p.line("dry run: nothing was written")
					}
				})
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`session` whose last operation is meant (the last one by default)")
	g.offerSession(cmd)
	writes(cmd, &req.DryRun)
	return cmd
}
