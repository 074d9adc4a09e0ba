package account

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
)

// A label is what an echo of a command line prints: a whole line, or the beginning of one whose rest
// only the shell knows.
type label struct {
	text string
	open bool
}

// labelsOf returns the labels that a command line prints between the outputs of its programs, such as
// "rate 10" of for r in 10 44; do echo rate $r; render $r; done. An echo of a status is no label: it
// belongs to what stands above it.
func labelsOf(l *shell.Line) (all []label) {
	for i := range l.Commands {
		c := &l.Commands[i]
		words := c.Args
		for len(words) > 0 && (words[0] == "-e" || words[0] == "-n") {
			words = words[1:]
		}
		said := strings.Join(words, " ")
		if c.Name != "echo" || c.Inner || !c.Shown || strings.Contains(said, "$?") {
			continue
		}
		before, _, open := strings.Cut(said, "$")
		if before = strings.Trim(before, ` "`); len(before) > 1 { // a word that is not known has its quotation marks
			all = append(all, label{before, open})
		}
	}
	return all
}

// labels reports whether a line of an output is one of the labels.
func labels(all []label, line string) bool {
	return slices.ContainsFunc(all, func(l label) bool { return line == l.text || l.open && strings.HasPrefix(line, l.text) })
}
