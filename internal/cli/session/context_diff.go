package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

func newContextDiff(j *job.Job) *cobra.Command {
	req := &carrel.DiffSessionRequest{}
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "diff [SESSION] [FROM] [TO]",
		Short: "Compare the window at two moments: what the last pass dropped",
		Long: `Diff compares the window of a conversation at two moments. It lists the operations
between them and each block that changed. A moment is the id of an operation, and means the window
after it; a revision, as "carrel log --session" lists them; or one of

  start  after the first import
  pass   before the last operation that moved blocks; the default of FROM
  now    the present window; the default of TO

It reads the journal. An operation that was undone is listed with the operation that undid it, and
a block that came back is not listed. Blocks that an import added are only counted.`,
		Example: `  carrel diff
  carrel diff @last start
  carrel diff @last 3 now`,
		Args:              cobra.MaximumNArgs(3),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) > 1 {
				req.From = args[1]
			}
			if len(args) > 2 {
				req.To = args[2]
			}
			return j.With(ctx, false, func(a *job.Access) (err error) {
				if req.Session, err = s.Find(ctx, a, args); err != nil {
					return err
				}
				res, err := a.DiffSession(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("session-diff", res, func(p *out.Page) { printSessionDelta(p, res) })
			})
		},
	}
	s = job.TakesSession(cmd)
	return cmd
}

// momentWords describes a moment of a session: its revision, the kind of change that made the
// revision, and the size of the window.
func momentWords(p *out.Page, m *api.SessionMoment) string {
	window := "unknown"
	if m.Window != nil {
		window = p.Number(int64(*m.Window))
	}
	return fmt.Sprintf("revision %d (%s, %s tokens)", m.Revision, cmp.Or(m.Kind, "begin"), window)
}

func printSessionDelta(p *out.Page, d *carrel.SessionDelta) {
	p.Line("%s → %s", momentWords(p, &d.From), momentWords(p, &d.To))
	sizes := func(n *token.Count) any {
		if n == nil {
			return ""
		}
		return *n
	}
	t := &out.Table{Head: []string{"operation", "time", "what", "who", "blocks", "before", "after", ""}, Whole: true}
	for i := range d.Ops {
		o := &d.Ops[i]
		note := ""
		switch {
		case o.Undone:
			note = "undone"
		case o.Added > 0:
			note = "added " + out.Count(o.Added, "block")
		}
		t.Add(o.Op, o.Time, o.Kind, string(o.Actor), o.Blocks, sizes(o.Before), sizes(o.After), note)
	}
	if len(t.Rows) > 0 {
		p.Line("")
		p.Table(t)
	}
	t = &out.Table{Head: []string{"block", "turn", "kind", "became", "before", "after", "why", "text"}}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		t.Add(b.Block.Short(), b.Turn, string(b.Kind), becameWords(b), b.Before, b.After, cmp.Or(string(b.Rule), string(b.Step)), b.Preview)
	}
	p.Line("")
	if len(t.Rows) == 0 {
		p.Line("every block is as it was")
		return
	}
	p.Table(t)
}

// becameWords describes in words how a block changed, such as "live → stub" or "pinned".
func becameWords(b *api.BlockDelta) string {
	switch {
	case b.From == "" && b.Pinned != nil && *b.Pinned:
		return "pinned"
	case b.From == "" && b.Pinned != nil:
		return "unpinned"
	}
	return fmt.Sprintf("%s → %s", b.From, b.To)
}

// watchEvery is the interval at which a watched conversation is read.
const watchEvery = time.Second

// watchContext prints the parts of the window, now and after each change of the conversation,
// until ctx is done.
func watchContext(ctx context.Context, j *job.Job, a *job.Access, req *carrel.ContextRequest) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := store.Revision(-1); ; {
		info, err := a.Session(ctx, a.Scope, &carrel.SessionRequest{Session: req.Session})
		if err == nil && info.Revision != last {
			var res *carrel.ContextResult
			if res, err = a.Context(ctx, a.Scope, req); err == nil {
				last = res.Revision
				err = j.Result("context", res, func(p *out.Page) { printWatched(p, res, j.Clock()()) })
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// clearScreen clears a terminal and moves the cursor to the top.
const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

// printWatched prints one line with the sizes of the window or, on a terminal, replaces the
// screen by all parts.
func printWatched(p *out.Page, r *carrel.ContextResult, now time.Time) {
	if !p.TTY {
		p.Fields([]any{"context", now, r.Revision, r.Used, r.Capacity, r.Level})
		return
	}
	p.Line("%s%s  revision %d  interrupt to stop", out.Painted(clearScreen), now.Local().Format("15:04:05"), r.Revision)
	printContext(p, r)
}
