package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

func newStats(_ *Env, g *globals) *cobra.Command {
	var task int
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "stats [SESSION] [--task N]",
		Short: "Estimate what the tasks of a conversation cost, in tokens",
		Long: `Stats estimates what each task of a conversation cost: a task is what a person
asks for, up to what is asked next. Each reply of the model is a call that read
all that was said before, as it was imported; what a provider caches is counted
like the rest. Tokens per task, not per request, are what counts: what is saved
by forgetting is spent again by looking it up.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				res, err := a.Stats(ctx, a.scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				if cmd.Flags().Changed("task") {
					if task < 1 || task > len(res.Tasks) {
						return usagef("--task: there are tasks 1 to %d, and no %d", len(res.Tasks), task)
					}
					res.Tasks = res.Tasks[task-1 : task]
				}
				return g.result(document{name: "stats", value: res}, func(p *page) { printStats(p, res) })
			})
		},
	}
	s = takesSession(cmd)
	cmd.Flags().IntVar(&task, "task", 0, "only task `n`, from 1")
	return cmd
}

func printStats(p *page, r *carrel.StatsResult) {
	t := &table{head: []string{"task", "block", "turns", "calls", "read", "written", "total", "asks"}}
	for i := range r.Tasks {
		k := &r.Tasks[i]
		t.add(k.Task, k.Block, k.Turns, k.Calls, k.Read, k.Written, k.Total, strings.TrimSpace(k.Preview))
	}
	if len(t.rows) > 0 || !p.tty {
		p.table(t)
	}
	if !p.tty {
		p.fields([]any{"session", r.Session}, []any{"calls", r.Calls}, []any{"total", r.Total},
			[]any{"tokens_per_task", r.TokensPerTask}, []any{"compressions", r.Rounds})
		return
	}
	p.line("")
	p.line("session %s: %s, %s tokens in all, %s", short(r.Session), count(r.Calls, "call"), thousands(int64(r.Total)), count(r.Rounds, "compression"))
	p.line("tokens_per_task %s", thousands(int64(r.TokensPerTask)))
}
