package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carrel-dev/carrel/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"carrel": func() { os.Exit(cli.Main(context.Background(), cli.OS(), os.Args[1:])) },
	})
}

// Each command of a script is a process of its own on one store. The files of
// testdata/conversations are in the folder "in".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("CARREL_NOW", "2026-02-03T12:00:00Z")
			return os.CopyFS(filepath.Join(env.WorkDir, "in"), os.DirFS("testdata/conversations"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus},
	})
}

// expectStatus runs "status N carrel ARGS...": carrel must exit with code N.
func expectStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = exitCode(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s (%v)", got, args[0], err)
	}
}
