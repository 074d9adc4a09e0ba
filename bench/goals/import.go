package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
)

var importGoals = []goal{
	{name: "import", says: "carrel import of a session of 40 MB against the earlier build", bound: faster(5), before: true, setup: importOf(40 << 20)},
}

// importOf compares the import of an invented Claude Code session of so many bytes into
// an empty store.
func importOf(size int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		file, err := sessionFile(dir, size)
		if err != nil {
			return sides{}, err
		}
		ours, other, err := b.both(ctx)
		if err != nil {
			return sides{}, err
		}
		into := func(program, name string) side {
			store := filepath.Join(dir, name)
			run := command(program, []string{"CARREL_STORE=" + filepath.Join(store, "carrel.db")}, "import", file)
			return func(ctx context.Context) (float64, error) {
				if err := os.RemoveAll(store); err != nil {
					return 0, err
				}
				if err := os.Mkdir(store, 0o700); err != nil {
					return 0, err
				}
				return run(ctx)
			}
		}
		return sides{ours: into(ours, "ours"), other: into(other, "other")}, nil
	}
}

// both returns the programs of this checkout and of the earlier build.
func (b *bench) both(ctx context.Context) (ours, other string, err error) {
	if ours, err = b.program(ctx); err != nil {
		return "", "", err
	}
	other, err = b.earlier(ctx)
	return ours, other, err
}

// sessionFile writes an invented Claude Code session of at least so many bytes, and
// returns its path.
func sessionFile(dir string, size int) (string, error) {
	var file []byte
	for parts := 400; len(file) < size; parts *= 2 {
		file = fakesession.ClaudeCode(1, parts)
	}
	if lines := bytes.SplitAfter(file, []byte("\n")); len(file) > size {
		file = file[:0]
		for _, line := range lines {
			if len(file) >= size {
				break
			}
			file = append(file, line...)
		}
	}
	path := filepath.Join(dir, fmt.Sprintf("session-%d.jsonl", size))
	return path, os.WriteFile(path, file, 0o600)
}
