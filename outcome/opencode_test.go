package outcome

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/opencode"
)

// How the calls of a session that OpenCode 1.18.33 wrote ended is known from what it records, and
// said from what it shows.
func TestOpenCode(t *testing.T) {
	data, err := os.ReadFile("../transcript/opencode/testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	s := formattest.Decode(t, opencode.Format, string(data))
	calls := make(map[string]transcript.ToolCall)
	var got []string
	for i := range s.Messages {
		for _, c := range s.Messages[i].Calls() {
			calls[c.ID] = c
		}
		for _, r := range s.Messages[i].Results() {
			o := Builtin().Of(calls[r.CallID], r)
			got = append(got, strings.TrimSpace(calls[r.CallID].Name+" "+string(o.Verdict)+" "+o.Text))
		}
	}
	want := []string{
		"bash", "read", // a line that only says something
		"edit passed", "bash failed oops",
		"write passed", "grep", "glob", "todowrite passed",
		"edit failed Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.",
		"read failed File not found: /srv/pool/none.txt", "task",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// What OpenCode puts around an output is read and not said.
func TestOpenCodeOutputs(t *testing.T) {
	const ended = "shell tool terminated command after exceeding timeout 500 ms."
	const late = "shell tool terminated command after exceeding timeout 500 ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds."
	for _, tt := range []struct {
		name, printed string
		passed        bool
		verdict       Verdict
		text          string
	}{
		{"nothing", "(no output)", true, Passed, ""},
		{"nothing and another status", "(no output)", false, Failed, ""},
		{"a command that took too long", "lit\n\n<shell_metadata>\n" + late + "\n</shell_metadata>", false, Failed, ended},
		{"a command that took too long and said nothing", "(no output)\n\n<shell_metadata>\n" + late + "\n</shell_metadata>", false, Failed, ended},
		{"a cut output", "...output truncated...\n\nFull output saved to: /home/user/.local/share/opencode/tool-output/tool_1\n\nError: off", false, Failed, "Error: off"},
		{"a cut output of what passed", "...output truncated...\n\nFull output saved to: /home/user/.local/share/opencode/tool-output/tool_1\n\nlit", true, Passed, ""},
	} {
		r := transcript.ToolResult{Content: []transcript.Part{transcript.Text(tt.printed)}, Error: !tt.passed, Passed: tt.passed}
		o := Builtin().Of(call("bash", map[string]any{"command": "./lamp", "description": "light it"}), r)
		if o.Verdict != tt.verdict || o.Text != tt.text {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, o.Verdict, o.Text, tt.verdict, tt.text)
		}
	}
}
