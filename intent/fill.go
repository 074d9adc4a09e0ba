package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A filling collects the values of the slots of one request.
type filling struct {
	*compiler
	act     act
	slots   map[Slot][]Phrase
	pronoun string // the pronoun in place of the object, or empty
	first   bool   // the object came before the verb
	used    int    // where the clause begins that named the object, or -1
	distant bool   // the clause being read stands in an earlier sentence than the request
	assumed []string
}

// shownText is the most characters of a value in an assumption.
const shownText = 40

// fill fills the slots of a request.
func (c *compiler) fill(p part) *filling {
	f := &filling{compiler: c, act: p.act, slots: make(map[Slot][]Phrase), used: -1}
	if p.blind {
		f.put(f.act.slot, f.act.body, p.end)
		return f
	}
	f.object(p)
	for _, cl := range p.lead {
		f.distant = !f.near(cl, p) && f.act.verb != Fix
		if cl.from != f.used {
			f.clause(cl, true)
		}
	}
	f.distant = false
	for _, cl := range p.trail {
		if f.act.verb != Transform || !f.quoted(cl, p) {
			f.clause(cl, false)
		}
	}
	if f.open() {
		f.refer(p)
	}
	if f.open() && !p.weak {
		f.whole(p)
	}
	if f.open() {
		f.elsewhere(p)
	}
	switch {
	case len(f.slots[slotTargetForm]) > 0:
	case f.act.own, f.act.slot != slotTargetForm && len(f.tokens) >= 2*minStatement:
		f.put(slotTargetForm, f.act.at, f.act.at+1)
	case f.act.thing != "" && f.act.thing != "translation":
		f.put(slotTargetForm, f.act.from, f.act.to)
	}
	f.styled()
	for _, values := range f.slots {
		slices.SortFunc(values, func(a, b Phrase) int { return cmp.Compare(a.Start, b.Start) })
	}
	return f
}

// quoted reports whether clause cl is the text to be transformed: it follows the colon after the
// request.
func (f *filling) quoted(cl clause, p part) bool {
	_, named := f.label(cl.from)
	return cl.from == p.end+1 && f.tokens[p.end].kind == colon && !named && !f.open()
}

// whole takes all words of a request as its object if no rule found one: a request that names
// something leaves no gap, and neither does a single word such as commit.
func (f *filling) whole(p part) {
	object := f.act.verb.object()
	switch i := f.act.body; {
	case f.is(f.act.at, "commit", "push", "pull", "rebase", "squash", "stash", "deploy"):
		f.put(object, f.act.at, f.act.at+1)
	case f.pronoun != "":
	case f.attached(p.end) < len(f.tokens) && f.tokens[p.end].kind == colon:
		at := f.attached(p.end)
		f.put(object, at, f.block(at))
	case f.act.slot != object || f.act.verb == Decide:
	case len(f.slots) == 0:
		f.put(object, i, p.end)
	}
}

// minStatement is the least number of words of a clause that can be a statement.
const minStatement = 4

// elsewhere fills the object of a request in which no rule found one. It takes the request's
// own words if they name something, or else a statement before the request, or else one
// after it. A gap is for a prompt that leaves the object open, not for one that no rule
// understands.
func (f *filling) elsewhere(p part) {
	object, from := f.act.verb.object(), f.act.body
	if f.act.verb == Fix {
		from = f.act.at
	}
	named := (f.pronoun == "" || f.pronoun == "me" || f.pronoun == "us") && f.act.verb != Transform && f.act.verb != Decide
	if named && p.end-f.act.at >= minStatement && !f.vague(from, p.end) && (f.act.verb != Fix || len(f.tokens) >= 2*minStatement) {
		f.put(object, from, p.end)
	}
	if f.act.verb == Fix {
		return // a fault whose object is not named is a gap
	}
	for k := len(p.lead) - 1; k >= 0 && f.open(); k-- {
		f.takeStatement(p.lead[k])
	}
	for k := 0; k < len(p.trail) && f.open(); k++ {
		f.takeStatement(p.trail[k])
	}
}

// takeStatement takes a clause as the object if it is a statement.
func (f *filling) takeStatement(cl clause) {
	if i := f.skip(cl.from, cl.to); cl.to-i >= minStatement && !f.is(i, "before", "if", "when", "as") {
		f.put(f.act.verb.object(), i, cl.to)
	}
}

// result returns the slots, or nil if none is filled.
func (f *filling) result() map[Slot][]Phrase {
	if len(f.slots) == 0 {
		return nil
	}
	return f.slots
}

// open reports whether the object slot is empty.
func (f *filling) open() bool { return len(f.slots[f.act.verb.object()]) == 0 }

// object fills slots from the clause of the request, after the opener.
func (f *filling) object(p part) {
	i, slot := f.before(p)
	end := p.end
	if f.act.thing != "" {
		f.depth()
	}
	if f.act.tail > 0 {
		f.put(slot, i, f.act.tail)
		f.run(f.act.tail+1, end, "")
		return
	}
	switch f.act.verb {
	case Create:
		i, slot = f.created(i, end, slot)
	case Transform:
		if f.transformed(i, end, slot) {
			return
		}
	case Decide:
		_, n := optionLeads.Get().at(f.tokens[i:end])
		i = f.after(i+n, end)
		if at := f.anyOf(i, end, "better", "best"); f.act.how == yesNo && at < end {
			f.put(slot, i, at)
			f.run(at+1, end, "")
			return
		}
	case Fix:
		if f.fixed(i, end, slot) {
			return
		}
		if f.is(f.act.at, "make", "get") {
			for f.is(end-1, "pass", "work", "working", "green", "again", "running", "passing", "run", "compile") {
				end--
			}
		}
	case Analyze:
		if f.act.how == showing {
			end = f.anyOf(i, end, "tell", "show", "say", "suggest", "reveal", "indicate")
		}
		if at := f.quality(i, end); at < end {
			f.run(i, at, slot)
			if f.is(at, "is", "are", "was", "were") {
				at++
			}
			f.put(slotCriteria, at, end)
			return
		}
	case Plan:
		if f.act.how == breaking {
			end = f.anyOf(i, end, "down")
		}
	case Explain:
		if k := f.anyOf(i, end, "how", "why", "what", "that"); f.is(i, "to", "for") && f.isPerson(i+1, k) && k < end {
			f.put(slotAudience, i+1, k)
			i = k
		}
	}
	f.run(i, end, slot)
}

// before takes the object from the words before the verb or from attached text. It returns the
// token at which the rest of the request begins, and the slot of that token.
func (f *filling) before(p part) (int, Slot) {
	i, end, slot := f.act.body, p.end, f.act.slot
	if n := len(p.lead); n > 0 && f.near(p.lead[n-1], p) && (i >= end || f.vagueBody(i, end)) {
		f.named(p.lead[n-1])
	}
	if f.attached(end) < len(f.tokens) && f.mentions(i, end, "following") {
		f.pronoun = f.value(i, end).Text
		for i < end && !f.is(i, "in", "as", "into", "to", "so", "using", "more", "less", "sound", "look") {
			i++
		}
		slot = ""
	}
	if f.act.passive > 0 {
		f.put(f.act.verb.object(), f.act.at, f.act.passive)
		if slot != slotTargetForm {
			slot = ""
		}
		if f.is(i, "into", "to", "in", "as") {
			slot, i = slotTargetForm, i+1
		}
	}
	return i, slot
}

// created puts the style words before an artifact into their slot. It returns the index of the
// token at which the rest of the request begins, and the slot of that token.
func (f *filling) created(i, end int, slot Slot) (int, Slot) {
	if f.hasStyle(i+1, end) && f.vague(i, i+1) && !f.is(i, "a", "the") {
		f.put(slot, i, i+1)
		return i + 1, slotStyle
	}
	return f.style(i, end), slot
}

// hasStyle reports whether a style word stands at token i.
func (f *filling) hasStyle(i, end int) bool {
	_, n := styles.Get().at(f.tokens[min(i, end):end])
	return n > 0
}

// transformed fills source and target form where the verb has its own rule for them, and reports
// whether it did.
func (f *filling) transformed(i, end int, slot Slot) bool {
	at := end
	switch {
	case f.is(f.act.at, "replace", "swap", "substitute"):
		if at = f.anyOf(i, end, "with", "by"); at < end {
			f.put(slot, i, at)
			f.run(at+1, end, slotTargetForm)
			return true
		}
	case f.is(f.act.at, "rewrite", "translate", "port", "render", "express", "paraphrase", "rephrase"):
		if in := f.anyOf(i, end, "in"); in < end && in+3 > end && f.follows(place, in+1, end, "") {
			at = in
		}
	case f.is(f.act.at, "put"):
		at = f.anyOf(i, end, "in", "under", "on")
	}
	if at < end {
		f.put(slot, i, at)
		f.put(slotTargetForm, at+1, end)
		return true
	}
	makes := f.is(f.act.at, "make")
	if makes && slot == slotTargetForm { // "make a letter of them"
		f.put(slot, i, end-2)
		f.pronoun = f.tokens[end-1].low
		return true
	}
	if slot == slotTargetForm && f.act.from > 0 { // "the same text as a list"
		f.put(slotSource, f.act.from, i-1)
	}
	switch {
	case !makes:
		return false
	case slot == "":
		f.put(slotTargetForm, i, end)
	default:
		form := f.formAt(i+1, end)
		if f.is(i+1, "a", "an") {
			form = i + 1
		}
		f.run(i, form, slotSource)
		if f.is(form, "sound", "look", "into") {
			form++
		}
		f.run(form, end, slotTargetForm)
	}
	return true
}

// fixed fills target and symptoms of a repair where its words separate them, and reports whether
// it did.
func (f *filling) fixed(i, end int, slot Slot) bool {
	if f.act.how == whyMine && f.is(f.act.at+1, "is", "are", "was", "were") && end-i > 2 && f.plainRun(i, end) && f.findSymptom(i, end) == end {
		f.put(slot, i, end-1)
		f.put(slotSymptoms, end-1, end)
		return true
	}
	if k := f.stopped(i, end); k < end {
		f.put(slot, i, k)
		f.run(k+1, end, slotSymptoms)
		return true
	}
	if at := f.works(i, end); f.is(f.act.at, "get", "make") && at < end && !f.is(at, "again") {
		f.put(slot, i, at)
		f.run(at, end, "")
		return true
	}
	return false
}

// mentions reports whether one of the tokens from i to before end is the word w.
func (f *filling) mentions(i, end int, w string) bool {
	for ; i < end; i++ {
		if f.is(i, w) {
			return true
		}
	}
	return false
}

// near reports whether clause cl stands in the sentence of the request, or leads to the request
// with a colon, a dash or a semicolon.
func (f *filling) near(cl clause, p part) bool {
	k := cl.to
	for k < f.act.at && (f.tokens[k].kind == colon || f.tokens[k].kind == semi || f.tokens[k].kind == comma) {
		k++
	}
	return k < len(f.tokens) && f.skip(k, p.end) >= f.act.at && !f.tokens[cl.to].breaks() || f.tokens[cl.to].kind == colon || f.tokens[cl.to].kind == semi
}

// vagueBody reports whether the words after the opener name nothing.
func (f *filling) vagueBody(i, end int) bool {
	return f.vague(i, end) || end-i == 1 && f.is(i, "start", "begin", "proceed")
}

// named takes the object from a clause before the request.
func (f *filling) named(cl clause) {
	i := f.skip(cl.from, cl.to)
	if _, n := mentions.Get().at(f.tokens[i:cl.to]); n > 0 {
		i += n
	} else if !f.nominal(i, cl.to) {
		return
	}
	f.run(i, cl.to, f.act.verb.object())
	if !f.open() {
		f.first, f.used = true, cl.from
	}
}

// after returns the token at which the options begin in a question that lists them after a
// comma: "which is better, tea or coffee".
func (f *filling) after(i, end int) int {
	if f.act.form != formQuestion {
		return i
	}
	for k := i; k < end && !f.is(k, "or", "vs", "versus"); k++ {
		if f.tokens[k].kind != comma {
			continue
		}
		for m := k; m < end && m < k+16; m++ {
			if f.is(m, "or") && k-i < 4 && f.is(f.act.at, "which", "what") {
				return k + 1
			}
		}
		return i
	}
	return i
}

// quality returns the token at which a question about a property names the property, or end:
// "short" in "is my letter short".
func (f *filling) quality(i, end int) int {
	switch {
	case f.is(i, "there") || f.is(i-1, "there"):
	case f.act.how == telling:
		for k := i; k < end; k++ {
			if f.is(k, "is", "are", "was", "were", "has", "have", "can", "does", "will") {
				return k
			}
		}
	case f.act.how == yesNo && f.act.thing == "" && f.is(f.act.at, "is", "are", "was", "were") && i+2 < end && f.plainRun(i, end):
		if f.tokens[end-2].low != "only" && strings.HasSuffix(f.tokens[end-2].low, "ly") || f.is(end-2, "any", "so", "too", "very", "really", "not", "good", "still") && i+3 < end {
			return end - 2
		}
		return end - 1
	case f.act.how == yesNo && f.act.verb == Analyze && f.act.thing == "" && i+2 < end && determiners.Get()[f.tokens[i].low] && f.tokens[i+2].kind == word && !linkWords.Get()[f.tokens[i+2].low]:
		return i + 2
	}
	return end
}

// plainRun reports whether the tokens are a determiner and words without a link word.
func (f *filling) plainRun(i, end int) bool {
	if !determiners.Get()[f.tokens[i].low] {
		return false
	}
	for ; i < end; i++ {
		if f.tokens[i].kind != word || linkWords.Get()[f.tokens[i].low] {
			return false
		}
	}
	return true
}

// depth fills the slot depth with the words before the noun that names the result, as in "a
// quick overview of".
func (f *filling) depth() {
	if f.act.verb != Explain {
		return
	}
	from := f.act.from
	if f.is(from, "me", "us") {
		from++
	}
	if f.act.to-from > 2 {
		f.put(slotDepth, from, f.act.to)
	}
}

// style takes the style words before an artifact, and returns the token at which the artifact
// begins.
func (f *filling) style(i, end int) int {
	from := i
	if f.is(i, "me", "us") {
		i++
		from = i
	}
	if f.is(i, "a", "an", "the", "some") {
		i++
	}
	start, found := i, false
	for ; i < end; i++ {
		n := 1
		if f.tokens[i].kind == word {
			_, n = styles.Get().at(f.tokens[i:end])
		}
		switch {
		case n > 0 && f.tokens[i].kind == word:
			if !found {
				f.put(slotStyle, i, i+n)
			}
			found = true
			i += n - 1
		case i > start && (f.tokens[i].kind == comma || f.is(i, "and", "yet", "but", "strictly", "very")):
		case f.is(i, "short", "brief", "long", "detailed", "comprehensive", "exhaustive", "true", "quick", "accurate", "evidence-based") && f.joined(i, start, end):
			found = true
		default:
			if found {
				return i
			}
			return from
		}
	}
	return from
}

// joined reports whether the adjective at token i stands in a row of adjectives.
func (f *filling) joined(i, start, end int) bool {
	glue := func(k int) bool {
		return k >= start && k < end && (f.tokens[k].kind == comma || f.is(k, "and", "yet", "but", "strictly"))
	}
	return glue(i-1) || glue(i+1)
}

// run splits the tokens from i to before end at the markers. It puts the tokens before the first
// marker into the given slot, and the tokens after each marker into the marker's slot.
func (f *filling) run(i, end int, slot Slot) {
	table, start, object := markers.Get()[f.act.verb], i, ""
	head := slot == ""
	for i < end {
		if m, n := f.marker(table, i, end, head, object); n > 0 && (i > start || head || f.leads(m)) && !f.inside(m, slot, i, end) {
			f.put(slot, start, i)
			slot, start = m.slot, i+n
			switch {
			case m.only:
				f.put(slot, i, i+n)
				slot = f.rest(slot)
			case m.keep:
				start = i
			case (f.act.how == naming || i == f.act.body && f.act.verb == Transform) && slot == "" && f.is(i, "from"):
				slot = slotSource
			}
			i += n
			head = m.only
			continue
		}
		if n := f.symptom(slot, i, end); n > 0 {
			start = f.subject(start, i)
			if f.open() {
				f.put(slot, start, i)
				start = i
			}
			slot = slotSymptoms
			i += n
			continue
		}
		if f.tokens[i].kind == comma && f.instructs(f.skip(i, end), false) {
			f.put(slot, start, i)
			return
		}
		head = f.tokens[i].kind == comma || head && f.is(i, "and", "but", "then", "please")
		if f.tokens[i].kind == comma && !f.continues(slot, i, end) {
			f.put(slot, start, i)
			slot, start = f.chunk(i+1, end), i+1
		}
		if f.tokens[i].kind == word {
			object = f.tokens[i].low
		}
		i++
	}
	f.put(slot, start, end)
}

// symptom returns the number of tokens of a symptom phrase at token i of a repair, or 0. A
// phrase that describes the noun after it is no symptom: "the failing test".
func (f *filling) symptom(slot Slot, i, end int) int {
	if f.act.verb != Fix || slot == slotSymptoms {
		return 0
	}
	_, n := symptoms.Get().at(f.tokens[i:end])
	if f.is(i-1, "a", "an", "the", "my", "our", "your") && i+n < end && f.tokens[i+n].kind == word && !linkWords.Get()[f.tokens[i+n].low] {
		return 0
	}
	return n
}

// leads reports whether marker m may stand before the object: "rewrite as a haiku", "explain in
// detail how it works".
func (f *filling) leads(m marker) bool {
	return m.only || f.act.verb == Create || f.act.verb == Transform
}

// rest returns the slot of the words after a marker that is itself the whole value of slot s. If
// that value is the depth of an explanation without an object, the words are the object. Otherwise
// they have no slot.
func (f *filling) rest(s Slot) Slot {
	if f.open() && f.pronoun == "" && f.act.verb == Explain && s == slotDepth {
		return slotTarget
	}
	return ""
}

// marker returns the marker at token i whose condition holds, and its number of tokens. The number
// is 0 if there is no such marker.
func (f *filling) marker(table phrases[[]marker], i, end int, head bool, object string) (marker, int) {
	list, n := table.at(f.tokens[i:end])
	for _, m := range list {
		if (head || !m.chunk) && (m.chunk || !f.distant) && f.follows(m.when, i+n, end, object) {
			return m, n
		}
	}
	return marker{}, 0
}

// inside reports whether marker m belongs to the value of the open slot and does not end it.
func (f *filling) inside(m marker, slot Slot, i, end int) bool {
	switch {
	case m.slot == slot && !m.only:
		return slot != slotConstraints || f.tokens[i-1].kind != comma && !f.is(i-1, "and")
	case f.act.verb == Fix && slot == slotTarget && m.when == place:
		return !f.ahead(i+1, min(end, i+4), 3, systems.Get())
	case m.slot == slotTargetForm:
		return len(f.slots[slotTargetForm]) > 0 || slot == slotConstraints
	case slot == slotConstraints && f.act.verb == Create:
		return m.slot == slotTopic || m.slot == slotConstraints && !f.is(i, "must")
	case f.act.how == naming && m.slot != "" && slot == slotSource, f.act.own && f.is(i, "from") && f.is(f.act.at, "remove", "delete", "drop", "strip"):
		return true
	default:
		return false
	}
}

// continues reports whether a slot goes on after a comma.
func (f *filling) continues(slot Slot, i, end int) bool {
	if i+1 < end {
		if _, n := f.marker(markers.Get()[f.act.verb], i+1, end, true, ""); n > 0 {
			return false
		}
	}
	if slot == slotSymptoms {
		_, n := fillers.Get().at(f.tokens[i+1 : end])
		return n == 0
	}
	return slot == slotOptions || slot != "" && f.list(i, end)
}

// list reports whether the comma at token i stands in a list: short pieces follow, the last one
// after "and" or "or".
func (f *filling) list(i, end int) bool {
	words := 0
	for k := i + 1; k < end && k < i+14; k++ {
		switch t := f.tokens[k]; {
		case t.kind == comma:
			words = 0
		case t.kind != word && t.kind != literal:
			return false
		case words > 0 && (t.low == "and" || t.low == "or"):
			return true
		default:
			words++
		}
		if words > 4 {
			return false
		}
	}
	return false
}

// chunk returns the slot of the words after a comma that begin with no marker.
func (f *filling) chunk(i, end int) Slot {
	switch f.act.verb {
	case Create:
		if f.hasStyle(i, end) {
			return slotStyle
		}
	case Transform:
		if f.hasStyle(i, end) {
			return slotConstraints
		}
	case Explain:
		if f.is(i, "concise", "brief", "short", "detailed", "thorough") {
			return slotDepth
		}
	case Decide:
		return f.loose(i, end)
	case Analyze, Plan, Fix:
	}
	return ""
}

// loose returns the slot of a statement about a choice: criteria if it has a word such as
// matters or budget, or else no slot.
func (f *filling) loose(i, end int) Slot {
	for k := i; k < end; k++ {
		if f.is(k, "matters", "matter", "important", "priority", "care", "budget", "criterion", "problem", "crucial") {
			return slotCriteria
		}
	}
	return ""
}

// clause fills slots from a clause that makes no request. If lead is true, the clause stands before
// the request.
func (f *filling) clause(cl clause, lead bool) {
	if s, ok := f.label(cl.from); ok {
		f.put(s, cl.from, cl.to)
		return
	}
	i := f.skip(cl.from, cl.to)
	if f.instructs(i, lead) {
		return
	}
	before := f.count()
	slot := f.begin(cl, i, lead)
	if cl.act != nil && f.count() > before {
		return
	}
	if lead && f.act.verb == Explain && f.is(i, "i", "i'm", "i've", "we", "we're", "my", "our") {
		return
	}
	f.run(i, cl.to, slot)
	if f.count() == before && !lead && f.act.verb == Fix && len(f.slots[slotSymptoms]) == 0 && cl.act == nil && cl.to-i <= symptomLength && cl.from > 0 && f.tokens[cl.from-1].kind != colon {
		f.put(slotSymptoms, i, cl.to)
	}
}

// instructs reports whether the words at token i, after a repair, say how to do the work. For
// example, "keep it concise" is no symptom, and the verb fix has no slot for it.
func (f *filling) instructs(i int, lead bool) bool {
	_, n := negations.Get().at(f.tokens[i:])
	return f.act.verb == Fix && !lead && (n > 0 || f.is(i, "keep", "leave", "use", "only", "be"))
}

// symptomLength is the most tokens of a statement that counts as a symptom only because it
// follows a repair.
const symptomLength = 30

// begin returns the slot for the first words of a clause that makes no request.
func (f *filling) begin(cl clause, i int, lead bool) Slot {
	switch f.act.verb {
	case Fix:
		if f.open() && f.findSymptom(i, cl.to) < cl.to || f.open() && !lead && cl.from > 0 && f.tokens[cl.from-1].kind == colon {
			return slotTarget
		}
	case Decide:
		return f.options(cl, i)
	case Create:
		if _, n := styles.Get().at(f.tokens[i:cl.to]); n > 0 && n == cl.to-i {
			return slotStyle
		}
		if cl.act != nil && f.is(cl.act.at, "make", "write") && f.hasStyle(cl.act.body+1, cl.to) {
			f.put(slotStyle, cl.act.body+1, cl.to)
		}
	case Analyze:
		if cl.act == nil {
			break
		}
		if f.is(cl.act.at, "tell", "check") {
			f.put(slotCriteria, cl.act.body, cl.to)
		} else if f.is(cl.act.at, "give", "list", "report") && !pronouns.Get()[f.tokens[min(cl.to-1, cl.act.body)].low] {
			f.put(slotFormat, cl.act.body, cl.to)
		}
	case Explain, Transform, Plan:
	}
	return ""
}

// options extends the list of options by clause cl if a colon stands between them. For any other
// clause about a choice it returns the slot in which the clause begins.
func (f *filling) options(cl clause, i int) Slot {
	v := f.slots[slotOptions]
	if cl.from == 0 || f.tokens[cl.from-1].kind != colon || len(v) == 0 || v[0].End > f.tokens[cl.from].start {
		return f.loose(i, cl.to)
	}
	v[0].End = f.tokens[cl.to-1].end
	v[0].Text = f.span(v[0].Start, v[0].End)
	return ""
}

func (f *filling) count() (n int) {
	for _, values := range f.slots {
		n += len(values)
	}
	return n
}

// label returns the slot that the word before a colon names.
func (f *filling) label(from int) (Slot, bool) {
	if from < 2 || f.tokens[from-1].kind != colon || from > 2 && !f.tokens[from-3].breaks() {
		return "", false
	}
	for _, s := range labels[f.tokens[from-2].low] {
		if f.act.verb.has(s) {
			return s, true
		}
	}
	return "", false
}

// subject returns the token at which the faulty thing is named: after the last "and".
func (f *filling) subject(from, to int) int {
	for i := to - 1; i > from; i-- {
		if f.is(i, "and", "but", "the", "my", "our") && i+1 < to {
			if f.is(i, "and", "but") {
				return i + 1
			}
			return i
		}
	}
	return from
}

// refer finds the object that a pronoun refers to: attached text, or the object of an earlier
// clause.
func (f *filling) refer(p part) {
	if f.pronoun == "" && f.act.body < p.end && f.act.slot == f.act.verb.object() && !p.weak {
		return
	}
	object := f.act.verb.object()
	if at := f.attached(p.end); at < len(f.tokens) {
		f.put(object, at, f.block(at))
	}
	for _, cl := range p.lead {
		if _, n := mentions.Get().at(f.tokens[f.skip(cl.from, cl.to):cl.to]); n > 0 && f.open() {
			f.named(cl)
		}
	}
	for k := len(p.lead) - 1; k >= 0 && f.open(); k-- {
		f.named(p.lead[k])
	}
	if v := f.slots[object]; len(v) > 0 && f.pronoun != "" {
		f.assumed = append(f.assumed, fmt.Sprintf("%q is read as %q", f.pronoun, text.Short(v[0].Text, shownText)))
	}
}

// attached returns the first token of the text that follows a colon or a line break after the
// request, or the number of tokens.
func (f *filling) attached(end int) int {
	if end+1 < len(f.tokens) && (f.tokens[end].kind == colon || f.tokens[end].kind == line) {
		return end + 1
	}
	return len(f.tokens)
}

// block returns the token at which an attached text ends. If the text begins with a literal or a
// heading, it ends after that. Otherwise it ends with the prompt.
func (f *filling) block(at int) int {
	for at < len(f.tokens)-1 && f.tokens[at].kind == line {
		at++
	}
	if f.tokens[at].kind == literal {
		return at + 1
	}
	if f.text[f.tokens[at].start] == '#' {
		for at < len(f.tokens) && f.tokens[at].kind != line {
			at++
		}
		return at
	}
	return len(f.tokens)
}

// nominal reports whether a clause may name something: it is no statement or small talk.
func (f *filling) nominal(i, end int) bool {
	if end-i == 1 && (continuations.Get()[f.tokens[i].low] || greetings.Get()[f.tokens[i].low]) {
		return false
	}
	return i < end && !f.is(i, "i", "i'm", "i've", "we", "we're", "you", "there", "there's", "it", "it's", "for", "in", "about", "since", "he", "she", "they", "as", "if", "not", "keep", "continue", "go", "carry", "let's")
}

// put adds the text of the tokens to slot s, without polite words and link words at the ends. A
// pronoun fills no required slot, and a required slot takes only one value.
func (f *filling) put(s Slot, from, to int) {
	from, to = f.trim(from, to)
	if s == slotTarget && f.act.verb == Explain && f.act.form == formQuestion && f.act.thing == "" {
		for to-from > 1 && f.is(to-1, "work", "works", "do", "mean", "means", "be", "happen", "exist", "used") {
			to--
		}
	}
	if s == slotCriteria && f.is(from, "whether", "if", "that") {
		from++
	}
	if s == "" || from >= to || !f.act.verb.has(s) {
		return
	}
	if s == slotTargetForm && f.improves(from, to) {
		return
	}
	if slices.Contains(f.act.verb.Required(), s) {
		if len(f.slots[s]) > 0 {
			return
		}
		if f.vagueBody(from, to) || s == slotOptions && to-from == 1 && f.is(from, "do", "choose", "pick", "take", "use") || s == slotTarget && f.vague(from, to-1) && f.is(to-1, "work", "fail", "happen", "break", "crash", "be") {
			if s == f.act.verb.object() {
				f.pronoun = f.value(from, to).Text
			}
			return
		}
	}
	v := f.value(from, to)
	if !slices.Contains(f.slots[s], v) {
		f.slots[s] = append(f.slots[s], v)
	}
}

// trim returns a range of tokens without polite words, link words and punctuation at both ends. The
// range does not exceed the prompt.
func (f *filling) trim(from, to int) (int, int) {
	to = min(to, len(f.tokens))
	for from < to && (f.tokens[from].kind != word && f.tokens[from].kind != literal && (f.tokens[from].kind != mark || !f.closing(from)) ||
		f.is(from, "please", "and", "but", "then", "me", "us", "of", "that's", "yet", "plz", "pls", "so") && to-from > 1) {
		from++
	}
	for from < to && (f.tokens[to-1].kind != word && f.tokens[to-1].kind != literal && !f.closing(to-1) ||
		f.is(to-1, "please", "and", "but", "then", "pls", "plz", "again", "also", "thanks", "is", "are", "first", "or", "has", "yet")) {
		to--
	}
	return from, to
}

// closing reports whether token i is a mark that may be the last one of a value, such as a
// bracket.
func (f *filling) closing(i int) bool {
	return f.tokens[i].kind == mark && !strings.ContainsRune("-*#", rune(f.text[f.tokens[i].start]))
}

// vague reports whether the tokens name nothing.
func (f *filling) vague(from, to int) bool {
	for i := from; i < to; i++ {
		if t := f.tokens[i]; t.kind != word || !pronouns.Get()[t.low] && !vagueWords.Get()[t.low] {
			return false
		}
	}
	return true
}

var vagueWords = lazy.Words("the following below above all just for a bit thing stuff there here which still again down up why how what not")

// improves reports whether the tokens name no form, but only ask for a better text.
func (f *filling) improves(from, to int) bool {
	for i := from; i < to; i++ {
		if !f.is(i, "better", "nicer", "good", "great", "much", "even", "a", "bit", "little", "lot", "sound", "look") {
			return false
		}
	}
	return true
}

// styled adds the style in a target form to the constraints: the words after "in" that name a
// tone, or else the style words.
func (f *filling) styled() {
	form := f.slots[slotTargetForm]
	if f.act.verb != Transform || len(form) == 0 {
		return
	}
	from := 0
	for from < len(f.tokens) && f.tokens[from].start < form[0].Start {
		from++
	}
	to := from
	for to < len(f.tokens) && f.tokens[to].end <= form[0].End {
		to++
	}
	first, last := to, from
	for i := from; i < to; i++ {
		if _, n := styles.Get().at(f.tokens[i:to]); n > 0 {
			first, last = min(first, i), max(last, i+n)
		}
	}
	if first >= to {
		return
	}
	if f.is(first-1, "more", "less", "very") {
		first--
	}
	if f.is(last, "tone", "style", "voice", "way", "manner") && last < to {
		last++
		for f.is(first-1, "a", "an", "the", "in") {
			first--
		}
	}
	f.put(slotConstraints, first, last)
}

// formAt returns the first token of the words that say how something should become, or end:
// "more formal", "shorter", "sound less angry".
func (c *compiler) formAt(i, end int) int {
	for k := i; k < end; k++ {
		t := c.tokens[k]
		if t.kind == comma || t.breaks() {
			return end
		}
		last := k+1 == end || c.tokens[k+1].kind == comma || c.is(k+1, "and", "but", "please", "for", "without", "than", "by")
		if _, n := styles.Get().at(c.tokens[k:end]); n == 1 && last || forms.Get()[t.low] || len(t.low) > 4 && t.low[len(t.low)-2:] == "er" && last {
			return k
		}
	}
	return end
}

var (
	// mentions are phrases that name the object in a sentence before the request, such as "here
	// is".
	mentions = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
		p := make(phrases[bool])
		p.add(true, `i'm trying to understand/learn/use/read, i am trying to understand/learn/use/read, i'm working on, i am working on, i'm/i've reading/learning/read, i am reading/learning, there's a/an, there is a/an, there are, here's, here is, here are, this is, i have a/an/this/some/two/three, we have some/two/three, i wrote/made a/an/this,
			i've got a/an/this, i have written a/an/this, we have a/an/this`)
		return p.sorted()
	}}

	forms = lazy.Words(`more less sound sounds look into valid better shorter longer simpler clearer faster smaller bigger nicer easier concise formal casual friendly
		readable professional polite funny bold italic uppercase lowercase blue red green black white bigger compatible private public optional mandatory
		executable async asynchronous generic plural singular responsive accessible safe thread-safe idempotent`)

	optionLeads = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
		p := make(phrases[bool])
		p.add(true, `should/would/do/shall/could/can we/i/you use/pick/choose/take/buy/go/prefer/have/recommend, should/would we/i/you go with, is/are better/best, one is better/best, is the better/best, would/do/should/shall you/i/we take/pick/choose/buy/use/get/prefer/recommend, one would/do/should/shall you/i/we take/pick/choose/buy/use/get/prefer/recommend/want, one should i/we use/pick/choose/take/buy,
			one is best for, of, between, to, whether to, if/whether i/we should, out of, from, for dinner/lunch, go with, one, better, for`)
		return p.sorted()
	}}

	// styles are words that describe how a text is written, such as formal or concise.
	styles = lazy.Value[phrases[bool]]{Make: func() phrases[bool] {
		p := make(phrases[bool])
		p.add(true, `formal, casual, friendly, professional, persuasive, playful, technical, concise, creative, funny, humorous, informal, relaxed, polished, laid back, dramatic,
			imaginative, inventive, academic, conversational, poetic, serious, witty, warm, sarcastic, upbeat, neutral, polite, romantic, light-hearted, lighthearted, official, evocative, factual, gentle, plain language, inspiring, ironic, story-like, literal`)
		return p.sorted()
	}}
)
