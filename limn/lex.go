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
	lexEnd      lexemeKind = iota // end of the line
	lexWord                       // a name or an unquoted text
	lexKeyword                    // a reserved word, or an operator of two words
	lexPackVerb                   // a verb of a pack
	lexNumber
	lexDate
	lexText // quoted
	lexColon
)

// A lexeme is a word of a line, a quoted text, or a colon.
type lexeme struct {
	kind lexemeKind
	word keyword // the reserved word of a lexKeyword; kwCombine for the lexWord "combine"
	noun bool    // a lexWord is a noun of a pack
	pos  int     // byte offset in the line
	text string  // in lower case, without punctuation at the edges; quoted text is unchanged
}

func (t lexeme) is(k keyword) bool { return t.word == k }

// names reports whether a lexeme can be a name. The former keyword "combine" can only be a
// text.
func (t lexeme) names() bool { return t.kind == lexWord && !t.is(kwCombine) }

// isVerb reports whether a lexeme is a verb of the language or of a pack.
func (t lexeme) isVerb() bool {
	return t.kind == lexPackVerb || t.kind == lexKeyword && t.word.category() == catVerb
}

// startsOp reports whether a lexeme after "and" begins a new operation. Otherwise the "and"
// continues a list or a condition.
func (t lexeme) startsOp() bool { return t.isVerb() || t.is(kwInherited) }

// isArticle reports whether a lexeme is "the", "a" or "an".
func (t lexeme) isArticle() bool { return t.kind == lexKeyword && t.word.category() == catArticle }

// A lexer splits lines into lexemes.
type lexer struct {
	verbs map[string]*packVerb
	nouns map[string]bool
	toks  []lexeme // lexemes of the current line; the last one is lexEnd
}

// newLexer returns a lexer that knows the verbs and nouns of the packs.
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

// lex splits a line into lx.toks. At the first invalid lexeme it stops and returns a fault;
// lx.toks then has the lexemes before that.
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

// quoted appends the quoted text that begins at line[start] and returns the offset after it.
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

// bare appends the unquoted word line[start:end], without punctuation at its edges.
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

// classify sets the kind of a lexeme. It fails for a date that does not exist.
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

// merge joins a lexeme to the previous one if both together are an operator of two words,
// and reports whether it did.
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

// wordEnd returns the offset of the end of the word that begins at line[i].
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

// space returns the length in bytes of the white space character at the start of text, or 0.
// The unit separator counts as white space, as in other implementations of the language.
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

// isDay reports whether s is a date that exists, as yyyy-mm-dd.
func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
