package jsonschema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// typeOf returns the type of a value, with an article.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		if isInteger(v) {
			return "an integer"
		}
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// isOf reports whether a value is of a type.
func isOf(name string, v any) bool {
	is := typeOf(v)
	return strings.HasSuffix(is, name) || name == "number" && is == "an integer"
}

// far is the largest number of digits of an exponent with which numbers are compared exactly. If
// the exponent has more digits, the number is only taken for very large or very small, because
// writing it out could take any amount of memory.
const far = 4

// exact returns the value of a number, or nil if its exponent is too large.
func exact(n json.Number) *big.Rat {
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 && len(n)-i-1 > far {
		return nil
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil
	}
	return r
}

func isInteger(n json.Number) bool {
	if r := exact(n); r != nil {
		return r.IsInt()
	}
	f, err := n.Float64()
	return err != nil || f != 0 // a very large number is whole, a very small one is not
}

// compare compares two numbers.
func compare(a, b json.Number) int {
	x, y := exact(a), exact(b)
	if x != nil && y != nil {
		return x.Cmp(y)
	}
	f, _ := strconv.ParseFloat(a.String(), 64)
	g, _ := strconv.ParseFloat(b.String(), 64)
	return big.NewFloat(f).Cmp(big.NewFloat(g))
}

// canonical returns a text that is the same for equal values, and different for other values.
// Values are equal whatever the order of their fields and the spelling of their numbers.
func canonical(v any) string {
	switch v := v.(type) {
	case json.Number:
		if r := exact(v); r != nil {
			return r.RatString()
		}
		return v.String()
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			list[i] = canonical(item)
		}
		return "[" + strings.Join(list, ",") + "]"
	case map[string]any:
		list := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, strconv.Quote(name)+":"+canonical(v[name]))
		}
		return "{" + strings.Join(list, ",") + "}"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}
