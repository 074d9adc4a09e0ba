package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

func newSearch(_ *Env, g *globals) *cobra.Command {
	req := &carrel.SearchRequest{}
	var kind, session string
	cmd := &cobra.Command{
		Use:   "search QUERY [--k N] [--kind KIND] [--session SESSION]",
		Short: "Find blocks by words",
		Long: `Search finds the blocks of all conversations that share words with a query, best
first, whether they are in the window or not. If there is none, the exit code
is 1.`,
		Example: `  carrel search vpn profile
  carrel search --kind tool --session @last "exit code 137"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			if req.Limit < 1 {
				return usagef("--k: %d is below 1", req.Limit)
			}
			if kind != "" {
				if err := oneOf("--kind", kind, kinds()...); err != nil {
					return err
				}
				req.Kind = transcript.Kind(kind)
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) (err error) {
				if session != "" {
					if req.Session, err = a.sessionID(ctx, session); err != nil {
						return err
					}
				}
				found, err := carrel.Items(a.Search(ctx, a.scope, req))
				if err != nil {
					return err
				}
				err = g.result(document{"search", map[string]any{"found": append([]carrel.Found{}, found...)}, "found"}, func(p *page) {
					if len(found) > 0 {
						p.table(foundTable(found, p.tty))
					}
				})
				if err == nil && len(found) == 0 {
					g.note("carrel: no block has any of these words")
					return errNo
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&req.Limit, "k", 10, "list the best `n`")
	f.StringVar(&kind, "kind", "", "only blocks of this `kind`: "+strings.Join(kinds(), ", "))
	f.StringVar(&session, "session", "", "only blocks of this `session`")
	offer(cmd, "kind", kinds()...)
	g.offerSession(cmd)
	return cmd
}

// foundTable lists what was found. A terminal has no room for the sessions.
func foundTable(found []carrel.Found, tty bool) *table {
	t := &table{head: []string{"", "score", "block", "kind", "state", "excerpt"}}
	for i := range found {
		f := &found[i]
		if tty {
			t.add(i+1, f.Score.Short(), f.Block, string(f.Kind), f.State, f.Excerpt)
		} else {
			t.add(i+1, f.Score.Short(), f.Block, string(f.Kind), f.State, f.Session, f.Excerpt)
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
