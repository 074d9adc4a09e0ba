package rest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A plan says which fields of a request come from the path, the query and the body. It is made
// once for each route.
type plan struct {
	path  []field
	query []field // all other fields if the method is GET or raw is set
	body  []field // all other fields otherwise
	read  decode  // decodes the body; nil if the body has no fields
	raw   *field  // the field whose bytes are the whole body, or nil
}

// newPlan returns the plan of an operation whose request is a struct of type t. It panics if a
// field belongs in the path or the query, but has a type that cannot be written as text.
func newPlan(op *ops.Operation, t reflect.Type, ds decoders) *plan {
	p := new(plan)
	fields := fieldsOf(t)
	for _, name := range pathFields(op.Path) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if at < 0 {
			panic(fmt.Sprintf("rest: %s: the request has no field for {%s}", op.Name, name))
		}
		p.path = append(p.path, fields[at])
		fields = slices.Delete(fields, at, at+1)
	}
	if op.Method == http.MethodGet {
		p.query = fields
	} else {
		p.body, p.read = fields, ds.fields(fields)
	}
	if at := slices.IndexFunc(fields, func(f field) bool { return f.name == op.Raw }); at >= 0 {
		p.raw, p.body, p.read = new(fields[at]), nil, nil
		p.query = slices.Delete(fields, at, at+1)
	}
	for _, f := range slices.Concat(p.path, p.query) {
		if setterOf(f.typ) == nil {
			panic(fmt.Sprintf("rest: %s: field %s of type %v is for a body only", op.Name, f.name, f.typ))
		}
	}
	return p
}

// pathFields returns the names in braces in a path.
func pathFields(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// needsBody reports whether the body has a required field.
func (p *plan) needsBody() bool {
	return slices.ContainsFunc(p.body, func(f field) bool { return !f.optional })
}

// fill decodes a request into the struct v.
func (p *plan) fill(r *http.Request, body []byte, v reflect.Value) error {
	if err := p.fillBody(r, body, v); err != nil {
		return err
	}
	for _, f := range p.path {
		if err := fillPath(&f, r.PathValue(f.name), v); err != nil {
			return err
		}
	}
	return fillQuery(p.query, r.URL, v)
}

func (p *plan) fillBody(r *http.Request, body []byte, v reflect.Value) error {
	switch {
	case p.raw != nil && !isRaw(r.Header):
		return &refusal{kind: mediaType, detail: "the body must be application/json, application/jsonl or application/octet-stream", field: "Content-Type"}
	case p.raw != nil:
		v.FieldByIndex(p.raw.index).SetBytes(body)
		return nil
	case p.read == nil && len(body) > 0:
		return bad("body", "%s takes no body", r.Method)
	case p.read == nil, len(body) == 0 && !p.needsBody():
		return nil
	case !isJSON(r.Header):
		return &refusal{kind: mediaType, detail: "the body must be application/json", field: "Content-Type"}
	}
	return inBody(body, document(p.read, body, v))
}

// isRaw reports whether the Content-Type is one of rawTypes.
func isRaw(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && slices.Contains(rawTypes, kind)
}

// isJSON reports whether the Content-Type is JSON in UTF-8.
func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// fillPath sets a field to text, an element of the path after its escapes were decoded.
func fillPath(f *field, text string, v reflect.Value) error {
	switch {
	case !utf8.ValidString(text):
		return bad(f.name, "is not valid Unicode")
	case strings.ContainsFunc(text, unicode.IsControl):
		return bad(f.name, "has a control character")
	case !setterOf(f.typ)(v.FieldByIndex(f.index), text):
		return bad(f.name, "is not %s", expected(f.typ))
	}
	return nil
}

// fillQuery sets the fields that the query names. It fails if a name is unknown or comes twice,
// or if a required field is missing.
func fillQuery(fields []field, u *url.URL, v reflect.Value) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return bad("", "the query of the URL is malformed: escape %q and other special characters", "%")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case at < 0:
			return bad(printable(name), "is not a parameter of this request")
		case len(query[name]) > 1:
			return bad(name, "comes twice")
		}
		text, f := query[name][0], &fields[at]
		switch {
		case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
			return bad(name, "is not valid Unicode, or has a null character")
		case !setterOf(f.typ)(v.FieldByIndex(f.index), text):
			return bad(name, "is not %s", expected(f.typ))
		}
	}
	for _, f := range fields {
		if _, ok := query[f.name]; !ok && !f.optional {
			return bad(f.name, "is missing")
		}
	}
	return nil
}

// printable returns the name of a parameter, as a client sent it, in a form that is safe in an error
// text: the printable characters among its first 40 bytes.
func printable(name string) string {
	const longest = 40
	if len(name) > longest {
		name = name[:longest]
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
}

// setterOf returns a function that sets a value of type t from a text and reports whether the
// text is valid. It returns nil for a type that cannot be set from a text, such as a list.
func setterOf(t reflect.Type) func(v reflect.Value, text string) bool {
	if t == reflect.TypeFor[time.Time]() {
		return func(v reflect.Value, text string) bool {
			at, err := time.Parse(time.RFC3339, text)
			v.Set(reflect.ValueOf(at))
			return err == nil
		}
	}
	switch t.Kind() { //nolint:exhaustive // nothing else is in a path or a query
	case reflect.String:
		return func(v reflect.Value, text string) bool { v.SetString(text); return true }
	case reflect.Bool:
		return func(v reflect.Value, text string) bool {
			v.SetBool(text == "true")
			return text == "true" || text == "false"
		}
	case reflect.Int, reflect.Int64:
		return func(v reflect.Value, text string) bool {
			n, err := strconv.ParseInt(text, 10, t.Bits())
			v.SetInt(n)
			return err == nil
		}
	}
	return nil
}

// expected returns the words of an error text that say which values a parameter of type t may have,
// such as "true or false".
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2026-01-05T10:00:00Z"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}

// inBody returns err with the field and the line of the body that it is about, if it is an error of
// the decoder.
func inBody(body []byte, err error) error {
	if e, ok := errors.AsType[*rawjson.Error](err); ok {
		return &refusal{kind: api.Request, field: e.Path, line: transcript.LineOf(body, e.Offset), detail: e.Error(), hint: e.Hint}
	}
	return err
}

// receive reads a body of limited size. Call release when the body is no longer used.
func (s *server) receive(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	limit := s.opts.Limits.Body
	if r.ContentLength > limit {
		return nil, nil, tooLarge(limit)
	}
	size := r.ContentLength
	if size < 0 {
		size = limit
	}
	if release, err = s.bodies.take(r.Context(), size); err != nil {
		return nil, nil, err
	}
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		return body, release, nil
	}
	release()
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, nil, tooLarge(limit)
	}
	return nil, nil, bad("body", "ends before the length that the request announced: send it again")
}
