package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/retention"
)

// The tasks.
const (
	taskNeed     = "need"
	taskEvidence = "evidence"
)

// Dialogs that are measured with when there are no files.
const (
	madeSeed    = 6
	madeDialogs = 10
)

// evidence measures how much of the evidence for the answers to questions about
// dialogs is kept.
func (b *bench) evidence(out io.Writer, paths []string) error {
	opts, err := b.evidenceOptions()
	if err != nil {
		return err
	}
	dialogs, lost, err := loadEvidence(paths)
	if err != nil {
		return err
	}
	r := retention.MeasureEvidence(dialogs, lost, opts)
	if b.json {
		return r.JSON(out)
	}
	for _, line := range r.Unresolved {
		fmt.Fprintln(os.Stderr, line)
	}
	if err := r.Head(out); err != nil {
		return err
	}
	return r.Table(out)
}

// loadEvidence reads dialogs from files, or makes some up.
func loadEvidence(paths []string) ([]*retention.Dialog, []retention.Unresolved, error) {
	if len(paths) == 0 {
		return retention.ReadDialogs("made up", retention.MadeDialogs(madeSeed, madeDialogs))
	}
	dialogs, lost, skipped, err := retention.LoadDialogs(paths)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range skipped {
		fmt.Fprintf(os.Stderr, "%s: no dialog with evidence\n", name)
	}
	if len(dialogs) == 0 {
		return nil, nil, retention.ErrNoDialog
	}
	return dialogs, lost, nil
}

func (b *bench) evidenceOptions() (*retention.EvidenceOptions, error) {
	opts := &retention.EvidenceOptions{}
	if b.time {
		opts.Now = time.Now
	}
	if given("budgets") {
		for s := range strings.SplitSeq(b.budgets, ",") {
			budget, err := retention.ParseBudget(s)
			if err != nil {
				return nil, err
			}
			opts.Budgets = append(opts.Budgets, budget)
		}
	}
	if b.methods == "all" {
		return opts, nil
	}
	all := retention.EvidenceMethods()
	for name := range strings.SplitSeq(b.methods, ",") {
		i := slices.IndexFunc(all, func(m retention.EvidenceMethod) bool { return m.Name == name })
		if i < 0 {
			var names []string
			for k := range all {
				names = append(names, all[k].Name)
			}
			return nil, fmt.Errorf("no method is called %q: there are %s", name, strings.Join(names, ", "))
		}
		opts.Methods = append(opts.Methods, all[i])
	}
	return opts, nil
}

// given reports whether a flag is on the command line.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
