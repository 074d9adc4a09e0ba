package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

var serverGoals = []goal{
	{name: "server-rate", says: "operations a second of 64 clients at carrel serve, against the earlier build", bound: faster(4.7), before: true, setup: serversUnder(func(r *figures) float64 { return 1 / r.Rate })},
	{name: "server-p99", says: "what one operation of a hundred exceeds, of 64 clients at carrel serve, against the earlier build", bound: faster(3), before: true, setup: serversUnder(func(r *figures) float64 { return r.P99 })},
}

// loadTime is how long the clients of a round work.
const loadTime = "5s"

// figures are the figures of bench/load for all operations.
type figures struct {
	Rate float64 `json:"per_second"`
	P99  float64 `json:"p99_ms"`
}

// unlimited are settings without limits of requests, which the earlier build does not have: all
// clients have one credential and one address.
const unlimited = "server.limits.credential_rate = 0\nserver.limits.address_rate = 0\n"

// serversUnder runs bench/load against the servers of both builds, each time over a new store. The
// function cost computes the cost of a server from the figures.
func serversUnder(cost func(*figures) float64) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		ours, other, err := b.both(ctx)
		if err != nil {
			return sides{}, err
		}
		load := filepath.Join(dir, "load")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", load, "./bench/load").CombinedOutput(); err != nil {
			return sides{}, fmt.Errorf("go build: %w: %s", err, out)
		}
		settings := filepath.Join(dir, "unlimited.toml")
		if err := os.WriteFile(settings, []byte(unlimited), 0o600); err != nil {
			return sides{}, err
		}
		under := func(program string, flags ...string) side {
			return func(ctx context.Context) (float64, error) {
				f, err := underLoad(ctx, load, program, flags)
				if err != nil {
					return 0, err
				}
				return cost(f), nil
			}
		}
		return sides{ours: under(ours, "-c", settings), other: under(other)}, nil
	}
}

// underLoad runs a server, with the given flags, over a new store during a load, and returns the
// figures.
func underLoad(ctx context.Context, load, program string, flags []string) (_ *figures, err error) {
	dir, err := os.MkdirTemp("", "carrel-goals-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(os.Environ(), "CARREL_STORE="+filepath.Join(dir, "carrel.db"))
	// Both builds know the command by the word "token".
	credential := exec.CommandContext(ctx, program, "token", "create", "--actor", "load", "--for", "bench/load", "--allow", "read,write,observe")
	credential.Env = env
	text, err := credential.Output()
	if err != nil {
		return nil, fmt.Errorf("carrel token create: %w", err)
	}
	serve := exec.CommandContext(ctx, program, slices.Concat(flags, []string{"serve", "--listen", "127.0.0.1:0"})...)
	serve.Env = env
	url, err := begin(serve)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serve.Process.Signal(os.Interrupt), serve.Wait()) }()
	clients := exec.CommandContext(ctx, load, "-url", url, "-duration", loadTime, "-json")
	clients.Env = append(os.Environ(), "CARREL_CREDENTIAL="+strings.TrimSpace(string(text)))
	out, err := clients.Output()
	if err != nil {
		return nil, fmt.Errorf("bench/load: %w: %s", err, out)
	}
	var report struct {
		Operations []figures `json:"operations"` // the last entry is the sum
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("bench/load: %w", err)
	}
	if len(report.Operations) == 0 {
		return nil, errors.New("bench/load: the report has no operations")
	}
	return &report.Operations[len(report.Operations)-1], nil
}

var servesAt = lazy.Regexp(`serves at (http://[0-9.:]+)`)

// begin starts a server and returns its URL.
func begin(serve *exec.Cmd) (url string, err error) {
	messages, err := serve.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := serve.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(messages).ReadString('\n')
	found := servesAt.Get().FindStringSubmatch(line)
	if found == nil {
		return "", errors.Join(fmt.Errorf("carrel serve does not print its address, but %q: %w", line, err), serve.Process.Kill(), serve.Wait())
	}
	return found[1], nil
}
