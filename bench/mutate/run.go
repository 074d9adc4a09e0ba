package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// least is the percentage of mutants that tests must notice.
const least = 92

type options struct {
	out      io.Writer
	n        int
	seed     uint64
	faults   bool
	only     *regexp.Regexp // selects mutants by their description; nil selects all
	workers  int
	near     bool // test a mutant only with the tests of its own package
	limit    time.Duration
	most     time.Duration // most processor time for the tests of one mutant
	packages []string
}

// An ending is the result of testing a mutant.
type ending string

const (
	noticed    ending = "noticed"
	lived      ending = "LIVED"
	unbuilt    ending = "does not build"
	equivalent ending = "equivalent"
)

// run tests mutants and reports whether enough of them were noticed.
func (o *options) run(ctx context.Context) (bool, error) {
	if _, err := os.Stat("go.mod"); err != nil {
		return false, errors.New("no go.mod in this folder: run the command from the root of the module")
	}
	dir, err := temporary("")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	t := &trial{options: o, dir: dir, count: make(map[ending]int)}
	if o.faults {
		err = t.faulty(ctx)
	} else {
		err = t.prepare(ctx)
		if err == nil {
			err = t.each(ctx, t.drawn, t.test)
		}
	}
	if err != nil {
		return false, err
	}
	tested := t.count[noticed] + t.count[lived]
	if tested == 0 {
		return false, errors.New("no mutant was tested: give a larger -n, another -only or other packages")
	}
	fmt.Fprintf(o.out, "%d of %d noticed (%.1f %%), %d equivalent, seed %d\n", t.count[noticed], tested,
		100*float64(t.count[noticed])/float64(tested), t.count[equivalent], o.seed)
	if o.faults {
		return t.count[lived]+t.count[unbuilt] == 0, nil
	}
	return 100*t.count[noticed] >= least*tested, nil
}

// temporary makes a folder that other users can use, because some tests run as another user. Its
// path is short, because some tests print it in a line of 80 columns.
func temporary(in string) (string, error) {
	name := ""
	if in == "" {
		name = "carrel-mutate-"
	}
	dir, err := os.MkdirTemp(in, name)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777)
}

// A trial tests mutants.
type trial struct {
	*options
	dir      string
	pkgs     []*pkg
	drawn    []*mutant
	overlaid string // overlay of all mutants

	mu    sync.Mutex // guards the following fields and the output
	count map[ending]int
}

// prepare draws mutants.
func (t *trial) prepare(ctx context.Context) (err error) {
	set := token.NewFileSet()
	if t.pkgs, err = list(ctx, set); err != nil {
		return err
	}
	all, err := t.draw(set)
	if err != nil {
		return err
	}
	c, err := newChecker(ctx, set)
	if err != nil {
		return err
	}
	if t.drawn, err = t.choose(ctx, t.asked(all), c); err != nil {
		return err
	}
	number(t.drawn)
	t.overlaid, err = t.overlay("all", switched(set, t.drawn))
	return err
}

// faulty tests the deliberate faults.
func (t *trial) faulty(ctx context.Context) error {
	faults, err := readFaults("bench/mutate/faults.txt")
	if err != nil {
		return err
	}
	faults = t.asked(faults)
	number(faults)
	return t.each(ctx, faults, t.testFault)
}

// asked returns those of the mutants that the flag -only selects.
func (t *trial) asked(mutants []*mutant) []*mutant {
	return slices.DeleteFunc(mutants, func(m *mutant) bool { return t.only != nil && !t.only.MatchString(m.String()) })
}

func number(mutants []*mutant) {
	for i, m := range mutants {
		m.id = i + 1
	}
}

// each tests mutants and prints the result of each.
func (t *trial) each(ctx context.Context, mutants []*mutant, test func(context.Context, *mutant) (ending, error)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(t.workers)
	for _, m := range mutants {
		work.Go(func() error {
			began := time.Now()
			e, err := test(ctx, m)
			if err = cmp.Or(ctx.Err(), err); err == nil {
				t.tell(m, e, time.Since(began))
			}
			return err
		})
	}
	return work.Wait()
}

func (t *trial) tell(m *mutant, e ending, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[e]++
	untried := ""
	if e == lived && m.untried > 0 {
		untried = fmt.Sprintf(" (no time for %d tests)", m.untried)
	}
	fmt.Fprintf(t.out, "%-8s %6.1fs  %v%s\n", e, took.Seconds(), m, untried)
}

// testFault builds a copy of the code with a fault and runs the command that should notice it.
func (t *trial) testFault(ctx context.Context, m *mutant) (ending, error) {
	overlay, err := t.overlay(strconv.Itoa(m.id), map[string][]byte{m.file.name: m.source()})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	if _, err := golang(ctx, "build", "-o", os.DevNull, "-overlay", overlay, "./"+path.Dir(m.file.name)); err != nil {
		return unbuilt, nil
	}
	_, err = golang(ctx, slices.Concat(m.command[:1], []string{"-overlay", overlay}, m.command[1:])...)
	if err != nil && strings.Contains(err.Error(), m.says) {
		return noticed, nil
	}
	return lived, nil
}

// overlay writes replacements of files, and the overlay description for the go command.
func (t *trial) overlay(name string, files map[string][]byte) (string, error) {
	dir := filepath.Join(t.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for file, data := range files {
		target, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[target] = filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[target], data, 0o600); err != nil {
			return "", err
		}
	}
	description, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, description, 0o600)
}

// entries returns the lines of a file, except empty ones and comments.
func entries(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all, nil
}
