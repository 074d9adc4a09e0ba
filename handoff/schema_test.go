package handoff

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

const (
	schemaFile    = "../internal/cli/admin/schema/handoff.json"
	publishedFile = "testdata/published.schema.json"
)

func schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("test:schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("test:schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func conforms(s *jsonschema.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// The JSON of any packet conforms to our schema. Without the keys that the published
// schema lacks it also conforms to the published schema.
func TestJSONConforms(t *testing.T) {
	ours, published := schema(t, schemaFile), schema(t, publishedFile)
	rapid.Check(t, func(t *rapid.T) {
		packet := packets.Draw(t, "packet")
		data, err := packet.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := conforms(ours, data); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		strict, leftOut := packet.Published()
		if bad := conforms(published, data); (bad == nil) != (len(leftOut) == 0) {
			t.Fatalf("left out are %q, and the published schema says of the whole packet: %v\n%s", leftOut, bad, data)
		}
		if data, err = strict.JSON(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*jsonschema.Schema{ours, published} {
			if err := conforms(s, data); err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
		}
		if again, more := strict.Published(); len(more) > 0 || cmp.Diff(strict, again) != "" {
			t.Fatalf("left out of a strict packet: %q", more)
		}
	})
}

// Parse refuses exactly the documents that the schema refuses, except for errors
// that a schema cannot express.
func TestSchemaRefusesAlike(t *testing.T) {
	s := schema(t, schemaFile)
	for _, x := range readArchives(t, "refused-json.txtar") {
		for _, c := range changes(t, x) {
			if slices.Contains([]string{"key-comes-twice", "half-a-character", "comma-is-missing"}, c.name) {
				continue // before it is a value
			}
			if err := conforms(s, c.packet); err == nil {
				t.Errorf("%s conforms to the schema", c.name)
			}
		}
	}
}

// The test removes every value in turn and replaces it by each of a few others.
// Parse and the schema agree on each result.
func TestSchemaAndParseAgree(t *testing.T) {
	s := schema(t, schemaFile)
	full := readArchive(t, "testdata/good-full.txtar").texts["packet.json"]
	var doc any
	if err := json.Unmarshal([]byte(full), &doc); err != nil {
		t.Fatal(err)
	}
	refused := 0
	agree := func(what string) {
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse("", data)
		if bad := conforms(s, data); (bad == nil) != (err == nil) {
			t.Errorf("%s: Parse says %v, the schema %v", what, err, bad)
		}
		if err != nil {
			refused++
		}
	}
	others := []any{nil, true, 1.5, "", " ", "x", "\u00a0", []any{}, []any{1.0}, []any{"x"}, []any{""}, []any{map[string]any{}}, map[string]any{}}
	var visit func(path string, v any, set func(any))
	visit = func(path string, v any, set func(any)) {
		for _, other := range others {
			set(other)
			agree(path)
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(mapKeys(v)) {
				value := v[key]
				visit(path+"/"+key, value, func(x any) { v[key] = x })
				delete(v, key)
				agree(path + "/" + key + " gone")
				v[key] = value
			}
			v["other"] = "x"
			agree(path + "/other")
			delete(v, "other")
		case []any:
			for i, value := range v {
				visit(path+"/", value, func(x any) { v[i] = x })
			}
		}
	}
	visit("", doc, func(x any) { doc = x })
	agree("the packet itself")
	if refused < 100 {
		t.Errorf("only %d changes were refused", refused)
	}
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// The schema has the keys of the table, required ones as required ones.
func TestSchemaHasTheKeys(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Required   []string
		Properties map[string]any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var required, optional []string
	for _, f := range headFields {
		if f.optional {
			optional = append(optional, f.key)
		} else {
			required = append(required, f.key)
		}
	}
	for _, l := range layouts {
		required = append(required, string(l.section))
	}
	required = required[:len(required)-1] // artifacts
	optional = append(optional, string(sectionArtifacts))
	if len(required) != 18 {
		t.Errorf("%d required keys", len(required))
	}
	if diff := cmp.Diff(required, got.Required); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	all := slices.Sorted(slices.Values(append(required, optional...)))
	if diff := cmp.Diff(all, slices.Sorted(mapKeys(got.Properties))); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if strings.Contains(string(text), "http://") {
		t.Error("the schema refers to the network")
	}
}
