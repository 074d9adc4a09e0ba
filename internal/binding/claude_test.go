package binding_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/carrel-dev/carrel/internal/binding"
)

func TestTold(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "-srv", "0b8a6f0e.jsonl")
	for _, path := range []string{file, filepath.Join(home, "other", "projects", "-srv", "0b8a6f0e.jsonl")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name     string
		vars     map[string]string
		id, path string
	}{
		{"a server of Claude Code", map[string]string{"CLAUDE_CODE_SESSION_ID": "0b8a6f0e"}, "0b8a6f0e", file},
		{"with a folder of its own", map[string]string{"CLAUDE_CODE_SESSION_ID": "0b8a6f0e", "CLAUDE_CONFIG_DIR": home + "/other"}, "0b8a6f0e", home + "/other/projects/-srv/0b8a6f0e.jsonl"},
		{"before anything was said", map[string]string{"CLAUDE_CODE_SESSION_ID": "77e0b1c2"}, "77e0b1c2", ""},
		{"a server of a client that an agent started", map[string]string{"CLAUDE_CODE_SESSION_ID": "0b8a6f0e", "CLAUDE_CODE_CHILD_SESSION": "1"}, "", ""},
		{"a server of another client", map[string]string{}, "", ""},
		{"a name that is a path", map[string]string{"CLAUDE_CODE_SESSION_ID": "../-srv/0b8a6f0e"}, "", ""},
		{"a name that is a pattern", map[string]string{"CLAUDE_CODE_SESSION_ID": "*"}, "", ""},
	} {
		id, path, ok := binding.Told(func(name string) string {
			if name == "HOME" {
				return home
			}
			return tt.vars[name]
		})
		if string(id) != tt.id || path != tt.path || ok != (tt.id != "") {
			t.Errorf("%s: %q, %q, %t", tt.name, id, path, ok)
		}
	}
}

func TestForking(t *testing.T) {
	for _, tt := range []struct {
		file string
		want bool
	}{
		{"", false},
		{"/home/.claude/session-env/one/sessionstart-hook-0.sh", false},
		{"/home/.claude/session-env/fork/sessionstart-hook-0.sh", true},
		{"/somewhere/else.sh", false},
		{"/somewhere/fork/else.sh", false},
	} {
		got := binding.Forking(func(name string) string { return map[string]string{"CLAUDE_ENV_FILE": tt.file}[name] }, "one")
		if got != tt.want {
			t.Errorf("%q: %t", tt.file, got)
		}
	}
}

// A call stands in the transcript of its session, if not at once, and in no other.
func TestWrote(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "one.jsonl")
	row := `{"message":{"content":[{"type":"tool_use","id":"toolu_01","input":{}}]}}` + "\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrote := func(path, call string) (ok bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			found, err := binding.Wrote(t.Context(), func() string { return path }, call)
			if ok = found != ""; err != nil || ok && found != path {
				t.Errorf("Wrote: %q, %v", found, err)
			}
		})
		return ok
	}
	if wrote(file, "toolu_01") || wrote("", "toolu_01") || wrote(file, "") {
		t.Error("what is not there has the call")
	}
	write(`{"text":"the id is \"toolu_01\""}` + "\n")
	if wrote(file, "toolu_01") {
		t.Error("a quotation is taken for the call")
	}
	write(strings.Repeat("{}\n", 1<<19) + row + "{}\n")
	if !wrote(file, "toolu_01") || wrote(file, "toolu_0") || wrote(file, "toolu_02") {
		t.Error("the end of a long transcript is not looked at")
	}
	write("{}\n")
	later(t, "the call", func() string { return file }, func() { write("{}\n" + row) })
	var path atomic.Value
	path.Store("")
	later(t, "the file", func() string { return path.Load().(string) }, func() { path.Store(file) })
}

// later looks for a call before something is done without which it cannot be found.
func later(t *testing.T, what string, find func() string, do func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		found := make(chan string)
		go func() {
			path, err := binding.Wrote(t.Context(), find, "toolu_01")
			if err != nil {
				t.Error(err)
			}
			found <- path
		}()
		synctest.Wait() // it has looked once, and waits
		do()
		if <-found == "" {
			t.Errorf("where %s comes a moment later, it is not found", what)
		}
	})
}
