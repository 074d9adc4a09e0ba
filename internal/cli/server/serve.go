package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/carrel-dev/carrel/internal/acme"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

func newServe(j *job.Job) *cobra.Command {
	var fl serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--listen ADDR] [--mcp=false] [--proxy]",
		Short: "Serve HTTP and MCP",
		Long: `Serve runs one server on one store: an HTTP API for services and an MCP server for
agents. It runs until it is interrupted or "carrel stop" ends it. It listens on this machine only,
unless --remote or the settings permit more. Every request needs a credential, even from this
machine: "carrel credential create" makes one.

  /v1/…           the API; /v1/openapi.json describes each route
  /v1/events      a stream of events
  /console/       web pages for people, with --console
  /mcp            the Model Context Protocol; the header Carrel-Session names
                  the agent's session
  /healthz        whether the process lives; needs no credential
  /readyz         whether the server takes requests; needs no credential
  /metrics        metrics for Prometheus; the credential needs the permission
                  observe

Several servers and commands may use the same store at once. When a server ends, it accepts no
more requests, finishes the running ones, and closes the store. With --drain it first reports at
/readyz for a while that it is about to end, and still answers, so that a load balancer can turn
away from it.`,
		Example: `  carrel serve
  carrel credential create --actor ci --for acme/web
  curl -H "Authorization: Bearer $CREDENTIAL" http://127.0.0.1:7717/v1/sessions`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fl.drain < 0 {
				return out.Usagef("--drain: %v is below 0: give a duration such as 10s", fl.drain)
			}
			ctx := cmd.Context()
			return j.With(ctx, true, func(a *job.Access) error { return serveHTTP(ctx, j, a, cmd, &fl) })
		},
	}
	fl.register(cmd)
	return cmd
}

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, cert, key  string
	remote, mcp, proxy bool
	console, write     bool
	hosts, acme        []string
	drain              time.Duration
}

// register adds the flags of serve.
func (fl *serveFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&fl.listen, "listen", "", "`address` to listen at; by default the one in the settings, or else 127.0.0.1:7717. Port 0 takes a free port")
	f.StringVar(&fl.cert, "tls-cert", "", "speak HTTPS with the certificate in `file`, which is read again when it changes")
	f.StringVar(&fl.key, "tls-key", "", "`file` with the private key of the certificate")
	f.StringArrayVar(&fl.acme, "acme", nil, "speak HTTPS with a certificate for the host `name`, which Let's Encrypt or the authority in the settings issues under its terms; may be repeated")
	f.BoolVar(&fl.remote, "remote", false, "let other machines reach the server, if it listens at an address that they reach")
	f.StringArrayVar(&fl.hosts, "host", nil, "another `name` by which clients call the server; may be repeated")
	f.BoolVar(&fl.mcp, "mcp", true, "serve agents over MCP at /mcp")
	f.BoolVar(&fl.console, "console", false, "serve web pages at /console/, where people sign in with a credential")
	f.BoolVar(&fl.write, "allow-write", false, "let people pin, undo and review on the pages of the console")
	f.DurationVar(&fl.drain, "drain", 0, "when told to end, answer for a `duration` such as 10s as before, while /readyz says that the server is about to end")
	f.BoolVar(&fl.proxy, "proxy", false, "also run the proxy for calls to models, at proxy.listen: carrel help proxy")
}

// drained returns a context that ends the duration d after ctx, with the same cause. When ctx ends,
// it calls the function begin.
func drained(ctx context.Context, d time.Duration, begin func()) (_ context.Context, cancel func()) {
	later, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		begin()
		select {
		case <-time.After(d):
			end(context.Cause(ctx))
		case <-later.Done():
		}
	})
	return later, func() {
		stop()
		end(nil)
	}
}

// settle returns the settings with the flags applied.
func (fl *serveFlags) settle(cmd *cobra.Command, s config.Server) config.Server {
	if fl.listen != "" {
		s.Listen = fl.listen
	}
	if fl.cert != "" || fl.key != "" {
		s.Cert, s.Key, s.ACME = fl.cert, fl.key, nil
	}
	if len(fl.acme) > 0 {
		s.Cert, s.Key, s.ACME = "", "", fl.acme
	}
	if cmd.Flags().Changed("remote") {
		s.Remote = fl.remote
	}
	s.Hosts = slices.Concat(s.Hosts, fl.hosts, s.ACME)
	return s
}

// serveHTTP serves until ctx is done, which is no error.
func serveHTTP(ctx context.Context, j *job.Job, a *job.Access, cmd *cobra.Command, fl *serveFlags) (err error) {
	set := fl.settle(cmd, a.Settings.Server())
	authority, err := authorityOf(ctx, a)
	if err != nil {
		return err
	}
	l, err := listen(j, &set, a.Settings.Offline())
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // the service has closed it, or it was never used
	var tracer trace.TracerProvider
	if set.OTLP != "" && !a.Settings.Offline() {
		provider, err := telemetry.NewTracerProvider(set.OTLP, nil)
		if err != nil {
			return out.Hinted(out.Usagef("telemetry.otlp: %w", err), "carrel help config")
		}
		defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
		tracer = provider
	}
	metrics := &telemetry.Registry{}
	s, err := service.New(&service.Options{
		Engine: a.Engine, Store: a.Store, Authority: authority, MCP: fl.mcp,
		Console: fl.console, AllowWrite: fl.write, Secure: set.Scheme() == "https",
		Listen: l.Addr().String(), Hosts: set.Hosts, Origins: set.Origins, Grace: set.Grace,
		Door: set.Limits, LargeJobs: set.LargeJobs,
		Version: job.ReadBuild().Version, Logger: j.Logger(), Metrics: metrics, Tracer: tracer, Now: j.Clock(),
	})
	if err != nil {
		return out.Hinted(out.Usagef("%w", err), "carrel help config")
	}
	record, err := recordOf(ctx, j, a, set.Scheme()+"://"+l.Addr().String(), "http")
	if err != nil {
		return err
	}
	if fl.mcp {
		record.Surfaces = append(record.Surfaces, "mcp")
	}
	if fl.console {
		record.Surfaces = append(record.Surfaces, "console")
	}
	var own *ownProxy
	if fl.proxy {
		if own, err = openProxy(ctx, j, a, a.Settings.Proxy(), metrics); err != nil {
			return err
		}
		defer func() { _ = own.listener.Close() }() // the proxy has closed it, or it was never used
		record.Surfaces, record.Proxy = append(record.Surfaces, surfaceProxy), own.url()
	}
	release, err := announce(ctx, j, a, record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	j.Note("carrel serves at %s; interrupt it or %q to end", record.URL, fmt.Sprintf("carrel stop %d", record.PID))
	serving, cancel := drained(ctx, fl.drain, func() {
		s.Drain()
		if fl.drain > 0 {
			j.Note("carrel ends in %v", fl.drain)
		}
	})
	defer cancel()
	if own == nil {
		return s.Serve(serving, l)
	}
	j.Note("%s", own.says())
	return together(serving, func(ctx context.Context) error { return s.Serve(ctx, l) }, func(ctx context.Context) error {
		return own.serve(ctx, j, record, set.Grace)
	})
}

// A secured has a certificate, or gets one, and makes listeners speak TLS.
type secured interface {
	Listen(l auth.Listener) auth.Listener
}

// security returns how the server gets its certificate, or nil if it uses plain HTTP.
func security(j *job.Job, set *config.Server, offline bool) (secured, error) {
	warn := func(err error) {
		p := j.Report()
		p.Line("%s", out.Visible("warning: "+err.Error()))
		j.Warn(p)
	}
	switch {
	case len(set.ACME) > 0 && (set.Cert != "" || set.Key != ""):
		return nil, out.Hinted(out.Usagef("server.tls_cert and server.acme.hosts exclude each other"), "set server.tls_cert and server.tls_key, or server.acme.hosts, not both")
	case len(set.ACME) > 0 && offline:
		return nil, out.Hinted(out.Usagef("--acme gets a certificate over the network, and Carrel is offline"), "carrel help config")
	case len(set.ACME) > 0:
		folder := j.Path(set.ACMEFolder)
		if set.ACMEFolder == "" {
			var err error
			if folder, err = config.ACMEDir(j.Getenv); err != nil {
				return nil, err
			}
		}
		a, err := acme.New(&acme.Options{
			Hosts: set.ACME, Directory: set.ACMEDirectory, Email: set.ACMEEmail, Folder: folder, Now: j.Clock(), Note: warn,
		})
		if err != nil {
			return nil, out.Hinted(out.Usagef("%w", err), "--acme and server.acme.hosts take names that lead to this server from everywhere")
		}
		return a, nil
	case set.Cert != "" || set.Key != "":
		switch {
		case set.Cert == "":
			return nil, out.Usagef("serve: --tls-key needs --tls-cert, the file of the certificate")
		case set.Key == "":
			return nil, out.Usagef("serve: --tls-cert needs --tls-key, the file of its key")
		}
		pair, err := auth.LoadKeyPair(j.Path(set.Cert), j.Path(set.Key), warn)
		if err != nil {
			return nil, out.Hinted(out.Usagef("%w", err), "--tls-cert and --tls-key name files with PEM blocks that belong together")
		}
		return pair, nil
	}
	return nil, nil
}

// listen listens at the address in the settings, with TLS if they name a certificate or hosts to
// get one for.
func listen(j *job.Job, set *config.Server, offline bool) (auth.Listener, error) {
	tls, err := security(j, set, offline)
	if err != nil {
		return nil, err
	}
	l, err := auth.Listen(set.Listen, set.Remote)
	switch {
	case errors.Is(err, auth.ErrRemote) && tls == nil:
		return nil, out.Hinted(out.Usagef("%w, which needs --remote", err), "give --remote, and encrypt with --acme, with --tls-cert and --tls-key, or with a TLS proxy in front of it")
	case errors.Is(err, auth.ErrRemote):
		return nil, out.Hinted(out.Usagef("%w, which needs --remote", err), "give --remote, or an address of this machine such as 127.0.0.1:8787")
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, out.Hinted(out.Usagef("%w", err), "carrel ps lists the servers that run; port 0 takes a free one")
	case err != nil:
		return nil, out.Hinted(out.Usagef("%w", err), "--listen takes an address of this machine and a port up to 65535, such as 127.0.0.1:8787; port 0 takes a free one")
	case tls == nil:
		return l, nil
	}
	return tls.Listen(l), nil
}

// together runs functions concurrently until ctx is done or one of them returns, and waits for
// all of them.
func together(ctx context.Context, all ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, do := range all {
		g.Go(func() error {
			defer cancel()
			return do(ctx)
		})
	}
	return g.Wait()
}

// recordOf returns the record of a server at a URL.
func recordOf(ctx context.Context, j *job.Job, a *job.Access, url string, surfaces ...string) (*running, error) {
	info, err := a.Store.Info(ctx)
	if err != nil {
		return nil, err
	}
	return &running{
		PID: os.Getpid(), URL: url, Surfaces: surfaces, Store: info.Path,
		Version: job.ReadBuild().Version, Started: j.Now().UTC().Truncate(time.Second),
	}, nil
}

// announce records a server for "carrel ps". With --json it prints the record. It tells the user if
// the store has no credential.
func announce(ctx context.Context, j *job.Job, a *job.Access, record *running) (release func() error, err error) {
	release, err = enlist(j, record)
	if err != nil {
		return nil, err
	}
	if credentials, ok := a.Store.(store.Credentials); ok {
		if list, err := credentials.Credentials(ctx); err == nil && len(list) == 0 {
			j.Note("there is no credential yet: carrel credential create --actor NAME makes one")
		}
	}
	if j.JSON == "" {
		return release, nil
	}
	return release, j.Result("serve", record, nil)
}

// authorityOf returns the authority that checks the credentials of the store.
func authorityOf(ctx context.Context, a *job.Access) (*auth.Authority, error) {
	credentials, ok := a.Store.(store.Credentials)
	info, err := a.Store.Info(ctx)
	switch {
	case err != nil:
		return nil, err
	case !ok || info.Path == "":
		return nil, out.Usagef("this store keeps no credentials: name a file with --store")
	}
	file, err := a.Settings.CredentialKey()
	if err != nil {
		return nil, err
	}
	key, err := auth.LoadKey(file)
	if err != nil {
		return nil, err
	}
	return auth.NewAuthority(credentials, key, nil), nil
}
