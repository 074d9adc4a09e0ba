package cli

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/store"
)

func newLog(_ *Env, g *globals) *cobra.Command {
	var since int64
	var limit int
	cmd := &cobra.Command{
		Use:   "log [--since VERSION] [--limit N]",
		Short: "List what happened to artifacts and contexts",
		Long: `Log lists every change to the artifacts and contexts of a scope, newest last: the
version that it made, when, what, by whom, and about which ids. It holds no text
of an artifact, and nothing is ever taken out of it. What the gate refused is not
in it, as it changed nothing.

What happened to a block of a conversation is told by "carrel why".`,
		Example: `  carrel log --limit 10
  carrel log --since 40 --ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since < 0 || limit < 0 {
				return usagef("log: --since and --limit must not be below 0")
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				entries, err := a.Log(ctx, a.scope, store.Version(since))
				if err != nil {
					return err
				}
				if limit > 0 && len(entries) > limit {
					entries = entries[len(entries)-limit:]
				}
				lines := make([]logLine, 0, len(entries))
				for i := range entries {
					e := &entries[i]
					lines = append(lines, logLine{int64(e.Revision), e.Time, e.Op, string(e.Actor), e.ID, e.Data})
				}
				return g.result(document{"log", map[string]any{"entries": lines}, "entries"}, func(p *page) {
					t := &table{head: []string{"version", "time", "what", "who", "about"}}
					for i := range lines {
						l := &lines[i]
						t.add(l.Version, l.Time, l.Op, l.Actor, string(l.Data))
					}
					if len(lines) > 0 {
						p.table(t)
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.Int64Var(&since, "since", 0, "only what came after `version`")
	f.IntVar(&limit, "limit", 0, "only the last `n`; all by default")
	return cmd
}

// A logLine is an entry of the log.
type logLine struct {
	Version int64           `json:"version"` // that the change made
	Time    time.Time       `json:"time"`
	Op      string          `json:"op"`
	Actor   string          `json:"actor"`
	ID      string          `json:"id"`
	Data    json.RawMessage `json:"data"`
}
