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

// Seam reports whether the exact counts of two texts add up to that of both in one: if
// one of them is empty, or if left ends in a line feed and right begins with neither white
// space nor a slash. A piece that goes on after a line feed does so with one of these, and a
// run of white space that ends in a line break is the same piece whatever follows it.
func Seam(left, right string) bool {
	if left == "" || right == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(right)
	return left[len(left)-1] == '\n' && r != '/' && !unicode.IsSpace(r)
}
