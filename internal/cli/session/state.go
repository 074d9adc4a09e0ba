package session

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func newState(j *job.Job) *cobra.Command {
	var to job.Output
	var s *job.SessionArg
	var compat bool
	cmd := &cobra.Command{
		Use:   "state [SESSION] [--compat] [-o FILE]",
		Short: "Print the state of compression of a conversation as JSON",
		Long: `State prints the compression_state document of a conversation: its summary, how
often it was compressed and when, what share of the probes the window answered, and its tokens. It
is always JSON, in the form that other tools for the context-compression skill read, without a key
for the schema; "carrel debug schema state" describes it. Without a summary that field is null.

An entry with a source is an object. --compat prints the fields that version 1.0.0 of the skill
knows, and no others: every entry is a text, and a section with nothing to say is empty. Its own
code reads that.`,
		Example: `  carrel state | carrel debug schema check state -
  carrel state --jq .compression_state.probe_score`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wholeTo(j, to); err != nil {
				return err
			}
			ctx := cmd.Context()
			j.JSON = cmp.Or(j.JSON, out.AllFields)
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				st, err := a.State(ctx, a.Scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				var value any = st
				if compat {
					value = newPublishedState(st)
				}
				if to.ToFile() {
					return writeJSON(j, value, to)
				}
				return j.Result("", value, nil)
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().BoolVar(&compat, "compat", false, "print the form of version 1.0.0 of the skill: no sources, every entry a text")
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	return cmd
}

// wholeTo returns an error if flags select a part of a document that goes to a file, because a file
// gets the whole document.
func wholeTo(j *job.Job, to job.Output) error {
	if !to.ToFile() || j.JQ == "" && j.Template == "" && (j.JSON == "" || j.JSON == out.AllFields) {
		return nil
	}
	return out.Usagef("-o: the file gets the whole document: leave out --jq, --template and the fields of --json, or give > FILE in place of -o")
}

// writeState writes the compression state of a session to a file.
func writeState(ctx context.Context, j *job.Job, a *job.Access, id transcript.SessionID, to job.Output) error {
	st, err := a.State(ctx, a.Scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		return err
	}
	return writeJSON(j, st, to)
}

// writeJSON writes a value to a file as indented JSON.
func writeJSON(j *job.Job, value any, to job.Output) error {
	out, err := out.JSONText(value, true)
	if err != nil {
		return err
	}
	return j.Write(to, out)
}

// A publishedState is a [carrel.State] with the field names of the published skill.
type publishedState struct {
	Compression publishedCompression `json:"compression_state"`
}

type publishedCompression struct {
	Summary    *summary.Summary `json:"summary"` // nil if there is none
	Count      int              `json:"compression_count"`
	At         string           `json:"last_compressed_at,omitempty"`
	ProbeScore ratio.Ratio      `json:"probe_score"`
}

func newPublishedState(st *carrel.ProtocolState) publishedState {
	c := st.Compression
	p := publishedCompression{Count: c.Count, At: c.At, ProbeScore: c.ProbeScore}
	if c.Summary != nil {
		p.Summary = summary.Published(c.Summary)
	}
	return publishedState{p}
}
