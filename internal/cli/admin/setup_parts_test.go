package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// Setup takes for its own only an entry that has all that it writes.
func TestEntriesOfServers(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"stdio","command":"/opt/carrel","args":["mcp"]}`: "claude gemini",
		`{"command":"C:\\Carrel.EXE","args":["mcp"]}`:             "claude gemini",
		`{"command":"other","args":["mcp"]}`:                      "",
		`{"command":"carrel","args":["mcp","-v"]}`:                "",
		`{"command":"carrel","args":["mcp"],"args":1}`:            "",
		`{"type":"local","command":["/opt/carrel","mcp"]}`:        "opencode",
		`{"command":["other","mcp"]}`:                             "",
		`{"command":["carrel","serve"]}`:                          "",
		`{"command":["carrel"]}`:                                  "",
		`{"command":["carrel","mcp"],"command":1}`:                "",
		`"carrel"`: "",
	} {
		var got []string
		for _, c := range []struct {
			name  string
			entry *serverEntry
		}{{"claude", claudeServer()}, {"gemini", geminiServer()}, {"opencode", openCodeServer()}} {
			if _, ours := c.entry.program([]byte(raw)); ours {
				got = append(got, c.name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is of %q, want %q", raw, got, want)
		}
	}
}

// A hook runs the program whatever its path is, and tells it again.
func TestProgramsOfHooks(t *testing.T) {
	h := claudeHooks()
	for program, want := range map[string]string{
		"/opt/carrel": "/opt/carrel", "/my tools/carrel": "'/my tools/carrel'", "/it's/carrel": `'/it'\''s/carrel'`, `C:\carrel.exe`: `'C:\carrel.exe'`,
	} {
		group := h.group(&h.events[0], program)
		raw, err := json.Marshal(group)
		if got := group.Hooks[0].Command; err != nil || got != want+h.suffix(h.events[0].name) {
			t.Errorf("%s is run as %s, %v, want %s", program, got, err, want)
		}
		if got, ours := h.program(raw, h.events[0].name); got != program || !ours {
			t.Errorf("%s is read as %s, %t", program, got, ours)
		}
	}
}

// The proxy is known by its scheme and path, and by its host or a loopback address with a port.
func TestIsProxy(t *testing.T) {
	for there, want := range map[string]bool{
		"http://proxy.example:8787/v1": true, "http://proxy.example:9/v1": true, "http://127.0.0.1:9/v1": true, "http://[::1]:9/v1": true,
		"http://other.example:8787/v1": false, "http://proxy.example/v1": false, "http://proxy.example:8787/v2": false, "https://proxy.example:8787/v1": false, "http://a:b:c": false, "": false,
	} {
		if got := isProxy(there, "http://proxy.example:8787/v1"); got != want {
			t.Errorf("%q: %t, want %t", there, got, want)
		}
	}
	if isProxy("http://127.0.0.1:9/v1", "http://a:b:c") {
		t.Error("an address that cannot be read is that of the proxy")
	}
}

// Codex has reviewed hooks if its settings have a hash for the file, by the path that it was
// given or by the path behind links.
func TestReviewOfCodex(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	hooks := clitest.WriteFile(t, env, "real/hooks.json", "{}")
	link := env.Dir + "/link"
	if err := os.Symlink(env.Dir+"/real", link); err != nil {
		t.Skip("no links here: ", err)
	}
	for settings, want := range map[string]string{
		"":      "[false false]",
		"[hook": "[false false]",
		fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = 'x'\n", hooks+":stop:0:0"):                 "[true true]",
		fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = 'x'\n", link+"/hooks.json:stop:0:0"):       "[false true]",
		fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = ''\n", hooks+":stop:0:0"):                  "[false false]",
		fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = 'x'\n", env.Dir+"/other/hooks.json:s:0:0"): "[false false]",
	} {
		clitest.WriteFile(t, env, ".codex/config.toml", settings)
		if got := fmt.Sprint([]bool{codexTrusts(j, hooks), codexTrusts(j, link+"/hooks.json")}); got != want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
	gone := env.Dir + "/gone/hooks.json"
	clitest.WriteFile(t, env, ".codex/config.toml", fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = 'x'\n", gone+":s:0:0"))
	if !codexTrusts(j, gone) {
		t.Error("a review of a file that is gone is not known")
	}
}

// The doctor says why a hook gives no answer.
func TestHookThatDoesNotAnswer(t *testing.T) {
	for script, want := range map[string]string{"echo '{}'\n": "", "echo hello\n": "its answer is not JSON", "exit 7\n": "EOF"} {
		program := fakeProgram(t, "read line\n"+script)
		got := ""
		if c := checkAnswer(t.Context(), program, "claude", "user", "Stop", "{}"); c != nil {
			got = strings.TrimPrefix(c.Detail, program+" does not answer: ")
		}
		if !strings.HasSuffix(got, want) || want == "" && got != "" || strings.HasPrefix(got, program) {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

// A restore names all that it loses, also if it is one of each.
func TestWhatARestoreLoses(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	printCompared(job.New(env), &sqlite.Comparison{Present: &sqlite.Inventory{}, LostSessions: 1, OlderSessions: 1, LostVersions: 1, LostCalls: 1})
	if want := "does not have 1 session, the latest changes of 1 session, 1 update of artifacts, 1 call to models"; !strings.Contains(stderr.String(), want) {
		t.Errorf("%q does not have %q", stderr, want)
	}
}

// If a file cannot be moved, the error names the next step.
func TestErrorsOfAMove(t *testing.T) {
	for hint, err := range map[string]error{
		"name a file that does not exist, or an empty database":                                      &move.OtherError{What: "x"},
		"do not use the copy: remove it, run the command again, and report this if it happens twice": &move.DifferError{},
		"stop whatever writes to the source, then run the command again: it goes on":                 &move.DifferError{Changed: true},
		"carrel store check -s from.db, and the same with the copy, list the damage":                 fmt.Errorf("x: %w", store.ErrCorrupt),
		"run the command again: it goes on":                                                          errors.New("unplugged"),
	} {
		if p := job.NewProblem(explainMove(err, "from.db")); p.Hint != hint || !strings.Contains(p.Detail, err.Error()) {
			t.Errorf("%v: %q, %q, want %q", err, p.Detail, p.Hint, hint)
		}
	}
	env, _, _ := clitest.Env(t)
	if err := unreadError(job.New(env), &exam.Tally{Unread: []string{"a"}}); err == nil {
		t.Error("a reply that cannot be read is none")
	}
}

// The doctor names the agents that send their calls through each address of the proxy.
func TestDoctorFindsTheProxy(t *testing.T) {
	d, write := examine(t)
	var addresses []string
	for range 2 {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, "http://"+l.Addr().String())
	}
	const openCode = ".config/opencode/opencode.json"
	write(".claude/settings.json", `{"env":{"ANTHROPIC_BASE_URL":"`+addresses[0]+`/anthropic"}}`)
	for address, want := range map[string]string{
		addresses[0]: "claude and opencode through " + addresses[0],
		addresses[1]: "claude through " + addresses[0] + "; opencode through " + addresses[1],
	} {
		write(openCode, `{"provider":{"anthropic":{"options":{"baseURL":"`+address+`/anthropic/v1"}}}}`)
		if c := d.proxy(t.Context()); c.State != stateOK || c.Detail != want {
			t.Errorf("%+v, want %q", c, want)
		}
	}
}

// Setup takes out the blank line that it wrote before a table, and no other line end.
func TestBlankLineBeforeATable(t *testing.T) {
	for before, want := range map[string]string{
		"a = 1\n\n" + between("", "[t]\nx = 1\n"): "a = 1\n", "a = 1\n" + between("", "[t]\nx = 1\n"): "a = 1\n",
		"\n" + between("", "[t]\nx = 1\n"): "", "a = 1\n\n" + between("", "x = 1\n"): "a = 1\n\n",
	} {
		if got, err := withoutLines("", "f", []byte(before)); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v, want %q", before, got, err, want)
		}
	}
	in := &installed{hooks: []scopedHooks{{"user", map[string]string{"Stop": "x", "SessionStart": "x"}}, {"project", map[string]string{"Stop": "x"}}}}
	if in.twice() {
		t.Error("a hook that one scope lacks runs twice")
	}
}

// A folder for new files is empty or new.
func TestFoldersForNewFiles(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	clitest.WriteFile(t, env, "one/file", "x")
	if err := os.Mkdir(env.Dir+"/empty", 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{"": true, "new": true, "empty": true, "one": false} {
		if err := mustBeEmpty(j, "--out", folder, false); (err == nil) != want {
			t.Errorf("--out %s: %v", folder, err)
		}
		if dir, err := demoDir(j, folder); (err == nil) != want || want && folder != "" && dir != j.Path(folder) {
			t.Errorf("--keep %s: %s, %v", folder, dir, err)
		} else if folder == "" {
			defer os.RemoveAll(dir)
		}
	}
}

// Other files are not Carrel's, whatever they say.
func TestFilesOfSetup(t *testing.T) {
	if ourSkill([]byte("# Carrel\n")) || ourSkill([]byte("---\nname: x\n---\nCarrel\n")) {
		t.Error("another file is the skill")
	}
	part := openCodePlugin("carrel")
	for _, text := range []string{"x", "// mine\n"} {
		if _, err := part.with("f", []byte(text)); err == nil {
			t.Errorf("%q is replaced", text)
		}
		if got, err := part.without("f", []byte(text)); string(got) != text || err != nil {
			t.Errorf("%q is removed: %q, %v", text, got, err)
		}
	}
	if _, err := skillPart().with("f", []byte("x")); err == nil {
		t.Error("a skill of one letter is replaced")
	}
}
