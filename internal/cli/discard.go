package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/pager"
)

func newDiscard(_ *Env, g *globals) *cobra.Command {
	req := &carrel.DiscardRequest{}
	var session, to string
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "discard ID... | --auto [SESSION] [--to N]",
		Short: "Take blocks out of the window that are no longer needed",
		Long: `Discard takes blocks out of the window of a conversation: those that are named,
all or not at all, or with --auto those that are needed least, one after the
other, until the window is near a target. They can be recalled, and "carrel
undo" takes a discard back.

These are kept: system text, the first task, the newest user message and its
answer, corrections, code edits unless the file was later written as a whole or
deleted, plans and conclusions, summaries, calls without a result, pins, and the
last blocks. If one of them is named, nothing is done, the exit code is 9, and
each block that is refused is listed with the reason. The same is true of what
would take the window below its floor: 30,000 tokens, or 30% of the context
window if that is less (budget.floor).

With --auto blocks go in this order, and within it the oldest first:

  1  outputs of reading tools, first of files edited or read again since
  2  outputs of commands with a one-time purpose, such as find, rg, go test
  3  quick checks of code
  4  calls that name the conversation
  5  older user messages that were answered
  6  outputs of other commands
  7  other tool calls
  8  older replies

The target is 50,000 tokens, or half of the context window if that is less.
Which tool does what can be set: "carrel help config", tools. If the thinking
of a model is signed, what stands behind the first block that leaves loses it,
as providers refuse it there.`,
		Example: `  carrel discard 1f03a9c2 77b0e4d1
  carrel discard --auto -n
  carrel discard --auto --to 40000 @prev`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if req.Auto {
				return g.completeSession(cmd, args, word)
			}
			return g.completeBlock(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case !req.Auto && len(args) == 0:
				return usagef("discard: name blocks, or let --auto choose them")
			case !req.Auto && to != "":
				return usagef("--to: only --auto has a target")
			case req.Auto && len(args) > 1:
				return usagef("discard: --auto chooses the blocks, and takes one session")
			}
			if to != "" {
				if req.To, err = parseTokens("--to", to); err != nil {
					return err
				}
				if req.To == 0 {
					return usagef("--to: 0 tokens are no target")
				}
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				if err := s.ofDiscard(ctx, a, session, args, req); err != nil {
					return err
				}
				res, err := a.Discard(ctx, a.scope, req)
				if err != nil {
					return err
				}
				return g.result(document{name: "discard", value: res}, func(p *page) { printDiscard(p, res, req.DryRun) })
			})
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.BoolVar(&req.Auto, "auto", false, "choose the blocks by their order")
	f.StringVar(&to, "to", "", "`tokens` that --auto brings the window to")
	f.StringVar(&session, "session", "", "`session` of the blocks; ids tell it by themselves")
	g.offerSession(cmd)
	writes(cmd, &req.DryRun)
	return cmd
}

// ofDiscard fills in which blocks of which session are meant.
func (s *sessionArg) ofDiscard(ctx context.Context, a *access, session string, args []string, req *carrel.DiscardRequest) (err error) {
	if session != "" && (s.word != "" || req.Auto && len(args) > 0) {
		return usagef("--session %s: another session is named, too", session)
	}
	named := cmp.Or(session, s.word)
	switch {
	case req.Auto && session == "":
		req.Session, err = s.find(ctx, a, args)
	case named != "":
		req.Session, err = a.sessionID(ctx, named)
	}
	if !req.Auto {
		req.IDs = args
	}
	return err
}

func printDiscard(p *page, r *carrel.DiscardResult, dry bool) {
	t := &table{head: []string{"id", "turn", "first", "class", "tokens", "preview"}}
	for i := range r.Discarded {
		d := &r.Discarded[i]
		t.add(d.Block, d.Turn, d.Priority, string(d.Class), d.Tokens, d.Preview)
	}
	if len(t.rows) > 0 || !p.tty {
		p.table(t)
	}
	if !p.tty {
		p.fields([]any{"session", r.Session}, []any{"op", r.Op}, []any{"before", r.Before}, []any{"after", r.After},
			[]any{"thinking", r.Thinking}, []any{"target", r.Target}, []any{"floor", r.Floor}, []any{"continue", r.Message})
		return
	}
	if len(t.rows) > 0 {
		p.line("")
	}
	done := "apply"
	if dry {
		done = "would "
	}
	p.line("%-6s %s → %s tokens (%s), target %s, floor %s", done, thousands(int64(r.Before)), thousands(int64(r.After)),
		change(r.Before, r.After), thousands(int64(r.Target)), thousands(int64(r.Floor)))
	if r.Thinking > 0 {
		p.line("       of that %s are thinking that would not be valid any more", thousands(int64(r.Thinking)))
	}
	if r.Op != "" {
		p.line("undo   carrel undo %s --session %s", r.Op, short(r.Session))
	}
	if dry {
		p.line("dry run: nothing was written")
	} else {
		p.line("%s", r.Message)
	}
}

// printRefused lists the blocks that may not be discarded.
func (g *globals) printRefused(refused []pager.Refusal) {
	for _, r := range refused {
		fmt.Fprintf(g.env.Stderr, "  %s  %s\n", visible(r.Block), visible(r.Reason))
	}
}
