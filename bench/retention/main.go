// Command retention measures how much of the text that an agent needs later is kept when its
// conversation is reduced to a budget:
//
//	go run ./bench/retention [-budgets 5,10,25,50] FOLDER...
//
// Every conversation below the folders, in any format that Carrel reads, is cut at three steps.
// Each method reduces the part before the cut to each budget, a share in percent or so many
// thousand tokens ("4k"). The identifiers and lines that the agent really used afterwards are
// searched in the result. Package internal/retention explains the method and the scores.
//
// The methods are simple ones, oracles that know the future, and Carrel's engine with some of
// its strategies. The table has the means over all families of sessions, with intervals of 95
// percent for ground and line; -each adds a table for each family. Equal files and flags give
// equal output.
//
// With -peers bench/peers there are also methods of other packages, each in a program of its
// own; bench/peers/run installs them. With -time the table includes the speed of each method.
// Only then does the output differ from run to run.
//
// Another task is to choose the turns that answer a question about a dialog:
//
//	go run ./bench/retention -task evidence [-budgets 1,2,5,10] [FILE-OR-FOLDER...]
//
// The files are dialogs with questions and ids of evidence in the published format of LoCoMo.
// Without files, generated dialogs are used.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/retention"
)

func main() {
	b := &bench{}
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/retention [flags] FOLDER...")
		flag.PrintDefaults()
	}
	flag.StringVar(&b.task, "task", taskNeed, "`what` is measured: need, or evidence")
	flag.StringVar(&b.budgets, "budgets", "5,10,25,50", "`list` of budgets, in percent or as 4k")
	flag.StringVar(&b.methods, "methods", "all", "`list` of methods, or all, baselines, carrel, peers")
	flag.IntVar(&b.opts.Max, "max", 40, "`number` of sessions of each family")
	flag.StringVar(&b.least, "min", "4000,tau=1200", "`tokens` that a prefix has at least, also by family")
	flag.StringVar(&b.family, "family", "name", "what makes a family: the `way`s are name (up to the first hyphen), folder, one")
	flag.BoolVar(&b.opts.NoStable, "nostable", false, "leave the score stable out, which takes half of the time")
	flag.StringVar(&b.peers, "peers", "", "`folder` of peers to run, too: bench/peers")
	flag.BoolVar(&b.time, "time", false, "measure speed, too, one method after the other")
	flag.StringVar(&b.weights, "weights", "", "`file` with the weights that Carrel goes by, as -fit prints them")
	flag.StringVar(&b.cross, "cross", "", "`list` of families: each is judged with weights fitted to the others of the list, and what is not of the list with weights fitted to all of it")
	flag.StringVar(&b.fitTo, "fit", "", "print weights fitted to a `list` of families, or all, and measure nothing")
	flag.BoolVar(&b.each, "each", false, "print a table for each family, too")
	flag.BoolVar(&b.json, "json", false, "print JSON")
	flag.StringVar(&b.svg, "svg", "", "write a drawing to a `file`")
	flag.Parse()
	if flag.NArg() == 0 && b.task != taskEvidence {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.run(context.Background(), os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "retention:", err)
		os.Exit(3)
	}
}

type bench struct {
	task, budgets, methods, least, family, svg, peers, fitTo, cross, weights string
	each, json, time                                                         bool
	opts                                                                     retention.Options
	fitted                                                                   map[string]*facts.Model // by family; "" is for all others
}

func (b *bench) run(ctx context.Context, out io.Writer, folders []string) error {
	switch b.task {
	case taskNeed:
	case taskEvidence:
		return b.evidence(out, folders)
	default:
		return fmt.Errorf("-task %s: want need or evidence", b.task)
	}
	var peers []*retention.Peer
	if b.peers != "" {
		var err error
		if peers, err = retention.StartPeers(ctx, b.peers); err != nil {
			return err
		}
	}
	err := b.read(peers)
	if err == nil {
		err = b.measure(out, folders, peers)
	}
	return cmp.Or(err, retention.ClosePeers(peers))
}

func (b *bench) measure(out io.Writer, folders []string, peers []*retention.Peer) error {
	family, err := familyBy(b.family)
	if err != nil {
		return err
	}
	all, err := load(folders, family)
	if err != nil {
		return err
	}
	if b.fitTo != "" {
		return b.fit(out, all)
	}
	if err := b.prepare(all); err != nil {
		return err
	}
	r := retention.Measure(all, &b.opts)
	for _, p := range peers {
		if err := p.Err(); err != nil {
			return err
		}
		r.Peers = append(r.Peers, p.Packages...)
	}
	if len(r.Families) == 0 {
		return errors.New("no session has the tokens of -min and later uses names or lines again: give a smaller -min or other sessions")
	}
	if b.svg != "" {
		if err := write(b.svg, r.SVG); err != nil {
			return err
		}
	}
	if b.json {
		return printJSON(out, r)
	}
	return b.print(out, r)
}

func (b *bench) print(out io.Writer, r *retention.Report) error {
	if len(r.Peers) > 0 {
		fmt.Fprintf(out, "peers: %s\n\n", strings.Join(r.Peers, ", "))
	}
	if err := r.Head(out); err != nil {
		return err
	}
	if err := r.Table(out, ""); err != nil {
		return err
	}
	if !b.each || len(r.Families) == 1 {
		return nil
	}
	for _, f := range r.Families {
		fmt.Fprintf(out, "\n%s:\n", f.Name)
		if err := r.Table(out, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// read sets the options of the measurement from the flags.
func (b *bench) read(peers []*retention.Peer) error {
	if b.time {
		b.opts.Now = time.Now
	}
	var err error
	if b.opts.Budgets, err = budgetsIn(b.budgets); err != nil {
		return err
	}
	b.opts.MinPrefix = make(map[string]int)
	for s := range strings.SplitSeq(b.least, ",") {
		family, text, found := strings.Cut(s, "=")
		if !found {
			family, text = "", s
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-min %s: %q is no number of tokens: want a number from 1 on", b.least, text)
		}
		b.opts.MinPrefix[family] = n
	}
	b.opts.Methods, err = b.methodsOf(peers)
	return err
}

// budgetsIn parses a list of budgets, separated by commas.
func budgetsIn(list string) ([]retention.Budget, error) {
	var budgets []retention.Budget
	for s := range strings.SplitSeq(list, ",") {
		budget, err := retention.ParseBudget(s)
		if err != nil {
			return nil, err
		}
		budgets = append(budgets, budget)
	}
	return budgets, nil
}

// methodsOf returns the methods that the flag -methods names.
func (b *bench) methodsOf(peers []*retention.Peer) ([]retention.Method, error) {
	baselines := retention.Baselines()
	var others []retention.Method
	for _, p := range peers {
		others = append(others, p.Methods()...)
	}
	engine := retention.Strategies(b.models, carrel.StrategyImportance, carrel.StrategyAccount, carrel.StrategyAnchored, carrel.StrategyPager, carrel.StrategyWindow)
	engine = append(engine, retention.Epochs(b.models, carrel.StrategyImportance))
	all := slices.Concat(baselines, others, engine)
	groups := map[string][]retention.Method{"all": all, "baselines": baselines, "carrel": engine, "peers": others}
	return chosen(b.methods, groups, all, func(m retention.Method) string { return m.Name })
}

// chosen returns the methods that a list names, separated by commas. A name is that of a method
// or of a group of methods.
func chosen[M any](list string, groups map[string][]M, all []M, nameOf func(M) string) ([]M, error) {
	var methods []M
	for name := range strings.SplitSeq(list, ",") {
		if group, ok := groups[name]; ok {
			methods = append(methods, group...)
			continue
		}
		i := slices.IndexFunc(all, func(m M) bool { return nameOf(m) == name })
		if i < 0 {
			var names []string
			for _, m := range all {
				names = append(names, nameOf(m))
			}
			return nil, fmt.Errorf("no method is called %q: want %s", name, strings.Join(names, ", "))
		}
		methods = append(methods, all[i])
	}
	return methods, nil
}

// printJSON prints a report as JSON.
func printJSON(out io.Writer, report any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

func write(name string, to func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(to(f), f.Close())
}
