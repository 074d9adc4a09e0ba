package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/doc/topic"
)

// topics are the help topics that are not commands, each with its title.
var topics = [...]struct{ name, short string }{
	{"formats", "Formats that are read and written"},
	{"budget", "Budgets and how they are met"},
	{"summaries", "How a window is made smaller, and when that is accepted"},
	{"tiers", "How far a context is cut"},
	{"gate", "The gate for memories"},
	{"tools", "How language, intent, pager, contract and handoff work together"},
	{"contracts", "Contracts of conversations"},
	{"hooks", "Hooks of agents"},
	{"handoffs", "How another agent goes on"},
	{"exit-codes", "Exit codes"},
	{"env", "Variables of the environment"},
}

// newTopics returns the topics as commands that only have help.
func newTopics() []*cobra.Command {
	list := make([]*cobra.Command, 0, len(topics))
	for _, t := range topics {
		list = append(list, &cobra.Command{Use: t.name, Short: t.short, Long: topic.Text(t.name)})
	}
	return list
}
