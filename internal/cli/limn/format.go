package limn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/limn"
)

func newLimnFormat(j *job.Job) *cobra.Command {
	var names []string
	var write, diff bool
	cmd := &cobra.Command{
		Use:   "fmt FILE|- [-w] [-d] [--pack P]...",
		Short: "Print a program in its canonical form",
		Long: `Fmt prints a program with each statement as the language itself would write it.
Comments and blank lines stay where they are. A program with errors is refused.

With -w the file is replaced, as a whole or not at all. With -d what would change is printed
instead, as a diff, and the exit code is 1 if that is anything.`,
		Example: `  carrel limn fmt rules.limn
  carrel limn fmt -w rules.limn`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := args[0]
			if write && file == "-" {
				return out.Usagef("-w and -: text from standard input has no file to write to: leave out -w")
			}
			if write && diff {
				return out.Usagef("-w and -d: use only one")
			}
			packs, err := readPacks(j, names)
			if err != nil {
				return err
			}
			before, err := j.Read(file)
			if err != nil {
				return err
			}
			after, err := limn.Format(string(before), &limn.Options{Packs: packs})
			if err != nil {
				return faulty(file, err)
			}
			value := formatted{File: file, Changed: after != string(before), Text: after}
			if write && value.Changed {
				if err := j.Place(file, []byte(after), true); err != nil {
					return err
				}
			}
			if write && j.JSON == "" {
				return nil
			}
			err = j.Result("limn-fmt", value, func(p *out.Page) {
				if diff {
					p.Verbatim(lineDiff(file, string(before), after))
				} else {
					p.Verbatim(after)
				}
			})
			if err == nil && diff && value.Changed {
				return out.ErrNo
			}
			return err
		},
	}
	takesPacks(cmd, &names)
	f := cmd.Flags()
	f.BoolVarP(&write, "write", "w", false, "replace the file")
	f.BoolVarP(&diff, "diff", "d", false, "print the changes")
	return cmd
}

// A formatted is a program in its canonical form.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Text    string `json:"text"`
}

// lineDiff returns the unified diff of two texts with the same number of lines.
func lineDiff(name, before, after string) string {
	if before == after {
		return ""
	}
	var old, now []string
	for _, line := range limn.Lines(before) {
		old = append(old, line)
	}
	for _, line := range limn.Lines(after) {
		now = append(now, line)
	}
	if slices.Equal(old, now) {
		return fmt.Sprintf("--- %s\n+++ %s\nonly the line ends differ\n", name, name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for i := 0; i < len(old); i++ {
		from := i
		for i < len(old) && old[i] != now[i] {
			i++
		}
		if n := i - from; n > 0 {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n-%s\n+%s\n", from+1, n, from+1, n,
				strings.Join(old[from:i], "\n-"), strings.Join(now[from:i], "\n+"))
		}
	}
	return b.String()
}
