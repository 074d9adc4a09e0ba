package artifact

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/token"
)

func newStash(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stash put|get|ls|gc",
		Short: "Keep large outputs outside of the window",
		Long: `The stash stores texts that are too large for the window, such as the output of a
tool. A pointer with the head and the tail goes into the window, and get returns the whole text.
Equal outputs are stored once. A stashed output expires after 7 days, unless --ttl says otherwise;
gc erases expired ones.`,
		Example: `  make test 2>&1 | carrel stash put --title "make test"`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return out.Usagef("unknown command %q for \"carrel stash\"", args[0])
			}
			return out.Usagef("stash: name one of put, get, ls, gc")
		},
	}
	cmd.AddCommand(newStashPut(j), newStashGet(j), newStashList(j), newStashGC(j))
	return cmd
}

func newStashPut(j *job.Job) *cobra.Command {
	req := &carrel.StashRequest{}
	var ttl, session string
	var tokens int
	var dry bool
	cmd := &cobra.Command{
		Use:   "put [FILE|-] [--title T] [--ttl D] [--session S] [--tokens N]",
		Short: "Take an output in and print a pointer to it",
		Long: `Put stores a file or standard input and prints the pointer for the window: the
command that returns the whole text, its head and tail, and the lines between them that are most
likely needed. Content that looks as if it held a credential is refused.`,
		Example: `  make test 2>&1 | carrel stash put --title "make test"
  carrel stash put build.log --ttl 1d`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if j.StdinTerminal {
				return out.Usagef("name a file, or - for standard input")
			}
			if ttl != "" {
				if req.TTL, err = job.ParseTTL(ttl); err != nil {
					return out.Usagef("--ttl: %w", err)
				}
			}
			req.Tokens = token.Count(tokens)
			if req.Content, err = j.Read(name); err != nil {
				return err
			}
			if req.Title == "" && name != "-" {
				req.Title = titleOf(name)
			}
			ctx := cmd.Context()
			return j.With(ctx, !dry, func(a *job.Access) error {
				e := a.Engine
				if session != "" {
					if req.Session, err = a.SessionID(ctx, session); err != nil {
						return err
					}
				}
				if dry {
					if e, err = a.DryRun(nil); err != nil {
						return err
					}
				}
				res, err := e.Stash(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				if dry {
					if !res.Known {
						res.ID = "" // the real id will be another one
						res.Pointer = ""
					}
					j.Note("dry run: %s bytes would leave %s tok; nothing was written", out.Thousands(res.Bytes), out.Thousands(res.Tokens))
				}
				return j.Result("stash", res, func(p *out.Page) {
					if res.Pointer != "" {
						p.Text(res.Pointer)
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Title, "title", "", "`title`, such as the command; the name of the file by default")
	f.StringVar(&req.Source, "source", "", "where it comes from: a `text`")
	f.StringVar(&session, "session", "", "`session` whose words say which lines are likely to be needed")
	j.OfferSessions(cmd, "session")
	f.IntVar(&tokens, "tokens", int(carrel.StashTokens), "size of the pointer, in `tokens`")
	f.StringVar(&ttl, "ttl", "", "how long it lives: a `duration` such as 36h; 7d by default")
	f.BoolVar(&req.AllowSecrets, "allow-secret", false, "accept content that looks as if it held a credential")
	f.BoolVar(&req.Redact, "redact", false, "take out addresses of e-mail and numbers of telephones")
	job.Writes(cmd, &dry)
	return cmd
}

func newStashGet(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:               "get ID",
		Short:             "Print the stashed output of a pointer",
		Example:           `  carrel stash get 9c04b1de > output.txt`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, j.CompleteArtifacts(carrel.ArtifactsRequest{Stash: true})),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Get(ctx, a.Scope, &carrel.GetRequest{ID: args[0]})
				if err != nil {
					return err
				}
				if j.JSON != "" {
					res.Content = nil
					return j.Result("artifact", res, nil)
				}
				return j.Write(job.Output{}, res.Content)
			})
		},
	}
}

func newStashList(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Short:   "List the stash",
		Example: `  carrel stash ls`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listArtifacts(cmd.Context(), j, &carrel.ArtifactsRequest{Stash: true})
		},
	}
}

func newStashGC(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:     "gc [-n]",
		Short:   "Erase expired outputs",
		Long:    "Gc erases expired outputs from the stash, and everything derived from them.",
		Example: `  carrel stash gc -n`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.CollectStash(ctx, a.Scope, &carrel.CollectRequest{DryRun: dry})
				if err != nil {
					return err
				}
				return printRemoval(j, &removal{"purge", res, dry})
			})
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}
