package limn

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sure returns a value that was made without an error.
func sure(t *testing.T) func(Value, error) Value {
	return func(v Value, err error) Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestValuesAreShownAsTheLanguageShowsThem(t *testing.T) {
	must := sure(t)
	rec := must(recordOf(entry{"total", Int(75)}, entry{"status", String("in progress")}))
	for _, tt := range []struct {
		name string
		v    Value
		want string
	}{
		{"a whole number", Int(-7), "-7"},
		{"a fraction", float(2.5), "2.5"},
		{"a whole fraction has no point", float(3), "3"},
		{"a large whole fraction has all its digits", float(1e21), "1000000000000000000000"},
		{"a minus zero has no minus", float(math.Copysign(0, -1)), "0"},
		{"a small fraction", float(0.0001), "0.0001"},
		{"a tiny fraction has an exponent", float(0.00001), "1e-05"},
		{"a text is bare", String("Hello, World"), "Hello, World"},
		{"a date", must(dateOf("0001-01-01")), "0001-01-01"},
		{"a record", rec, "total: 75, status: in progress"},
		{"a list on one line", must(listOf(String("x"), String("y"))), "x, y"},
		{"a list of records on many", must(listOf(rec, rec)), "total: 75, status: in progress\ntotal: 75, status: in progress"},
		{"an empty list", must(listOf()), ""},
		{"no value", Value{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.v.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestValuesAreEqualByWhatTheyAre(t *testing.T) {
	must := sure(t)
	big := must(parseNumber("100000000000000000000"))
	for _, tt := range []struct {
		name string
		v, w Value
		want bool
	}{
		{"a whole number and a fraction of its size", Int(1), float(1), true},
		{"a number and a text", Int(1), String("1"), false},
		{"a date and a text", must(dateOf("2025-07-01")), String("2025-07-01"), false},
		{"large numbers", big, float(1e20), true},
		{"numbers that differ in the last digit", Int(math.MaxInt64), float(math.MaxInt64), false},
		{
			"records whatever the order of fields",
			must(recordOf(entry{"x", Int(1)}, entry{"y", Int(2)})),
			must(recordOf(entry{"y", float(2)}, entry{"x", Int(1)})), true,
		},
		{"records with other fields", must(recordOf(entry{"x", Int(1)})), must(recordOf(entry{"y", Int(1)})), false},
		{"a record with a field more", must(recordOf(entry{"x", Int(1)})), must(recordOf(entry{"x", Int(1)}, entry{"y", Int(1)})), false},
		{"records with another value", must(recordOf(entry{"x", Int(1)}, entry{"y", Int(1)})), must(recordOf(entry{"x", Int(1)}, entry{"y", Int(2)})), false},
		{"records in another order with another value", must(recordOf(entry{"x", Int(1)}, entry{"y", Int(1)})), must(recordOf(entry{"y", Int(2)}, entry{"x", Int(1)})), false},
		{"dates", must(dateOf("2025-07-01")), must(dateOf("2025-07-01")), true},
		{"days that follow one another", must(dateOf("2025-07-01")), must(dateOf("2025-07-02")), false},
		{"texts", String("x"), String("x"), true},
		{"texts of another case", String("x"), String("X"), false},
		{"a list and its only item", must(listOf(Int(1))), Int(1), false},
		{"a record and its only field", must(recordOf(entry{"x", Int(1)})), Int(1), false},
		{"a fraction and a text", float(1.5), String("1.5"), false},
		{"lists", must(listOf(Int(1), Int(2))), must(listOf(Int(1), float(2))), true},
		{"lists in another order", must(listOf(Int(1), Int(2))), must(listOf(Int(2), Int(1))), false},
		{"lists of which one is longer", must(listOf(Int(1))), must(listOf(Int(1), Int(1))), false},
		{"nothing and nothing", Value{}, Value{}, true},
		{"nothing and something", Value{}, Int(0), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.v.Equal(tt.w); got != tt.want {
				t.Errorf("%v equals %v: %t, want %t", tt.v, tt.w, got, tt.want)
			}
			if got := tt.w.Equal(tt.v); got != tt.want {
				t.Errorf("%v equals %v: %t, want %t", tt.w, tt.v, got, tt.want)
			}
		})
	}
}

func TestConstructorsRefuseWhatTheLanguageHasNot(t *testing.T) {
	must := sure(t)
	list := must(listOf(Int(1)))
	many := make([]entry, maxFields+1)
	for i := range many {
		many[i] = entry{Int(int64(i)).String(), Int(1)}
	}
	for _, tt := range []struct {
		name string
		make func() (Value, error)
	}{
		{"a list of different kinds", func() (Value, error) { return listOf(Int(1), String("x")) }},
		{"a list in a list", func() (Value, error) { return listOf(list) }},
		{"nothing in a list", func() (Value, error) { return listOf(Value{}) }},
		{"a list in a record", func() (Value, error) { return recordOf(entry{"x", list}) }},
		{"a field twice", func() (Value, error) { return recordOf(entry{"x", Int(1)}, entry{"x", Int(1)}) }},
		{"too many fields", func() (Value, error) { return recordOf(many...) }},
		{"a day that is none", func() (Value, error) { return dateOf("2025-02-29") }},
		{"the year 0", func() (Value, error) { return dateOf("0000-12-31") }},
		{"no date", func() (Value, error) { return dateOf("tomorrow") }},
		{"true", func() (Value, error) { return FromJSON(true) }},
		{"null", func() (Value, error) { return FromJSON(nil) }},
		{"null in a list", func() (Value, error) { return FromJSON([]any{nil}) }},
		{"null in an object", func() (Value, error) { return FromJSON(map[string]any{"x": nil}) }},
		{"a number that is none", func() (Value, error) { return FromJSON(json.Number("1e")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v, err := tt.make(); !errors.Is(err, errValue) {
				t.Errorf("got %v and %v, want an error", v, err)
			}
		})
	}
	if v, err := recordOf(many[:maxFields]...); err != nil || v.len() != maxFields {
		t.Errorf("%d fields: %v", maxFields, err)
	}
	if v, err := FromJSON(math.Inf(1)); !errors.Is(err, errTooLarge) {
		t.Errorf("infinity: got %v and %v, want an error", v, err)
	}
}

func TestJSONBecomesValues(t *testing.T) {
	v, err := FromJSON([]any{map[string]any{"b": "x", "a": 1.5}, map[string]any{"a": json.Number("12"), "n": 3, "m": int64(4)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.String(), "a: 1.5, b: x\na: 12, m: 4, n: 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := v.typeName(), "list_of_records"; got != want {
		t.Errorf("type %q, want %q", got, want)
	}
}

func TestKindsAndParts(t *testing.T) {
	must := sure(t)
	for text, v := range map[string]Value{`100000000000000000000`: must(parseNumber("100000000000000000000")), `"2025-07-01"`: must(dateOf("2025-07-01")), `null`: {}, `[1,0.5]`: must(listOf(Int(1), float(0.5)))} {
		if got, err := json.Marshal(toJSON(v)); string(got) != text || err != nil {
			t.Errorf("%v in metadata is %s, %v, want %s", v, got, err, text)
		}
	}
	rec := must(recordOf(entry{"x", Int(1)}))
	list := must(listOf(String("x")))
	type parts struct {
		Kind, Category kind
		Type           string
		Len            int
	}
	for _, tt := range []struct {
		v    Value
		want parts
	}{
		{Int(1), parts{kindNumber, kindNone, "number", 0}},
		{float(1), parts{kindNumber, kindNone, "number", 0}},
		{String("x"), parts{kindText, kindNone, "string", 0}},
		{must(dateOf("2025-07-01")), parts{kindDate, kindNone, "date", 0}},
		{rec, parts{kindRecord, kindNone, "record", 1}},
		{list, parts{kindList, kindText, "list_of_strings", 1}},
		{must(listOf()), parts{kindList, kindNone, "list_of_numbers", 0}},
		{Value{}, parts{}},
	} {
		got := parts{tt.v.kindOf(), tt.v.category(), tt.v.typeName(), tt.v.len()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", tt.v, diff)
		}
	}
	if _, ok := rec.field("y"); ok {
		t.Error("a record has a field that it has not")
	}
	if f, ok := rec.field("x"); !ok || !f.Equal(Int(1)) {
		t.Errorf("field x is %v, %t", f, ok)
	}
	if got := rec.with("x", Int(2)).with("y", Int(3)).String(); got != "x: 2, y: 3" || rec.String() != "x: 1" {
		t.Errorf("got %q from %q", got, rec)
	}
	if got := list.items(); len(got) != 1 || !got[0].Equal(String("x")) {
		t.Errorf("items %v", got)
	}
	if s, ok := Int(1).text(); ok {
		t.Errorf("a number is the text %q", s)
	}
	if rec.items() != nil || list.allEntries() != nil {
		t.Error("a record has items, or a list has fields")
	}
}

// TestListsBehaveLikeSlices compares a list, with its index and its holes, with a
// plain slice.
func TestListsBehaveLikeSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newList(nil)
		var model []Value
		texts := rapid.Bool().Draw(t, "texts")
		item := func() Value {
			n := rapid.Int64Range(0, 40).Draw(t, "item")
			switch {
			case texts:
				return String(Int(n).String())
			case n%3 == 0:
				return float(float64(n))
			}
			return Int(n)
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			v := item()
			at := firstEqual(model, v)
			if got := l.find(v); (got >= 0) != (at >= 0) {
				t.Fatalf("find %v: %d in the list, %d in the slice", v, got, at)
			}
			if rapid.IntRange(0, 2).Draw(t, "add") > 0 {
				l.add(v)
				model = append(model, v)
				continue
			}
			if got := l.remove(v); got != (at >= 0) {
				t.Fatalf("remove %v: %t", v, got)
			}
			if at >= 0 {
				model = append(model[:at:at], model[at+1:]...)
			}
		}
		if got, want := joinValues((Value{l}).items()), joinValues(model); got != want || l.len() != len(model) {
			t.Fatalf("got %d items %s, want %d items %s", l.len(), got, len(model), want)
		}
	})
}

func firstEqual(items []Value, v Value) int {
	for i, item := range items {
		if item.Equal(v) {
			return i
		}
	}
	return -1
}

func TestIndexKnowsLargeNumbers(t *testing.T) {
	must := sure(t)
	l := newList(nil)
	for i := range int64(2 * indexedLength) {
		l.add(Int(i))
	}
	l.add(must(parseNumber("100000000000000000000")))
	l.add(float(1e300))
	l.add(float(0.5))
	l.add(float(-1e300))
	l.add(must(parseNumber("-100000000000000000000")))
	l.add(float(1 << 53))
	l.add(float(-1 << 53))
	for _, v := range []Value{float(1e20), float(1e300), float(0.5), float(7), float(-1e20), float(-1e300), Int(1 << 53), Int(-1 << 53)} {
		if l.find(v) < 0 {
			t.Errorf("%v is not found", v)
		}
	}
	for _, v := range []Value{float(-0.5), float(-7), float(-1e21), Int(1<<53 + 1), Int(-1<<53 - 1), String("7")} {
		if l.find(v) >= 0 {
			t.Errorf("%v is found", v)
		}
	}
	if l.find(float(1e21)) >= 0 || l.find(float(7.5)) >= 0 {
		t.Error("something is found that is not there")
	}
}

// Records are found in a list of any length, by what they are.
func TestRecordsAreFound(t *testing.T) {
	must := sure(t)
	l := newList(nil)
	for i := range int64(2 * indexedLength) {
		l.add(must(recordOf(entry{"x", Int(i)})))
	}
	for i, want := range map[int64]int{0: 0, 2*indexedLength - 1: 2*indexedLength - 1, -1: -1} {
		if got := l.find(must(recordOf(entry{"x", Int(i)}))); got != want {
			t.Errorf("the record of %d is at %d, want %d", i, got, want)
		}
	}
}

// A list is cut only if it has more items than are shown.
func TestListsAreCut(t *testing.T) {
	for n, want := range map[int]int{maxShown: maxShown, maxShown + 1: 2*shownEnds + 1} {
		items := make([]Value, n)
		for i := range items {
			items[i] = Int(int64(i))
		}
		got := shown(items, Value.String)
		if len(got) != want || got[len(got)-1] != Int(int64(n-1)).String() || (got[shownEnds] == "...") != (n > maxShown) {
			t.Errorf("%d items are shown as %q", n, got)
		}
	}
}

// A value is as wide as its text; a large number is wider than its digits, as it takes longer
// to write.
func TestWidth(t *testing.T) {
	bits := func(n uint) Value { return Value{new(big.Int).Lsh(big.NewInt(1), n-1)} }
	for _, tt := range []struct {
		name string
		v    Value
		want int
	}{
		{"a text", Value{"lamp"}, 4}, {"a record", Value{&record{entries: []entry{{"dim", Value{"lamp"}}, {"x", Value{"on"}}}}}, 10}, {"a number", Int(12345), 1}, {"599 digits", bits(1797), 599}, {"600 digits", bits(1800), 1200}, {"1200 digits", bits(3600), 3600},
	} {
		if got := tt.v.width(); got != tt.want {
			t.Errorf("%s: a width of %d, want %d", tt.name, got, tt.want)
		}
	}
}
