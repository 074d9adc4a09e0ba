package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// headline returns what tells a session from others.
func headline(s *carrel.SessionInfo) string { return cmp.Or(s.Title, s.Project, s.File) }

// marked returns a headline with the mark of a session in front, or what became of it.
func marked(s *carrel.SessionInfo) string {
	switch s.Status {
	case store.StatusTombstoned:
		return strings.TrimSpace("[removed] " + headline(s))
	case store.StatusPurged:
		return "[purged]"
	case store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted: // which no session is
	}
	if s.Critical {
		return "[critical] " + headline(s)
	}
	return headline(s)
}

func newSessions(_ *Env, g *globals) *cobra.Command {
	var limit int
	var project string
	var removed bool
	list := func(cmd *cobra.Command, _ []string) error {
		return g.with(cmd.Context(), false, func(a *access) error {
			infos, err := a.sessions(cmd.Context(), removed)
			if err != nil {
				return err
			}
			infos = ofProject(infos, project)
			if limit > 0 {
				infos = infos[:min(limit, len(infos))]
			}
			return g.result(document{"sessions", map[string]any{"sessions": infos}, "sessions"}, func(p *page) {
				t := &table{head: []string{"session", "used", "project", "messages", "tokens", "window", "title"}}
				for i := range infos {
					s := &infos[i]
					t.add(s.Session, p.when(s.Updated, g.clock()()), baseOf(s.Project), s.Messages, s.Tokens, s.Window, marked(s))
				}
				if len(infos) > 0 {
					p.table(t)
				}
			})
		})
	}
	cmd := &cobra.Command{
		Use:   "sessions [list|show|mark|rm|purge]",
		Short: "List the conversations that are stored",
		Long: `Sessions lists the conversations that are stored, last used first: when that was,
the name of the directory that they were held in, the tokens that were imported and
those in the window now. With --removed it lists those that were removed or purged.`,
		Args: cobra.NoArgs,
		RunE: list,
	}
	flags := func(c *cobra.Command) {
		c.Flags().IntVar(&limit, "limit", 0, "list `n` at most")
		c.Flags().BoolVar(&removed, "removed", false, "list those that were removed or purged")
		c.Flags().StringVar(&project, "project", "", "list those of a working `directory` only, or of one below it")
	}
	flags(cmd)
	sub := &cobra.Command{Use: "list", Short: "List the conversations that are stored", Args: cobra.NoArgs, RunE: list}
	flags(sub)
	cmd.AddCommand(sub, newSessionsShow(g), newSessionsMark(g), newSessionsRemove(g), newSessionsPurge(g))
	return cmd
}

// sessions returns the sessions that are in use, or those that are not.
func (a *access) sessions(ctx context.Context, removed bool) ([]carrel.SessionInfo, error) {
	if removed {
		return carrel.Items(a.RemovedSessions(ctx, a.scope, &carrel.None{}))
	}
	return carrel.Items(a.Sessions(ctx, a.scope, &carrel.SessionsRequest{}))
}

// baseOf returns the name of a directory, whichever system its path is of.
func baseOf(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// ofProject returns the sessions of a working directory and those below it.
func ofProject(infos []carrel.SessionInfo, project string) []carrel.SessionInfo {
	kept := make([]carrel.SessionInfo, 0, len(infos))
	for i := range infos {
		if project == "" || within(infos[i].Project, project) {
			kept = append(kept, infos[i])
		}
	}
	return kept
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	if len(dir) > 1 && (dir[len(dir)-1] == '/' || dir[len(dir)-1] == '\\') {
		dir = dir[:len(dir)-1]
	}
	if len(path) < len(dir) || path[:len(dir)] != dir {
		return false
	}
	return len(path) == len(dir) || path[len(dir)] == '/' || path[len(dir)] == '\\'
}

func newSessionsShow(g *globals) *cobra.Command {
	var s *sessionArg
	cmd := &cobra.Command{
		Use:               "show [SESSION]",
		Short:             "Show what is known of a conversation",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				id, err := s.find(ctx, a, args)
				if err != nil {
					return err
				}
				res, err := a.Messages(ctx, a.scope, &carrel.MessagesRequest{Session: id})
				if err != nil {
					return err
				}
				return g.result(document{name: "session", value: res.SessionInfo}, func(p *page) {
					i := &res.SessionInfo
					p.fields(
						[]any{"session", string(i.Session)}, []any{"title", i.Title}, []any{"project", i.Project},
						[]any{"file", i.File}, []any{"format", i.Format}, []any{"model", i.Model}, []any{"critical", fmt.Sprint(i.Critical)}, []any{"encoding", i.Encoding},
						[]any{"messages", p.number(int64(i.Messages))}, []any{"blocks", p.number(int64(i.Blocks))},
						[]any{"tokens", p.number(int64(i.Tokens))}, []any{"window", p.number(int64(i.Window))},
						[]any{"bytes", p.number(i.Bytes)}, []any{"revision", p.number(int64(i.Revision))},
						[]any{"created", i.Created}, []any{"updated", i.Updated},
					)
				})
			})
		},
	}
	s = takesSession(cmd)
	return cmd
}

func newSessionsMark(g *globals) *cobra.Command {
	req := &carrel.MarkRequest{}
	var not bool
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "mark [SESSION] --critical | --no-critical",
		Short: "Mark a conversation as critical",
		Long: `Mark says that a conversation is critical, or that it is not. In a critical one
nothing stands for blocks that nobody could read and check: "carrel compress
--strategy opaque" is refused with exit code 9.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Critical == not {
				return usagef("mark: give --critical or --no-critical")
			}
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Mark(ctx, a.scope, req)
				if err != nil {
					return err
				}
				return g.result(document{name: "mark", value: res}, func(p *page) {
					word, when := "critical", "now"
					if !res.Critical {
						word = "not critical"
					}
					if !res.Changed {
						when = "already"
					}
					t := &table{}
					t.add(res.Session, word, when)
					p.table(t)
					if req.DryRun && p.tty {
						p.line("dry run: nothing was written")
					}
				})
			})
		},
	}
	s = takesSession(cmd)
	cmd.Flags().BoolVar(&req.Critical, "critical", false, "it is critical")
	cmd.Flags().BoolVar(&not, "no-critical", false, "it is not")
	writes(cmd, &req.DryRun)
	return cmd
}
