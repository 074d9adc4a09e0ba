package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// newCompletion returns the command that prints a script for a shell.
func newCompletion(j *job.Job) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell",
		Long: `Completion prints a script that teaches a shell to complete commands, flags, and the
ids of sessions and blocks with a preview of each. SHELL is bash, zsh, fish or powershell.`,
		Example: `  source <(carrel completion bash)
  carrel completion zsh > "${fpath[1]}/_carrel"
  carrel completion fish > ~/.config/fish/completions/carrel.fish
  carrel completion powershell | Out-String | Invoke-Expression`,
		Args:        cobra.ExactArgs(1),
		ValidArgs:   shells,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(j.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(j.Stdout)
			case "fish":
				return root.GenFishCompletion(j.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(j.Stdout)
			}
			return out.OneOf("completion", args[0], shells...)
		},
	}
}
