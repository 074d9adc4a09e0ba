package session

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

func newUndo(j *job.Job) *cobra.Command {
	req := &carrel.UndoRequest{}
	var session string
	cmd := &cobra.Command{
		Use:   "undo [OP] [--session SESSION]",
		Short: "Take back the last compression, discard or pin",
		Long: `Undo takes back the last operation on a conversation that is not undone yet. The
window and the pins are then exactly as before the operation. An import is never undone, because
it removes nothing.`,
		Example: `  carrel undo -n
  carrel undo --session @prev`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				req.Op = args[0]
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) (err error) {
				if session != "" || req.Op == "" {
					if req.Session, err = a.SessionID(ctx, session); err != nil {
						return err
					}
				}
				res, err := a.Undo(ctx, a.Scope, req)
				if req.Op != "" && errors.Is(err, store.ErrNotFound) {
					return out.Hinted(err, "without an id, carrel undo takes back the last operation of a session; carrel undo -n names it")
				}
				if err != nil {
					return err
				}
				return j.Result("undo", res, func(p *out.Page) {
					if !p.TTY {
						p.Fields([]any{"session", res.Session}, []any{"op", res.Op}, []any{"undone", res.Undone}, []any{"kind", res.Kind},
							[]any{"blocks", res.Blocks}, []any{"before", res.Before}, []any{"after", res.After})
						return
					}
					p.Line("undone %s (%s): %s, %s → %s tokens", res.Undone, res.Kind, out.Count(res.Blocks, "block"),
						out.Thousands(res.Before), out.Thousands(res.After))
					if req.DryRun {
						p.Line("dry run: nothing was written")
					}
				})
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`session` whose last operation is meant (the last one by default)")
	j.OfferSessions(cmd, "session")
	job.Writes(cmd, &req.DryRun)
	return cmd
}
