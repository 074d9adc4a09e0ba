package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

func newCompress(_ *Env, g *globals) *cobra.Command {
	req := &carrel.CompressRequest{}
	var target, output, to string
	var window int
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "compress [SESSION] [--target N|50%] [-o FILE]",
		Short: "Cut the window to a budget",
		Long: `Compress cuts what is in the window of a conversation until it fits a budget.
Blocks under a hard rule stay as they are, those under a soft rule never leave;
of the others those that the agent is least likely to need become stubs that
can be recalled, or leave the window. Every byte stays in the store.

The budget is --target in tokens, or in percent of what was imported. Without
it, it is that of the settings ("carrel help config"), or half of the context
window.

The result is checked by the rules of the conversation's provider before
anything is written. If what rules hold does not fit, the exit code is 5 and
nothing is changed. "carrel undo" takes a compression back.`,
		Example: `  carrel compress --target 50%
  carrel compress @prev --target 40000 -o next.jsonl
  carrel compress -n --intent "flaky login test"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Target, req.Share, err = parseTarget(target); err != nil {
				return err
			}
			if window < 0 {
				return usagef("--window: %d is below 0", window)
			}
			if output == "-" && g.json != "" {
				return usagef("-o - and --json: standard output holds one of them")
			}
			req.Window = token.Count(window)
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				if req.Session, err = s.find(ctx, a, args); err != nil {
					return err
				}
				a.settings.Request(req)
				res, err := a.Compress(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if output != "" && !req.DryRun {
					out, err := a.Export(ctx, a.scope, &carrel.ExportRequest{Session: req.Session, To: to})
					if err != nil {
						return err
					}
					if err := g.save(out, output); err != nil {
						return err
					}
				}
				if output == "-" && !req.DryRun {
					g.note("%s → %s tokens, %s", thousands(int64(res.Before)), thousands(int64(res.After)), res.Op)
					return nil
				}
				return g.result(document{name: "compress", value: res}, func(p *page) { printCompress(p, res, req.DryRun) })
			})
		},
	}
	s = takesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "`budget` in tokens, or such as 50%")
	f.IntVar(&window, "window", 0, "context window in `tokens`; of the settings, or else the model's, by default")
	f.StringArrayVar(&req.Intent, "intent", nil, "`words` for what comes next; of the last messages by default")
	f.IntVar(&req.KeepLast, "keep-last", 0, "keep the last `n` blocks from leaving; of the settings, or else 5, by default, -1 for none")
	f.StringVarP(&output, "output", "o", "", "export to `file` as well; - is standard output")
	f.StringVar(&to, "to", "", "`format` of the export; the conversation's own by default")
	offerFormats(cmd, "to")
	writes(cmd, &req.DryRun)
	return cmd
}

// parseTarget reads a budget: tokens, or a share.
func parseTarget(s string) (token.Count, ratio.Ratio, error) {
	switch {
	case s == "":
		return 0, 0, nil
	case strings.HasSuffix(s, "%"):
		share, err := ratio.Parse(s)
		if err != nil || share <= 0 || share > ratio.One {
			return 0, 0, usagef("--target: %q is no share from 0%% to 100%%", s)
		}
		return 0, share, nil
	}
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(s))
	if err != nil || n <= 0 {
		return 0, 0, usagef("--target: %q is no number of tokens and no share such as 50%%", s)
	}
	return token.Count(n), 0, nil
}

func printCompress(p *page, r *carrel.CompressResult, dry bool) {
	if !p.tty {
		p.fields(
			[]any{"session", r.Session}, []any{"op", r.Op}, []any{"budget", r.Budget}, []any{"imported", r.Imported},
			[]any{"before", r.Before}, []any{"after", r.After}, []any{"live", r.Blocks.Live}, []any{"stub", r.Blocks.Stub},
			[]any{"cold", r.Blocks.Cold}, []any{"changed", r.Changed}, []any{"provider", r.Provider},
		)
		return
	}
	if r.Changed == 0 {
		p.line("fits   %s tokens are within the budget of %s: nothing to do", thousands(int64(r.Before)), thousands(int64(r.Budget)))
		return
	}
	p.line("plan   %s · %s · %s · %s change · budget %s", p.paint(green, count64(r.Blocks.Live, "live")),
		p.paint(yellow, count64(r.Blocks.Stub, "stub")), p.paint(dim, count64(r.Blocks.Cold, "cold")),
		thousands(int64(r.Changed)), thousands(int64(r.Budget)))
	done := "apply"
	if dry {
		done = "would "
	}
	p.line("%-6s %s → %s tokens (%s)", done, thousands(int64(r.Before)), thousands(int64(r.After)), change(r.Before, r.After))
	p.line("check  %s ok", r.Provider)
	if r.Op != "" {
		p.line("undo   carrel undo %s --session %s", r.Op, short(r.Session))
	} else {
		p.line("dry run: nothing was written")
	}
}

func count64(n int64, word string) string { return word + " " + thousands(n) }

// change returns by how many percent a figure changed.
func change(before, after token.Count) string {
	r := ratio.Of(after-before, before)
	if r < 0 {
		return "−" + (-r).Percent()
	}
	return fmt.Sprintf("+%s", r.Percent())
}
