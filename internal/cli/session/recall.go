package session

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

func newRecall(j *job.Job) *cobra.Command {
	req := &carrel.RecallRequest{}
	var span string
	var to job.Output
	cmd := &cobra.Command{
		Use:   "recall ID [--range A:B] [--text] [-o FILE]",
		Short: "Print the original bytes of a block, or the text of an artifact",
		Long: `Recall prints the imported bytes of a block, in the window or not, and changes
nothing. ID is the id of a block, or a prefix of it, as shown by stubs and messages; the id of a
summary (sum_…), which is printed whole; or the id of a live artifact. On a terminal, control
characters are escaped and a line about the block goes to standard error; --raw prints the bytes
unchanged.`,
		Example: `  carrel recall 77e0b1c2 | head -3
  carrel recall 77e0b1c2 --range 1000:2000
  carrel recall 77e0b1c2 --text`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, j.CompleteBlock),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			req.Block = args[0]
			if req.From, req.To, err = parseRange(span); err != nil {
				return err
			}
			if to.ToFile() && j.JSON != "" {
				return out.Usagef("-o and --json: give one of them; the document of --json has the bytes, too")
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Recall(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				switch {
				case j.StderrTerminal && res.Artifact != "":
					j.Note("%s · %s · %s bytes · sha256 %s", res.Artifact, res.Class, out.Thousands(res.Size), res.Digest.Short())
				case j.StderrTerminal && isSummary(string(res.Block)):
					j.Note("%s · summary of session %s · %s bytes · sha256 %s", res.Block, out.Short(res.Session), out.Thousands(res.Size), res.Digest.Short())
				case j.StderrTerminal:
					j.Note("%s · %s · %s bytes · sha256 %s · %s", res.Block.Short(), res.Kind, out.Thousands(res.Size), res.Digest.Short(), res.State)
				}
				if j.JSON != "" {
					return j.Result("recall", res, nil)
				}
				return j.Write(to, res.Data)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&span, "range", "", "only the bytes from `A:B`, counted from 0, without B")
	f.BoolVar(&req.Text, "text", false, "print the text of the block, not the imported bytes")
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	return cmd
}

// parseRange reads a range of bytes: "A:B", "A:" or ":B".
func parseRange(s string) (from, to int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	bad := out.Usagef("--range: %q is not a range: give START:END, such as 100:200", s)
	a, b, ok := strings.Cut(s, ":")
	if !ok {
		return 0, 0, bad
	}
	if a != "" {
		if from, err = strconv.Atoi(a); err != nil || from < 0 {
			return 0, 0, bad
		}
	}
	if b != "" {
		if to, err = strconv.Atoi(b); err != nil {
			return 0, 0, bad
		}
		if to <= from {
			return 0, 0, out.Usagef("--range: %q ends before it begins: give START:END, such as 100:200", s)
		}
	}
	return from, to, nil
}
