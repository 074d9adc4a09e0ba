package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
)

func newExport(_ *Env, g *globals) *cobra.Command {
	req := &carrel.ExportRequest{}
	var output string
	var dry bool
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "export [SESSION] [--to FORMAT] [-o FILE]",
		Short: "Write what is in the window in a provider's format",
		Long: `Export writes what is in the window of a conversation. An untouched conversation
in its own format is what was imported, byte for byte. Everything else passes
the checks of the format's provider first; what the format cannot carry is
listed on standard error.

--whole writes the conversation as it was imported, whatever is in the window.`,
		Example: `  carrel export > next.jsonl
  carrel export 7b1e90aa --to openai -o request.json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				output = "-"
			}
			if output == "-" && g.json != "" && !dry {
				return usagef("--json: name a file with -o, as standard output holds one document")
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
					if err := g.save(res, output); err != nil {
						return err
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
	f.StringVarP(&output, "output", "o", "", "write to `file`; - is standard output")
	f.BoolVar(&req.Whole, "whole", false, "as it was imported, whatever is in the window")
	offerFormats(cmd, "to")
	writes(cmd, &dry)
	return cmd
}

// save writes an export to a file, and what is to be known of it to standard
// error.
func (g *globals) save(res *carrel.ExportResult, output string) error {
	if err := g.write(output, res.Data); err != nil {
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
	if output != "-" {
		g.note("wrote %s: %s, %s bytes, %s tokens", output, res.Format, thousands(int64(res.Bytes)), thousands(int64(res.Tokens)))
	}
	return nil
}

func printExport(p *page, r *carrel.ExportResult) {
	p.fields([]any{"session", r.Session}, []any{"format", r.Format}, []any{"bytes", r.Bytes}, []any{"tokens", r.Tokens},
		[]any{"intact", fmt.Sprint(r.Intact)}, []any{"losses", len(r.Losses)}, []any{"repairs", len(r.Repairs)})
}
