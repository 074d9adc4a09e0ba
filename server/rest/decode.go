package rest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A reader reads the values of a body.
type reader struct {
	*rawjson.Reader
	data     []byte
	elements int // number of elements of all lists read so far
}

// maxElements is the largest number of elements that all lists of one body may have together. A
// body of many tiny elements would otherwise take many times its size in memory.
const maxElements = 200_000

// A decode reads the next JSON value from r into the variable v.
type decode func(r *reader, v reflect.Value) error

// decoders makes the decode function of each type once. It is used while routes are registered,
// and panics at a type that no request may have.
//
// The functions are stricter than encoding/json: a key must be spelled exactly, occur once and
// have a field; a required field must be present; null is accepted only for lists, bytes and
// pointers; a number for an integer must be whole; and texts must be valid Unicode.
type decoders map[reflect.Type]decode

// of returns the decode function of a type.
func (ds decoders) of(t reflect.Type) decode {
	if d := ds[t]; d != nil {
		return d
	}
	var d decode
	ds[t] = func(r *reader, v reflect.Value) error { return d(r, v) } // for recursive types
	d = ds.make(t)
	ds[t] = d
	return d
}

func (ds decoders) make(t reflect.Type) decode {
	switch p := reflect.PointerTo(t); {
	case t.Kind() == reflect.Pointer:
		return ds.pointer(t)
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return decodeCustom
	}
	switch t.Kind() { //nolint:exhaustive // a request has no others
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Float64:
		return decodeFloat
	case reflect.String:
		return decodeString
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return decodeBytes
		}
		return ds.slice(t)
	case reflect.Array:
		return decodeText(t)
	case reflect.Struct:
		return ds.object(t)
	}
	panic(fmt.Sprintf("rest: no request may have a %v", t))
}

// document decodes a whole body into the struct v.
func document(d decode, data []byte, v reflect.Value) error {
	r := &reader{Reader: rawjson.NewReader(data), data: data}
	if err := d(r, v); err != nil {
		return err
	}
	return r.End()
}

// wrong returns an error which says that the next value must be of the kind that want describes,
// such as "a string". If the next value is not valid JSON, the error says that instead.
func (r *reader) wrong(want string) error {
	at := r.Offset()
	if _, err := r.Skip(); err != nil {
		return err
	}
	return r.Fail(at, "is not %s", want)
}

// text reads a string that is valid Unicode.
func (r *reader) text() (string, error) {
	if r.Kind() != rawjson.String {
		return "", r.wrong("a string")
	}
	at := r.Offset()
	s, err := r.String()
	if err == nil && r.Lossy() {
		return "", r.Fail(at+invalidByte(r.data[at:]), "is not valid Unicode")
	}
	return s, err
}

// raw reads a value of any kind whose text is valid UTF-8.
func (r *reader) raw() ([]byte, error) {
	span, err := r.Skip()
	if err != nil {
		return nil, err
	}
	if data := span.Of(r.data); !utf8.Valid(data) {
		return nil, r.Fail(span.Start+invalidByte(data), "is not valid Unicode")
	}
	return span.Of(r.data), nil
}

// invalidByte returns the index of the first byte of data that is not valid UTF-8. If all of data
// is valid, it returns 0.
func invalidByte(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return 0
}

func decodeBool(r *reader, v reflect.Value) error {
	kind := r.Kind()
	if kind != rawjson.True && kind != rawjson.False {
		return r.wrong("true or false")
	}
	if _, err := r.Skip(); err != nil {
		return err
	}
	v.SetBool(kind == rawjson.True)
	return nil
}

// number reads a number and returns its offset and its text.
func (r *reader) number() (at int, text string, err error) {
	if r.Kind() != rawjson.Number {
		return 0, "", r.wrong("a number")
	}
	span, err := r.Skip()
	return span.Start, string(span.Of(r.data)), err
}

func decodeInt(r *reader, v reflect.Value) error {
	at, text, err := r.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil {
		return r.Fail(at, "is not a whole number, or too large a one")
	}
	v.SetInt(n)
	return nil
}

func decodeFloat(r *reader, v reflect.Value) error {
	at, text, err := r.number()
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return r.Fail(at, "is too large a number")
	}
	v.SetFloat(f)
	return nil
}

func decodeString(r *reader, v reflect.Value) error {
	s, err := r.text()
	if err != nil {
		return err
	}
	v.SetString(s)
	return nil
}

// decodeBytes reads bytes in base64.
func decodeBytes(r *reader, v reflect.Value) error {
	if r.Kind() == rawjson.Null {
		_, err := r.Skip()
		return err
	}
	at := r.Offset()
	s, err := r.text()
	if err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return r.Fail(at, "is not base64")
	}
	v.SetBytes(b)
	return nil
}

// decodeText returns the decode function of t, an array of bytes with a method UnmarshalText, such
// as a digest.
func decodeText(t reflect.Type) decode {
	type unmarshaler interface{ UnmarshalText(text []byte) error }
	if !reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]()) {
		panic(fmt.Sprintf("rest: no request may have a %v", t))
	}
	return func(r *reader, v reflect.Value) error {
		at := r.Offset()
		s, err := r.text()
		if err != nil {
			return err
		}
		if err := v.Addr().Interface().(unmarshaler).UnmarshalText([]byte(s)); err != nil {
			return r.Fail(at, "is not a valid value: copy it from a result")
		}
		return nil
	}
}

// decodeCustom reads a value whose type is a json.Unmarshaler.
func decodeCustom(r *reader, v reflect.Value) error {
	at := r.Offset()
	raw, err := r.raw()
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw); err != nil {
		return r.Fail(at, "is no %s", strings.ToLower(v.Type().Name()))
	}
	return nil
}

func (ds decoders) pointer(t reflect.Type) decode {
	elem := ds.of(t.Elem())
	return func(r *reader, v reflect.Value) error {
		if r.Kind() == rawjson.Null {
			_, err := r.Skip()
			return err
		}
		v.Set(reflect.New(t.Elem()))
		return elem(r, v.Elem())
	}
}

func (ds decoders) slice(t reflect.Type) decode {
	elem := ds.of(t.Elem())
	return func(r *reader, v reflect.Value) error {
		switch r.Kind() { //nolint:exhaustive // all others are wrong
		case rawjson.Null:
			_, err := r.Skip()
			return err
		case rawjson.Array:
		default:
			return r.wrong("a list")
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		return r.Array(func(i int) error {
			if r.elements++; r.elements > maxElements {
				return r.Fail(r.Offset(), "is one element too many: a request has %d at most", maxElements)
			}
			v.Grow(1)
			v.SetLen(i + 1)
			return elem(r, v.Index(i))
		})
	}
}

func (ds decoders) object(t reflect.Type) decode { return ds.fields(fieldsOf(t)) }

// fields returns the decode function of an object with these fields.
func (ds decoders) fields(fields []field) decode {
	ways := make([]decode, len(fields))
	at := make(map[string]int, len(fields))
	for i, f := range fields {
		ways[i] = ds.of(f.typ)
		at[f.name] = i
	}
	return func(r *reader, v reflect.Value) error {
		if r.Kind() != rawjson.Object {
			return r.wrong("an object")
		}
		begin, seen := r.Offset(), make([]bool, len(fields))
		err := r.Object(func(key string) error {
			i, ok := at[key]
			if !ok {
				return unknown(r, key, fields)
			}
			seen[i] = true
			return ways[i](r, v.FieldByIndex(fields[i].index))
		})
		if err != nil {
			return err
		}
		for i, f := range fields {
			if !seen[i] && !f.optional {
				return r.Fail(begin, "lacks %q", f.name)
			}
		}
		return nil
	}
}

// unknown returns the error about a key that is the name of no field. If the key differs from a
// name only in case, the error has a hint with that name.
func unknown(r *reader, key string, fields []field) error {
	e := r.Fail(r.KeyOffset(), "is not a field of this request")
	for _, f := range fields {
		if strings.EqualFold(f.name, key) {
			e.Hint = fmt.Sprintf("write %q", f.name)
		}
	}
	return e
}
