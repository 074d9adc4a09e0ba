package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

func newServe(_ *Env, g *globals) *cobra.Command {
	var fl serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--listen ADDR] [--mcp=false]",
		Short: "Serve HTTP and MCP",
		Long: `Serve answers services over HTTP and agents over MCP, in one process on one store,
until it is interrupted, or ended by "carrel stop". It listens on this machine
alone, unless --remote or the settings say otherwise, and every request needs a
token, also on this machine: "carrel token create" makes one.

  /v1/…           the jobs, a route each; /v1/openapi.json describes them
  /v1/events      what happens, as a stream
  /mcp            the Model Context Protocol, for agents; the header Carrel-Session
                  names the session that an agent is in
  /healthz        says that the process lives; needs no token, and so does /readyz
  /metrics        for Prometheus; wants the permission observe

Several servers, and commands besides them, may work on one store. When it ends, a
server takes nothing new, finishes what it has begun, and closes its store.`,
		Example: `  carrel serve
  carrel token create --actor ci --for acme/web
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:7717/v1/sessions`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return g.with(ctx, true, func(a *access) error { return g.serve(ctx, a, cmd, &fl) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&fl.listen, "listen", "", "`address` to listen at; of the settings, or else 127.0.0.1:7717, by default. Port 0 takes a free one")
	f.BoolVar(&fl.remote, "remote", false, "let other machines reach it, if the address lets them")
	f.StringArrayVar(&fl.hosts, "host", nil, "another `name` by which clients call it; may be given again")
	f.BoolVar(&fl.mcp, "mcp", true, "serve agents over MCP, too")
	return cmd
}

// serveFlags are the flags of serve.
type serveFlags struct {
	listen      string
	remote, mcp bool
	hosts       []string
}

// settle puts what the flags say into what the settings say.
func (fl *serveFlags) settle(cmd *cobra.Command, s config.Server) config.Server {
	if fl.listen != "" {
		s.Listen = fl.listen
	}
	if cmd.Flags().Changed("remote") {
		s.Remote = fl.remote
	}
	s.Hosts = append(s.Hosts, fl.hosts...)
	return s
}

// serve serves until ctx is done, which is how it is meant to end.
func (g *globals) serve(ctx context.Context, a *access, cmd *cobra.Command, fl *serveFlags) (err error) {
	set := fl.settle(cmd, a.settings.Server())
	authority, err := a.authority(ctx)
	if err != nil {
		return err
	}
	l, err := auth.Listen(set.Listen, set.Remote)
	if errors.Is(err, auth.ErrRemote) {
		return &usageError{err: err, hint: "--remote lets other machines reach it; put TLS before it"}
	}
	if err != nil {
		return &usageError{err: err, hint: "carrel ps lists the servers that run; port 0 takes a free one"}
	}
	defer func() { _ = l.Close() }() // closed by the service already, or never used
	var tracer trace.TracerProvider
	if set.OTLP != "" && !a.settings.Offline() {
		provider, err := telemetry.NewTracerProvider(set.OTLP, nil)
		if err != nil {
			return &usageError{err: fmt.Errorf("telemetry.otlp: %w", err), hint: "carrel help config"}
		}
		defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
		tracer = provider
	}
	s, err := service.New(&service.Options{
		Engine: a.Engine, Store: a.store, Authority: authority, MCP: fl.mcp,
		Listen: l.Addr().String(), Hosts: set.Hosts, Origins: set.Origins, Grace: set.Grace,
		Version: readBuild().Version, Logger: g.logger(), Tracer: tracer, Now: g.clock(),
	})
	if err != nil {
		return &usageError{err: err, hint: "carrel help config"}
	}
	record, release, err := g.announce(ctx, a, l.Addr().String(), fl)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	g.note("carrel serves at %s; interrupt it or %q to end", record.URL, fmt.Sprintf("carrel stop %d", record.PID))
	return s.Serve(ctx, l)
}

// announce tells where a server is, to who started it and to carrel ps.
func (g *globals) announce(ctx context.Context, a *access, address string, fl *serveFlags) (*server, func() error, error) {
	info, err := a.store.Info(ctx)
	if err != nil {
		return nil, nil, err
	}
	record := &server{
		PID: os.Getpid(), URL: "http://" + address, Surfaces: []string{"http"}, Store: info.Path,
		Version: readBuild().Version, Started: g.env.Now().UTC().Truncate(time.Second),
	}
	if fl.mcp {
		record.Surfaces = append(record.Surfaces, "mcp")
	}
	release, err := g.enlist(record)
	if err != nil {
		return nil, nil, err
	}
	if tokens, ok := a.store.(store.Tokens); ok {
		if list, err := tokens.Tokens(ctx); err == nil && len(list) == 0 {
			g.note("there is no token yet: carrel token create --actor NAME makes one")
		}
	}
	if g.json == "" {
		return record, release, nil
	}
	return record, release, g.result(document{name: "serve", value: record}, nil)
}

// authority returns who checks the tokens of the store.
func (a *access) authority(ctx context.Context) (*auth.Authority, error) {
	tokens, ok := a.store.(store.Tokens)
	info, err := a.store.Info(ctx)
	switch {
	case err != nil:
		return nil, err
	case !ok || info.Path == "":
		return nil, usagef("this store keeps no tokens: name a file with --store")
	}
	file, err := a.settings.TokenKey()
	if err != nil {
		return nil, err
	}
	key, err := auth.LoadKey(file)
	if err != nil {
		return nil, err
	}
	return auth.NewAuthority(tokens, key, nil), nil
}
