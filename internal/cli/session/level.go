package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager"
)

func newLevel(j *job.Job) *cobra.Command {
	var in gauge
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "level [SESSION] | --used N --window N [--effective N]",
		Short: "Say how full a window is, by the exit code",
		Long: `Level prints how full the window of a conversation is: ok, warn from 60% of the
effective window on, compress from 70%, critical from 90%. The exit code is 0 for ok and warn, and
1 for compress and critical.

The effective window is 80% of the context window, or the tokens in --effective, budget.effective
or CARREL_EFFECTIVE_CONTEXT. The settings budget.warn, budget.compress and budget.critical change
the shares.

Instead of a conversation it takes figures: --used tokens of --window.`,
		Example: `  carrel context level --used 112000 --window 200000 --effective 160000
  carrel context level || carrel compress`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, load, window, err := in.read(cmd, j)
			if err != nil {
				return err
			}
			if load != nil {
				if len(args) > 0 || s.Word != "" {
					return out.Usagef("level: give a session or figures, not both")
				}
				return printLevel(j, &carrel.TriggerResult{
					Advice: *t.Due(load), Figures: t.Figures(window), Used: load.Used, Window: window, Effective: load.Effective,
				})
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				id, err := s.Find(ctx, a, args)
				if err != nil {
					return err
				}
				res, err := a.Trigger(ctx, a.Scope, &carrel.TriggerRequest{Session: id, Window: window, Trigger: t})
				if err != nil {
					return err
				}
				return printLevel(j, res)
			})
		},
	}
	s = job.TakesSession(cmd)
	in.register(cmd)
	return cmd
}

// printLevel prints a level, and on a terminal the figures behind it. For the levels compress and
// critical it returns [out.ErrNo], for the exit code 1.
func printLevel(j *job.Job, res *carrel.TriggerResult) error {
	err := j.Result("level", res, func(p *out.Page) {
		p.Line("%s", res.Level)
		if p.TTY && res.Figures.Effective > 0 {
			p.Line("%s; compress cuts to %s", measureWords(res.Used, &res.Figures), out.Thousands(res.Figures.Target))
		}
	})
	if err != nil {
		return err
	}
	if res.Level == pager.LevelCompress || res.Level == pager.LevelCritical {
		return out.ErrNo
	}
	return nil
}
