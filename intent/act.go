package intent

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// An act is a request that a clause makes.
type act struct {
	opener

	at   int // first token of the opener
	body int // first token after the opener, where the object may begin
	slot Slot

	reads string // a misspelled first word, or empty; the field as has the opener for which it is taken
	as    string
	thing string // the noun that changed the verb, such as "plan" in "write a plan"; or empty
	from  int    // first token of the phrase of that noun; the phrase ends before the token in the field to

	unknown string // the verb after "can you" or "please", if it is no known opener
	passive int    // the token after the subject of a passive: "this text must be translated"; or 0
	to      int
	tail    int // the token of a particle that stands after the object, or 0
}

// recognize returns the request that begins at token i. If start is true, a sentence begins there,
// and recognize also accepts words that may be nouns, and words with a typing error.
func (c *compiler) recognize(i, end int, start bool) (act, bool) {
	if i >= end {
		return act{}, false
	}
	at := c.skip(i, end)
	rest := c.tokens[at:end]
	if len(rest) == 0 || rest[0].kind != word || c.goesOn(at) > 0 {
		return act{}, false
	}
	if _, n := negations.Get().at(rest); n > 0 {
		return act{}, false
	}
	rest = american(rest)
	o, n := openers.Get().at(rest)
	if a, ok := c.special(at, end, n, start); ok {
		return a, true
	}
	if stem, ok := c.gerund(at); n == 0 && ok {
		o, n = openers.Get().at(respelled(rest, stem))
	}
	if p, tail := c.particle(at, end); tail > 0 && (n < 2 || p.verb != o.verb) {
		return act{opener: p, at: at, body: at + 1, slot: p.verb.object(), tail: tail}, true
	}
	a := act{at: at}
	if n == 0 && start {
		a.reads = rest[0].low
		a.as = nearest(a.reads)
		o, n = openers.Get().at(respelled(rest, a.as))
	}
	switch {
	case n == 0 && start && c.unknownVerb(i, at, end):
		return act{opener: opener{verb: Transform, form: formVerbFirst, own: true}, at: at, body: at + 1, slot: slotSource, unknown: c.tokens[at].low}, true
	case n == 0, !start && c.isNoun(o, at, at+n, end):
		return act{}, false
	case start && n == 1 && c.compound(o, at, end):
		return c.asked(at, end)
	}
	a.opener, a.body = o, at+n
	if !c.resolve(&a, end, start) {
		return act{}, false
	}
	if a.slot == "" {
		a.slot = a.verb.object()
	}
	a.body = min(a.body, end)
	return a, true
}

// isNoun reports whether opener o, which may also be a noun, is a noun here: in the middle of a
// sentence, with no object after the opener and no polite word before it.
func (c *compiler) isNoun(o opener, at, behind, end int) bool {
	return o.noun && !c.hasObject(behind, end) && !c.is(at-1, "please", "pls", "plz", "you")
}

// special returns the request of a phrase that begins with no opener: a noun at the start of a
// sentence, or "how good is my letter". The first n tokens are an opener, or n is 0.
func (c *compiler) special(at, end, n int, start bool) (act, bool) {
	a := act{opener: opener{form: formStatement}, at: at, body: at}
	if n == 0 && start && c.reclassify(&a, end) {
		return a, true
	}
	if n < 3 && at+3 < end && c.is(at, "how") && !c.is(at+1, "much", "many", "old") && c.is(at+2, "is", "are") && c.is(at+3, "this", "these", "my", "our") {
		return act{opener: opener{verb: Analyze, form: formQuestion}, at: at, body: at + 3, slot: slotTarget}, true
	}
	return act{}, false
}

// gerund returns the verb of a gerund that follows "mind", "help" or "with": "would you mind
// checking".
func (c *compiler) gerund(at int) (string, bool) {
	w := c.tokens[at].low
	stem, ok := strings.CutSuffix(w, "ing")
	if !ok || len(stem) < 3 || !c.is(at-1, "mind", "help", "with") {
		return "", false
	}
	undoubled := stem
	if n := len(stem); stem[n-1] == stem[n-2] {
		undoubled = stem[:n-1]
	}
	for _, v := range []string{stem, stem + "e", undoubled} {
		if o, n := openers.Get().at([]token{{kind: word, low: v}}); n == 1 && o.form == formVerbFirst {
			return v, true
		}
	}
	return "", false
}

// american returns the tokens with the first word in American spelling.
func american(tokens []token) []token {
	w := tokens[0].low
	if stem, ok := strings.CutSuffix(w, "ise"); ok {
		return respelled(tokens, stem+"ize")
	}
	if stem, ok := strings.CutSuffix(w, "yse"); ok {
		return respelled(tokens, stem+"yze")
	}
	return tokens
}

// respelled returns the first few tokens, with w in place of the first word.
func respelled(tokens []token, w string) []token {
	return append([]token{{kind: word, low: w}}, tokens[1:min(len(tokens), 8)]...)
}

// unknownVerb reports whether a request with an unknown verb begins at token at: a polite phrase
// stands before the verb, and an object after it.
func (c *compiler) unknownVerb(i, at, end int) bool {
	for k := i; k < at; k++ {
		if _, n := polite.Get().at(c.tokens[k:at]); n > 0 {
			return c.hasObject(at+1, end) && !determiners.Get()[c.tokens[at].low] && !pronouns.Get()[c.tokens[at].low]
		}
	}
	return false
}

// passive returns the request of a clause in the passive voice: "this draft needs to be turned
// into a letter".
func (c *compiler) passive(i, end int) (act, bool) {
	at := c.skip(i, end)
	for k := at + 1; k+1 < min(end, at+14); k++ {
		if !c.is(k, "be", "getting") || !c.is(k-1, "to", "should", "must", "can") {
			continue
		}
		w := c.tokens[k+1].low
		for _, stem := range []string{strings.TrimSuffix(w, "ed"), strings.TrimSuffix(w, "d"), strings.TrimSuffix(w, "ten") + "e"} {
			if o, n := openers.Get().at([]token{{kind: word, low: stem}}); n == 1 && stem != w && o.form == formVerbFirst {
				subject := k - 1
				for subject > at && c.is(subject-1, "needs", "need", "has", "have") {
					subject--
				}
				o.form = formTargetFirst
				return act{opener: o, at: at, body: k + 2, slot: o.verb.object(), passive: subject}, true
			}
		}
	}
	return act{}, false
}

// window is the number of tokens that are searched for polite words, and for a request inside a
// wish. The bound keeps the time linear.
const window = 24

// skip returns the first token that is neither a polite word nor a comma nor a mark.
func (c *compiler) skip(i, end int) int {
	for last := i + window; i < min(end, last); {
		_, n := fillers.Get().at(c.tokens[i:end])
		if n == 0 && (c.tokens[i].kind == comma || c.tokens[i].kind == mark) {
			n = 1
		}
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// hasObject reports whether an object begins at a token.
func (c *compiler) hasObject(i, end int) bool {
	if i >= end {
		return false
	}
	t := c.tokens[i]
	return t.kind == literal || t.kind == word && (determiners.Get()[t.low] || pronouns.Get()[t.low] || t.low[0] >= 0x80 || strings.ContainsAny(t.low, "/._"))
}

var (
	determiners = lazy.Words("a an the my our your his her their its this that these those all any every each what whether if how why where which some both no one two three four five more whatever")
	pronouns    = lazy.Words("it this that these those them they everything something anything him her me us one ones")
)

// is reports whether the token is one of the words.
func (c *compiler) is(i int, words ...string) bool {
	if i < 0 || i >= len(c.tokens) || c.tokens[i].kind != word {
		return false
	}
	return slices.Contains(words, c.tokens[i].low)
}

// anyOf returns the index of the first of the next window tokens that is one of the words, or
// end.
func (c *compiler) anyOf(i, end int, words ...string) int {
	for last := i + window; i < min(end, last); i++ {
		if c.is(i, words...) {
			return i
		}
	}
	return end
}

// has reports whether one of the next window tokens is one of the words.
func (c *compiler) has(i, end int, words ...string) bool { return c.anyOf(i, end, words...) < end }

// nearest returns the opener that differs from w by one typing error: one letter too many,
// missing, wrong or swapped. It returns "" if there is none or more than one.
func nearest(w string) string {
	found := ""
	for _, v := range slipWords {
		if w[0] == v[0] && oneTypoApart(w, v) {
			if found != "" {
				return ""
			}
			found = v
		}
	}
	return found
}

var slipWords = strings.Fields(`explain describe write create generate draft translate rewrite convert summarize review analyze
	compare check plan debug fix correct improve evaluate suggest implement update refactor make recommend choose`)

// oneTypoApart reports whether a and b differ by one typing error. Both are short.
func oneTypoApart(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	ra, rb := a[i:], b[i:]
	switch {
	case a == b+"d", a == b+"s", a == b+"r":
		return false
	case i >= 5 && len(a) == len(b):
		return true
	case len(b) < 5:
		return len(a) == len(b)+1 && a[len(a)-1] == a[len(a)-2] && a[:len(b)] == b
	case len(ra) == len(rb):
		return ra[1:] == rb[1:] || ra[0] == rb[1] && ra[1] == rb[0] && ra[2:] == rb[2:] // ra has a letter at least, and two if the first arm is false
	case len(ra) == len(rb)+1:
		return ra[1:] == rb
	default:
		return len(rb) == len(ra)+1 && rb[1:] == ra
	}
}
