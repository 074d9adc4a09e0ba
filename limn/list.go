package limn

import (
	"iter"
	"slices"
)

// A list holds values of one kind. In an indexed list, removing an item leaves a hole, so the
// cost does not depend on the position. When more than half of the list is holes, the list
// is copied without them.
type list struct {
	kind  kind    // of all items; KindNone if there are none
	items []Value // the zero Value is a hole
	holes int
	index *index // index of the items; nil for short lists and lists of records
}

// indexedLength is the least number of items for which a list gets an index.
const indexedLength = 32

// newList returns the list of items. It keeps the slice.
func newList(items []Value) *list {
	l := &list{items: items}
	if len(items) > 0 {
		l.kind = items[0].kindOf()
	}
	return l
}

func (l *list) len() int { return len(l.items) - l.holes }

func (l *list) clone() *list {
	items := make([]Value, 0, l.len())
	for item := range l.all() {
		items = append(items, item)
	}
	return newList(items)
}

// all yields the items in order.
func (l *list) all() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, item := range l.items {
			if item.v != nil && !yield(item) {
				return
			}
		}
	}
}

func (l *list) equal(m *list) bool {
	if l.len() != m.len() {
		return false
	}
	next, stop := iter.Pull(m.all())
	defer stop()
	for item := range l.all() {
		if other, _ := next(); !item.Equal(other) {
			return false
		}
	}
	return true
}

// add appends an item.
func (l *list) add(item Value) {
	l.kind = item.kindOf()
	l.items = append(l.items, item)
	if l.index != nil {
		l.index.add(item, len(l.items)-1)
	}
}

// find returns the position of the first item that equals v, or -1.
func (l *list) find(v Value) int {
	if v.kindOf() != l.kind {
		return -1
	}
	if l.index == nil && len(l.items) >= indexedLength && l.kind != kindRecord {
		l.index = newIndex(l.items)
	}
	if l.index != nil {
		return l.index.first(v)
	}
	return slices.IndexFunc(l.items, v.Equal)
}

// searchSteps estimates the number of steps of find.
func (l *list) searchSteps(v Value) int {
	if l.index != nil {
		return v.effort()
	}
	return v.effort() + 4*(Value{l}).effort()
}

// extent estimates the number of scalars in the list.
func (l *list) extent() int {
	if l.kind == kindRecord {
		return 1 + l.items[0].len()*len(l.items)
	}
	return 1 + len(l.items)
}

// remove removes the first item that equals v and reports whether there was one.
func (l *list) remove(v Value) bool {
	at := l.find(v)
	if at < 0 {
		return false
	}
	if l.index == nil {
		l.items = slices.Delete(l.items, at, at+1)
	} else {
		l.index.removeFirst(v)
		l.items[at] = Value{}
		l.holes++
		if l.holes > len(l.items)/2 {
			*l = *l.clone()
		}
	}
	if l.len() == 0 {
		*l = list{}
	}
	return true
}
