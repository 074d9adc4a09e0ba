package bpe

import (
	"math/bits"
	"slices"
)

// A merger encodes one piece after the other. It belongs to one goroutine.
type merger struct {
	*vocabulary
	fits  []uint64 // remembered answers of adjacent, by hash
	steps int      // number of steps so far: names looked up, pairs judged, pairs merged

	stuck         bool     // backtracking took too many steps in the piece
	tokens, ahead []token  // of two windows
	dead          []uint64 // one bit for each offset
	spans         []span
	heap          []uint64
}

const (
	fitsBits = 14

	// A piece that is longer than window, in bytes, is encoded window by window. The
	// tokens in the last margin bytes of a window are not final, because the text after
	// them may change them.
	window = 4 << 10
	margin = 512
)

func newMerger(v *vocabulary) *merger {
	return &merger{vocabulary: v, fits: make([]uint64, 1<<fitsBits)}
}

// piece returns how many tokens the piece s[i:end] has, and appends them to dst if keep
// is set.
//
// A long piece is encoded window by window. A list of tokens is the encoding of its bytes
// if that is true of each two neighbors (see adjacent). So the tokens of a window up to a
// cut, and those of the next window, which begins at the cut, can be joined if the two
// tokens at the cut are adjacent. At most cuts they are. Where they are not, the length
// of the first window is doubled.
//
// With a listing alone, the piece is merged whole.
func (m *merger) piece(dst []token, s string, i, end int, keep bool) (tokens []token, n int) {
	if m.listing != "" {
		m.tokens = m.merge(m.tokens[:0], s[i:end])
		if keep {
			dst = append(dst, m.tokens...)
		}
		return dst, len(m.tokens)
	}
	if id := m.find(s, i, end); id != none {
		if keep {
			dst = append(dst, id)
		}
		return dst, 1
	}
	to := min(i+window, end)
	m.stuck = false
	m.tokens = m.encode(m.tokens[:0], s, i, to)
	for to < end {
		cut, at := 0, i
		for at+m.size(m.tokens[cut]) <= to-margin {
			at += m.size(m.tokens[cut])
			cut++
		}
		after := min(at+window, end)
		m.ahead = m.encode(m.ahead[:0], s, at, after)
		if !m.adjacent(m.tokens[cut-1], m.ahead[0]) {
			to = min(i+2*(to-i), end)
			m.tokens = m.encode(m.tokens[:0], s, i, to)
			continue
		}
		if keep {
			dst = append(dst, m.tokens[:cut]...)
		}
		n += cut
		m.tokens, m.ahead = m.ahead, m.tokens
		i, to = at, after
	}
	if keep {
		dst = append(dst, m.tokens...)
	}
	return dst, n + len(m.tokens)
}

// encode appends the tokens of s[i:end] to dst. It uses the method backtrack. When that takes too
// many steps in the piece, it uses the method merge, also for the rest of the piece.
func (m *merger) encode(dst []token, s string, i, end int) []token {
	if !m.stuck {
		dst, m.stuck = m.backtrack(dst, s, i, end, m.steps+64+8*(end-i))
	}
	if m.stuck {
		dst = m.merge(dst, s[i:end])
	}
	return dst
}

// backtrack appends the tokens of s[i:end] to dst, which is empty. It goes from left to
// right and takes the longest token that may follow the token before. If no token may
// follow, it removes the token before and tries a shorter one there. It gives up, and
// stuck is true, when m.steps exceeds steps.
func (m *merger) backtrack(dst []token, s string, i, end, steps int) (tokens []token, stuck bool) {
	words := (end-i)/64 + 1
	m.dead = slices.Grow(m.dead[:0], words)[:words] // offsets from which there is no way
	clear(m.dead)
	id := m.longest(s, i, end)
	for at := i; m.steps <= steps; {
		after := at + m.size(id)
		if m.dead[(after-i)/64]>>((after-i)%64)&1 == 0 && (len(dst) == 0 || m.mayFollow(dst[len(dst)-1], id)) {
			dst = append(dst, id)
			if at = after; at == end {
				return dst, false
			}
			id = m.longest(s, at, end)
			continue
		}
		for id = m.longest(s, at, after-1); id == none; id = m.longest(s, at, after-1) {
			m.dead[(at-i)/64] |= 1 << ((at - i) % 64)
			id, dst = dst[len(dst)-1], dst[:len(dst)-1]
			after, at = at, at-m.size(id)
		}
	}
	return dst[:0], true
}

// longest returns the longest token that s[i:end] begins with. It returns none if s[i:end] is
// empty.
func (m *merger) longest(s string, i, end int) token {
	most := end - i
	if most >= 4 {
		sizes := m.sizes(s, i, end)
		if sizes>>manySizes != 0 && most >= manySizes {
			for _, size := range m.large {
				m.steps++
				if size <= most {
					if id := m.find(s, i, i+size); id != none {
						return id
					}
				}
			}
		}
		sizes &= 1<<min(most+1, manySizes) - 1
		for sizes != 0 {
			m.steps++
			size := bits.Len32(sizes) - 1
			if id := m.find(s, i, i+size); id != none {
				return id
			}
			sizes &^= 1 << size
		}
	}
	for size := min(most, 3); size > 1; size-- {
		m.steps++
		if id := m.find(s, i, i+size); id != none {
			return id
		}
	}
	if most == 0 {
		return none
	}
	return m.bytes[s[i]]
}

// mayFollow reports the same as adjacent, but remembers the results.
func (m *merger) mayFollow(left, right token) bool {
	key := pairKey(left, right)
	known := &m.fits[hash(key)>>(64-fitsBits)]
	if *known>>2 != key || *known == 0 {
		*known = key<<2 | 1
		if m.adjacent(left, right) {
			*known |= 2
		}
	}
	return *known&2 != 0
}

// adjacent reports whether the encoding of the bytes of two tokens is these two. It looks
// for a merge across the seam that would have come first: it undoes the merges that made
// the two tokens, the last one first, and sees whether the tokens at the seam merge to
// one below the merges that are not undone.
func (m *merger) adjacent(left, right token) bool {
	for limit := none; ; {
		m.steps++
		if m.merged(left, right) < limit {
			return false
		}
		switch {
		case max(left, right) < 256:
			return true
		case left > right:
			limit, left = left, m.parts[left].right
		default: // of two equal merges the left one comes first
			limit, right = right+1, m.parts[right].left
		}
	}
}
