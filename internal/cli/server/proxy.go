package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/token"
)

// The surfaces in the records of running servers.
const (
	surfaceProxy = "proxy"
	surfaceRun   = "run" // a proxy that ends with an agent
)

func newProxy(j *job.Job) *cobra.Command {
	var fl proxyFlags
	cmd := &cobra.Command{
		Use:   "proxy [--listen ADDR] [--mode observe|manage]",
		Short: "Pass calls to models on, and record them",
		Long: `Proxy forwards calls between agents and the providers of their models, on this
machine alone. It forwards requests and answers byte for byte, records each call before it is sent
and its outcome, and imports the conversations as they grow. Point an agent at it:

  ANTHROPIC_BASE_URL=http://127.0.0.1:8787/anthropic
  OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1

or let "carrel run" do that. The agent's own key or login goes only to the upstream in the
settings. A call that cannot be recorded is forwarded nevertheless and counted as a gap, unless
the setting proxy.audit is "required".

It runs until it is interrupted or ended by "carrel stop".`,
		Example: `  carrel proxy
  carrel proxy --upstream.anthropic https://gateway.example.org/anthropic`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return j.With(ctx, true, func(a *job.Access) error {
				set, err := fl.settle(a.Settings.Proxy())
				if err != nil {
					return err
				}
				return serveProxy(ctx, j, a, set)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&fl.listen, "listen", "", "`address` to listen at; by default that in the settings, or else 127.0.0.1:8787. Port 0 takes a free one")
	f.StringVar(&fl.mode, "mode", "", "`mode`: "+strings.Join(config.ProxyModes(), " or "))
	job.Offer(cmd, "mode", config.ProxyModes()...)
	fl.register(cmd)
	return cmd
}

// proxyFlags are the flags of commands with a proxy.
type proxyFlags struct {
	listen, mode, anthropic, openAI, holdout string
	budget                                   int64
	recall                                   bool
}

// register adds the flags that proxy and run share.
func (fl *proxyFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&fl.anthropic, "upstream.anthropic", "", "base `URL` to which requests to Anthropic go")
	f.StringVar(&fl.openAI, "upstream.openai", "", "base `URL` to which requests to OpenAI go")
	f.Int64Var(&fl.budget, "budget", 0, "`tokens` above which a managed request is made smaller; by default those in the settings")
	f.BoolVar(&fl.recall, "recall", false, "give the model in managed conversations a tool that recalls the text of a pointer")
	f.StringVar(&fl.holdout, "holdout", "", "`share` of sessions that are not managed, for comparison, such as 10%")
}

// settle returns the settings with the flags applied.
func (fl *proxyFlags) settle(s config.Proxy) (config.Proxy, error) {
	if fl.listen != "" {
		s.Listen = fl.listen
	}
	if fl.anthropic != "" {
		s.Upstreams.Anthropic = fl.anthropic
	}
	if fl.openAI != "" {
		s.Upstreams.OpenAI = fl.openAI
	}
	if fl.budget != 0 {
		if s.Budget = token.Count(fl.budget); s.Budget < 0 {
			return s, out.Usagef("--budget: %d is below 0", fl.budget)
		}
	}
	if fl.mode != "" {
		if err := out.OneOf("--mode", fl.mode, config.ProxyModes()...); err != nil {
			return s, err
		}
		s.Manage = fl.mode != config.ProxyModes()[0]
	}
	s.Recall = s.Recall || fl.recall
	if fl.holdout == "" {
		return s, nil
	}
	share, err := job.ParseShare("--holdout", fl.holdout)
	if err == nil && share > ratio.One {
		err = out.Usagef("--holdout: %s is above 100%%: give a share from 0%% to 100%%", fl.holdout)
	}
	s.Holdout = share
	return s, err
}

// An ownProxy is a proxy with its listener.
type ownProxy struct {
	*proxy.Proxy

	listener auth.Listener
	set      config.Proxy
}

// openProxy makes a proxy that records calls in a store, and listens.
func openProxy(ctx context.Context, j *job.Job, a *job.Access, set config.Proxy, metrics *telemetry.Registry) (*ownProxy, error) {
	if a.Settings.Offline() {
		return nil, out.Hinted(fmt.Errorf("%w: offline: a proxy connects to providers, so turn offline off", carrel.ErrPolicy), "leave --offline away, or unset CARREL_OFFLINE")
	}
	law, err := lawOf(j, a, &set)
	if err != nil {
		return nil, err
	}
	l, err := auth.Listen(set.Listen, false)
	if errors.Is(err, auth.ErrRemote) {
		return nil, out.Hinted(out.Usagef("%w, which a proxy does not allow", err), "anyone who can reach the proxy can use it; listen at an address of this machine such as 127.0.0.1:8787")
	}
	if err != nil {
		return nil, out.Hinted(out.Usagef("%w", err), "carrel ps lists the running servers; port 0 takes a free port")
	}
	o := &proxy.Options{
		Upstreams: set.Upstreams, Listen: l.Addr().String(), Recorder: a.Engine, Required: set.Required,
		Importer: a.Engine, Scope: a.Scope, Holdout: set.Holdout, Logger: j.Logger(), Metrics: metrics,
	}
	if set.Manage {
		manager := proxy.NewEpochs(law)
		o.Manager, o.Importer, o.Prepare = manager, manager, manager.Bound()
	}
	if !set.Manage || set.Holdout > 0 {
		o.Would = proxy.NewEstimator(law)
	}
	p, err := proxy.New(o)
	if err != nil {
		return nil, errors.Join(out.Hinted(out.Usagef("%w", err), "carrel help config"), l.Close())
	}
	// End calls that another proxy left open long ago, with the outcome unknown.
	stale := &carrel.CloseCallsRequest{Before: j.Clock()().Add(-staleCall)}
	if _, err := a.CloseCalls(ctx, a.Scope, stale); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &ownProxy{p, l, set}, nil
}

// staleCall is the age from which a call without a recorded end counts as abandoned.
const staleCall = time.Hour

// lawOf returns the options by which the proxy manages calls. A proxy that only observes uses them
// to estimate what managing would have saved.
func lawOf(j *job.Job, a *job.Access, set *config.Proxy) (*proxy.EpochOptions, error) {
	o := &proxy.EpochOptions{Engine: a.Engine, Now: j.Clock(), Logger: j.Logger()}
	if err := a.Settings.Epochs(set.Budget, o); err != nil {
		return nil, out.Hinted(out.Usagef("%w", err), "carrel help config")
	}
	o.Scope, o.Recall = a.Scope, set.Recall
	return o, nil
}

func (p *ownProxy) url() string { return "http://" + p.listener.Addr().String() }

// mode returns the mode in a word.
func (p *ownProxy) mode() string {
	if p.set.Manage {
		return "managed"
	}
	return "observe only: bytes untouched"
}

// says returns a line with the address and mode of the proxy.
func (p *ownProxy) says() string { return "carrel proxy at " + p.url() + " (" + p.mode() + ")" }

// serve serves until ctx is done, and writes figures for "carrel ps".
func (p *ownProxy) serve(ctx context.Context, j *job.Job, record *running, grace time.Duration) error {
	writing, stop := context.WithCancel(ctx)
	defer stop()
	go record.writeTraffic(writing, j, p.Proxy)
	return p.Serve(ctx, p.listener, grace)
}

// enlist records a proxy as a running server, until release is called.
func (p *ownProxy) enlist(ctx context.Context, j *job.Job, a *job.Access, surfaces ...string) (record *running, release func() error, err error) {
	if record, err = recordOf(ctx, j, a, "http://"+p.listener.Addr().String(), surfaces...); err != nil {
		return nil, nil, err
	}
	record.Proxy = record.URL
	release, err = enlist(j, record)
	return record, release, err
}

// serveProxy serves until ctx is done, which is no error.
func serveProxy(ctx context.Context, j *job.Job, a *job.Access, set config.Proxy) (err error) {
	p, err := openProxy(ctx, j, a, set, nil)
	if err != nil {
		return err
	}
	defer func() { _ = p.listener.Close() }() // the proxy has closed it, or it was never used
	record, release, err := p.enlist(ctx, j, a, surfaceProxy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	j.Note("%s; interrupt it or %q to end", p.says(), fmt.Sprintf("carrel stop %d", record.PID))
	if j.JSON != "" {
		if err := j.Result("proxy", record, nil); err != nil {
			return err
		}
	}
	defer func() { j.Note("%s", passed(new(p.Traffic()))) }()
	return p.serve(ctx, j, record, a.Settings.Server().Grace)
}

// passed returns the figures of a proxy's traffic that are known.
func passed(t *proxy.Traffic) string {
	parts := []string{out.Count(int(t.Calls), "call")}
	if t.Failed > 0 {
		parts = append(parts, out.Thousands(t.Failed)+" of them failed")
	}
	if t.Used > 0 {
		in := out.Thousands(t.Prompt) + " tokens in, " + out.Percent(t.Cached, t.Prompt) + " cached, " + out.Thousands(t.Output) + " out"
		if t.Used < t.Calls {
			in += " (of " + out.Count(int(t.Used), "call") + ")"
		}
		parts = append(parts, in)
	}
	if t.Calls > 0 {
		parts = append(parts, fmt.Sprintf("overhead p50 %s p99 %s", shortly(t.Median), shortly(t.Slow)))
	}
	if t.Gaps > 0 {
		parts = append(parts, out.Count(int(t.Gaps), "gap")+" in the record")
	}
	return strings.Join(parts, " · ")
}

// shortly formats a duration in milliseconds.
func shortly(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// trafficFile returns the path of the file to which a proxy writes its figures.
func (s *running) trafficFile(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%d.traffic", s.PID))
}

// trafficEvery is the interval at which a proxy writes its figures, if they changed.
const trafficEvery = 2 * time.Second

// writeTraffic writes the figures of a proxy to a file beside its record, until ctx is done.
func (s *running) writeTraffic(ctx context.Context, j *job.Job, p *proxy.Proxy) {
	dir, err := config.RunDir(j.Getenv)
	if err != nil {
		return // enlist has failed
	}
	file := s.trafficFile(dir)
	tick := time.NewTicker(trafficEvery)
	defer tick.Stop()
	defer func() { _ = os.Remove(file) }() // nobody reads it without the record
	for last := (proxy.Traffic{}); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := p.Traffic()
		if now == last {
			continue
		}
		last = now
		if data, err := json.Marshal(&now); err == nil {
			_ = replaceFile(file, data) // ignore errors: the next write comes soon
		}
	}
}

// replaceFile writes a file that others may read at the same time.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// readTraffic reads the figures of a server's proxy, if it has one.
func (s *running) readTraffic() error {
	if s.Proxy == "" {
		return nil
	}
	data, err := os.ReadFile(s.trafficFile(filepath.Dir(s.file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var t proxy.Traffic
	if err == nil && json.Unmarshal(data, &t) == nil {
		s.Traffic = &t
	}
	return err
}
