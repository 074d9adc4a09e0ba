package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// goals are all goals, in the order of the report.
var goals = slices.Concat(
	startGoals,
	hookGoals,
	importGoals,
	compressGoals,
	spliceGoals,
	tokenGoals,
	retrievalGoals,
	triageGoals,
	assembleGoals,
	storeGoals,
	serverGoals,
	pagerGoals,
)

// A goal is a bound on the ratio of the costs of two sides.
type goal struct {
	name   string // as -only selects it
	says   string // one line for the report
	bound  bound
	before bool // whether the other side is an earlier build
	large  bool // whether it takes minutes, and runs only if it is selected by name
	// setup prepares both sides. dir is the goal's own folder and is removed afterwards.
	setup func(ctx context.Context, b *bench, dir string) (sides, error)
}

// A side measures a cost once, in seconds or bytes. A smaller cost is better.
type side func(ctx context.Context) (float64, error)

// sides are the two sides of a goal.
type sides struct {
	ours, other side
	close       func() error // called after the last round; may be nil
}

// timed returns a side whose cost is the time that f takes, in seconds.
func timed(f func(ctx context.Context) error) side {
	return func(ctx context.Context) (float64, error) {
		start := time.Now()
		err := f(ctx)
		return time.Since(start).Seconds(), err
	}
}

// least returns a side that measures s n times and returns the smallest cost, because other
// programs on the machine can only add to it.
func least(n int, s side) side {
	return func(ctx context.Context) (cost float64, err error) {
		for i := range n {
			next, err := s(ctx)
			if err != nil {
				return 0, err
			}
			if i == 0 || next < cost {
				cost = next
			}
		}
		return cost, nil
	}
}

// A bound is the limit of a goal for the ratio of the costs of its sides.
type bound struct {
	times float64
	most  bool // if true, our cost is at most times the other's; if false, the other's is at least times ours
}

// faster returns the bound that the cost of the other side is at least the given multiple of ours.
func faster(times float64) bound { return bound{times: times} }

// within returns the bound that the cost of our side is at most the given multiple of the other's.
func within(times float64) bound { return bound{times: times, most: true} }

func (b bound) ratio(ours, other float64) float64 {
	if b.most {
		return ours / other
	}
	return other / ours
}

func (b bound) met(ratio float64) bool {
	if b.most {
		return ratio <= b.times
	}
	return ratio >= b.times
}

func (b bound) String() string {
	if b.most {
		return fmt.Sprintf("≤ %g", b.times)
	}
	return fmt.Sprintf("≥ %g", b.times)
}

// A bench runs goals.
type bench struct {
	out    io.Writer
	only   *regexp.Regexp
	rounds int
	commit string
	tmp    string
	built  string // program of commit, once it is built
}

// run measures the goals or, if grow is true, the growth of times. It works in a temporary
// directory.
func (b *bench) run(ctx context.Context, grow bool, drawing string) (met bool, err error) {
	if b.tmp, err = os.MkdirTemp("", "carrel-goals-"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.tmp)) }()
	if grow {
		return b.grow(ctx, drawing)
	}
	return b.compare(ctx, goals)
}

// compare measures the selected goals and reports whether all of them are met.
func (b *bench) compare(ctx context.Context, goals []goal) (met bool, err error) {
	met = true
	for _, g := range goals {
		if b.only != nil && !b.only.MatchString(g.name) || g.large && (b.only == nil || b.only.String() != g.name) {
			continue
		}
		if g.before && b.commit == "" {
			fmt.Fprintf(b.out, "-      %-24s left out: it needs -before COMMIT\n", g.name)
			continue
		}
		ratios, err := b.measure(ctx, g)
		if err != nil {
			return false, fmt.Errorf("%s: %w", g.name, err)
		}
		verdict := "met"
		if !g.bound.met(ratios[len(ratios)/2]) {
			verdict, met = "MISSED", false
		}
		fmt.Fprintf(b.out, "%-6s %-24s %7.2f (%.2f–%.2f), goal %s: %s\n",
			verdict, g.name, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], g.bound, g.says)
	}
	return met, nil
}

// measure returns the ratios of a goal's rounds in ascending order.
func (b *bench) measure(ctx context.Context, g goal) (ratios []float64, err error) {
	dir, err := os.MkdirTemp(b.tmp, "goal-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := g.setup(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	if s.close != nil {
		defer func() { err = errors.Join(err, s.close()) }()
	}
	for round := range b.rounds + 1 {
		order := []side{s.ours, s.other}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		var cost [2]float64
		for i, side := range order {
			if cost[i], err = side(ctx); err != nil {
				return nil, err
			}
		}
		if round%2 == 1 {
			slices.Reverse(cost[:])
		}
		if round > 0 { // the first round is a warm-up
			ratios = append(ratios, g.bound.ratio(cost[0], cost[1]))
		}
	}
	slices.Sort(ratios)
	return ratios, nil
}

// program builds this checkout's carrel and returns its path.
func (b *bench) program(ctx context.Context) (string, error) {
	path := filepath.Join(b.tmp, "carrel")
	return path, build(ctx, ".", path)
}

// earlier returns the path of the earlier build of carrel. It builds it on first use.
func (b *bench) earlier(ctx context.Context) (string, error) {
	if b.built != "" {
		return b.built, nil
	}
	src := filepath.Join(b.tmp, "before")
	if err := os.Mkdir(src, 0o755); err != nil {
		return "", err
	}
	archive := exec.CommandContext(ctx, "git", "archive", "--format=tar", b.commit)
	files, err := archive.Output()
	if err != nil {
		return "", fmt.Errorf("git archive %s: %w", b.commit, err)
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", src)
	unpack.Stdin = bytes.NewReader(files)
	if out, err := unpack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w: %s", err, out)
	}
	path := filepath.Join(b.tmp, "carrel-before")
	if err := build(ctx, src, path); err != nil {
		return "", err
	}
	b.built = path
	return path, nil
}

// eachWay calls sideOf for the program of this checkout with the name "ours", and for the program
// of the earlier build with the name "other". It returns both sides.
func (b *bench) eachWay(ctx context.Context, sideOf func(program, name string) (side, error)) (s sides, err error) {
	ours, other, err := b.both(ctx)
	if err == nil {
		s.ours, err = sideOf(ours, "ours")
	}
	if err == nil {
		s.other, err = sideOf(other, "other")
	}
	return s, err
}

func build(ctx context.Context, dir, path string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/carrel")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	return nil
}

// command returns a side that runs a program to its end. Its cost is the duration.
func command(path string, env []string, args ...string) side {
	return timed(func(ctx context.Context) error {
		c := exec.CommandContext(ctx, path, args...)
		c.Env = append(os.Environ(), env...)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %q: %w: %s", filepath.Base(path), args, err, out)
		}
		return nil
	})
}
