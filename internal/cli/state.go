package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/transcript"
)

func newState(_ *Env, g *globals) *cobra.Command {
	var out output
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "state [SESSION] [-o FILE]",
		Short: "Print the state of compression of a conversation as JSON",
		Long: `State prints the compression_state document of a conversation: its summary, how
often it was compressed and when, what share of the probes the window answered,
and its tokens. It is always JSON, in the form that other tools for the
context-compression skill read, without a key for the schema; "carrel schema
state" describes it. Without a summary that field is null.`,
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
				if out.file != "" {
					return g.writeState(ctx, a, id, out)
				}
				st, err := a.State(ctx, a.scope, id)
				if err != nil {
					return err
				}
				return g.result(document{value: st}, nil)
			})
		},
	}
	s = takesSession(cmd)
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	return cmd
}

// writeState writes the state of compression of a session to a file.
func (g *globals) writeState(ctx context.Context, a *access, id transcript.SessionID, to output) error {
	st, err := a.State(ctx, a.scope, id)
	if err != nil {
		return err
	}
	out, err := jsonText(st, true)
	if err != nil {
		return err
	}
	return g.write(to, out)
}
