package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
)

// mark puts a text into everything that can hold one.
func mark(v reflect.Value, depth int) {
	const text = "canary"
	switch v.Kind() { //nolint:exhaustive // nothing else holds a text
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			mark(v.Elem(), depth-1)
		}
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes([]byte(`"canary"`))
		case depth > 0:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			mark(v.Index(0), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if depth > 0 && v.Type().Key().Kind() == reflect.String {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			mark(key, depth-1)
			mark(value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Type.String() != "time.Time" {
				mark(f, depth)
			}
		}
	}
}

// texts returns where in a document there are texts that are not empty.
func texts(v any, at string) (paths []string) {
	switch v := v.(type) {
	case string:
		if v != "" && v != "0001-01-01T00:00:00Z" {
			paths = append(paths, at)
		}
	case []any:
		for _, e := range v {
			paths = append(paths, texts(e, at)...)
		}
	case map[string]any:
		for name, e := range v {
			if name == "canary" {
				name = "*"
			}
			paths = append(paths, texts(e, strings.TrimPrefix(at+"."+name, "."))...)
		}
	}
	return paths
}

// left returns which texts of a result are kept.
func left[T any](t *testing.T, bare func(*T)) []string {
	t.Helper()
	r := new(T)
	mark(reflect.ValueOf(r).Elem(), 6)
	if bare != nil {
		bare(r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	paths := texts(v, "")
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Of a result nothing is kept but ids, and words that are this program's or name a
// format. A field that is new and has a text fails this until somebody says which it is.
func TestNothingKeptHasContent(t *testing.T) {
	removal, ofSession := left[carrel.RemovalResult](t, nil), left[carrel.SessionRemoval](t, nil)
	kept := map[string][]string{
		"import": left(t, bareImport), "append": left(t, bareImport), "compress": left(t, bareCompress), "discard": left(t, bareDiscard),
		"page": left[carrel.PageResult](t, nil), "pin": left[carrel.PinResult](t, nil), "undo": left[carrel.UndoResult](t, nil), "mark": left[carrel.MarkResult](t, nil),
		"amend-contract": left(t, bareContract), "accept": left(t, bareAccept), "put": left(t, barePut), "pin-artifact": left(t, bareArtifact),
		"remove-session": ofSession, "restore-session": ofSession, "purge-session": ofSession,
		"remove": removal, "restore": removal, "refute": removal, "purge": removal, "collect-stash": removal,
		"stash": left(t, bareStash), "assemble": left(t, bareAssemble), "commit": left(t, bareCommit), "decide": left(t, bareArtifact),
	}
	want := map[string]string{
		"import": "encoding format op session", "append": "encoding format op session",
		"compress": "op provider session strategy summary.id summary.model",
		"discard":  "discarded.block discarded.class discarded.kind discarded.reason discarded.short_id message op provider session",
		"page":     "blocks.block blocks.kind blocks.short_id op provider session",
		"pin":      "blocks changed ops session", "undo": "kind op session undone", "mark": "op session",
		"amend-contract": "op session", "accept": "op session",
		"put": "items.id next", "pin-artifact": "id", "decide": "id", "stash": "id",
		"commit":   "artifact.id manifest outcome reasons",
		"assemble": "encoding format losses.what manifest seal semantic tier used.form used.id used.tag",
	}
	for _, o := range ops.Operations() {
		if !o.Writes() {
			continue
		}
		expected, ok := want[o.Name]
		switch {
		case ok:
		case strings.HasSuffix(o.Name, "-session"):
			expected = "derived heirs manifests memories op session status"
		default:
			expected = "artifacts manifests"
		}
		if got := fmt.Sprint(kept[o.Name]); got != "["+expected+"]" {
			t.Errorf("%s keeps %s, want [%s]", o.Name, got, expected)
		}
		delete(kept, o.Name)
	}
	if len(kept) > 0 {
		t.Errorf("no operations, or none that write: %v", kept)
	}
}
