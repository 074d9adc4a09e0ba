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
	{name: "import", says: "carrel import of a session of 40 MB against the earlier build", bound: faster(5), before: true, setup: importOf(40<<20, timeOf)},
	{name: "import-memory", says: "what carrel import of a session of 40 MB takes in memory, against the file", bound: within(5), setup: importOf(40<<20, peakOf)},
	{name: "import-500MB", says: "carrel import of a session of 500 MB against the earlier build", bound: faster(5), before: true, large: true, setup: importOf(500<<20, timeOf)},
	{name: "import-500MB-memory", says: "what carrel import of a session of 500 MB takes in memory, against the file", bound: within(5), large: true, setup: importOf(500<<20, peakOf)},
}

// importOf measures, with the given measure, the import of an invented Claude Code session of size
// bytes into an empty store.
func importOf(size int, measured measure) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		file, err := sessionFile(dir, size)
		if err != nil {
			return sides{}, err
		}
		empty := func(_ context.Context, _, dir string) error { return emptied(dir) }
		return measured(ctx, b, dir, &task{args: []string{"import", file}, size: size, prepare: empty})
	}
}

// emptied removes and recreates a directory.
func emptied(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

// both returns the programs of this checkout and of the earlier build.
func (b *bench) both(ctx context.Context) (ours, other string, err error) {
	if ours, err = b.program(ctx); err != nil {
		return "", "", err
	}
	other, err = b.earlier(ctx)
	return ours, other, err
}

// sessionFile writes an invented Claude Code session of at least size bytes, and returns its
// path.
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
