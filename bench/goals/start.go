package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

var startGoals = []goal{
	{name: "start", says: "carrel version against an empty Go program", bound: within(2.5), setup: startOfACommand},
}

func startOfACommand(ctx context.Context, b *bench, dir string) (sides, error) {
	ours, empty, err := b.besideEmpty(ctx, dir)
	if err != nil {
		return sides{}, err
	}
	return sides{
		ours:  repeated(20, command(ours, nil, "version")),
		other: repeated(20, command(empty, nil)),
	}, nil
}

// besideEmpty returns the paths of this checkout's program and of a program that does nothing.
func (b *bench) besideEmpty(ctx context.Context, dir string) (ours, empty string, err error) {
	if ours, err = b.program(ctx); err != nil {
		return "", "", err
	}
	src := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", "", err
	}
	empty = filepath.Join(dir, "empty")
	return ours, empty, exec.CommandContext(ctx, "go", "build", "-o", empty, src).Run()
}

// repeated returns a side that measures s n times and adds the costs.
func repeated(n int, s side) side {
	return func(ctx context.Context) (sum float64, err error) {
		for range n {
			cost, err := s(ctx)
			if err != nil {
				return 0, err
			}
			sum += cost
		}
		return sum, nil
	}
}
