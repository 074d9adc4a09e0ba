package cli

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// summaryDocuments returns the JSON document of each command about summaries and probes.
func summaryDocuments(t *testing.T, env *job.Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	todos := clitest.WriteFile(t, env, "todos.json", `[{"content": "write the changelog", "status": "in_progress"}]`)
	draft := clitest.WriteFile(t, env, "draft.json", `{"session_intent": "Fix the lamp", "files_modified": {"lamp/bulb.go": ["[TBD]"]}, "decisions_made": [{"decision": "Use glass"}]}`)
	leaky := clitest.WriteFile(t, env, "leaky.json", `[{"type": "file_path", "question": "Was a/b.go changed?", "expected_keywords": ["a/b.go"]}]`)
	var docs [][]byte
	for _, tt := range []struct {
		want int
		args []string
	}{
		{exitNo, []string{"compress", "5f0c", "--strategy", "anchored", "--target", "1000", "--probe-min", "1"}},
		{0, []string{"compress", "5f0c", "--target", "2000", "--keep-last", "1", "--todos", todos}},
		{0, []string{"summary", "show", "5f0c"}},
		{exitNo, []string{"summary", "check", draft, "--session", "5f0c"}},
		{exitNo, []string{"summary", "accept", draft, "--session", "5f0c"}},
		{exitNo, []string{"summary", "accept", "--ratio", "0.96"}},
		{0, []string{"summary", "merge", draft, draft}},
		{0, []string{"summary", "merge", draft, draft, "--count", "decisions"}},
		{0, []string{"probe", "gen", "5f0c"}},
		{0, []string{"probe", "run", "5f0c"}},
		{exitNo, []string{"probe", "lint", leaky}},
		{0, []string{"probe", "report", "5f0c"}},
		{0, []string{"stats", "5f0c"}},
		{0, []string{"cost", "5f0c"}},
		{0, []string{"sessions", "mark", "5f0c", "--critical"}},
		{0, []string{"sessions"}},
		{0, []string{"schema"}},
		{exitNo, []string{"schema", "check", "probes", draft}},
	} {
		docs = append(docs, document(tt.want, tt.args...))
	}
	return docs
}

// The output of the program is valid by the schemas that it prints.
func TestOutputFitsSchemas(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	run(0, "import", sample(t, "claude.jsonl"))
	fits := func(schema, text string) {
		t.Helper()
		run(0, "schema", "check", schema, clitest.WriteFile(t, env, "document", text))
	}
	fits("state", run(0, "state"))
	run(0, "compress", "--strategy", "anchored", "--target", "5000")
	fits("state", run(0, "state"))
	fits("summary", run(0, "state", "--jq", ".compression_state.summary"))
	fits("probes", run(0, "probe", "gen"))
	fits("probes", run(0, "probe", "gen", "--json"))
	markdown := clitest.WriteFile(t, env, "summary.md", run(0, "summary", "show"))
	fits("summary", run(0, "summary", "merge", markdown, markdown))
}
