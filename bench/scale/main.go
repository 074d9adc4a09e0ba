// Command scale says what one operation takes of a node and of the database, on SQLite and on
// PostgreSQL with one node and with three, in one run:
//
//	go run ./bench/scale [-n 200] [-artifacts 2000]
//
// The nodes are processes of "carrel serve", with everything that a server has. The database is a
// private cluster of PostgreSQL on this machine, in memory if there is room. Clients do one kind
// of operation at a time, through all nodes alike: append a message of 1 kB to a session, page
// a session of 40 messages to a tenth, assemble a context of 8,000 tokens from a scope with -artifacts
// artifacts, and recall a block.
//
// Of each operation it tells the time of processors that the nodes and the database spent on it, how
// often a node waited for the database (a round trip: the node sends after it has received), and
// the median of how long it took. The time of processors does not depend on what else the machine
// does, as long as caches do not; the median does.
//
// From these follows a model of where each becomes the limit: a core of a node does as many
// operations in a second as its time allows, and so does a core of the database. It leaves out what
// grows with load: waits for locks, caches that become too small, the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"
)

// An arrangement is one of the setups that are compared: a number of nodes over a kind of store.
type arrangement struct {
	name     string
	nodes    int
	postgres bool
}

var arrangements = []arrangement{{"sqlite", 1, false}, {"postgres, 1 node", 1, true}, {"postgres, 3 nodes", 3, true}}

// A figure says what one operation of a kind costs. All fields are averages, except median.
type figure struct {
	node, database time.Duration // processor time
	trips          float64       // round trips to the database
	median         time.Duration // of the durations
}

func main() {
	var w work
	flag.IntVar(&w.n, "n", 200, "`number` of operations of each kind; pages are a quarter of it")
	flag.IntVar(&w.artifacts, "artifacts", 2000, "`number` of artifacts in the scope")
	flag.IntVar(&w.clients, "clients", 6, "`number` of clients")
	flag.StringVar(&w.carrel, "carrel", "", "the `program`; by default it is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, &w, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w *work, out io.Writer) (err error) {
	if w.n < 8 || w.artifacts < 1 || w.clients < 1 || flag.NArg() > 0 {
		return errors.New("want at least 8 for -n, and at least 1 for -artifacts and -clients")
	}
	q := new(quitter)
	defer func() { err = errors.Join(err, q.end()) }()
	if w.carrel == "" {
		if w.carrel, err = build(ctx, q); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(out, 2, 8, 2, ' ', 0)
	fmt.Fprintln(t, "operation\ton\tnode ms\tdatabase ms\tround trips\tmedian ms\tper second and core of a node\tof the database\tnode cores for one of the database")
	for _, a := range arrangements {
		figures, err := w.measure(ctx, q, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		for _, kind := range kinds {
			fmt.Fprintln(t, strings.Join(row(kind, a, figures[kind]), "\t"))
		}
	}
	return t.Flush()
}

// row returns the cells of the table for a figure. The last three cells are computed from its
// processor times: the operations per second for a core of a node and for a core of the database,
// and the number of node cores that one core of the database can serve.
func row(kind string, a arrangement, f figure) []string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
	rate := func(d time.Duration) string {
		if d <= 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f", 1/d.Seconds())
	}
	cells := []string{kind, a.name, ms(f.node), "-", "-", ms(f.median), rate(f.node), "-", "-"}
	if a.postgres {
		cells[3], cells[4], cells[7] = ms(f.database), fmt.Sprintf("%.1f", f.trips), rate(f.database)
		if f.database > 0 {
			cells[8] = fmt.Sprintf("%.1f", float64(f.node)/float64(f.database))
		}
	}
	return cells
}
