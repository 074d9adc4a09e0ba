// Package postings keeps which documents have a word, and how often, in few bytes.
//
// # The idea
//
// A [List] is the postings of one word, ascending by document. It is cut into blocks of
// [BlockSize] postings. A posting is the distance to the document before it, times two,
// and one more if the count is 1; a count that is not 1 follows. Both are variable-length
// numbers, so that a posting of a frequent word takes a byte or two. Before each block
// stand its last document, its largest count and the smallest length of its documents: a
// search that knows what the best results have so far passes over a block that cannot have
// a better one, without reading it.
//
// A [Segment] is the lists of all words of some documents, for a disk: pages of about
// [PageSize] bytes, of which each has the words of one hash, and the lengths of the
// documents. To look a word up reads one page, however large the segment is. Segments
// never change: what is new is another segment, and [Index.Join] makes one of several, which
// leaves out what is gone (O'Neil et al., "The Log-Structured Merge-Tree", 1996).
//
// # The cost
//
// To add a posting takes a few nanoseconds, to read one about two. Memory is the bytes of
// the lists, and about 100 bytes for each different word. A merge is linear in what it
// reads.
//
// The form of the blocks is that of Ding and Suel, "Faster Top-k Document Retrieval Using
// Block-Max Indexes", SIGIR 2011.
package postings

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// BlockSize is how many postings a block has, but for the last of a list.
const BlockSize = 128

// errMalformed says that bytes are no list, or no page, as this package writes them.
var errMalformed = errors.New("malformed postings")

// A List is the postings of a word. The zero value is empty. It may be read by several
// goroutines at once while nobody appends.
type List struct {
	data []byte // blocks, each behind its header; the payload of the open one comes last
	open block  // not full yet, and without a header in the data; N is 0 if there is none
	from int    // where its payload begins
	n    int    // postings
}

// A block is some postings of a list that follow each other.
type block struct {
	First     uint32 // no document is smaller
	Last      uint32 // the last document
	N         int    // postings, BlockSize at most
	MostCount uint32 // the largest count
	MinLength uint32 // the smallest length of a document
	payload   []byte
}

// Len returns how many postings the list has.
func (l *List) Len() int { return l.n }

// add adds a document that is larger than all before it, with how often it has the
// word, and how many words it has.
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

// header appends what stands before a payload of some bytes.
func (b *block) header(to []byte, payload int) []byte {
	to = append(to, byte(b.N-1))
	to = binary.AppendUvarint(to, uint64(b.Last-b.First))
	to = binary.AppendUvarint(to, uint64(b.MostCount))
	to = binary.AppendUvarint(to, uint64(b.MinLength))
	return binary.AppendUvarint(to, uint64(payload)) //nolint:gosec // it is a length
}

// appendTo appends the list as parse reads it.
func (l *List) appendTo(to []byte) []byte {
	if l.open.N == 0 {
		return append(to, l.data...)
	}
	to = append(to, l.data[:l.from]...)
	to = l.open.header(to, len(l.data)-l.from)
	return append(to, l.data[l.from:]...)
}

// parse returns the list that appendTo wrote. It refuses anything else, and a document
// that is not below most. The list shares the bytes.
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

// A Cursor goes through the blocks of a list. [Cursor.Next] moves it to the first one. It has
// the fields of the block that it is at.
type Cursor struct {
	block

	rest []byte // the blocks that follow, with their headers
	open block  // that follows them, if N is not 0
	from uint64 // no document that follows is smaller
}

// Cursor returns a cursor before the first block. It is good as long as nothing is
// appended to the list.
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

// header reads the header of the next block. It ends the list where it is malformed.
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

// Decode reads the documents of a block, and how often they have the word, and returns
// how many there are.
func (b *block) Decode(docs, counts *[BlockSize]uint32) int {
	doc, p, at := b.First, b.payload, 0
	for i := range b.N {
		if at >= len(p) {
			return i
		}
		gap := uint64(p[at])
		at++
		if gap >= 0x80 {
			gap, at = long(p, at-1)
		}
		doc += uint32(gap >> 1) //nolint:gosec // parse has seen it
		count := uint64(1)
		if gap&1 == 0 {
			if at >= len(p) {
				return i
			}
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

// long reads a number of several bytes, and returns where it ends.
func long(p []byte, at int) (v uint64, end int) {
	v, n := binary.Uvarint(p[at:])
	if n <= 0 {
		return 0, len(p)
	}
	return v, at + n
}

// whole reports whether the payload is what the header says.
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
			if count, n = binary.Uvarint(p); n <= 0 || count > math.MaxUint32 {
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

// Count returns how often a document has the word, 0 if it does not.
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
