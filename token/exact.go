package token

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"
)

// The exact encodings. Each loads its tables on its first count.
var (
	o200k  = &exact{name: "o200k_base", pattern: o200kPattern, split: splitO200k, open: codec.NewO200kBase}
	cl100k = &exact{name: "cl100k_base", pattern: cl100kPattern, split: splitCl100k, open: codec.NewCl100kBase}
)

// The patterns under which the library registers its matchers, character for
// character. They are also what the splitters are tested against.
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// An exact is a Counter of a public encoding. The library merges the bytes of
// each piece; the pieces are found by a splitter of this package. The matcher
// that the library brings along, v0.10.0, ends a run of blank lines at the
// first line break in place of the last: it counts too much, and it needs time
// quadratic in the length of the run, seconds for 64 KB.
type exact struct {
	name    string
	pattern string
	split   splitter
	open    func() *codec.Codec

	once  sync.Once
	codec *codec.Codec // set by once
}

func (e *exact) Encoding() string { return e.name }

func (e *exact) Count(text string) Count {
	if text == "" {
		return 0
	}
	e.once.Do(e.load)
	total := Count(0)
	for text != "" {
		n := seam(text, chunk)
		total += e.count(text[:n])
		text = text[n:]
	}
	return total
}

// load puts the splitter in the place of the library's matcher, then opens the
// tables. Matchers compiled before it keep what they have.
func (e *exact) load() {
	regexp2.RegisterEngine(e.pattern, regexp2.RuntimeEngineData{
		CapSize:       1,
		FindFirstChar: func(r *regexp2.Runner) bool { return r.Runtextpos < len(r.Runtext) },
		Execute: func(r *regexp2.Runner) error {
			start := r.Runtextpos
			r.Runtextpos += e.split(r.Runtext[start:])
			r.Capture(0, start, r.Runtextpos)
			return nil
		},
	}, regexp2.None)
	e.codec = e.open()
}

// count counts a text that is short, or that has no seam to cut it at.
func (e *exact) count(text string) Count {
	n, err := e.codec.Count(text)
	if err != nil {
		// Unreachable: the only error is that of a matcher, and ours has
		// none. A token has at least one byte, so this is not too low.
		return Count(len(text))
	}
	return Count(n)
}

// chunk is the size, in bytes, from which a text is cut at the next seam. The
// library needs up to some forty bytes of memory for each byte of a chunk.
const chunk = 32 << 10

// seam returns the place of the first seam in text at or after the offset from,
// or the length of text if there is none. A seam stands between a line feed
// and a rune that is neither white space nor a slash, or in a line before a blank that
// has an ASCII letter on both sides. Counts add up there: a
// piece that goes on after a line feed does so with white space or a slash,
// a run of white space that ends in a line break is the same piece whatever
// follows it, and a word ends before a blank, which belongs to the next word.
func seam(text string, from int) int {
	for ; from < len(text); from++ {
		switch text[from] {
		case ' ':
			if from > 0 && from+1 < len(text) && asciiLetter(text[from-1]) && asciiLetter(text[from+1]) {
				return from
			}
		case '\n':
			r, _ := utf8.DecodeRuneInString(text[from+1:])
			if from+1 < len(text) && r != '/' && !unicode.IsSpace(r) {
				return from + 1
			}
		}
	}
	return len(text)
}

func asciiLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
