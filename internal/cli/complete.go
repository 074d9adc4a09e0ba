package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
)

// newCompletion returns the command that prints a script for a shell.
func newCompletion(env *Env, g *globals) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell",
		Long: `Completion prints a script that teaches a shell to complete commands, flags, and
the ids of sessions and blocks with a preview of each. SHELL is bash, zsh, fish
or powershell.`,
		Example: `  source <(carrel completion bash)
  carrel completion zsh > "${fpath[1]}/_carrel"
  carrel completion fish > ~/.config/fish/completions/carrel.fish
  carrel completion powershell | Out-String | Invoke-Expression`,
		Args:        cobra.ExactArgs(1),
		ValidArgs:   shells,
		Annotations: withoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(env.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(env.Stdout)
			case "fish":
				return root.GenFishCompletion(env.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(env.Stdout)
			}
			return oneOf("SHELL", args[0], shells...)
		},
	}
}

// completeSession offers sessions for the first argument.
func (g *globals) completeSession(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return g.offerSessions(cmd)
}

// completeSessionFlag offers sessions for a flag.
func (g *globals) completeSessionFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return g.offerSessions(cmd)
}

func (g *globals) offerSessions(cmd *cobra.Command) ([]cobra.Completion, cobra.ShellCompDirective) {
	offers := []cobra.Completion{
		cobra.CompletionWithDesc("@last", "the session updated last"),
		cobra.CompletionWithDesc("@prev", "the one before"),
	}
	_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
		infos, err := carrel.Items(a.Sessions(cmd.Context(), a.scope, &carrel.SessionsRequest{Cursor: carrel.Cursor{Limit: 50}}))
		for i := range infos {
			s := &infos[i]
			desc := fmt.Sprintf("%s, %s tok, %s", s.Format, thousands(int64(s.Window)), cut(visible(headline(s)), 50))
			offers = append(offers, cobra.CompletionWithDesc(string(s.Session), desc))
		}
		return err
	})
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeBlock offers the blocks of the last session for an argument, the
// newest first.
func (g *globals) completeBlock(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offers []cobra.Completion
	_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
		id, err := a.sessionID(cmd.Context(), "@last")
		if err != nil {
			return err
		}
		res, err := a.Messages(cmd.Context(), a.scope, &carrel.MessagesRequest{Session: id})
		if err != nil {
			return err
		}
		for i := range res.Messages {
			b := &res.Messages[len(res.Messages)-1-i]
			desc := fmt.Sprintf("%s, %s, %s", b.Kind, b.State, cut(visible(b.Preview), 50))
			offers = append(offers, cobra.CompletionWithDesc(b.ShortID, desc))
		}
		return nil
	})
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeOneBlock offers blocks as completeBlock does, for the only argument there is.
func (g *globals) completeOneBlock(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return g.completeBlock(cmd, args, word)
}

// offer gives a flag fixed words to complete.
func offer(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // it fails only for a flag that is not there
}

// offerFormats gives a flag the names of formats to complete.
func offerFormats(cmd *cobra.Command, flag string) { offer(cmd, flag, carrel.Formats()...) }

// offerSession gives the flag for a session sessions to complete.
func (g *globals) offerSession(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("session", g.completeSessionFlag) // it fails only for a flag that is not there
}
