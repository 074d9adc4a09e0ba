package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A task is a command over a store. Each side has its own store, in its own directory.
type task struct {
	args    []string
	size    int                                                  // size of its input, in bytes
	prepare func(ctx context.Context, program, dir string) error // creates the store, before each round
}

// A measure returns the two sides that compare the costs of a task. The task's stores are below
// dir.
type measure func(ctx context.Context, b *bench, dir string, t *task) (sides, error)

// timeOf compares the durations of the task with the programs of this checkout and of the earlier
// build.
func timeOf(ctx context.Context, b *bench, dir string, t *task) (sides, error) {
	ours, other, err := b.both(ctx)
	if err != nil {
		return sides{}, err
	}
	seconds := func(program, name string) side {
		return func(ctx context.Context) (float64, error) {
			took, err := t.run(ctx, program, filepath.Join(dir, name))
			return took.Seconds(), err
		}
	}
	return sides{ours: seconds(ours, "ours"), other: seconds(other, "other")}, nil
}

// peakOf compares the largest memory use of the task with the size of its input. Another
// process of this program starts the command: on Linux a process inherits the peak of the
// process that started it, and this process has created the input.
func peakOf(ctx context.Context, b *bench, dir string, t *task) (sides, error) {
	program, err := b.program(ctx)
	if err != nil {
		return sides{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return sides{}, err
	}
	return sides{
		ours: func(ctx context.Context) (float64, error) {
			dir := filepath.Join(dir, "ours")
			if err := t.prepare(ctx, program, dir); err != nil {
				return 0, err
			}
			out, err := t.output(ctx, dir, self, append([]string{"-peak", program}, t.args...)...)
			if err != nil {
				return 0, err
			}
			return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		},
		other: func(context.Context) (float64, error) { return float64(t.size), nil },
	}, nil
}

// printPeak runs a command, prints its largest memory use, and returns the exit status.
func printPeak(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "goals: -peak needs a command")
		return 2
	}
	c := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends with this process's group
	c.Stderr = os.Stderr
	err := c.Run()
	if err == nil {
		var bytes float64
		if bytes, err = peak(c.ProcessState); err == nil {
			fmt.Println(int64(bytes))
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "goals:", err)
	return 1
}

// run prepares the task and runs it. It returns the duration of the command without the
// preparation.
func (t *task) run(ctx context.Context, program, dir string) (time.Duration, error) {
	if err := t.prepare(ctx, program, dir); err != nil {
		return 0, err
	}
	start := time.Now()
	_, err := t.output(ctx, dir, program, t.args...)
	return time.Since(start), err
}

// output runs a program over the store in a directory and returns its output.
func (t *task) output(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), "CARREL_STORE="+filepath.Join(dir, "carrel.db"))
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w: %s", filepath.Base(program), args, err, errs.Bytes())
	}
	return out, nil
}
