package session

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newSearch(j *job.Job) *cobra.Command {
	req := &carrel.SearchRequest{}
	var kind, session string
	cmd := &cobra.Command{
		Use:   "search QUERY [--k N] [--kind KIND] [--session SESSION]",
		Short: "Find blocks by words",
		Long: `Search finds the blocks of all conversations that share words with a query, and the
blocks beside these, because an answer seldom repeats its question. Blocks that have all words
come first, then the best, in the window or not. If there is none, the exit code is 1.`,
		Example: `  carrel search vpn profile
  carrel search --kind tool --session @last "exit code 137"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			if req.Limit < 1 {
				return out.Usagef("--k: %d is below 1", req.Limit)
			}
			if kind != "" {
				if err := out.OneOf("--kind", kind, kinds()...); err != nil {
					return err
				}
				req.Kind = transcript.Kind(kind)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) (err error) {
				if session != "" {
					if req.Session, err = a.SessionID(ctx, session); err != nil {
						return err
					}
				}
				found, err := carrel.Items(a.Search(ctx, a.Scope, req))
				if err != nil {
					return err
				}
				err = j.List("search", &carrel.List[carrel.Found]{Items: found}, "items", func(p *out.Page) {
					if len(found) > 0 {
						p.Table(foundTable(found, p.TTY))
					}
				})
				if err == nil && len(found) == 0 {
					j.Note("carrel: no block has any of these words")
					return out.ErrNo
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&req.Limit, "k", 10, "list the best `n`")
	f.StringVar(&kind, "kind", "", "only blocks of this `kind`: "+strings.Join(kinds(), ", "))
	f.StringVar(&session, "session", "", "only blocks of this `session`")
	job.Offer(cmd, "kind", kinds()...)
	j.OfferSessions(cmd, "session")
	return cmd
}

// foundTable lists search results. On a terminal it leaves out the sessions.
func foundTable(found []carrel.Found, tty bool) *out.Table {
	t := &out.Table{Head: []string{"", "score", "block", "kind", "state", "excerpt"}}
	for i := range found {
		f := &found[i]
		if tty {
			t.Add(i+1, f.Score.Short(), f.Block, string(f.Kind), f.State, f.Line())
		} else {
			t.Add(i+1, f.Score.Short(), f.Block, string(f.Kind), f.State, f.Session, f.Line())
		}
	}
	return t
}

// kinds returns the names of the kinds of blocks.
func kinds() []string {
	var names []string
	for _, k := range [...]transcript.Kind{
		transcript.KindSystem, transcript.KindUser, transcript.KindAssistant, transcript.KindTool, transcript.KindSummary, transcript.KindOrphan,
	} {
		names = append(names, string(k))
	}
	return names
}
