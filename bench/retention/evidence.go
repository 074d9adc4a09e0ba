package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/carrel-dev/carrel/internal/retention"
)

// The tasks.
const (
	taskNeed     = "need"
	taskEvidence = "evidence"
)

// The generated dialogs that are used without files.
const (
	madeSeed  = 6
	madeCount = 10
)

// evidence measures how much of the evidence for questions about dialogs is kept.
func (b *bench) evidence(out io.Writer, paths []string) error {
	opts, err := b.evidenceOptions()
	if err != nil {
		return err
	}
	ds, err := loadEvidence(paths)
	if err != nil {
		return err
	}
	r := measureEvidence(ds, opts)
	if b.json {
		return printJSON(out, r)
	}
	for _, line := range r.Unresolved {
		fmt.Fprintln(os.Stderr, line)
	}
	if err := r.head(out); err != nil {
		return err
	}
	return r.table(out)
}

// loadEvidence reads dialogs from files, or generates some.
func loadEvidence(paths []string) (*dialogs, error) {
	ds := new(dialogs)
	if len(paths) == 0 {
		return ds, ds.read("made up", madeDialogs(madeSeed, madeCount))
	}
	if err := ds.load(paths); err != nil {
		return nil, err
	}
	for _, name := range ds.skipped {
		fmt.Fprintf(os.Stderr, "%s: no dialog with evidence\n", name)
	}
	if len(ds.all) == 0 {
		return nil, errNoDialog
	}
	return ds, nil
}

func (b *bench) evidenceOptions() (*evidenceOptions, error) {
	opts := &evidenceOptions{budgets: []retention.Budget{{Percent: 1}, {Percent: 2}, {Percent: 5}, {Percent: 10}}}
	if b.time {
		opts.now = time.Now
	}
	var err error
	if given("budgets") {
		if opts.budgets, err = budgetsIn(b.budgets); err != nil {
			return nil, err
		}
	}
	all := evidenceMethods()
	opts.methods, err = chosen(b.methods, map[string][]evidenceMethod{"all": all}, all, func(m evidenceMethod) string { return m.name })
	return opts, err
}

// given reports whether a flag is on the command line.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
