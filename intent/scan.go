package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A kind says what a token is.
type kind byte

const (
	word    kind = iota
	literal      // quoted text or code: opaque
	comma
	stop  // . or !
	ask   // ?
	semi  // ; or a dash between spaces
	colon // :
	line  // one or more line breaks
	gap   // text that is not read
	mark  // anything else, such as a bracket
)

// A token is a piece of a prompt.
type token struct {
	start, end int
	kind       kind
	low        string // the word in lower case
}

// breaks reports whether a clause ends at the token.
func (t token) breaks() bool {
	return slices.Contains([]kind{stop, ask, semi, colon, line, gap}, t.kind)
}

// scan appends the tokens of the text from one offset to before another.
func scan(tokens []token, text string, from, to int) []token {
	s := scanner{text: text[:to], pos: from, tokens: tokens}
	for s.pos < len(s.text) {
		s.next()
	}
	return s.tokens
}

type scanner struct {
	text   string
	pos    int
	tokens []token
}

func (s *scanner) add(k kind, end int) {
	t := token{start: s.pos, end: end, kind: k}
	if k == word {
		t.low = strings.ReplaceAll(strings.ToLower(s.text[s.pos:end]), "’", "'")
	}
	s.tokens = append(s.tokens, t)
	s.pos = end
}

// next reads one token, or skips a space.
func (s *scanner) next() {
	rest := s.text[s.pos:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, "```"):
		s.add(literal, s.pos+fence(rest))
	case r == '\n':
		s.add(line, s.pos+len(rest)-len(strings.TrimLeft(rest, " \t\r\n")))
	case unicode.IsSpace(r), r == utf8.RuneError && size <= 1:
		s.pos += size
	case strings.ContainsRune("`\"“", r):
		if n := quoted(rest, r, size); n > 0 {
			s.add(literal, s.pos+n)
		} else {
			s.add(mark, s.pos+size)
		}
	case r == '\'' && s.single(rest) > 0:
		s.add(literal, s.pos+s.single(rest))
	case s.startsWord(r, rest[max(size, upwards(rest)):]):
		s.add(word, s.pos+wordLength(rest))
	default:
		s.punctuation(r, size)
	}
}

// single returns the length of a single-quoted text at the beginning of rest, or 0. The opening
// quote follows a space, and no letter follows the closing one.
func (s *scanner) single(rest string) int {
	if s.pos > 0 && !strings.ContainsRune(" (\n:", rune(s.text[s.pos-1])) {
		return 0
	}
	row, _, _ := strings.Cut(rest[:min(len(rest), 400)], "\n")
	for n := 1; n < len(row); n++ {
		if row[n] != '\'' || row[n-1] == ' ' || n == 1 {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(rest[n+1:]); n+1 == len(rest) || !wordRune(next) {
			return n + 1
		}
	}
	return 0
}

func (s *scanner) punctuation(r rune, size int) {
	switch r {
	case ',':
		s.add(comma, s.pos+size)
	case '.', '!', '。', '！', '…':
		if n := len(s.tokens); r == '.' && n > 0 && s.tokens[n-1].end == s.pos && abbreviations.Get()[s.tokens[n-1].low] {
			s.pos += size
			return
		}
		s.add(stop, s.pos+size)
	case '?', '？':
		s.add(ask, s.pos+size)
	case ';', '—', '–':
		s.add(semi, s.pos+size)
	case ':', '：':
		s.add(colon, s.pos+size)
	case '-':
		n := len(s.text) - s.pos - len(strings.TrimLeft(s.text[s.pos:], "-"))
		k := mark
		if s.pos > 0 && s.text[s.pos-1] == ' ' && strings.HasPrefix(s.text[s.pos+n:], " ") {
			k = semi
		}
		s.add(k, s.pos+n)
	default:
		s.add(mark, s.pos+size)
	}
}

// abbreviations are words whose full stop does not end a sentence.
var abbreviations = lazy.Words("vs mr mrs ms dr prof approx incl")

// startsWord reports whether a word begins with r. Flags, dot files, relative paths and sums of
// money begin with a sign.
func (s *scanner) startsWord(r rune, after string) bool {
	if wordRune(r) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, "-"))
	return strings.ContainsRune("$€£/.-@", r) && wordRune(next) && (s.pos == 0 || s.text[s.pos-1] <= ' ')
}

// upwards returns the length of the ./ or ../ at the beginning of a path, or 0.
func upwards(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "./"))
	if n < len("./") || text[0] != '.' || text[n-1] != '/' {
		return 0
	}
	return n
}

func wordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// wordLength returns the number of bytes of the word at the beginning of text: letters and
// digits, and signs that join names between them, such as ./a-b.go.
func wordLength(text string) int {
	n := upwards(text)
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		next, _ := utf8.DecodeRuneInString(text[n+size:])
		switch {
		case wordRune(r):
		case n == 0, strings.ContainsRune("'’-./@_=&+", r) && wordRune(next), r == '-' && n == 1:
		case strings.ContainsRune("%+#", r):
		case strings.HasPrefix(text[n:], "://") && n > 1:
			size = 3
		default:
			return n
		}
		n += size
	}
	return n
}

// fence returns the length of the fenced code at the beginning of text. A fence that is not
// closed extends to the end.
func fence(text string) int {
	if end := strings.Index(text[3:], "```"); end >= 0 {
		return 3 + end + 3
	}
	return len(text)
}

// quoted returns the length of the quotation at the beginning of text, or 0 if the quotation
// does not end on its line.
func quoted(text string, open rune, size int) int {
	shut := string(open)
	if open == '“' {
		shut = "”"
	}
	row, _, _ := strings.Cut(text[size:], "\n")
	if end := strings.Index(row, shut); end > 0 {
		return size + end + len(shut)
	}
	return 0
}
