package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

var compressGoals = []goal{
	{name: "compress", says: "carrel compress of a session of 35 MB to a half against the earlier build", bound: faster(3), before: true, setup: compressOf(35<<20, timeOf)},
	{name: "compress-memory", says: "what carrel compress of a session of 35 MB takes in memory, against the session", bound: within(4), setup: compressOf(35<<20, peakOf)},
}

// compressOf measures the compression of an invented session of size bytes with the given measure.
// Each program uses a store that it created itself, with nothing else in it.
func compressOf(size int, measured measure) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		file, err := sessionFile(dir, size)
		if err != nil {
			return sides{}, err
		}
		imported := &task{
			args:    []string{"import", file},
			prepare: func(_ context.Context, _, dir string) error { return emptied(dir) },
		}
		copied := func(ctx context.Context, program, dir string) error {
			whole := dir + "-imported"
			if _, err := os.Stat(whole); errors.Is(err, fs.ErrNotExist) {
				if _, err := imported.run(ctx, program, whole); err != nil {
					return err
				}
			}
			data, err := os.ReadFile(filepath.Join(whole, "carrel.db"))
			if err != nil {
				return err
			}
			return errors.Join(emptied(dir), os.WriteFile(filepath.Join(dir, "carrel.db"), data, 0o600))
		}
		return measured(ctx, b, dir, &task{args: []string{"compress", "--target", "50%"}, size: size, prepare: copied})
	}
}
