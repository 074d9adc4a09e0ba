package limn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// maxPackDepth is the most levels of nesting in the JSON of a pack. No valid pack comes
// near it.
const maxPackDepth = 32

// decodePack decodes JSON like encoding/json, with numbers as json.Number. Unlike that
// package it fails if an object has the same field twice.
func decodePack(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeJSON(d, "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is text after the end of the JSON: remove it", ErrPack)
	}
	return v, nil
}

// notJSON returns the error of a decoder as one about a pack.
func notJSON(err error) error { return fmt.Errorf("%w: it is not JSON: %w", ErrPack, err) }

func decodeJSON(d *json.Decoder, at string, depth int) (any, error) {
	token, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: the JSON ends too early", ErrPack)
	case err != nil:
		return nil, notJSON(err)
	case depth > maxPackDepth:
		return nil, fmt.Errorf("%w: %s nests too deep: at most %d levels are read", ErrPack, at, maxPackDepth)
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(d, at, depth)
	case json.Delim('['):
		return decodeArray(d, at, depth)
	}
	return token, nil
}

func decodeObject(d *json.Decoder, at string, depth int) (any, error) {
	object := make(map[string]any)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name, _ := key.(string)
		field := member(at, name)
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("%w: the field %s occurs twice: remove one", ErrPack, field)
		}
		if object[name], err = decodeJSON(d, field, depth+1); err != nil {
			return nil, err
		}
	}
	return object, endJSON(d)
}

func decodeArray(d *json.Decoder, at string, depth int) (any, error) {
	array := []any{}
	for d.More() {
		v, err := decodeJSON(d, element(at, len(array)), depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	return array, endJSON(d)
}

// endJSON reads the delimiter that closes an object or an array.
func endJSON(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%w: %w", ErrPack, err)
	}
	return nil
}

func member(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func element(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) }

// A packReader reads decoded JSON and keeps its first error.
type packReader struct {
	err error
}

// fail records an error about the field with the path in at, unless an error
// was recorded before.
func (r *packReader) fail(at, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s %s", ErrPack, at, fmt.Sprintf(format, args...))
	}
}

// A packObject is an object in the JSON of a pack, with its path.
type packObject struct {
	r      *packReader
	at     string // path such as "verbs[0].execution"; empty for the pack itself
	fields map[string]any
}

// object returns v as an object. It records an error if v has a field that the
// list known does not contain.
func (r *packReader) object(at string, v any, known ...string) packObject {
	fields, ok := v.(map[string]any)
	if !ok {
		r.fail(at, "is no object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			r.fail(member(at, name), "is not a field that packs have there")
		}
	}
	return packObject{r, at, fields}
}

// has reports whether the object has a field.
func (o packObject) has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

func (o packObject) fail(name, format string, args ...any) {
	o.r.fail(member(o.at, name), format, args...)
}

// text returns a required field that is a non-empty text.
func (o packObject) text(name string) string {
	v, ok := o.fields[name]
	if !ok {
		o.fail(name, "is missing")
	}
	return o.r.text(member(o.at, name), v)
}

// optional returns the non-empty text of a field. If the field is missing, it returns the
// default, which is the argument otherwise.
func (o packObject) optional(name, otherwise string) string {
	if !o.has(name) {
		return otherwise
	}
	return o.text(name)
}

func (r *packReader) text(at string, v any) string {
	s, ok := v.(string)
	switch {
	case !ok:
		r.fail(at, "is no text: want a JSON string")
	case strings.TrimSpace(s) == "":
		r.fail(at, "is empty")
	}
	return s
}

// choice returns the text of a field, which must be one of choices. If the
// field is missing, it returns the default, which is the argument otherwise.
func (o packObject) choice(name, otherwise string, choices ...string) string {
	s := o.optional(name, otherwise)
	if !slices.Contains(choices, s) {
		o.fail(name, "is %q, not one of %s", s, strings.Join(choices, ", "))
	}
	return s
}

// array returns an optional field that is an array.
func (o packObject) array(name string) []any {
	v, ok := o.fields[name]
	if !ok {
		return nil
	}
	return o.r.array(member(o.at, name), v)
}

func (r *packReader) array(at string, v any) []any {
	a, ok := v.([]any)
	if !ok {
		r.fail(at, "is no array")
	}
	return a
}

// truth returns a required field that is a boolean.
func (o packObject) truth(name string) bool {
	b, ok := o.fields[name].(bool)
	if !ok {
		o.fail(name, "is neither true nor false")
	}
	return b
}

// whole returns the whole number of a field, which must be from 1 to limit. If the field
// is missing, it returns the default, which is the argument otherwise.
func (o packObject) whole(name string, otherwise, limit int64) int64 {
	v, ok := o.fields[name]
	if !ok {
		return otherwise
	}
	number, _ := v.(json.Number)
	n, err := number.Int64()
	if err != nil || n < 1 || n > limit {
		o.fail(name, "is no whole number from 1 to %d", limit)
		return otherwise
	}
	return n
}
