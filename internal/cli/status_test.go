package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestMainReportsABug(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.Now = func() time.Time { panic("no clock") }
	if got := Main(t.Context(), env, []string{"bench", "pager", "--json"}); got != exitBug {
		t.Errorf("status %d, want %d", got, exitBug)
	}
	if got := stderr.String(); got != "carrel: this is a bug in carrel: no clock\n" {
		t.Errorf("standard error is %q", got)
	}
	if got := stdout.String(); !strings.Contains(got, `"type":"carrel:problem/bug"`) {
		t.Errorf("standard output is %q", got)
	}
}

// A signal is the reported cause of an error, and the store is unchanged.
func TestMainIsInterrupted(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&job.SignalError{Signal: os.Interrupt})
	if got := Main(ctx, env, []string{"import", sample(t, "claude.jsonl")}); got != exitInterrupted {
		t.Errorf("status %d, want %d: %s", got, exitInterrupted, stderr)
	}
	if got := stderr.String(); got != "carrel: interrupt\n" {
		t.Errorf("standard error is %q", got)
	}
	env, stdout, _ := clitest.Env(t)
	if got := Main(t.Context(), env, []string{"sessions"}); got != 0 || stdout.Len() > 0 {
		t.Errorf("status %d, sessions %q, want none", got, stdout)
	}
}

// readerFunc is a reader that calls itself.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// writerFunc is a writer that calls itself.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// An import that is interrupted reports the files that it has imported.
func TestInterruptedImportReports(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	env.Stdin = readerFunc(func([]byte) (int, error) {
		cancel(&job.SignalError{Signal: os.Interrupt})
		return 0, context.Canceled
	})
	got := Main(ctx, env, []string{"import", env.Dir + "/absent.json", sample(t, "claude.jsonl"), "-", sample(t, "openai.json")})
	if got != exitInterrupted {
		t.Errorf("status %d, want %d", got, exitInterrupted)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "claudecode\t1\t1\t") {
		t.Errorf("standard output is %q, want a report", got)
	}
	if got := stderr.String(); strings.Count(got, "absent.json") != 1 || !strings.HasSuffix(got, "stopped after 2 of 4 files\ncarrel: interrupt\n") {
		t.Errorf("standard error is %q", got)
	}
}

// Put stores many artifacts in several updates. If it is interrupted, it prints the artifacts that
// it has stored.
func TestInterruptedPutReports(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	now := env.Now()
	env.Now = func() time.Time { now = now.Add(time.Second); return now } // so that each step is reported
	env.Stderr = writerFunc(func(text []byte) (int, error) {
		if strings.HasPrefix(string(text), "put 1000 of ") {
			cancel(&job.SignalError{Signal: os.Interrupt})
		}
		return stderr.Write(text)
	})
	var lines strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&lines, `{"id":"a%d","text":"%d"}`+"\n", i, i)
	}
	file := clitest.WriteFile(t, env, "many.ndjson", lines.String())
	if got := Main(ctx, env, []string{"put", "--lines", file, "--type", "doc", "--progress", "plain"}); got != exitInterrupted {
		t.Errorf("status %d, want %d", got, exitInterrupted)
	}
	if got := strings.Count(stdout.String(), "\n"); got != 1000 {
		t.Errorf("%d artifacts are printed, want 1000", got)
	}
}

// An answer that cannot be written is that failure, and not the answer no.
func TestAnswersThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{
		"validate refused.json", "schema check intent refused.json", "limn check loose.limn", "limn fmt -d loose.limn",
		"intent explain DNS for experts --diff before.json", "intent --score cases.json",
	} {
		for _, broken := range []bool{false, true} {
			env, _, stderr := clitest.Env(t)
			if broken {
				env.Stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("unplugged") })
			}
			clitest.WriteFile(t, env, "refused.json", `{"messages":[{"role":"tool","tool_call_id":"x","content":"y"}]}`)
			clitest.WriteFile(t, env, "loose.limn", "   -- aside\nnonsense\n")
			clitest.WriteFile(t, env, "before.json", `{"schema":"prosecode.intent.v0","verb":"explain"}`)
			clitest.WriteFile(t, env, "cases.json", `{"cases": [{"prompt": "explain DNS", "expected_verb": "plan", "expected_slots": {"goal": "DNS"}}]}`)
			if got := Main(t.Context(), env, strings.Fields(args)); (got == exitNo) == broken || strings.Contains(stderr.String(), "unplugged") != broken {
				t.Errorf("carrel %s: exit code %d, %q; the output is broken: %t", args, got, stderr, broken)
			}
		}
	}
}

// A failure tells a person all of its parts: every rule that a result breaks, the stack of a bug if
// it is asked for, and what of a budget is fixed.
func TestFailuresHaveParts(t *testing.T) {
	several := []transcript.Violation{{Rule: "order", Message: 1, Text: "first"}, {Rule: "order", Message: 2, Text: "second"}}
	bug := &job.PanicError{Value: "no clock", Stack: []byte("the stack\n")}
	for _, tt := range []struct {
		err           error
		log           string
		verbose       int
		want, without string
	}{
		{&carrel.InvalidError{Format: "openai", Violations: several}, "", 0, "\n  " + several[1].String() + "\n", "stack"},
		{&carrel.InvalidError{Format: "openai", Violations: several[:1]}, "", 0, several[0].String(), "\n  "},
		{bug, "", 0, "no clock", "the stack"},
		{bug, "debug", 0, "no clock\nthe stack\n", "  "},
		{bug, "", 1, "no clock\nthe stack\n", "  "},
		{errors.New("no disk"), "debug", 1, "carrel: no disk\n", "stack"},
	} {
		env, _, stderr := clitest.Env(t)
		env.Getenv = func(name string) string { return map[string]string{"CARREL_LOG": tt.log}[name] }
		j := job.New(env)
		j.Verbose = tt.verbose
		fail(t.Context(), j, tt.err)
		if got := stderr.String(); !strings.Contains(got, tt.want) || strings.Contains(got, tt.without) {
			t.Errorf("%v, %q, %d: %q, want %q and no %q", tt.err, tt.log, tt.verbose, got, tt.want, tt.without)
		}
	}
	for fixed, want := range map[token.Count]bool{0: false, 1: true} {
		env, _, stderr := clitest.Env(t)
		if printFloor(job.New(env), &api.FloorFigures{Fixed: fixed}); strings.Contains(stderr.String(), "framing and tools") != want {
			t.Errorf("%d fixed tokens: %q", fixed, stderr)
		}
	}
	if !completes([]string{"__completeNoDesc"}) || completes([]string{"x", "__complete"}) || !wantsJSON([]string{"x", "--json=pretty"}) || wantsJSON([]string{"--jsonl"}) {
		t.Error("a request for completions or for JSON is not known")
	}
}

// What replaces a file asks the person at the terminal first. Without one it needs --yes.
func TestReplacingAsks(t *testing.T) {
	for _, tt := range []struct {
		stdin, stderr bool // are terminals
		answer, args  string
		want          int
	}{
		{true, true, "y\n", "store restore copy.db", exitDone},
		{true, true, "n\n", "store restore copy.db", exitPolicy},
		{true, false, "y\n", "store restore copy.db", exitPolicy},
		{false, true, "y\n", "store restore copy.db", exitPolicy},
		{false, false, "", "store restore copy.db --yes", exitDone},
		{false, false, "", "--store fresh.db store restore copy.db", exitDone},
		{true, true, "y\n", "setup claude", exitDone},
		{true, true, "n\n", "setup claude", exitConsent},
		{true, false, "y\n", "setup claude", exitConsent},
		{false, true, "y\n", "setup claude", exitConsent},
		{false, false, "", "setup claude --yes", exitDone},
	} {
		env, _, stderr := clitest.Env(t)
		steps := [][]string{{"import", sample(t, "claude.jsonl")}, {"store", "backup", "copy.db"}, strings.Fields(tt.args)}
		if strings.HasPrefix(tt.args, "setup") {
			steps = steps[2:]
		}
		for i, args := range steps {
			want := exitDone
			if i == len(steps)-1 {
				env.Stdin, env.StdinTerminal, env.StderrTerminal, want = strings.NewReader(tt.answer), tt.stdin, tt.stderr, tt.want
			}
			if got := Main(t.Context(), env, args); got != want {
				t.Errorf("%+v: carrel %q: exit code %d, %s, want %d", tt, args, got, stderr, want)
			}
		}
		if done := strings.Contains(stderr.String(), "restored ") || strings.Contains(stderr.String(), "done: "); done != (tt.want == exitDone) {
			t.Errorf("%+v: done: %t, %s", tt, done, stderr)
		}
	}
}
