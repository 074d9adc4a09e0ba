package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

// A document is an OpenAPI document, as far as the tests look at it.
type document struct {
	OpenAPI    string `json:"openapi"`
	Info       struct{ Title, Version string }
	Paths      map[string]map[string]operation
	Security   []map[string][]string
	Components struct {
		Schemas         map[string]json.RawMessage
		SecuritySchemes map[string]struct{ Type, Scheme string }
	}
}

type operation struct {
	OperationID string
	Summary     string
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   json.RawMessage
	}
	RequestBody *struct {
		Required bool
		Content  map[string]media
	}
	Responses map[string]struct {
		Description string
		Content     map[string]media
	}
}

type media struct{ Schema json.RawMessage }

func fetchDocument(t testing.TB, w *world) (doc document, raw []byte) {
	t.Helper()
	rec := w.ask(http.MethodGet, "/v1/openapi.json", nil)
	if rec.Code != http.StatusOK {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, rec.Body.Bytes()
}

// operations returns the operations of a document by their ids.
func (d *document) operations(t testing.TB) map[string]operation {
	t.Helper()
	all := make(map[string]operation)
	for path, item := range d.Paths {
		for method, op := range item {
			if _, twice := all[op.OperationID]; twice {
				t.Errorf("%s %s: the id %q is not unique", method, path, op.OperationID)
			}
			all[op.OperationID] = op
		}
	}
	return all
}

// beside are the operations that are of no scope, or no method of the engine.
var beside = []string{"events", "metrics", "whoami"}

func TestDocumentHasTheTable(t *testing.T) {
	doc, _ := fetchDocument(t, newWorld(t, nil))
	if doc.OpenAPI != "3.1.0" || doc.Info.Title == "" || doc.Info.Version != "1.2.3" {
		t.Errorf("openapi %q, info %+v", doc.OpenAPI, doc.Info)
	}
	if len(doc.Security) != 1 || doc.Security[0]["bearer"] == nil || doc.Components.SecuritySchemes["bearer"].Scheme != "bearer" {
		t.Errorf("security: %v, %v", doc.Security, doc.Components.SecuritySchemes)
	}
	want := slices.Clone(beside)
	for _, op := range ops.Operations() {
		want = append(want, op.Name)
		got, ok := doc.Paths[api.Prefix+op.Path][strings.ToLower(op.Method)]
		if !ok || got.OperationID != op.Name || got.Summary != op.Summary {
			t.Errorf("%s %s: %+v", op.Method, op.Path, got)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(doc.operations(t)))); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// Nothing is named as Go names it.
func TestDocumentNamesAreThoseOfJSON(t *testing.T) {
	doc, _ := fetchDocument(t, newWorld(t, nil))
	named := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for name, raw := range doc.Components.Schemas {
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		for property := range schema.Properties {
			if !named.MatchString(property) {
				t.Errorf("%s has %q", name, property)
			}
		}
	}
}

// The document as YAML is the same.
func TestDocumentAsYAML(t *testing.T) {
	w := newWorld(t, nil)
	rec := w.ask(http.MethodGet, "/v1/openapi.yaml", nil)
	if kind := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || kind != "application/openapi+yaml" {
		t.Errorf("status %d, type %q", rec.Code, kind)
	}
	for _, op := range ops.Operations() {
		if !strings.Contains(rec.Body.String(), "operationId: "+op.Name+"\n") {
			t.Errorf("it has no %s", op.Name)
		}
	}
}

// What OpenAPI 3.1 asks of a document, as far as a generator goes by it.
func TestDocumentIsWhole(t *testing.T) {
	doc, raw := fetchDocument(t, newWorld(t, nil))
	refs(t, raw, doc.Components.Schemas)
	for path, item := range doc.Paths {
		for method, op := range item {
			where := method + " " + path
			var declared []string
			seen := make(map[string]bool)
			for _, p := range op.Parameters {
				if seen[p.In+" "+p.Name] {
					t.Errorf("%s: parameter %s comes twice", where, p.Name)
				}
				seen[p.In+" "+p.Name] = true
				if len(p.Schema) == 0 {
					t.Errorf("%s: parameter %s has no schema", where, p.Name)
				}
				if p.In == "path" {
					declared = append(declared, "{"+p.Name+"}")
					if !p.Required {
						t.Errorf("%s: path parameter %s is not required", where, p.Name)
					}
				}
			}
			for _, name := range declared {
				if strings.Count(path, name) != 1 {
					t.Errorf("%s: parameter %s is not in the path", where, name)
				}
			}
			if strings.Count(path, "{") != len(declared) {
				t.Errorf("%s: declares %v", where, declared)
			}
			if (method == "get") != (op.RequestBody == nil) {
				t.Errorf("%s: request body %+v", where, op.RequestBody)
			}
			if _, ok := op.Responses["default"].Content["application/problem+json"]; !ok {
				t.Errorf("%s: errors are no problems", where)
			}
			for status, r := range op.Responses {
				if r.Description == "" {
					t.Errorf("%s: response %s has no description", where, status)
				}
			}
		}
	}
}

// refs checks that what is referred to is there, and nothing else.
func refs(t *testing.T, raw []byte, schemas map[string]json.RawMessage) {
	t.Helper()
	used := make(map[string]bool)
	dec := json.NewDecoder(bytes.NewReader(raw))
	for ref := false; ; {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		s, _ := tok.(string)
		if ref {
			name := strings.TrimPrefix(s, "#/components/schemas/")
			if _, ok := schemas[name]; !ok {
				t.Errorf("%s refers to nothing", s)
			}
			used[name] = true
		}
		ref = s == "$ref"
	}
	plain := make(map[string]string)
	for name := range schemas {
		if !used[name] {
			t.Errorf("nothing refers to %s", name)
		}
		key := strings.ToLower(strings.NewReplacer(".", "", "_", "", "-", "").Replace(name))
		if other, ok := plain[key]; ok {
			t.Errorf("a generator would call both %s and %s the same", name, other)
		}
		plain[key] = name
	}
}

// A checker holds texts against the schemas of a document.
type checker struct {
	t        testing.TB
	compiler *jsonschema.Compiler
	doc      document
}

func newChecker(t testing.TB, w *world) *checker {
	t.Helper()
	doc, raw := fetchDocument(t, w)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("carrel:openapi", v); err != nil {
		t.Fatal(err)
	}
	return &checker{t, c, doc}
}

// check holds a text against the schema at a place of the document.
func (c *checker) check(where string, text []byte) error {
	schema, err := c.compiler.Compile("carrel:openapi#" + where)
	if err != nil {
		return fmt.Errorf("%s does not compile: %w", where, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// pointer returns a place in the document from the parts of its path.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(b.String())
}

func TestSchemasCompile(t *testing.T) {
	c := newChecker(t, newWorld(t, nil))
	for name := range c.doc.Components.Schemas {
		if _, err := c.compiler.Compile("carrel:openapi#" + pointer("components", "schemas", name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Real requests and results of every operation are what the document says, and so are
// problems.
func TestResultsAreAsDescribed(t *testing.T) {
	var c *checker
	done := make(map[string]bool)
	s := newScenario(t, func(op *ops.Operation, body []byte, rec *httptest.ResponseRecorder) {
		if body != nil {
			where := pointer("paths", api.Prefix+op.Path, strings.ToLower(op.Method), "requestBody", "content", "application/json", "schema")
			if err := c.check(where, body); err != nil {
				t.Errorf("%s: request: %v\n%.2000s", op.Name, err, body)
			}
		}
		status, kind := "200", "application/json"
		if rec.Code != http.StatusOK {
			status, kind = "default", "application/problem+json"
		} else {
			done[op.Name] = true
		}
		where := pointer("paths", api.Prefix+op.Path, strings.ToLower(op.Method), "responses", status, "content", kind, "schema")
		if err := c.check(where, rec.Body.Bytes()); err != nil {
			t.Errorf("%s: status %d: %v\n%.2000s", op.Name, rec.Code, err, rec.Body)
		}
	})
	c = newChecker(t, s.world)
	s.play()
	for _, op := range ops.Operations() {
		if !done[op.Name] {
			t.Errorf("no result of %s was seen", op.Name)
		}
	}
	if strings.Contains(s.logs.String(), canary) {
		t.Error("content is in the log")
	}
	if metrics := s.ask(http.MethodGet, "/metrics", nil).Body.String(); strings.Contains(metrics, canary) || strings.Contains(metrics, s.ids["session"]) {
		t.Error("content or a session is in the metrics")
	}
}
