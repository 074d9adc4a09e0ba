package binding_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carrel-dev/carrel/internal/binding"
)

// The thread that Codex sends with a call overrides the session in the environment, which may
// come from another agent that started Codex.
func TestHearCodex(t *testing.T) {
	const id, other = "019a7c1e-0000-7000-8000-000000000001", "019a7c1e-0000-7000-8000-000000000002"
	home := t.TempDir()
	file := filepath.Join(home, "sessions", "2026", "11", "01", "rollout-2026-11-01T10-00-00-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"CODEX_HOME": home, "CLAUDE_CODE_SESSION_ID": "0b8a6f0e"}
	getenv := func(name string) string { return vars[name] }
	turn := map[string]any{"session_id": other}
	for _, tt := range []struct {
		name string
		meta binding.Meta
		id   string
		path string
	}{
		{"a thread", binding.Meta{"callId": "call_1", "threadId": id, "sessionId": id, "x-codex-turn-metadata": turn}, id, file},
		{"a thread of a sub-agent", binding.Meta{"callId": "call_1", "threadId": id, "sessionId": other, "x-codex-turn-metadata": turn}, other + "/agent-" + id, file},
		{"one without a transcript", binding.Meta{"callId": "call_1", "threadId": other, "x-codex-turn-metadata": turn}, other, ""},
	} {
		said := binding.Detect(getenv, tt.meta)
		if said == nil || !said.OfCall || string(said.Session) != tt.id || said.Format != "codex" || said.Find() != tt.path {
			t.Errorf("%s: %+v", tt.name, said)
		}
		if call := binding.CallOf(tt.meta); call != "call_1" {
			t.Errorf("%s: call %q", tt.name, call)
		}
	}
	for name, meta := range map[string]binding.Meta{
		"no thread":             {"callId": "call_1", "x-codex-turn-metadata": turn},
		"a thread of others":    {"threadId": id},
		"a name that is a path": {"threadId": "../" + id, "x-codex-turn-metadata": turn},
		"a name of no text":     {"threadId": 1.5, "x-codex-turn-metadata": turn},
	} {
		if said := binding.Detect(getenv, meta); said == nil || said.OfCall {
			t.Errorf("%s: %+v", name, said)
		}
	}
	if call := binding.CallOf(binding.Meta{"callId": 7.0}); call != "" {
		t.Errorf("a call that is no text: %q", call)
	}
}
