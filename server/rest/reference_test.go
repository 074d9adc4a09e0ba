package rest

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

// doc/reference/http.md is the OpenAPI document, for people. Run with -update to write it.
func TestReferenceOfHTTP(t *testing.T) {
	s := newServer(nil)
	p := &reference{doc: s.api.OpenAPI(), schemas: s.schemas.schemas}
	p.line(`# HTTP

What [a server](../guide/service.md) answers. %[1]sGET /v1/openapi.json%[1]s has the same for programs. Requests and
results are JSON; an error is a [Problem](#problem). Every route but %[1]s/healthz%[1]s and %[1]s/readyz%[1]s wants
%[1]sAuthorization: Bearer CREDENTIAL%[1]s. The header %[1]sCarrel-Scope%[1]s names the scope; without it, it is
the only one that the credential names. With %[1]sIdempotency-Key%[1]s a write is made once, however often it
is sent. This page is written by %[1]sgo test ./server/rest -run Reference -update%[1]s.
`, "`")
	p.operations(t)
	p.line("## Objects\n\nA field with `?` may be left out.\n")
	for _, name := range slices.Sorted(maps.Keys(p.schemas)) {
		p.line("### %s\n", name)
		p.fields(p.schemas[name])
	}
	sameFile(t, "../../doc/reference/http.md", strings.TrimSuffix(p.String(), "\n"))
}

// sameFile compares a text with a file, or writes it with -update.
func sameFile(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil { //nolint:gosec // it is a document
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale: go test ./server/rest -run Reference -update (-want +got):\n%s", name, diff)
	}
}

// A reference is a page that says what a document says.
type reference struct {
	strings.Builder

	doc     *huma.OpenAPI
	schemas map[string]*huma.Schema
}

func (p *reference) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// operations writes a section for each operation, those of one tag together, in the order of
// the table of operations.
func (p *reference) operations(t *testing.T) {
	t.Helper()
	type route struct {
		path, method string
		op           *huma.Operation
	}
	byTag, tags := make(map[string][]route), []string(nil)
	add := func(path, method string) {
		item := p.doc.Paths[path]
		op := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}[method]
		if op == nil {
			t.Fatalf("%s %s is not in the document", method, path)
		}
		if byTag[op.Tags[0]] == nil {
			tags = append(tags, op.Tags[0])
		}
		byTag[op.Tags[0]] = append(byTag[op.Tags[0]], route{path, method, op})
	}
	for _, o := range ops.Operations() {
		add(api.Prefix+o.Path, o.Method)
	}
	add(api.Prefix+ops.Whoami.Path, http.MethodGet)
	add(api.Prefix+ops.Events.Path, http.MethodGet)
	add("/metrics", http.MethodGet)
	for _, tag := range tags {
		p.line("## /%s\n", tag)
		for _, r := range byTag[tag] {
			p.line("### %s\n\n`%s %s`\n\n%s\n", r.op.OperationID, r.method, r.path, strings.TrimSpace(r.op.Summary+". "+r.op.Description))
			p.operation(r.op)
		}
	}
}

// operation writes what an operation takes and gives.
func (p *reference) operation(op *huma.Operation) {
	for _, param := range op.Parameters {
		if param.In == "header" && param.Name != "Range" {
			continue // what all have is said above
		}
		mark := "?"
		if param.Required {
			mark = ""
		}
		p.line("* `%s`%s in the %s: %s", param.Name, mark, param.In, p.typeOf(param.Schema)+after(param.Description))
	}
	if op.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
			schema := op.RequestBody.Content[kind].Schema
			p.line("* request, `%s`: %s", kind, p.typeOf(schema)+after(schema.Description))
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		for _, kind := range slices.Sorted(maps.Keys(op.Responses[status].Content)) {
			if status != "default" {
				schema := op.Responses[status].Content[kind].Schema
				p.line("* result %s, `%s`: %s", status, kind, p.typeOf(schema)+after(schema.Description))
			}
		}
	}
	p.line("")
}

// after returns a description behind a type.
func after(about string) string {
	if about == "" {
		return ""
	}
	return ", " + about
}

// fields writes a table of the fields of an object.
func (p *reference) fields(s *huma.Schema) {
	p.line("| field | type | what it is |\n|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		f := s.Properties[name]
		p.line("| `%s`%s | %s | %s |", name, mark, p.typeOf(f), strings.ReplaceAll(f.Description, "|", `\|`))
	}
	p.line("")
}

// typeOf says in a word what a schema allows; objects are links.
func (p *reference) typeOf(s *huma.Schema) string {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, refPrefix)
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0:
		var all []string
		for _, o := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
			all = append(all, p.typeOf(o))
		}
		return strings.Join(all, " or ")
	case s.Type == huma.TypeArray:
		return "list of " + p.typeOf(s.Items)
	case s.Type == huma.TypeObject:
		if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
			return "object with values: " + p.typeOf(values)
		}
		return "object"
	case s.Enum != nil:
		var words []string
		for _, v := range s.Enum {
			if v != "" {
				words = append(words, fmt.Sprintf("`%v`", v))
			}
		}
		return strings.Join(words, ", ")
	case s.Format == "date-time" || s.Format == "binary":
		return map[string]string{"date-time": "time", "binary": "bytes"}[s.Format]
	case s.ContentEncoding != "":
		return "text in " + s.ContentEncoding
	case s.Type == "":
		return "any JSON"
	}
	return map[string]string{huma.TypeString: "text", huma.TypeInteger: "whole number", huma.TypeNumber: "number", huma.TypeBoolean: "true or false", "null": "null"}[s.Type]
}
