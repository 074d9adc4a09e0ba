// Command retention measures how much of what an agent needs later is still there
// after its conversation was made to fit a budget:
//
//	go run ./bench/retention [-budgets 5,10,25,50] FOLDER...
//
// Every conversation below the folders, in any format that Carrel reads, is cut at
// three steps. What came before is packed by each method into each budget, a share of
// it in percent or so many thousand tokens ("4k"), and what the agent really used
// afterwards is looked for in the result. Package internal/retention says how, and
// what the scores mean.
//
// The methods are simple ones, oracles that know the future, and Carrel's engine with
// some of its strategies. The table has the means over all families of sessions,
// with intervals of 95 percent for ground and line; -each adds a table for each
// family. Equal files and flags give equal output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/retention"
)

func main() {
	b := &bench{}
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/retention [flags] FOLDER...")
		flag.PrintDefaults()
	}
	flag.StringVar(&b.budgets, "budgets", "5,10,25,50", "`list` of budgets, in percent or as 4k")
	flag.StringVar(&b.methods, "methods", "all", "`list` of methods, or all, baselines, carrel")
	flag.IntVar(&b.opts.Max, "max", 40, "`number` of sessions of each family")
	flag.StringVar(&b.least, "min", "4000,tau=1200", "`tokens` that a prefix has at least, also by family")
	flag.StringVar(&b.family, "family", "name", "what makes a family: the `way`s are name (up to the first hyphen), folder, one")
	flag.BoolVar(&b.opts.NoStable, "nostable", false, "leave the score stable out, which takes half of the time")
	flag.BoolVar(&b.each, "each", false, "print a table for each family, too")
	flag.BoolVar(&b.json, "json", false, "print JSON")
	flag.StringVar(&b.svg, "svg", "", "write a drawing to a `file`")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.run(os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "retention:", err)
		os.Exit(3)
	}
}

type bench struct {
	budgets, methods, least, family, svg string
	each, json                           bool
	opts                                 retention.Options
}

func (b *bench) run(out io.Writer, folders []string) error {
	if err := b.read(); err != nil {
		return err
	}
	family, err := familyBy(b.family)
	if err != nil {
		return err
	}
	all, skipped, err := retention.Load(folders, family)
	if err != nil {
		return err
	}
	for _, name := range skipped {
		fmt.Fprintf(os.Stderr, "%s: no conversation\n", name)
	}
	r := retention.Measure(all, &b.opts)
	if len(r.Families) == 0 {
		return errors.New("no session is long enough and uses again what it had: see -min")
	}
	if b.svg != "" {
		if err := write(b.svg, r.SVG); err != nil {
			return err
		}
	}
	if b.json {
		return r.JSON(out)
	}
	return b.print(out, r)
}

func (b *bench) print(out io.Writer, r *retention.Report) error {
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

// read fills in the options.
func (b *bench) read() error {
	for s := range strings.SplitSeq(b.budgets, ",") {
		budget, err := retention.ParseBudget(s)
		if err != nil {
			return err
		}
		b.opts.Budgets = append(b.opts.Budgets, budget)
	}
	b.opts.MinPrefix = make(map[string]int)
	for s := range strings.SplitSeq(b.least, ",") {
		family, text, found := strings.Cut(s, "=")
		if !found {
			family, text = "", s
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-min %s: %q is no number of tokens", b.least, text)
		}
		b.opts.MinPrefix[family] = n
	}
	var err error
	b.opts.Methods, err = methodsNamed(b.methods)
	return err
}

// methodsNamed returns the methods of a list of names.
func methodsNamed(list string) ([]retention.Method, error) {
	baselines := retention.Baselines()
	engine := retention.Strategies(carrel.StrategyImportance, carrel.StrategyAnchored, carrel.StrategyWindow)
	all := slices.Concat(baselines, engine)
	var methods []retention.Method
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "all":
			methods = append(methods, all...)
			continue
		case "baselines":
			methods = append(methods, baselines...)
			continue
		case "carrel":
			methods = append(methods, engine...)
			continue
		}
		i := slices.IndexFunc(all, func(m retention.Method) bool { return m.Name == name })
		if i < 0 {
			var names []string
			for i := range all {
				names = append(names, all[i].Name)
			}
			return nil, fmt.Errorf("no method is called %q: there are %s", name, strings.Join(names, ", "))
		}
		methods = append(methods, all[i])
	}
	return methods, nil
}

func familyBy(way string) (func(path string) string, error) {
	switch way {
	case "name":
		return retention.FamilyOf, nil
	case "folder":
		return func(path string) string { return filepath.Base(filepath.Dir(path)) }, nil
	case "one":
		return func(string) string { return "all" }, nil
	}
	return nil, fmt.Errorf("-family %s: there are name, folder and one", way)
}

func write(name string, to func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(to(f), f.Close())
}
