package bpe

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// A token is the number of a token. It takes no more than tokenBits.
type token = uint32

const (
	tokenBits = 18

	none token = 1<<tokenBits - 1 // no token: no vocabulary has so many
)

// A vocabulary is what the merging needs to know of the tokens of an encoding. It does
// not change once it is made. One of a listing alone has bytes, and merges.
type vocabulary struct {
	listing listing // of one that has nothing but this and bytes; else empty
	bytes   [256]token
	parts   []parts // of each token
	pairs   table   // by the parts of a token: both parts, then the token
	names
}

// parts are the two tokens that one was merged from. Tokens below 256 are single bytes:
// there left is the byte.
type parts struct{ left, right token }

// load makes the tables of a listing.
func load(l listing) (*vocabulary, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	n := l.tokens()
	v := &vocabulary{parts: make([]parts, n), bytes: l.bytes()}
	for b, id := range v.bytes {
		v.parts[id].left = token(b)
	}
	made, from := make([]bool, n), 0
	for left := range token(n) {
		to := l.start(left + 1)
		if to < from || to > n-256 {
			return nil, fmt.Errorf("the pairs of token %d end at %d", left, to)
		}
		before := -1
		for ; from < to; from++ {
			right, id := l.pair(from)
			switch {
			case int(right) <= before:
				return nil, fmt.Errorf("the pairs of token %d are not in order", left)
			case id < 256 || int(id) >= n || max(left, right) >= id || made[id]:
				return nil, fmt.Errorf("tokens %d and %d make %d, which is taken or no token behind them", left, right, id)
			}
			v.parts[id], made[id], before = parts{left, right}, true, int(right)
		}
	}
	if l.start(0) != 0 || from != n-256 {
		return nil, fmt.Errorf("the pairs of all tokens are %d to %d, want 0 to %d", l.start(0), from, n-256)
	}
	var pairs sync.WaitGroup
	pairs.Go(v.indexPairs)
	v.names = newNames(v.parts)
	pairs.Wait()
	return v, nil
}

func (v *vocabulary) indexPairs() {
	v.pairs = newTable(len(v.parts))
	for id := token(256); int(id) < len(v.parts); id++ {
		key := pairKey(v.parts[id].left, v.parts[id].right)
		v.pairs.add(hash(key), key<<tokenBits|uint64(id))
	}
}

func pairKey(left, right token) uint64 { return uint64(left)<<tokenBits | uint64(right) }

// merged returns the token that two adjacent tokens merge to, or none.
func (v *vocabulary) merged(left, right token) token {
	if v.listing != "" {
		return v.listing.merged(left, right)
	}
	key := pairKey(left, right)
	h := hash(key)
	if !v.pairs.may(h) {
		return none
	}
	for i := h >> v.pairs.shift; ; i++ {
		switch slot := v.pairs.slots[i&v.pairs.mask]; {
		case slot == 0:
			return none
		case slot>>tokenBits == key:
			return token(slot) & none
		}
	}
}

// names finds tokens by their bytes.
type names struct {
	text   string   // the bytes of all tokens, in the order of their numbers
	starts []uint32 // where those of each begin, and where the last end
	table  table    // by the bytes of a token: see tagOf
	four   []uint32 // by hash of the first four bytes: a bit for each size that tokens have
	six    []uint32 // by hash of the first six bytes: the same, for sizes of six and more
	large  []int    // sizes of at least manySizes that tokens have, the greatest first
}

const (
	fourBits  = 15
	sixBits   = 16
	manySizes = 31 // this bit stands for all sizes from here on
)

func newNames(all []parts) names {
	n := names{
		starts: make([]uint32, 0, len(all)+1),
		four:   make([]uint32, 1<<fourBits),
		six:    make([]uint32, 1<<sixBits),
		table:  newTable(len(all)),
	}
	var text strings.Builder
	text.Grow(9 * len(all))
	for id, p := range all {
		n.starts = append(n.starts, uint32(text.Len()))
		if id < 256 {
			text.WriteByte(byte(p.left))
			continue
		}
		for _, part := range [...]token{p.left, p.right} {
			text.WriteString(text.String()[n.starts[part]:n.starts[part+1]])
		}
	}
	n.starts = append(n.starts, uint32(text.Len()))
	n.text = text.String()
	large := make(map[int]bool)
	for id := range all {
		start, end := int(n.starts[id]), int(n.starts[id+1])
		tag, h := tagOf(n.text, start, end)
		n.table.add(h, tag<<tokenBits|uint64(id))
		if size := end - start; size >= 4 {
			bit := uint32(1) << min(size, manySizes)
			n.four[fourAt(n.text, start)] |= bit
			if size >= 6 {
				n.six[sixAt(n.text, start)] |= bit
			}
			if size >= manySizes {
				large[size] = true
			}
		}
	}
	for size := range large {
		n.large = append(n.large, size)
	}
	slices.Sort(n.large)
	slices.Reverse(n.large)
	return n
}

func (n *names) name(id token) string { return n.text[n.starts[id]:n.starts[id+1]] }

func (n *names) size(id token) int { return int(n.starts[id+1] - n.starts[id]) }

func fourAt(s string, i int) uint64 {
	b := s[i : i+4]
	return hash(uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24) >> (64 - fourBits)
}

func sixAt(s string, i int) uint64 {
	b := s[i : i+6]
	return hash(uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24|uint64(b[4])<<32|uint64(b[5])<<40) >> (64 - sixBits)
}

// sizes returns a bit for each size of at least four that a token may have with which
// s[i:end] begins. It must have four bytes.
func (n *names) sizes(s string, i, end int) uint32 {
	sizes := n.four[fourAt(s, i)]
	if end-i >= 6 {
		sizes &= n.six[sixAt(s, i)] | (1<<6 - 1)
	}
	return sizes
}

// find returns the token that has the bytes s[i:end], or none.
func (n *names) find(s string, i, end int) token {
	tag, h := tagOf(s, i, end)
	if !n.table.may(h) {
		return none
	}
	for at := h >> (n.table.shift & 63); ; at++ {
		slot := n.table.slots[at&n.table.mask]
		if slot == 0 {
			return none
		}
		if slot>>tokenBits == tag {
			if id := token(slot) & none; end-i <= tagged || n.name(id) == s[i:end] {
				return id
			}
		}
	}
}

// tagged is the size, in bytes, up to which the tag of a name is the name.
const tagged = 5

// tagOf returns what stands above the token in the entry of the name s[i:end], and its hash. A
// short name is its own tag, with its size. Of others, the tag is the hash of their size
// and of their first and last eight bytes.
func tagOf(s string, i, end int) (tag, h uint64) {
	size := uint64(end - i)
	var first, last uint64
	switch {
	case size >= 8:
		first, last = eight(s, i), eight(s, end-8)
	case i+8 <= len(s):
		first = eight(s, i) & (1<<(8*size) - 1)
	default:
		for at := end - 1; at >= i; at-- {
			first = first<<8 | uint64(s[at])
		}
	}
	if size <= tagged {
		tag = first | size<<(8*tagged)
		return tag, hash(tag)
	}
	h = hash(first ^ bits.RotateLeft64(last*0xd6e8feb86659fd93, 32) ^ size<<56)
	h ^= h >> 29
	return h>>tokenBits | 1<<(63-tokenBits), h
}

// A table is a hash table with open addressing, at most four fifths full. A slot holds a whole
// entry, and is 0 where there is none. Most of what is looked for is not there, and the
// table does not fit the caches near the processor: one of sixteen bits for each slot, by hash,
// says so without a look at the slots.
type table struct {
	slots []uint64
	mask  uint64
	shift uint // of a hash
	bits  []uint64
}

func newTable(n int) table {
	size := bits.Len(uint(n + n/4))
	return table{make([]uint64, 1<<size), 1<<size - 1, uint(64 - size), make([]uint64, 16<<size/64)}
}

func (t *table) add(hash, entry uint64) {
	i := hash >> t.shift
	for t.slots[i&t.mask] != 0 {
		i++
	}
	t.slots[i&t.mask] = entry
	bit := hash >> (t.shift - 4)
	t.bits[bit>>6] |= 1 << (bit & 63)
}

// may reports whether the table may have an entry with a hash.
func (t *table) may(hash uint64) bool {
	bit := hash >> ((t.shift - 4) & 63)
	return t.bits[bit>>6]>>(bit&63)&1 != 0
}

// hash spreads a key over 64 bits, of which the upper ones are the best.
func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }
