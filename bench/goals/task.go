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

// A task is a command over a store that each side has for itself, in a directory of its own.
type task struct {
	args    []string
	size    int                                                  // of what it works on, in bytes
	prepare func(ctx context.Context, program, dir string) error // makes the store, before each round
}

// A measure makes the sides of a task.
type measure func(ctx context.Context, b *bench, dir string, t *task) (sides, error)

// timeOf compares the time that the task takes with that of the earlier build.
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

// peakOf compares the most memory that the task has at a time with the size of what it
// works on. The command is started by another process of this program: on Linux a process
// begins with the peak of the one that started it, and this one has made the input.
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

// printPeak runs a command, prints the most memory that it had, and returns the exit status.
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

// run prepares the task and runs it to its end. It returns how long the second took.
func (t *task) run(ctx context.Context, program, dir string) (time.Duration, error) {
	if err := t.prepare(ctx, program, dir); err != nil {
		return 0, err
	}
	start := time.Now()
	_, err := t.output(ctx, dir, program, t.args...)
	return time.Since(start), err
}

// output runs a program over the store in a directory, and returns what it prints.
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
