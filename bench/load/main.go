// Command load lets many clients work on one store at the same time, and reports throughput,
// latency and errors:
//
//	go run ./bench/load -self [-processes 2]
//	CARREL_CREDENTIAL=... go run ./bench/load -url http://127.0.0.1:8787
//
// Each client appends messages to its own sessions and to one that it shares with three others,
// stores artifacts, recalls blocks and assembles contexts, one after the other without a pause.
// Recalled bytes must equal the appended ones. At the end every acknowledged write is read
// back: each session must have its messages, each once and in order, each artifact its content,
// and each context must replay to the same bytes.
//
// With -self the command starts the servers, over a store in a temporary folder, with the
// guard, the credentials and the limits of any server. With -processes 2 or more, several
// servers share the store and the clients are spread among them; artifacts and contexts are
// read back from another server than the one that wrote them.
//
// Requests are not repeated: a refusal is an error. A conflict in a shared session is no error
// but is counted, and the client tries until it succeeds. The exit status is 1 if there was an
// error or a write was lost.
//
// The memory figures are sums over all servers: bytes of objects, bytes of objects that were
// live at the last collection, and bytes obtained from the system. The last two are known only
// for servers started with -self. These keep 16 MiB of artifacts in memory instead of 256, so
// that a minute shows whether memory stays constant.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// An options has the flags.
type options struct {
	url        string
	credential string
	scope      governance.Scope
	self       bool
	processes  int
	clients    int
	duration   time.Duration
	seed       uint64
	json       bool
	serve      string // folder of the store, in a server that another process of this program started
}

func main() {
	var o options
	scope := flag.String("scope", "bench/load", "`scope` to work in; it should be empty")
	flag.StringVar(&o.url, "url", "", "`URL` of a server that is there")
	flag.StringVar(&o.credential, "credential", os.Getenv("CARREL_CREDENTIAL"), "`credential` for it, which may also be in CARREL_CREDENTIAL")
	flag.BoolVar(&o.self, "self", false, "start servers for the time of the run")
	flag.IntVar(&o.processes, "processes", 1, "`number` of servers to start over one store")
	flag.IntVar(&o.clients, "clients", 64, "`number` of clients")
	flag.DurationVar(&o.duration, "duration", time.Minute, "how `long` they work")
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that says what they do")
	flag.BoolVar(&o.json, "json", false, "write the figures as JSON")
	flag.StringVar(&o.serve, "serve", "", "serve the store in a `folder`; for the command's own use")
	flag.Parse()
	o.scope = governance.Scope(*scope)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context) (err error) {
	if o.serve != "" {
		return serve(ctx, o.serve, os.Stdin, os.Stdout)
	}
	if _, err := governance.ParseScope(string(o.scope)); err != nil {
		return err
	}
	if (o.url == "") == !o.self || o.clients < 1 || o.processes < 1 || flag.NArg() > 0 {
		return errors.New("want either -url or -self, and at least 1 for the numbers of clients and processes")
	}
	urls := []string{o.url}
	if o.self {
		f, err := startFleet(ctx, o.processes)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.stop()) }()
		urls, o.credential = f.urls, f.credential
	}
	report, err := o.drive(ctx, urls)
	if err != nil {
		return err
	}
	if err := report.write(os.Stdout, o.json); err != nil {
		return err
	}
	if n := len(report.Problems); n > 0 {
		return fmt.Errorf("%d errors or lost writes", n)
	}
	return nil
}
