package bpe

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// A token is the number of a token. It has at most tokenBits bits.
type token = uint32

const (
	tokenBits = 18

	none token = 1<<tokenBits - 1 // no token; larger than any token's number
)

// A vocabulary holds the tables of an encoding that merging needs. It does not change after
// load. A vocabulary of a listing alone has only the fields listing and bytes, and can merge.
type vocabulary struct {
	listing listing // empty unless the vocabulary has only the fields listing and bytes
	bytes   [256]token
	parts   []parts // of each token
	pairs   table   // key: both parts of a token; value: the token
	names
}

// parts are the two tokens from which a token was merged. Tokens below 256 are single bytes;
// for them, left is the byte.
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
			return nil, fmt.Errorf("listing: the pairs of token %d end at the invalid index %d", left, to)
		}
		before := -1
		for ; from < to; from++ {
			right, id := l.pair(from)
			switch {
			case int(right) <= before:
				return nil, fmt.Errorf("listing: the pairs of token %d are not in ascending order", left)
			case id < 256 || int(id) >= n || max(left, right) >= id || made[id]:
				return nil, fmt.Errorf("listing: tokens %d and %d merge to %d, which another pair makes, or which is not a higher token", left, right, id)
			}
			v.parts[id], made[id], before = parts{left, right}, true, int(right)
		}
	}
	if l.start(0) != 0 || from != n-256 {
		return nil, fmt.Errorf("listing: the pairs of all tokens are at %d to %d, want 0 to %d", l.start(0), from, n-256)
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
	starts []uint32 // offsets of the tokens in text, and the end of the last
	table  table    // key: the bytes of a token, see tagOf
	four   []uint32 // by hash of the first four bytes: a bit for each length of such tokens
	six    []uint32 // by hash of the first six bytes: the same, for lengths from six
	large  []int    // lengths of tokens that are at least manySizes, in descending order
}

const (
	fourBits  = 15
	sixBits   = 16
	manySizes = 31 // this bit stands for all lengths from here on
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

// sizes returns a bit for each length, from four, that a token at the beginning of
// s[i:end] may have. s[i:end] must have at least four bytes.
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

// tagged is the maximum length in bytes of a name that is its own tag.
const tagged = 5

// tagOf returns the tag and the hash h of the name s[i:end]. A tag is the part of an entry above the
// token. The tag of a name of at most tagged bytes is its bytes and length; that of a longer name is
// part of h, which is the hash of its length and of its first and last eight bytes.
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
// entry, or 0. Most lookups find nothing, and the table does not fit the processor's caches;
// so a smaller filter, of sixteen bits for each slot, by hash, answers most lookups without a
// read of the slots.
type table struct {
	slots []uint64
	mask  uint64
	shift uint // right shift of a hash to a slot
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

// may reports whether the table may have an entry with this hash.
func (t *table) may(hash uint64) bool {
	bit := hash >> ((t.shift - 4) & 63)
	return t.bits[bit>>6]>>(bit&63)&1 != 0
}

// hash spreads a key over 64 bits. Its upper bits depend on most bits of the key, so callers use
// these.
func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }
