package intent

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// wanted are nouns that make a request without a verb: "cover letter for a junior accountant",
// "average of 3 and 4".
var wanted = lazy.Value[map[string]Verb]{Make: func() map[string]Verb {
	m := make(map[string]Verb)
	for v, words := range map[Verb]string{
		Create: `letter email mail e-mail message note memo reply response answer invitation invite announcement reminder notice greeting card postcard speech toast eulogy talk lecture sermon
			poem haiku limerick song lyrics story tale fable script screenplay scene joke riddle pun slogan tagline motto caption captions headline headlines title titles name names username nickname
			essay article post blog tweet thread newsletter press-release release report paper thesis abstract briefing handout leaflet flyer poster brochure banner logo icon image drawing picture sketch diagram flowchart chart graph mockup wireframe
			slide slides deck presentation pitch proposal quote offer invoice contract clause agreement policy terms disclaimer application complaint petition bio profile resume résumé cv obituary testimonial reference advert ad ads listing description descriptions blurb copy text texts paragraph paragraphs sentence sentences
			recipe recipes playlist list lists checklist table spreadsheet template form questionnaire survey quiz questions exercises exercise worksheet flashcards crossword puzzle game agenda minutes faq faqs manual guide tutorial handbook documentation docs docstring docstrings readme changelog comment comments wishes greetings
			code function method class component hook module package library script program app application api endpoint route handler service server client cli bot plugin extension macro formula regex regexp query sql select snippet one-liner oneliner command cronjob cron dockerfile makefile workflow-file pipeline yaml json config configuration schema migration-script
			test tests unit-test fixture fixtures mock mocks stub seed dataset stylesheet css html page website landing button menu-bar modal dialog widget dashboard ideas examples example sample samples prompt prompts user-story persona job-ad ticket issue pr commit boilerplate skeleton implementation feature password passwords feature-request`,
		Plan: `plan roadmap strategy itinerary schedule timetable timeline meals workout workouts steps menu regimen routine curriculum trip weekend getaway vacation tour honeymoon syllabus`,
		Analyze: `average mean median mode sum total count percentage sentiment outliers outlier trend trends correlation statistics stats variance deviation anomalies
			review feedback analysis assessment evaluation comparison audit critique verdict holes vulnerabilities weaknesses strengths pros cons risks bottlenecks flaws drawbacks downsides redundancies duplicates inconsistencies contradictions mistakes errors typos bugs gaps issues problems complexity runtime coverage throughput latency share proportion`,
		Explain:   `difference differences diff meaning definition explanation reason pronunciation capital population origin etymology history synonym synonyms account overview introduction intro facts purpose causes`,
		Transform: `summary translation tl;dr tldr paraphrase recap`,
		Decide:    `recommendation recommendations`,
		Fix:       `typo fault failure outage panic error exception conflict conflicts crash traceback segfault deadlock leak bug glitch timeout`,
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = v
		}
	}
	return m
}}

// sentenceWords occur in a sentence but in no noun phrase, and phraseEnds end a noun phrase.
var (
	sentenceWords = lazy.Words(`i we you he she it they i'm i've we're we've it's is are was were am be been has have had do does did can could will would should must may might isn't aren't doesn't don't didn't won't can't
		who what why how when where there's there here's this these that those my our your his her their`)
	phraseEnds = lazy.Words(`for of to about on in with without from at by regarding covering saying asking between as against per into please pls plz over under using that which whether where when and or but not no quick quickly thanks since until`)
)

// asked returns the request that a noun phrase at the beginning of a clause makes.
func (c *compiler) asked(i, end int) (act, bool) {
	at := c.skip(i, end)
	k, last, v := c.wantedNoun(at, end)
	if v == "" || c.is(at, "the") && (v == Create || v == Fix) || k < end && c.tokens[k].kind != word && c.tokens[k].kind != comma && c.tokens[k].kind != mark {
		return act{}, false
	}
	a := act{opener: opener{verb: v, form: formStatement}, at: at, body: at, slot: v.object()}
	more := k+1 < end
	switch {
	case v == Create && c.scheduled(k, end):
	case v == Analyze && more && c.is(k, "of", "in", "on", "for", "with"):
		if !sides.Get()[last] && !c.is(at, "any") {
			a.body = k + 1
		}
	case v == Create, v == Fix, v == Decide && last != "recommendation" && last != "recommendations":
	case more && c.is(k, "of", "for", "between", "on", "about", "to"):
		a.body = k + 1
	case v != Plan:
		a.body = min(k, end)
	}
	if a.body > a.at {
		a.from, a.to = a.at, k
	}
	return a, true
}

// wantedNoun returns the end of the noun phrase that begins at a token, its last word, and the
// verb that the noun asks for, or no verb.
func (c *compiler) wantedNoun(at, end int) (k int, last string, v Verb) {
	k = at
	for k < end && c.is(k, "any", "some", "a", "an", "the", "new", "another", "more", "further") {
		k++
	}
	from := k
	for ; k < end && k < from+7 && c.tokens[k].kind == word && !phraseEnds.Get()[c.tokens[k].low]; k++ {
		if sentenceWords.Get()[c.tokens[k].low] {
			return k, "", ""
		}
		last = c.tokens[k].low
		if wanted.Get()[last] == Explain && k+1 < end && !phraseEnds.Get()[c.tokens[k+1].low] {
			k++
			break // "difference let const"
		}
	}
	v = wanted.Get()[last]
	switch {
	case c.is(from, "best", "cheapest", "safest", "fastest", "nicest") && k > from+1:
		v = Decide
	case v != "" || last == "":
	case c.is(at, "a", "an", "something") && c.is(k, "about", "for", "to", "that", "on") && k+1 < end:
		v = Create
	case isFault(last) && len(last) > 9:
		v = Fix
	}
	return k, last, v
}

// isFault reports whether a word ends as names of errors in programs do: TypeError.
func isFault(w string) bool {
	return strings.HasSuffix(w, "exception") || strings.HasSuffix(w, "error")
}

// compound reports whether a verb is the first part of a noun: "commit message for
// the staged changes".
func (c *compiler) compound(o opener, at, end int) bool {
	if !o.noun && !c.is(at, "commit", "merge", "cover", "thank", "study") || at+1 >= end {
		return false
	}
	return c.is(at+1, "message", "conflict", "conflicts", "plan", "note", "request", "comment", "comments", "email", "mail", "letter", "list", "error", "report", "checklist", "agenda", "template", "doc", "case", "cases", "log", "notes", "results", "idea", "ideas") &&
		(at+2 == end || c.tokens[at+2].kind == word && phraseEnds.Get()[c.tokens[at+2].low] || c.tokens[at+2].kind == comma)
}

// scheduled reports whether a number of days, weeks or months follows: "for 5 days".
func (c *compiler) scheduled(i, end int) bool {
	return c.is(i, "for") && i+2 < end && isNumber(c.tokens[i+1].low) && c.is(i+2, "days", "weeks", "months")
}

// formRequest returns the request of a clause that only names a new form: "shorter", "a bit less
// formal", "auf Deutsch bitte: ...", "the same as a list".
func (c *compiler) formRequest(i, end int) (act, bool) {
	at := c.skip(i, end)
	if c.is(at, "do") {
		at++
	}
	k := at
	for c.is(k, "a", "bit", "little", "much", "even", "way", "lot", "make") && k+1 < end {
		k++
	}
	a := act{opener: opener{verb: Transform, form: formStatement}, at: at, body: at, slot: slotTargetForm}
	switch {
	case c.is(k, "shorter", "longer", "simpler", "clearer", "nicer", "friendlier", "briefer", "funnier", "softer", "warmer", "politer", "plainer", "tighter", "punchier", "snappier", "kinder", "firmer", "calmer"),
		c.is(k, "more", "less") && k+2 <= end && (k+3 >= end && c.styled(k+1, end) || k+2 == end || k+3 == end && c.is(k+2, "please", "pls")) && !c.is(k+1, "tests", "info", "information", "details"):
		return a, end-k <= 6
	case c.is(k, "bullet", "bullets") && end-k <= 3:
		return a, true
	case c.is(k, "in", "as") && k+1 < end && (isNumber(c.tokens[k+1].low) || c.is(k+1, "a", "bullet", "bullets", "json", "csv", "yaml", "markdown", "html", "prose", "plain", "simple")):
		a.body = k + 1
		return a, end-k <= 5
	case c.is(k, "in", "auf", "en", "into", "to") && c.ahead(k+1, min(end, k+3), 2, tongues.Get()):
		if c.is(k, "in", "into", "to") {
			a.body = k + 1
		}
		return a, end-k <= 4
	}
	if !c.is(at, "the", "same") {
		return a, false
	}
	same := c.anyOf(at, min(end, at+4), "same")
	if in := c.anyOf(same+1, min(end, at+8), "in", "as"); same < min(end, at+4) && in < min(end, at+8) && in+1 < end {
		a.body, a.from = in+1, at
		return a, true
	}
	return a, false
}

// styled reports whether a word of style stands at a token.
func (c *compiler) styled(i, end int) bool {
	_, n := styles.Get().at(c.tokens[i:end])
	return n > 0 || forms.Get()[c.tokens[i].low] || c.is(i, "detailed", "aggressive", "technical", "direct", "assertive", "personal", "wordy", "pushy", "verbose", "salesy", "precise", "specific", "strict")
}

var tongues = lazy.Words(`english german french spanish italian portuguese dutch polish russian ukrainian turkish greek czech swedish danish norwegian finnish hungarian romanian chinese mandarin japanese korean arabic hebrew hindi latin
	deutsch englisch französisch français anglais español inglés
	python java javascript typescript rust go golang kotlin swift ruby php scala haskell c c++ c# sql bash perl`)

// particles are verbs with a particle, which may stand after the object: "sort that out", "boil
// the report down to a page".
var particles = lazy.Value[map[string]Verb]{Make: func() map[string]Verb {
	m := make(map[string]Verb)
	for v, list := range map[Verb]string{
		Fix: `sort out, track down, iron out, straighten out, make away, get sorted, get fixed, bring back, clear up, hunt down, set right`,
		Transform: `boil down, break up, cut down, sum up, clean up, tidy up, tone down, dumb down, water down, trim down, spice up, jazz up,
			beef up, liven up, smooth out, flesh out, split up, pare down, strip out, swap out, take out, rip out, break out,
			bring into, whittle down, narrow down, speed up, slim down, dial down, tighten up, touch up, spruce up, brush up`,
		Create: `type up, write up, draw up, whip up, knock up, put together, set up, write down, jot down, note down, cook up, wire up,
			hook up, mock up, fill in, fill out, dream up, think up`,
		Analyze: `look over, read over, check over, find out, figure out, work out, point out, add up, pick apart, weigh up, size up, read through,
			check out, tease apart, run through`,
		Explain: `talk through, walk through, take through, spell out`,
		Plan:    `lay out, map out, plan out, break down`,
	} {
		for text := range strings.SplitSeq(list, ",") {
			m[strings.TrimSpace(text)] = v
		}
	}
	return m
}}

// particle returns the opener of a verb whose particle stands after the object, and the index of
// the particle. The index is 0 if there is no such verb.
func (c *compiler) particle(at, end int) (opener, int) {
	if !c.hasObject(at+1, end) && (at+1 >= end || c.tokens[at+1].kind != word || phraseEnds.Get()[c.tokens[at+1].low]) {
		return opener{}, 0
	}
	for k := at + 2; k < min(end, at+12); k++ {
		if c.tokens[k].kind == comma {
			break
		}
		v := particles.Get()[c.tokens[at].low+" "+c.tokens[k].low]
		if v == "" || v == Explain && !c.is(k-1, "me", "us") || v == Plan && !c.is(k+1, "into", "for") && k+1 < end {
			continue
		}
		return opener{verb: v, form: formVerbFirst, own: v == Transform}, k
	}
	return opener{}, 0
}

// occasionPlans are nouns of occasions: "handle the wedding" has the verb plan, and not fix.
var occasionPlans = lazy.Words("party wedding trip move moving birthday event events meeting offsite retreat conference holiday vacation christmas dinner picnic barbecue reunion launch relocation renovation ceremony funeral anniversary journey tour visit")

// faults are nouns for faults, such as bug or typo.
var faults = lazy.Words("bug bugs error errors fault faults defect defects leak leaks culprit crash typo typos mistake glitch regression")

// faultWords are words such as drips or freezes: a statement with one of them, which asks for
// nothing, reports a fault.
var faultWords = lazy.Words(`accidentally drops drop dripping drips leaking leaks squealing squeal squeaks squeaking rattles rattling smells stinks burnt burning shakes shaking stutters stuttering lags lagging freezes freezing flickers flickering blank stuck jammed jams wrong weird
	overheats overheating dies died blinking blinks overlapping overlaps denied forbidden refused unauthorized missing lost corrupted corrupt garbled truncated misaligned cracked stops stopped swollen clogged noise noises error errors exception exceptions bug bugs
	fail fails failing failed failure failures broke broken crash crashes crashing hang hangs hanging leak off vanished vanishes disappear disappears disappeared 400 401 403 404 409 422 429 500 502 503 504 unreachable unresponsive unreadable inconsistent duplicated`)

// malfunction reports whether a clause says that something does not work.
func (c *compiler) malfunction(cl clause) bool {
	for i := cl.from; i < cl.to; i++ {
		if c.tokens[i].kind == word && c.isFaultWord(i, cl) {
			return true
		}
	}
	return c.findSymptom(cl.from, cl.to) < cl.to
}

// isFaultWord reports whether word i of a clause, with its neighbors, says that something does not
// work.
func (c *compiler) isFaultWord(i int, cl clause) bool {
	low, next := c.tokens[i].low, i+1 < cl.to
	switch {
	case isFault(low) && len(low) > 7:
		return true
	case c.is(i-1, "i", "we") && c.is(i, "get") && next && c.tokens[i+1].kind == literal, c.is(i-1, "i", "we") && c.is(i, "keep") && c.is(i+1, "getting", "seeing", "losing"):
		return true
	case i == cl.from:
		return c.is(i, "getting", "seeing")
	case faultWords.Get()[low], c.is(i, "keeps") && next && strings.HasSuffix(c.tokens[i+1].low, "ing"):
		return true
	case c.is(i-1, "i", "we", "you", "and", "but", "please"):
		return false
	}
	return c.is(i, "do", "does") && c.is(i+1, "not") ||
		c.is(i, "won't", "wont", "doesn't", "doesnt", "don't", "can't", "cannot", "isn't", "aren't") && !c.is(i+1, "matter", "care", "mind", "know", "need", "want")
}

// addRepair gives the first request the verb fix if it only asks for help, and if a clause before
// it says that something does not work: "the tap drips, how do I stop it".
func (c *compiler) addRepair(parts []part) {
	p := &parts[0]
	failing := false
	for _, cl := range p.lead {
		failing = failing || c.malfunction(cl)
	}
	if !failing || p.act.verb == Fix {
		return
	}
	f := filling{compiler: c}
	i := p.act.body
	vague := true
	for k := i; k < p.end; k++ {
		vague = vague && c.tokens[k].kind == word && (pronouns.Get()[c.tokens[k].low] || vagueWords.Get()[c.tokens[k].low] || c.is(k, "stop", "right", "help", "do", "can", "i", "we", "should", "past", "around", "about", "get", "out", "of", "back", "up", "go", "away", "look", "into", "on", "so", "now", "to", "be", "wrong", "happening", "causing", "is", "please", "off", "resolve", "solve", "fix", "handle", "remedy", "undo", "avoid", "prevent"))
	}
	switch {
	case !vague && !f.vague(i, p.end):
	case p.act.form == formQuestion && p.act.verb != Explain, p.act.unknown != "", c.is(p.act.at, "help", "make", "put", "get", "set", "do", "bring"), len(parts) > 1 && parts[1].act.verb == Fix:
		p.act.verb, p.act.slot, p.act.how, p.act.thing, p.act.own, p.act.unknown, p.act.tail = Fix, slotTarget, plain, "", false, "", 0
		p.act.body = p.end
	}
}

// unknownCommand returns the request of a clause that begins with an unknown verb and an object. If
// the object begins with "a", the verb is create. If it begins with "the", the object exists, and
// the verb is transform.
func (c *compiler) unknownCommand(cl clause) (act, bool) {
	at := c.skip(cl.from, cl.to)
	if at+2 > cl.to-1 || c.tokens[at].kind != word || c.tokens[at+1].kind != word {
		return act{}, false
	}
	w, next := c.tokens[at].low, c.tokens[at+1].low
	for _, end := range []string{"ing", "ed", "ly", "s", "n't", "tion"} {
		if strings.HasSuffix(w, end) {
			return act{}, false
		}
	}
	if len(w) < 3 || sentenceWords.Get()[w] || phraseEnds.Get()[w] || determiners.Get()[w] || pronouns.Get()[w] || prepositions.Get()[w] || numbers.Get()[w] || strings.ContainsAny(w, "'./_") || !determiners.Get()[next] || c.is(at+1, "that", "what", "how", "why", "where", "which", "if", "whether", "no", "one") {
		return act{}, false
	}
	a := act{opener: opener{verb: Transform, form: formVerbFirst, own: true}, at: at, body: at + 1, unknown: w}
	if c.is(at+1, "a", "an", "some", "another") {
		a.verb, a.own = Create, false
	}
	a.slot = a.verb.object()
	return a, true
}

var prepositions = lazy.Words("above across after along although among around because before behind below beneath beside beyond despite down during except inside like near off once outside since so than though through throughout toward under unless until upon via what whatever while within yet even still only such quite rather both half all not never also too very once why")

// isStatement reports whether a clause states something about a thing that exists, such as "the
// build is broken". A prompt that has such a clause and no request is taken for the report of a
// fault.
func (c *compiler) isStatement(cl clause) bool {
	i := c.skip(cl.from, cl.to)
	if !c.is(i, "my", "our", "the", "this") || cl.to-i < 5 || cl.to < len(c.tokens) && c.tokens[cl.to].kind == ask {
		return false
	}
	for k := i + 2; k+1 < min(cl.to, i+9); k++ {
		low := c.tokens[k].low
		if c.tokens[k].kind != word || phraseEnds.Get()[c.tokens[k-1].low] || determiners.Get()[c.tokens[k-1].low] {
			continue
		}
		if c.is(k, "is", "are", "was", "were", "has", "have", "looks", "shows", "gets", "got") || len(low) > 3 && strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ss") && !strings.HasSuffix(low, "'s") && !phraseEnds.Get()[c.tokens[k+1].low] && c.tokens[k+1].kind == word {
			return true
		}
	}
	return false
}

// desiredState returns the request of a clause that says how something at hand should be: "the intro
// needs to be shorter".
func (c *compiler) desiredState(cl clause) (act, bool) {
	i := c.skip(cl.from, cl.to)
	be := c.anyOf(i, cl.to, "be", "sound", "look", "read")
	if be == cl.to || be-2 <= i || !c.is(i, "the", "my", "this", "our", "it") || !c.is(be-1, "to", "should", "must") || c.formAt(be+1, cl.to) != be+1 {
		return act{}, false
	}
	subject := be - 1
	for subject > i && c.is(subject-1, "needs", "has", "ought", "should") {
		subject--
	}
	return act{opener: opener{verb: Transform, form: formTargetFirst}, at: i, body: be + 1, slot: slotTargetForm, passive: subject}, true
}
