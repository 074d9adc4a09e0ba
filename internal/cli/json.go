package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// A document is a result for programs to read.
type document struct {
	name  string // "sessions" makes it "carrel.sessions.v1"
	value any    // encoded as an object
	list  string // key of the list that the document is, if it is one
}

// print prints a result: as JSON if asked for, and otherwise as the text that
// the function writes.
func (g *globals) print(d document, text func(p *page)) error {
	var out []byte
	if g.json != "" {
		var err error
		if out, err = g.document(d); err != nil {
			return err
		}
	} else {
		p := g.newPage()
		text(p)
		out = p.buf.Bytes()
	}
	_, err := g.env.Stdout.Write(out)
	return err
}

// document returns a result as JSON.
func (g *globals) document(d document) ([]byte, error) {
	raw, err := jsonText(d.value, false)
	if err != nil {
		return nil, err
	}
	keys, values, err := members(raw)
	if err != nil {
		return nil, err
	}
	keys = append([]string{"schema"}, keys...)
	values["schema"] = json.RawMessage(`"carrel.` + d.name + `.v1"`)
	if g.json != allFields {
		if keys, err = g.choose(d, keys, values); err != nil {
			return nil, err
		}
	}
	switch {
	case g.jq != "":
		return query(g.jq, object(keys, values))
	case g.ndjson && d.list != "":
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
	if g.env.StdoutTerminal && !g.ndjson {
		var b bytes.Buffer
		if err := json.Indent(&b, out, "", "  "); err != nil {
			return nil, err
		}
		out = b.Bytes()
	}
	return append(out, '\n'), nil
}

// choose returns the keys that --json names. In a list they are those of its
// entries.
func (g *globals) choose(d document, keys []string, values map[string]json.RawMessage) ([]string, error) {
	fields := strings.Split(g.json, ",")
	var known []string
	if d.list == "" {
		known = keys
	} else {
		var entries []json.RawMessage
		if err := json.Unmarshal(values[d.list], &entries); err != nil {
			return nil, err
		}
		seen := make(map[string]bool)
		for i, e := range entries {
			names, all, err := members(e)
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				seen[n] = true
			}
			entries[i] = object(slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return all[f] == nil }), all)
		}
		if len(entries) == 0 {
			return keys, nil
		}
		known = slices.Sorted(maps.Keys(seen))
		values[d.list], _ = json.Marshal(entries) //nolint:errchkjson,errcheck // made of valid parts
	}
	for _, f := range fields {
		if !slices.Contains(known, f) {
			return nil, usagef("--json: no field %q; there are %s", f, strings.Join(known, ", "))
		}
	}
	if d.list != "" {
		return []string{"schema", d.list}, nil
	}
	return append([]string{"schema"}, slices.DeleteFunc(fields, func(f string) bool { return f == "schema" })...), nil
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

// object returns an object with the given keys.
func object(keys []string, values map[string]json.RawMessage) []byte {
	out := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), k...), '"', ':')
		out = append(out, values[k]...)
	}
	return append(out, '}')
}

// jsonText returns v as JSON with a line end, without escapes for HTML.
func jsonText(v any, indent bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	err := enc.Encode(v)
	return b.Bytes(), err
}

// query returns what a jq expression makes of a document: texts as they are,
// everything else as JSON, a line each.
func query(expression string, doc []byte) ([]byte, error) {
	q, err := gojq.Parse(expression)
	if err != nil {
		return nil, usagef("--jq: %w", err)
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
			return nil, usagef("--jq: %w", got)
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
