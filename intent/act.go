package intent

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// An act is a request that a clause makes.
type act struct {
	opener

	at   int // where its opener begins
	body int // where what it speaks of begins
	slot Slot

	reads string // the word that was read as another, or empty
	as    string
	thing string // the noun that changed the verb, or empty
	from  int    // where the phrase of that noun begins; it ends before to

	unknown string // a word after "can you" that is no opener
	passive int    // where the subject ends: "this text must be translated"
	to      int
	tail    int // where the particle of the verb stands behind its object, or 0
}

// recognize returns the request that begins at a token. At the start of a
// sentence it takes words that may be nouns, and misspelled ones.
func (c *compiler) recognize(i, end int, start bool) (act, bool) {
	if i >= end {
		return act{}, false
	}
	at := c.skip(i, end)
	rest := c.tokens[at:end]
	if len(rest) == 0 || rest[0].kind != word {
		return act{}, false
	}
	if _, n := negations().at(rest); n > 0 {
		return act{}, false
	}
	if c.goesOn(at) > 0 {
		return act{}, false
	}
	a := act{at: at}
	rest = american(rest)
	o, n := openers().at(rest)
	if a := (act{opener: opener{form: formStatement}, at: at, body: at}); n == 0 && start && c.reclassify(&a, end) {
		return a, true
	}
	if c.is(at, "how") && at+3 < end && c.is(at+2, "is", "are") && n < 3 && c.is(at+3, "this", "these", "my", "our") && !c.is(at+1, "much", "many", "old") {
		return act{opener: opener{verb: Analyze, form: formQuestion}, at: at, body: at + 3, slot: slotTarget}, true
	}
	if stem, ok := c.gerund(at); n == 0 && ok {
		o, n = openers().at(respelled(rest, stem))
	}
	if p, tail := c.particle(at, end); tail > 0 && (n < 2 || p.verb != o.verb) {
		return act{opener: p, at: at, body: at + 1, slot: p.verb.object(), tail: tail}, true
	}
	if n == 0 && start {
		a.reads = rest[0].low
		a.as = nearest(a.reads)
		o, n = openers().at(respelled(rest, a.as))
	}
	if n == 0 && start && c.unknownVerb(i, at, end) {
		return act{opener: opener{verb: Transform, form: formVerbFirst, own: true}, at: at, body: at + 1, slot: slotSource, unknown: c.tokens[at].low}, true
	}
	if n == 0 || o.noun && !start && !c.hasObject(at+n, end) && !c.is(at-1, "please", "pls", "plz", "you") {
		return act{}, false
	}
	if (o.noun || c.is(at, "commit", "merge", "cover", "thank", "study")) && start && n == 1 && c.compound(at, end) {
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

// gerund returns the verb of a gerund behind words that ask for one: "would you
// mind checking".
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
		if o, n := openers().at([]token{{kind: word, low: v}}); n == 1 && o.form == formVerbFirst {
			return v, true
		}
	}
	return "", false
}

// american returns tokens of which the first is spelled in the American way.
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

// respelled returns a few tokens of which the first is another word.
func respelled(tokens []token, w string) []token {
	return append([]token{{kind: word, low: w}}, tokens[1:min(len(tokens), 8)]...)
}

// unknownVerb reports whether a request begins at a token with a word that is
// no opener: something polite stands before it, and an object behind it.
func (c *compiler) unknownVerb(i, at, end int) bool {
	for k := i; k < at; k++ {
		if _, n := polite().at(c.tokens[k:at]); n > 0 {
			return c.hasObject(at+1, end) && !determiners()[c.tokens[at].low] && !pronouns()[c.tokens[at].low]
		}
	}
	return false
}

// passive returns a request in the passive: "this draft needs to be turned into
// a letter".
func (c *compiler) passive(i, end int) (act, bool) {
	at := c.skip(i, end)
	for k := at + 1; k+1 < min(end, at+14); k++ {
		if !c.is(k, "be", "getting") || !c.is(k-1, "to", "should", "must", "can") {
			continue
		}
		w := c.tokens[k+1].low
		for _, stem := range []string{strings.TrimSuffix(w, "ed"), strings.TrimSuffix(w, "d"), strings.TrimSuffix(w, "ten") + "e"} {
			if o, n := openers().at([]token{{kind: word, low: stem}}); n == 1 && stem != w && o.form == formVerbFirst {
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

// window is how many tokens are looked at for what is polite, and for a request
// within a wish. It keeps the time linear.
const window = 24

// skip returns the first token that is not polite, and no comma.
func (c *compiler) skip(i, end int) int {
	for last := i + window; i < min(end, last); {
		_, n := fillers().at(c.tokens[i:end])
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
	return t.kind == literal || t.kind == word && (determiners()[t.low] || pronouns()[t.low] || t.low[0] >= 0x80 || strings.ContainsAny(t.low, "/._"))
}

var (
	determiners = lazy.Words("a an the my our your his her their its this that these those all any every each what whether if how why where which some both no one two three four five more whatever")
	pronouns    = lazy.Words("it this that these those them they everything something anything him her me us one ones")
)

// resolve settles what depends on the words after the opener. It reports
// whether there is a request at all.
func (c *compiler) resolve(a *act, end int, start bool) bool {
	switch a.how {
	case making:
		c.resolveMake(a, end)
	case giving:
		if c.is(a.at, "get") && c.is(a.body-1, "me", "us") && c.is(a.body, "from", "ready", "started", "into", "up") {
			a.verb, a.slot = Plan, slotGoal
			return true
		}
		if c.is(a.at, "give") && c.is(end-1, "once-over", "look", "read", "check", "review", "read-through", "going-over") {
			a.verb, a.slot = Analyze, slotTarget
			return true
		}
		if k := c.anyOf(a.body+1, min(end, a.body+6), "a", "an"); c.is(a.at, "give") && c.is(a.body, "this", "it", "that", "these", "my", "our", "the") && k < min(end, a.body+6) && !c.somebody(a.body, k) {
			a.verb, a.slot = Transform, slotSource
			return true
		}
		if c.weighs(a, end) {
			return true
		}
		return c.reclassify(a, end) || a.verb == Create && !c.is(a.at, "do", "provide") || c.hasObject(a.body, end)
	case telling:
		c.resolveTell(a)
	case helping:
		return c.resolveHelp(a, end)
	case wanting:
		return c.resolveWant(a, end)
	case yesNo:
		return start && (c.resolveYesNo(a, end) || c.is(a.at, "do", "have") && (c.reclassify(a, end) || c.makes(a)))
	case whyMine:
		a.body--
		if !strings.HasPrefix(c.tokens[a.body].low, "w") && !determiners()[c.tokens[a.body].low] {
			a.body++
		}
		denied := c.is(a.at+1, "isn't", "aren't", "doesn't", "don't", "won't", "can't") && c.is(a.body, "this", "it", "that")
		near := min(end, a.body+2*window)
		told := c.is(a.body, "my", "our", "the", "this", "these") && c.malfunction(clause{from: a.body, to: near})
		if told || denied || c.is(a.body, "my", "our") && !c.is(a.at+1, "do", "does", "did") || c.findSymptom(a.body, near) < near {
			a.verb = Fix
		}
	case getting:
		if c.hasObject(a.body, end) && c.works(a.body, end) < end {
			return true
		}
		a.verb, a.how = Plan, bringing
		return c.resolve(a, end, start)
	case naming:
		a.slot = slotTargetForm
	case showing: // set by resolveWhat, of no opener
	case stopping:
		return c.hasObject(a.body, end) && c.stopped(a.body, end) < end
	case breaking:
		into := c.anyOf(a.body, end, "into")
		return c.hasObject(a.body, end) && (c.anyOf(a.body, end, "down") < end || c.is(into+1, "steps", "tasks", "subtasks", "milestones", "phases", "stages") && into+1 < end)
	case addressing:
		if k := c.anyOf(a.body, min(end, a.body+4), "how", "why", "what", "about", "where"); k < min(end, a.body+4) && c.is(a.at, "tell", "remind") {
			a.verb, a.slot = Explain, slotTarget
			return true
		}
		return c.somebody(a.body, end) || c.named(a.body) || c.is(a.body, "the", "my", "our", "his", "her", "their", "all") && c.is(a.at, "invite", "congratulate", "remind", "notify", "inform", "email", "e-mail", "mail", "thank", "ask", "tell", "wish", "persuade", "convince", "apologize")
	case letting:
		return c.hasObject(a.body, end) && !c.is(a.body, "me", "us", "it", "that", "this")
	case looking:
		if c.is(a.body, "this", "that", "it", "these") {
			a.verb, a.slot = Transform, slotSource
		}
		like := c.anyOf(a.body, end, "look")
		return like < end && c.is(like+1, "like")
	case bringing:
		from := c.anyOf(a.body, end, "from")
		return c.is(a.body, "me", "us") && (c.anyOf(from, end, "to") < end || c.is(a.body+1, "ready", "started", "in", "to", "into", "off"))
	case picking:
		if k := c.anyOf(a.body, end, "see", "notice", "spot", "find"); k < end && c.is(k-1, "you") {
			a.verb, a.how, a.slot = Analyze, plain, slotTarget
			return true
		}
		return c.is(a.body+1, "should") || c.is(a.body+2, "should")
	case inventing:
		a.body++
		return a.body < end
	case plain:
		switch {
		case a.verb == Plan && a.form == formQuestion:
			c.resolveHow(a, end)
		case a.verb == Explain && a.form == formQuestion && c.is(a.at, "what", "what's", "whats"):
			c.resolveWhat(a, end)
		case a.verb == Decide && c.is(a.at, "which") && a.form == formQuestion && a.body < end:
			c.resolveWhich(a, end)
		case a.verb == Explain && a.form == formQuestion && c.is(a.at+1, "many", "much", "often", "long") && c.looked(a.body, end):
			a.verb = Analyze
		case a.verb == Explain && c.is(a.at, "who", "when") && (c.is(end-2, "this", "these", "my", "our") || c.is(end-1, "below", "above")):
			a.verb = Analyze
		case a.verb == Explain && c.is(a.at, "who") && c.anyOf(a.body, end, "or") < end:
			a.verb = Decide
		case a.verb == Create && c.is(a.at, "write") && c.is(a.body, "this", "it", "that", "these") && c.is(a.body+1, "as", "in"):
			a.verb, a.slot = Transform, slotSource
			return true
		case a.verb == Transform && c.is(a.at, "put") && c.is(a.body, "a", "an", "some"):
			a.verb = Create
		case a.verb == Plan && c.is(a.at, "break") && a.form == formVerbFirst && (c.heard(a.body, end) || c.is(a.body, "how", "why", "what")):
			a.verb = Explain
		case a.verb == Analyze && c.is(a.at, "go") && c.is(end-1, "me", "us") && c.is(end-2, "with"):
			a.verb = Explain
		case a.verb == Transform && c.is(a.at, "put") && c.anyOf(a.body, end, "in", "into", "to", "as", "on", "under") == end:
			a.verb = Create
		case a.verb == Transform && c.is(a.at, "set") && c.anyOf(a.body, end, "to") == end:
			a.verb = Create
		case a.verb == Explain && a.form == formQuestion && (c.is(a.at, "in") || c.is(a.at, "how") && c.is(a.at+1, "much", "many", "long", "far", "old", "big", "tall", "deep", "heavy", "fast", "high")):
			a.body = a.at // the whole question: its first words say what is asked for
		case a.verb == Explain && c.is(a.at, "how") && (c.anyOf(a.body, end, "compare") < end || c.is(a.at+1, "did", "has") && c.is(end-1, "go", "do", "perform", "fare", "gone", "out", "performed", "done")):
			a.verb = Analyze
		case a.verb == Explain && c.is(a.at, "how") && c.is(a.body, "my", "this", "our") && c.is(end-1, "look", "sound", "read"):
			a.verb = Analyze
		case a.verb == Fix && c.is(a.at, "handle", "take", "deal", "manage", "sort") && c.ahead(a.body, end, 5, occasionPlans()):
			a.verb = Plan
		case a.verb == Analyze && c.is(a.at, "find", "spot", "locate", "identify", "hunt", "search") && (c.ahead(a.body, end, 3, faults()) && c.mends(a.body, end) || c.mendsIt(a.body, end)):
			a.verb = Fix
		case a.verb == Fix && c.prose(a.body, end):
			a.verb, a.own = Transform, true
		case a.verb == Create && c.is(a.at, "prepare") && c.is(a.body, "for"):
			a.verb, a.body = Plan, a.at
		case a.verb == Analyze && c.is(a.at, "check") && c.is(a.body, "if", "whether", "that"):
			a.how = telling
			a.body++
		}
		if a.verb == Create && c.is(a.at, "write", "draft", "create", "generate", "prepare", "produce", "compose", "develop", "design", "make", "set", "put", "come", "draw", "build", "whip", "send", "propose", "suggest", "outline", "organize", "devise", "assemble") || a.verb == Plan && a.form == formVerbFirst {
			c.reclassify(a, end)
		}
	}
	return true
}

// mends reports whether a later word of the prompt says that what is looked for is
// to be mended.
func (c *compiler) mends(i, end int) bool {
	for ; i < min(len(c.tokens), end+window); i++ {
		if c.is(i, "fix", "squash", "mend", "repair", "patch", "correct", "solve", "resolve", "remove", "eliminate", "kill") {
			return true
		}
	}
	return false
}

// compared reports whether one of the words is an adjective that compares.
func (c *compiler) compared(i, end int) bool {
	for k := i; k < min(end, i+4); k++ {
		if c.is(k, "best", "worse", "better") || c.is(k-1, "the", "which") && len(c.tokens[k].low) > 4 && (strings.HasSuffix(c.tokens[k].low, "er") || strings.HasSuffix(c.tokens[k].low, "est")) && c.tokens[k].kind == word {
			return true
		}
	}
	return false
}

// makes reports whether "do" asks for a thing: "could you do a card".
func (c *compiler) makes(a *act) bool {
	if a.at > 0 && c.is(a.body, "a", "an", "some", "me", "us") {
		a.verb, a.form, a.how, a.slot = Create, formVerbFirst, giving, slotArtifact
		return true
	}
	return false
}

// heard reports whether it says for whom something is.
func (c *compiler) heard(i, end int) bool {
	k := c.anyOf(i, end, "for", "to")
	return k < end && c.somebody(k+1, end)
}

// looked reports whether a question is about something that is at hand.
func (c *compiler) looked(i, end int) bool {
	for k := i; k < min(end, i+window); k++ {
		if c.is(k, "this", "these", "our", "my", "attached", "below", "above") || c.tokens[k].kind == word && k > i && strings.ContainsAny(c.tokens[k].low, "/._") && !isNumber(c.tokens[k].low) {
			return true
		}
	}
	return false
}

// mendsIt reports whether the sentence goes on with "and fix it".
func (c *compiler) mendsIt(i, end int) bool {
	for ; i < min(len(c.tokens)-1, end+4); i++ {
		if c.is(i, "fix", "mend", "repair", "patch", "correct", "solve", "resolve") && c.is(i+1, "it", "them", "that") {
			return true
		}
	}
	return false
}

// is reports whether the token is one of the words.
func (c *compiler) is(i int, words ...string) bool {
	if i < 0 || i >= len(c.tokens) || c.tokens[i].kind != word {
		return false
	}
	return slices.Contains(words, c.tokens[i].low)
}

// resolveMake parts "make a list" from "make the text shorter" and from "make
// the tests pass".
func (c *compiler) resolveMake(a *act, end int) {
	switch {
	case c.reclassify(a, end):
	case c.is(a.body, "a", "an") && c.is(end-2, "of", "from") && c.is(end-1, "it", "them", "this", "that", "these", "those"):
		a.verb, a.slot = Transform, slotTargetForm
	case c.is(end-1, "again") && c.is(end-2, "run", "compile"), c.works(a.body+1, end) < end, c.stopped(a.body, end) < end:
		a.verb = Fix
	case c.is(a.body, "it", "this", "that", "them", "these") && a.body+1 < end:
		a.verb = Transform
	case c.hasObject(a.body, end) && !c.is(a.body, "a", "an", "some", "me", "us") && c.anyOf(a.body+1, min(end, a.body+6), "show", "display", "print", "return", "accept", "support", "include", "contain", "send", "save", "log", "open", "remember", "list") < min(end, a.body+6):
	case c.hasObject(a.body, end) && !c.is(a.body, "a", "an", "some", "one", "two", "three", "me", "us") && c.formAt(a.body+1, end) < end:
		a.verb = Transform
	}
}

// reclassify changes the verb by the noun that is asked for.
func (c *compiler) reclassify(a *act, end int) bool {
	i := a.body
	if bare := a.thing == "" && a.at == a.body; !bare && !c.is(i, "a", "an", "the", "some", "me", "us", "your", "my", "feedback") {
		return false
	}
	for ; i < end && i < a.body+8; i++ {
		t := c.tokens[i]
		if t.kind != word && t.kind != comma {
			return false
		}
		v, ok := things()[t.low]
		if !ok {
			if lineByLine := t.low == "by" && i > a.body && i+1 < end && c.tokens[i-1].low == c.tokens[i+1].low; linkWords()[t.low] && !lineByLine {
				return false
			}
			continue
		}
		if next := i + 1; next < end && !linkWords()[c.tokens[next].low] && c.tokens[next].kind != comma {
			continue
		}
		a.verb, a.thing, a.slot = v, t.low, v.object()
		a.from, a.to = a.body, i+1
		a.body = i + 1
		if c.is(a.body, "of", "for", "to", "on", "about", "into", "between") && a.body < end {
			a.body++
		}
		return true
	}
	return false
}

var linkWords = lazy.Words("of for to on about into in from with by that which and as between , please over how what why")

func (c *compiler) resolveTell(a *act) {
	switch {
	case c.is(a.body, "if", "whether", "which") && c.is(a.body+1, "i", "we") && c.is(a.body+2, "should"):
		a.verb = Decide
		a.body += 3
	case c.is(a.body, "which", "what", "who", "where") && c.is(a.body+1, "to"), c.is(a.body, "which", "what") && c.is(a.body+2, "to", "should"):
		a.verb = Decide
	case c.is(a.body, "which") && (c.is(a.body+1, "is", "are", "of") || c.is(a.body+1, "one", "option")):
		a.verb = Decide
	case c.is(a.body, "a", "an", "another") && !c.is(a.body+1, "bit", "little"):
		a.verb = Create
	case c.is(a.body, "how") && c.is(a.body+1, "many", "much", "often"):
		a.verb = Analyze
	case c.is(a.body, "what's", "whats") && c.is(a.body+1, "missing", "wrong"):
		a.verb = Analyze
	case c.is(a.body, "if", "whether", "which"), c.is(a.body, "what") && c.is(a.body+1, "is", "you") && c.is(a.body+2, "wrong", "think"):
		a.verb = Analyze
		a.body++
		if c.is(a.body+1, "wrong", "think") {
			a.body += 3
		}
	}
	a.slot = a.verb.object()
}

// resolveHow takes a question about a way to mend something for a repair, as in
// "how do I stop it from crashing?".
func (c *compiler) resolveHow(a *act, end int) {
	inner, ok := c.recognize(a.body, min(end, a.body+window), true)
	if ok && inner.verb == Fix && inner.reads == "" && !c.is(inner.at, "handle", "address", "patch", "correct", "sort") && (!inner.noun || inner.body >= end || c.hasObject(inner.body, end)) {
		inner.form = formQuestion
		*a = inner
	}
}

// resolveWhat takes a question about what something at hand says for an
// analysis, and one about weak and strong sides as well.
func (c *compiler) resolveWhat(a *act, end int) {
	from := a.body
	if from < end && c.tokens[from].kind == word && isNumber(c.tokens[from].low) && strings.HasSuffix(c.tokens[from].low, "%") {
		a.verb, a.slot = Analyze, slotTarget
		return
	}
	if c.is(from, "the") {
		from++
	}
	for k := from; k < min(end, from+3); k++ {
		if c.tokens[k].kind == word && wanted()[c.tokens[k].low] == Analyze && c.is(k+1, "of", "in", "for") && (c.looked(k+1, end) || isNumber(c.tokens[min(k+2, end-1)].low)) {
			a.verb, a.slot, a.body = Analyze, slotTarget, from
			return
		}
	}
	if c.is(from, "better", "best", "cheaper", "cheapest", "safest", "safer") || c.anyOf(a.body, end, "or") < end && c.compared(a.body, end) {
		a.verb, a.slot = Decide, slotOptions
		return
	}
	said := c.anyOf(a.body, end, "tell", "show", "say", "suggest", "reveal", "indicate")
	if c.weighs(a, end) || c.is(a.at+1, "do", "does") && c.is(a.body, "this", "these", "those", "my", "our", "the") && said < end && said+3 > end && !c.is(said-1, "you") {
		a.verb, a.slot, a.how = Analyze, slotTarget, showing
	}
}

// resolveWhich takes a question in which nothing is to be chosen for one about a
// fact, or about what is to be looked up, as in "which tests fail?".
func (c *compiler) resolveWhich(a *act, end int) {
	last := min(end, a.body+window)
	for i := a.body; i < last; i++ {
		if c.is(i, "should", "shall", "would", "you", "prefer", "recommend", "better", "best", "or", "vs", "one", "choose", "pick", "good", "worth", "safer", "cheaper", "faster", "nicer", "smarter", "wiser", "suits", "fits", "suit", "fit") {
			return
		}
	}
	if c.is(a.body, "of") && c.anyOf(a.body, end, "are", "were", "have", "had", "need", "fail", "use", "contain", "do", "don't", "did", "can") == end {
		return
	}
	switch {
	case c.anyOf(a.body, last, "for") < last && c.anyOf(a.body, last, "for") <= a.body+3:
	case a.body+1 >= last:
	case c.is(a.body+1, "is", "are", "was", "were", "has", "have", "had", "did"):
		a.verb, a.body = Explain, a.at
	default:
		a.verb = Analyze
	}
}

// sides are what an analysis finds.
var sides = lazy.Words("weaknesses weakness strengths strength flaws flaw shortcomings drawbacks downsides upsides disadvantages advantages pros cons pitfalls risks holes gaps bottlenecks problems issues mistakes weak strong")

// weighs makes a request for the weak or strong sides of something an analysis.
func (c *compiler) weighs(a *act, end int) bool {
	i := a.body
	for c.is(i, "me", "us", "some", "all") {
		i++
	}
	from := i
	if c.is(i, "the", "any") {
		i++
	}
	if c.is(i, "main", "biggest", "key", "major", "three", "five", "top") {
		i++
	}
	if i >= end || !sides()[c.tokens[i].low] {
		return false
	}
	if at := c.anyOf(i, end, "of", "in", "with"); at > i+3 || at == end {
		return false
	}
	a.verb, a.slot, a.body = Analyze, slotTarget, from
	return true
}

// mended are words for something that works.
var mended = []string{"working", "green", "again", "running", "passing", "pass", "work", "happy"}

// works returns where it says that something is to work again, or end.
func (c *compiler) works(i, end int) int {
	for last := i + window; i < min(end, last); i++ {
		if c.is(i, mended...) && (i+1 == end || c.is(i+1, "again") || c.tokens[i+1].kind == comma || linkWords()[c.tokens[i+1].low]) {
			return i
		}
	}
	return end
}

// anyOf returns the first of a few tokens that is one of the words, or end.
func (c *compiler) anyOf(i, end int, words ...string) int {
	for last := i + window; i < min(end, last); i++ {
		if c.is(i, words...) {
			return i
		}
	}
	return end
}

// stopped returns where it says what is to stop, or end: "from crashing", "stop
// failing".
func (c *compiler) stopped(i, end int) int {
	for last := i + window; i+1 < min(end, last); i++ {
		if c.is(i, "from", "stop") && strings.HasSuffix(c.tokens[i+1].low, "ing") {
			return i
		}
	}
	return end
}

// prose reports whether the object that begins at a token is a text that a
// person wrote: to mend it is to make it better.
func (c *compiler) prose(i, end int) bool {
	if !c.is(i, "my", "our", "this", "the", "his", "her", "their") || c.findSymptom(i, min(end, i+window)) < end {
		return false
	}
	last := ""
	for k := i + 1; k < min(end, i+window) && c.tokens[k].kind == word && !linkWords()[c.tokens[k].low]; k++ {
		last = c.tokens[k].low
	}
	return proses()[last]
}

var proses = lazy.Words("resume résumé cv bio letter essay email speech story poem paragraph intro introduction profile pitch wording text draft post article abstract blurb")

// resolveHelp looks for what help is wanted with: a request, or else a goal.
func (c *compiler) resolveHelp(a *act, end int) bool {
	if inner, ok := c.recognize(a.body, min(end, a.body+window), true); ok && inner.reads == "" && inner.form == formVerbFirst && inner.verb != Plan && (!inner.noun || c.hasObject(inner.body, end)) {
		*a = inner
		return true
	}
	if !c.is(a.at+1, "me", "us", "with") {
		return false
	}
	if c.is(a.body, "understand", "grasp") {
		a.verb = Explain
		a.body++
	}
	if c.is(a.body, "with") {
		a.body++
	}
	return true
}

// resolveWant parts "I want a list" from "I want to move".
func (c *compiler) resolveWant(a *act, end int) bool {
	if c.is(a.body-1, "to", "must") {
		a.body--
	}
	if c.is(a.body, "help") {
		a.body++
		if c.is(a.body, "with", "to") {
			a.body++
		}
		if inner, ok := c.recognize(a.body, min(end, a.body+window), false); ok && inner.form == formVerbFirst {
			*a = inner
			return true
		}
		a.verb = Plan
		return true
	}
	if c.is(a.body, "to", "must") {
		if inner, ok := c.recognize(a.body+1, min(end, a.body+window), true); ok && inner.reads == "" && inner.form == formVerbFirst && inner.verb != Plan && (!inner.noun || c.hasObject(inner.body, end)) && !c.is(inner.at, "run", "read", "open", "start", "study") {
			*a = inner
			a.form = formStatement
			return true
		}
		a.verb = Plan
		a.body++
		if c.is(a.body, "understand", "know") {
			a.verb = Explain
			a.body++
		}
		return true
	}
	if c.is(a.body, "this", "it", "that", "these", "them") && c.is(a.body+1, "in", "as", "shorter", "longer") {
		a.verb, a.slot = Transform, slotSource
		return true
	}
	if k := c.anyOf(a.body, min(end, a.body+6), "to"); c.is(a.body, "this", "my", "the", "our", "it", "these") && k < min(end, a.body+6) && c.is(k+1, "be", "sound", "look", "read", "become", "feel") {
		a.verb, a.slot = Transform, slotSource
		return true
	}
	if c.reclassify(a, end) || c.is(a.body, "a", "an", "some") || a.body < end && isNumber(c.tokens[a.body].low) {
		return true
	}
	inner, ok := c.asked(a.body, end)
	if ok {
		inner.form = formStatement
		*a = inner
	}
	return ok
}

// resolveYesNo takes a question that can be answered by looking: is this query
// safe? One that offers a choice is for deciding.
func (c *compiler) resolveYesNo(a *act, end int) bool {
	if end >= len(c.tokens) || c.tokens[end].kind != ask && c.tokens[end].kind != colon || a.body >= end {
		return false
	}
	if c.is(a.body, "there") {
		a.body++
	}
	if a.verb == Analyze && !c.atHand(a.body, end) {
		a.verb = Explain
	}
	if c.anyOf(a.body, end, "idea", "choice", "option", "investment", "time", "moment") < end && c.anyOf(a.body, end, "good", "bad", "smart", "wise", "better", "right", "safe") < end || c.anyOf(a.body, end, "worth", "worthwhile", "overkill", "advisable") < end {
		a.verb = Decide
		return true
	}
	weighed := c.is(a.body, "i", "we") && !c.is(a.at, "did", "was", "were", "have", "has", "had") || c.anyOf(a.body, end, "better", "best") < end
	for i := a.body; weighed && i < end; i++ {
		if c.is(i, "or") && !c.is(i+1, "not") {
			a.verb = Decide
		}
	}
	return true
}

// atHand reports whether a question is about something that can be looked at, and
// not about a fact of the world: "does this schema allow it", "do plants sleep".
func (c *compiler) atHand(i, end int) bool {
	t := c.tokens[i]
	general := t.kind == word && !determiners()[t.low] && !pronouns()[t.low] && !strings.ContainsAny(t.low, "/._") && !c.is(i, "i", "we", "you", "he", "she", "anything", "something")
	if c.is(i, "a", "an") || c.is(i, "it") && c.is(i+1, "possible", "safe", "ok", "okay", "normal", "legal", "allowed", "necessary", "true", "common") {
		general = true
	}
	return !general || c.is(i-1, "there") || c.anyOf(i, end, "this", "these", "my", "our", "attached", "below") < end
}

// findSymptom returns where the words of a symptom begin, or end.
func (c *compiler) findSymptom(i, end int) int {
	for ; i < end; i++ {
		if _, n := symptoms().at(c.tokens[i:end]); n > 0 {
			return i
		}
	}
	return end
}

// nearest returns the only opener of one word that is one slip away from w: a
// letter too many, too few, wrong or in the wrong place. It is empty if there
// is none.
func nearest(w string) string {
	found := ""
	for _, v := range slipWords {
		if w[0] == v[0] && oneSlip(w, v) {
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

// oneSlip reports whether a and b differ by one slip. Both are short.
func oneSlip(a, b string) bool {
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
		return len(ra) > 0 && (ra[1:] == rb[1:] || len(ra) > 1 && ra[0] == rb[1] && ra[1] == rb[0] && ra[2:] == rb[2:])
	case len(ra) == len(rb)+1:
		return ra[1:] == rb
	default:
		return len(rb) == len(ra)+1 && rb[1:] == ra
	}
}
