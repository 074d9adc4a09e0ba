package artifact

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

func newLog(j *job.Job) *cobra.Command {
	var since int64
	var limit int
	var session string
	cmd := &cobra.Command{
		Use:   "log [--session ID] [--since VERSION] [--limit N]",
		Short: "List the events of artifacts and contexts, or of a session",
		Long: `Log lists every change to the artifacts and contexts of a scope, newest last:
version, time, event, actor, and ids. It holds no text of an artifact, and entries are never
removed. Memories that the gate refused are not in it, because they changed nothing.

With --session it lists the journal of a conversation instead: every import, pass, pin, discard
and undo, with its revision. "carrel why" shows the entries of one block.`,
		Example: `  carrel log --limit 10
  carrel log --session @last
  carrel log --since 40 --ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case since < 0:
				return out.Usagef("log: --since %d is below 0", since)
			case limit < 0:
				return out.Usagef("log: --limit %d is below 0", limit)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				var entries []store.Entry
				if session == "" {
					var err error
					if entries, err = carrel.Items(a.Log(ctx, a.Scope, &carrel.LogRequest{Since: store.Version(since)})); err != nil {
						return err
					}
				} else {
					id, err := a.FindSession(ctx, a.Scope, &carrel.WordRequest{Word: session})
					if err != nil {
						return err
					}
					if entries, err = carrel.Items(a.Journal(ctx, a.Scope, &carrel.JournalRequest{Session: id.Session, Since: store.Revision(since)})); err != nil {
						return err
					}
				}
				if limit > 0 && len(entries) > limit {
					entries = entries[len(entries)-limit:]
				}
				return printLog(j, entries)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "the journal of a `session`: an id, or @last")
	f.Int64Var(&since, "since", 0, "only events after `version`, or after a revision of the session")
	f.IntVar(&limit, "limit", 0, "only the last `n`; all by default")
	j.OfferSessions(cmd, "session")
	return cmd
}

func printLog(j *job.Job, entries []store.Entry) error {
	value := &carrel.List[store.Entry]{Items: entries}
	return j.List("log", value, "items", func(p *out.Page) {
		t := &out.Table{Head: []string{"version", "time", "what", "who", "about"}}
		for i := range entries {
			e := &entries[i]
			t.Add(int64(e.Revision), e.Time, e.Op, string(e.Actor), string(e.Data))
		}
		if len(entries) > 0 {
			p.Table(t)
		}
	})
}
