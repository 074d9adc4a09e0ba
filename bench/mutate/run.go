package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// least is the share of mutants in percent that tests must notice.
const least = 92

type options struct {
	out      io.Writer
	n        int
	seed     uint64
	faults   bool
	only     *regexp.Regexp // of what is said of a mutant; nil takes all
	workers  int
	near     bool // test a mutant by its own package alone
	limit    time.Duration
	packages []string
}

// An ending says what became of a mutant.
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
		return false, errors.New("run it from the root of the module")
	}
	dir, err := os.MkdirTemp("", "carrel-mutate-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	pkgs, err := list(ctx)
	if err != nil {
		return false, err
	}
	var mutants []*mutant
	if o.faults {
		mutants, err = readFaults("bench/mutate/faults.txt")
	} else {
		mutants, err = o.draw(pkgs)
	}
	if err != nil {
		return false, err
	}
	mutants = slices.DeleteFunc(mutants, func(m *mutant) bool { return o.only != nil && !o.only.MatchString(m.String()) })
	known, err := readEquivalent("bench/mutate/equivalent.txt")
	if err != nil {
		return false, err
	}
	t := &trial{options: o, dir: dir, pkgs: pkgs, known: known, count: make(map[ending]int)}
	if o.faults {
		t.n = len(mutants)
	}
	t.all(ctx, mutants)
	if err := ctx.Err(); err != nil {
		return false, err
	}
	tested := t.count[noticed] + t.count[lived]
	if tested == 0 {
		return false, errors.New("nothing was tested")
	}
	fmt.Fprintf(o.out, "%d of %d noticed (%.1f %%), %d equivalent, seed %d\n", t.count[noticed], tested,
		100*float64(t.count[noticed])/float64(tested), t.count[equivalent], o.seed)
	if o.faults {
		return t.count[lived]+t.count[unbuilt] == 0, nil
	}
	return 100*t.count[noticed] >= least*tested, nil
}

// A pkg is a package of the module.
type pkg struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

func list(ctx context.Context) ([]*pkg, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, &p)
	}
}

// mutable reports whether mutants are drawn from a package: not from what exists for tests
// and benches alone.
func mutable(path string) bool {
	for _, not := range []string{"/bench/", "/internal/fake", "/internal/conform", "/internal/e2e", "/internal/archtest", "/internal/retention", "storetest", "formattest", "llmtest"} {
		if strings.Contains(path, not) {
			return false
		}
	}
	return true
}

// draw returns all mutants in the order in which they are tried.
func (o *options) draw(pkgs []*pkg) ([]*mutant, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, p := range pkgs {
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		named := slices.ContainsFunc(o.packages, func(n string) bool { return filepath.Clean(n) == dir })
		if !named && (len(o.packages) > 0 || !mutable(p.ImportPath)) {
			continue
		}
		for _, f := range p.GoFiles {
			found, err := sites(filepath.Join(dir, f), p.ImportPath)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	rng := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // it need not be hard to guess
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all, nil
}

// A trial tests mutants.
type trial struct {
	*options
	dir   string
	pkgs  []*pkg
	known []string

	mu    sync.Mutex // guards what follows, and the output
	count map[ending]int
}

// all tests mutants until enough of them were.
func (t *trial) all(ctx context.Context, mutants []*mutant) {
	work := make(chan *mutant)
	var wg sync.WaitGroup
	for i := range t.workers {
		wg.Go(func() {
			for m := range work {
				began := time.Now()
				t.tell(m, t.test(ctx, m, i), time.Since(began))
			}
		})
	}
	for _, m := range mutants {
		if ctx.Err() != nil || t.enough() {
			break
		}
		work <- m
	}
	close(work)
	wg.Wait()
}

// enough reports whether the mutants that are tested or under way are as many as asked for.
func (t *trial) enough() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count[noticed]+t.count[lived] >= t.n
}

func (t *trial) tell(m *mutant, e ending, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.faults && e != unbuilt && t.count[noticed]+t.count[lived] >= t.n {
		return // one too many was under way
	}
	t.count[e]++
	if e != unbuilt || t.faults {
		fmt.Fprintf(t.out, "%-8s %6.1fs  %v\n", e, took.Seconds(), m)
	}
}

// test builds a mutant beside the code and runs the commands that should notice it.
func (t *trial) test(ctx context.Context, m *mutant, worker int) ending {
	if slices.Contains(t.known, m.key()) {
		return equivalent
	}
	overlay, err := t.overlay(m, worker)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", m, err)
		return unbuilt
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	if _, err := t.command(ctx, overlay, []string{"build", m.pkg}); err != nil {
		if ctx.Err() != nil {
			return lived
		}
		return unbuilt
	}
	commands := m.commands
	if commands == nil {
		commands = t.commands(m)
	}
	for _, c := range commands {
		if out, err := t.command(ctx, overlay, c); err != nil && strings.Contains(out, m.says) {
			return noticed
		}
	}
	return lived
}

// key names a mutant whatever else changes in its file.
func (m *mutant) key() string { return m.file + ": " + m.what }

// overlay writes the mutant's file and the description that Go builds it by.
func (t *trial) overlay(m *mutant, worker int) (string, error) {
	source, err := m.source()
	if err != nil {
		return "", err
	}
	target, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(t.dir, fmt.Sprintf("%d.go", worker))
	description, err := json.Marshal(map[string]any{"Replace": map[string]string{target: mutated}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.dir, fmt.Sprintf("%d.json", worker))
	return path, errors.Join(os.WriteFile(mutated, source, 0o600), os.WriteFile(path, description, 0o600))
}

// command runs the go command with an overlay and returns what it says.
func (t *trial) command(ctx context.Context, overlay string, args []string) (string, error) {
	args = slices.Concat(args[:1], []string{"-overlay", overlay}, args[1:])
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commands are the tests that should notice a mutant: the nearest first.
func (t *trial) commands(m *mutant) [][]string {
	test := func(paths ...string) []string { return slices.Concat([]string{"test", "-failfast", "-vet=off"}, paths) }
	all := [][]string{test(m.pkg)}
	if t.near {
		return all
	}
	var importers []string
	for _, p := range t.pkgs {
		tested := len(p.TestGoFiles)+len(p.XTestGoFiles) > 0
		if tested && p.ImportPath != m.pkg && slices.Contains(p.Imports, m.pkg) {
			importers = append(importers, p.ImportPath)
		}
	}
	if importers != nil {
		all = append(all, test(importers...))
	}
	return append(all, test(".", "./internal/cli"))
}

// readEquivalent reads the mutants that change nothing: lines of "file: what", with comments
// that say why.
func readEquivalent(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all, lines.Err()
}
