package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A gauge has the flags of trigger and level that describe a window.
type gauge struct {
	util, used, window, effective, tokens string

	messages, iterations, cycles int
	pending, retry               bool
	by                           string
}

func newTrigger(j *job.Job) *cobra.Command {
	var in gauge
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "trigger [SESSION] | --util U --messages N | --tokens N [--iterations N]",
		Short: "Say whether a compression is due, by the exit code",
		Long: `Trigger prints the pass that is due for a conversation, and why. The exit code is 0
if one is due and 1 if not:

  compress     from 70% of the effective window on, with at least 10 messages
  page         with --by pager: above 4,000 tokens, or from 5 iterations on; a
               message of a person is an iteration
  warn         from 60% on, or if something stands against a pass; exit code 1
  new-session  it was compressed 10 times, so that a new session would serve
               better; exit code 1
  none         exit code 1

Nothing is due while a call is not answered. The effective window is 80% of the context window, or
what budget.effective and CARREL_EFFECTIVE_CONTEXT say.

Instead of a conversation it takes figures: --util as a share of the effective window, or --used
in tokens of --window, with --messages; or --tokens and --iterations, which go by the pager.`,
		Example: `  carrel context trigger && carrel compress
  carrel context trigger --util 0.7 --messages 10
  carrel context trigger --tokens 4001 --iterations 1`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, load, window, err := in.read(cmd, j)
			if err != nil {
				return err
			}
			res := &carrel.TriggerResult{Window: window}
			if load != nil {
				if len(args) > 0 || s.Word != "" {
					return out.Usagef("trigger: give a session or figures, not both")
				}
				res.Advice, res.Used, res.Effective = *t.Due(load), load.Used, load.Effective
				res.Messages, res.Cycles, res.Iterations, res.Pending = load.Messages, load.Cycles, load.Iterations, load.Pending
				if in.util == "" {
					res.Figures = t.Figures(window)
				} else {
					res.Used, res.Effective, res.Target = 0, 0, 0 // they were shares, not tokens
				}
				return printTrigger(j, res)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				req := &carrel.TriggerRequest{Window: window, Trigger: t, Retry: in.retry}
				if req.Session, err = s.Find(ctx, a, args); err != nil {
					return err
				}
				if res, err = a.Trigger(ctx, a.Scope, req); err != nil {
					return err
				}
				return printTrigger(j, res)
			})
		},
	}
	s = job.TakesSession(cmd)
	f := cmd.Flags()
	f.StringVar(&in.util, "util", "", "`share` of the effective window that is in use, such as 0.7 or 70%")
	in.register(cmd)
	f.IntVar(&in.messages, "messages", 0, "`n` messages are in the window")
	f.IntVar(&in.cycles, "cycles", 0, "it was compressed `n` times")
	f.BoolVar(&in.pending, "pending", false, "a call is not answered yet")
	f.BoolVar(&in.retry, "retry", false, "the last compression was not accepted: more messages stay as they are")
	f.StringVar(&in.tokens, "tokens", "", "`tokens` in the window, for the pager")
	f.IntVar(&in.iterations, "iterations", 0, "`n` tasks were given, for the pager")
	f.StringVar(&in.by, "by", "", "`profile` that decides: window or pager; window by default")
	job.Offer(cmd, "by", string(pager.ProfileWindow), string(pager.ProfilePager))
	return cmd
}

// register gives a command the flags for the use of a window.
func (in *gauge) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.used, "used", "", "`tokens` in the window")
	f.StringVar(&in.window, "window", "", "context window in `tokens`; by default that in the settings, or else the model's")
	f.StringVar(&in.effective, "effective", "", "`tokens` of the effective window; by default those in the settings, or else 80%")
}

// printTrigger prints whether a pass is due. If none is due, it returns [out.ErrNo], for the exit
// code 1.
func printTrigger(j *job.Job, res *carrel.TriggerResult) error {
	if j.JSON == "" {
		for _, r := range res.Reasons {
			j.Note("%s", r)
		}
	}
	if err := j.Result("trigger", res, func(p *out.Page) { p.Line("%s", res.Action) }); err != nil {
		return err
	}
	if !res.Due {
		return out.ErrNo
	}
	return nil
}

// read returns the trigger from settings and flags, the load from the flags, and the size of the
// context window from flags or settings, or 0 if neither gives one. The load is nil if the flags
// have no figures; then the command is about a stored session.
func (in *gauge) read(cmd *cobra.Command, j *job.Job) (*pager.Trigger, *pager.Load, token.Count, error) {
	settings, err := j.Settings()
	if err != nil {
		return nil, nil, 0, err
	}
	t, window := settings.Trigger(), settings.Window()
	load := &pager.Load{Messages: in.messages, Cycles: in.cycles, Iterations: in.iterations, Pending: in.pending, Retry: in.retry}
	for _, n := range []struct {
		flag, text string
		to         *token.Count
	}{
		{"--used", in.used, &load.Used}, {"--window", in.window, &window}, {"--effective", in.effective, &t.Effective}, {"--tokens", in.tokens, &load.Used},
	} {
		if n.text == "" {
			continue
		}
		if *n.to, err = job.ParseTokens(n.flag, n.text); err != nil {
			return nil, nil, 0, err
		}
	}
	switch {
	case in.messages < 0 || in.iterations < 0 || in.cycles < 0:
		return nil, nil, 0, out.Usagef("--messages, --iterations and --cycles: none can be below 0")
	case in.by != "":
		if err := out.OneOf("--by", in.by, string(pager.ProfileWindow), string(pager.ProfilePager)); err != nil {
			return nil, nil, 0, err
		}
		t.Profile = pager.Profile(in.by)
	}
	figures := t.Figures(window)
	load.Effective, load.Floor = figures.Effective, figures.Floor
	given, err := in.figures(cmd, t, load)
	if err != nil || !given {
		load = nil
	}
	return t, load, window, err
}

// figures sets two things from the flags: in load how full the window is, and in t the profile that
// fits the flags. It reports whether the flags say how full the window is.
func (in *gauge) figures(cmd *cobra.Command, t *pager.Trigger, load *pager.Load) (given bool, err error) {
	set := func(flag string) bool { return cmd.Flags().Changed(flag) }
	counted := set("tokens") || set("iterations")
	switch {
	case counted && (set("util") || set("used") || in.by == string(pager.ProfileWindow)):
		return false, out.Usagef("--tokens and --iterations are for the pager: leave out --util, --used and --by window")
	case counted:
		t.Profile = pager.ProfilePager
		return true, nil
	case set("util") && set("used"):
		return false, out.Usagef("--util and --used: use only one")
	case set("util"):
		share, err := job.ParseShare("--util", in.util)
		if err != nil {
			return false, err
		}
		load.Used, load.Effective, load.Floor = token.Count(share), token.Count(ratio.One), 0
	case set("used") && load.Effective == 0:
		return false, out.Usagef("--used: give the size of the window, too, with --window or --effective")
	case !set("used"):
		for _, flag := range []string{"messages", "cycles", "pending"} {
			if set(flag) {
				return false, out.Usagef("--%s: needs --util, or --used with --window", flag)
			}
		}
		return false, nil
	}
	if cmd.Flags().Lookup("messages") != nil && !set("messages") && t.Profile != pager.ProfilePager {
		return false, out.Usagef("trigger: give the number of messages with --messages")
	}
	return true, nil
}
