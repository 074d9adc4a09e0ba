package mcp

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel/ratio"
)

// The longest word and the longest text in arguments, in bytes, and the longest list.
const (
	maxWord = 200
	maxText = 100_000
	maxList = 1000
)

// inputSchema returns the schema of arguments. It bounds words and lists; the function bound adds
// the tool's own bounds.
func inputSchema[In any](bound func(map[string]*jsonschema.Schema)) *jsonschema.Schema {
	s := schemaOf[In]()
	for _, p := range s.Properties {
		switch p.Type {
		case "string":
			p.MaxLength = new(maxWord)
		case "array":
			p.MaxItems, p.Items.MaxLength = new(maxList), new(maxWord)
		}
	}
	if bound != nil {
		bound(s.Properties)
	}
	return s
}

// outputSchema returns the schema of structured content: a result or a problem, because some
// clients validate errors, too.
func outputSchema[Out any]() *jsonschema.Schema {
	text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	problem := &jsonschema.Schema{
		Title: "problem", Type: "object", Required: []string{"type", "title", "detail"},
		Properties:    map[string]*jsonschema.Schema{"type": text(), "title": text(), "detail": text(), "hint": text()},
		PropertyOrder: []string{"type", "title", "detail", "hint"},
	}
	return &jsonschema.Schema{Type: "object", AnyOf: []*jsonschema.Schema{schemaOf[Out](), problem}}
}

// schemaOf returns the schema of a type. Lists in it are not nullable, because some clients do
// not understand that.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[ratio.Ratio](): {Type: "number"},
	}})
	if err != nil {
		panic(err) // the type has no schema; every test would fail
	}
	withoutNull(s)
	return s
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	withoutNull(s.Items)
	for _, p := range s.Properties {
		withoutNull(p)
	}
}
