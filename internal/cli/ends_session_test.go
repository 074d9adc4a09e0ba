package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// An answer that cannot be written is an error, also if the answer is no.
func TestListingsThatCannotBeWritten(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	run(0, "import", sample(t, "claude.jsonl"))
	leaky := clitest.WriteFile(t, env, "leaky.json", `[{"type": "file_path", "question": "Was a/b.go changed?", "expected_keywords": ["a/b.go"]}]`)
	packet := clitest.WriteFile(t, env, "packet.md", run(0, "handoff"))
	run(0, "import", sample(t, "openai.json"))
	failing := clitest.WriteFile(t, env, "failing.limn", "require absent is above 3\n")
	run(0, "contract", "init", "5f0c")
	run(0, "put", "--type", "document", clitest.WriteFile(t, env, "note.txt", "The lamp has profile B."))
	run(0, "assemble", "--query", "lamp")
	for _, tt := range []struct {
		want int
		args []string
	}{
		{exitNo, []string{"search", "unheard"}},
		{exitNo, []string{"probe", "lint", leaky}},
		{exitNo, []string{"handoff", "check", packet, "--session", "oa-"}},
		{exitNo, []string{"contract", "check", failing}},
		{exitNo, []string{"level", "--used", "190000", "--effective", "160000", "--window", "200000"}},
		{exitConsent, []string{"contract", "save", "5f0c", "--attended"}},
		{exitPolicy, []string{"commit", "@last", "--text", "Nobody needs the other lamp."}},
	} {
		args := slices.Concat(tt.args, []string{"--json"})
		run(tt.want, args...)
		broken := *env
		broken.Stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("no room") })
		stderr.Reset()
		if got := Main(t.Context(), &broken, args); got == 0 || got == tt.want || !strings.Contains(stderr.String(), "no room") {
			t.Errorf("%q: status %d, said %q", args, got, stderr)
		}
	}
}

// An import that is interrupted behind one file tells what was wrong with it.
func TestInterruptedImportTellsOneProblem(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	env.Stdin = readerFunc(func([]byte) (int, error) {
		cancel(&job.SignalError{Signal: os.Interrupt})
		return 0, context.Canceled
	})
	if got := Main(ctx, env, []string{"import", env.Dir + "/absent.json", "-"}); got != exitInterrupted {
		t.Errorf("status %d, want %d", got, exitInterrupted)
	}
	if got := stderr.String(); strings.Count(got, "absent.json") != 1 || !strings.HasSuffix(got, "stopped after 1 of 2 files\ncarrel: interrupt\n") {
		t.Errorf("standard error is %q", got)
	}
}

// A person at a terminal is told that a dry run wrote nothing, and what is recalled, and is asked
// before a conversation is erased.
func TestSessionsOnATerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	run(0, "import", sample(t, "claude.jsonl"))
	note := clitest.WriteFile(t, env, "note.txt", "A note.")
	run(0, "put", "--type", "document", "--id", "note", note)
	run(0, "compress", "5f0c", "--target", "2000")
	env.StdoutTerminal, env.StderrTerminal, env.StdinTerminal = true, true, true
	for _, args := range [][]string{
		{"sessions", "mark", "5f0c", "--critical", "-n"},
		{"undo", "-n"},
		{"pin", "note", "-n"},
	} {
		if got := run(0, args...); !strings.HasSuffix(got, "dry run: nothing was written\n") {
			t.Errorf("%q prints %q", args, got)
		}
		if got := run(0, args[:len(args)-1]...); strings.Contains(got, "dry run") {
			t.Errorf("%q prints %q", args[:len(args)-1], got)
		}
	}
	empty := clitest.WriteFile(t, env, "empty.limn", "")
	if got := run(0, "contract", "check", empty, empty, "--color", "never"); strings.HasPrefix(got, "\n") || strings.Count(got, "\n\n") != 1 {
		t.Errorf("two contracts are printed as %q, want a blank line between them", got)
	}
	run(0, "recall", "note")
	if !strings.HasPrefix(stderr.String(), "note · document · 7 bytes · sha256 ") {
		t.Errorf("recalled %q", stderr)
	}
	for _, tt := range []struct {
		answer string
		want   int
		said   string
	}{
		{"n\n", exitNo, "? [y/N] nothing was erased\n"},
		{"", exitNo, "? [y/N] nothing was erased\n"},
		{"y\n", 0, "? [y/N] "},
	} {
		env.Stdin = strings.NewReader(tt.answer)
		run(tt.want, "sessions", "purge", "5f0c")
		if got := stderr.String(); !strings.HasPrefix(got, "erase 1 conversation, ") || !strings.HasSuffix(got, tt.said) {
			t.Errorf("the answer %q: said %q", tt.answer, got)
		}
	}
}
