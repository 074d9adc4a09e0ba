package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

func newContext(j *job.Job) *cobra.Command {
	var model string
	var window int
	var watch bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "context [SESSION|level|trigger|stats|diff] [--model M] [--window N] [--watch]",
		Short: "Show the parts of the window and their sizes",
		Long: `Context shows the sizes of the parts of a conversation's window, in tokens, and the
free space. They add up to the size of the window that Carrel holds. The size of the agent's own
requests is shown separately, if its transcript records it. Messages that the client compacted
belong to earlier windows: they are not counted here, and can be recalled.

With --watch it prints the picture again whenever the conversation changes, until it is
interrupted. Into a pipe it prints one line for each change, and with --json one document.`,
		Example:           `  carrel context`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if window < 0 {
				return out.Usagef("--window: %d is below 0", window)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				id, err := s.Find(ctx, a, args)
				if err != nil {
					return err
				}
				capacity := token.Count(window)
				if capacity == 0 && model != "" {
					capacity = token.ContextWindow(model)
				}
				req := &carrel.ContextRequest{Session: id, Window: capacity}
				if watch {
					return watchContext(ctx, j, a, req)
				}
				res, err := a.Context(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				return j.Result("context", res, func(p *out.Page) { printContext(p, res) })
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().StringVar(&model, "model", "", "take the context window of this `model`")
	cmd.Flags().IntVar(&window, "window", 0, "take a context window of `n` tokens; by default that in the settings, or else the model's")
	cmd.Flags().BoolVar(&watch, "watch", false, "print it again whenever the conversation changes, until interrupted")
	cmd.AddCommand(newLevel(j), newTrigger(j), newStats(j), newContextDiff(j))
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// A part is a part of the window that the command shows, such as the system text.
type part struct {
	name, what string
	letter     byte // letter in the bar; 0 if the part is not in the bar
	share      carrel.ContextShare
	color      string
}

func partsOf(r *carrel.ContextResult) []part {
	return []part{
		{"fixed", "framing and tools", '#', r.Fixed, ""},
		{"system", "system text", 's', r.System, ""},
		{"pinned", "under hard rules", 'P', r.Pinned, out.Green},
		{"summary", "in place of others", 'A', r.Summary, out.Yellow},
		{"live", "as they came in", 'M', r.Live, out.Green},
		{"stubs", "in place of others", 'o', r.Stubs, out.Yellow},
		{"cold", "out of the window", 0, r.Cold, out.Dim},
		{"free", "", '.', carrel.ContextShare{Tokens: r.Free}, ""},
		{"reserved", "for the reply", 'b', carrel.ContextShare{Tokens: r.Reserved}, ""},
	}
}

func printContext(p *out.Page, r *carrel.ContextResult) {
	share := func(n token.Count) string { return ratio.Of(n, r.Capacity).Percent() }
	parts := partsOf(r)
	if r.Earlier.Blocks > 0 {
		parts = slices.Insert(parts, len(parts)-2, part{"earlier", "of windows before", 0, r.Earlier, out.Dim})
	}
	if !p.TTY {
		p.Fields([]any{"session", r.Session}, []any{"capacity", r.Capacity}, []any{"used", r.Used}, []any{"level", r.Level})
		if r.Sent > 0 {
			p.Fields([]any{"sent", r.Sent})
		}
		for _, s := range parts {
			p.Fields([]any{s.name, s.share.Tokens, share(s.share.Tokens), s.share.Blocks, s.share.Stands})
		}
		return
	}
	model := cmp.Or(r.Model, "unknown model")
	p.Line("session %s · %s · %s, %s", out.Short(r.Session), out.Visible(model), out.Count(r.Messages, "message"), out.Count(r.Ops, "operation"))
	p.Line("%s / %s tokens (%s)", out.Thousands(r.Used), out.Thousands(r.Capacity), share(r.Used))
	p.Line("[%s]", drawBar(p, parts, max(min(p.Width, 92)-2, 0)))
	p.Line("")
	for _, s := range parts {
		what := s.what
		switch {
		case s.share.Blocks == 0:
		case s.name == "stubs":
			what = fmt.Sprintf("in place of %s", out.Count(s.share.Blocks, "block"))
		case s.name == "summary":
			what = "1 item " + s.what
		default:
			what = fmt.Sprintf("%s %s", out.Count(s.share.Blocks, "block"), s.what)
		}
		line := fmt.Sprintf("%-28s %10s  %6s", what, out.Thousands(s.share.Tokens), share(s.share.Tokens))
		switch {
		case s.name == "summary" && s.share.Blocks > 0:
			line += fmt.Sprintf("   stands for %s", out.Thousands(s.share.Stands))
		case s.share.Stands > s.share.Tokens:
			line += fmt.Sprintf("   of %s, all recallable", out.Thousands(s.share.Stands))
		}
		p.Line("  %s  %s", p.Paint(s.color, fmt.Sprintf("%-8s", s.name)), line)
	}
	p.Line("")
	level := map[string]string{"ok": out.Green, "warn": out.Yellow, "compress": out.Yellow, "critical": out.Red}[r.Level]
	if r.Sent > 0 {
		p.Line("sent    %s tokens in the agent's newest request", out.Thousands(r.Sent))
	}
	f := &r.Figures
	p.Line("level   %s: %s of the %s tokens of the effective window, which is %s of all", p.Paint(level, r.Level),
		ratio.Of(r.Used, f.Effective).Percent(), out.Thousands(f.Effective), share(f.Effective))
	of := func(n token.Count) string {
		return fmt.Sprintf("%s tokens (%s)", out.Thousands(n), ratio.Of(n, f.Effective).Percent())
	}
	p.Line("        of it: warn from %s, compress from %s, critical from %s", of(f.Warn), of(f.Compress), of(f.Critical))
	p.Line("target  compress cuts to %s of it, discard tidies to %s, neither by itself below %s", of(f.Target), of(f.Tidy), of(f.Floor))
	if r.Level == "compress" || r.Level == "critical" {
		p.Line("next    carrel compress %s", out.Short(r.Session))
	}
}

// measureWords returns in words how much of the effective window is in use.
func measureWords(used token.Count, f *pager.Figures) string {
	return fmt.Sprintf("%s tokens, %s of the %s of the effective window, which is %s of all", out.Thousands(used),
		ratio.Of(used, f.Effective).Percent(), out.Thousands(f.Effective), ratio.Of(f.Effective, f.Window).Percent())
}

// drawBar draws parts as letters in a bar. The width of each part is its share of the sum.
func drawBar(p *out.Page, parts []part, width int) out.Painted {
	var all, before int64
	for _, s := range parts {
		if s.letter != 0 {
			all += int64(s.share.Tokens)
		}
	}
	var b strings.Builder
	drawn := 0
	for _, s := range parts {
		if s.letter == 0 || all == 0 {
			continue
		}
		before += int64(s.share.Tokens)
		to := int(before * int64(width) / all)
		b.WriteString(string(p.Paint(s.color, strings.Repeat(string(s.letter), to-drawn))))
		drawn = to
	}
	return out.Painted(b.String())
}
