package bpe

import (
	"math"
	"strings"
)

// Pieces returns the pieces of a text that is UTF-8.
func (e *Encoding) Pieces(text string) (pieces []string) {
	e.once.Do(e.load)
	for i := 0; i < len(text); {
		end := e.split(e.classes, text, i)
		pieces = append(pieces, text[i:end])
		i = end
	}
	return pieces
}

// Steps returns the number of steps to count a text with empty caches.
func (e *Encoding) Steps(text string) int {
	e.once.Do(e.load)
	c := newCounter(e.split, e.tokens)
	c.count(valid(text))
	return c.steps
}

// Merged returns the tokens of one piece by merging alone, and whether backtracking gives
// the same tokens.
func (e *Encoding) Merged(piece string) (tokens []uint32, same bool) {
	e.once.Do(e.load)
	m := newMerger(e.tokens)
	tokens = m.merge(nil, piece)
	back, stuck := m.backtrack(nil, piece, 0, len(piece), math.MaxInt)
	return tokens, !stuck && equalTokens(back, tokens)
}

// Piece returns the tokens of one piece as they are counted.
func (e *Encoding) Piece(piece string) []uint32 {
	e.once.Do(e.load)
	tokens, _ := newMerger(e.tokens).piece(nil, piece, 0, len(piece), true)
	return tokens
}

func equalTokens(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// LoadTable reads a table that may be damaged.
func LoadTable(table string) error {
	_, err := load(listing(table))
	return err
}

// Table returns the table of an encoding.
func (e *Encoding) Table() string { return strings.Clone(string(*e.listing)) }

// ClassTable is classTable.
var ClassTable = classTable

// LoadClasses reads a table of classes that may be damaged.
func LoadClasses(table string) error {
	_, err := newClasses(table)
	return err
}

// FewBytes is fewBytes.
const FewBytes = fewBytes

// New returns an encoding like another one, with nothing loaded.
func New(e *Encoding) *Encoding { return &Encoding{listing: e.listing, split: e.split} }

// CountFirst returns what Count does before the tables are loaded.
func (e *Encoding) CountFirst(text string) int {
	n, _ := New(e).countFirst(text)
	return n
}
