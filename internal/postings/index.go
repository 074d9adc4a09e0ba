package postings

import (
	"iter"
	"slices"
)

// An Index has the postings of all words of some documents, in memory. A document has an
// id, and is added behind those with smaller ids. The zero value is empty. It may be read
// by several goroutines at once while nobody changes it.
type Index struct {
	lists   map[string]*List
	ids     []int64  // of the documents, ascending; lists have their places here
	lengths []uint32 // of the documents; 0: it is gone
	words   uint64   // the sum of the lengths
	gone    []uint32 // places of documents that are gone, ascending
}

// Counts returns how often each word occurs.
func Counts(words iter.Seq[string]) map[string]uint32 {
	counts := make(map[string]uint32)
	for w := range words {
		counts[w]++
	}
	return counts
}

// Add adds a document behind all others, with how often it has its words. One without
// words is no document: nothing finds it, and no average counts it.
func (x *Index) Add(id int64, counts map[string]uint32) {
	length := uint32(0)
	for _, n := range counts {
		length += n
	}
	if length == 0 {
		return
	}
	place := x.place(id, length)
	for word, n := range counts { // in any order: each has a list of its own
		x.list(word).add(place, n, length)
	}
}

// place makes a place for a document.
func (x *Index) place(id int64, length uint32) uint32 {
	x.ids, x.lengths = append(x.ids, id), append(x.lengths, length)
	x.words += uint64(length)
	return uint32(len(x.ids) - 1) //nolint:gosec // places are such numbers
}

func (x *Index) list(word string) *List {
	l := x.lists[word]
	if l == nil {
		if x.lists == nil {
			x.lists = make(map[string]*List)
		}
		l = new(List)
		x.lists[word] = l
	}
	return l
}

// Remove takes a document out: it is in no result from then on, and no figure counts it.
// Its postings stay in the lists until there are many such documents.
func (x *Index) Remove(id int64) {
	i, ok := slices.BinarySearch(x.ids, id)
	if !ok || x.lengths[i] == 0 {
		return
	}
	x.words -= uint64(x.lengths[i])
	x.lengths[i] = 0
	place := uint32(i) //nolint:gosec // places are such numbers
	at, _ := slices.BinarySearch(x.gone, place)
	x.gone = slices.Insert(x.gone, at, place)
	if len(x.gone) > goneAtMost+len(x.ids)/16 {
		x.sweep()
	}
}

// goneAtMost is how many documents may be gone of a few, before their postings are.
const goneAtMost = 64

// sweep takes the postings of documents that are gone out of the lists.
func (x *Index) sweep() {
	if len(x.gone) == 0 {
		return
	}
	var swept Index
	places := swept.take(x.ids, x.lengths)
	for word, l := range x.lists {
		swept.join(word, l, places, x.lengths)
	}
	*x = swept
}

// take makes places for the documents of another index that are not gone, and returns
// the place here for each place there.
func (x *Index) take(ids []int64, lengths []uint32) (places []uint32) {
	places = make([]uint32, len(ids))
	for i, length := range lengths {
		if length > 0 {
			places[i] = x.place(ids[i], length)
		}
	}
	return places
}

// join appends the postings of a list of another index to that of a word.
func (x *Index) join(word string, l *List, places, lengths []uint32) {
	var docs, counts [BlockSize]uint32
	var to *List
	for c := l.Cursor(); c.Next(); {
		for i := range c.Decode(&docs, &counts) {
			length := lengths[docs[i]]
			if length == 0 {
				continue
			}
			if to == nil {
				to = x.list(word)
			}
			to.add(places[docs[i]], counts[i], length)
		}
	}
}

// View returns what the index has about some words. It is good as long as the index does
// not change.
func (x *Index) View(words []string) View {
	v := View{IDs: x.ids, Lengths: x.lengths, Words: x.words, Gone: x.gone, Lists: make([]*List, len(words))}
	for i, w := range words {
		v.Lists[i] = x.lists[w]
	}
	return v
}

// A View is what is known of some words in some documents of one scope.
type View struct {
	IDs     []int64  // of the documents, ascending; lists have their places here
	Lengths []uint32 // of the documents, in words; 0: it is gone
	Words   uint64   // the sum of the lengths
	Gone    []uint32 // places of documents that are gone, ascending
	Lists   []*List  // of the words asked for, in their order; nil: no document has it
}

// Docs returns how many documents there are.
func (v *View) Docs() int { return len(v.IDs) - len(v.Gone) }

// Having returns how many documents have word i of those asked for.
func (v *View) Having(i int) int {
	l := v.Lists[i]
	if l == nil {
		return 0
	}
	n, gone := l.Len(), v.Gone
	if len(gone) == 0 {
		return n
	}
	var docs, counts [BlockSize]uint32
	for c := l.Cursor(); c.Next() && len(gone) > 0; {
		at, _ := slices.BinarySearch(gone, c.First)
		gone = gone[at:]
		if len(gone) == 0 || gone[0] > c.Last {
			continue
		}
		for _, doc := range docs[:c.Decode(&docs, &counts)] {
			if _, is := slices.BinarySearch(gone, doc); is {
				n--
			}
		}
	}
	return n
}

// NewView returns a view of documents of which some are gone, with room for the lists of
// so many words. It sets the lengths of those that are gone to 0.
func NewView(ids []int64, lengths []uint32, gone func(id int64) bool, words int) View {
	v := View{IDs: ids, Lengths: lengths, Lists: make([]*List, words)}
	for i, id := range ids {
		if gone(id) {
			lengths[i] = 0
			v.Gone = append(v.Gone, uint32(i)) //nolint:gosec // places are such numbers
		}
		v.Words += uint64(lengths[i])
	}
	return v
}
