package triage

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// groupWords is the number of words of 8 bytes in the encoding of a group.
const groupWords = numPlanes + 1 + noClass + 2

// AppendBinary appends the encoding of the table that [Table.UnmarshalBinary]
// reads: words of 8 bytes, little-endian, about 18 bytes a row. Only the same
// version of the package can read it.
func (t *Table) AppendBinary(b []byte) ([]byte, error) {
	word := binary.LittleEndian.AppendUint64
	b = word(b, uint64(t.rows)) //nolint:gosec // it is a length
	for _, column := range [...][]int64{t.created, t.expires} {
		for _, v := range column {
			b = word(b, uint64(v)) //nolint:gosec // the same bits
		}
	}
	for i := range t.groups {
		g := &t.groups[i]
		for _, v := range g.planes {
			b = word(b, v)
		}
		b = word(b, g.rows)
		for _, v := range g.newest {
			b = word(b, uint64(v)) //nolint:gosec // the same bits
		}
		b = word(word(b, uint64(g.soonest)), uint64(g.latest)) //nolint:gosec // the same bits
	}
	return b, nil
}

var errBinary = errors.New("the data is not a table of this version of package triage: build the table again")

// UnmarshalBinary replaces the table by the one that [Table.AppendBinary]
// encoded. It keeps no reference to data. It checks the size of data, not the
// values.
func (t *Table) UnmarshalBinary(data []byte) error {
	if len(data) < 8 {
		return errBinary
	}
	rows := binary.LittleEndian.Uint64(data)
	groups := (rows + groupSize - 1) / groupSize
	if data = data[8:]; rows > uint64(len(data)) || uint64(len(data)) != groups*8*(2*groupSize+groupWords) {
		return errBinary
	}
	n := int(groups) * groupSize                                                                                     //nolint:gosec // less than the bytes
	*t = Table{rows: int(rows), created: make([]int64, n), expires: make([]int64, n), groups: make([]group, groups)} //nolint:gosec // likewise
	for _, column := range [...][]int64{t.created, t.expires} {
		readWords(column, data)
		data = data[8*len(column):]
	}
	var words [groupWords]int64
	for i := range t.groups {
		g, rest := &t.groups[i], words[:]
		readWords(rest, data)
		data = data[8*groupWords:]
		for p := range g.planes {
			g.planes[p] = uint64(rest[p]) //nolint:gosec // the same bits
		}
		rest = rest[numPlanes:]
		g.rows = uint64(rest[0]) //nolint:gosec // the same bits
		copy(g.newest[:], rest[1:])
		g.soonest, g.latest = rest[1+noClass], rest[2+noClass]
		if bits.OnesCount64(g.rows) != min(groupSize, t.rows-groupSize*i) {
			return errBinary
		}
	}
	return nil
}

// readWords decodes len(to) words from data into to.
func readWords(to []int64, data []byte) {
	data = data[:8*len(to)]
	for i := range to {
		to[i] = int64(binary.LittleEndian.Uint64(data[8*i:])) //nolint:gosec // the same bits
	}
}
