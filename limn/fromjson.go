package limn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// FromJSON converts a decoded JSON value: a string, a float64, a json.Number, an
// int, an int64, a []any or a map[string]any. Fields of objects are ordered by
// name, and a string is never a date. It fails for null, true, false and nested
// lists.
func FromJSON(v any) (Value, error) {
	switch v := v.(type) {
	case string:
		return String(v), nil
	case int:
		return Int(int64(v)), nil
	case int64:
		return Int(v), nil
	case float64:
		return finite(v)
	case json.Number:
		return parseNumber(v.String())
	case []any:
		return listFromJSON(v)
	case map[string]any:
		return recordFromJSON(v)
	}
	return Value{}, fmt.Errorf("%w: %v", errValue, v)
}

func listFromJSON(list []any) (Value, error) {
	items := make([]Value, len(list))
	for i := range list {
		var err error
		if items[i], err = FromJSON(list[i]); err != nil {
			return Value{}, err
		}
	}
	return listOf(items...)
}

func recordFromJSON(object map[string]any) (Value, error) {
	entries := make([]entry, 0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		v, err := FromJSON(object[name])
		if err != nil {
			return Value{}, err
		}
		entries = append(entries, entry{name, v})
	}
	return recordOf(entries...)
}
