package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/token"
)

func newStash(env *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stash put|get|ls|gc",
		Short: "Keep large outputs outside of the window",
		Long: `The stash keeps what is too large for the window, such as the output of a tool. A
pointer with head and tail of it goes into the window, and get has all of it.
Equal outputs are kept once. What is in the stash lives for 7 days, unless --ttl
says otherwise; gc erases what has expired.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel stash\"", args[0])
			}
			return usagef("stash: name one of put, get, ls, gc")
		},
	}
	cmd.AddCommand(newStashPut(env, g), newStashGet(g), newStashList(g), newStashGC(g))
	return cmd
}

func newStashPut(env *Env, g *globals) *cobra.Command {
	req := &carrel.StashRequest{}
	var ttl, session string
	var tokens int
	var dry bool
	cmd := &cobra.Command{
		Use:   "put [FILE|-] [--title T] [--ttl D] [--session S] [--tokens N]",
		Short: "Take an output in and print a pointer to it",
		Long: `Put keeps a file or standard input and prints the pointer that goes into the
window in its place: how to get all of it, head and tail, and the lines between
them that are most likely to be needed. What looks as if it held a credential is
refused.`,
		Example: `  make test 2>&1 | carrel stash put --title "make test"
  carrel stash put build.log --ttl 1d`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if env.StdinTerminal {
				return usagef("name a file, or - for standard input")
			}
			if ttl != "" {
				if req.TTL, err = parseTTL(ttl); err != nil {
					return usagef("--ttl: %w", err)
				}
			}
			req.Tokens = token.Count(tokens)
			if req.Content, err = g.read(name); err != nil {
				return err
			}
			if req.Title == "" && name != "-" {
				req.Title = titleOf(name)
			}
			ctx := cmd.Context()
			return g.with(ctx, !dry, func(a *access) error {
				e := a.Engine
				if session != "" {
					if req.Session, err = a.sessionID(ctx, session); err != nil {
						return err
					}
				}
				if dry {
					if e, err = a.rehearse(nil); err != nil {
						return err
					}
				}
				res, err := e.Stash(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if dry {
					if !res.Known {
						res.ID = "" // another one was drawn than will be
						res.Pointer = ""
					}
					g.note("dry run: %s bytes would leave %s tok; nothing was written", thousands(res.Bytes), thousands(int64(res.Tokens)))
				}
				return g.result(document{name: "stash", value: res}, func(p *page) {
					if res.Pointer != "" {
						p.text(res.Pointer)
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Title, "title", "", "`title`, such as the command; the name of the file by default")
	f.StringVar(&req.Source, "source", "", "where it comes from: a `text`")
	f.StringVar(&session, "session", "", "`session` whose words say which lines are likely to be needed")
	g.offerSession(cmd)
	f.IntVar(&tokens, "tokens", int(carrel.StashTokens), "size of the pointer, in `tokens`")
	f.StringVar(&ttl, "ttl", "", "how long it lives: a `duration` such as 36h; 7d by default")
	f.BoolVar(&req.AllowSecrets, "allow-secret", false, "let in what looks as if it held a credential")
	f.BoolVar(&req.Redact, "redact", false, "take out addresses of e-mail and numbers of telephones")
	writes(cmd, &dry)
	return cmd
}

func newStashGet(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:               "get ID",
		Short:             "Print the bytes that a pointer stands for",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeStash,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				res, err := a.Get(ctx, a.scope, &carrel.GetRequest{ID: args[0]})
				if err != nil {
					return err
				}
				if g.json != "" {
					res.Content = nil
					return g.result(document{name: "artifact", value: res}, nil)
				}
				return g.write(output{}, res.Content)
			})
		},
	}
}

func newStashList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List what is in the stash",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.listArtifacts(cmd.Context(), &carrel.ArtifactsRequest{Stash: true})
		},
	}
}

func newStashGC(g *globals) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc [-n]",
		Short: "Erase what has expired",
		Long:  "Gc erases what is in the stash and has expired, and whatever was made from it.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				res, err := a.CollectStash(ctx, a.scope, &carrel.CollectRequest{DryRun: dry})
				if err != nil {
					return err
				}
				return g.printRemoval(&removal{"purge", res, dry})
			})
		},
	}
	writes(cmd, &dry)
	return cmd
}

// completeStash offers what is in the stash.
func (g *globals) completeStash(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return g.offerArtifacts(cmd, &carrel.ArtifactsRequest{Stash: true}, nil), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
