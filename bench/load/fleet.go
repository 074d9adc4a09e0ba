package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/service"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// A fleet is a number of servers over one store, for one run.
type fleet struct {
	dir        string
	credential string
	urls       []string
	procs      []*process
}

// A process is a server. It ends when its input is closed.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
}

// startFleet creates a store with a credential, and starts n servers over it.
func startFleet(ctx context.Context, n int) (_ *fleet, err error) {
	f := new(fleet)
	if f.dir, err = os.MkdirTemp("", "carrel-load-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.stop())
		}
	}()
	if f.credential, err = mint(ctx, f.dir); err != nil {
		return nil, err
	}
	for range n {
		if err := f.start(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// open opens the store in a folder, and its authority for credentials.
func open(ctx context.Context, dir string) (store.Database, *auth.Authority, error) {
	path := filepath.Join(dir, "carrel.db")
	s, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	key, err := auth.LoadKey(auth.KeyFile(path))
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, auth.NewAuthority(s, key, nil), nil
}

// mint creates a credential with all permissions.
func mint(ctx context.Context, dir string) (_ string, err error) {
	s, authority, err := open(ctx, dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all := governance.Whole("load")
	credential, _, err := authority.Mint(ctx, &auth.MintRequest{Actor: all.Actor, Scopes: all.Scopes, Permissions: all.Permissions})
	return credential, err
}

// start starts another process of this program as a server.
func (f *fleet) start(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "-serve", f.dir)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	f.procs = append(f.procs, &process{cmd, input})
	url, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the address that a server prints: %w", err)
	}
	f.urls = append(f.urls, strings.TrimSpace(url))
	return nil
}

// stop ends the servers and removes the store.
func (f *fleet) stop() error {
	var errs []error
	for _, p := range f.procs {
		errs = append(errs, p.input.Close(), p.cmd.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(f.dir))...)
}

// serve runs a server of a fleet: it prints its address, and serves until its input is closed.
func serve(ctx context.Context, dir string, input io.Reader, output io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, authority, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	engine, err := carrel.New(s, &carrel.Options{Resident: resident})
	if err != nil {
		return err
	}
	l, err := auth.Listen("127.0.0.1:0", false)
	if err != nil {
		return err
	}
	registry := new(telemetry.Registry)
	registry.Gauge(liveGauge, "Bytes of objects that were live at the last collection.", gauge("/gc/heap/live:bytes"))
	registry.Gauge(heldGauge, "Bytes that are held of the system.", gauge("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"))
	all, err := service.New(&service.Options{
		Engine: engine, Store: s, Authority: authority, Listen: l.Addr().String(), MCP: true, Metrics: registry,
		Door: auth.DoorLimits{CredentialRate: -1, AddressRate: -1}, // all clients have one credential and one address
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Fprintf(output, "http://%s\n", l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, input) // also after a read error
		cancel()
	}()
	return all.Serve(ctx, l)
}

// resident is the limit for artifacts in a server's memory, in bytes. It is so small that it is
// reached early in a minute, so that later growth has another cause.
const resident = 16 << 20

// The figures of memory that are sampled.
const (
	heapGauge = "carrel_heap_bytes"
	liveGauge = "load_live_bytes"
	heldGauge = "load_held_bytes"
)

// gauge returns a function that reads the runtime metric with that name and subtracts the metrics
// whose names are in less.
func gauge(name string, less ...string) func() float64 {
	return func() float64 {
		samples := []metrics.Sample{{Name: name}}
		for _, l := range less {
			samples = append(samples, metrics.Sample{Name: l})
		}
		metrics.Read(samples)
		sum := float64(samples[0].Value.Uint64())
		for _, s := range samples[1:] {
			sum -= float64(s.Value.Uint64())
		}
		return sum
	}
}
