package bpe

import "fmt"

// A listing is the table of an encoding as it is embedded. A pair of tokens is found in it by
// binary search, which takes about ten times as long as a hash table but needs no
// preparation. A listing has
//
//   - the 256 bytes in the order of their tokens;
//   - for each token, and for the number after the last token, how many pairs have a left
//     token with a lower number;
//   - the pairs that merge, in the order of their left tokens, then of their right ones: each
//     as its right token and the token that it merges to.
//
// Each number takes three bytes, the lowest first.
type listing string

const (
	numberSize = 3 // of a number in a listing, in bytes
	pairSize   = 2 * numberSize
)

// tokens returns how many tokens a listing has.
func (l listing) tokens() int {
	return (len(l) - 256 - numberSize + 256*pairSize) / (numberSize + pairSize)
}

// check returns an error unless the size of l is possible for a listing.
func (l listing) check() error {
	n := l.tokens()
	if n < 256 || n >= int(none) || len(l) != 256+numberSize*(n+1)+pairSize*(n-256) {
		return fmt.Errorf("listing of %d bytes: the size is that of no listing with fewer than %d tokens", len(l), none)
	}
	return nil
}

// bytes returns the token of each byte.
func (l listing) bytes() (tokens [256]token) {
	for id, b := range []byte(l[:256]) {
		tokens[b] = token(id)
	}
	return tokens
}

func (l listing) number(at int) token {
	b := l[at : at+numberSize]
	return token(b[0]) | token(b[1])<<8 | token(b[2])<<16
}

// start returns the index of the first pair whose left token is the given one or a higher one.
func (l listing) start(left token) int { return int(l.number(256 + numberSize*int(left))) }

// pair returns the right token of pair i, and the token that the pair merges to.
func (l listing) pair(i int) (right, id token) {
	at := 256 + numberSize*(l.tokens()+1) + pairSize*i
	return l.number(at), l.number(at + numberSize)
}

// merged returns the token that two adjacent tokens merge to, or none.
func (l listing) merged(left, right token) token {
	low, high := l.start(left), l.start(left+1)
	for low < high {
		mid := (low + high) / 2
		switch found, id := l.pair(mid); {
		case found == right:
			return id
		case found < right:
			low = mid + 1
		default:
			high = mid
		}
	}
	return none
}
