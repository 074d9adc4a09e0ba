package postings

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// PageSize is about how many bytes a page has. One with a word that most documents have
// is larger.
const PageSize = 4 << 10

// maxPages is how many pages of words a segment has at most.
const maxPages = 1 << 20

const (
	// mergedAtOnce is how many segments of about one size become one.
	mergedAtOnce = 8

	// levels is how many sizes of segments there are that are merged: of 4 KiB, and eight
	// times as much each. A larger segment stays, so that no write has to wait for a merge
	// of much more than 16 MiB.
	levels = 4
)

// Due returns from which segment on some should become one, given the sizes of all of them in
// bytes, the oldest first; their number is for none. So a search reads few segments, and each
// word is written once for each size that there is.
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
			same, run = same+1, run+1 // what the smaller ones become
		}
		if same >= mergedAtOnce || run >= 4*mergedAtOnce {
			from = at
		}
	}
	return from
}

// A Segment is an index as it is kept on a disk.
type Segment struct {
	IDs     []int64  // of the documents, ascending
	Lengths []uint32 // of the documents, in words
	Pages   [][]byte // of the words: what [Lookup] and [Words] read; their number is a power of 2
}

// Segment returns the index as a segment. Documents that are gone are not in it. It shares
// ids and lengths with the index.
func (x *Index) Segment() *Segment {
	x.sweep()
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

// Docs returns the documents of the segment as [ParseDocs] reads them.
func (s *Segment) Docs() (docs []byte) {
	at := int64(0)
	for i, id := range s.IDs {
		docs = binary.AppendUvarint(docs, uint64(id-at)) //nolint:gosec // ids ascend
		docs = binary.AppendUvarint(docs, uint64(s.Lengths[i]))
		at = id
	}
	return docs
}

// PageOf returns in which of so many pages a word is: by the 64-bit FNV-1a of it.
func PageOf(word string, pages int) int {
	h := uint64(14695981039346656037)
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return int((h ^ h>>32) & uint64(pages-1)) //nolint:gosec // it is below pages
}

// ParseDocs returns the ids of a segment's documents, and their lengths in words.
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

// Words calls f for each word of a page with its list, whose documents have places below most.
// The list shares the bytes.
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

// Lookup returns the list of a word of a page, or nil. Its documents have places below most. It
// shares the bytes.
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

// entry returns the first word of a page, its list, and what is behind it.
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

// Join takes in the documents of a segment that [ParseDocs] returned, behind all others.
// Those whose length the caller has set to 0 are left out.
func (x *Index) Join(pages [][]byte, ids []int64, lengths []uint32) error {
	places := x.take(ids, lengths)
	for _, page := range pages {
		err := Words(page, uint32(len(ids)), func(word string, l *List) error { //nolint:gosec // places are such numbers
			x.join(word, l, places, lengths)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
