package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

func TestClass(t *testing.T) {
	own, err := (*Table)(nil).With(map[string]Class{"Deploy": Command, "write": Read, "my_tool": Plan, "MyTool": Plan, "7": Edit})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		table *Table
		name  string
		want  Class
	}{
		{nil, "create_file", Edit},
		{nil, "overwrite_file", Edit},
		{nil, "quick_edit", Edit},
		{nil, "delete_file", Edit},
		{nil, "write_todo", Plan},
		{nil, "final", Plan},
		{nil, "request_context", Read},
		{nil, "run_command", Command},
		{nil, "execute_code", Check},
		{nil, "generate_title", Title},
		{nil, "MultiEdit", Edit},
		{nil, "mcp__files__read_file", Read},
		{nil, "apply-patch", Edit},
		{nil, "get_weather", Other},
		{nil, "deploy", Other},
		{nil, "server__create-file", Edit},
		{nil, "__read", Read},
		{&Table{}, "Bash", Command},
		{own, "deploy", Command},
		{own, "Write", Read},
		{own, "Bash", Command},
		{own, "myTool", Plan},
		{own, "7", Edit},
	} {
		if got := tt.table.Class(tt.name); got != tt.want {
			t.Errorf("Class(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What a call does may be in its arguments.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        Class
	}{
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.go"}`, Read},
		{"str_replace_editor", `{"command": "str_replace", "path":"a.go", "old_str":"view", "new_str":"look"}`, Edit},
		{"Edit", `{"file_path":"a.go","old_string":"\"view\""}`, Edit},
		{"str_replace_editor", `{"command":"\u0076iew","path":"a.go"}`, Read},
		{"Bash", `{"command":"view"}`, Command},
		{"apply_patch", `*** Begin Patch`, Edit},
		{"Read", ``, Read},
	} {
		if got := (*Table)(nil).Of(transcript.ToolCall{Name: tt.name, Input: json.RawMessage(tt.input)}); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

func TestWithRefuses(t *testing.T) {
	for name, classes := range map[string]map[string]Class{
		"a class that does not exist": {"x": "weapon"},
		"a name of signs":             {"__": Edit},
		"a name of other signs":       {"***": Read},
		"a name before two signs":     {"deploy__": Edit},
		"a name in two spellings":     {"my_tool": Edit, "MyTool": Read},
	} {
		if table, err := (*Table)(nil).With(classes); err == nil {
			t.Errorf("%s: With = %v, want an error", name, table)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ input, path, line string }{
		{`{"file_path":"a.go"}`, "a.go", ""},
		{`{"path":"","filename":"b.go"}`, "b.go", ""},
		{`{"path":7,"filename":["a.go"],"file":"c.go","command":8,"cmd":"ls"}`, "c.go", "ls"},
		{`{"command":"go test ./..."}`, "", "go test ./..."},
		{`{"command":["bash","-lc","ls"]}`, "", "bash -lc ls"},
		{`{"command":["bash","-lc","cd 'a b' && ls"]}`, "", `bash -lc 'cd '\''a b'\'' && ls'`},
		{`{"code":"1+1"}`, "", "1+1"},
		{`not JSON`, "", ""},
	} {
		c := transcript.ToolCall{Input: json.RawMessage(tt.input)}
		if path, line := Path(c), Line(c); path != tt.path || line != tt.line {
			t.Errorf("%s: path %q, line %q, want %q and %q", tt.input, path, line, tt.path, tt.line)
		}
	}
}

func TestRecalls(t *testing.T) {
	for command, want := range map[string]bool{
		"carrel recall 1": true, "cd x && /usr/bin/carrel recall 1": true, "x=$(carrel why 1)": true,
		"then carrel --store x recall 1": true, `bash -lc "carrel recall 1"`: true, "carrel \\\n recall 1": true, "xargs -n1 carrel recall": true,
		"cd /home/me/carrel && go test ./...": false, "rm -rf ~/src/carrel": false, "git clone https://x/y/carrel": false, `cd "/home/me/carrel" && ls`: false,
		"carrel\nrecall": false,
		"carrels":        false, "mycarrel": false, "grep carrel.go": false, "": false,
	} {
		if got := Recalls(transcript.ToolCall{Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command))}); got != want {
			t.Errorf("%q recalls: %v, want %v", command, got, want)
		}
	}
	for program, want := range map[string]bool{`const r = await run({cmd: "carrel recall 1 --text"}); text(r)`: true, `run("carrel", ["recall", "1"])`: true, `text("carrels")`: false} {
		if got := Recalls(transcript.ToolCall{Name: "exec", Input: json.RawMessage(fmt.Sprintf("%q", program))}); got != want {
			t.Errorf("%q recalls: %v, want %v", program, got, want)
		}
	}
	for tool, want := range map[string]bool{"mcp__carrel__recall": true, "mcp__plugin_carrel__recall": true, "mcp__mycarrel__x": false, "mcp__desk__carrel": false, "carrel_recall": true, "carrels": false} {
		if got := Recalls(transcript.ToolCall{Name: tool}); got != want {
			t.Errorf("%s recalls: %v, want %v", tool, got, want)
		}
	}
}

func TestLabelsTellMost(t *testing.T) {
	long := strings.Repeat("é", 80)
	for input, want := range map[string]string{
		`{"command":"make\nall"}`:           "Bash make",
		`{"command":" \n","file_path":"a"}`: "Bash a",
		`{"description":"d","url":"u"}`:     "Bash u",
		`{"command":"` + long + `"}`:        "Bash " + long,
		`{"command":"` + long + `x"}`:       "Bash " + strings.Repeat("é", 79) + "…",
		`{}`:                                "Bash",
	} {
		if got := Label(transcript.ToolCall{Name: "Bash", Input: json.RawMessage(input)}); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
