package facts

import (
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// Bounds of the texts of facts, in runes.
const (
	taskRunes     = 600
	sentenceRunes = 300
	lineRunes     = 200
	shortRunes    = 120
)

// cutAtSentence returns s on one line, cut to at most n runes. If a sentence ends in the second
// half of the cut text, the text ends with that sentence.
func cutAtSentence(s string, n int) string {
	said := text.Line(strings.ReplaceAll(s, "**", ""), n)
	if !strings.HasSuffix(said, text.Ellipsis) {
		return said
	}
	for i := len(said) - len(text.Ellipsis) - 1; i > len(said)/2; i-- {
		if text.EndsSentence(said, i) {
			return said[:i+1]
		}
	}
	return said
}

// A sentence is one sentence or list entry of a text.
type sentence struct {
	text   string // on one line, without Markdown before it and ** in it
	head   string // the heading, or the line that ends with a colon, above it; in lower case
	item   bool   // it is in an entry of a list
	number bool   // it is in an entry of a numbered list
	title  bool   // it is a heading
	box    byte   // the mark in the box of a check list: ' ' is open, 'x' is done; 0 without a box
	para   int    // number of its paragraph
}

// sentences splits prose into sentences. Code in fences, tables, quotations and
// lines that are markup are not prose.
func sentences(said string) []sentence {
	var out []sentence
	var fence, heading, label, pending string
	var at sentence
	para := 0
	flush := func() {
		if pending == "" {
			return
		}
		line := pending
		pending = ""
		for line != "" {
			var s string
			s, line = text.FirstSentence(line)
			at.text = s
			out = append(out, at)
		}
	}
	for raw := range strings.SplitSeq(said, "\n") {
		line := strings.TrimSpace(raw)
		if mark := fenceOf(line); fence != "" || mark != "" {
			flush()
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "":
				fence = ""
			}
			continue
		}
		if line == "" {
			flush()
			para++
			continue
		}
		if line[0] == '|' || line[0] == '>' || line[0] == '<' || strings.Trim(line, "-=*_") == "" {
			flush()
			continue
		}
		s := parseLine(line)
		if s.text == "" {
			continue
		}
		if pending != "" && !s.item && !s.title && continuesLine(pending, s.text) {
			pending += " " + s.text
			continue
		}
		flush()
		s.para = para
		labels := strings.HasSuffix(s.text, ":") && len(s.text) < 160
		if !s.item && !labels {
			label = ""
		}
		if s.head = heading; label != "" {
			s.head = label
		}
		switch {
		case s.title:
			heading, label = strings.ToLower(s.text), ""
		case labels:
			label = strings.ToLower(s.text)
			s.title = !s.item
		}
		at, pending = s, s.text
	}
	flush()
	return out
}

// fenceOf returns the fence with which a line begins, ``` or ~~~, or "".
func fenceOf(line string) string {
	for _, f := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, f) {
			return f
		}
	}
	return ""
}

// continuesLine reports whether next continues the sentence of line: the text was wrapped
// between them.
func continuesLine(line, next string) bool {
	c := next[0]
	return len(line) >= 50 && !strings.ContainsRune(".!?:\"", rune(line[len(line)-1])) &&
		('a' <= c && c <= 'z' || c == '`' || c == '(')
}

// parseLine parses a line of Markdown into a sentence without Markdown markup.
func parseLine(line string) sentence {
	var s sentence
	if h := strings.TrimLeft(line, "#"); h != line && len(line)-len(h) <= 6 && strings.HasPrefix(h, " ") {
		s.title = true
		line = strings.TrimSpace(h)
	}
	for _, bullet := range [...]string{"- ", "* ", "• ", "+ ", "– "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			s.item = true
			line = strings.TrimSpace(rest)
			break
		}
	}
	if n := text.Digits(line); n > 0 && n <= 3 && len(line) > n+1 && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		s.item, s.number = !s.title, true
		line = strings.TrimSpace(line[n+1:])
	}
	if len(line) > 3 && line[0] == '[' && line[2] == ']' && line[3] == ' ' && strings.IndexByte(" xX-~", line[1]) >= 0 {
		s.item = true
		s.box = line[1] | 0x20
		line = strings.TrimSpace(line[3:])
	}
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**") && strings.Count(line, "**") == 2
	s.text = text.Line(strings.ReplaceAll(line, "**", ""), len(line)+1)
	if bold && !s.item && len(s.text) < 100 && !strings.HasSuffix(s.text, ".") {
		s.title = true
	}
	return s
}

// phrases is a set of words and phrases to find in a text, by their first word.
type phrases struct {
	lazy.Reading[map[string][]string]
}

// phrasesOf parses a list of phrases, separated by line feeds or bars. It parses the list
// at the first use.
func phrasesOf(list string) *phrases {
	return &phrases{lazy.Reading[map[string][]string]{Text: list, Read: readPhrases}}
}

func readPhrases(list string) map[string][]string {
	p := make(map[string][]string)
	for f := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '\n' || r == '|' }) {
		if f = strings.TrimSpace(f); f != "" {
			w := f[:wordEnd(f)]
			p[w] = append(p[w], f)
		}
	}
	return p
}

// find returns the offset of the first phrase in low, a text in lower case, and the phrase.
// The offset is -1 if there is none.
func (p *phrases) find(low string) (at int, phrase string) {
	table := p.Get()
	for i := 0; i < len(low); {
		if !letter(low[i]) {
			i++
			continue
		}
		n := wordEnd(low[i:])
		for _, f := range table[low[i:i+n]] {
			if strings.HasPrefix(low[i:], f) && (i+len(f) == len(low) || !letter(low[i+len(f)])) {
				return i, f
			}
		}
		i += n
	}
	return -1, ""
}

// in reports whether one of the phrases is in low, a text in lower case.
func (p *phrases) in(low string) bool {
	at, _ := p.find(low)
	return at >= 0
}

// begins reports whether low, a text in lower case, begins with one of the phrases.
func (p *phrases) begins(low string) bool {
	for _, f := range p.Get()[low[:wordEnd(low)]] {
		if strings.HasPrefix(low, f) && (len(f) == len(low) || !letter(low[len(f)])) {
			return true
		}
	}
	return false
}

// wordEnd returns the length of the word that s begins with.
func wordEnd(s string) int {
	n := 0
	for n < len(s) && letter(s[n]) {
		n++
	}
	return n
}

// letter reports whether the byte c is a part of a word: a letter, a digit, an apostrophe,
// an underscore or a byte outside ASCII.
func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '\'' || c == '_' || c >= utf8.RuneSelf
}

// lower returns s in lower case, with straight apostrophes.
func lower(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}
