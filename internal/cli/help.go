package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/out"
)

// columns is the width of help texts, on any terminal.
const columns = 80

// helpText returns the help of a command or a topic.
func helpText(cmd *cobra.Command) string {
	text := cmp.Or(cmd.Long, cmd.Short+".")
	text = filled(text) + "\n"
	if !cmd.Runnable() { // a topic
		return text
	}
	usage := cmd.UsageString()
	if line := "  " + cmd.UseLine() + "\n"; out.Columns(line) > columns+1 {
		usage = strings.Replace(usage, line, hung(line), 1)
	}
	return text + "\n" + usage
}

// filled returns a text whose paragraphs fit columns. It breaks a paragraph with a longer line
// between words. Lines that begin with a blank stay as they are.
func filled(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		indented, wide := false, false
		for line := range strings.SplitSeq(p, "\n") {
			indented = indented || strings.HasPrefix(line, " ")
			wide = wide || out.Columns(line) > columns
		}
		if wide && !indented {
			paragraphs[i] = strings.TrimSuffix(broken(p, "", ""), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// hung returns a usage line broken to columns, with later lines indented.
func hung(line string) string { return broken(line, "  ", "      ") }

// broken breaks a text between words into lines that fit columns. The string first is put before
// the first line, and the string others before each other line.
func broken(text, first, others string) string {
	var b strings.Builder
	b.WriteString(first)
	at := out.Columns(first)
	for i, word := range strings.Fields(text) {
		n := out.Columns(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteString("\n" + others)
			at = out.Columns(others)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}

// usageTemplate is the part of a command's help below its description. Only the help of the root
// lists the flags of every command.
const usageTemplate = `Usage:
{{- if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- $cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
{{- if .HasHelpSubCommands}}

Topics, each by "{{.CommandPath}} help TOPIC":{{range $cmds}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" says more about a command.{{end}}
{{- if .HasParent}}

Flags of every command, such as --json, --store and --quiet: "carrel --help"{{end}}
`
