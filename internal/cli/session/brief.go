package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func newBrief(j *job.Job) *cobra.Command {
	req := &carrel.BriefRequest{}
	var tokens int
	var purpose, file string
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "brief [SESSION] [--for compaction|restart] [--tokens N]",
		Short: "Print the facts of a conversation that must survive a compaction",
		Long: `Brief prints, within a limit of tokens, the user's tasks and corrections, pins and
rules, the state of the work, decisions, open points, the agent's reports, changed files and the
outcomes of the newest commands, newest first, each with the id of the block that has the whole
text. For a compaction it begins with instructions for the summarizing model. For a restart it
begins with instructions for the agent, and omits everything that the summary in the window says.
"carrel hook" gives it to agents automatically.`,
		Example: `  carrel brief
  carrel brief @last --for compaction --tokens 800`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.OneOf("--for", purpose, string(carrel.PurposeRestart), string(carrel.PurposeCompaction), string(carrel.PurposeMemory)); err != nil {
				return err
			}
			req.For, req.Tokens = carrel.Purpose(purpose), token.Count(tokens)
			ctx := cmd.Context()
			return s.On(ctx, j, file, args, func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Brief(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("brief", res, func(p *out.Page) {
					p.Text(res.Text)
				})
			})
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&purpose, "for", string(carrel.PurposeRestart), "`purpose`: restart, compaction or memory")
	job.Offer(cmd, "for", string(carrel.PurposeRestart), string(carrel.PurposeCompaction), string(carrel.PurposeMemory))
	f.IntVar(&tokens, "tokens", int(carrel.BriefTokens), "how large it may be, in `tokens`")
	f.StringVarP(&file, "file", "f", "", "of a conversation in a `file`, in place of a stored one")
	return cmd
}
