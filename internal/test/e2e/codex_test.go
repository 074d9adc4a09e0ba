package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// noisy is a command whose output is 200 kB and which fails.
const noisy = "i=0; while [ $i -lt 5000 ]; do echo \"compile unit $i of the lantern project: ok\"; i=$((i+1)); done; echo 'lamp.c:12: undefined reference to wick'; exit 3"

// trusting are the arguments of a Codex that runs hooks that nobody has reviewed.
func trusting() client {
	c := codex
	c.args = append([]string{"--dangerously-bypass-hook-trust"}, c.args...)
	return c
}

// codexTool is a step in which Codex' model calls a tool of Carrel's.
func codexTool(name string, input func(*upstream.Request) any) upstream.Step {
	return upstream.Step{Name: name, Make: func(r *upstream.Request) upstream.Reply {
		return upstream.Say(upstream.Call{Namespace: "mcp__carrel", Name: name, Input: input(r)})
	}}
}

// With what setup writes, Codex greets its model, shows it a pointer in place of 200 kB before
// they are sent for the first time, and its tools are about its own session. Afterwards all is
// as it was.
func TestCodexIsServedBySetupAndLeftAsItWas(t *testing.T) {
	c := trusting()
	stashed := regexp.MustCompile(`\[carrel: stashed \d+ bytes, \d+ lines as ([0-9a-f]+)`)
	a := c.agent(t, &upstream.Options{Script: []upstream.Step{
		step("build", c.run(noisy)),
		codexTool("recall", func(r *upstream.Request) any {
			id := ""
			if found := stashed.FindStringSubmatch(r.Results()[0].Text); found != nil {
				id = found[1]
			}
			return map[string]any{"id": id}
		}),
		codexTool("status", func(*upstream.Request) any { return struct{}{} }),
		step("end", upstream.Text("It is the wick.")),
		codexTool("status", func(*upstream.Request) any { return struct{}{} }),
		step("end", upstream.Text("As I said.")),
	}})
	before := tree(t, a.home)
	a.carrel("setup", "codex", "--yes")
	a.prompt(c, "The build fails, heron. Find out why.")
	a.nothingRefused()

	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	if first := requests[0]; !first.Contains("Carrel looks after this session's context") || !first.Contains("context-engine") {
		t.Errorf("the first request has no greeting, or no skill:\n%.3000s", first.Body)
	}
	got := requests[1].Results()[0].Text
	if !strings.HasPrefix(got, "Process exited with code 3\nOutput:\n[carrel: stashed ") || len(got) > 8000 || !strings.Contains(got, "undefined reference to wick") {
		t.Errorf("of the build the model sees %d bytes:\n%.1000s", len(got), got)
	}
	if got := requests[2].Results()[0].Text; !strings.Contains(got, "compile unit 7 of the lantern project") {
		t.Errorf("of what it recalls the model sees:\n%.1000s", got)
	}
	session := requests[0].Session
	told := func(r *upstream.Request) {
		t.Helper()
		if text := r.Results()[0].Text; !strings.Contains(text, session) {
			t.Errorf("in session %s it is told:\n%.600s", session, text)
		}
	}
	told(requests[3])

	a.call(a.program, append(slices.Clone(c.args), "resume", session, "And again?")...)
	a.nothingRefused()
	told(a.last(upstream.KindMain))
	a.carrel("setup", "codex", "--undo", "--yes")
	after := tree(t, a.home)
	for _, name := range []string{"config.toml", "hooks.json", "skills/context-engine/SKILL.md"} {
		path := filepath.Join(a.home, ".codex", name)
		if diff := cmp.Diff(before[path], after[path]); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}
