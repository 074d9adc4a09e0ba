package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// limnDocuments returns the JSON documents of the contract language and of intents.
func limnDocuments(t *testing.T, env *job.Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	rules := clitest.WriteFile(t, env, "rules.limn", "remember a number called n with 3\nrequire n is above 5\nhello there\n")
	cases := clitest.WriteFile(t, env, "cases.json", `[{"name": "a", "program": "show 1", "results": [], "exit": 0}]`)
	prompts := clitest.WriteFile(t, env, "prompts.json", `[{"prompt": "fix the pager", "expected_verb": "plan"}]`)
	const prompt = "fix the login test, briefly but in every detail, maybe. Then write a changelog"
	before := clitest.WriteFile(t, env, "before.json", string(document(0, "intent", prompt)))
	var docs [][]byte
	for _, tt := range []struct {
		want int
		args []string
	}{
		{exitNo, []string{"limn", "run", rules}},
		{exitNo, []string{"limn", "check", rules}},
		{0, []string{"limn", "fmt", clitest.WriteFile(t, env, "good.limn", "show \"x\"\n")}},
		{exitNo, []string{"limn", "conform", cases}},
		{exitInput, []string{"limn", "fmt", rules}},
		{0, []string{"intent", prompt}},
		{0, []string{"intent", "hello"}},
		{0, []string{"intent", "--keywords", prompt}},
		{exitNo, []string{"intent", "explain DNS", "--diff", before}},
		{exitNo, []string{"intent", "--score", prompts}},
	} {
		docs = append(docs, document(tt.want, tt.args...))
	}
	return docs
}

// The example in the help topic, which is split into pieces there, runs.
func TestTopicLimnRuns(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	var program strings.Builder
	for line := range strings.Lines(commandAt(newRoot(job.New(env)), "limn").Long) {
		if example, ok := strings.CutPrefix(line, "    "); ok {
			program.WriteString(example)
		}
	}
	file := clitest.WriteFile(t, env, "topic.limn", program.String())
	if got := Main(t.Context(), env, []string{"limn", "run", file, "-q", "--strict"}); got != 0 {
		t.Fatalf("status %d: %s%s", got, stdout, stderr)
	}
	const want = `35
3
12
pages: 40, state: idle
12
40
40
large
70
Listening for changes of limit
[initial] over
Listener stopped: no pack gives values that could change
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("output (-want +got)\n%s", diff)
	}
	stdout.Reset()
	if got := Main(t.Context(), env, []string{"limn", "check", file, "--strict"}); got != 0 {
		t.Errorf("check: status %d: %s%s", got, stdout, stderr)
	}
	stdout.Reset()
	if got := Main(t.Context(), env, []string{"limn", "fmt", file}); got != 0 {
		t.Fatalf("fmt: status %d: %s", got, stderr)
	}
	if got, want := strings.Count(stdout.String(), "\n"), strings.Count(program.String(), "\n"); got != want {
		t.Errorf("formatted, it has %d lines, want %d", got, want)
	}
}

const amberProgram = "remember a number called n with 3\nexpect n is 1 and n is 2 or n is 3 then show \"meant\"\n"

func TestAmberIsAsked(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		terminal     bool
		want         string
		asked        bool
	}{
		{"yes", "y\n", true, "meant\n", true},
		{"yes in full", "YES\r\n", true, "meant\n", true},
		{"no", "n\n", true, "Not executed: ", true},
		{"the end of the input", "", true, "Not executed: ", true},
		{"nobody is there", "y\n", false, "Not executed: ", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			env.Stdin, env.StdinTerminal = strings.NewReader(tt.answer), tt.terminal
			file := clitest.WriteFile(t, env, "amber.limn", amberProgram)
			if got := Main(t.Context(), env, []string{"limn", "run", file, "-q"}); got != 0 {
				t.Fatalf("status %d: %s", got, stderr)
			}
			if got := stdout.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			const question = "This reads as: (n is 1 and n is 2) or n is 3\nIs it meant so? [y/N] "
			if got := stderr.String(); (got == question) != tt.asked {
				t.Errorf("asked %q", got)
			}
		})
	}
}

// A person gets prompts on standard error, and errors without line numbers.
func TestREPLOnATerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.Stdin, env.StdinTerminal = strings.NewReader("show ghost\nwhen x is 1\n  show x\n\n:listen\n"), true
	if got := Main(t.Context(), env, []string{"limn", "repl"}); got != 0 {
		t.Fatalf("status %d: %s", got, stderr)
	}
	if got, want := stderr.String(), "Statements of the contract language; :help says more.\n> >     > > "; got != want {
		t.Errorf("prompts %q, want %q", got, want)
	}
	const want = `I understand this as: show ghost
Error: there is nothing called 'ghost'
Hint: remember it first
I understand this as: when x is 1
  show x
Error: there is nothing called 'x'
Hint: remember it first
Nothing listens: there is no "when", or a statement before was refused
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("output (-want +got)\n%s", diff)
	}
}

// A terminal gets no control characters from a program.
func TestLimnOutputIsVisible(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"a pipe gets the bytes", false, "a\x1bb\n"},
		{"a terminal gets escapes", true, `a\x1bb` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			env.StdoutTerminal = tt.terminal
			file := clitest.WriteFile(t, env, "esc.limn", "show \"a\x1bb\"\n")
			if got := Main(t.Context(), env, []string{"limn", "run", file, "-q"}); got != 0 {
				t.Fatalf("status %d: %s", got, stderr)
			}
			if got := stdout.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// An interrupt ends a program that listens without an error; an interrupt of a program that waits
// for an answer is an error.
func TestLimnIsInterrupted(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	r, w := io.Pipe()
	env.Stdout = w
	env.Stdin = bytes.NewReader(nil)
	program := clitest.WriteFile(t, env, "tick.limn", "when tick is above 0\n  show tick\n")
	pack := clitest.WriteFile(t, env, "tick.json", `{"name": "clock", "type": "timer", "interval_ms": 1}`)
	deadline, stop := context.WithTimeout(t.Context(), time.Minute) // for a program that never ticks
	defer stop()
	ctx, cancel := context.WithCancelCause(deadline)
	var code int
	var done sync.WaitGroup
	done.Go(func() {
		code = Main(ctx, env, []string{"limn", "run", program, "--pack", pack})
		_ = w.Close()
	})
	var last string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if last = lines.Text(); last == "[tick → 1] 1" {
			cancel(&job.SignalError{Signal: os.Interrupt})
		}
	}
	done.Wait()
	if code != 0 || last != "Listener stopped: interrupted" {
		t.Errorf("status %d after %q: %s", code, last, stderr)
	}

	env, _, stderr = clitest.Env(t)
	env.Stdin, w = io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(&job.SignalError{Signal: os.Interrupt})
	if got := Main(canceled, env, []string{"limn", "repl"}); got != exitInterrupted {
		t.Errorf("status %d, want %d: %s", got, exitInterrupted, stderr)
	}
}

// A terminal shows which words of a prompt fill which slot.
func TestIntentOnATerminal(t *testing.T) {
	for _, tt := range []struct{ name, prompt, want string }{
		{"labels below what they are for", "explain DNS for beginners", `explain DNS for beginners
        ^^^     ^^^^^^^^^
        target  audience

verb      explain   high confidence, verb-first
slot      target    DNS
slot      audience  beginners
keywords            explain dns beginners
`},
		{"wide characters", "explain 文字 for beginners", `explain 文字 for beginners
        ^^^^     ^^^^^^^^^
        target   audience

`},
		{"several lines", "explain DNS\nfor beginners", "verb      explain "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			env.StdoutTerminal = true
			if got := Main(t.Context(), env, []string{"intent", tt.prompt, "--color", "never"}); got != 0 {
				t.Fatalf("status %d: %s", got, stderr)
			}
			if got := stdout.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
