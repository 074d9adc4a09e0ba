package limn

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/text"
)

// A lexemeKind is the kind of a lexeme.
type lexemeKind uint8

const (
	lexEnd      lexemeKind = iota // of the line
	lexWord                       // a name, or text
	lexKeyword                    // a reserved word, or an operator of two
	lexPackVerb                   // a verb of a pack
	lexNumber
	lexDate
	lexText // quoted
	lexColon
)

// A lexeme is a word of a line, a quoted text, or a colon.
type lexeme struct {
	kind lexemeKind
	word keyword // of a lexKeyword; kwCombine if a lexWord is that
	noun bool    // whether a lexWord is a noun of a pack
	pos  int     // where it begins in the line
	text string  // in lower case, without decoration; of quoted text, as it is
}

func (t lexeme) is(k keyword) bool { return t.word == k }

// names reports whether a lexeme can be the name of something. The word that was
// renamed is only text.
func (t lexeme) names() bool { return t.kind == lexWord && !t.is(kwCombine) }

// isVerb reports whether an operation can begin with a lexeme.
func (t lexeme) isVerb() bool {
	return t.kind == lexPackVerb || t.kind == lexKeyword && t.word.category() == catVerb
}

// startsOp reports whether a lexeme behind "and" begins an operation, rather than
// going on with a list or a condition.
func (t lexeme) startsOp() bool { return t.isVerb() || t.is(kwInherited) }

// isArticle reports whether a lexeme is "the", "a" or "an".
func (t lexeme) isArticle() bool { return t.kind == lexKeyword && t.word.category() == catArticle }

// A lexer cuts lines into lexemes.
type lexer struct {
	verbs map[string]*packVerb
	nouns map[string]bool
	toks  []lexeme // of the line; the last one is lexEnd
}

// newLexer returns a lexer that knows the words of packs.
func newLexer(packs []*Pack) *lexer {
	lx := &lexer{}
	if len(packs) > 0 {
		lx.verbs = map[string]*packVerb{}
		lx.nouns = map[string]bool{}
	}
	for _, p := range packs {
		for _, v := range p.verbs {
			lx.verbs[v.Word] = v
		}
		for _, w := range p.Nouns {
			lx.nouns[w] = true
		}
	}
	return lx
}

// lex cuts a line. What it cannot cut is a fault at a byte of the line; the lexemes
// before it are there.
func (lx *lexer) lex(line string) *fault {
	lx.toks = lx.toks[:0]
	var err *fault
	for i := 0; i < len(line) && err == nil; {
		switch line[i] {
		case ' ':
			i++
		case ':':
			lx.toks = append(lx.toks, lexeme{kind: lexColon, pos: i, text: ":"})
			i++
		case '"':
			i, err = lx.quoted(line, i)
		default:
			if n := space(line[i:]); n > 0 {
				i += n
				continue
			}
			end := wordEnd(line, i)
			err = lx.bare(line, i, end)
			i = end
		}
	}
	lx.toks = append(lx.toks, lexeme{kind: lexEnd, pos: len(line)})
	return err
}

// quoted takes the quoted text that begins at a byte and returns where it ends.
func (lx *lexer) quoted(line string, start int) (int, *fault) {
	n := strings.IndexByte(line[start+1:], '"')
	if n < 0 {
		return start, &fault{start, "a quotation is not closed", "end it with a quotation mark on the same line"}
	}
	if n == 0 {
		return start, &fault{start, "a quotation is empty", "quote at least one character"}
	}
	lx.toks = append(lx.toks, lexeme{kind: lexText, pos: start, text: line[start+1 : start+1+n]})
	return start + n + 2, nil
}

// bare takes the unquoted word line[start:end].
func (lx *lexer) bare(line string, start, end int) *fault {
	for start < end && decorative(line[start]) {
		start++
	}
	for start < end && decorative(line[end-1]) {
		end--
	}
	if start == end {
		return nil
	}
	t := lexeme{pos: start, text: strings.ToLower(line[start:end])}
	if err := lx.classify(&t); err != nil {
		return err
	}
	if !lx.merge(t) {
		lx.toks = append(lx.toks, t)
	}
	return nil
}

// classify says what kind of word a lexeme is.
func (lx *lexer) classify(t *lexeme) *fault {
	if len(t.text) <= longest {
		t.word = keywords.Get()[t.text]
	}
	switch {
	case lx.verbs[t.text] != nil:
		t.kind, t.word = lexPackVerb, kwNone
	case t.word == kwCombine:
		t.kind = lexWord
	case t.word != kwNone:
		t.kind = lexKeyword
	case lx.nouns[t.text]:
		t.kind, t.noun = lexWord, true
	case isNumber(t.text):
		t.kind = lexNumber
	case isDateShaped(t.text):
		t.kind = lexDate
		if !isDay(t.text) {
			return &fault{t.pos, "no calendar has the day " + t.text, "write a day as yyyy-mm-dd"}
		}
	default:
		t.kind = lexWord
	}
	return nil
}

// merge joins a lexeme to the one before if both are an operator of two words.
func (lx *lexer) merge(t lexeme) bool {
	if len(lx.toks) == 0 || t.word != kwTo && t.word != kwBy {
		return false
	}
	last := &lx.toks[len(lx.toks)-1]
	switch {
	case t.word == kwTo && last.word == kwEqual:
		last.word = kwEqualTo
	case t.word == kwBy && last.word == kwMultiplied:
		last.word = kwMultipliedBy
	case t.word == kwBy && last.word == kwDivided:
		last.word = kwDividedBy
	default:
		return false
	}
	last.text = last.word.String()
	return true
}

// wordEnd returns where the word that begins at a byte ends.
func wordEnd(line string, i int) int {
	for i < len(line) {
		c := line[i]
		if c == ':' || c == '"' || c == ' ' {
			break
		}
		if c > ' ' && c < utf8.RuneSelf {
			i++
			continue
		}
		if space(line[i:]) > 0 {
			break
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		i += n
	}
	return i
}

// space returns the length of the white space character that a text begins with,
// or 0. The unit separator is one, as it is for other readers of the language.
func space(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if unicode.IsSpace(r) || r == 0x1f {
		return n
	}
	return 0
}

// decorative reports whether a character is dropped from the edges of words.
func decorative(c byte) bool { return c == ',' || c == '.' || c == '?' || c == '!' }

// isNumber reports whether a word is a number: 12, -3 or 0.5.
func isNumber(s string) bool { return (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && isNumberText(s) }

// isDateShaped reports whether a word looks like 2026-01-31.
func isDateShaped(s string) bool {
	return len(s) == len(time.DateOnly) && s[4] == '-' && s[7] == '-' &&
		text.AreDigits(s[:4]) && text.AreDigits(s[5:7]) && text.AreDigits(s[8:])
}

// isDay reports whether a text is a day of the calendar.
func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && isDateShaped(s)
}
