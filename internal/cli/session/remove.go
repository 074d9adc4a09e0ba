package session

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

// A removalFunc is an operation that removes, restores or purges a session.
type removalFunc = func(e *carrel.Engine, ctx context.Context, scope governance.Scope, req *carrel.SessionRequest) (*carrel.SessionRemoval, error)

func newSessionsRemove(j *job.Job) *cobra.Command {
	var undo, dry bool
	cmd := &cobra.Command{
		Use:   "rm SESSION [--undo]",
		Short: "Take a conversation out of use",
		Long: `Rm takes a conversation out of use: commands no longer list, find or recall it, and
hooks and imports do not continue it. Its text is kept, and --undo brings it back unchanged.
"carrel sessions --removed" lists removed conversations. To erase a conversation, see "carrel
sessions purge".`,
		Example: `  carrel sessions rm 5f0c2a7e
  carrel sessions rm --undo 5f0c2a7e`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			do := (*carrel.Engine).RemoveSession
			if undo {
				do = (*carrel.Engine).RestoreSession
			}
			return retire(cmd.Context(), j, args[0], dry, do, nil)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "bring back removed conversations")
	job.Writes(cmd, &dry)
	return cmd
}

func newSessionsPurge(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "purge SESSION [-y]",
		Short: "Erase a conversation for good",
		Long: `Purge erases a conversation for good and everything derived from it: all imported
versions, summaries, stubs, its contract, its search index, its parts of contexts, memories from
those contexts, and conversations that began with a packet of it. IDs, figures, commitments and
the journal stay; the last entry of the journal is the receipt. Its file is imported again only
with --anew. Conversations whose contract inherited from its contract keep their inheritance and
are listed.

It does not touch files of other programs and backups. On a terminal it asks first, unless -y is
given.`,
		Example: `  carrel sessions purge -n 5f0c2a7e
  carrel sessions purge -y 5f0c2a7e`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			asks, err := j.Asks(cmd)
			if err != nil {
				return err
			}
			ask := func(res *carrel.SessionRemoval) bool {
				return !asks || j.Ask(fmt.Sprintf("erase %s, %s, for good", out.Count(1+len(res.Derived), "conversation"), out.Count(res.Cells, "cell")))
			}
			return retire(cmd.Context(), j, args[0], dry, (*carrel.Engine).PurgeSession, ask)
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

// retire applies a removalFunc to the session that the argument word names. If ask is not nil, it
// first shows the expected result to the function ask, and goes on only if that returns true.
func retire(ctx context.Context, j *job.Job, word string, dry bool, do removalFunc, ask func(*carrel.SessionRemoval) bool) error {
	return j.With(ctx, false, func(a *job.Access) error {
		id, err := a.FindSession(ctx, a.Scope, &carrel.WordRequest{Word: word})
		if err != nil {
			return err
		}
		e := a.Engine
		if dry || ask != nil {
			trial, err := a.DryRun(nil)
			if err != nil {
				return err
			}
			res, err := do(trial, ctx, a.Scope, &carrel.SessionRequest{Session: id.Session})
			if err != nil || dry {
				return printRetired(j, res, err, true)
			}
			if !ask(res) {
				j.Note("nothing was erased")
				return out.ErrNo
			}
		}
		res, err := do(e, ctx, a.Scope, &carrel.SessionRequest{Session: id.Session})
		return printRetired(j, res, err, false)
	})
}

func printRetired(j *job.Job, res *carrel.SessionRemoval, err error, dry bool) error {
	if err != nil {
		return err
	}
	return j.Result("session-removal", res, func(p *out.Page) {
		word := map[store.Status]string{store.StatusTombstoned: "removed", store.StatusLive: "restored", store.StatusPurged: "purged"}[res.Status]
		t := &out.Table{Whole: true}
		t.Add(res.Session, word)
		for _, id := range res.Derived {
			t.Add(id, word+" too")
		}
		for _, id := range res.Memories {
			t.Add(id, "memory "+word+" too")
		}
		for _, id := range res.Heirs {
			t.Add(id, "keeps its inheritance")
		}
		p.Table(t)
		if p.TTY && res.Cells > 0 {
			p.Line("%s erased, receipt %s", out.Count(res.Cells, "cell"), res.Op)
		}
		if dry && p.TTY {
			p.Line("dry run: nothing was written")
		}
	})
}
