package out

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/itchyny/gojq"
)

// A document is a result as JSON.
type document struct {
	name  string // "sessions" makes the schema "carrel.sessions.v1"; "" for the format of another program
	value any    // encoded as an object
	list  string // key of the entries, if the document is a list
}

// Result prints a result. If a flag asks for JSON, it prints value as JSON; otherwise it prints the
// text that the function text writes. The name is part of the schema; it is "" for the format of
// another program.
func (o *Out) Result(name string, value any, text func(p *Page)) error {
	return o.print(document{name: name, value: value}, text)
}

// List prints a result that is a list. The argument list is the key under which value has the
// entries; the other keys describe the whole list.
func (o *Out) List(name string, value any, list string, text func(p *Page)) error {
	return o.print(document{name, value, list}, text)
}

func (o *Out) print(d document, text func(p *Page)) error {
	if o.JSON == "" {
		p := o.newPage()
		text(p)
		o.endProgress()
		_, err := Unguarded(o.terminal.Stdout).Write(p.buf.Bytes())
		return err
	}
	doc, err := o.document(d)
	if o.Wrote && KindOf(err) == KindUsage { // a command that fails has changed nothing, so this one must not fail
		fmt.Fprintf(o.terminal.Stderr, "carrel: %s; the command was carried out, and its whole result is printed\n", Visible(err.Error()))
		whole := *o
		whole.JSON, whole.JQ, whole.Template = AllFields, "", ""
		doc, err = whole.document(d)
	}
	if err != nil {
		return err
	}
	_, err = o.terminal.Stdout.Write(doc)
	return err
}

// document returns a result as JSON.
func (o *Out) document(d document) ([]byte, error) {
	raw, err := JSONText(d.value, false)
	if err != nil {
		return nil, err
	}
	keys, values, err := members(raw)
	if err != nil {
		return nil, err
	}
	if d.name != "" {
		keys = append([]string{"schema"}, keys...)
		values["schema"] = json.RawMessage(`"carrel.` + d.name + `.v1"`)
	}
	if o.JSON != AllFields {
		if keys, err = o.choose(d, values); err != nil {
			return nil, err
		}
	}
	switch {
	case o.JQ != "" || o.Template != "":
		return o.Filter(object(keys, values))
	case o.NDJSON && d.list != "":
		var entries []json.RawMessage
		if err := json.Unmarshal(values[d.list], &entries); err != nil {
			return nil, err
		}
		var out []byte
		for _, e := range entries {
			out = append(append(out, e...), '\n')
		}
		return out, nil
	}
	out := object(keys, values)
	if o.terminal.StdoutTerminal && !o.NDJSON {
		var b bytes.Buffer
		if err := json.Indent(&b, out, "", "  "); err != nil {
			return nil, err
		}
		out = b.Bytes()
	}
	return append(out, '\n'), nil
}

// Filter applies --jq or --template to a document. Without these flags it returns the document.
func (o *Out) Filter(doc []byte) ([]byte, error) {
	switch {
	case o.JQ != "":
		return query(o.JQ, doc)
	case o.Template != "":
		return fill(o.Template, doc)
	}
	return doc, nil
}

// choose returns the keys that --json names. If the document is a list, they are keys of its
// entries. A missing key is null.
func (o *Out) choose(d document, values map[string]json.RawMessage) ([]string, error) {
	fields := strings.Split(o.JSON, ",")
	known := fieldsOf(reflect.ValueOf(d.value), d.list)
	for _, f := range fields {
		if !slices.Contains(known, f) {
			return nil, Usagef("--json: no field %q; there are %s", f, strings.Join(known, ", "))
		}
	}
	if d.list == "" {
		if d.name != "" {
			fields = append([]string{"schema"}, fields...)
		}
		return fields, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(values[d.list], &entries); err != nil {
		return nil, err
	}
	for i, e := range entries {
		_, all, err := members(e)
		if err != nil {
			return nil, err
		}
		entries[i] = object(fields, all)
	}
	list, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	values[d.list] = list
	return []string{"schema", d.list}, nil
}

// fieldsOf returns the sorted keys of an object. If list is not "", it returns those of the entries
// of the object's list.
func fieldsOf(v reflect.Value, list string) []string {
	v = reflect.Indirect(v)
	t := v.Type()
	if list == "" && t.Kind() == reflect.Map {
		var names []string
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
		return names
	}
	if list != "" && t.Kind() == reflect.Map {
		t = v.MapIndex(reflect.ValueOf(list)).Elem().Type().Elem()
	} else if list != "" {
		for f := range fieldsIn(t) {
			if keyOf(f) == list && f.Type.Kind() == reflect.Slice {
				t = f.Type.Elem()
				break
			}
		}
	}
	var names []string
	for f := range fieldsIn(t) {
		if key := keyOf(f); key != "-" {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fieldsIn yields the fields of a struct that encoding/json uses.
func fieldsIn(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() && !f.Anonymous && !yield(f) {
				return
			}
		}
	}
}

func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(key, f.Name)
}

// members returns the keys of an object in order, and their values.
func members(raw []byte) ([]string, map[string]json.RawMessage, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	var keys []string
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, fmt.Sprint(t))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, nil, err
		}
	}
	return keys, values, nil
}

// object returns an object with the given keys, null where there is no value.
func object(keys []string, values map[string]json.RawMessage) []byte {
	out := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), k...), '"', ':')
		if values[k] == nil {
			out = append(out, "null"...)
		}
		out = append(out, values[k]...)
	}
	return append(out, '}')
}

// JSONText encodes v as JSON with a line end, without escapes for HTML.
func JSONText(v any, indent bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	err := enc.Encode(v)
	return b.Bytes(), err
}

// ParseQuery parses a jq expression.
func ParseQuery(expression string) (*gojq.Query, error) {
	q, err := gojq.Parse(expression)
	if bad, ok := errors.AsType[*gojq.ParseError](err); ok && bad.Token == "" {
		return nil, Usagef("--jq: %q is not complete: its end is missing", expression)
	}
	if err != nil {
		return nil, Usagef("--jq: %w", err)
	}
	return q, nil
}

// query applies a jq expression to a document. It prints each result on a line: strings raw,
// other values as JSON.
func query(expression string, doc []byte) ([]byte, error) {
	q, err := ParseQuery(expression)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, err
	}
	var out []byte
	for it := q.Run(v); ; {
		got, ok := it.Next()
		if !ok {
			return out, nil
		}
		switch got := got.(type) {
		case error:
			return nil, Usagef("--jq: %w", got)
		case string:
			out = append(out, got...)
		default:
			text, err := gojq.Marshal(got)
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
		}
		out = append(out, '\n')
	}
}

// ParseTemplate parses a template.
func ParseTemplate(text string) (*template.Template, error) {
	t, err := template.New("").Parse(text)
	if err != nil {
		return nil, Usagef("--template: %w", tidy(err))
	}
	return t, nil
}

// tidy returns an error with the text of err, but without "template: :" at its beginning. Package
// template writes the name of a template there, and the template of the user has none.
func tidy(err error) error {
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), ":"))
}

// fill executes a template on a document. It adds a line end if there is output without one.
func fill(text string, doc []byte) ([]byte, error) {
	t, err := ParseTemplate(text)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, numbers(v)); err != nil {
		return nil, Usagef("--template: %w", tidy(err))
	}
	if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// numbers converts the numbers in a value for templates: whole numbers become integers.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}
