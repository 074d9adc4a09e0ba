package session

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// discardFlags are the flags of discard that need parsing before they fill the request.
type discardFlags struct{ session, to string }

func newDiscard(j *job.Job) *cobra.Command {
	req := &carrel.DiscardRequest{}
	var fl discardFlags
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "discard ID... | --auto [SESSION] [--to N]",
		Short: "Take blocks out of the window that are no longer needed",
		Long: `Discard takes blocks out of the window of a conversation: the named blocks, all of
them or none, or with --auto the blocks that are needed least, one after the other, until the
window is near a target. "carrel recall" returns the text of a discarded block, and "carrel undo"
takes a discard back.

Rules keep these blocks: system text, the first task, the newest user message and its answer,
corrections, code edits unless the file was later written as a whole or deleted, plans and
conclusions, summaries, calls without a result, pinned blocks, and the last blocks. If a named
block is among them, nothing is changed, the exit code is 9, and each refused block is listed with
the reason. The same happens if the window would fall below its floor (budget.floor): 30,000
tokens, but at most 30% of the context window and 3/8 of the effective window.

With --auto blocks leave in this order, and within it the oldest first:

  1  results of tools that read, first of files that were edited or read again
  2  results of commands with a one-time purpose, such as find, rg, go test
  3  quick checks of code
  4  calls that name the conversation
  5  older user messages that were answered
  6  results of other commands
  7  other tool calls
  8  older replies

The target is 50,000 tokens, but at most half of the context window and 5/8 of the effective
window: "carrel help context level". The setting tools says what an unknown tool does: "carrel help
config". If the model's thinking is signed, the messages after the first discarded block lose their
thinking, because providers would refuse its signature there.`,
		Example: `  carrel discard 1f03a9c2 77b0e4d1
  carrel discard --auto -n
  carrel discard --auto --to 40000 @prev`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if req.Auto {
				return j.CompleteSession(cmd, args, word)
			}
			return j.CompleteBlock(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fl.fill(req, args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				if err := fl.choose(ctx, a, s, req, args); err != nil {
					return err
				}
				res, err := a.Discard(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("discard", res, func(p *out.Page) { printDiscard(p, res, req.DryRun) })
			})
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.BoolVar(&req.Auto, "auto", false, "choose the blocks by their order")
	f.StringVar(&fl.to, "to", "", "`tokens` that --auto brings the window to")
	f.StringVar(&fl.session, "session", "", "`session` of the blocks; not needed with ids")
	j.OfferSessions(cmd, "session")
	job.Writes(cmd, &req.DryRun)
	return cmd
}

// fill parses the flags into a request.
func (fl *discardFlags) fill(req *carrel.DiscardRequest, args []string) (err error) {
	switch {
	case !req.Auto && len(args) == 0:
		return out.Usagef("discard: name blocks, or let --auto choose them")
	case !req.Auto && fl.to != "":
		return out.Usagef("--to: needs --auto, as only an automatic discard has a target")
	case req.Auto && len(args) > 1:
		return out.Usagef("discard: --auto chooses the blocks, and takes one session")
	}
	if fl.to != "" {
		if req.To, err = job.ParseTokens("--to", fl.to); err != nil {
			return err
		}
		if req.To == 0 {
			return out.Usagef("--to: the target must be above 0 tokens")
		}
	}
	return nil
}

// choose sets the session and the blocks of a request.
func (fl *discardFlags) choose(ctx context.Context, a *job.Access, s *job.SessionArg, req *carrel.DiscardRequest, args []string) (err error) {
	if fl.session != "" && (s.Word != "" || req.Auto && len(args) > 0) {
		return out.Usagef("--session %s: the session is named twice: give only --session or the argument", fl.session)
	}
	named := cmp.Or(fl.session, s.Word)
	switch {
	case req.Auto && fl.session == "":
		req.Session, err = s.Find(ctx, a, args)
	case named != "":
		req.Session, err = a.SessionID(ctx, named)
	}
	if !req.Auto {
		req.IDs = args
	}
	return err
}

func printDiscard(p *out.Page, r *carrel.DiscardResult, dry bool) {
	t := &out.Table{Head: []string{"id", "turn", "first", "class", "tokens", "preview"}}
	for i := range r.Discarded {
		d := &r.Discarded[i]
		t.Add(d.Block, d.Turn, d.Priority, string(d.Class), d.Tokens, d.Preview)
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	if !p.TTY {
		p.Fields([]any{"session", r.Session}, []any{"op", r.Op}, []any{"before", r.Before}, []any{"after", r.After},
			[]any{"thinking", r.Thinking}, []any{"target", r.Target}, []any{"floor", r.Floor}, []any{"continue", r.Message})
		return
	}
	if len(t.Rows) > 0 {
		p.Line("")
	}
	done := "apply"
	if dry {
		done = "would "
	}
	p.Line("%-6s %s → %s tokens (%s), target %s, floor %s", done, out.Thousands(r.Before), out.Thousands(r.After),
		change(r.Before, r.After), out.Thousands(r.Target), out.Thousands(r.Floor))
	if r.Thinking > 0 {
		p.Line("       of that %s are thinking that would not be valid any more", out.Thousands(r.Thinking))
	}
	if r.Op != "" {
		p.Line("undo   carrel undo %s --session %s", r.Op, out.Short(r.Session))
	}
	if dry {
		p.Line("dry run: nothing was written")
	} else {
		p.Line("%s", r.Message)
	}
}
