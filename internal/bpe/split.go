package bpe

import "math/bits"

// A splitter returns the end of the piece of a text that begins at offset i, which is less than
// the length of the text. The text is valid UTF-8.
//
// The patterns of the two encodings are these; the first alternative that matches is taken:
//
//	o200k_base:
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
//	cl100k_base:
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	and the last three of o200k_base
//
// Each splitter handles pieces of ASCII, and leaves those that touch anything else to a
// slower function, which follows the pattern rune by rune.
type splitter func(c *classes, s string, i int) int

// splitO200k is the splitter of o200k_base.
func splitO200k(c *classes, s string, i int) int {
	word, ok := asciiWord(s, i)
	if !ok {
		if end := asciiRest(c, s, i, true); end > i {
			return end
		}
		return splitO200kRunes(c, s, i)
	}
	end := word
	for end < len(s) && s[end]-'A' < 26 {
		end++
	}
	if end = lowerRun(s, end); end < len(s) {
		if s[end] >= 0x80 {
			return splitO200kRunes(c, s, i)
		}
		if s[end] == '\'' {
			return contraction(s, end)
		}
	}
	return end
}

// splitCl100k is the splitter of cl100k_base.
func splitCl100k(c *classes, s string, i int) int {
	if s[i] == '\'' {
		if end := contraction(s, i); end > i {
			return end
		}
	}
	word, ok := asciiWord(s, i)
	if !ok {
		if end := asciiRest(c, s, i, false); end > i {
			return end
		}
		return splitCl100kRunes(c, s, i)
	}
	end := letterRun(s, word)
	if end < len(s) && s[end] >= 0x80 {
		return splitCl100kRunes(c, s, i)
	}
	return end
}

// asciiWord reports whether an ASCII letter is at i, or after one ASCII rune that
// may lead a word, and returns the letter's offset.
func asciiWord(s string, i int) (word int, ok bool) {
	switch c := ascii[s[i]]; {
	case c&cased != 0:
		return i, true
	case c&(number|newline|foreign) != 0 || i+1 == len(s):
		return i, false
	}
	return i + 1, ascii[s[i+1]]&cased != 0
}

// asciiRest returns the end of the piece at i, which begins with no ASCII word. It returns i if
// the piece may begin with a word of other letters, or if the piece touches a rune that is not
// ASCII.
func asciiRest(c *classes, s string, i int, slashes bool) int {
	first, next := ascii[s[i]], space
	if i+1 < len(s) {
		next = ascii[s[i+1]]
	}
	end := i
	switch {
	case first == foreign, next == foreign && first&newline == 0:
		return i
	case first == number:
		for end < len(s) && end < i+3 && ascii[s[end]] == number {
			end++
		}
		if end == i+3 {
			return end
		}
	case first == 0 || s[i] == ' ' && next == 0:
		for end++; end < len(s) && ascii[s[end]] == 0; {
			end++
		}
		if end == len(s) || s[end] < 0x80 {
			return lineBreaks(s, end, slashes)
		}
	default:
		return blanks(c, s, i)
	}
	if end < len(s) && s[end] >= 0x80 {
		return i
	}
	return end
}

// splitO200kRunes does the work of splitO200k for pieces with any runes.
func splitO200kRunes(c *classes, s string, i int) int {
	first, size := c.at(s, i)
	if first.leadsWord() && i+size < len(s) {
		if end := mixedWord(c, s, i+size); end > i+size {
			return end
		}
	}
	if end := mixedWord(c, s, i); end > i {
		return end
	}
	if first.leadsWord() {
		if end := c.run(s, i+size, upper); end > i+size {
			return contraction(s, end)
		}
	}
	if end := c.run(s, i, upper); end > i {
		return contraction(s, end)
	}
	return splitRest(c, s, i, first, true)
}

// mixedWord returns the end of the word at i, including a contraction after it, or i if
// there is no such word. The word has any number of upper-case letters and then at least
// one lower-case letter, so serverHTTP is two words.
func mixedWord(c *classes, s string, i int) int {
	up, either := i, i // the ends of the upper half, and of its last rune that may be lower
	for up < len(s) {
		class, size := c.at(s, up)
		if class&upper == 0 {
			break
		}
		up += size
		if class&lower != 0 {
			either = up
		}
	}
	end := c.run(s, up, lower)
	if end == up {
		end = either
	}
	if end == i {
		return i
	}
	return contraction(s, end)
}

// splitCl100kRunes does the work of splitCl100k for pieces with any runes, except contractions.
func splitCl100kRunes(c *classes, s string, i int) int {
	first, size := c.at(s, i)
	word := i
	if first.leadsWord() {
		word += size
	}
	if end := letters(c, s, word); end > word {
		return end
	}
	return splitRest(c, s, i, first, false)
}

// splitRest returns the end of a piece that begins with no word, which is the same in
// both encodings: up to three numerals, or symbols with the line breaks after them, or
// white space. If slashes is set, slashes among those line breaks belong to the piece,
// too.
func splitRest(c *classes, s string, i int, first class, slashes bool) int {
	if first&number != 0 {
		end := i
		for range 3 {
			if end < len(s) {
				if class, size := c.at(s, end); class&number != 0 {
					end += size
				}
			}
		}
		return end
	}
	start := i
	if s[i] == ' ' {
		start++
	}
	end := start
	for end < len(s) {
		class, size := c.at(s, end)
		if !class.isSymbol() {
			break
		}
		end += size
	}
	if end > start {
		return lineBreaks(s, end, slashes)
	}
	return blanks(c, s, i)
}

// lineBreaks returns the end of the line breaks at i, and of slashes if they belong to them.
func lineBreaks(s string, i int, slashes bool) int {
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || slashes && s[i] == '/') {
		i++
	}
	return i
}

// blanks returns the end of the piece of white space at i. The piece ends after the
// last line break in the white space. Without a line break, it leaves the last rune to the
// following word, unless the piece would be empty.
func blanks(c *classes, s string, i int) int {
	end, last, lines := i, i, i
	for end < len(s) {
		class, size := c.at(s, end)
		if class&space == 0 {
			break
		}
		last = end
		end += size
		if class&newline != 0 {
			lines = end
		}
	}
	switch {
	case lines > i:
		return lines
	case end == len(s) || last == i:
		return end
	default:
		return last
	}
}

// letters returns the end of the letters at i.
func letters(c *classes, s string, i int) int {
	for i < len(s) {
		class, size := c.at(s, i)
		if !class.isLetter() {
			break
		}
		i += size
	}
	return i
}

// contraction returns the end of the English contraction at i: 's, 't, 'm, 'd, 're, 've or 'll, in
// either case. It returns i if there is none. The long s counts as an s.
func contraction(s string, i int) int {
	if len(s) < i+2 || s[i] != '\'' {
		return i
	}
	second := byte(0)
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		second = 'e'
	case 'l':
		second = 'l'
	default:
		if len(s) >= i+3 && s[i+1:i+3] == "ſ" {
			return i + 3
		}
		return i
	}
	if len(s) >= i+3 && s[i+2]|0x20 == second {
		return i + 3
	}
	return i
}

// Eight bytes are compared together. With the upper bit of each byte cleared, adding to a
// byte sets its upper bit if the byte is above a bound, without a carry into other bytes.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// lowerRun returns the end of the run of a-z at i.
func lowerRun(s string, i int) int {
	for i+8 <= len(s) {
		x := eight(s, i)
		if not := notBetween(x, x, 'a', 'z'); not != 0 {
			return i + bits.TrailingZeros64(not)>>3
		}
		i += 8
	}
	for i < len(s) && s[i]-'a' < 26 {
		i++
	}
	return i
}

// letterRun returns the end of the run of A-Z and a-z at i.
func letterRun(s string, i int) int {
	for i+8 <= len(s) {
		x := eight(s, i)
		if not := notBetween(x, x|0x20*ones, 'a', 'z'); not != 0 {
			return i + bits.TrailingZeros64(not)>>3
		}
		i += 8
	}
	for i < len(s) && s[i]|0x20-'a' < 26 {
		i++
	}
	return i
}

// notBetween finds among eight bytes those that are not ASCII or not between low and high. It
// returns a word with the upper bit of each such byte set. It takes the upper bits from x and the
// other bits from y.
func notBetween(x, y uint64, low, high uint64) uint64 {
	y &^= tops
	return (x | y + (0x7f-high)*ones | ^(y + (0x80-low)*ones)) & tops
}

// eight returns the eight bytes at i, the first of them lowest.
func eight(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
