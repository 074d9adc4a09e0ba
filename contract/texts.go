package contract

import (
	"maps"
	"slices"
)

// A texts is the items of a list, in order. Removing an item takes the same time at any
// position, because it leaves a hole: an empty text, which is never an item.
type texts struct {
	items  []string
	places map[string][]int // positions of each text, ascending
	stems  map[string][]int // positions of the decisions with each stem, with those removed; see [stemOf]
	count  int
}

func newTexts() *texts { return &texts{places: make(map[string][]int), stems: make(map[string][]int)} }

func (t *texts) add(text string) {
	t.places[text] = append(t.places[text], len(t.items))
	if stem, _, ok := stemOf(text); ok {
		t.stems[stem] = append(t.stems[stem], len(t.items))
	}
	t.items = append(t.items, text)
	t.count++
}

// remove removes the first item that equals text. It returns the position of this item, or -1 if
// there is none.
func (t *texts) remove(text string) int {
	at := t.places[text]
	if len(at) == 0 {
		return -1
	}
	t.items[at[0]] = ""
	t.count--
	t.setPlaces(text, at[1:])
	return at[0]
}

func (t *texts) setPlaces(text string, at []int) {
	if t.places[text] = at; len(at) == 0 {
		delete(t.places, text)
	}
}

// A change is an item that was added to a list, or removed from it.
type change struct {
	list *texts
	text string
	at   int // position from which it was removed, or -1 if it was added
}

// undo takes back the last change of its list.
func (c *change) undo() {
	t, at := c.list, c.list.places[c.text]
	if c.at >= 0 {
		t.items[c.at] = c.text
		t.count++
		t.setPlaces(c.text, slices.Insert(at, 0, c.at))
		return
	}
	t.items = t.items[:len(t.items)-1]
	t.count--
	t.setPlaces(c.text, at[:len(at)-1])
	if stem, _, ok := stemOf(c.text); ok {
		t.stems[stem] = t.stems[stem][:len(t.stems[stem])-1]
	}
}

// decisions returns the items with a stem, in order.
func (t *texts) decisions(stem string) []string {
	if t == nil {
		return nil
	}
	var list []string
	for _, at := range t.stems[stem] {
		if text := t.items[at]; text != "" {
			list = append(list, text)
		}
	}
	return list
}

// all returns the items.
func (t *texts) all() []string {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.items), func(text string) bool { return text == "" })
}

// has reports whether a text is an item. A nil texts has none.
func (t *texts) has(text string) bool { return t != nil && len(t.places[text]) > 0 }

func (t *texts) clone() *texts {
	if t == nil {
		return nil
	}
	c := &texts{items: slices.Clone(t.items), places: maps.Clone(t.places), stems: maps.Clone(t.stems), count: t.count}
	for _, m := range [...]map[string][]int{c.places, c.stems} {
		for text, at := range m {
			m[text] = slices.Clone(at)
		}
	}
	return c
}
