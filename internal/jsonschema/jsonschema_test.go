package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	full "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/jsonschema"
)

func TestCheckNamesEachFieldThatDoesNotFit(t *testing.T) {
	for _, tt := range []struct {
		name, schema, text string
		want               []jsonschema.Problem
	}{
		{"a document that fits", `{"type":"object"}`, `{}`, nil},
		{"the schema true", `true`, `3`, nil},
		{"the schema false", `false`, `3`, []jsonschema.Problem{{"", "nothing may be here"}}},
		{"a type", `{"type":"string"}`, `3`, []jsonschema.Problem{{"", "it is an integer and has to be string"}}},
		{"one of two types", `{"type":["array","object"]}`, `null`, []jsonschema.Problem{{"", "it is null and has to be array or object"}}},
		{"an integer is a number", `{"type":"number"}`, `3`, nil},
		{"a number with zeros behind the point is an integer", `{"type":"integer"}`, `3.00`, nil},
		{"a half is no integer", `{"type":"integer"}`, `3.5`, []jsonschema.Problem{{"", "it is a number and has to be integer"}}},
		{"a number too large to be written out is an integer", `{"type":"integer","minimum":0}`, `1e999999999`, nil},
		{"leading zeros of an exponent", `{"type":"integer"}`, `1e00002`, nil},
		{"a bound too large to be written out", `{"maximum":1e99999}`, `3`, nil},
		{"a number too large for a bound", `{"maximum":3}`, `1e99999`, []jsonschema.Problem{{"", "it is 1e99999 and has to be at most 3"}}},
		{"a number too small to be written out is none", `{"type":"integer"}`, `1e-999999999`, []jsonschema.Problem{{"", "it is a number and has to be integer"}}},
		{
			"a word of a list", `{"enum":["a","b",null]}`, `"c"`,
			[]jsonschema.Problem{{"", `it is not "a", "b" or null`}},
		},
		{"values are equal however they are written", `{"const":{"a":[1,true],"b":2.50}}`, `{"b":25e-1,"a":[1.0,true]}`, nil},
		{"nothing but null", `{"const":null}`, `0`, []jsonschema.Problem{{"", "it is not null"}}},
		{
			"bounds of numbers", `{"items":{"minimum":0,"maximum":1}}`, `[0,1,-0.1,1.00000000000000000001]`,
			[]jsonschema.Problem{{"/2", "it is -0.1 and has to be at least 0"}, {"/3", "it is 1.00000000000000000001 and has to be at most 1"}},
		},
		{"characters are counted, not bytes", `{"minLength":2}`, `"é"`, []jsonschema.Problem{{"", "it has 1 characters and has to have at least 2"}}},
		{"a pattern", `{"pattern":"[^ ]"}`, `"  "`, []jsonschema.Problem{{"", "it does not match [^ ]"}}},
		{"a list that is too short", `{"minItems":1}`, `[]`, []jsonschema.Problem{{"", "it has 0 items and has to have at least 1"}}},
		{"an item twice", `{"uniqueItems":true}`, `["a",1,1.0]`, []jsonschema.Problem{{"", "items 1 and 2 are equal"}}},
		{
			"an object, its fields in the order of their names",
			`{"required":["x","y","b"],"minProperties":4,"properties":{"b":{"type":"null"},"a/~":{"type":"null"}},"additionalProperties":false}`,
			`{"b":1,"a/~":1,"z":1}`,
			[]jsonschema.Problem{
				{"", "it has 3 fields and has to have at least 4"},
				{"/a~1~0", "it is an integer and has to be null"},
				{"/b", "it is an integer and has to be null"},
				{"", `it does not have "x" and "y"`},
				{"", `it may not have "z"`},
			},
		},
		{
			"fields of any name", `{"additionalProperties":{"type":"array","items":{"type":"string"}}}`, `{"k":["a",2]}`,
			[]jsonschema.Problem{{"/k/1", "it is an integer and has to be string"}},
		},
		{
			"names of fields", `{"propertyNames":{"enum":["a"]}}`, `{"a":1,"b":2}`,
			[]jsonschema.Problem{{"/b", `the name "b": it is not "a"`}},
		},
		{"a condition that is met", `{"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":1}}`, `""`, []jsonschema.Problem{{"", "it has 0 characters and has to have at least 1"}}},
		{"a condition that is not", `{"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":1}}`, `0`, []jsonschema.Problem{{"", "it is 0 and has to be at least 1"}}},
		{
			"a schema that contains itself", `{"type":"object","additionalProperties":{"$ref":"#"}}`, `{"a":{"b":3}}`,
			[]jsonschema.Problem{{"/a/b", "it is an integer and has to be object"}},
		},
		{
			"a schema with another in it, each with definitions of its own",
			`{"$id":"out","items":{"$ref":"in"},"$defs":{"x":{"type":"null"},"in":{"$id":"in","$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}}}`, `[null]`,
			[]jsonschema.Problem{{"/0", "it is null and has to be string"}},
		},
		{"what is wrong twice is said once", `{"type":"null","$ref":"#/$defs/x","$defs":{"x":{"type":"null"}}}`, `1`, []jsonschema.Problem{{"", "it is an integer and has to be null"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(t, tt.schema).Check([]byte(tt.text))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("problems (-want +got), error %v:\n%s", err, diff)
			}
		})
	}
}

func TestCheckRefusesWhatIsNotJSON(t *testing.T) {
	for _, text := range []string{``, `{`, `{} {}`, `nil`, "{\"a\":1,}"} {
		_, err := parse(t, `true`).Check([]byte(text))
		if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
			t.Errorf("%q: error %v, want a *json.SyntaxError", text, err)
		}
	}
}

func TestParseRefusesSchemasItDoesNotUnderstand(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		want         error // nil for any
	}{
		{"a keyword that it does not know", `{"items":{"multipleOf":2}}`, nil},
		{"a type that there is not", `{"type":["string","text"]}`, jsonschema.ErrType},
		{"a pattern that is none", `{"pattern":"("}`, nil},
		{"a list", `[]`, nil},
		{"null in the place of a schema", `{"properties":{"a":null}}`, jsonschema.ErrNull},
		{"a reference to what is not there", `{"$ref":"#/$defs/a"}`, jsonschema.ErrReference},
		{"a reference to somewhere else", `{"$ref":"https://example.com/schema"}`, jsonschema.ErrReference},
		{"a reference to itself", `{"$ref":"#"}`, jsonschema.ErrReference},
		{"a circle", `{"items":{"if":{"$ref":"#/$defs/a"}},"$defs":{"a":{"then":{"$ref":"#/$defs/b"}},"b":{"$ref":"#/$defs/a"}}}`, jsonschema.ErrReference},
	} {
		if _, err := jsonschema.Parse([]byte(tt.schema)); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}

// The schemas of Carrel find the same fields here and in a complete
// implementation, in documents that nearly fit.
func TestCheckAgreesWithACompleteImplementation(t *testing.T) {
	files, err := filepath.Glob("../cli/admin/schema/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs, shape := parse(t, string(text)), complete(t, text), shapeOf(t, text)
			rapid.Check(t, func(t *rapid.T) {
				doc, err := json.Marshal(shape.draw(t, shape.root, 0))
				if err != nil {
					t.Fatal(err)
				}
				got, err := ours.Check(doc)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(fieldsOf(t, theirs, doc), fields(got)); diff != "" {
					t.Fatalf("%s\nfields that do not fit (-complete +ours):\n%s", doc, diff)
				}
			})
		})
	}
}

// FuzzCheck looks for documents on which the two do not agree, and for ones that
// make this one panic.
func FuzzCheck(f *testing.F) {
	text, err := os.ReadFile("../cli/admin/schema/intent.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`{}`, `[1,"a",null]`, `{"schema":"prosecode.intent.v0","slots":{"target":""},"gaps":[true]}`, `{"slots":{"target":[{"start":1e9999}]}}`} {
		f.Add(seed)
	}
	ours, theirs := parse(f, string(text)), complete(f, text)
	f.Fuzz(func(t *testing.T, doc string) {
		got, err := ours.Check([]byte(doc))
		if err != nil || strings.ContainsAny(doc, "eE") { // the other writes any exponent out
			return
		}
		if diff := cmp.Diff(fieldsOf(t, theirs, []byte(doc)), fields(got)); diff != "" {
			t.Errorf("fields that do not fit (-complete +ours):\n%s", diff)
		}
	})
}

func parse(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// complete returns a schema of the complete implementation.
func complete(t testing.TB, text []byte) *full.Schema {
	t.Helper()
	doc, err := full.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := full.NewCompiler()
	c.UseLoader(full.SchemeURLLoader{})
	if err := c.AddResource("carrel:under-test", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("carrel:under-test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fields returns the fields of problems, sorted, each once. Of the name of a field
// the complete implementation does not say where it is, so it counts for the whole.
func fields(problems []jsonschema.Problem) []string {
	set := make(map[string]bool)
	for _, p := range problems {
		if strings.HasPrefix(p.Text, "the name ") {
			p.Field = ""
		}
		set[p.Field] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// fieldsOf returns the fields of a document that the complete implementation finds
// to be wrong.
func fieldsOf(t interface {
	Fatal(args ...any)
}, s *full.Schema, doc []byte,
) []string {
	v, err := full.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	set := make(map[string]bool)
	var collect func(u *full.OutputUnit)
	collect = func(u *full.OutputUnit) {
		if len(u.Errors) == 0 && u.Error != nil {
			set[u.InstanceLocation] = true
		}
		for i := range u.Errors {
			collect(&u.Errors[i])
		}
	}
	if bad, ok := errors.AsType[*full.ValidationError](s.Validate(v)); ok {
		collect(bad.DetailedOutput())
	}
	return slices.Sorted(maps.Keys(set))
}

// A shape draws documents that nearly fit a schema.
type shape struct{ root map[string]any }

func shapeOf(t *testing.T, text []byte) shape {
	t.Helper()
	var s shape
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// odd are values of which most fit nothing.
var odd = []any{nil, true, -1, 0, 0.5, 7, "", " ", "word", []any{}, []any{1, 1}, map[string]any{}, map[string]any{"name": "x"}}

func (s shape) draw(t *rapid.T, schema map[string]any, depth int) any {
	if ref, ok := schema["$ref"].(string); ok {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		schema = s.definition(name)
	}
	if depth > 9 || rapid.IntRange(0, 11).Draw(t, "fit") == 0 {
		return rapid.SampledFrom(odd).Draw(t, "odd")
	}
	if values, ok := schema["enum"].([]any); ok {
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	for _, branch := range []string{"then", "else"} {
		if sub, ok := schema[branch].(map[string]any); ok && rapid.Bool().Draw(t, branch) {
			return s.draw(t, sub, depth+1)
		}
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		return s.object(t, properties, depth)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			list = append(list, s.draw(t, items, depth+1))
		}
		return list
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		return map[string]any{rapid.SampledFrom([]string{"target", "a/b", "~"}).Draw(t, "name"): s.draw(t, more, depth+1)}
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	return rapid.SampledFrom(odd).Draw(t, "any")
}

func (s shape) object(t *rapid.T, properties map[string]any, depth int) any {
	v := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if sub, ok := properties[name].(map[string]any); ok && rapid.IntRange(0, 5).Draw(t, fmt.Sprintf("with %s", name)) > 0 {
			v[name] = s.draw(t, sub, depth+1)
		}
	}
	return v
}

// definition returns the definition of that name, wherever it is.
func (s shape) definition(name string) map[string]any {
	all, _ := s.root["$defs"].(map[string]any)
	if found, ok := all[name].(map[string]any); ok {
		return found
	}
	for _, d := range all {
		nested, _ := d.(map[string]any)
		inner, _ := nested["$defs"].(map[string]any)
		if found, ok := inner[name].(map[string]any); ok {
			return found
		}
	}
	return map[string]any{}
}
