package bpe

import (
	_ "embed" // the table
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"unicode"
)

// A class is a set of the properties of a rune that the patterns use. Punctuation and
// symbols have none.
type class uint8

const (
	upper   class = 1 << iota // may stand in the first, upper-case half of a word
	lower                     // may stand in the second, lower-case half of a word
	mark                      // combining mark: no letter, yet part of a word in o200k
	number                    // any numeric character, not only digits
	space                     // white space
	newline                   // line feed or carriage return; also space
	foreign                   // in the table of bytes: the byte is part of a longer rune

	cased = upper | lower
)

// isLetter reports whether the class is that of a letter, which a mark is not.
func (c class) isLetter() bool { return c&cased != 0 && c&mark == 0 }

// isSymbol reports whether the class is that of neither letter, number nor white space.
func (c class) isSymbol() bool { return c&(number|space) == 0 && !c.isLetter() }

// leadsWord reports whether a rune of the class may belong to the piece of the word after
// it, such as the blank, quote or bracket before a word.
func (c class) leadsWord() bool { return c&(number|newline) == 0 && !c.isLetter() }

// ascii has the classes of bytes.
var ascii = func() (table [256]class) {
	for b := range table {
		switch {
		case b >= 0x80:
			table[b] = foreign
		case b == '\n' || b == '\r':
			table[b] = space | newline
		case b == ' ' || '\t' <= b && b <= '\f':
			table[b] = space
		case '0' <= b && b <= '9':
			table[b] = number
		case 'a' <= b && b <= 'z':
			table[b] = lower
		case 'A' <= b && b <= 'Z':
			table[b] = upper
		}
	}
	return table
}()

// classTable lists runs of runes of the same class: the letter of the class and the
// number of runes, as an unsigned varint.
//
//go:embed classes.bin
var classTable string

// A classes has the class of every rune, in pages of 256 runes. Equal pages are kept once.
type classes struct {
	page  [(unicode.MaxRune + 1) >> 8]uint8
	pages [][256]class
}

// allClasses returns the table of classes, which it makes at the first use.
var allClasses = sync.OnceValue(func() *classes {
	c, err := newClasses(classTable)
	if err != nil {
		panic(err) // unreachable: the table is part of the program
	}
	return c
})

// newClasses reads a table of classes. Letters without case, and marks, count as upper and
// as lower case, so they may stand in either half of a word: see mixedWord.
func newClasses(table string) (*classes, error) {
	c := new(classes)
	letters := map[byte]class{'u': upper, 'l': lower, 'e': cased, 'm': cased | mark, 'n': number, 's': space, 'o': 0}
	var page [256]class
	var even [foreign]int // one more than the number of the page that has one class
	runes := 0
	for table != "" {
		of, ok := letters[table[0]]
		n, size := uvarint(table[1:])
		if !ok || size == 0 || n > uint64(unicode.MaxRune+1-runes) {
			return nil, fmt.Errorf("table of classes: class %q for %d runes after rune %d is invalid", table[0], n, runes)
		}
		table = table[1+size:]
		for end := runes + int(n); runes < end; {
			at := runes & 0xff
			part := min(end-runes, 256-at)
			if part == 256 && even[of] > 0 {
				c.page[runes>>8] = uint8(even[of] - 1)
				runes += part
				continue
			}
			for i := range part {
				page[at+i] = of
			}
			if runes += part; at+part == 256 {
				c.page[runes>>8-1] = c.keep(page)
			}
			if part == 256 {
				even[of] = int(c.page[runes>>8-1]) + 1
			}
		}
	}
	if runes != unicode.MaxRune+1 {
		return nil, fmt.Errorf("table of classes: has %d runes, want all of Unicode", runes)
	}
	return c, nil
}

// keep returns the number of a page, and adds the page if there is no equal one. It begins the
// search with the newest page, because most pages are equal to it.
func (c *classes) keep(page [256]class) uint8 {
	for i, known := range slices.Backward(c.pages) {
		if known == page {
			return uint8(i)
		}
	}
	c.pages = append(c.pages, page)
	return uint8(len(c.pages) - 1)
}

// at returns the class of the rune at an offset of a text that is UTF-8, and its size.
func (c *classes) at(s string, i int) (class, int) {
	b := s[i]
	switch {
	case b < 0x80:
		return ascii[b], 1
	case b < 0xe0:
		return c.of(rune(b&0x1f)<<6 | rune(s[i+1]&0x3f)), 2
	case b < 0xf0:
		return c.of(rune(b&0x0f)<<12 | rune(s[i+1]&0x3f)<<6 | rune(s[i+2]&0x3f)), 3
	default:
		return c.of(rune(b&0x07)<<18 | rune(s[i+1]&0x3f)<<12 | rune(s[i+2]&0x3f)<<6 | rune(s[i+3]&0x3f)), 4
	}
}

func (c *classes) of(r rune) class { return c.pages[c.page[r>>8]][r&0xff] }

// run returns the end of the runes from offset i that have a property of the set want.
func (c *classes) run(s string, i int, want class) int {
	for i < len(s) {
		class, size := c.at(s, i)
		if class&want == 0 {
			break
		}
		i += size
	}
	return i
}

// uvarint is like [binary.Uvarint], but reads a string, and only values of at most 32 bits. For
// a longer value it returns size 0.
func uvarint(s string) (n uint64, size int) {
	for i := range min(len(s), binary.MaxVarintLen32) {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
