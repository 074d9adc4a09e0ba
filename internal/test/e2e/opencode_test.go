package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// pointed is how what was stashed is spoken of: its size and its id.
var pointed = regexp.MustCompile(`\[carrel: stashed (\d+) bytes, \d+ lines as ([0-9a-f]+)`)

// newOpenCode returns an OpenCode whose model follows a script, in a directory with a build that
// fails, with settings that are its own.
func newOpenCode(t *testing.T, script ...upstream.Step) *agent {
	t.Helper()
	a := openCode.agent(t, &upstream.Options{Script: script})
	a.env = append(a.env, "XDG_CONFIG_HOME="+filepath.Join(a.home, ".config"), "XDG_DATA_HOME="+filepath.Join(a.home, ".local", "share"))
	a.fails()
	return a
}

// ends checks that nothing was refused, and that the session ended at the last step.
func (a *agent) ends() {
	a.t.Helper()
	a.nothingRefused()
	if got := a.last(upstream.KindMain).Step; got != "end" {
		a.t.Errorf("the session ends at step %q", got)
	}
}

// OpenCode is served by setup: a large result is shrunk before the model sees it, all of it comes
// back through the server, which knows in which session it is asked, and what is written is
// taken out again.
func TestOpenCodeIsServedBySetupAndLeftAsItWas(t *testing.T) {
	var id, back string
	a := newOpenCode(
		t,
		step("build", openCode.run(command)),
		upstream.Step{Name: "recall", Make: func(r *upstream.Request) upstream.Reply {
			if found := pointed.FindStringSubmatch(r.Results()[0].Text); found != nil {
				id = found[2]
			}
			return upstream.Say(upstream.Call{Name: "carrel_recall", Input: map[string]any{"id": id}})
		}},
		upstream.Step{Name: "status", Make: func(r *upstream.Request) upstream.Reply {
			back = r.Results()[0].Text
			return upstream.Say(upstream.Call{Name: "carrel_status", Input: struct{}{}})
		}},
		step("end", upstream.Text("It is the linker.")),
	)
	config := filepath.Join(a.home, ".config", "opencode")
	settings := filepath.Join(config, "opencode.jsonc") // OpenCode itself puts a $schema into one without
	a.write(settings, []byte("{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"username\": \"me\"\n}\n"))
	before := tree(t, config)
	a.carrel("setup", "opencode", "--yes")
	written := tree(t, config)
	a.prompt(openCode, "The build fails, run build.sh. Find out why. "+order)
	a.ends()
	checkShrunk(t, a.fake)
	if !strings.HasPrefix(back, string(buildLog()[:1000])) {
		t.Errorf("what comes back is %.300s", back)
	}
	end := a.last(upstream.KindMain)
	if text := end.Results()[0].Text; !strings.Contains(text, end.Session) {
		t.Errorf("session %s is told:\n%s", end.Session, text)
	}
	if !slices.ContainsFunc(end.Texts(), func(s string) bool { return strings.HasPrefix(s, "Carrel looks after this session") }) {
		t.Error("the model is not told of Carrel")
	}
	if found := a.fake.Breaks(end.Session); len(found) > 0 {
		t.Errorf("%d requests do not go on from what was sent before", len(found))
	}
	now := tree(t, config)
	maps.DeleteFunc(now, func(path, _ string) bool {
		return written[path] == "" || path == filepath.Join(config, "opencode.json")
	})
	maps.DeleteFunc(written, func(path, _ string) bool { return path == filepath.Join(config, "opencode.json") })
	if diff := cmp.Diff(written, now); diff != "" {
		t.Errorf("OpenCode has changed what setup wrote (-setup +now):\n%s", diff)
	}
	a.carrel("setup", "opencode", "--undo", "--yes")
	after := tree(t, config)
	for path := range written {
		if before[path] != after[path] {
			t.Errorf("%s is %q, and was %q", path, after[path], before[path])
		}
	}
}

// Whoever summarizes a session of OpenCode is told what to keep, and the agent that goes on is
// told it again.
func TestOpenCodeKeepsThroughItsOwnCompaction(t *testing.T) {
	a := newOpenCode(
		t,
		step("build", openCode.run(command)),
		upstream.Step{Name: "full", Reply: upstream.Reply{Blocks: []upstream.Block{openCode.run("date -u +%Y")}, InputTokens: 995_000}},
		step("end", upstream.Text("The linker is to be fixed.")),
	)
	a.env = append(a.env, `OPENCODE_CONFIG_CONTENT={"compaction":{"auto":true}}`)
	a.carrel("setup", "opencode", "--yes")
	a.prompt(openCode, "The build fails, run build.sh. Find out why. "+order)
	a.ends()
	asked, end := a.last(upstream.KindCompaction), a.last(upstream.KindMain)
	_, told, _ := strings.Cut(asked.Prompt(), "</conversation>")
	_, again, _ := strings.Cut(strings.Join(end.Texts(), "\n"), "Carrel has on record")
	for _, text := range []string{order, command} {
		if !strings.Contains(told, text) {
			t.Errorf("whoever summarizes is not told %q, but:\n%.2000s", text, told)
		}
		if !strings.Contains(again, text) {
			t.Errorf("the agent is not told %q again, but:\n%.2000s", text, again)
		}
	}
	a.carrel("import", "--all")
	if found := a.call(carrelProgram, "search", "migrations frozen", "--jq", ".items[].session"); !strings.Contains(found, end.Session) {
		t.Errorf("what stood before the compaction is found in %q", found)
	}
}

// Without Carrel the plug-in is in nobody's way.
func TestOpenCodeGoesOnWithoutCarrel(t *testing.T) {
	a := newOpenCode(t, step("build", openCode.run(command)), step("end", upstream.Text("It is the linker.")))
	a.carrel("setup", "opencode", "--mode", "hooks", "--yes")
	a.env[0] = strings.Replace(a.env[0], filepath.Dir(carrelProgram)+string(os.PathListSeparator), "", 1)
	path := filepath.Join(a.home, ".config", "opencode", "plugin", "carrel.js")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a.write(path, regexp.MustCompile(`const program = .*`).ReplaceAll(data, []byte(`const program = "carrel"`)))
	a.prompt(openCode, "The build fails, run build.sh.")
	a.ends()
	if text := a.last(upstream.KindMain).Results()[0].Text; strings.Contains(text, "carrel") || text == "" {
		t.Errorf("the model sees %.300s", text)
	}
}

// Carrel imports what OpenCode wrote, makes it smaller, and exports it as a new session, from
// which OpenCode goes on.
func TestOpenCodeResumesACompressedSession(t *testing.T) {
	var script []upstream.Step
	for i := range 8 {
		script = append(script, step(fmt.Sprint("count ", i), upstream.Text(fmt.Sprintf("I count from %d.", i*1000)), openCode.run(fmt.Sprintf("seq %d %d", i*1000, i*1000+999))))
	}
	script = append(script, step("counted", upstream.Text("All is counted.")), step("more", openCode.run("echo it is heron")), step("end", upstream.Text("It was heron.")))
	a := newOpenCode(t, script...)
	a.prompt(openCode, "Count, heron. "+order)
	whole := a.last(upstream.KindMain)
	a.carrel("import", "--all")
	res := struct {
		Files []struct {
			Changed bool `json:"changed"`
		} `json:"files"`
	}{}
	if err := json.Unmarshal([]byte(a.call(carrelProgram, "import", "--all", "--json")), &res); err != nil || len(res.Files) == 0 || slices.ContainsFunc(res.Files, func(f struct {
		Changed bool `json:"changed"`
	},
	) bool {
		return f.Changed
	}) {
		t.Errorf("a second import changes something: %+v, %v", res, err)
	}
	a.carrel("compress", whole.Session, "--target", "4000")
	file := filepath.Join(a.work, "smaller.json")
	a.carrel("export", whole.Session, "--as-new-session", "-o", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Info struct {
			ID string `json:"id"`
		} `json:"info"`
	}
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	a.call(a.program, "import", file)
	if said := a.call(a.program, "run", "--session", made.Info.ID, "Which word was it?"); !strings.Contains(said, "It was heron.") {
		t.Errorf("the agent said:\n%s", said)
	}
	a.ends()
	end := a.last(upstream.KindMain)
	if end.Session != made.Info.ID || !end.Contains("Count, heron.") || !end.Contains("All is counted.") || !end.Contains("Which word was it?") {
		t.Errorf("session %s goes on with:\n%.3000s", end.Session, end.Body)
	}
	if !whole.Contains("\n1500\n") || end.Contains("\n1500\n") || end.Tokens > whole.Tokens-8000 {
		t.Errorf("it goes on with %d tokens of %d", end.Tokens, whole.Tokens)
	}
	if found := a.fake.Breaks(end.Session); len(found) > 0 {
		t.Errorf("%d requests do not go on from what was sent before", len(found))
	}
	if again := a.call(a.program, "export", whole.Session); strings.Contains(again, "[carrel") {
		t.Error("the old session has changed")
	}
}
