package e2e

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// What is said in the tests, to be looked for later.
const (
	order    = "Never touch the directory migrations, it is frozen."
	decision = "The symbol table stays at version 41."
	command  = "sh build.sh"
	cause    = "ERROR link: undefined symbol needle_7731 in module_41"
	middle   = "00999 compile src/module_29.go"
)

// buildLog returns what a build prints: more than 200 kB, with the cause of its failure
// far from both ends, and characters that are longer than a byte.
func buildLog() []byte {
	var b bytes.Buffer
	for i := range 4300 {
		if i == 2718 {
			b.WriteString(cause + "\n")
		}
		fmt.Fprintf(&b, "%05d compile src/module_%d.go: ok — %d µs\n", i, i%97, i*7919%10007)
	}
	return b.Bytes()
}

// newBuilder returns an agent with the plug-in, in a directory with a build that fails.
func newBuilder(t *testing.T, script ...upstream.Step) *agent {
	t.Helper()
	a := newAgent(t, script...)
	a.install()
	a.fails()
	return a
}

// fails puts a build that fails into the working directory.
func (a *agent) fails() {
	a.t.Helper()
	a.write(filepath.Join(a.work, "build.log"), buildLog())
	a.write(filepath.Join(a.work, "build.sh"), []byte("cat build.log\n"))
}

// With the plug-in a large result is replaced before the model ever sees it, the model
// gets all of it back, byte for byte, and what matters survives a compaction.
func TestClaudeCodeWithThePlugInShrinksRecallsAndKeeps(t *testing.T) {
	const session = "0b8a6f0e-93c4-4a53-9f0d-6d1f3a5b7c90"
	back := new(original)
	a := newBuilder(
		t,
		step("build", upstream.Thinking("The log will tell."), upstream.Text("Building."), bash(command)),
		load("recall", "get_messages", "pin"),
		back.step(),
		step("found", upstream.Text(decision)),
		use("get_messages", func(*upstream.Request) any { return struct{}{} }),
		use("pin", func(r *upstream.Request) any { return map[string]any{"ids": []string{idOf(t, r, decision)}} }),
		step("pinned", upstream.Text("It is pinned.")),
		load("search", "recall"),
		use("search", func(*upstream.Request) any {
			return map[string]any{"query": "symbol table version", "session": "@this"}
		}),
		use("recall", func(r *upstream.Request) any { return map[string]any{"id": foundIn(t, r, decision), "text": true} }),
		step("end", upstream.Text("The linker is to be fixed.")),
	)
	a.ask("The build fails, run build.sh. Find out why. "+order, "--session-id", session)
	a.ask("Pin what you decided.", "--resume", session)
	a.ask("/compact keep it short", "--resume", session)
	a.ask("What is next?", "--resume", session)

	a.nothingRefused()
	if got := a.last(upstream.KindMain).Step; got != "end" {
		t.Errorf("the session ends at step %q", got)
	}
	if diff := firstDifference(buildLog(), back.data.Bytes()); diff != "" {
		t.Errorf("what was recalled is not what the command printed: %s", diff)
	}
	checkShrunk(t, a.fake)
	checkKept(t, a, decision, order, command)
	if results := a.last(upstream.KindMain).Results(); len(results) != 1 || !strings.Contains(results[0].Text, decision) {
		t.Errorf("what was found after the compaction is recalled as %+v", results)
	}
}

// What the agent compacts by itself, in the middle of its work, keeps what matters, too.
func TestClaudeCodeWithThePlugInKeepsThroughItsOwnCompaction(t *testing.T) {
	a := newBuilder(
		t,
		step("build", upstream.Thinking("The log will tell."), bash(command)),
		upstream.Step{Name: "full", Reply: upstream.Reply{Blocks: []upstream.Block{bash("date -u +%Y")}, InputTokens: tooMany}},
		step("end", upstream.Text("The linker is to be fixed.")),
	)
	a.ask("The build fails, run build.sh. Find out why. " + order)
	a.nothingRefused()
	if got := a.last(upstream.KindMain).Step; got != "end" {
		t.Errorf("the session ends at step %q", got)
	}
	checkKept(t, a, order, command)
}

// checkShrunk checks that the first result of a call that did not fail points to the
// log, says what the cause is, and has nothing of the rest.
func checkShrunk(t *testing.T, fake *upstream.Server) {
	t.Helper()
	requests := fake.OfKind(upstream.KindMain)
	at := slices.IndexFunc(requests, func(r *upstream.Request) bool {
		results := r.Results()
		return len(results) > 0 && !results[0].Failed
	})
	if at < 0 {
		t.Fatal("no request has a result")
	}
	result := requests[at].Results()[0].Text
	if !strings.HasPrefix(result, "[carrel: stashed ") || !strings.Contains(result, cause) || len(result) > len(buildLog())/10 {
		t.Errorf("the model sees %d bytes:\n%.400s", len(result), result)
	}
	if slices.ContainsFunc(requests[:at+1], func(r *upstream.Request) bool { return r.Contains(middle) }) {
		t.Error("the log was sent before it was asked for")
	}
}

// checkKept checks that whoever summarizes is told some texts, and that the agent is
// told them again, by a hook, after the summary.
func checkKept(t *testing.T, a *agent, texts ...string) {
	t.Helper()
	asked, after := a.last(upstream.KindCompaction), a.last(upstream.KindMain)
	_, told, _ := strings.Cut(asked.Prompt(), "Additional Instructions:")
	_, again, _ := strings.Cut(strings.Join(after.Notes(), "\n"), "Carrel has on record")
	for _, text := range texts {
		if !strings.Contains(told, text) {
			t.Errorf("whoever summarizes is not told %q, but:\n%.2000s", text, told)
		}
		if !strings.Contains(again, text) {
			t.Errorf("after the compaction the agent is not told %q, but:\n%.2000s", text, again)
		}
	}
}

// firstDifference says where two texts begin to differ, or nothing.
func firstDifference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	return fmt.Sprintf("%d bytes of %d, from byte %d on other ones", len(got), len(want), n)
}
