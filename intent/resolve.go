package intent

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// resolve sets the fields of a request that depend on the words after its opener. It reports
// whether there is a request at all.
func (c *compiler) resolve(a *act, end int, start bool) bool {
	switch a.how {
	case plain:
		c.resolvePlain(a, end)
	case making:
		c.resolveMake(a, end)
	case giving:
		return c.resolveGive(a, end)
	case telling:
		c.resolveTell(a)
	case helping:
		return c.resolveHelp(a, end)
	case wanting:
		return c.resolveWant(a, end)
	case yesNo:
		return start && (c.resolveYesNo(a, end) || c.resolveDo(a, end))
	case whyMine:
		c.resolveWhy(a, end)
	case getting:
		return c.resolveGet(a, end)
	case bringing:
		return c.resolveBring(a, end)
	case naming:
		a.slot = slotTargetForm
	case stopping:
		return c.hasObject(a.body, end) && c.stopped(a.body, end) < end
	case breaking:
		return c.resolveBreak(a, end)
	case addressing:
		return c.resolveAddress(a, end)
	case letting:
		return c.hasObject(a.body, end) && !c.is(a.body, "me", "us", "it", "that", "this")
	case looking:
		return c.resolveLook(a, end)
	case picking:
		return c.resolvePick(a, end)
	case inventing:
		a.body++
		return a.body < end
	case showing: // resolveWhat sets it; no opener has it
	}
	return true
}

// resolvePlain applies the rules of the verb to an opener that has no special rule.
func (c *compiler) resolvePlain(a *act, end int) {
	switch a.verb {
	case Explain:
		c.resolveExplain(a, end)
	case Create:
		c.resolveCreate(a)
	case Transform:
		c.resolveTransform(a, end)
	case Analyze:
		c.resolveAnalyze(a, end)
	case Decide:
		if c.is(a.at, "which") && a.form == formQuestion {
			c.resolveWhich(a, end)
		}
	case Plan:
		if a.form == formQuestion {
			c.resolveHow(a, end)
		} else if c.is(a.at, "break") && (c.forPerson(a.body, end) || c.is(a.body, "how", "why", "what")) {
			a.verb = Explain
		}
	case Fix:
		if c.is(a.at, "handle", "take", "deal", "manage", "sort") && c.ahead(a.body, end, 5, occasionPlans.Get()) {
			a.verb = Plan
		} else if c.prose(a.body, end) {
			a.verb, a.own = Transform, true
		}
	}
	if a.verb == Create && makers.Get()[c.tokens[a.at].low] || a.verb == Plan && a.form == formVerbFirst {
		c.reclassify(a, end)
	}
}

// makers are verbs of making, in whose place the object may name the real verb: "write a plan" is to
// plan.
var makers = lazy.Words("write draft create generate prepare produce compose develop design make set put come draw build whip send propose suggest outline organize devise assemble")

// resolveExplain leaves the verb explain to questions about known facts. It gives questions that
// need an inspection the verb analyze, and choices the verb decide.
func (c *compiler) resolveExplain(a *act, end int) {
	asks := a.form == formQuestion
	switch {
	case asks && c.is(a.at, "what", "what's", "whats"):
		c.resolveWhat(a, end)
	case asks && c.is(a.at+1, "many", "much", "often", "long") && c.looked(a.body, end):
		a.verb = Analyze // "how many of these tests are slow"
	case c.is(a.at, "who", "when") && (c.is(end-2, "this", "these", "my", "our") || c.is(end-1, "below", "above")):
		a.verb = Analyze // "who signed this letter"
	case c.is(a.at, "who") && c.has(a.body, end, "or"):
		a.verb = Decide
	case asks && (c.is(a.at, "in") || c.is(a.at, "how") && c.is(a.at+1, "much", "many", "long", "far", "old", "big", "tall", "deep", "heavy", "fast", "high")):
		a.body = a.at // the whole question is the object: its first words say what is asked for
	case !c.is(a.at, "how"):
	case c.has(a.body, end, "compare"), c.is(a.at+1, "did", "has") && c.is(end-1, "go", "do", "perform", "fare", "gone", "out", "performed", "done"):
		a.verb = Analyze // "how did the launch go"
	case c.is(a.body, "my", "this", "our") && c.is(end-1, "look", "sound", "read"):
		a.verb = Analyze // "how does my letter sound"
	}
}

// resolveCreate gives "write this as" the verb transform, and "prepare for" the verb plan.
func (c *compiler) resolveCreate(a *act) {
	switch {
	case c.is(a.at, "write") && c.is(a.body, "this", "it", "that", "these") && c.is(a.body+1, "as", "in"):
		a.verb = Transform
	case c.is(a.at, "prepare") && c.is(a.body, "for"):
		a.verb, a.body = Plan, a.at
	}
}

// resolveTransform gives "put" and "set" the verb create, unless a word such as "into" names a
// destination.
func (c *compiler) resolveTransform(a *act, end int) {
	switch {
	case c.is(a.at, "put") && (c.is(a.body, "a", "an", "some") || !c.has(a.body, end, "in", "into", "to", "as", "on", "under")),
		c.is(a.at, "set") && !c.has(a.body, end, "to"):
		a.verb = Create
	}
}

// resolveAnalyze gives a search for faults that are to be repaired the verb fix, and "go over it
// with me" the verb explain.
func (c *compiler) resolveAnalyze(a *act, end int) {
	switch {
	case c.is(a.at, "go") && c.is(end-1, "me", "us") && c.is(end-2, "with"):
		a.verb = Explain
	case c.is(a.at, "find", "spot", "locate", "identify", "hunt", "search") && (c.ahead(a.body, end, 3, faults.Get()) && c.asksRepair(a.body, end) || c.endsInFix(a.body, end)):
		a.verb = Fix
	case c.is(a.at, "check") && c.is(a.body, "if", "whether", "that"):
		a.how = telling
		a.body++
	}
}

// resolveGive chooses the verb of "give" and "get" by their object, as in "give me a list", "give
// it a look", "give this a formal tone" and "get me started".
func (c *compiler) resolveGive(a *act, end int) bool {
	given := min(end, a.body+6)
	k := c.anyOf(a.body+1, given, "a", "an")
	switch {
	case c.is(a.at, "get") && c.is(a.body-1, "me", "us") && c.is(a.body, "from", "ready", "started", "into", "up"):
		a.verb = Plan
	case c.is(a.at, "give") && c.is(end-1, "once-over", "look", "read", "check", "review", "read-through", "going-over"):
		a.verb = Analyze
	case c.is(a.at, "give") && c.is(a.body, "this", "it", "that", "these", "my", "our", "the") && k < given && !c.isPerson(a.body, k):
		a.verb = Transform
	default:
		return c.weighs(a, end) || c.reclassify(a, end) || a.verb == Create && !c.is(a.at, "do", "provide") || c.hasObject(a.body, end)
	}
	return true
}

// resolveDo turns a question with "do" or "have", such as "could you do a card", into a request for
// a thing.
func (c *compiler) resolveDo(a *act, end int) bool {
	if !c.is(a.at, "do", "have") {
		return false
	}
	if c.reclassify(a, end) {
		return true
	}
	if a.at == 0 || !c.is(a.body, "a", "an", "some", "me", "us") {
		return false
	}
	a.verb, a.form, a.how = Create, formVerbFirst, giving
	return true
}

// resolveWhy gives a question with "why" the verb fix if it is about something of the person, or
// about something that does not work.
func (c *compiler) resolveWhy(a *act, end int) {
	a.body--
	if !strings.HasPrefix(c.tokens[a.body].low, "w") && !determiners.Get()[c.tokens[a.body].low] {
		a.body++
	}
	near := min(end, a.body+2*window)
	switch {
	case c.is(a.body, "my", "our", "the", "this", "these") && c.malfunction(clause{from: a.body, to: near}),
		c.is(a.at+1, "isn't", "aren't", "doesn't", "don't", "won't", "can't") && c.is(a.body, "this", "it", "that"),
		c.is(a.body, "my", "our") && !c.is(a.at+1, "do", "does", "did"),
		c.findSymptom(a.body, near) < near:
		a.verb = Fix
	}
}

// resolveGet chooses between the meanings of "get" in "get the build green" and in "get me from A
// to B".
func (c *compiler) resolveGet(a *act, end int) bool {
	return c.hasObject(a.body, end) && c.works(a.body, end) < end || c.resolveBring(a, end)
}

// resolveBring gives "get me from A to B" and "get us started" the verb plan.
func (c *compiler) resolveBring(a *act, end int) bool {
	a.verb, a.how = Plan, bringing
	return c.is(a.body, "me", "us") && (c.has(c.anyOf(a.body, end, "from"), end, "to") || c.is(a.body+1, "ready", "started", "in", "to", "into", "off"))
}

// resolveBreak gives "break it down" and "break it into steps" the verb plan.
func (c *compiler) resolveBreak(a *act, end int) bool {
	into := c.anyOf(a.body, end, "into")
	return c.hasObject(a.body, end) &&
		(c.has(a.body, end, "down") || c.is(into+1, "steps", "tasks", "subtasks", "milestones", "phases", "stages") && into+1 < end)
}

// resolveAddress makes a verb that addresses a person a message to them.
func (c *compiler) resolveAddress(a *act, end int) bool {
	if c.is(a.at, "tell", "remind") && c.has(a.body, min(end, a.body+4), "how", "why", "what", "about", "where") {
		a.verb = Explain
		return true
	}
	return c.isPerson(a.body, end) || c.named(a.body) ||
		c.is(a.body, "the", "my", "our", "his", "her", "their", "all") &&
			c.is(a.at, "invite", "congratulate", "remind", "notify", "inform", "email", "e-mail", "mail", "thank", "ask", "tell", "wish", "persuade", "convince", "apologize")
}

// resolveLook turns "what would X look like" into a request to make X.
func (c *compiler) resolveLook(a *act, end int) bool {
	if c.is(a.body, "this", "that", "it", "these") {
		a.verb = Transform
	}
	like := c.anyOf(a.body, end, "look")
	return like < end && c.is(like+1, "like")
}

// resolvePick reports whether it knows the verb of a question that begins with "what". "What phone
// should I get" keeps the verb decide. "What mistakes do you see" gets the verb analyze.
func (c *compiler) resolvePick(a *act, end int) bool {
	if k := c.anyOf(a.body, end, "see", "notice", "spot", "find"); k < end && c.is(k-1, "you") {
		a.verb, a.how = Analyze, plain
		return true
	}
	return c.is(a.body+1, "should") || c.is(a.body+2, "should")
}

// asksRepair reports whether a later word of the prompt asks for a repair.
func (c *compiler) asksRepair(i, end int) bool {
	for ; i < min(len(c.tokens), end+window); i++ {
		if c.is(i, "fix", "squash", "mend", "repair", "patch", "correct", "solve", "resolve", "remove", "eliminate", "kill") {
			return true
		}
	}
	return false
}

// compared reports whether one of the next words is a comparative or a superlative.
func (c *compiler) compared(i, end int) bool {
	for k := i; k < min(end, i+4); k++ {
		if c.is(k, "best", "worse", "better") || c.is(k-1, "the", "which") && len(c.tokens[k].low) > 4 && (strings.HasSuffix(c.tokens[k].low, "er") || strings.HasSuffix(c.tokens[k].low, "est")) {
			return true
		}
	}
	return false
}

// forPerson reports whether "for" or "to" with a person follows.
func (c *compiler) forPerson(i, end int) bool {
	k := c.anyOf(i, end, "for", "to")
	return k < end && c.isPerson(k+1, end)
}

// looked reports whether a question names something at hand, by a word such as this, my or
// attached, or by a path.
func (c *compiler) looked(i, end int) bool {
	for k := i; k < min(end, i+window); k++ {
		if c.is(k, "this", "these", "our", "my", "attached", "below", "above") || c.tokens[k].kind == word && k > i && strings.ContainsAny(c.tokens[k].low, "/._") && !isNumber(c.tokens[k].low) {
			return true
		}
	}
	return false
}

// endsInFix reports whether the sentence goes on with "and fix it".
func (c *compiler) endsInFix(i, end int) bool {
	for ; i < min(len(c.tokens)-1, end+4); i++ {
		if c.is(i, "fix", "mend", "repair", "patch", "correct", "solve", "resolve") && c.is(i+1, "it", "them", "that") {
			return true
		}
	}
	return false
}

// resolveMake chooses between the meanings of "make" in "make a list", "make the text shorter" and
// "make the tests pass".
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

// reclassify changes the verb of a request by its noun, and reports whether it did.
func (c *compiler) reclassify(a *act, end int) bool {
	i := a.body
	if bare := a.at == a.body; !bare && !c.is(i, "a", "an", "the", "some", "me", "us", "your", "my", "feedback") {
		return false
	}
	for ; i < end && i < a.body+8; i++ {
		t := c.tokens[i]
		if t.kind != word && t.kind != comma {
			return false
		}
		v, ok := things.Get()[t.low]
		if !ok {
			if lineByLine := t.low == "by" && i > a.body && i+1 < end && c.tokens[i-1].low == c.tokens[i+1].low; linkWords.Get()[t.low] && !lineByLine {
				return false
			}
			continue
		}
		if next := i + 1; next < end && !linkWords.Get()[c.tokens[next].low] && c.tokens[next].kind != comma {
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
}

// resolveHow gives a question how to repair something the verb fix, as in "how do I stop it from
// crashing?".
func (c *compiler) resolveHow(a *act, end int) {
	inner, ok := c.recognize(a.body, min(end, a.body+window), true)
	if ok && inner.verb == Fix && inner.reads == "" && !c.is(inner.at, "handle", "address", "patch", "correct", "sort") && (!inner.noun || inner.body >= end || c.hasObject(inner.body, end)) {
		inner.form = formQuestion
		*a = inner
	}
}

// resolveWhat gives the verb analyze to a question about the content of something at hand, or about
// its weak and strong sides.
func (c *compiler) resolveWhat(a *act, end int) {
	from := a.body
	if from < end && c.tokens[from].kind == word && isNumber(c.tokens[from].low) && strings.HasSuffix(c.tokens[from].low, "%") {
		a.verb = Analyze
		return
	}
	if c.is(from, "the") {
		from++
	}
	for k := from; k < min(end, from+3); k++ {
		if c.tokens[k].kind == word && wanted.Get()[c.tokens[k].low] == Analyze && c.is(k+1, "of", "in", "for") && (c.looked(k+1, end) || isNumber(c.tokens[min(k+2, end-1)].low)) {
			a.verb, a.body = Analyze, from
			return
		}
	}
	if c.is(from, "better", "best", "cheaper", "cheapest", "safest", "safer") || c.has(a.body, end, "or") && c.compared(a.body, end) {
		a.verb = Decide
		return
	}
	said := c.anyOf(a.body, end, "tell", "show", "say", "suggest", "reveal", "indicate")
	if c.weighs(a, end) || c.is(a.at+1, "do", "does") && c.is(a.body, "this", "these", "those", "my", "our", "the") && said < end && said+3 > end && !c.is(said-1, "you") {
		a.verb, a.how = Analyze, showing
	}
}

// resolveWhich changes the verb of a question with "which" that offers no choice: to explain if it
// asks for a fact, or to analyze if it asks for a search, as in "which tests fail?".
func (c *compiler) resolveWhich(a *act, end int) {
	last := min(end, a.body+window)
	for i := a.body; i < last; i++ {
		if c.is(i, "should", "shall", "would", "you", "prefer", "recommend", "better", "best", "or", "vs", "one", "choose", "pick", "good", "worth", "safer", "cheaper", "faster", "nicer", "smarter", "wiser", "suits", "fits", "suit", "fit") {
			return
		}
	}
	if c.is(a.body, "of") && !c.has(a.body, end, "are", "were", "have", "had", "need", "fail", "use", "contain", "do", "don't", "did", "can") {
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

// sides are nouns for the results of an analysis.
var sides = lazy.Words("weaknesses weakness strengths strength flaws flaw shortcomings drawbacks downsides upsides disadvantages advantages pros cons pitfalls risks holes gaps bottlenecks problems issues mistakes weak strong")

// weighs gives a request for the weak or strong sides of something the verb analyze, and reports
// whether it did.
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
	if i >= end || !sides.Get()[c.tokens[i].low] {
		return false
	}
	if at := c.anyOf(i, end, "of", "in", "with"); at > i+3 || at == end {
		return false
	}
	a.verb, a.body = Analyze, from
	return true
}

// workingWords are words for something that works.
var workingWords = []string{"working", "green", "again", "running", "passing", "pass", "work", "happy"}

// works returns the index of the word, such as green, by which a request asks that something
// works again, or end.
func (c *compiler) works(i, end int) int {
	for last := i + window; i < min(end, last); i++ {
		if c.is(i, workingWords...) && (i+1 == end || c.is(i+1, "again") || c.tokens[i+1].kind == comma || linkWords.Get()[c.tokens[i+1].low]) {
			return i
		}
	}
	return end
}

// stopped returns the index of the first word for a fault that is to stop, or end: "from
// crashing", "stop failing".
func (c *compiler) stopped(i, end int) int {
	for last := i + window; i+1 < min(end, last); i++ {
		if c.is(i, "from", "stop") && strings.HasSuffix(c.tokens[i+1].low, "ing") {
			return i
		}
	}
	return end
}

// prose reports whether the object at token i is a text that a person wrote. A request to repair
// such a text asks to improve it.
func (c *compiler) prose(i, end int) bool {
	if !c.is(i, "my", "our", "this", "the", "his", "her", "their") || c.findSymptom(i, min(end, i+window)) < end {
		return false
	}
	last := ""
	for k := i + 1; k < min(end, i+window) && c.tokens[k].kind == word && !linkWords.Get()[c.tokens[k].low]; k++ {
		last = c.tokens[k].low
	}
	return proses.Get()[last]
}

var proses = lazy.Words("resume résumé cv bio letter essay email speech story poem paragraph intro introduction profile pitch wording text draft post article abstract blurb")

// resolveHelp turns a request for help into the request for which help is asked ("help me write a
// card"), or else into one that names a goal.
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

// resolveWant chooses between the meanings of "want" in "I want a list" and in "I want to move".
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
		a.verb = Transform
		return true
	}
	if k := c.anyOf(a.body, min(end, a.body+6), "to"); c.is(a.body, "this", "my", "the", "our", "it", "these") && k < min(end, a.body+6) && c.is(k+1, "be", "sound", "look", "read", "become", "feel") {
		a.verb = Transform
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

// resolveYesNo gives a yes-or-no question that an inspection can answer the verb analyze ("is this
// query safe?"), and one that offers a choice the verb decide.
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
	if c.has(a.body, end, "idea", "choice", "option", "investment", "time", "moment") && c.has(a.body, end, "good", "bad", "smart", "wise", "better", "right", "safe") || c.has(a.body, end, "worth", "worthwhile", "overkill", "advisable") {
		a.verb = Decide
		return true
	}
	weighed := c.is(a.body, "i", "we") && !c.is(a.at, "did", "was", "were", "have", "has", "had") || c.has(a.body, end, "better", "best")
	for i := a.body; weighed && i < end; i++ {
		if c.is(i, "or") && !c.is(i+1, "not") {
			a.verb = Decide
		}
	}
	return true
}

// atHand reports whether a yes-or-no question is about something at hand, which can be
// inspected, and not about a general fact: "does this schema allow it", but not "do plants
// sleep".
func (c *compiler) atHand(i, end int) bool {
	t := c.tokens[i]
	general := t.kind == word && !determiners.Get()[t.low] && !pronouns.Get()[t.low] && !strings.ContainsAny(t.low, "/._") && !c.is(i, "i", "we", "you", "he", "she", "anything", "something")
	if c.is(i, "a", "an") || c.is(i, "it") && c.is(i+1, "possible", "safe", "ok", "okay", "normal", "legal", "allowed", "necessary", "true", "common") {
		general = true
	}
	return !general || c.is(i-1, "there") || c.has(i, end, "this", "these", "my", "our", "attached", "below")
}

// findSymptom returns the first token of a symptom phrase, or end.
func (c *compiler) findSymptom(i, end int) int {
	for ; i < end; i++ {
		if _, n := symptoms.Get().at(c.tokens[i:end]); n > 0 {
			return i
		}
	}
	return end
}
