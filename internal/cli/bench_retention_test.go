package cli

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// workSession returns made-up session n, in which an agent reads one file per step and, from the
// fourth step on, writes three lines and the path of the file that it read three steps before.
func workSession(n, steps int) []byte {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	type message struct {
		Role      string  `json:"role"`
		Content   *string `json:"content"`
		ToolCalls []call  `json:"tool_calls,omitempty"`
		CallID    string  `json:"tool_call_id,omitempty"`
	}
	task := "Give every handler of the service a deadline."
	msgs := []message{{Role: "user", Content: &task}}
	do := func(tool, result string, args map[string]string) {
		text, err := json.Marshal(args)
		if err != nil {
			panic(err) // strings
		}
		id := fmt.Sprintf("call_%d", len(msgs))
		msgs = append(msgs, message{Role: "assistant", ToolCalls: []call{{id, "function", function{tool, string(text)}}}}, message{Role: "tool", Content: &result, CallID: id})
	}
	path := func(step int) string { return fmt.Sprintf("service%d/handler_%d.go", n, step) }
	line := func(step, k int) string {
		return fmt.Sprintf("func (s *Server%d) serve_%d_%d(ctx context.Context, id string) error {", n, step, k)
	}
	for step := range steps {
		var file strings.Builder
		for k := range 12 {
			fmt.Fprintf(&file, "// The handler of kind %d does what its name says.\n%s\n\treturn s.next(ctx)\n}\n", k, line(step, k))
		}
		do("read_file", file.String(), map[string]string{"path": path(step)})
		if from := step - 3; from >= 0 {
			do("edit_file", "done", map[string]string{"path": path(from), "new_string": line(from, 1) + "\n" + line(from, 5) + "\n" + line(from, 9)})
		}
	}
	out, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": msgs})
	if err != nil {
		panic(err) // strings
	}
	return out
}

// workSessions runs "work DIR STEPS...": it writes a made-up session for each number of steps.
func workSessions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: work dir steps...")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	for i, a := range args[1:] {
		steps, err := strconv.Atoi(a)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("work-%d.json", i)), workSession(i, steps), 0o600))
	}
}

// retentionDocument returns the JSON document of a measurement.
func retentionDocument(t *testing.T, document func(want int, args ...string) []byte) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "work.json")
	if err := os.WriteFile(file, workSession(1, 12), 0o600); err != nil {
		t.Fatal(err)
	}
	return document(0, "bench", "retention", file, "--min", "1000", "--budgets", "10%", "--baselines")
}

// A terminal gets a table for each budget, with intervals and an explanation of the figures.
func TestRetentionOnTerminal(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.StdoutTerminal = true
	file := filepath.Join(env.Dir, "work.json")
	if err := os.WriteFile(file, workSession(1, 12), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Main(t.Context(), env, []string{"bench", "retention", file, "--min", "1000", "--budgets", "10%,90k", "--strategy", "importance,window", "--color", "never"}); got != 0 {
		t.Fatalf("status %d: %s", got, stderr)
	}
	for _, want := range []string{"1 session, 3 cases, on average of ", "\n\nat 10%      ground ", "\n\nat 90k      ground", "\nimportance  1.00    [1.00–1.00]  1.00  [1.00–1.00]  1.00  1.00      1.00   0.", "\nground, line: of the names"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("got:\n%s\nwant %q in it", stdout, want)
		}
	}
}

// The help topic lists all strategies in their order, and so does the help of compress.
func TestStrategiesAreExplained(t *testing.T) {
	var got []string
	for line := range strings.Lines(topic.Text("summaries")) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  ") && slices.Contains(config.StrategyWords(), words[0]) {
			got = append(got, words[0])
		}
	}
	if diff := cmp.Diff(config.StrategyWords(), got); diff != "" {
		t.Errorf("strategies of the topic (-want +got):\n%s", diff)
	}
}

// The sessions that OpenCode keeps in one database are measured one by one.
func TestRetentionOfADatabase(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	path := clitest.WriteFile(t, env, "opencode.db", "")
	db, err := sql.Open("sqlite", path) // the driver comes with store/sqlite
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER)`,
		`CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)`,
		`CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)`,
		`INSERT INTO session VALUES ('ses_1', '/src', 'First', '1.18.33', 1, 2), ('ses_2', '/src', 'Second', '1.18.33', 1, 2)`,
		`INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}'), ('msg_2', 'ses_2', 1, 1, '{"role":"user","time":{"created":1}}')`,
		`INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"Hello."}'), ('prt_2', 'msg_2', 'ses_2', 1, 1, '{"type":"text","text":"Hello."}')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	Main(t.Context(), env, []string{"bench", "retention", path})
	if got := stderr.String(); !strings.Contains(got, "can be measured (2): ") {
		t.Errorf("got %q", got)
	}
}
