package limn

import "encoding/json"

// toJSON converts a value to the types of encoding/json, for metadata. Numbers stay exact:
// those outside of int64 and float64 become a json.Number.
func toJSON(v Value) any {
	switch x := v.v.(type) {
	case nil:
		return nil
	case int64:
		return x
	case float64:
		return x
	case *record:
		object := make(map[string]any, len(x.entries))
		for _, e := range x.entries {
			object[e.Name] = toJSON(e.Value)
		}
		return object
	case *list:
		array := make([]any, 0, x.len())
		for item := range x.all() {
			array = append(array, toJSON(item))
		}
		return array
	case string:
		return x
	}
	if v.kindOf() == kindNumber {
		return json.Number(v.String())
	}
	return v.String()
}
