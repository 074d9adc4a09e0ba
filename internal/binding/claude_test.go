package binding_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/internal/binding"
)

// Claude Code names its session to the servers that it starts, and to no others.
func TestHearClaude(t *testing.T) {
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
		said := binding.Detect(func(name string) string {
			if name == "HOME" {
				return home
			}
			return tt.vars[name]
		}, binding.Meta{"claudecode/toolUseId": "toolu_1"})
		if said == nil {
			if tt.id != "" {
				t.Errorf("%s: nothing is said", tt.name)
			}
			continue
		}
		if path := said.Find(); string(said.Session) != tt.id || path != tt.path || said.OfCall || said.Format != "claudecode" {
			t.Errorf("%s: %+v, at %q", tt.name, said, path)
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
