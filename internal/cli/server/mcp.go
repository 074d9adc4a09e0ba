package server

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store/guard"
)

// agent is the actor in journal entries about calls of the tools.
const agent governance.Actor = "agent"

func newMCP(j *job.Job) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use:   "mcp [--tools all|read]",
		Short: "Serve an agent over standard input and output",
		Long: `MCP serves an agent over the Model Context Protocol: messages on standard input,
answers on standard output, one a line, until the input ends. An agent's client starts it; it is
not meant for typing.

The tools are get_messages, discard_messages, status, compress, recall, search, assemble and pin.
--tools read offers only those that change nothing: get_messages, status, recall and search. There
are resources, carrel://session/ID, carrel://item/ID and carrel://manifest/ID, and the prompts
compress and handoff.

A tool that takes a session uses the agent's own session by default: the one that Codex names with
each call, that a hook last named for the client that started this server, or that Claude Code
named to the server. If there is none, the tool refuses and lists the sessions.

Compress and discard_messages change the window that Carrel holds of a session, not the agent's
requests; status shows both sizes, and "carrel help hooks" explains how requests become smaller.

The store is created if it does not exist. Internal errors are logged to standard error, without
content.`,
		Example: `  claude mcp add carrel -- carrel mcp
  carrel --scope acme/web mcp --tools read`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.OneOf("--tools", tools, "all", "read"); err != nil {
				return err
			}
			ctx := cmd.Context()
			return j.With(ctx, true, func(a *job.Access) error {
				return serveMCP(ctx, a, j, tools == "read")
			})
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "all", "`set` of tools: all, or read for those that change nothing")
	job.Offer(cmd, "tools", "all", "read")
	return cmd
}

// serveMCP serves one agent, which can read and write in the scope of the command line.
func serveMCP(ctx context.Context, a *job.Access, j *job.Job, readOnly bool) error {
	grant := &governance.Grant{
		Actor: agent, Scopes: []governance.ScopePattern{governance.ScopePattern(a.Scope)},
		Permissions: []governance.Permission{governance.Read, governance.Write},
	}
	if readOnly {
		grant.Permissions = grant.Permissions[:1]
	}
	engine := a.As(agent, guard.New(a.Store, grant, j.Clock()))
	of := func(context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
		return engine, a.Scope, grant, nil
	}
	o, err := newOwner(j, a, readOnly)
	if err != nil {
		return err
	}
	s := mcp.New(of, &mcp.Options{ReadOnly: readOnly, Own: o.own, Version: job.ReadBuild().Version, Logger: j.Logger(), Now: j.Clock()})
	return s.ServeStdio(ctx, j.Stdin, j.Stdout)
}
