package token

import (
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/bpe"
)

// The exact encodings. Each loads its tables on its first count.
var (
	o200k  = &exact{"o200k_base", &bpe.O200k}
	cl100k = &exact{"cl100k_base", &bpe.Cl100k}
)

// An exact is a Counter of a public encoding.
type exact struct {
	name   string
	tokens *bpe.Encoding
}

func (e *exact) Encoding() string { return e.name }

func (e *exact) Count(text string) Count { return Count(e.tokens.Count(text)) }

// Seam reports whether the exact counts of left and right add up to the count of both in one
// text. They do if one of the texts is empty, or if left ends in a line feed and right begins
// with neither white space nor a slash. The reason: only those characters continue a piece
// beyond a line feed, and white space that ends in a line break is the same piece whatever
// follows it.
func Seam(left, right string) bool {
	if left == "" || right == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(right)
	return left[len(left)-1] == '\n' && r != '/' && !unicode.IsSpace(r)
}
