package admin

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

// The problems of a document name the missing or wrong field.
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

// The schema of a state includes that of a summary, so that one file is enough.
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

// The schemas list all sections and types, and no others.
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
