package session

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

func newExport(j *job.Job) *cobra.Command {
	req := &carrel.ExportRequest{}
	var to job.Output
	var dry, anew bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "export [SESSION] [--to FORMAT] [--as-new-session] [-o FILE|FOLDER]",
		Short: "Write what is in the window in a provider's format",
		Long: `Export writes what is in the window of a conversation. An untouched conversation
in its own format is what was imported, byte for byte. Everything else passes
the checks of the format's provider first; what the format cannot carry is
listed on standard error.

--whole writes the conversation as it was imported, whatever is in the window.

--as-new-session writes a session file for Claude Code to resume: -o names it, as
UUID.jsonl, or the folder that it goes to under a new UUID. The id in the file is
that of its name, and its rows have new ids that follow from it. This alone writes
into the folder in which Claude Code keeps its sessions, and only a new file.`,
		Example: `  carrel export > next.jsonl
  carrel export 7b1e90aa --to openai -o request.json
  carrel export --as-new-session -o ~/.claude/projects/-srv-app`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !to.ToFile() && j.JSON != "" && !dry {
				return out.Usagef("--json: name a file with -o, as standard output holds one document")
			}
			if anew {
				req.To = cmp.Or(req.To, "claudecode")
				if req.As, err = beginSession(j, &to); err != nil {
					return err
				}
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) (err error) {
				if req.Session, err = s.Find(ctx, a, args); err != nil {
					return err
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
						j.Note("resume it in its project: claude --resume %s", res.Session)
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
	f.BoolVar(&req.Whole, "whole", false, "as it was imported, whatever is in the window")
	f.BoolVar(&anew, "as-new-session", false, "begin a new session of Claude Code, in a new file")
	job.OfferFormats(cmd, "to")
	job.Writes(cmd, &dry)
	return cmd
}

// beginSession returns the id of the new session that an output begins, and completes the
// name of its file, which must be new.
func beginSession(j *job.Job, to *job.Output) (transcript.SessionID, error) {
	if !to.ToFile() {
		return "", out.Usagef("--as-new-session: name a folder with -o, or a file after a UUID, such as %s.jsonl", newUUID())
	}
	if to.Force {
		return "", out.Usagef("--as-new-session and --force: a new session never replaces a file")
	}
	if fi, err := os.Stat(j.Path(to.File)); err == nil && fi.IsDir() {
		to.File = filepath.Join(to.File, newUUID()+".jsonl")
	}
	id, ok := strings.CutSuffix(filepath.Base(to.File), ".jsonl")
	if !ok || !claudecode.IsSessionID(id) {
		return "", out.Usagef("-o %s: name a folder that is there, or a file after a UUID, such as %s.jsonl", to.File, newUUID())
	}
	to.Begins = true
	return transcript.SessionID(id), nil
}

// newUUID returns a random UUID (RFC 9562, section 5.4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// saveExport writes an export to a file, and what is to be known of it to standard
// error.
func saveExport(j *job.Job, res *carrel.ExportResult, to job.Output) error {
	if err := j.Write(to, res.Data); err != nil {
		return err
	}
	for _, l := range res.Losses {
		j.Note("warning: message %d: lost %s (%d, %s bytes)", l.Message, l.What, l.Count, out.Thousands(l.Bytes))
	}
	for _, f := range res.Repairs {
		j.Note("repaired: message %d: %s", f.Message, f.What)
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
