package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// doc/reference/commands.md has the help of every command. Run with -update to write it.
func TestReferenceOfCommands(t *testing.T) {
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
	compare(t, "../../doc/reference/commands.md", commandReference(root))
}

// commandReference returns a page with the help of all commands, in the groups of the help
// of the root.
func commandReference(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Commands

This page is what %[1]scarrel COMMAND --help%[1]s prints, for every command. It is written by
%[1]sgo test ./internal/cli -run Reference -update%[1]s.

[Flags of every command](#flags-of-every-command) · [Exit codes](#exit-codes) · [Former spellings](#former-spellings)
`, "`")
	grouped := slices.Clone(root.Groups())
	for _, g := range append(grouped, &cobra.Group{Title: "More commands:"}) {
		var list []*cobra.Command
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID && cmd.Name() != "help" && (cmd.Runnable() || cmd.HasSubCommands()) {
				list = append(list, cmd)
			}
		}
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(g.Title, ":"))
		for _, cmd := range list {
			commandSections(&b, cmd)
		}
	}
	fmt.Fprintf(&b, "\n## Flags of every command\n\n```text\n%s```\n", root.PersistentFlags().FlagUsagesWrapped(columns))
	fmt.Fprintf(&b, "\n## Exit codes\n\n```text\n%s\n```\n", filled(commandAt(root, "exit-codes").Long))
	b.WriteString("\n## Former spellings\n\nThey work, and are in no help.\n\n| former | now |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(former)) {
		fmt.Fprintf(&b, "| `carrel %s` | `carrel %s` |\n", name, strings.Join(former[name], " "))
	}
	return b.String()
}

// commandSections writes a section for a command and for each of those below it.
func commandSections(b *strings.Builder, cmd *cobra.Command) {
	text, _, _ := strings.Cut(helpText(cmd), "\nFlags of every command, such as")
	fmt.Fprintf(b, "\n### %s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(text))
	for _, c := range cmd.Commands() {
		if c.Name() != "help" {
			commandSections(b, c)
		}
	}
}
