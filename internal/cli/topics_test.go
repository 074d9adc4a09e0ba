package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// Every file of doc/topic is a help topic with the same title, or the help of a command.
func TestTopicsAreFiles(t *testing.T) {
	names, err := filepath.Glob("../../doc/topic/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(string(data), "\n")
		cmd := commandAt(root, strings.TrimSuffix(filepath.Base(name), ".md"))
		switch {
		case cmd == nil:
			t.Errorf("%s is no topic of carrel help", name)
		case title != "# "+cmd.Short:
			t.Errorf("%s begins with %q, and the help says %q", name, title, cmd.Short)
		case strings.Contains(cmd.Long, "```"):
			t.Errorf("the help of %s has a fence", cmd.Name())
		}
	}
}
