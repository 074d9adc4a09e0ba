package seed

import (
	"bytes"
	"strings"
	"unicode"
)

// The two letters beyond ASCII whose lower case has an ASCII letter in it.
const (
	kelvin  = "\u212A" // its lower case is k
	dottedI = "\u0130" // its lower case is i and a combining dot, which ends a word
)

// fold maps each byte of a word to its lower case, and each byte that is not
// part of a word to 0.
var fold = func() (t [256]byte) {
	t['_'] = '_'
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	return t
}()

// depth is how many letters the filter of a [matcher] compares. They are the first letters of a
// keyword.
const depth = 7

// A matcher counts which keywords occur in texts. It is made for one goroutine.
//
// Nearly no word of a text is a keyword. So the bytes run through a filter that
// has no branches: bit j of its state says that the last j bytes may be the
// first j letters of a keyword, after a byte that is not part of a word. A word
// that passes the filter is then looked up among the keywords.
type matcher struct {
	total    int            // different keywords, those that never occur included
	keywords map[string]int // those that can occur, numbered from 1
	places   [256]byte      // of each byte: bit 0 if it is no part of a word, bit j if it may be letter j
	seen     []int          // the text in which a keyword was last seen
	texts    int            // texts so far
	token    []byte         // the word that is being looked up
}

func newMatcher(intent []string) *matcher {
	m := &matcher{keywords: make(map[string]int)}
	for b := range m.places {
		if fold[b] == 0 {
			m.places[b] = 1
		}
	}
	all := make(map[string]bool, len(intent))
	for _, word := range intent {
		word = lower(word)
		if all[word] {
			continue
		}
		all[word] = true
		if isWord(word) {
			m.keywords[word] = len(m.keywords) + 1
			m.place(word)
		}
	}
	m.total = len(all)
	m.seen = make([]int, len(m.keywords)+1)
	return m
}

// isWord reports whether a keyword can occur in a text.
func isWord(s string) bool {
	for i := range len(s) {
		if fold[s[i]] != s[i] || s[i] == 0 {
			return false
		}
	}
	return s != ""
}

// place adds a keyword to the filter. After a keyword shorter than depth, the filter expects a
// byte that is no part of a word, and then accepts anything.
func (m *matcher) place(word string) {
	for j := 1; j <= depth; j++ {
		for b := range m.places {
			c := fold[b]
			if j <= len(word) && c == word[j-1] || j == len(word)+1 && c == 0 || j > len(word)+1 {
				m.places[b] |= 1 << j
			}
		}
	}
}

// share returns the share of the keywords that occur in a text, and 0 if there
// are none.
func (m *matcher) share(text []byte) float64 {
	if m.total == 0 {
		return 0
	}
	return float64(m.count(text)) / float64(m.total)
}

// count returns how many of the keywords occur in a text.
func (m *matcher) count(text []byte) int {
	m.texts++
	if bytes.Contains(text, []byte(kelvin)) || bytes.Contains(text, []byte(dottedI)) {
		return m.countSlowly(text)
	}
	hits, state := 0, uint(1)
	for i, b := range text {
		state = (state<<1 | 1) & uint(m.places[b])
		if state>>depth != 0 {
			hits += m.lookUp(text, i+1-depth)
		}
	}
	for i := range depth { // the end of the text is the end of a word
		state = (state<<1 | 1) & uint(m.places[' '])
		if state>>depth != 0 {
			hits += m.lookUp(text, len(text)+i+1-depth)
		}
	}
	return hits
}

// lookUp returns 1 if the word that begins at the offset start is a keyword
// that has not occurred in this text before, and 0 otherwise.
func (m *matcher) lookUp(text []byte, start int) int {
	m.token = m.token[:0]
	for _, b := range text[start:] {
		c := fold[b]
		if c == 0 {
			break
		}
		m.token = append(m.token, c)
	}
	return m.hit()
}

// countSlowly does the same as count. It also handles texts in which letters
// beyond ASCII belong to words.
func (m *matcher) countSlowly(text []byte) int {
	hits := 0
	m.token = m.token[:0]
	for len(text) > 0 {
		size := 1
		switch c := fold[text[0]]; {
		case c != 0:
			m.token = append(m.token, c)
		case bytes.HasPrefix(text, []byte(kelvin)):
			m.token = append(m.token, 'k')
			size = len(kelvin)
		default:
			if bytes.HasPrefix(text, []byte(dottedI)) {
				m.token = append(m.token, 'i')
				size = len(dottedI)
			}
			hits += m.hit()
			m.token = m.token[:0]
		}
		text = text[size:]
	}
	return hits + m.hit()
}

// hit returns 1 if the token is a keyword that has not occurred in this text
// before, and 0 otherwise.
func (m *matcher) hit() int {
	k := m.keywords[string(m.token)]
	if k == 0 || m.seen[k] == m.texts {
		return 0
	}
	m.seen[k] = m.texts
	return 1
}

// lower returns the lower case of s in the way of the original: letter by
// letter as Unicode has it, a dotted capital I as two characters, and a capital
// sigma at the end of a word in its final form.
func lower(s string) string {
	if !strings.Contains(s, dottedI) && !strings.Contains(s, "Σ") {
		return strings.ToLower(s)
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && final(runes, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// final reports whether the sigma at i ends a word: there is a letter with case
// before it and none after it, not counting marks and the like between them.
func final(runes []rune, i int) bool {
	before := i - 1
	for before >= 0 && ignorable(runes[before]) {
		before--
	}
	after := i + 1
	for after < len(runes) && ignorable(runes[after]) {
		after++
	}
	return before >= 0 && cased(runes[before]) && (after == len(runes) || !cased(runes[after]))
}

// cased reports whether r has the Unicode property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

// ignorable reports whether r has the Unicode property Case_Ignorable.
func ignorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
