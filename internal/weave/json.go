package weave

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// get returns the value at a path of keys in nested objects, or nil if there is none.
func get(raw []byte, path ...string) []byte {
	for _, key := range path {
		found := []byte(nil)
		for _, m := range members(raw) {
			if m.Key == key {
				found = m.Value.Of(raw)
			}
		}
		raw = found
	}
	return raw
}

// members returns the members of a JSON object, or nil if raw is no object or has a key twice.
func members(raw []byte) []rawjson.Member {
	list, err := rawjson.NewReader(raw).Members()
	if err != nil {
		return nil
	}
	return list
}

// elements returns the elements of a JSON array, or nil if raw is no array.
func elements(raw []byte) (list [][]byte) {
	spans, err := rawjson.NewReader(raw).Elements()
	if err != nil {
		return nil
	}
	for _, s := range spans {
		list = append(list, s.Of(raw))
	}
	return list
}

// said returns the decoded text of a JSON string, or "" if raw is not a JSON
// string.
func said(raw []byte) string {
	s, _ := rawjson.NewReader(raw).String() // "" if it fails
	return s
}

// isObject reports whether raw, a JSON value or nothing, is an object.
func isObject(raw []byte) bool { return bytes.HasPrefix(raw, []byte("{")) }

// number returns the value of a JSON number, or -1 if raw is no integer from 0 on.
func number(raw []byte) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// with sets one member of the JSON object raw: it replaces the value of the member with the given
// key, or adds the member at the end. If value is nil, it removes the member. The whitespace
// between members is lost. If raw is no object, or has a key twice, the result has only the new
// member.
func with(raw []byte, key string, value []byte) []byte {
	out := []byte("{")
	put := func(member []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, member...)
	}
	entry := func() []byte { return slices.Concat(rawjson.AppendString(nil, key), []byte(":"), value) }
	found := false
	for _, m := range members(raw) {
		switch {
		case m.Key != key:
			put(m.Whole.Of(raw))
		case value != nil: // a key comes once
			put(entry())
			fallthrough
		default:
			found = true
		}
	}
	if !found && value != nil {
		put(entry())
	}
	return append(out, '}')
}

func quote(s string) []byte { return rawjson.AppendString(nil, s) }

// list returns a JSON array of values.
func list(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// sum adds the values a and b of a usage. It adds numbers, joins arrays, and adds objects member by
// member. If a or b is missing or null, it returns the other one. If they are of other or different
// types, it returns b.
func sum(a, b []byte) []byte {
	if len(a) == 0 || string(a) == "null" {
		return b
	}
	if len(b) == 0 || string(b) == "null" {
		return a
	}
	if n, m := number(a), number(b); n >= 0 && m >= 0 {
		return strconv.AppendInt(nil, int64(n)+int64(m), 10)
	}
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	switch {
	case errX == nil && errY == nil: // costs, of some gateways
		return strconv.AppendFloat(nil, x+y, 'f', -1, 64)
	case a[0] == '[' && b[0] == '[':
		return list(append(elements(a), elements(b)...))
	case isObject(a) && isObject(b):
		for _, m := range members(b) {
			a = with(a, m.Key, sum(get(a, m.Key), m.Value.Of(b)))
		}
		return a
	}
	return b
}

// withMembers returns the object a with all members of the object b. A member of b replaces
// the member of a that has the same key.
func withMembers(a, b []byte) []byte {
	if a == nil {
		return b
	}
	for _, m := range members(b) {
		a = with(a, m.Key, m.Value.Of(b))
	}
	return a
}
