package postings

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// PageSize is the approximate size of a page in bytes. A page with a word that most
// documents have is larger.
const PageSize = 4 << 10

// maxPages is the most pages of a segment.
const maxPages = 1 << 20

const (
	// mergedAtOnce is the number of segments of similar size that are merged.
	mergedAtOnce = 8

	// levels is the number of size classes of segments that are merged. The classes have the upper
	// bounds 4 KiB, 32 KiB, 256 KiB and 2 MiB. Larger segments are not merged, so that no write
	// waits for a merge of much more than 16 MiB.
	levels = 4
)

// Due returns the index of the first segment to merge: this segment and all later ones should
// become one segment. sizes has the sizes of all segments in bytes, the oldest first. If no merge
// is due, the result is len(sizes). If a store does every merge that is due, it has few segments to
// search, and it writes each posting at most once for each size class.
func Due(sizes []int64) (from int) {
	level := func(i int) int { return (bits.Len64(uint64(sizes[i]/PageSize)) + 2) / 3 } //nolint:gosec // it is a size
	from = len(sizes)
	for of := range levels {
		at, same, run := from, 0, 0
		for at > 0 && level(at-1) <= of {
			at--
			run++
			if level(at) == of {
				same++
			}
		}
		if from < len(sizes) {
			same, run = same+1, run+1 // the result of merging the smaller segments
		}
		if same >= mergedAtOnce || run >= 4*mergedAtOnce {
			from = at
		}
	}
	return from
}

// A Segment is an index in the form for a disk.
type Segment struct {
	IDs     []int64  // ids of the documents, ascending
	Lengths []uint32 // lengths of the documents in words
	Pages   [][]byte // the lists, for [Lookup] and [Words]; the number of pages is a power of 2
}

// Segment returns the index as a segment. The segment shares ids and lengths with the index.
func (x *Index) Segment() *Segment {
	size := 0
	for word, l := range x.lists {
		size += len(word) + len(l.data) + 8
	}
	n := min(maxPages, 1<<bits.Len(uint(max(size, 1)-1)/PageSize)) //nolint:gosec // it is a size
	s := &Segment{IDs: x.ids, Lengths: x.lengths, Pages: make([][]byte, n)}
	var list []byte
	for _, word := range slices.Sorted(maps.Keys(x.lists)) { // so that equal indexes have equal pages
		list = x.lists[word].appendTo(list[:0])
		p := &s.Pages[PageOf(word, n)]
		*p = binary.AppendUvarint(*p, uint64(len(word)))
		*p = append(*p, word...)
		*p = binary.AppendUvarint(*p, uint64(len(list)))
		*p = append(*p, list...)
	}
	return s
}

// Docs returns the encoding of the ids and lengths of the documents, for [ParseDocs].
func (s *Segment) Docs() (docs []byte) {
	at := int64(0)
	for i, id := range s.IDs {
		docs = binary.AppendUvarint(docs, uint64(id-at)) //nolint:gosec // ids ascend
		docs = binary.AppendUvarint(docs, uint64(s.Lengths[i]))
		at = id
	}
	return docs
}

// PageOf returns the index of the page that has the list of a word. It is computed from the 64-bit
// FNV-1a hash of the word. pages is the number of pages, a power of 2.
func PageOf(word string, pages int) int {
	h := uint64(14695981039346656037)
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return int((h ^ h>>32) & uint64(pages-1)) //nolint:gosec // it is below pages
}

// ParseDocs decodes the ids of a segment's documents and their lengths in words, as
// [Segment.Docs] encoded them.
func ParseDocs(data []byte) (ids []int64, lengths []uint32, err error) {
	id := int64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		if n <= 0 || gap > uint64(math.MaxInt64-id) || gap == 0 && len(ids) > 0 { //nolint:gosec // ids are no less than 0
			return nil, nil, errMalformed
		}
		length, k := binary.Uvarint(data[n:])
		if k <= 0 || length == 0 || length > math.MaxUint32 {
			return nil, nil, errMalformed
		}
		id += int64(gap) //nolint:gosec // it is no more than what is left
		ids, lengths, data = append(ids, id), append(lengths, uint32(length)), data[n+k:]
	}
	return ids, lengths, nil
}

// Words calls f for each word of a page with its list. It fails if a list has a document whose
// number is equal to most or higher. The list shares memory with page.
func Words(page []byte, most uint32, f func(word string, l *List) error) error {
	for len(page) > 0 {
		word, list, rest, err := entry(page)
		if err != nil {
			return err
		}
		l, err := parse(list, most)
		if err != nil {
			return err
		}
		if err := f(string(word), &l); err != nil {
			return err
		}
		page = rest
	}
	return nil
}

// Lookup returns the list of a word in a page, or nil if the page does not have the word. It fails
// if the list has a document whose number is equal to most or higher. The list shares memory with
// page.
func Lookup(page []byte, word string, most uint32) (*List, error) {
	for len(page) > 0 {
		have, list, rest, err := entry(page)
		if err != nil {
			return nil, err
		}
		if string(have) == word {
			l, err := parse(list, most)
			return &l, err
		}
		page = rest
	}
	return nil, nil //nolint:nilnil // no document has the word
}

// Collect finds the words of documents in a segment. Its last argument has a map for each document,
// by the id of the document. Collect adds the words and their counts to these maps. The other
// arguments are the pages of the segment and the results of [ParseDocs]. It fails if the words of
// such a document do not add up to its length.
func Collect(pages [][]byte, ids []int64, lengths []uint32, of map[int64]map[string]uint32) error {
	var docs, counts [BlockSize]uint32
	left := slices.Clone(lengths)
	for _, page := range pages {
		err := Words(page, uint32(len(ids)), func(word string, l *List) error { //nolint:gosec // places are such numbers
			for b := l.Cursor(); b.Next(); {
				for i := range b.Decode(&docs, &counts) {
					if words := of[ids[docs[i]]]; words != nil {
						words[word] = counts[i]
						left[docs[i]] -= counts[i]
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, n := range left {
		if of[ids[i]] != nil && n != 0 {
			return errMalformed
		}
	}
	return nil
}

// Lost reports whether one of the given maps is still empty. Then [Collect] has found the document
// of that map in no segment.
func Lost(of map[int64]map[string]uint32) bool {
	for _, words := range of {
		if len(words) == 0 {
			return true
		}
	}
	return false
}

// entry returns the first word of a page, its list, and the rest of the page.
func entry(page []byte) (word, list, rest []byte, err error) {
	if word, page, err = field(page); err == nil {
		list, rest, err = field(page)
	}
	return word, list, rest, err
}

func field(data []byte) (value, rest []byte, err error) {
	n, at := binary.Uvarint(data)
	if at <= 0 || n > uint64(len(data)-at) {
		return nil, nil, errMalformed
	}
	end := at + int(n) //nolint:gosec // it is within the data
	return data[at:end:end], data[end:], nil
}

// Join adds the documents of a segment after all others. ids and lengths are the results of
// [ParseDocs]. Documents whose length the caller has set to 0 are left out.
func (x *Index) Join(pages [][]byte, ids []int64, lengths []uint32) error {
	places := make([]uint32, len(ids)) // by the place in the segment
	for i, length := range lengths {
		if length > 0 {
			places[i] = x.place(ids[i], length)
		}
	}
	var docs, counts [BlockSize]uint32
	for _, page := range pages {
		err := Words(page, uint32(len(ids)), func(word string, l *List) error { //nolint:gosec // places are such numbers
			var to *List
			for c := l.Cursor(); c.Next(); {
				for i := range c.Decode(&docs, &counts) {
					at := docs[i]
					if to == nil && lengths[at] > 0 {
						to = x.list(word)
					}
					if lengths[at] > 0 {
						to.add(places[at], counts[i], lengths[at])
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
