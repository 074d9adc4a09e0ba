package outcome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript/codex"
)

// Calls of Codex with the results that version 0.169.0 gave its model.
func TestCodex(t *testing.T) {
	const begin = `{"type":"response_item","payload":`
	function := func(arguments, output string) string {
		return begin + `{"type":"function_call","call_id":"c","name":"exec_command","arguments":` + fmt.Sprintf("%q", arguments) + "}}\n" +
			begin + `{"type":"function_call_output","call_id":"c","output":` + fmt.Sprintf("%q", output) + "}}\n"
	}
	program := func(input string, outputs ...string) string {
		var parts []string
		for _, o := range outputs {
			parts = append(parts, fmt.Sprintf(`{"type":"input_text","text":%q}`, o))
		}
		return begin + `{"type":"custom_tool_call","call_id":"c","name":"exec","input":` + fmt.Sprintf("%q", input) + "}}\n" +
			begin + `{"type":"custom_tool_call_output","call_id":"c","output":[` + strings.Join(parts, ",") + "]}}\n"
	}
	const patch = `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: lamp.go\n@@\n-a\n+b\n*** End Patch\nEOF","login":false}`
	const done = "Script completed\nWall time 0.2 seconds\nOutput:\n"
	for _, tt := range []struct {
		name, rows string
		verdict    Verdict
		text       string
	}{
		{"a patch", function(patch, "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM lamp.go\n"), Passed, ""},
		{"a patch that does not fit", function(patch, "apply_patch verification failed: Failed to find expected lines in /srv/lamp.go:\nfunc G()"), Failed, "apply_patch verification failed: Failed to find expected lines in /srv/lamp.go:"},
		{"a command that fails", function(`{"cmd":"cat nowhere.txt","login":false}`, "Chunk ID: edb5e2\nWall time: 0.0000 seconds\nProcess exited with code 1\nOriginal token count: 11\nOutput:\ncat: nowhere.txt: No such file or directory\n"), Failed, "cat: nowhere.txt: No such file or directory"},
		{"a command that goes on", function(`{"cmd":"go test ./...","login":false}`, "Chunk ID: 9ec223\nWall time: 10.0032 seconds\nProcess running with session ID 67255\nOriginal token count: 0\nOutput:\n"), "", ""},
		{"a command that fails, behind a pointer", function(`{"cmd":"go test ./..."}`, "Process exited with code 1\nOutput:\n[carrel: stashed 30000 bytes, 800 lines as 5ce1a0b2c3d4e5f6. recall]\nFAIL\texample.com/lamp\t0.012s\n[end]\n"), Failed, "FAIL example.com/lamp 0.012s"},
		{"tests that pass", function(`{"cmd":"go test ./..."}`, "Chunk ID: 9ec223\nWall time: 2.0032 seconds\nProcess exited with code 0\nOriginal token count: 8\nOutput:\nok  \texample.com/lamp\t0.012s\n"), Passed, "ok example.com/lamp 0.012s"},
		{"a program with a patch", program("const r = await tools.apply_patch(`*** Begin Patch\n*** Add File: lamp.go\n+package lamp\n*** End Patch`); text(JSON.stringify(r))", done, "{}"), "", ""},
		{"a program with a command that fails", program("const r = await tools.exec_command({cmd: 'go test ./...', login: false}); text(JSON.stringify(r))", done, `{"chunk_id":"caa248","wall_time_seconds":0.00001,"exit_code":1,"original_token_count":33,"output":"# ./...\npattern ./...: directory prefix . does not contain main module\nFAIL\t./... [setup failed]\nFAIL\n"}`), Failed, "# ./..."},
		{"a program that fails", program("throw new Error('no')", "Script failed\nWall time 0.0 seconds\nOutput:\n", "Script error:\nError: no\n    at exec_main.mjs:1:7"), Failed, "Error: no"},
	} {
		s, err := codex.Format.Decode("", []byte(tt.rows))
		if err != nil {
			t.Fatal(err)
		}
		call, result := s.Messages[0].Calls()[0], s.Messages[1].Results()[0]
		if got := (*Table)(nil).Of(call, result); got.Verdict != tt.verdict || got.Text != tt.text {
			t.Errorf("%s: %q %q, want %q %q", tt.name, got.Verdict, got.Text, tt.verdict, tt.text)
		}
	}
}
