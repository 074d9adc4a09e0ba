package session

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newStats(j *job.Job) *cobra.Command {
	var task int
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "stats [SESSION] [--task N]",
		Short: "Estimate the cost of a conversation's tasks, in tokens",
		Long: `Stats estimates the tokens that each task of a conversation cost. A task begins with
a user's request and ends before the next one. Each reply of the model counts as a call that read
everything before it, as imported; cached tokens count like others. The measure is tokens per
task, not per request, because forgotten text is looked up again at a cost.`,
		Example:           `  carrel context stats @last --task 2`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				res, err := a.Stats(ctx, a.Scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				if cmd.Flags().Changed("task") {
					if task < 1 || task > len(res.Tasks) {
						return out.Usagef("--task: there is no task %d: give 1 to %d", task, len(res.Tasks))
					}
					res.Tasks = res.Tasks[task-1 : task]
				}
				return j.Result("stats", res, func(p *out.Page) { printStats(p, res) })
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().IntVar(&task, "task", 0, "only task `n`, from 1")
	return cmd
}

func printStats(p *out.Page, r *carrel.StatsResult) {
	t := &out.Table{Head: []string{"task", "block", "turns", "calls", "read", "written", "total", "asks"}}
	for i := range r.Tasks {
		k := &r.Tasks[i]
		t.Add(k.Task, k.Block, k.Turns, k.Calls, k.Read, k.Written, k.Total, strings.TrimSpace(k.Preview))
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	if !p.TTY {
		p.Fields([]any{"session", r.Session}, []any{"calls", r.Calls}, []any{"total", r.Total},
			[]any{"tokens_per_task", r.TokensPerTask}, []any{"compressions", r.Rounds})
		return
	}
	p.Line("")
	p.Line("session %s: %s, %s tokens in all, %s", out.Short(r.Session), out.Count(r.Calls, "call"), out.Thousands(r.Total), out.Count(r.Rounds, "compression"))
	p.Line("tokens_per_task %s", out.Thousands(r.TokensPerTask))
}
