package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func newState(_ *Env, g *globals) *cobra.Command {
	var out output
	var s *sessionArg
	var compat bool
	cmd := &cobra.Command{
		Use:   "state [SESSION] [--compat] [-o FILE]",
		Short: "Print the state of compression of a conversation as JSON",
		Long: `State prints the compression_state document of a conversation: its summary, how
often it was compressed and when, what share of the probes the window answered,
and its tokens. It is always JSON, in the form that other tools for the
context-compression skill read, without a key for the schema; "carrel schema
state" describes it. Without a summary that field is null.

An entry with a source is an object. --compat prints the fields that version 1.0.0
of the skill knows, and no others: every entry is a text, and a section with nothing
to say is empty. Its own code reads that.`,
		Example: `  carrel state | carrel schema check state -
  carrel state --jq .compression_state.probe_score`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if g.json == "" {
				g.json = allFields
			}
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				st, err := a.State(ctx, a.scope, &carrel.SessionRequest{Session: id})
				if err != nil {
					return err
				}
				var value any = st
				if compat {
					value = newPublishedState(st)
				}
				if out.file != "" {
					return g.writeJSON(value, out)
				}
				return g.result(document{value: value}, nil)
			})
		},
	}
	s = takesSession(cmd)
	cmd.Flags().BoolVar(&compat, "compat", false, "print the form of version 1.0.0 of the skill: no sources, every entry a text")
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	return cmd
}

// writeState writes the state of compression of a session to a file.
func (g *globals) writeState(ctx context.Context, a *access, id transcript.SessionID, to output) error {
	st, err := a.State(ctx, a.scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		return err
	}
	return g.writeJSON(st, to)
}

// writeJSON writes a value to a file, as JSON with lines.
func (g *globals) writeJSON(value any, to output) error {
	out, err := jsonText(value, true)
	if err != nil {
		return err
	}
	return g.write(to, out)
}

// A publishedState is a [carrel.State] with the fields that the skill published.
type publishedState struct {
	Compression publishedCompression `json:"compression_state"`
}

type publishedCompression struct {
	Summary    *summary.Summary `json:"summary"` // nil if there is none
	Count      int              `json:"compression_count"`
	At         string           `json:"last_compressed_at,omitempty"`
	ProbeScore ratio.Ratio      `json:"probe_score"`
}

func newPublishedState(st *carrel.State) publishedState {
	c := st.Compression
	p := publishedCompression{Count: c.Count, At: c.At, ProbeScore: c.ProbeScore}
	if c.Summary != nil {
		p.Summary = summary.Published(c.Summary)
	}
	return publishedState{p}
}
