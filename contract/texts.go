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
	count  int
}

func newTexts() *texts { return &texts{places: make(map[string][]int)} }

func (t *texts) add(text string) {
	t.places[text] = append(t.places[text], len(t.items))
	t.items = append(t.items, text)
	t.count++
}

// remove removes the first item that equals text and reports whether there was one.
func (t *texts) remove(text string) bool {
	at := t.places[text]
	if len(at) == 0 {
		return false
	}
	t.items[at[0]] = ""
	t.count--
	if len(at) == 1 {
		delete(t.places, text)
	} else {
		t.places[text] = at[1:]
	}
	return true
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
	c := &texts{items: slices.Clone(t.items), places: maps.Clone(t.places), count: t.count}
	for text, at := range c.places {
		c.places[text] = slices.Clone(at)
	}
	return c
}
