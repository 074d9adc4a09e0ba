package cli

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// A quick command behaves the same without the other commands.
func TestQuickCommandsAreThoseOfTheWholeTree(t *testing.T) {
	for _, args := range [][]string{
		{"version"},
		{"version", "--help"},
		{"version", "--json"},
		{"-q", "version"}, // is not seen to be quick
	} {
		env, stdout, stderr := clitest.Env(t)
		if code := Main(t.Context(), env, args); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
		}
		var want bytes.Buffer
		env.Stdout = &want
		j := job.New(env)
		root := newRoot(j)
		root.SetArgs(args)
		root.SetOut(&want)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), stdout.String()); diff != "" {
			t.Errorf("%v: output (-whole tree +as run):\n%s", args, diff)
		}
	}
}

func TestQuickCommandsHaveTheNameTheyAreFoundBy(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	found := 0
	for _, cmd := range newRoot(j).Commands() {
		if newCommand := quick(cmd.Name()); newCommand != nil {
			found++
			if own := newCommand(j); own.Name() != cmd.Name() || own.Short != cmd.Short {
				t.Errorf("quick %q makes %q", cmd.Name(), own.Name())
			}
		}
	}
	if found == 0 {
		t.Error("no command is quick")
	}
}
