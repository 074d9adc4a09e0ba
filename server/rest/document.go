package rest

import (
	"cmp"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

const bearer = "bearer"

// config returns the general part of the OpenAPI document. Huma serves no routes of its own.
func (s *server) config() huma.Config {
	version := cmp.Or(s.opts.Version, "dev")
	return huma.Config{OpenAPI: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Carrel", Version: version,
			Description: "The context engine for agents of language models: conversations, artifacts, contexts and what became of them.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:  []*huma.Server{{URL: "/"}},
		Security: []map[string][]string{{bearer: {}}},
		Components: &huma.Components{
			Schemas:         s.schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{bearer: {Type: "http", Scheme: "bearer", Description: "a credential of carrel credential create"}},
		},
	}}
}

// describe returns the description of an operation for the document.
func (s *server) describe(op *ops.Operation, p *plan, req, res reflect.Type) *huma.Operation {
	d := &huma.Operation{
		OperationID: op.Name, Method: op.Method, Path: api.Prefix + op.Path, Summary: op.Summary,
		Description: needs(op),
		Tags:        []string{tagOf(op.Path)},
		Responses:   map[string]*huma.Response{"200": s.result(res), "default": s.failure()},
	}
	s.schemas.requests = append(s.schemas.requests, req)
	for _, f := range p.path {
		d.Parameters = append(d.Parameters, &huma.Param{Name: f.name, In: "path", Required: true, Description: describe(&f), Schema: s.schemas.parameter(&f)})
	}
	for _, f := range p.query {
		d.Parameters = append(d.Parameters, &huma.Param{Name: f.name, In: "query", Required: !f.optional, Description: describe(&f), Schema: s.schemas.parameter(&f)})
	}
	d.Parameters = append(d.Parameters, header(api.HeaderScope, "Whose context it is. By default the only scope that the credential names."))
	if op.Writes() {
		d.Parameters = append(d.Parameters, header(api.HeaderIdempotency, "The same key means the same write, which is made once."))
	}
	if op.Method == http.MethodGet {
		d.Parameters = append(d.Parameters, header("If-None-Match", "The ETag of what is known already."))
		d.Responses["304"] = &huma.Response{Description: "It is what is known already"}
		return d
	}
	d.Responses["200"].Content[typeEvents] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeString, Description: "events named progress, then one named result or problem",
	}}
	d.RequestBody = &huma.RequestBody{Required: p.raw != nil || p.needsBody(), Content: make(map[string]*huma.MediaType)}
	if p.raw == nil {
		d.RequestBody.Content[typeJSON] = &huma.MediaType{Schema: s.bodySchema(p, req)}
		return d
	}
	for _, kind := range rawTypes {
		content := &huma.Schema{Description: describe(p.raw)}
		if kind != typeJSON {
			content.Type, content.Format = huma.TypeString, "binary"
		}
		d.RequestBody.Content[kind] = &huma.MediaType{Schema: content}
	}
	return d
}

// needs returns a sentence about the permissions that a credential needs.
func needs(op *ops.Operation) string {
	all := make([]string, 0, 2)
	for _, p := range op.Needs() {
		all = append(all, string(p))
	}
	if len(all) > 1 {
		return "Needs the permissions " + strings.Join(all, " and ") + "."
	}
	return "Needs the permission " + strings.Join(all, "") + "."
}

// bodySchema returns the schema of a request without the fields in its path.
func (s *server) bodySchema(p *plan, req reflect.Type) *huma.Schema {
	if len(p.path) == 0 {
		return s.schemas.Schema(req, true, "")
	}
	name := strings.TrimSuffix(schemaName(req), "Request") + "Body"
	if _, taken := s.schemas.schemas[name]; !taken {
		s.schemas.schemas[name] = s.schemas.fields(p.body)
	}
	return &huma.Schema{Ref: refPrefix + name}
}

func (s *server) result(t reflect.Type) *huma.Response {
	return &huma.Response{
		Description: "The result",
		Headers:     map[string]*huma.Header{"ETag": {Description: "The digest of the body", Schema: &huma.Schema{Type: huma.TypeString}}},
		Content:     map[string]*huma.MediaType{typeJSON: {Schema: s.schemas.Schema(t, true, "")}},
	}
}

func (s *server) failure() *huma.Response {
	return &huma.Response{
		Description: "The reason why the operation was refused or failed",
		Content:     map[string]*huma.MediaType{typeProblem: {Schema: s.schemas.Schema(reflect.TypeFor[api.Problem](), true, "")}},
	}
}

// describeContent adds the media types of raw content to the document's description of op.
func (s *server) describeContent(op *ops.Operation) {
	d := s.api.OpenAPI().Paths[api.Prefix+op.Path].Get
	bytes := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	for _, kind := range []string{typeBytes, typeLines} {
		d.Responses["200"].Content[kind] = &huma.MediaType{Schema: bytes}
	}
	d.Responses["206"] = &huma.Response{Description: "The requested range of the content", Content: map[string]*huma.MediaType{typeBytes: {Schema: bytes}}}
	d.Parameters = append(d.Parameters, header("Range", "The range of bytes to return, if the content is requested without JSON."))
}

func header(name, about string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: about, Schema: &huma.Schema{Type: huma.TypeString}}
}

// tagOf returns the tag that groups operations: the first element of the path.
func tagOf(path string) string {
	tag, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return tag
}

// describePlain adds a route that belongs to no scope to the document.
func (s *server) describePlain(name, path, summary, kind string, res reflect.Type) {
	d := &huma.Operation{
		OperationID: name, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"},
		Responses: map[string]*huma.Response{
			strconv.Itoa(http.StatusOK): {Description: "What is asked for", Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"default":                   s.failure(),
		},
	}
	if res != nil {
		d.Responses[strconv.Itoa(http.StatusOK)] = s.result(res)
	}
	s.api.OpenAPI().AddOperation(d)
}
