// Package bpe turns texts into the tokens of o200k_base and cl100k_base, the encodings of
// OpenAI's models, as tiktoken does: the same numbers for every text.
//
// # How
//
// A text is cut by a pattern into pieces, mostly words, and each piece is
// encoded alone. Starting from its bytes, the two neighbors that form the token with the lowest
// number are merged, the leftmost of equal ones first, until no neighbors form a token.
//
// The splitter is written by hand from the two patterns, without a regular expression
// engine. It reads words by eight bytes, and leaves pieces that touch
// anything but ASCII to a slower function.
//
// A piece of at most 14 bytes is cached with its number of tokens, in a hash table without
// chains in which the newest piece wins. The whole piece is the key, so a hit is always
// right. Most pieces of a long text are found there. Other pieces that are one token are found
// in the hash table of all tokens.
//
// All other pieces are encoded from left to right: the longest token that may follow the
// previous token is taken and, if none may, the encoder goes back one token. Two tokens may be
// neighbors if the encoding of their bytes is these two tokens, which follows from the merges
// that made them. Tokens are the encoding of a whole piece if each two neighbors may be
// neighbors. This takes few steps for almost every piece. For the others, such as long rows of
// dashes, the bytes are merged by the definition, with a heap. Both ways encode long pieces by
// windows of 4 KiB, so memory does not grow with the piece.
//
// # Cost
//
// Time grows in proportion to the text, whatever the text is. Counting allocates nothing,
// but for what a goroutine needs that counts at the same time as others for the first
// time: some 0.5 MB. The tables of an encoding take some 20 ms and 10 MB to load for
// o200k_base, half of it for cl100k_base. They are made from a listing of all merges, 1.8 and
// 0.9 MB of the program, in which a merge can also be looked up. As most programs count
// little, the first 128 KiB are counted so, by merging: at a quarter of the speed, and with
// nothing to load.
//
// # Sources
//
// The patterns and the tokens are those of tiktoken (MIT license). cl100k_base ends with
// the rule of its first release, as the npm package tiktoken has it; the newest release in
// Python has a rule that gives one token less where a text ends in a line break and blanks.
// Classes of runes are those of Unicode 16, as in that npm package, whatever version Go has. The
// method of deciding by neighbors, and of deriving the decision from the
// merges, is due to the crate bpe of Hendrik van Antwerpen and Alexander Neubeck, "So many
// tokens, so little time" (GitHub, 2024).
package bpe

import (
	_ "embed" // the tables
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// The tables are written by bench/reference.

//go:embed o200k_base.bin
var o200kTable listing

//go:embed cl100k_base.bin
var cl100kTable listing

// The encodings.
var (
	O200k  = Encoding{listing: &o200kTable, split: splitO200k}
	Cl100k = Encoding{listing: &cl100kTable, split: splitCl100k}
)

// An Encoding turns texts into tokens with the same numbers as tiktoken. It may be used by
// several goroutines at once.
type Encoding struct {
	listing *listing
	split   splitter

	once    sync.Once
	loaded  atomic.Bool // set by once, last
	tokens  *vocabulary // set by once
	classes *classes    // set by once
	idle    chan *counter

	mu    sync.Mutex
	first *counter // counts by the listing, before the tables are loaded
	few   int      // bytes that first was asked to count
}

// fewBytes is the number of bytes that are counted with the listing alone, before the tables
// are loaded. Counting them takes about a quarter of the time of loading, or as long as loading
// if the text is slow to merge.
const fewBytes = 128 << 10

// Count returns how many tokens a text has.
func (e *Encoding) Count(text string) int {
	if text == "" {
		return 0
	}
	if n, ok := e.countFirst(text); ok {
		return n
	}
	c := e.take()
	defer e.give(c)
	return c.count(valid(text))
}

// Encode appends the tokens of a text to dst.
func (e *Encoding) Encode(dst []uint32, text string) []uint32 {
	if text == "" {
		return dst
	}
	c := e.take()
	defer e.give(c)
	return c.encode(dst, valid(text))
}

// Decode returns the bytes of tokens, and whether the encoding has all of them.
func (e *Encoding) Decode(tokens []uint32) (text string, ok bool) {
	e.once.Do(e.load)
	var b []byte
	for _, id := range tokens {
		if int(id) >= len(e.tokens.parts) {
			return "", false
		}
		b = append(b, e.tokens.name(id)...)
	}
	return string(b), true
}

// Forget drops the numbers of tokens that counts have remembered for short pieces, so that the
// next count takes as long as the first. Benchmarks use it.
func (e *Encoding) Forget() {
	for {
		select {
		case <-e.idle:
		default:
			return
		}
	}
}

// Loaded reports whether the tables are loaded.
func (e *Encoding) Loaded() bool { return e.loaded.Load() }

// countFirst counts a text with the listing alone. ok is false if the tables are loaded, or if
// more than fewBytes were to be counted, so that they should be loaded.
func (e *Encoding) countFirst(text string) (n int, ok bool) {
	if e.Loaded() || len(text) > fewBytes {
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.few += len(text); e.few > fewBytes {
		e.first = nil
		return 0, false
	}
	if e.first == nil {
		e.first = newCounter(e.split, &vocabulary{listing: *e.listing, bytes: e.listing.bytes()})
	}
	return e.first.count(valid(text)), true
}

func (e *Encoding) load() {
	tokens, err := load(*e.listing)
	if err != nil {
		panic(err) // unreachable: the table is part of the program
	}
	e.tokens, e.classes = tokens, allClasses()
	e.idle = make(chan *counter, runtime.GOMAXPROCS(0))
	e.loaded.Store(true)
}

// take returns a counter for one goroutine: an idle one, with the short pieces that it
// remembers, or else a new one. It loads the tables first. At most one idle counter is kept for
// each processor.
func (e *Encoding) take() *counter {
	e.once.Do(e.load)
	select {
	case c := <-e.idle:
		return c
	default:
		return newCounter(e.split, e.tokens)
	}
}

func (e *Encoding) give(c *counter) {
	select {
	case e.idle <- c:
	default:
	}
}

// valid returns a text with each byte that is not UTF-8 replaced by U+FFFD.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}

// A counter counts the tokens of one text after the other, and remembers short pieces.
type counter struct {
	*merger
	classes *classes
	split   splitter
	memo    []short
}

// A short is a piece of at most maxShort bytes with the number of its tokens, as a key of 128
// bits. The bytes of the piece are in its lowest bits. Above them are the number of the bytes
// and the number of the tokens.
type short struct{ low, high uint64 }

const (
	maxShort  = 14
	memoBits  = 14
	countBits = 8
)

func newCounter(split splitter, v *vocabulary) *counter {
	return &counter{newMerger(v), allClasses(), split, make([]short, 1<<memoBits)}
}

func (c *counter) count(s string) (total int) {
	for i := 0; i < len(s); {
		end := c.split(c.classes, s, i)
		if end-i > maxShort {
			_, n := c.piece(nil, s, i, end, false)
			total += n
			i = end
			continue
		}
		key := keyOf(s, i, end)
		known := &c.memo[key.hash()>>(64-memoBits)]
		if known.low != key.low || known.high<<countBits != key.high<<countBits {
			_, n := c.piece(nil, s, i, end, false)
			*known = short{key.low, key.high | uint64(n)<<(64-countBits)}
		}
		total += int(known.high >> (64 - countBits))
		i = end
	}
	return total
}

func (c *counter) encode(dst []token, s string) []token {
	for i := 0; i < len(s); {
		end := c.split(c.classes, s, i)
		dst, _ = c.piece(dst, s, i, end, true)
		i = end
	}
	return dst
}

// keyOf returns the key of s[i:end], with no number of tokens.
func keyOf(s string, i, end int) short {
	n := end - i
	if i+16 <= len(s) {
		low, high := eight(s, i), eight(s, i+8)
		if n <= 8 {
			return short{low & (1<<(8*n) - 1), uint64(n) << 48}
		}
		return short{low, high&(1<<(8*n-64)-1) | uint64(n)<<48}
	}
	key := short{0, uint64(n) << 48}
	for at, b := range []byte(s[i:end]) {
		if at < 8 {
			key.low |= uint64(b) << (8 * at)
		} else {
			key.high |= uint64(b) << (8*at - 64)
		}
	}
	return key
}

func (k short) hash() uint64 { return hash(k.low ^ k.high*0xd6e8feb86659fd93) }
