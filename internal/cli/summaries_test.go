package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/jsonschema"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/summary"
)

// summaryDocuments returns a document of each command about summaries, probes
// and what they tell of a session.
func summaryDocuments(t *testing.T, env *Env, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	todos := writeFile(t, env, "todos.json", `[{"content": "write the changelog", "status": "in_progress"}]`)
	draft := writeFile(t, env, "draft.json", `{"session_intent": "Fix the lamp", "files_modified": {"lamp/bulb.go": ["[TBD]"]}, "decisions_made": [{"decision": "Use glass"}]}`)
	leaky := writeFile(t, env, "leaky.json", `[{"type": "file_path", "question": "Was a/b.go changed?", "expected_keywords": ["a/b.go"]}]`)
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
		{0, []string{"sessions", "mark", "5f0c", "--critical"}},
		{0, []string{"sessions"}},
		{0, []string{"schema"}},
		{exitNo, []string{"schema", "check", "probes", draft}},
	} {
		docs = append(docs, document(tt.want, tt.args...))
	}
	return docs
}

// What the program writes fits the schemas that it prints.
func TestOutputFitsSchemas(t *testing.T) {
	env, stdout, stderr := newEnv(t)
	run := runner(t, env, stdout, stderr)
	run(0, "import", sample(t, "claude.jsonl"))
	fits := func(schema, text string) {
		t.Helper()
		problems, err := checkSchema(schema, "test", []byte(text))
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v\n%s", schema, problems, err, text)
		}
	}
	fits("state", run(0, "state"))
	run(0, "compress", "--strategy", "anchored", "--target", "5000")
	fits("state", run(0, "state"))
	fits("summary", run(0, "state", "--jq", ".compression_state.summary"))
	fits("probes", run(0, "probe", "gen"))
	fits("probes", run(0, "probe", "gen", "--json"))
	markdown := writeFile(t, env, "summary.md", run(0, "summary", "show"))
	fits("summary", run(0, "summary", "merge", markdown, markdown))
}

// A field that is missing or wrong is named.
func TestSchemasNameTheField(t *testing.T) {
	for _, tt := range []struct {
		schema, text string
		want         string
	}{
		{"state", `{}`, ""},
		{"state", `{"compression_state":{"session":"s","summary":null,"compression_count":-1,"probe_score":0,"tokens":1,"window":1}}`, "/compression_state/compression_count"},
		{"state", `{"compression_state":{"session":"s","summary":null,"compression_count":1,"probe_score":1.5,"tokens":1,"window":1}}`, "/compression_state/probe_score"},
		{"probes", `[{"type":"intent","question":"What?","expected_keywords":[]}]`, "/0/expected_keywords"},
		{"summary", `{"session_intent":""}`, "/session_intent"},
	} {
		problems, err := checkSchema(tt.schema, "test", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(problems, func(p jsonschema.Problem) bool { return p.Field == tt.want && p.Text != "" }) {
			t.Errorf("%s: problems of %s are %v, want one of field %q", tt.schema, tt.text, problems, tt.want)
		}
	}
}

// The schema of a state has that of a summary in it, so that one file is enough.
func TestStateSchemaHasTheSummary(t *testing.T) {
	read := func(name string) map[string]any {
		text, err := schemaText(name)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	whole, part := read("summary"), read("state")["$defs"].(map[string]any)["summary"]
	delete(whole, "$schema")
	if diff := cmp.Diff(any(whole), part); diff != "" {
		t.Errorf("the summary in state.json (-summary.json +state.json):\n%s", diff)
	}
}

// The schemas know all sections and types, and no others.
func TestSchemasKnowAllWords(t *testing.T) {
	text, err := schemaText("probes")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range probe.Types() {
		if !bytes.Contains(text, []byte(`"`+string(k)+`"`)) {
			t.Errorf("probes.json has no type %s", k)
		}
	}
	if text, err = schemaText("summary"); err != nil {
		t.Fatal(err)
	}
	for _, s := range summary.Sections() {
		if !bytes.Contains(text, []byte(`"`+string(s)+`": {`)) {
			t.Errorf("summary.json has no section %s", s)
		}
	}
}

// Each section can be counted by a word that is its alone.
func TestSectionWords(t *testing.T) {
	words := sectionWords()
	if slices.Sort(words); len(slices.Compact(words)) != len(summary.Sections()) {
		t.Errorf("words of sections are %v, want one of each", words)
	}
}

func TestShareBar(t *testing.T) {
	for _, tt := range []struct {
		n, of int
		want  string
	}{
		{0, 0, ""},
		{0, 7, "[..........]"},
		{1, 100, "[#.........]"},
		{99, 100, "[#########.]"},
		{7, 7, "[##########]"},
	} {
		if got := shareBar(tt.n, tt.of, 10); got != tt.want {
			t.Errorf("shareBar(%d, %d) = %q, want %q", tt.n, tt.of, got, tt.want)
		}
	}
}
