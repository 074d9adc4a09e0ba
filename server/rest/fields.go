package rest

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// A field is a member of the JSON object of a struct. The members of a struct embedded without a
// JSON name count as the struct's own.
type field struct {
	name     string
	index    []int // see reflect.Value.FieldByIndex
	typ      reflect.Type
	optional bool         // may be absent: the tag has omitempty or omitzero
	owner    reflect.Type // the struct that declares it
	inGo     string       // name of the field in Go
}

// fieldsOf returns the members of a struct by the rules of encoding/json, in the order of the
// source. Of members with the same name, it returns the least deeply embedded one.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for _, f := range collect(t, nil) {
		if at := slices.IndexFunc(list, func(g field) bool { return g.name == f.name }); at < 0 {
			list = append(list, f)
		} else if len(f.index) < len(list[at].index) {
			list[at] = f
		}
	}
	slices.SortStableFunc(list, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return list
}

func collect(t reflect.Type, index []int) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, at := f.Tag.Get("json"), append(slices.Clip(index), i)
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			list = append(list, collect(f.Type, at)...)
		case f.IsExported() && tag != "-":
			list = append(list, field{
				name: cmp.Or(name, f.Name), index: at, typ: f.Type, optional: strings.Contains(options, "omit"),
				owner: t, inGo: f.Name,
			})
		}
	}
	return list
}
