package session

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newExport(j *job.Job) *cobra.Command {
	req := &carrel.ExportRequest{}
	var to job.Output
	var dry, anew bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "export [SESSION] [--to FORMAT] [--as-new-session] [-o FILE|FOLDER]",
		Short: "Write the window in a provider's format",
		Long: `Export writes the window of a conversation. An untouched conversation in its own
format is byte for byte as imported. Every other result is validated by the rules of the format's
provider; parts that the format cannot carry are listed on standard error.

--whole writes the whole imported conversation instead of the window.

--as-new-session writes a session file for an agent to resume: the agent of the conversation, or
the agent of the format in --to; the default for other conversations is Claude Code. The session
and its rows get new ids. -o names the folder or the file, whose name must be one that the agent
uses for sessions. For Codex, -o may be omitted: the file then goes into Codex's own folder. Only
this option writes into agents' session folders, and only a new file.`,
		Example: `  carrel export > next.jsonl
  carrel export 7b1e90aa --to openai -o request.json
  carrel export --as-new-session -o ~/.claude/projects/-srv-app
  carrel export --as-new-session --to codex`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !to.ToFile() && !anew && j.JSON != "" && !dry {
				return out.Usagef("--json: needs -o: the conversation goes to a file, as the report takes standard output")
			}
			if anew && to.Force {
				return out.Usagef("--as-new-session and --force: a new session never replaces a file")
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) (err error) {
				if req.Session, err = s.Find(ctx, a, args); err != nil {
					return err
				}
				var begun *agents.NewFile
				if anew {
					if begun, err = beginSession(ctx, j, a, req, &to); err != nil {
						return err
					}
				}
				res, err := a.Export(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				if !dry {
					if err := saveExport(j, res, to); err != nil {
						return err
					}
					if anew {
						j.Note("%s", begun.Resume)
					}
					if j.JSON == "" {
						return nil
					}
				}
				res.Data = nil
				return j.Result("export", res, func(p *out.Page) { printExport(p, res) })
			})
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&req.To, "to", "", "`format`; the conversation's own by default")
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	f.BoolVar(&req.Whole, "whole", false, "the session as it was imported, not its window")
	f.BoolVar(&anew, "as-new-session", false, "begin a new session of an agent, in a new file")
	job.OfferFormats(cmd, "to")
	job.Writes(cmd, &dry)
	return cmd
}

// beginSession sets the id of the new session that an export starts. It also completes the name of
// the session's file, which must not exist yet. It returns the agent's file.
func beginSession(ctx context.Context, j *job.Job, a *job.Access, req *carrel.ExportRequest, to *job.Output) (*agents.NewFile, error) {
	agent := agents.OfFormat(req.To)
	if req.To == "" {
		head, err := a.Store.Head(ctx, a.Scope, req.Session)
		if err != nil {
			return nil, err
		}
		agent = agents.OfFormat(head.Format)
		if agent == nil || agent.NewFile == nil {
			agent = agents.Claude
		}
		req.To = agent.Format
	}
	if agent == nil || agent.NewFile == nil {
		return nil, out.Usagef("--as-new-session: no agent resumes a session of the format %s: give --to with the format of an agent", req.To)
	}
	n := &agents.New{Env: j.Getenv, Now: j.Clock()()}
	if to.ToFile() {
		n.Output = to.File
		fi, err := os.Stat(j.Path(to.File))
		n.Folder = err == nil && fi.IsDir()
	}
	begun, err := agent.NewFile(n)
	if err != nil {
		return nil, out.Usagef("--as-new-session: %w", err)
	}
	to.File, to.Begins, to.Folder, req.As = begun.Path, true, begun.Folder, transcript.SessionID(begun.ID)
	return begun, nil
}

// saveExport writes an export to a file, and notes about it to standard error.
func saveExport(j *job.Job, res *carrel.ExportResult, to job.Output) error {
	if err := j.Write(to, res.Data); err != nil {
		return err
	}
	for _, l := range res.Losses {
		j.Note("warning: %s: lost %s (%d, %s bytes)", out.MessageWords(l.Message), l.What, l.Count, out.Thousands(l.Bytes))
	}
	for _, f := range res.Repairs {
		j.Note("repaired: %s: %s", out.MessageWords(f.Message), f.What)
	}
	for _, v := range res.Violations {
		j.Note("warning: as imported: %s", v.String())
	}
	if to.ToFile() {
		j.Note("wrote %s: %s, %s bytes, %s tokens", to.File, res.Format, out.Thousands(res.Bytes), out.Thousands(res.Tokens))
	}
	return nil
}

func printExport(p *out.Page, r *carrel.ExportResult) {
	p.Fields([]any{"session", r.Session}, []any{"format", r.Format}, []any{"bytes", r.Bytes}, []any{"tokens", r.Tokens},
		[]any{"intact", fmt.Sprint(r.Intact)}, []any{"losses", len(r.Losses)}, []any{"repairs", len(r.Repairs)})
}
