package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// marked returns the headline of a session, preceded by a mark such as "critical" or its status.
func marked(s *carrel.SessionInfo) string {
	switch s.Status {
	case store.StatusTombstoned:
		return strings.TrimSpace("[removed] " + job.Headline(s))
	case store.StatusPurged:
		return "[purged]"
	case store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted: // sessions have none of these
	}
	if s.Critical {
		return "[critical] " + job.Headline(s)
	}
	return job.Headline(s)
}

func newSessions(j *job.Job) *cobra.Command {
	var limit int
	var project string
	var removed bool
	list := func(cmd *cobra.Command, _ []string) error {
		if limit < 0 {
			return out.Usagef("--limit: %d is below 0", limit)
		}
		return j.With(cmd.Context(), false, func(a *job.Access) error {
			infos, err := sessionsOf(cmd.Context(), a, removed)
			if err != nil {
				return err
			}
			if infos, err = ofProject(j, infos, project); err != nil {
				return err
			}
			if limit > 0 {
				infos = infos[:min(limit, len(infos))]
			}
			return j.List("sessions", &carrel.List[carrel.SessionInfo]{Items: infos}, "items", func(p *out.Page) {
				t := &out.Table{Head: []string{"session", "used", "project", "messages", "tokens", "window", "title"}}
				for i := range infos {
					s := &infos[i]
					t.Add(s.Session, p.When(s.Updated, j.Clock()()), baseOf(s.Project), s.Messages, s.Tokens, s.Window, marked(s))
				}
				if len(infos) > 0 {
					p.Table(t)
				}
			})
		})
	}
	cmd := &cobra.Command{
		Use:   "sessions [list|show|mark|rm|purge]",
		Short: "List the conversations that are stored",
		Long: `Sessions lists the stored conversations, the last used first: when it was used, the
name of its working directory, the tokens that were imported, and the tokens in its window now.
--removed lists removed and purged conversations instead.`,
		Example: `  carrel sessions --project .`,
		Args:    cobra.NoArgs,
		RunE:    list,
	}
	flags := func(c *cobra.Command) {
		c.Flags().IntVar(&limit, "limit", 0, "list `n` at most")
		c.Flags().BoolVar(&removed, "removed", false, "list those that were removed or purged")
		c.Flags().StringVar(&project, "project", "", "list only sessions of a working `directory` or one below it")
	}
	flags(cmd)
	sub := &cobra.Command{Use: "list", Short: "List the conversations that are stored", Example: "  carrel sessions list --limit 5", Args: cobra.NoArgs, RunE: list}
	flags(sub)
	cmd.AddCommand(sub, newSessionsShow(j), newSessionsMark(j), newSessionsRemove(j), newSessionsPurge(j))
	return cmd
}

// sessionsOf returns the sessions in use or, if removed is true, those that were removed or
// purged.
func sessionsOf(ctx context.Context, a *job.Access, removed bool) ([]carrel.SessionInfo, error) {
	if removed {
		return carrel.Items(a.RemovedSessions(ctx, a.Scope, &carrel.None{}))
	}
	return carrel.Items(a.Sessions(ctx, a.Scope, &carrel.SessionsRequest{}))
}

// baseOf returns the last element of a path of any operating system.
func baseOf(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// ofProject returns the sessions of a working directory and its subdirectories. A relative
// directory is below that of the job; one of another operating system counts as it is written.
func ofProject(j *job.Job, infos []carrel.SessionInfo, project string) ([]carrel.SessionInfo, error) {
	path, err := filepath.Abs(j.Path(project))
	if err != nil && project != "" {
		return nil, err
	}
	kept := make([]carrel.SessionInfo, 0, len(infos))
	for i := range infos {
		if p := infos[i].Project; project == "" || job.Within(p, path) || job.Within(p, project) {
			kept = append(kept, infos[i])
		}
	}
	return kept, nil
}

func newSessionsShow(j *job.Job) *cobra.Command {
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:               "show [SESSION]",
		Short:             "Show the record of a conversation",
		Example:           `  carrel sessions show @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				id, err := s.Find(ctx, a, args)
				if err != nil {
					return err
				}
				i, err := a.Session(ctx, a.Scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				return j.Result("session", i, func(p *out.Page) {
					p.Fields(
						[]any{"session", string(i.Session)}, []any{"title", i.Title}, []any{"project", i.Project},
						[]any{"file", i.File}, []any{"format", i.Format}, []any{"model", i.Model}, []any{"critical", fmt.Sprint(i.Critical)}, []any{"encoding", i.Encoding},
						[]any{"messages", p.Number(int64(i.Messages))}, []any{"blocks", p.Number(int64(i.Blocks))},
						[]any{"tokens", p.Number(int64(i.Tokens))}, []any{"window", p.Number(int64(i.Window))},
						[]any{"bytes", p.Number(i.Bytes)}, []any{"revision", p.Number(int64(i.Revision))},
						[]any{"created", i.Created}, []any{"updated", i.Updated},
					)
				})
			})
		},
	}
	s = job.TakesSession(cmd)
	return cmd
}

func newSessionsMark(j *job.Job) *cobra.Command {
	req := &carrel.MarkRequest{}
	var not bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "mark [SESSION] --critical | --no-critical",
		Short: "Mark a conversation as critical",
		Long: `Mark marks a conversation as critical, or removes the mark. In a critical
conversation no block may be replaced by text that nobody can read and check: "carrel compress
--strategy opaque" is refused with exit code 9.`,
		Example:           `  carrel sessions mark @last --critical`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Critical == not {
				return out.Usagef("mark: give --critical or --no-critical")
			}
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				res, err := a.Mark(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("mark", res, func(p *out.Page) {
					word, when := "critical", "now"
					if !res.Critical {
						word = "not critical"
					}
					if !res.Changed {
						when = "already"
					}
					t := &out.Table{}
					t.Add(res.Session, word, when)
					p.Table(t)
					if req.DryRun && p.TTY {
						p.Line("dry run: nothing was written")
					}
				})
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().BoolVar(&req.Critical, "critical", false, "mark the conversation as critical")
	cmd.Flags().BoolVar(&not, "no-critical", false, "remove the mark")
	job.Writes(cmd, &req.DryRun)
	return cmd
}
