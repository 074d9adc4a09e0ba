package cli

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"carrel": func() { os.Exit(Main(context.Background(), OS(), os.Args[1:])) },
	})
}

// Each command of a script is a process of its own on one store. The files of
// testdata/conversations are in the folder "in"; grown.jsonl is torn.jsonl as
// it is a moment later.
func TestScripts(t *testing.T) {
	if raced() {
		t.Skip("hundreds of processes with the race detector take long, and each has one command that the other tests run, too")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "etc"))
			env.Setenv("CARREL_NOW", "2026-02-03T12:00:00Z")
			grown, err := os.ReadFile("testdata/grown.jsonl")
			if err != nil {
				return err
			}
			return errors.Join(
				os.WriteFile(filepath.Join(env.WorkDir, "grown.jsonl"), grown, 0o600),
				os.CopyFS(filepath.Join(env.WorkDir, "in"), os.DirFS("testdata/conversations")),
			)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus, "let": let, "alter": alter, "work": workSessions},
	})
}

// raced reports whether the race detector is on.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// expectStatus runs "status N carrel ARGS...": carrel must exit with code N.
func expectStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// let runs "let NAME carrel ARGS..." and keeps what it prints in a variable.
func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: let NAME program args...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
