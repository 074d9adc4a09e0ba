package move_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	driver "github.com/carrel-dev/carrel/store/postgres"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// The variables that make a process of this test move a store: the file of the source, and the file
// or the address of the target.
const (
	variableFrom = "CARREL_TEST_MOVE_FROM"
	variableTo   = "CARREL_TEST_MOVE_TO"
)

// place opens a target.
func place(t *testing.T, name string) store.Database {
	t.Helper()
	open := func() (store.Database, error) { return sqlite.Open(t.Context(), name, nil) }
	if !filepath.IsAbs(name) {
		open = func() (store.Database, error) { return driver.Open(t.Context(), name, nil) }
	}
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMover is the process that TestKilled kills. It writes a line for each step.
func TestMover(t *testing.T) {
	from := os.Getenv(variableFrom)
	if from == "" {
		t.Skip("TestKilled runs it in a process of its own")
	}
	source, err := sqlite.Open(t.Context(), from, &sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	o := *options
	o.Progress = func(step string, done, total int) { fmt.Println("step:", step, done, total) }
	if _, err := move.Run(t.Context(), source, place(t, os.Getenv(variableTo)), &o); err != nil {
		t.Fatal(err)
	}
}

// A process that moves a store is killed after some of its steps, again and again, until one comes
// to its end. The copy is whole, and the source is as it was.
func TestKilled(t *testing.T) {
	for name, to := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "copy.db") },
		"postgres": func(t *testing.T) string { return postgres.New(t) },
	} {
		t.Run(name, func(t *testing.T) {
			from, target := filepath.Join(t.TempDir(), "carrel.db"), to(t)
			source, err := sqlite.Open(t.Context(), from, nil)
			if err != nil {
				t.Fatal(err)
			}
			newSource(t, source)
			kills := 0
			for steps := 3; ; steps += 3 {
				if finished := moveUntil(t, from, target, steps); finished {
					break
				}
				kills++
			}
			if kills < 3 {
				t.Errorf("it was killed only %d times", kills)
			}
			copied := place(t, target)
			same(t, "after kills", source, copied)
			if res, err := move.Run(t.Context(), source, copied, options); err != nil || res.Has != res.Present {
				t.Errorf("once more: %+v, %v; want nothing to do", res, err)
			}
			for _, s := range []store.Database{source, copied} {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// moveUntil runs a process that moves a store, and kills it after some steps. It reports whether the
// process came to its end before.
func moveUntil(t *testing.T, from, to string, steps int) (finished bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMover$", "-test.v") //nolint:gosec // it is this program
	cmd.Env = append(os.Environ(), variableFrom+"="+from, variableTo+"="+to)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for out := bufio.NewScanner(pipe); out.Scan(); {
		if lines = append(lines, out.Text()); len(lines) == steps {
			_ = cmd.Process.Kill() // it may have ended
			break
		}
	}
	err = cmd.Wait()
	if err != nil && len(lines) < steps {
		t.Fatalf("the process failed: %v\n%q", err, lines)
	}
	return err == nil
}
