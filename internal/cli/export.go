package cli

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

func newExport(_ *Env, g *globals) *cobra.Command {
	req := &carrel.ExportRequest{}
	var out output
	var dry, anew bool
	var s *sessionArg
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
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !out.toFile() && g.json != "" && !dry {
				return usagef("--json: name a file with -o, as standard output holds one document")
			}
			if anew {
				req.To = cmp.Or(req.To, "claudecode")
				if req.As, err = g.begin(&out); err != nil {
					return err
				}
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) (err error) {
				if req.Session, err = s.find(ctx, a, args); err != nil {
					return err
				}
				res, err := a.Export(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if !dry {
					if err := g.save(res, out); err != nil {
						return err
					}
					if anew {
						g.note("resume it in its project: claude --resume %s", res.Session)
					}
					if g.json == "" {
						return nil
					}
				}
				res.Data = nil
				return g.result(document{name: "export", value: res}, func(p *page) { printExport(p, res) })
			})
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&req.To, "to", "", "`format`; the conversation's own by default")
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	f.BoolVar(&req.Whole, "whole", false, "as it was imported, whatever is in the window")
	f.BoolVar(&anew, "as-new-session", false, "begin a new session of Claude Code, in a new file")
	offerFormats(cmd, "to")
	writes(cmd, &dry)
	return cmd
}

// begin returns the id of the new session that an output begins, and completes the
// name of its file, which must be new.
func (g *globals) begin(out *output) (transcript.SessionID, error) {
	if !out.toFile() {
		return "", usagef("--as-new-session: name a folder with -o, or a file after a UUID, such as %s.jsonl", newUUID())
	}
	if out.force {
		return "", usagef("--as-new-session and --force: a new session never replaces a file")
	}
	if fi, err := os.Stat(g.path(out.file)); err == nil && fi.IsDir() {
		out.file = filepath.Join(out.file, newUUID()+".jsonl")
	}
	id, ok := strings.CutSuffix(filepath.Base(out.file), ".jsonl")
	if !ok || !claudecode.IsSessionID(id) {
		return "", usagef("-o %s: name a folder that is there, or a file after a UUID, such as %s.jsonl", out.file, newUUID())
	}
	out.begins = true
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

// save writes an export to a file, and what is to be known of it to standard
// error.
func (g *globals) save(res *carrel.ExportResult, out output) error {
	if err := g.write(out, res.Data); err != nil {
		return err
	}
	for _, l := range res.Losses {
		g.note("warning: message %d: lost %s (%d, %s bytes)", l.Message, l.What, l.Count, thousands(int64(l.Bytes)))
	}
	for _, f := range res.Repairs {
		g.note("repaired: message %d: %s", f.Message, f.What)
	}
	for _, v := range res.Violations {
		g.note("warning: as imported: %s", v.String())
	}
	if out.toFile() {
		g.note("wrote %s: %s, %s bytes, %s tokens", out.file, res.Format, thousands(int64(res.Bytes)), thousands(int64(res.Tokens)))
	}
	return nil
}

func printExport(p *page, r *carrel.ExportResult) {
	p.fields([]any{"session", r.Session}, []any{"format", r.Format}, []any{"bytes", r.Bytes}, []any{"tokens", r.Tokens},
		[]any{"intact", fmt.Sprint(r.Intact)}, []any{"losses", len(r.Losses)}, []any{"repairs", len(r.Repairs)})
}
