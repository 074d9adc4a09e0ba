package limn

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// A kind is the type of a [Value] in the language.
type kind string

// The kinds of values. The zero Value has none.
const (
	kindNone   kind = ""
	kindNumber kind = "number"
	kindText   kind = "string"
	kindDate   kind = "date"
	kindRecord kind = "record"
	kindList   kind = "list"
)

// errValue is wrapped by errors about Go or JSON values that the language cannot represent.
var errValue = errors.New("not a value of the language")

// A Value is a number, a text, a date, a record of those, or a list of one
// kind. A Value never changes; the machine changes only its own copies. A
// program can display it with String and compare it with Equal. The zero Value
// is no value.
type Value struct {
	// v is an int64, a *big.Int beyond those, a float64, a string, a day, a
	// *record or a *list. Only a list may be changed.
	v any
}

// A day is a date, counted from 1970-01-01.
type day int

// The dates with a four-digit year.
const (
	firstDay day = -719162 // 0001-01-01
	lastDay  day = 2932896 // 9999-12-31
)

// A record is a list of named scalars, in the order of the source text.
type record struct {
	name    string // the first name of the record, for messages; or empty
	entries []entry
}

// An entry is a field of a record.
type entry struct {
	Name  string
	Value Value
}

// Int returns a whole number.
func Int(n int64) Value { return Value{n} }

// float returns a number. It does not check that the number is finite, which a
// value must be; the machine checks the numbers that it computes.
func float(f float64) Value { return Value{f} }

// String returns the value of type text with the content s.
func String(s string) Value { return Value{s} }

// dateOf returns a date that is written as yyyy-mm-dd.
func dateOf(text string) (Value, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %q is no date", errValue, text)
	}
	d := day(t.Unix() / secondsPerDay)
	if d < firstDay {
		return Value{}, fmt.Errorf("%w: %q is before the year 1", errValue, text)
	}
	return Value{d}, nil
}

const secondsPerDay = 24 * 60 * 60

// maxFields is the most fields of a record.
const maxFields = 256

// recordOf returns a record. It fails if there are more than 256 fields, if two
// fields have the same name, or if the value of a field is not a scalar.
func recordOf(entries ...entry) (Value, error) {
	if len(entries) > maxFields {
		return Value{}, fmt.Errorf("%w: a record of %d fields, and at most %d are allowed", errValue, len(entries), maxFields)
	}
	for i, e := range entries {
		if !e.Value.scalar() {
			return Value{}, fmt.Errorf("%w: field %q of a record holds a %s, and must hold a number, a text or a date", errValue, e.Name, e.Value.kindOf())
		}
		for _, before := range entries[:i] {
			if before.Name == e.Name {
				return Value{}, fmt.Errorf("%w: two fields of a record are called %q", errValue, e.Name)
			}
		}
	}
	return Value{&record{entries: slices.Clone(entries)}}, nil
}

// listOf returns a list. It fails if the items are of different kinds, or if an
// item is a list.
func listOf(items ...Value) (Value, error) {
	for _, item := range items {
		switch {
		case item.kindOf() == kindNone || item.kindOf() == kindList:
			return Value{}, fmt.Errorf("%w: an item of a list is a list", errValue)
		case item.kindOf() != items[0].kindOf():
			return Value{}, fmt.Errorf("%w: a list has both a %s and a %s", errValue, items[0].kindOf(), item.kindOf())
		}
	}
	return Value{newList(slices.Clone(items))}, nil
}

// kindOf returns the kind of v.
func (v Value) kindOf() kind {
	switch v.v.(type) {
	case int64, *big.Int, float64:
		return kindNumber
	case string:
		return kindText
	case day:
		return kindDate
	case *record:
		return kindRecord
	case *list:
		return kindList
	}
	return kindNone
}

// category returns the kind of the items of a list, and [kindNone] for an empty list and for
// other values.
func (v Value) category() kind {
	l, ok := v.v.(*list)
	if !ok {
		return kindNone
	}
	return l.kind
}

// typeName returns the kind of v, for lists with the kind of the items, as in
// "list_of_strings". An empty list counts as a list of numbers.
func (v Value) typeName() string {
	if v.kindOf() != kindList {
		return string(v.kindOf())
	}
	return "list_of_" + string(cmp.Or(v.category(), kindNumber)) + "s"
}

// text returns v as a text, and whether it is a text.
func (v Value) text() (string, bool) {
	s, ok := v.v.(string)
	return s, ok
}

// len returns the number of items of a list, or of fields of a record.
func (v Value) len() int {
	switch v := v.v.(type) {
	case *list:
		return v.len()
	case *record:
		return len(v.entries)
	}
	return 0
}

// items returns the items of a list.
func (v Value) items() []Value {
	l, ok := v.v.(*list)
	if !ok {
		return nil
	}
	return slices.Collect(l.all())
}

// allEntries returns the fields of a record, in order.
func (v Value) allEntries() []entry { return slices.Clone(v.entries()) }

// entries returns the fields of a record. The caller must not change them.
func (v Value) entries() []entry {
	r, ok := v.v.(*record)
	if !ok {
		return nil
	}
	return r.entries
}

// field returns a field of a record.
func (v Value) field(name string) (Value, bool) {
	r, ok := v.v.(*record)
	if !ok {
		return Value{}, false
	}
	for i := range r.entries {
		if r.entries[i].Name == name {
			return r.entries[i].Value, true
		}
	}
	return Value{}, false
}

// extent estimates the number of scalars in v.
func (v Value) extent() int {
	switch v := v.v.(type) {
	case *list:
		return v.extent()
	case *record:
		return 1 + len(v.entries)
	}
	return 1
}

// effort estimates the number of steps to read all of v.
func (v Value) effort() int { return v.extent() + v.width()/256 }

// width estimates the size of v in bytes when it is displayed. It counts a long number as
// larger than its digits, because the time to format a long number grows faster than its
// length.
func (v Value) width() int {
	n := 0
	switch x := v.v.(type) {
	case string:
		n = len(x)
	case *record:
		for _, e := range x.entries {
			n += len(e.Name) + e.Value.width()
		}
	case *list:
		for item := range x.all() {
			n += item.width()
		}
	default:
		n = v.digits() * (1 + v.digits()/600)
	}
	return n
}

// with returns a copy of the record v with a field set. A new field becomes the last.
func (v Value) with(name string, field Value) Value {
	entries := v.allEntries()
	for i := range entries {
		if entries[i].Name == name {
			entries[i].Value = field
			return Value{&record{entries: entries}}
		}
	}
	return Value{&record{entries: append(entries, entry{name, field})}}
}

// scalar reports whether v is neither a record nor a list.
func (v Value) scalar() bool {
	switch v.kindOf() {
	case kindNumber, kindText, kindDate:
		return true
	case kindNone, kindRecord, kindList:
	}
	return false
}

// copy returns a value that does not change when v does.
func (v Value) copy() Value {
	if l, ok := v.v.(*list); ok {
		return Value{l.clone()}
	}
	return v
}

// Equal reports whether two values are equal. A whole number equals a
// fraction of the same size, and no number equals a text. Records are equal
// if they have equal fields in any order; lists if their items are pairwise
// equal.
func (v Value) Equal(w Value) bool {
	switch a := v.v.(type) {
	case string:
		b, ok := w.v.(string)
		return ok && a == b
	case day:
		b, ok := w.v.(day)
		return ok && a == b
	case *record:
		b, ok := w.v.(*record)
		return ok && a.equal(b)
	case *list:
		b, ok := w.v.(*list)
		return ok && a.equal(b)
	case nil:
		return w.v == nil
	}
	return w.kindOf() == kindNumber && compareNumbers(v, w) == 0
}

func (r *record) equal(s *record) bool {
	if len(r.entries) != len(s.entries) {
		return false
	}
	for i, e := range r.entries {
		if s.entries[i].Name == e.Name {
			if !e.Value.Equal(s.entries[i].Value) {
				return false
			}
			continue
		}
		if other, ok := (Value{s}).field(e.Name); !ok || !e.Value.Equal(other) {
			return false
		}
	}
	return true
}

// order compares two numbers or two dates.
func (v Value) order(w Value) int {
	if a, ok := v.v.(day); ok {
		b, _ := w.v.(day)
		return cmp.Compare(a, b)
	}
	return compareNumbers(v, w)
}

// String returns v as the language displays it. A list of records has one
// record on each line; other lists are on one line.
func (v Value) String() string {
	switch x := v.v.(type) {
	case string:
		return x
	case day:
		return x.String()
	case *record:
		return x.String()
	case *list:
		return joinValues(slices.Collect(x.all()))
	case nil:
		return ""
	}
	return formatNumber(v)
}

func (d day) String() string {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Format(time.DateOnly)
}

func (r *record) String() string {
	var b strings.Builder
	for i, e := range r.entries {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Name)
		b.WriteString(": ")
		b.WriteString(e.Value.String())
	}
	return b.String()
}

// joinValues shows the items of a list.
func joinValues(items []Value) string {
	separator := ", "
	if len(items) > 0 && items[0].kindOf() == kindRecord {
		separator = "\n"
	}
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(item.String())
	}
	return b.String()
}
