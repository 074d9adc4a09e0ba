package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// A Schema is a schema for checking documents. Create one with [Parse].
type Schema struct{ root *node }

// Errors about schemas.
var (
	// ErrReference means that a $ref has no target, or refers to itself.
	ErrReference = errors.New("a reference leads nowhere")

	// ErrType means that a type does not exist in JSON.
	ErrType = errors.New("JSON has no type of this name")

	// ErrNull means that null stands in place of a schema.
	ErrNull = errors.New("null is no schema: want an object, true or false")
)

// Parse reads a schema. It fails for an invalid schema, and for keywords that this package does
// not support.
func Parse(text []byte) (*Schema, error) {
	root := new(node)
	if err := json.Unmarshal(text, root); err != nil {
		return nil, err
	}
	if err := link(root); err != nil {
		return nil, err
	}
	return &Schema{root}, nil
}

// A node is a schema or a schema within one.
type node struct {
	keywords

	never    bool           // the schema is false, which no value fits
	target   *node          // target of Ref
	matching *regexp.Regexp // compiled Pattern
	allowed  []any          // values of Enum or Const; nil for any
}

// keywords are the supported keywords of a schema.
type keywords struct {
	Schema      string `json:"$schema"`
	ID          string `json:"$id"`
	Comment     string `json:"$comment"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Format      string `json:"format"`

	Ref  string           `json:"$ref"`
	Defs map[string]*node `json:"$defs"`

	Type  types           `json:"type"`
	Enum  []any           `json:"enum"`
	Const json.RawMessage `json:"const"`

	Minimum *json.Number `json:"minimum"`
	Maximum *json.Number `json:"maximum"`

	MinLength *int   `json:"minLength"`
	Pattern   string `json:"pattern"`

	MinItems    *int  `json:"minItems"`
	UniqueItems bool  `json:"uniqueItems"`
	Items       *node `json:"items"`

	Required             []string         `json:"required"`
	MinProperties        *int             `json:"minProperties"`
	Properties           map[string]*node `json:"properties"`
	AdditionalProperties *node            `json:"additionalProperties"`
	PropertyNames        *node            `json:"propertyNames"`

	If   *node `json:"if"`
	Then *node `json:"then"`
	Else *node `json:"else"`
}

// UnmarshalJSON reads a schema, which may be true or false.
func (n *node) UnmarshalJSON(text []byte) error {
	var verdict bool
	if json.Unmarshal(text, &verdict) == nil {
		n.never = !verdict
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n.keywords); err != nil {
		return err
	}
	return n.compile()
}

// compile prepares the keywords for checks.
func (n *node) compile() (err error) {
	for _, named := range []map[string]*node{n.Defs, n.Properties} {
		for name, child := range named {
			if child == nil {
				return fmt.Errorf("%w: %q", ErrNull, name)
			}
		}
	}
	n.allowed = n.Enum
	if n.Const != nil {
		v, err := decode(n.Const)
		if err != nil {
			return err
		}
		n.allowed = append([]any{}, v)
	}
	if n.Pattern != "" {
		n.matching, err = regexp.Compile(n.Pattern)
	}
	return err
}

// decode decodes a JSON document. Numbers keep their spelling.
func decode(text []byte) (v any, err error) {
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, err // the error has the place, also for data behind the document
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// types is a list of names of types.
type types []string

// UnmarshalJSON reads one name or a list of names.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return t.check()
	}
	if err := json.Unmarshal(text, (*[]string)(t)); err != nil {
		return err
	}
	return t.check()
}

func (t *types) check() error {
	for _, name := range *t {
		switch name {
		case "null", "boolean", "integer", "number", "string", "array", "object":
		default:
			return fmt.Errorf("%w: %q", ErrType, name)
		}
	}
	return nil
}
