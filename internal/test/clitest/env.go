// Package clitest has helpers for the tests of commands.
package clitest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// Env returns an environment in which a test runs commands without starting a process, and the
// buffers for their output. HOME and the current folder are a new folder.
func Env(t *testing.T) (env *job.Env, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	home := t.TempDir()
	return &job.Env{
		Terminal: out.Terminal{
			Stdout: stdout, Stderr: stderr,
			Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC) },
			Getenv: func(name string) string {
				return map[string]string{"HOME": home}[name]
			},
		},
		Stdin: strings.NewReader(""), Dir: home,
	}, stdout, stderr
}

// WriteFile writes a file below the home of an environment and returns its path.
func WriteFile(t *testing.T, env *job.Env, name, text string) string {
	t.Helper()
	path := filepath.Join(env.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
