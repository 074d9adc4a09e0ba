package bpe

// A span is a range of a piece's bytes during a merge. It is stored at the index of its first byte.
type span struct {
	id         token
	pair       token // token that it forms with the next span, or none
	prev, next int32 // indexes of its neighbors
}

// merge appends the tokens of a piece to dst. As the encoding defines it, it always merges the
// pair that makes the lowest token, and of equal pairs the leftmost. A heap finds that pair.
func (m *merger) merge(dst []token, s string) []token {
	spans := m.spans[:0]
	for i := range len(s) {
		spans = append(spans, span{m.bytes[s[i]], none, int32(i - 1), int32(i + 1)})
	}
	m.spans, m.heap = spans, m.heap[:0]
	for i := range len(s) {
		m.pairUp(spans, i)
	}
	for len(m.heap) > 0 {
		m.steps++
		first := m.pop()
		i := int32(first & (1<<32 - 1))
		if spans[i].pair != token(first>>32) {
			continue // one of the two spans was merged with another
		}
		next := spans[i].next
		spans[i].id, spans[i].next = spans[i].pair, spans[next].next
		spans[next].pair = none
		if after := int(spans[i].next); after < len(s) {
			spans[after].prev = i
		}
		m.pairUp(spans, int(i))
		if spans[i].prev >= 0 {
			m.pairUp(spans, int(spans[i].prev))
		}
	}
	for i := 0; i < len(s); i = int(spans[i].next) {
		dst = append(dst, spans[i].id)
	}
	return dst
}

// pairUp looks up the token that a span forms with the next one.
func (m *merger) pairUp(spans []span, i int) {
	spans[i].pair = none
	if next := int(spans[i].next); next < len(spans) {
		if spans[i].pair = m.merged(spans[i].id, spans[next].id); spans[i].pair != none {
			m.push(uint64(spans[i].pair)<<32 | uint64(i))
		}
	}
}

func (m *merger) push(x uint64) {
	h := append(m.heap, x)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > x {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
	m.heap = h
}

func (m *merger) pop() (first uint64) {
	h := m.heap
	first, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for 2*i+1 < len(h) {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[child] >= x {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = x
	}
	m.heap = h
	return first
}
