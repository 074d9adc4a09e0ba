package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A levelResult says how full a window is.
type levelResult struct {
	Level     pager.Level          `json:"level"`
	Session   transcript.SessionID `json:"session,omitempty"`
	Used      token.Count          `json:"used"`
	Window    token.Count          `json:"window"`
	Effective token.Count          `json:"effective"`
	Figures   pager.Figures        `json:"figures"`
}

func newLevel(j *job.Job) *cobra.Command {
	var in gauge
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "level [SESSION] | --used N --window N [--effective N]",
		Short: "Say how full a window is, by the exit code",
		Long: `Level prints how full the window of a conversation is, as a share of what of the
context window is of use: ok, warn from 60%, compress from 70%, critical from
90%. The exit code is 0 below compress, and 1 from there on.

What is of use is 80% of the context window, or what --effective, budget.effective
or CARREL_EFFECTIVE_CONTEXT say. The edges are budget.warn, budget.compress and
budget.critical.`,
		Example: `  carrel level --used 112000 --window 200000 --effective 160000
  carrel level || carrel compress`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, load, window, err := in.read(cmd, j)
			if err != nil {
				return err
			}
			if load != nil {
				if len(args) > 0 || s.Word != "" {
					return out.Usagef("level: a session and figures are two questions")
				}
				return printLevel(j, &levelResult{t.Level(load.Used, load.Effective), "", load.Used, window, load.Effective, t.Figures(window)})
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
				return printLevel(j, &levelResult{res.Level, res.Session, res.Used, res.Window, res.Effective, res.Figures})
			})
		},
	}
	s = job.TakesSession(cmd)
	in.register(cmd)
	return cmd
}

// print prints a level, and for a terminal what it is measured by.
func (r *levelResult) print(p *out.Page) {
	p.Line("%s", r.Level)
	if p.TTY && r.Figures.Effective > 0 {
		p.Line("%s; compress cuts to %s", measureWords(r.Used, &r.Figures), out.Thousands(r.Figures.Target))
	}
}

// printLevel prints a level. It is no error that it is high.
func printLevel(j *job.Job, res *levelResult) error {
	if err := j.Result("level", res, res.print); err != nil {
		return err
	}
	if res.Level == pager.LevelCompress || res.Level == pager.LevelCritical {
		return out.ErrNo
	}
	return nil
}
