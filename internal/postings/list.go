// Package postings is a compact index from words to the documents that have them, with the
// number of occurrences.
//
// # Format
//
// A [List] has the postings of one word, ascending by document, in blocks of [BlockSize]
// postings. A posting is the distance to the document before it, times two, plus one if the
// count is 1; any other count follows. Both are variable-length numbers, so that a posting of
// a frequent word takes a byte or two. The header of a block has its last document, its
// largest count and the smallest length of its documents: a search that knows the scores of
// the best results so far skips a block that cannot have a better one, without decoding it.
//
// A [Segment] has the lists of all words of some documents in the form for a disk: pages of
// about [PageSize] bytes, to which words are assigned by their hash, and the lengths of the
// documents. Looking up a word reads one page, however large the segment is. Segments never
// change: new documents go to a new segment, and [Index.Join] merges several into one without
// removed documents (O'Neil et al., "The Log-Structured Merge-Tree", 1996).
//
// # Cost
//
// Adding a posting takes a few nanoseconds, reading one about two. Memory is the bytes of the
// lists plus about 100 bytes for each distinct word. A merge is linear in the bytes that it
// reads.
//
// The blocks follow Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes",
// SIGIR 2011.
package postings

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// BlockSize is the number of postings in every block of a list except the last.
const BlockSize = 128

// errMalformed means that bytes are not a list or a page in the format of this package.
var errMalformed = errors.New("malformed postings")

// A List has the postings of a word. The zero value is empty. Several goroutines may read a
// list at once while none appends to it.
type List struct {
	data []byte // the full blocks, each after its header, then the payload of the open block
	open block  // the last block, which is not full and has no header in data; N is 0 if there is none
	from int    // offset in data of the payload of the open block
	n    int    // number of postings
}

// A block has consecutive postings of a list.
type block struct {
	First     uint32 // a lower bound of the documents
	Last      uint32 // the last document
	N         int    // number of postings, at most BlockSize
	MostCount uint32 // the largest count
	MinLength uint32 // the smallest length of a document
	payload   []byte
}

// Len returns the number of postings of the list.
func (l *List) Len() int { return l.n }

// add adds the posting of the document doc, whose number must be above all earlier ones. count is
// how often the word occurs in the document, and length is the document's number of words.
func (l *List) add(doc, count, length uint32) {
	b := &l.open
	if b.N == BlockSize {
		l.seal()
	}
	from := b.Last + 1
	if b.N == 0 {
		if l.n == 0 {
			from = 0
		}
		*b = block{First: from, MinLength: math.MaxUint32}
		l.from = len(l.data)
	}
	gap := uint64(doc-from) << 1
	if count == 1 {
		l.data = binary.AppendUvarint(l.data, gap|1)
	} else {
		l.data = binary.AppendUvarint(l.data, gap)
		l.data = binary.AppendUvarint(l.data, uint64(count))
	}
	b.Last, b.N, l.n = doc, b.N+1, l.n+1
	b.MostCount, b.MinLength = max(b.MostCount, count), min(b.MinLength, length)
}

// seal puts the header of the open block before its payload.
func (l *List) seal() {
	var head [5 * binary.MaxVarintLen32]byte
	h := l.open.header(head[:0], len(l.data)-l.from)
	l.data = append(l.data, h...)
	copy(l.data[l.from+len(h):], l.data[l.from:len(l.data)-len(h)])
	copy(l.data[l.from:], h)
	l.open.N = 0
}

// header appends the header of a block. The argument payload is the length of the block's payload
// in bytes.
func (b *block) header(to []byte, payload int) []byte {
	to = append(to, byte(b.N-1))
	to = binary.AppendUvarint(to, uint64(b.Last-b.First))
	to = binary.AppendUvarint(to, uint64(b.MostCount))
	to = binary.AppendUvarint(to, uint64(b.MinLength))
	return binary.AppendUvarint(to, uint64(payload)) //nolint:gosec // it is a length
}

// appendTo appends the encoding of the list, which parse reads.
func (l *List) appendTo(to []byte) []byte {
	if l.open.N == 0 {
		return append(to, l.data...)
	}
	to = append(to, l.data[:l.from]...)
	to = l.open.header(to, len(l.data)-l.from)
	return append(to, l.data[l.from:]...)
}

// parse decodes a list that appendTo encoded. It fails if data is something else, or if the list
// has a document whose number is equal to most or higher. The list shares memory with data.
func parse(data []byte, most uint32) (List, error) {
	l := List{data: data}
	for c := l.Cursor(); ; {
		if len(c.rest) == 0 {
			return l, nil
		}
		if !c.Next() || c.Last >= most || !c.whole() {
			return List{}, errMalformed
		}
		l.n += c.N
	}
}

// A Cursor iterates over the blocks of a list. [Cursor.Next] moves it to the next block, at
// first to the first one. A cursor has the fields of its current block.
type Cursor struct {
	block

	rest []byte // the following full blocks, with their headers
	open block  // the open block after them, if N is not 0
	from uint64 // a lower bound of the documents in rest
}

// Cursor returns a cursor before the first block. It is valid until the list is appended to.
func (l *List) Cursor() Cursor {
	c := Cursor{rest: l.data}
	if l.open.N > 0 {
		c.rest, c.open = l.data[:l.from], l.open
		c.open.payload = l.data[l.from:]
	}
	return c
}

// Next moves to the next block, and reports whether there is one.
func (c *Cursor) Next() bool {
	if len(c.rest) > 0 {
		return c.header()
	}
	c.block, c.open = c.open, block{}
	return c.N > 0
}

// header reads the header of the next block. It returns false if the header is malformed.
func (c *Cursor) header() bool {
	b, at := block{N: int(c.rest[0]) + 1, First: uint32(c.from)}, 1 //nolint:gosec // parse has seen it
	var fields [4]uint64
	for i := range fields {
		v, n := binary.Uvarint(c.rest[at:])
		if n <= 0 || v > math.MaxUint32 {
			return false
		}
		fields[i], at = v, at+n
	}
	last := c.from + fields[0]
	if b.N > BlockSize || last >= math.MaxUint32 || fields[3] > uint64(len(c.rest)-at) {
		return false
	}
	end := at + int(fields[3])
	b.Last, b.MostCount, b.MinLength = uint32(last), uint32(fields[1]), uint32(fields[2])
	b.payload = c.rest[at:end:end]
	c.block, c.rest, c.from = b, c.rest[end:], last+1
	return true
}

// Decode stores the documents of a block and the counts of the word in them, and returns the
// number of postings.
func (b *block) Decode(docs, counts *[BlockSize]uint32) int {
	doc, p, at := b.First, b.payload, 0
	for i := range b.N {
		gap := uint64(p[at])
		at++
		if gap >= 0x80 {
			gap, at = long(p, at-1)
		}
		doc += uint32(gap >> 1) //nolint:gosec // parse has seen it
		count := uint64(1)
		if gap&1 == 0 {
			if count = uint64(p[at]); count < 0x80 {
				at++
			} else {
				count, at = long(p, at)
			}
		}
		docs[i&(BlockSize-1)], counts[i&(BlockSize-1)] = doc, uint32(count) //nolint:gosec // parse has seen it
		doc++
	}
	return b.N
}

// long reads a variable-length number of several bytes at the given offset. The result end is the
// offset behind the number.
func long(p []byte, at int) (v uint64, end int) {
	v, n := binary.Uvarint(p[at:])
	return v, at + n
}

// whole reports whether the payload is well-formed and agrees with the header.
func (b *block) whole() bool {
	doc, p, most := uint64(b.First), b.payload, uint64(0)
	for i := range b.N {
		gap, n := binary.Uvarint(p)
		if n <= 0 || gap>>1 > uint64(b.Last) {
			return false
		}
		p, doc = p[n:], doc+gap>>1
		count := uint64(1)
		if gap&1 == 0 {
			if count, n = binary.Uvarint(p); n <= 0 {
				return false
			}
			p = p[n:]
		}
		most = max(most, count)
		if i < b.N-1 {
			doc++
		}
	}
	return len(p) == 0 && doc == uint64(b.Last) && most == uint64(b.MostCount)
}

// Count returns the number of occurrences of the word in a document.
func (l *List) Count(doc uint32) uint32 {
	var docs, counts [BlockSize]uint32
	for c := l.Cursor(); c.Next(); {
		if c.Last < doc {
			continue
		}
		n := c.Decode(&docs, &counts)
		if i, ok := slices.BinarySearch(docs[:n], doc); ok {
			return counts[i]
		}
		break
	}
	return 0
}
