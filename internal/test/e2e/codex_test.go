package e2e

import (
	"encoding/json"
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

// The sessions of Codex, of a sub-agent too, are imported; the session is
// compressed, begun anew, and Codex goes on from it.
func TestCodexGoesOnFromAnExport(t *testing.T) {
	const secret = "the wick is 7 mm"
	script := []upstream.Step{step("look", upstream.Thinking("Hm."), upstream.Text("I look."), codex.run("echo '"+secret+"'"))}
	for range 6 {
		script = append(script, step("noise", upstream.Thinking("On."), codex.run("seq 1 2000")))
	}
	script = append(
		script,
		step("ask another", upstream.Call{Namespace: "multi_agent_v1", Name: "spawn_agent", Input: map[string]any{"message": "Look for moths."}}),
		// The agent may be called once more when the other one is done.
		upstream.Step{Name: "any", When: func(r *upstream.Request) bool { return upstream.Main(r) && !r.Contains("And now?") }, Times: upstream.Always, Reply: upstream.Say(upstream.Text("It is done."))},
		step("go on", codex.run("seq 5 6")),
		step("end", upstream.Text("I went on.")),
	)
	a := codex.agent(t, &upstream.Options{Script: script})
	a.prompt(codex, "Mend the lamp, heron.")
	session := a.fake.OfKind(upstream.KindMain)[0].Session

	var all struct {
		Formats []struct {
			Format                    string
			Sessions, Failed, Skipped int
		}
	}
	if err := json.Unmarshal([]byte(a.call(carrelProgram, "import", "--all", "--json")), &all); err != nil || len(all.Formats) != 1 || all.Formats[0].Format != "codex" || all.Formats[0].Sessions != 2 {
		t.Fatalf("imported %+v, %v", all, err)
	}
	listed := a.call(carrelProgram, "sessions")
	if !strings.Contains(listed, session+"\t") || !strings.Contains(listed, session+"/agent-") {
		t.Errorf("the sessions are\n%s", listed)
	}
	if cost := a.call(carrelProgram, "cost", session, "--json", "--jq", ".sessions[0].calls"); !regexp.MustCompile(`^(9|10)\n$`).MatchString(cost) {
		t.Errorf("%s calls are counted, want one for each request", cost)
	}
	before := 0 // bytes of the largest request
	for _, r := range a.fake.OfKind(upstream.KindMain) {
		before = max(before, len(r.Body))
	}
	a.carrel("compress", session, "--target", "60%")
	a.carrel("export", session, "--as-new-session")
	files, err := filepath.Glob(filepath.Join(a.home, ".codex", "sessions", "*", "*", "*", "*.jsonl"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	made := regexp.MustCompile(`[0-9a-f-]{36}\.jsonl$`)
	var begun string
	for _, f := range files {
		if id := strings.TrimSuffix(made.FindString(f), ".jsonl"); !strings.Contains(listed, id) {
			begun = id
		}
	}
	if said := a.call(a.program, append(slices.Clone(codex.args), "resume", begun, "And now?")...); !strings.Contains(said, "I went on.") {
		t.Errorf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	last := a.last(upstream.KindMain)
	if last.Session != begun || last.Step != "end" || !last.Contains("Mend the lamp, heron.") || !last.Contains(secret) || !last.Contains("And now?") || len(last.Body) > before*7/10 {
		t.Errorf("the last request, of session %s and step %s, has %d bytes, and had %d:\n%.2000s", last.Session, last.Step, len(last.Body), before, last.Body)
	}
}

// When Codex has compacted a conversation by itself, the agent that goes on is told what must
// survive, and what the summary left out can be recalled.
func TestCodexIsToldAfterItsCompaction(t *testing.T) {
	c := trusting()
	a := c.agent(t, &upstream.Options{Script: []upstream.Step{
		step("look", c.run("echo 'the wick is 7 mm'; echo 'FAIL: lamp.c:12'; exit 4")),
		{Name: "full", Reply: upstream.Reply{Blocks: []upstream.Block{c.run("seq 1 400")}, InputTokens: 900_000}},
		step("on", c.run("seq 7 8")),
		step("end", upstream.Text("It is eight.")),
	}})
	a.write(filepath.Join(a.work, "AGENTS.md"), []byte("Say please.\n"))
	a.carrel("setup", "codex", "--mode", "hooks", "--yes")
	args := append([]string{"-c", "model_auto_compact_token_limit=800000"}, c.args...)
	if said := a.call(a.program, append(args, "Mend the lamp, heron: never touch the moths.")...); !strings.Contains(said, "It is eight.") {
		t.Errorf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	if n := len(a.fake.OfKind(upstream.KindCompaction)); n != 1 {
		t.Fatalf("%d compactions, want one", n)
	}
	end := a.last(upstream.KindMain)
	for _, want := range []string{"Carrel has on record of this session", "never touch the moths"} {
		if !end.Contains(want) {
			t.Errorf("after the compaction the agent is not told %q:\n%q", want, end.Texts())
		}
	}
	a.carrel("import", "--all")
	if found := a.call(carrelProgram, "messages", "@last"); !strings.Contains(found, "Mend the lamp, heron") || strings.Contains(strings.SplitN(found, "\n", 2)[0], "AGENTS.md") {
		t.Errorf("the messages are\n%s", found)
	}
}
