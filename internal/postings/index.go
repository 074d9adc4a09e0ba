package postings

import (
	"iter"
	"slices"
)

// An Index has the postings of all words of some documents, in memory. Documents must be
// added in ascending order of their ids. The zero value is empty. Several goroutines may
// read an index at once while none changes it.
type Index struct {
	lists   map[string]*List
	ids     []int64  // ids of the documents, ascending; the place of a document in lists is its index here
	lengths []uint32 // lengths of the documents in words
	words   uint64   // the sum of the lengths
}

// Counts returns the number of occurrences of each word.
func Counts(words iter.Seq[string]) map[string]uint32 {
	counts := make(map[string]uint32)
	for w := range words {
		counts[w]++
	}
	return counts
}

// Add adds a document after all others. counts has the number of occurrences of each of its
// words. A document without words is not added: no search finds it, no average counts it.
func (x *Index) Add(id int64, counts map[string]uint32) {
	length := uint32(0)
	for _, n := range counts {
		length += n
	}
	if length == 0 {
		return
	}
	place := x.place(id, length)
	for word, n := range counts { // in any order: each word has its own list
		x.list(word).add(place, n, length)
	}
}

// place adds a document that has no postings yet, and returns its place, which is its index in
// x.ids.
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

// View returns the lists of words. The view is valid until the index changes.
func (x *Index) View(words []string) View {
	v := View{IDs: x.ids, Lengths: x.lengths, Words: x.words, Lists: make([]*List, len(words))}
	for i, w := range words {
		v.Lists[i] = x.lists[w]
	}
	return v
}

// A View has the lists of the words of a query in the documents of an index, which are all
// of one scope.
type View struct {
	IDs     []int64  // ids of the documents, ascending; the place of a document in Lists is its index here
	Lengths []uint32 // lengths of the documents in words; 0 for a removed document
	Words   uint64   // the sum of the lengths
	Gone    []uint32 // places of removed documents, ascending
	Lists   []*List  // a list for each word, in the order of the query; nil if no document has the word
}

// Docs returns the number of documents that are not removed.
func (v *View) Docs() int { return len(v.IDs) - len(v.Gone) }

// Having returns the number of documents, without removed ones, that have word i.
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

// NewView returns a view of documents with as many nil lists as the argument words says. The
// function gone reports whether a document is removed; NewView sets the lengths of removed
// documents to 0.
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
