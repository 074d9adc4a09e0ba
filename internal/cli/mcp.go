package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/transcript"
)

// agent is who acts through the tools, for the journal.
const agent governance.Actor = "agent"

func newMCP(env *Env, g *globals) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use:   "mcp [--tools all|read]",
		Short: "Serve an agent over standard input and output",
		Long: `MCP answers an agent in the Model Context Protocol: messages come on standard
input and answers go to standard output, one a line, until the input ends. An
agent's client starts it; nobody types into it.

The tools are get_messages, discard_messages, status, compress, recall, search,
assemble and pin. With --tools read there are only those that change nothing:
get_messages, status, recall and search. There are resources, carrel://session/ID,
carrel://item/ID and carrel://manifest/ID, and the prompts compress and handoff.

Where a tool takes a session and none is named, it is the agent's own: the one that
the hooks named last to the client that started this server, or that Claude Code named
to the server. If neither is so, the tool refuses and lists the sessions there are.

Compress and discard_messages change the window that Carrel holds of a session, not what
the agent sends; status tells both sizes, and "carrel help hooks" what makes requests
smaller.

The store is made if it is not there. What goes wrong inside is logged to standard
error, without content.`,
		Example: `  claude mcp add carrel -- carrel mcp
  carrel --scope acme/web mcp --tools read`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--tools", tools, "all", "read"); err != nil {
				return err
			}
			ctx := cmd.Context()
			return g.with(ctx, true, func(a *access) error {
				return a.serveMCP(ctx, env, g, tools == "read")
			})
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "all", "`which` tools there are: all, or read for those that change nothing")
	offer(cmd, "tools", "all", "read")
	return cmd
}

// serveMCP serves one agent, which may read and write in the scope for which it was
// started.
func (a *access) serveMCP(ctx context.Context, env *Env, g *globals, readOnly bool) error {
	grant := &governance.Grant{
		Actor: agent, Scopes: []governance.ScopePattern{governance.ScopePattern(a.scope)},
		Permissions: []governance.Permission{governance.Read, governance.Write},
	}
	if readOnly {
		grant.Permissions = grant.Permissions[:1]
	}
	engine := a.As(agent, guard.New(a.store, grant, g.clock()))
	of := func(context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
		return engine, a.scope, grant, nil
	}
	o, err := g.owner(a, readOnly)
	if err != nil {
		return err
	}
	own := func(ctx context.Context, call string) (transcript.SessionID, error) { return o.own(ctx, call) }
	s := mcp.New(of, &mcp.Options{ReadOnly: readOnly, Own: own, Version: readBuild().Version, Logger: g.logger(), Now: g.clock()})
	return s.ServeStdio(ctx, env.Stdin, env.Stdout)
}
