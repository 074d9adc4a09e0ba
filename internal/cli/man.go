package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/cli/job"
)

func newMan(j *job.Job) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "man [DIR|-]",
		Short: "Write the manual pages",
		Long: `Man writes a manual page for each command to a folder, or the pages one after the
other to standard output.`,
		Example:     "  carrel debug man | man -l -\n  carrel debug man share/man/man1",
		Args:        cobra.MaximumNArgs(1),
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages := manPages(cmd.Root())
			if len(args) == 0 || args[0] == "-" {
				for _, p := range pages {
					if _, err := j.Stdout.Write(p.text); err != nil {
						return err
					}
				}
				return nil
			}
			if err := writePages(j, args[0], pages, force); err != nil {
				return err
			}
			j.Note("wrote %d pages to %s", len(pages), args[0])
			return nil
		},
	}
	job.WritesFiles(cmd, &force)
	return cmd
}

// writePages writes all pages into a folder. If a page exists and force is false, it writes none.
func writePages(j *job.Job, folder string, pages []manPage, force bool) error {
	for _, p := range pages {
		if err := j.Free(job.Output{File: filepath.Join(folder, p.name), Force: force}); err != nil {
			return err
		}
	}
	dir := j.Path(folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(dir, p.name), p.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type manPage struct {
	name string
	text []byte
}

// manPages returns the pages of a command and of its subcommands.
func manPages(cmd *cobra.Command) []manPage {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	pages := []manPage{{name + ".1", roff(cmd, name)}}
	for _, c := range cmd.Commands() {
		if c.Name() != "help" {
			pages = append(pages, manPages(c)...)
		}
	}
	return pages
}

// roff returns the manual page of one command.
func roff(cmd *cobra.Command, name string) []byte {
	var b bytes.Buffer
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q %q\n", strings.ToUpper(name), "carrel", "Carrel Manual")
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", escape(name), escape(cmd.Short))
	if cmd.Runnable() {
		section("SYNOPSIS")
		fmt.Fprintf(&b, ".B %s\n", escape(cmd.UseLine()))
	}
	section("DESCRIPTION")
	text := cmp.Or(cmd.Long, cmd.Short+".")
	verbatim(&b, text)
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape(c.Name()), escape(c.Short))
			}
		}
	}
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		section("EXAMPLES")
		verbatim(&b, cmd.Example)
	}
	if cmd.HasParent() {
		section("SEE ALSO")
		fmt.Fprintf(&b, ".BR %s (1)\n", escape(strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")))
	} else {
		section("TOOLS THAT SHARE A LANGUAGE")
		verbatim(&b, topic.Text("tools"))
		section("EXIT STATUS")
		verbatim(&b, topic.Text("exit-codes"))
		section("ENVIRONMENT")
		verbatim(&b, topic.Text("env"))
		section("FILES")
		verbatim(&b, topic.Text("config"))
	}
	return b.Bytes()
}

func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		arg, usage := pflag.UnquoteUsage(f)
		if arg != "" {
			names += " " + arg
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", escape(names), escape(usage))
	})
}

// verbatim adds text without changing its layout.
func verbatim(b *bytes.Buffer, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", escape(filled(text)))
}

// escape makes text safe for roff.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
