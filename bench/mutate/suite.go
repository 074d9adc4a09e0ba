package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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

// slow is the duration from which a test is split into its parts, and is run after all fast
// tests.
const slow = 4 * time.Second

// A suite is the tests of a package, compiled with all mutants.
type suite struct {
	once   sync.Once
	err    error
	binary string
	tests  []*single // tests that pass without a mutant, fastest first
}

// A single is a test, the seeds of a fuzz test, an example, or a part of a slow test.
type single struct {
	pattern string        // pattern for -test.run
	took    time.Duration // processor time, which does not depend on other programs
	lasted  time.Duration
	reaches map[int]bool // mutants that it reaches
}

// test runs the tests that reach a mutant until one fails: those of the nearest package first,
// and within a package the fastest first. When the time is over, it counts the remaining tests.
func (t *trial) test(ctx context.Context, m *mutant) (ending, error) {
	left := t.most
	for _, last := range []bool{false, true} {
		for _, p := range t.suites(m) {
			p.once.Do(func() { p.err = t.compile(ctx, p) })
			if p.err != nil {
				return "", p.err
			}
			var tests []*single
			for _, s := range p.tests {
				switch {
				case !s.reaches[m.id] || (s.took >= slow) != last:
				case left <= 0:
					m.untried++
				default:
					left -= s.took
					tests = append(tests, s)
				}
			}
			for most := time.Second; len(tests) > 0; most *= 2 {
				n, sum := 1, tests[0].took
				for n < len(tests) && sum+tests[n].took <= most {
					sum += tests[n].took
					n++
				}
				if r, err := t.runTests(ctx, p, tests[:n], m.id); err != nil {
					return "", err
				} else if !r.passed {
					return noticed, nil
				}
				tests = tests[n:]
			}
		}
	}
	return lived, nil
}

// suites returns the packages whose tests should notice a mutant, in the order in which
// they are run: its home, the packages above the home in the tree of folders, then other
// packages that import the mutant's package, smaller ones first, and the command line
// last.
func (t *trial) suites(m *mutant) []*pkg {
	home := t.home(m.file.pkg)
	own := m.file.pkg.ImportPath
	rank := func(p *pkg) int {
		switch {
		case !slices.Contains(p.Deps, own):
			return 0
		case p == home:
			return 1
		case t.near:
			return 0
		case strings.HasPrefix(m.file.pkg.Dir, p.Dir+"/"):
			return 2
		case strings.HasSuffix(p.ImportPath, "/internal/cli"):
			return 1 << 20
		case slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports), own):
			return 3 + len(p.Deps)
		}
		return 0
	}
	all := slices.DeleteFunc(slices.Clone(t.pkgs), func(p *pkg) bool { return rank(p) == 0 })
	slices.SortStableFunc(all, func(a, b *pkg) int { return rank(a) - rank(b) })
	return all
}

// home returns the package with the tests for a package. That is the package itself, or the nearest
// package above it that has tests and depends on it. For example, the tests of the engine's facade
// count for its inner packages.
func (t *trial) home(own *pkg) *pkg {
	for dir := own.Dir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, p := range t.pkgs {
			if p.Dir == dir && slices.Contains(p.Deps, own.ImportPath) {
				return p
			}
		}
	}
	return own
}

// compile builds the tests of a package and runs each alone without a mutant, to measure its
// duration and the mutants that it reaches. It prints those that fail and does not use them.
func (t *trial) compile(ctx context.Context, p *pkg) error {
	folder, err := temporary(t.dir)
	if err != nil {
		return err
	}
	p.binary = filepath.Join(folder, path.Base(p.ImportPath)+".test") // as go test names it
	if _, err := golang(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", t.overlaid, "-o", p.binary, p.ImportPath); err != nil {
		return err
	}
	r, err := t.execute(ctx, p, t.limit, chosen+"=0", "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return err
	}
	names := regexp.MustCompile(`(?m)^(Test|Fuzz|Example)\w*$`).FindAllString(r.out, -1)
	var all []*single
	for _, name := range names {
		all = append(all, &single{pattern: "^" + name + "$"})
	}
	parts, err := t.record(ctx, p, all)
	if err != nil {
		return err
	}
	_, err = t.record(ctx, p, parts)
	slices.SortFunc(p.tests, func(a, b *single) int { return int(a.took - b.took) })
	return err
}

// record runs tests, each alone, and returns those that pass. It also returns the parts of slow
// tests, in place of these.
func (t *trial) record(ctx context.Context, p *pkg, tests []*single) ([]*single, error) {
	var mu sync.Mutex
	var parts []*single
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(t.workers)
	for _, s := range tests {
		work.Go(func() error {
			r, err := t.runTests(ctx, p, []*single{s}, 0)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			s.took, s.lasted, s.reaches = r.took, r.lasted, r.reaches
			switch own := s.parts(r.out); {
			case own != nil && s.took >= slow:
				parts = append(parts, own...)
			case !r.passed:
				tail := r.out[max(0, len(r.out)-2000):]
				fmt.Fprintf(os.Stderr, "mutate: %s of %s fails without a mutant, or takes more than %v, so it notices none:\n%s\n", s.pattern, p.ImportPath, t.limit, tail)
			default:
				p.tests = append(p.tests, s)
			}
			return nil
		})
	}
	err := work.Wait()
	return parts, err
}

// parts returns the parts of a test, as named in its output.
func (s *single) parts(out string) []*single {
	if strings.Contains(s.pattern, "/") {
		return nil
	}
	var all []*single
	for _, found := range regexp.MustCompile(`(?m)^=== RUN +\w+/([^/\n]+)$`).FindAllStringSubmatch(out, -1) {
		all = append(all, &single{pattern: s.pattern + "/^" + regexp.QuoteMeta(found[1]) + "$"})
	}
	return all
}

// A result is the result of a run of tests.
type result struct {
	passed  bool
	out     string
	took    time.Duration // processor time
	lasted  time.Duration
	reaches map[int]bool // without a mutant: the mutants that were reached
}

// runTests runs tests of a package with a mutant, or without one if id is 0.
func (t *trial) runTests(ctx context.Context, p *pkg, tests []*single, id int) (*result, error) {
	var patterns []string
	var sum time.Duration
	for _, s := range tests {
		patterns = append(patterns, s.pattern)
		sum += s.lasted
	}
	args := []string{"-test.run", strings.Join(patterns, "|"), "-test.v", "-test.failfast", "-test.paniconexit0"}
	if slices.Contains(p.Deps, "pgregory.net/rapid") {
		args = append(args, "-rapid.nofailfile")
	}
	if id > 0 {
		return t.execute(ctx, p, min(t.limit, 30*time.Second+10*sum), chosen+"="+strconv.Itoa(id), args...)
	}
	folder, err := temporary(t.dir)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	r, err := t.execute(ctx, p, t.limit, reached+"="+folder, args...)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	r.reaches = make(map[int]bool)
	for _, f := range files {
		m, _ := strconv.Atoi(f.Name())
		r.reaches[m] = true
	}
	return r, err
}

// execute runs the test binary of a package as go test does, with one more environment
// variable.
func (t *trial) execute(ctx context.Context, p *pkg, limit time.Duration, variable string, args ...string) (*result, error) {
	temp, err := temporary(t.dir)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.binary, args...)
	cmd.Dir = p.Dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "TMPDIR="+temp, variable)
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, err // it did not start
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return &result{passed: err == nil, out: string(out), took: took, lasted: time.Since(began)}, ctx.Err()
}
