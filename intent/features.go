package intent

import (
	_ "embed"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A reader receives the name of each feature, and the index of its token, or -1 if the feature
// is about the whole prompt. The name is valid only during the call.
type reader func(name []byte, at int)

// The most words from which features are made: of the first request, of the rest, and in all.
const (
	requestWords = 16
	otherWords   = 60
	allWords     = 120
)

// A namer composes the names of features and passes them to a reader.
type namer struct {
	*compiler

	read reader
	buf  []byte
}

// add passes a feature to the reader. Its name is the kind, which is a letter or two, "=" and the
// parts. The index of its token, or -1, is in at.
func (n *namer) add(at int, kind string, parts ...string) {
	if at >= len(n.tokens) {
		at = -1
	}
	n.buf = append(append(n.buf[:0], kind...), '=')
	for i, p := range parts {
		if i > 0 {
			n.buf = append(n.buf, ' ')
		}
		n.buf = append(n.buf, p...)
	}
	n.read(n.buf, at)
}

// features passes each feature of a prompt to the function read. The names are those of
// weights.txt. Their first letters are the kind:
//
//	f, q    how the prompt, and how the first request, begins: one word or two
//	        (1, 2), the class of the first (c), the article or pronoun after it (d),
//	        the noun at the end of the phrase (g), its class (G), both classes (o)
//	h, a    the first words of clauses, and the verbs that the rules give them
//	?       the first words of questions: one word or two
//	w, b    words of the request, and pairs of them
//	m, kk   a word with the class of the next, and both classes
//	k, K    classes of words in the request, and in the whole prompt
//	n, t    nouns of the request that ask for something
//	x       words outside of the request
//	l, e, E length, the token after the request, and the last token of the prompt
//
// A full stop at the end of the prompt is no feature.
func (c *compiler) features(f *finding, read reader) {
	n := &namer{compiler: c, read: read}
	n.add(-1, "bias")
	if len(c.clauses) == 0 {
		return
	}
	p := f.parts[0]
	req := clause{from: p.act.at, to: p.end}
	if p.blind {
		req = c.clauses[0]
	} else {
		n.head("q", req)
	}
	n.head("f", c.clauses[0])
	for k, cl := range c.clauses {
		if k >= 6 && k < len(c.clauses)-4 {
			continue
		}
		i := c.skip(cl.from, cl.to)
		n.add(i, "h", c.text1(i))
		if cl.act != nil {
			n.add(cl.act.at, "a", string(cl.act.verb))
		}
		if c.asksAt(cl.to) {
			n.add(i, "?1", c.text1(i))
			n.add(i, "?2", c.text1(i), c.text1(i+1))
		}
	}
	from := c.skip(req.from, req.to)
	n.request(from, req.to)
	n.others(from, req.to)
}

// asksAt reports whether token i is a question mark.
func (c *compiler) asksAt(i int) bool { return i < len(c.tokens) && c.tokens[i].kind == ask }

// head passes on the features of the beginning of a clause.
func (n *namer) head(kind string, cl clause) {
	i := n.skip(cl.from, cl.to)
	n.add(i, kind+"1", n.text1(i))
	n.add(i, kind+"2", n.text1(i), n.text1(i+1))
	n.add(i, kind+"d", n.lead(i+1))
	for _, class := range n.classes(i) {
		n.add(i, kind+"c", class)
	}
	noun := n.lastOfPhrase(i, cl.to)
	n.add(noun, kind+"g", n.text1(noun))
	for _, class := range n.classes(noun) {
		n.add(noun, kind+"G", class)
		for _, first := range n.classes(i) {
			n.add(noun, kind+"o", first, class)
		}
	}
}

// lastOfPhrase returns the last token of the noun phrase that begins at token i.
func (c *compiler) lastOfPhrase(i, end int) int {
	last := i
	for k := i; k < min(end, i+8) && c.tokens[k].kind == word && (k == i || !phraseEnds.Get()[c.tokens[k].low]); k++ {
		last = k
	}
	return last
}

// request passes on the features of the words of the first request.
func (n *namer) request(from, to int) {
	for i := from; i < min(to, from+requestWords); i++ {
		t := n.tokens[i]
		if t.kind == word {
			n.add(i, "w", n.text1(i))
		}
		if t.kind == word && i > from {
			n.add(i, "n", string(wanted.Get()[t.low]))
			n.add(i, "t", string(things.Get()[t.low]))
			for _, class := range n.classes(i) {
				n.add(i, "k", class)
			}
		}
		if i+1 >= to {
			continue
		}
		n.add(i, "b", n.text1(i), n.text1(i+1))
		for _, next := range n.classes(i + 1) {
			n.add(i, "m", n.text1(i), next)
			for _, class := range n.classes(i) {
				n.add(i, "kk", class, next)
			}
		}
	}
}

// others passes on the features of the words outside of the first request, and the length.
func (n *namer) others(from, to int) {
	words, quotes := 0, false
	for i, t := range n.tokens {
		quotes = quotes || t.kind == literal
		if t.kind != word {
			continue
		}
		words++
		if i < allWords {
			for _, class := range n.classes(i) {
				n.add(i, "K", class)
			}
		}
		if len(n.tokens) <= otherWords && (i < from || i >= to) {
			n.add(i, "x", n.text1(i))
		}
	}
	if quotes {
		n.add(-1, "quotes")
	}
	length := "long"
	for _, l := range []struct {
		most int
		name string
	}{{1, "1"}, {2, "2"}, {3, "3"}, {6, "6"}, {12, "12"}, {24, "24"}} {
		if words <= l.most {
			length = l.name
			break
		}
	}
	n.add(-1, "l", length)
	last := len(n.tokens)
	for last > 0 && n.tokens[last-1].kind == stop {
		last--
	}
	if to >= last {
		to = len(n.tokens)
	}
	n.add(-1, "e", n.text1(to))
	if last > 0 && n.tokens[last-1].kind != word {
		n.add(-1, "E", n.text1(last-1))
	}
}

// signs are the names of tokens that are no words, in features.
var signs = map[kind]string{literal: `""`, comma: ",", stop: ".", ask: "?", semi: ";", colon: ":", line: "/", gap: "...", mark: "*"}

// text1 returns the name of a token in features: a word in lower case, "#" for a number, a sign,
// or "$" for the end of the prompt.
func (c *compiler) text1(i int) string {
	if i < 0 || i >= len(c.tokens) || c.tokens[i].kind == stop && i == len(c.tokens)-1 {
		return "$"
	}
	t := c.tokens[i]
	switch {
	case t.kind != word:
		return signs[t.kind]
	case t.low[0] >= '0' && t.low[0] <= '9':
		return "#"
	default:
		return t.low
	}
}

// lead returns the kind of the token after a verb: "a" or "the" for an article, "it" for a
// pronoun, "#" for a number, "-" for another word.
func (c *compiler) lead(i int) string {
	if i >= len(c.tokens) || c.tokens[i].kind != word {
		return c.text1(i)
	}
	switch {
	case c.is(i, "a", "an", "some", "another"):
		return "a"
	case c.is(i, "the", "my", "our", "your", "his", "her", "their", "this", "these", "that"):
		if i+1 >= len(c.tokens) || c.tokens[i+1].kind != word {
			return "it"
		}
		return "the"
	case pronouns.Get()[c.tokens[i].low]:
		return "it"
	case isNumber(c.tokens[i].low):
		return "#"
	default:
		return "-"
	}
}

// classes returns the classes of a token: those of the word or of its singular, or else a class
// by its ending.
func (c *compiler) classes(i int) []string {
	if i < 0 || i >= len(c.tokens) {
		return nil
	}
	low := c.tokens[i].low // "" if the token is no word
	if list := classes.Get()[low]; list != nil {
		return list
	}
	for _, e := range endings {
		if len(low) >= e.least && strings.HasSuffix(low, e.end) {
			return e.class
		}
	}
	if strings.ContainsAny(low, "/._") {
		return fileClass
	}
	for _, end := range []string{"s", "es"} {
		if stem, ok := strings.CutSuffix(low, end); ok && classes.Get()[stem] != nil {
			return classes.Get()[stem]
		}
	}
	return nil
}

var fileClass = []string{"File"}

var endings = []struct {
	end   string
	least int
	class []string
}{
	{"error", 5, []string{"Nfault"}},
	{"exception", 9, []string{"Nfault"}},
	{"n't", 4, []string{"Fsym"}},
	{"ing", 6, []string{"Ing"}},
	{"ed", 5, []string{"Ed"}},
	{"ly", 5, []string{"Ly"}},
	{"er", 5, []string{"Er"}},
	{"est", 6, []string{"Est"}},
}

// classes are groups of words that are similar evidence for a verb. A word may be in several.
var classes = lazy.Value[map[string][]string]{Make: func() map[string][]string {
	m := make(map[string][]string)
	for row := range strings.Lines(classList) {
		name, words, _ := strings.Cut(row, ": ")
		for w := range strings.FieldsSeq(words) {
			m[w] = append(m[w], name)
		}
	}
	return m
}}

// classList has a class in each row: its name, a colon, and its words. Names with V are verbs of
// the seven kinds of work, N nouns, F words of a fault.
//
//go:embed classes.txt
var classList string
