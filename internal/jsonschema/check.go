package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Problem is a field that does not fit a schema.
type Problem struct {
	Field string `json:"field"` // as a JSON Pointer; empty if it is the whole document
	Text  string `json:"text"`
}

// Check checks a document against the schema and returns the problems, with the fields of an
// object in the order of their names. It fails if text is not JSON.
func (s *Schema) Check(text []byte) ([]Problem, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	var c checker
	c.value(s.root, v, "")
	return c.problems, nil
}

// A checker collects problems, each once.
type checker struct{ problems []Problem }

func (c *checker) report(field, format string, args ...any) {
	if p := (Problem{field, fmt.Sprintf(format, args...)}); !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// value checks a value at a place of the document.
func (c *checker) value(n *node, v any, at string) {
	if n.never {
		c.report(at, "nothing may be here")
		return
	}
	if n.target != nil {
		c.value(n.target, v, at)
	}
	if len(n.Type) > 0 && !slices.ContainsFunc(n.Type, func(name string) bool { return isOf(name, v) }) {
		c.report(at, "it is %s and has to be %s", typeOf(v), strings.Join(n.Type, " or "))
	}
	if n.allowed != nil && !slices.ContainsFunc(n.allowed, func(a any) bool { return canonical(a) == canonical(v) }) {
		c.report(at, "it is not %s", words(n.allowed, "or"))
	}
	switch v := v.(type) {
	case json.Number:
		c.number(n, v, at)
	case string:
		c.text(n, v, at)
	case []any:
		c.array(n, v, at)
	case map[string]any:
		c.object(n, v, at)
	}
	c.branch(n, v, at)
}

// branch checks a value against the keyword "then" if the value fits the keyword "if", and
// otherwise against "else".
func (c *checker) branch(n *node, v any, at string) {
	if n.If == nil {
		return
	}
	var probe checker
	probe.value(n.If, v, at)
	next := n.Then
	if len(probe.problems) > 0 {
		next = n.Else
	}
	if next != nil {
		c.value(next, v, at)
	}
}

func (c *checker) number(n *node, v json.Number, at string) {
	if n.Minimum != nil && compare(v, *n.Minimum) < 0 {
		c.report(at, "it is %v and has to be at least %v", v, *n.Minimum)
	}
	if n.Maximum != nil && compare(v, *n.Maximum) > 0 {
		c.report(at, "it is %v and has to be at most %v", v, *n.Maximum)
	}
}

func (c *checker) text(n *node, v, at string) {
	if size := utf8.RuneCountInString(v); n.MinLength != nil && size < *n.MinLength {
		c.report(at, "it has %d characters and has to have at least %d", size, *n.MinLength)
	}
	if n.matching != nil && !n.matching.MatchString(v) {
		c.report(at, "it does not match %s", n.Pattern)
	}
}

func (c *checker) array(n *node, v []any, at string) {
	if n.MinItems != nil && len(v) < *n.MinItems {
		c.report(at, "it has %d items and has to have at least %d", len(v), *n.MinItems)
	}
	first := make(map[string]int)
	for i, item := range v {
		if n.UniqueItems {
			key := canonical(item)
			if j, seen := first[key]; seen {
				c.report(at, "items %d and %d are equal", j, i)
			} else {
				first[key] = i
			}
		}
		if n.Items != nil {
			c.value(n.Items, item, fmt.Sprintf("%s/%d", at, i))
		}
	}
}

func (c *checker) object(n *node, v map[string]any, at string) {
	if n.MinProperties != nil && len(v) < *n.MinProperties {
		c.report(at, "it has %d fields and has to have at least %d", len(v), *n.MinProperties)
	}
	var missing, more []any
	for _, name := range n.Required {
		if _, ok := v[name]; !ok {
			missing = append(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field := at + "/" + escape(name)
		if n.PropertyNames != nil {
			c.name(n.PropertyNames, name, field)
		}
		property, known := n.Properties[name]
		switch {
		case known:
			c.value(property, v[name], field)
		case n.AdditionalProperties == nil:
		case n.AdditionalProperties.never:
			more = append(more, name)
		default:
			c.value(n.AdditionalProperties, v[name], field)
		}
	}
	if len(missing) > 0 {
		c.report(at, "it does not have %s", words(missing, "and"))
	}
	if len(more) > 0 {
		c.report(at, "it may not have %s", words(more, "and"))
	}
}

// name checks the name of a field.
func (c *checker) name(n *node, name, field string) {
	var names checker
	names.value(n, name, field)
	for _, p := range names.problems {
		c.report(field, "the name %q: %s", name, p.Text)
	}
}

// escape returns a name in the form for a JSON Pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// words lists values in a text, such as "1, 2 or 3". The word before the last value, here "or", is
// the argument last.
func words(values []any, last string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = canonical(v)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " " + last + " " + list[n-1]
	}
	return strings.Join(list, "")
}
