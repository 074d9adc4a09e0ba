package rest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
)

// A registry makes the JSON schemas of types. It replaces huma's own registry, which uses the Go
// names of embedded fields and does not mark nil bytes and pointers as nullable. A list is never
// null, because the jobs return empty ones. The registry panics at an unknown type that marshals
// its JSON itself.
type registry struct {
	schemas map[string]*huma.Schema
	types   map[string]reflect.Type

	requests []reflect.Type // of all operations; a request with fields in the path has no schema of its own
}

func newRegistry() *registry {
	return &registry{schemas: make(map[string]*huma.Schema), types: make(map[string]reflect.Type)}
}

const refPrefix = "#/components/schemas/"

// Schema returns the schema of a type. For a struct it returns a reference if allowRef is true.
func (r *registry) Schema(t reflect.Type, allowRef bool, _ string) *huma.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := r.special(t); s != nil {
		return s
	}
	switch t.Kind() { //nolint:exhaustive // all others are refused
	case reflect.Bool:
		return &huma.Schema{Type: huma.TypeBoolean}
	case reflect.Int, reflect.Int64:
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return &huma.Schema{Type: huma.TypeInteger, Format: "int32"}
	case reflect.Float64:
		return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
	case reflect.String:
		return &huma.Schema{Type: huma.TypeString, Enum: valuesOf(t)}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &huma.Schema{Type: huma.TypeString, ContentEncoding: "base64"}
		}
		return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(t.Elem(), true, "")}
	case reflect.Map:
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: r.Schema(t.Elem(), true, "")}
	case reflect.Struct:
		return r.named(t, allowRef)
	}
	panic(fmt.Sprintf("rest: no schema for %v", t))
}

// special returns the schema of a type with a JSON form of its own, or nil.
func (r *registry) special(t reflect.Type) *huma.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
	case reflect.TypeFor[time.Duration]():
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Description: "nanoseconds"}
	case reflect.TypeFor[json.RawMessage]():
		return &huma.Schema{Description: "any JSON"}
	case reflect.TypeFor[ratio.Ratio]():
		return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
	case reflect.TypeFor[api.Target]():
		return &huma.Schema{OneOf: []*huma.Schema{
			{Type: huma.TypeInteger, Minimum: new(1.0)}, {Type: huma.TypeString, Pattern: `^([0-9,_]+|[0-9.]+%)$`},
		}}
	case reflect.TypeFor[digest.Digest]():
		return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9a-f]{64}$"}
	case reflect.TypeFor[summary.Item]():
		return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, object(map[string]*huma.Schema{
			"text": {Type: huma.TypeString}, "source": {Type: huma.TypeString},
		}, "text", "source")}}
	case reflect.TypeFor[summary.Files]():
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{
			Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[summary.Item](), true, ""),
		}}
	case reflect.TypeFor[handoff.Packet](): // its MarshalJSON only keeps lists from being null
		return nil
	}
	marshaler, text := reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()
	if p := reflect.PointerTo(t); p.Implements(marshaler) || p.Implements(text) {
		panic(fmt.Sprintf("rest: no schema for %v, which writes its JSON itself", t))
	}
	return nil
}

func object(properties map[string]*huma.Schema, required ...string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Properties: properties, Required: required, AdditionalProperties: false}
}

// named returns the schema of a struct. It makes the schema at the first call for the type.
func (r *registry) named(t reflect.Type, allowRef bool) *huma.Schema {
	name := schemaName(t)
	switch known := r.types[name]; known {
	case t:
	case nil:
		r.types[name] = t
		r.schemas[name] = &huma.Schema{} // for recursive structs
		*r.schemas[name] = *r.fields(fieldsOf(t))
	default:
		panic(fmt.Sprintf("rest: %v and %v are both called %s", t, known, name))
	}
	if allowRef {
		return &huma.Schema{Ref: refPrefix + name}
	}
	return r.schemas[name]
}

// fields returns the schema of an object with these fields.
func (r *registry) fields(fields []field) *huma.Schema {
	s := object(make(map[string]*huma.Schema, len(fields)))
	for _, f := range fields {
		s.Properties[f.name] = r.field(&f)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	s.PrecomputeMessages()
	return s
}

// field returns the schema of a field. It is nullable if the field is required and is a pointer,
// a map or bytes.
func (r *registry) field(f *field) *huma.Schema {
	s := *r.Schema(f.typ, true, "")
	kind := f.typ.Kind()
	null := !f.optional && (kind == reflect.Pointer || kind == reflect.Map || f.typ == reflect.TypeFor[[]byte]())
	switch {
	case s.Ref != "" && null:
		s = huma.Schema{AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
	case s.Ref != "":
		s = huma.Schema{AllOf: []*huma.Schema{{Ref: s.Ref}}}
	case null:
		s.Nullable = true
	}
	if s.Enum != nil && !f.optional {
		s.Enum = append(slices.Clone(s.Enum), "") // a required field may be empty
	}
	s.Description = describe(f)
	addExample(&s, f)
	return &s
}

// parameter returns the schema of a field in a path or a query, which is never null.
func (r *registry) parameter(f *field) *huma.Schema {
	s := *r.Schema(f.typ, true, "")
	addExample(&s, f)
	return &s
}

func addExample(s *huma.Schema, f *field) {
	if e := exampleOf(f); e != nil && s.Type != "" {
		s.Examples = []any{e}
	}
}

// schemaNames has the structs that the document calls by another name than their Go name. Clients
// are generated from the names in the document, so these stay when a Go type is renamed.
var schemaNames = sync.OnceValue(func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[api.ContractResult]():   "ContractStatements",
		reflect.TypeFor[api.ProtocolState]():    "State",
		reflect.TypeFor[api.PutRequest]():       "PutAllRequest",
		reflect.TypeFor[carrel.ProbeReport]():   "SessionProbeReport",
		reflect.TypeFor[contract.Contract]():    "ContractState",
		reflect.TypeFor[facts.Contribution]():   "FactsReason",
		reflect.TypeFor[handoff.Aim]():          "HandoffIntent",
		reflect.TypeFor[handoff.Deliverable]():  "HandoffArtifact",
		reflect.TypeFor[manifest.ItemChange]():  "ManifestChange",
		reflect.TypeFor[pager.Advice]():         "PagerVerdict",
		reflect.TypeFor[pager.BlockDecision]():  "PagerDecision",
		reflect.TypeFor[probe.Acceptance]():     "ProbeVerdict",
		reflect.TypeFor[store.ContextOutcome](): "StoreOutcome",
	}
})

// schemaName returns the name of a struct in the document: the name in schemaNames if it has one
// there, and otherwise the name of its package followed by its Go name. For the packages carrel,
// api and rest, the name of the package is left out.
func schemaName(t reflect.Type) string {
	if name, ok := schemaNames()[t]; ok {
		return name
	}
	name, of, generic := strings.Cut(t.Name(), "[")
	if generic { // such as Page[example.org/store.Entry]
		elem := strings.TrimSuffix(of[strings.LastIndexAny(of, "/.")+1:], "]")
		return elem + name
	}
	if name == "" {
		panic(fmt.Sprintf("rest: no name for %v", t))
	}
	switch pkg := path.Base(t.PkgPath()); pkg {
	case "carrel", "api", "rest":
		return name
	default:
		pkg = strings.ToUpper(pkg[:1]) + pkg[1:]
		return pkg + strings.TrimPrefix(name, pkg)
	}
}

// SchemaFromRef returns the schema of a reference, or nil.
func (r *registry) SchemaFromRef(ref string) *huma.Schema {
	return r.schemas[strings.TrimPrefix(ref, refPrefix)]
}

// TypeFromRef returns the type of a reference, or nil.
func (r *registry) TypeFromRef(ref string) reflect.Type {
	return r.types[strings.TrimPrefix(ref, refPrefix)]
}

// Map returns all schemas by their names.
func (r *registry) Map() map[string]*huma.Schema { return r.schemas }

// RegisterTypeAlias implements huma's registry. It panics, as there are no aliases.
func (r *registry) RegisterTypeAlias(t, alias reflect.Type) {
	panic(fmt.Sprintf("rest: %v is not described as %v", t, alias))
}

// MarshalJSON writes all schemas by their names.
func (r *registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.schemas) }
