package limn

import (
	"math"
	"math/big"
)

// An index finds the first item equal to a value in a list of scalars, in constant time.
type index struct {
	places map[any]places
	next   []int // for each position, the position of the next equal item, or 0
}

// places are the first and last position of equal items.
type places struct{ first, last int }

func newIndex(items []Value) *index {
	x := &index{places: make(map[any]places, len(items)), next: make([]int, 0, len(items))}
	for i, item := range items {
		x.add(item, i)
	}
	return x
}

// key returns a map key that is the same for equal scalars.
func key(v Value) any {
	switch x := v.v.(type) {
	case float64:
		if x == math.Trunc(x) {
			n, _ := big.NewFloat(x).Int(nil)
			return keyOfBig(n)
		}
	case *big.Int:
		return keyOfBig(x)
	}
	return v.v
}

// A bigKey is the key of a whole number outside the range of int64.
type bigKey struct {
	sign  int
	bytes string
}

func keyOfBig(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return bigKey{n.Sign(), string(n.Bytes())}
}

// first returns the position of the first item equal to v, or -1.
func (x *index) first(v Value) int {
	p, ok := x.places[key(v)]
	if !ok {
		return -1
	}
	return p.first
}

// add adds an item at a position after all others.
func (x *index) add(item Value, at int) {
	x.next = append(x.next, 0)
	k := key(item)
	p, known := x.places[k]
	if !known {
		x.places[k] = places{at, at}
		return
	}
	x.next[p.last] = at
	x.places[k] = places{p.first, at}
}

// removeFirst removes the first item equal to v.
func (x *index) removeFirst(v Value) {
	k := key(v)
	p := x.places[k]
	if p.first == p.last {
		delete(x.places, k)
		return
	}
	x.places[k] = places{x.next[p.first], p.last}
}
