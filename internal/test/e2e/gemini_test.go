package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// geminiProgram is the variable that names the program of Gemini CLI.
const geminiProgram = "CARREL_TEST_GEMINI"

// geminiCLI starts itself anew with more memory unless it is told not to.
var geminiCLI = client{
	name: "gemini", variable: geminiProgram, dialect: upstream.DialectGemini,
	point: func(a *agent, base string) {
		a.write(filepath.Join(a.home, ".gemini", "settings.json"), []byte(`{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-3-pro-preview"},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}
}
`))
		a.env = append(a.env, "GOOGLE_GEMINI_BASE_URL="+base, "GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=1")
	},
	args: []string{"--yolo", "-p"},
	run: func(command string) upstream.Block {
		return upstream.Call{Name: "run_shell_command", Input: map[string]any{"command": command}}
	},
}

// geminiTool is a step in which the model calls a tool of Carrel's.
func geminiTool(name string, input func(*upstream.Request) any) upstream.Step {
	return upstream.Step{Name: name, Make: func(r *upstream.Request) upstream.Reply {
		return upstream.Say(upstream.Call{Name: "mcp_carrel_" + name, Input: input(r)})
	}}
}

// chat returns the file of the only session that Gemini CLI has, and the id of that.
func (a *agent) chat() (path, id string) {
	a.t.Helper()
	found, err := filepath.Glob(filepath.Join(a.home, ".gemini", "tmp", "*", "chats", "session-*.jsonl"))
	if err != nil || len(found) != 1 {
		a.t.Fatalf("%d sessions, %v", len(found), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		a.t.Fatal(err)
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return found[0], gjson.GetBytes(line, "sessionId").Str
}

// Gemini CLI finishes a session of a few calls: what it sends is taken, with the signatures
// that it was given.
func TestGeminiFinishesASession(t *testing.T) {
	const order, end = "Count to six, heron.", "It is six."
	var script []upstream.Step
	for _, command := range []string{"seq 1 2", "seq 3 4", "seq 5 6"} {
		script = append(script, step(command, upstream.Thinking("On."), upstream.Text("I run it."), geminiCLI.run(command), geminiCLI.run("echo "+command)))
	}
	a := geminiCLI.agent(t, &upstream.Options{Script: append(script, step("end", upstream.Text(end)))})
	if said := a.prompt(geminiCLI, order); !strings.Contains(said, end) {
		t.Errorf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	for i, r := range requests {
		if r.Dialect != upstream.DialectGemini || !r.Contains(order) || i > 0 && len(r.Results()) != 2 {
			t.Errorf("request %d is in %s and has the results %+v", i, r.Dialect, r.Results())
		}
	}
}

// With what setup writes, Gemini CLI greets its model, shows it a pointer in place of 200 kB
// before they are sent for the first time, and its tools are about its own session. What it
// wrote is there, gets smaller, and a new session of that goes on. Afterwards all is as it was.
func TestGeminiIsServedBySetupAndLeftAsItWas(t *testing.T) {
	const build = "seq -f 'compile unit %g of the lantern project: ok' 5000; echo 'lamp.c:12: undefined reference to wick'; exit 3"
	stashed := regexp.MustCompile(`\[carrel: stashed \d+ bytes, \d+ lines as ([0-9a-f]+)`)
	a := geminiCLI.agent(t, &upstream.Options{Script: []upstream.Step{
		step("build", upstream.Thinking("I build it."), geminiCLI.run(build)),
		geminiTool("recall", func(r *upstream.Request) any {
			id := ""
			if found := stashed.FindStringSubmatch(r.Results()[0].Text); found != nil {
				id = found[1]
			}
			return map[string]any{"id": id}
		}),
		geminiTool("status", func(*upstream.Request) any { return struct{}{} }),
		step("end", upstream.Text("It is the wick.")),
		step("more", geminiCLI.run("echo more")),
		step("end", upstream.Text("As I said.")),
	}})
	before := tree(t, a.home)
	a.carrel("setup", "gemini", "--yes")
	a.prompt(geminiCLI, "The build fails, heron. Find out why.")
	a.nothingRefused()

	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	if first := requests[0]; !first.Contains("Carrel looks after this session's context") || !first.Contains("context-engine") {
		t.Errorf("the first request has no greeting, or no skill:\n%.3000s", first.Body)
	}
	got := requests[1].Results()[0].Text
	if !strings.HasPrefix(got, "[carrel: stashed ") || len(got) > 8000 || !strings.Contains(got, "undefined reference to wick") || len(requests[1].Body) > len(requests[0].Body)+10_000 {
		t.Errorf("of the build the model sees %d bytes:\n%.1000s", len(got), got)
	}
	if got := requests[2].Results()[0].Text; !strings.Contains(got, "compile unit 7 of the lantern project") {
		t.Errorf("of what it recalls the model sees:\n%.1000s", got)
	}
	path, id := a.chat()
	if text := requests[3].Results()[0].Text; !strings.Contains(text, id) {
		t.Errorf("in session %s it is told:\n%.600s", id, text)
	}

	if out := a.call(carrelProgram, "export", id, "-o", "-"); !strings.Contains(out, "It is the wick.") {
		t.Errorf("the hooks have not imported the session:\n%.600s", out)
	}
	a.carrel("import", path)
	a.carrel("compress", id, "--target", "50%")
	chats := filepath.Dir(path)
	a.carrel("export", id, "--as-new-session", "-o", chats)
	all, err := filepath.Glob(filepath.Join(chats, "*.jsonl"))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	fresh := all[slices.IndexFunc(all, func(p string) bool { return p != path })]
	data, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	a.call(a.program, append([]string{"--resume", gjson.GetBytes(line, "sessionId").Str}, append(slices.Clone(geminiCLI.args), "And again, heron?")...)...)
	a.nothingRefused()
	if last := a.last(upstream.KindMain); !last.Contains("It is the wick.") || !last.Contains("The build fails, heron.") || !last.Contains("And again, heron?") || last.Results()[0].Text == "" {
		t.Errorf("the new session goes on from\n%.3000s", strings.Join(last.Texts()[1:], "\n"))
	}

	a.carrel("setup", "gemini", "--undo", "--yes")
	after := tree(t, a.home)
	for _, name := range []string{"settings.json", "skills/context-engine/SKILL.md"} {
		path := filepath.Join(a.home, ".gemini", name)
		if diff := cmp.Diff(before[path], after[path]); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// Gemini CLI takes the extension as it is.
func TestGeminiTakesTheExtension(t *testing.T) {
	a := geminiCLI.agent(t, &upstream.Options{})
	dir, err := filepath.Abs(filepath.Join(root, "plugin", "gemini"))
	if err != nil {
		t.Fatal(err)
	}
	a.call(a.program, "extensions", "validate", dir)
}
