package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

// A message is an encoded request without its header.
type message struct {
	op    *ops.Operation
	scope string
	key   string // idempotency key of a write
	path  string // with the query
	body  []byte // nil if there is none
	kind  string // media type of the body
}

// newMessage encodes a request. Fields that are named in the operation's path
// become part of the path; the others go into the query or the body.
func newMessage(op *ops.Operation, req any) (*message, error) {
	fields := fieldsOf(reflect.ValueOf(req).Elem())
	path, rest, err := expand(op.Path, fields)
	if err != nil {
		return nil, err
	}
	m := &message{op: op, path: path, kind: "application/json"}
	if at := slices.IndexFunc(rest, func(f field) bool { return f.name == op.Raw }); at >= 0 {
		m.body, m.kind = rest[at].value.Bytes(), "application/octet-stream"
		rest = slices.Delete(rest, at, at+1)
	}
	if op.Method == http.MethodGet || op.Raw != "" {
		query, err := queryOf(rest)
		if query != "" {
			m.path += "?" + query
		}
		return m, err
	}
	m.body, err = bodyOf(rest)
	return m, err
}

// A field is a field of a request with its JSON name.
type field struct {
	name  string
	value reflect.Value
	omit  bool // JSON leaves the field out: omitempty and it is empty, or omitzero and it is zero
}

// fieldsOf returns the fields of a struct in order.
func fieldsOf(v reflect.Value) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue // promoted fields are listed themselves
		}
		name = cmp.Or(name, f.Name)
		value := v.FieldByIndex(f.Index)
		omit := strings.Contains(opts, "omitempty") && isEmpty(value) || strings.Contains(opts, "omitzero") && value.IsZero()
		fields = append(fields, field{name, value, omit})
	}
	return fields
}

// isEmpty reports whether omitempty omits a value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // structs are never empty
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// expand replaces each name in braces in a path by the value of the field with
// that name. It also returns the other fields.
func expand(path string, fields []field) (string, []field, error) {
	var rest []field
	for _, f := range fields {
		at := "{" + f.name + "}"
		if !strings.Contains(path, at) {
			rest = append(rest, f)
			continue
		}
		text, err := plain(f.value)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if text == "" {
			return "", nil, fmt.Errorf("%w: the request must name the %s", api.ErrRequest, f.name)
		}
		path = strings.ReplaceAll(path, at, segment(text))
	}
	return path, rest, nil
}

// segment escapes a text as a path segment. "." and ".." are escaped because
// they would change the path.
func segment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// queryOf encodes fields as a query; a list repeats its key.
func queryOf(fields []field) (string, error) {
	q := make(url.Values)
	for _, f := range fields {
		if f.omit {
			continue
		}
		values := []reflect.Value{f.value}
		if f.value.Kind() == reflect.Slice {
			values = values[:0]
			for i := range f.value.Len() {
				values = append(values, f.value.Index(i))
			}
		}
		for _, v := range values {
			text, err := plain(v)
			if err != nil {
				return "", fmt.Errorf("%s: %w", f.name, err)
			}
			q.Add(f.name, text)
		}
	}
	return q.Encode(), nil
}

// plain returns the text of a scalar.
func plain(v reflect.Value) (string, error) {
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		return t.UTC().Format(time.RFC3339Nano), nil
	}
	switch v.Kind() { //nolint:exhaustive // the table has only texts, numbers and booleans
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	default:
		return "", fmt.Errorf("internal error, please report it: a value of type %v cannot be in a path or a query", v.Type()) // not reached
	}
}

// bodyOf encodes fields as a JSON object. It copies raw JSON byte for byte,
// which encoding/json would compact.
func bodyOf(fields []field) ([]byte, error) {
	b := bytes.NewBufferString("{")
	for _, f := range fields {
		if f.omit {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(f.name) + ":")
		if err := writeValue(b, f.value); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", api.ErrRequest, f.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeValue(b *bytes.Buffer, v reflect.Value) error {
	switch x := v.Interface().(type) {
	case json.RawMessage:
		return writeRaw(b, x)
	case []json.RawMessage:
		b.WriteByte('[')
		for i, raw := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeRaw(b, raw); err != nil {
				return fmt.Errorf("entry %d %w", i+1, err)
			}
		}
		b.WriteByte(']')
		return nil
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		v = reflect.MakeSlice(v.Type(), 0, 0) // a nil list is sent as [], not null
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the final line feed
	return nil
}

func writeRaw(b *bytes.Buffer, raw json.RawMessage) error {
	if !json.Valid(raw) {
		return errNoJSON
	}
	b.Write(raw)
	return nil
}
