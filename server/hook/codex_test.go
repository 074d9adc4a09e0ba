package hook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/carrel-dev/carrel/server/hook"
)

const codexThread = "019a7c1e-0000-7000-8000-000000000001"

// ended is the row by which Codex says how a command ended.
func ended(call string, code any) string {
	row, _ := json.Marshal(object{"type": "event_msg", "payload": object{"type": "item_completed", "item": object{
		"type": "CommandExecution", "id": call, "aggregated_output": strings.Repeat("x\n", 100), "exit_code": code,
	}}})
	return string(row) + "\n"
}

// A codexAnswer has the keys that Codex takes, and no other.
type codexAnswer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// answerOf reads what Codex is told. An unknown key is an error, as it is for Codex.
func answerOf(t testing.TB, out string) (a codexAnswer) {
	t.Helper()
	if out == "" {
		return a
	}
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil || a.Decision == "" && a.Specific.Event == "" || a.Decision != "" && a.Reason == "" {
		t.Errorf("Codex would throw %s away: %v", out, err)
	}
	return a
}

// askCodex returns what a hook of Codex prints, and in which session it says that the client is.
func askCodex(t testing.TB, e *engine, event, input string, o hook.Options) (out, session string) {
	t.Helper()
	o.Open = e.open
	o.Named = func(e *hook.Event) error {
		session = fmt.Sprintf("%s %s", e.Format, e.Session)
		return nil
	}
	var b bytes.Buffer
	if err := hook.Run(t.Context(), hook.Codex, event, strings.NewReader(input), &b, &o); err != nil {
		t.Fatal(err)
	}
	return b.String(), session
}

func TestCodexEvents(t *testing.T) {
	dir := t.TempDir()
	name := "rollout-2026-11-01T10-00-00-" + codexThread + ".jsonl"
	path := filepath.Join(dir, name)
	c := newClient(t)
	c.write(t, path, "0123456789")
	side := c.write(t, filepath.Join(dir, "rollout-2026-11-01T10-00-00-019a7c1e-0000-7000-8000-000000000002.jsonl"), "01234")
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := c.write(t, side+".zst", string(w.EncodeAll([]byte("01234567"), nil)))
	if err := os.Mkdir(filepath.Join(dir, "long"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := c.write(t, filepath.Join(dir, "long", name), strings.Repeat("0123456789abcde\n", 1<<17))
	imported, all := []string{"codex " + name + " 10"}, []string{"codex " + name + " 2097152"}
	const in = "codex " + codexThread
	for _, tt := range []struct {
		name, event string
		members     object
		context     string
		imports     []string
		session     string
	}{
		{"a new session is greeted", "SessionStart", object{"source": "startup"}, "recall tool of the carrel server", nil, in},
		{"after a compaction it says how things stand", "SessionStart", object{"source": "compact"}, "brief of s1 for a restart", imported, in},
		{"before a compaction nothing can be said", "PreCompact", object{"trigger": "auto"}, "", imported, in},
		{"a compaction is imported", "PostCompact", nil, "", imported, in},
		{"an answer is imported", "Stop", nil, "", imported, in},
		{"a question is imported", "UserPromptSubmit", object{"prompt": "go on"}, "", imported, in},
		{"the end is imported", "SessionEnd", object{"reason": "other"}, "", imported, ""},
		{"a sub-agent is imported", "SubagentStop", object{"agent_transcript_path": side}, "", []string{"codex " + filepath.Base(side) + " 5"}, ""},
		{"a session of a sub-agent", "UserPromptSubmit", object{"transcript_path": side}, "", []string{"codex " + filepath.Base(side) + " 5"}, in + "/agent-019a7c1e-0000-7000-8000-000000000002"},
		{"a session in a compressed file", "UserPromptSubmit", object{"transcript_path": packed}, "", []string{"codex " + filepath.Base(side) + " 8"}, in + "/agent-019a7c1e-0000-7000-8000-000000000002"},
		{"a client without a transcript", "Stop", object{"transcript_path": nil}, "", nil, in},
		{"a long conversation does not keep Codex waiting", "Stop", object{"transcript_path": long}, "", nil, in},
		{"a long conversation is imported where Codex does not wait", "UserPromptSubmit", object{"transcript_path": long}, "", all, in},
		{"a small result needs nothing", "PostToolUse", object{"tool_name": "Bash", "tool_response": "ok"}, "", nil, in},
		{"a large result without a transcript stays", "PostToolUse", object{"transcript_path": nil, "tool_name": "Bash", "tool_response": strings.Repeat("a line\n", 9000)}, "", nil, in},
		{"an event that nobody knows needs nothing", "TeaTime", nil, "", nil, in},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &engine{}
			members := object{"session_id": codexThread, "transcript_path": path, "turn_id": "t", "model": "m"}
			maps.Copy(members, tt.members)
			out, session := askCodex(t, e, tt.event, c.input(t, tt.event, members), hook.Options{})
			if diff := cmp.Diff(tt.imports, e.imports); diff != "" {
				t.Errorf("imported (-want +got):\n%s", diff)
			}
			if strings.TrimSpace(session) != tt.session {
				t.Errorf("in session %q, want %q", session, tt.session)
			}
			a := answerOf(t, out)
			if !strings.Contains(a.Specific.Context, tt.context) || (a.Specific.Event == tt.event) != (tt.context != "") || a.Decision != "" || tt.context == "" && out != "" {
				t.Errorf("printed %s, want context %q", out, tt.context)
			}
		})
	}
}

// A large result is blocked, and the pointer is the reason, behind the exit code.
func TestCodexResults(t *testing.T) {
	big := strings.Repeat("a line of output\n", 40)
	long := strings.Repeat(`{"type":"event_msg","payload":{}}`+"\n", 40_000) // more than is read
	text := func(parts ...string) object {
		var list []any
		for _, p := range parts {
			list = append(list, object{"type": "text", "text": p})
		}
		return object{"content": list}
	}
	for _, tt := range []struct {
		name, tool, call string
		response         any
		rows             string
		want, stashed    string
	}{
		{"a command", "Bash", "call_1", big, ended("call_1", 3) + ended("call_2", 0), "Process exited with code 3\nOutput:\npointer 0 by Bash", big},
		{"a command of a long session", "Bash", "call_1", big, long + ended("call_1", 0), "Process exited with code 0\nOutput:\npointer 0 by Bash", big},
		{"one that goes on running", "Bash", "call_1", big, ended("call_1", nil), "", ""},
		{"one of which the transcript says nothing", "Bash", "call_1", big, ended("call_2", 0), "", ""},
		{"one that ended too long ago", "Bash", "call_1", big, ended("call_1", 0) + long, "", ""},
		{"one that a program asked for", "Bash", "exec-1", big, ended("exec-1", 0), "", ""},
		{"a result that is large as JSON only", "Bash", "call_1", strings.Repeat("\"", 280), ended("call_1", 0), "", ""},
		{"a tool of a server", "mcp__desk__look", "call_1", text(big), "", "pointer 0 by mcp__desk__look", big},
		{"one with two texts", "mcp__desk__look", "call_1", text(big, "end"), "", "pointer 0 by mcp__desk__look", big + "\nend"},
		{"one that failed", "mcp__desk__look", "call_1", object{"isError": true, "content": text(big)["content"]}, "", "", ""},
		{"one with a picture", "mcp__desk__look", "call_1", object{"content": []any{object{"type": "text", "text": big}, object{"type": "image", "data": "x"}}}, "", "", ""},
		{"one with a structure", "mcp__desk__look", "call_1", object{"content": []any{}, "structuredContent": object{"all": big}}, "", "pointer 0 by mcp__desk__look", `{"all":"` + strings.ReplaceAll(big, "\n", `\n`) + `"}`},
		{"one of the bound", "mcp__desk__look", "call_1", text(big[:300]), "", "", ""},
		{"one above the bound", "mcp__desk__look", "call_1", text(big[:301]), "", "pointer 0 by mcp__desk__look", big[:301]},
		{"what Carrel gave back", "mcp__carrel__recall", "call_1", text(big), "", "", ""},
		{"a tool of another kind", "apply_patch", "call_1", object{"x": big}, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t)
			c.write(t, c.transcript, tt.rows)
			e := &engine{}
			out, _ := askCodex(t, e, "PostToolUse", c.input(t, "PostToolUse", object{
				"tool_name": tt.tool, "tool_use_id": tt.call, "tool_input": object{"command": "make"}, "tool_response": tt.response,
			}), hook.Options{Large: 300})
			if a := answerOf(t, out); a.Reason != tt.want || (a.Decision == "block") != (tt.want != "") {
				t.Errorf("printed %s, want %q", out, tt.want)
			}
			if got := string(bytes.Join(e.stash, nil)); got != tt.stashed {
				t.Errorf("in the stash is %q, want %q", got, tt.stashed)
			}
		})
	}
}

// Whatever an event says, Codex gets an answer that it takes, or nothing.
func FuzzCodex(f *testing.F) {
	c := newClient(f)
	c.write(f, c.transcript, ended("call_1", 0))
	for _, event := range []string{"SessionStart", "PostToolUse", "Stop"} {
		f.Add(event, c.input(f, event, object{"source": "compact", "tool_name": "Bash", "tool_use_id": "call_1", "tool_response": strings.Repeat("x\n", 50)}))
	}
	f.Add("PostToolUse", `{"tool_name":"mcp__a__b","tool_response":{"content":[{"type":"text","text":"`+strings.Repeat(`\ud800`, 40)+`"}]}}`)
	f.Fuzz(func(t *testing.T, event, input string) {
		o := hook.Options{Large: 20, Open: (&engine{}).open}
		var b bytes.Buffer
		if hook.Run(t.Context(), hook.Codex, event, strings.NewReader(input), &b, &o) == nil {
			answerOf(t, b.String())
		}
	})
}
