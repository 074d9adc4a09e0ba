package session

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

func newCallsShow(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "show CALL",
		Short: "Show one call: its parts, its cost and its cache misses",
		Long: `Show prints the record of one call to a model. CALL is the id of the call, or its
number in the order in which calls began. For a call that Carrel managed, it lists the sizes of
the parts of the sent body: the part that the call before sent, too, the part that the client
added, and the text that Carrel put in the place of messages. For a call that Carrel did not
manage, only the size of the body is recorded. A call from the log of its client has the sizes of
system text and tools, of the messages that the request before had, too, and of the new messages; messages that
are not in the file are counted. If the call could have read more from the
provider's cache, show prints the cause, as far as the calls show it, and the extra cost.`,
		Example: `  carrel calls --limit 5
  carrel calls show 2`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Call(ctx, a.Scope, &carrel.IDRequest{ID: args[0]})
				if errors.Is(err, store.ErrNotFound) {
					return out.Hinted(err, "carrel calls lists the calls of a scope, which --scope names")
				}
				if err != nil {
					return err
				}
				return j.Result("call", res, func(p *out.Page) { printCall(p, res) })
			})
		},
	}
}

func printCall(p *out.Page, c *carrel.CallResult) {
	u := &c.Usage
	rows := [][]any{
		{"call", c.ID},
		{"number", c.Seq},
		{"session", c.Session},
		{"begun", c.Begun},
		{"model", c.Model},
		{"state", string(c.State)},
		{"managed", managedWord(c.Managed)},
		{"why", c.Reason},
		{"epoch", c.Epoch},
		{"came", fmt.Sprintf("%s bytes", p.Number(int64(c.Bytes)))},
		{"sent", fmt.Sprintf("%s bytes", p.Number(int64(c.SentBytes)))},
	}
	if c.Missing > 0 {
		rows = append(rows, []any{"missing", fmt.Sprintf("%d of %d messages are not in the session file", c.Missing, c.Messages)})
	}
	if len(c.Segments) > 0 && c.SentBytes > 0 {
		rows = append(rows, []any{"as before", fmt.Sprintf("%s bytes at the beginning, %s", p.Number(int64(c.Kept)), ratio.Of(c.Kept, c.SentBytes).Percent())})
	}
	if *u != (carrel.Usage{}) {
		rows = append(
			rows, []any{"prompt", u.Prompt()},
			[]any{"read", fmt.Sprintf("%s from the cache, %s", p.Number(int64(u.CacheRead)), out.Percent(u.CacheRead, u.Prompt()))},
			[]any{"written", u.CacheWrite5m + u.CacheWrite1h}, []any{"uncached", u.Input}, []any{"output", u.Output},
		)
	}
	if c.Cost != nil {
		rows = append(rows, []any{"cost", c.Cost.String()})
	}
	if b := c.Break; b != nil {
		rows = append(rows, []any{"cache missed", fmt.Sprintf("%s, by %s: %s tokens sent anew, %s more than reading them", b.Cause, b.By, p.Number(int64(b.Lost)), b.Extra)})
	}
	if c.Manifest != "" {
		rows = append(rows, []any{"manifest", c.Manifest})
	}
	p.Fields(rows...)
	if len(c.Segments) == 0 {
		return
	}
	p.Line("")
	t := &out.Table{Head: []string{"part", "from", "bytes", "origin", "call"}, Whole: true}
	for i := range c.Segments {
		s := &c.Segments[i]
		t.Add(string(s.Kind), s.Start, s.Bytes, string(s.Origin), s.Before)
	}
	p.Table(t)
}
