package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A marker is a phrase that says which slot the words after it fill.
type marker struct {
	slot  Slot
	keep  bool // the phrase is part of the value, as in "without sugar"
	only  bool // the whole value is the phrase
	chunk bool // counts only at the beginning of a clause or after a comma
	when  condition
}

// A condition says which words must follow a marker, or which object must stand before it.
type condition byte

const (
	always  condition = iota
	person            // a person
	thing             // anything but a person
	date              // a day, a month, a number
	place             // a name or a system
	manner            // a tone, a style
	number            // a number
	mail              // any words, after an object that is sent, such as an email
	written           // any words, after an object that is written, such as a report
	some              // an occasion such as work or school
)

var markers = lazy.Value[map[Verb]phrases[[]marker]]{Make: func() map[Verb]phrases[[]marker] {
	all := make(map[Verb]map[string][]marker)
	for _, v := range Verbs() {
		all[v] = make(map[string][]marker)
	}
	add := func(v Verb, m marker, list string) {
		for text := range strings.SplitSeq(list, ",") {
			for _, words := range spellings(strings.Fields(text)) {
				key := strings.Join(words, " ")
				all[v][key] = append(all[v][key], m)
			}
		}
	}
	link := func(v Verb, s Slot, list string) { add(v, marker{slot: s}, list) }
	keep := func(v Verb, s Slot, list string) { add(v, marker{slot: s, keep: true}, list) }
	head := func(v Verb, s Slot, list string) { add(v, marker{slot: s, keep: true, chunk: true}, list) }
	only := func(v Verb, s Slot, list string) { add(v, marker{slot: s, keep: true, only: true}, list) }
	cond := func(v Verb, s Slot, c condition, list string) { add(v, marker{slot: s, when: c}, list) }

	only(Explain, slotDepth, `in detail, in great/full/more/some detail, in full detail, in depth, in-depth, briefly, in brief, at a high level, step by step, simply,
		thoroughly, concisely, in a nutshell, line by line, in simple/plain/easy/layman's words/terms/language/english, in one sentence, in short, in a few words, shortly`)
	only(Explain, slotAudience, "like i'm/im/i five/5, like i am five/5")
	link(Explain, slotDepth, "in #, in at most, in under, including")
	keep(Explain, slotAudience, "as if i/i'm/i'd")
	cond(Explain, slotAudience, person, "for, to")
	cond(Explain, slotContext, some, "for")
	keep(Explain, slotContext, "because, so that, so i/we/he/she/they, before i/we, since i/we")
	cond(Explain, slotContext, place, "in")
	cond(Explain, "", manner, "in a/an")
	head(Explain, slotContext, "i, i'm, i've, we, we're, my, our, as i/we")

	link(Create, slotTopic, "about, regarding, covering, concerning, focused on, focusing on, related to, on the topic/subject of")
	cond(Create, slotAudience, person, "for, to, aimed at, targeted at, intended for")
	cond(Create, slotAudience, mail, "to")
	cond(Create, slotTopic, written, "on, of, to")
	cond(Create, slotTopic, thing, "for")
	keep(Create, slotConstraints, `without, using, no more/less/longer/fewer than, not more/longer than, at least/most, max, maximum, under #, in under, up to #, less/fewer/more/older/newer/larger/smaller than #,
		about #, around #, must, limited to, with at most/least, it must/should/has/needs, they must/should, within #`)
	head(Create, slotConstraints, `no, don't, do not, dont, never, keep it, make sure, ensure, be sure, limit, only, use, avoid, it must/should/has/can/cannot, each, with no, but no/not, include, should include, must, #, final, be`)
	cond(Create, slotStyle, manner, "in a/an, in, with a/an")

	head(Transform, slotConstraints, "using")
	link(Transform, slotTargetForm, "into, to, to use, as, so that, sound, look, down to, so it, so it's, so they, using")
	cond(Transform, slotTargetForm, number, "in")
	cond(Transform, slotTargetForm, manner, "in")
	keep(Transform, slotConstraints, "without, preserving, keeping, while keeping/preserving, maintaining")
	only(Transform, slotConstraints, "concisely")
	link(Transform, "", "across, throughout")
	head(Transform, slotConstraints, `keep, but keep/leave/preserve/do/don't, preserve, maintain, don't, do not, dont, never, same, the same, with the same, no, make sure, avoid, leave, only, and keep, use, it must/should, must, at most, max`)
	link(Transform, "", "from")

	link(Analyze, slotCriteria, `based on, against, with respect to, focus on, focusing on, looking for, in terms of, by, under, with a focus on, with regard to, and check whether/if,
		and tell me whether/if, check whether/if/that, whether, and see if/whether, for`)
	link(Analyze, slotFormat, "as a/an, as, give me, in #, and report as, with a score/table/list/ranking/summary, and give me, and list, list them, and report, in a/an table/list")
	keep(Analyze, slotFormat, "per")
	only(Analyze, "", "thoroughly, critically, carefully, quickly, briefly, asap")
	head(Analyze, slotFormat, "score, rank, rate each, list")
	head(Analyze, slotCriteria, "focus, mainly, especially")

	link(Decide, slotCriteria, "based on, optimize/optimizing for, in terms of, with respect to, considering, with a focus on, by")
	link(Decide, slotContext, "for, given that, given, considering that, here given that")
	link(Decide, "", "should/would/do/shall i/we/you use/pick/choose/take/buy/get/recommend/go, is/are best/better, do you recommend")
	keep(Decide, slotContext, "because, if i/we, since i/we, now that")
	head(Decide, slotContext, "i, i'm, i've, i'll, we, we're, we've, my, our, currently")
	head(Decide, slotCriteria, "i care, we care, most important, priority, my priority, budget, what matters")

	link(Plan, slotConstraints, "within, limited to, on a budget of")
	add(Plan, marker{slot: slotConstraints, keep: true, when: date}, "by, before, under")
	keep(Plan, slotConstraints, "in #, without, with only, using only, on a/an # , on a tight/small/shoestring budget, for under, with at most, no later than, by the end, before the")
	head(Plan, slotConstraints, "budget, only, we only, i only, no, must, it must/should, don't, do not, with, deadline, max, keep, the budget, my budget, in #")
	link(Plan, slotContext, "given that, given, starting from")
	keep(Plan, slotContext, "because, since i/we")
	head(Plan, slotContext, "i, i'm, i've, i'll, we, we're, we've, my, our, currently, right now")

	keep(Fix, slotContext, "after, when, since, whenever, while, every time, each time, during, version, if i, as soon as, only when, but only")
	cond(Fix, slotContext, place, "in, on, with, under, using")
	add(Fix, marker{slot: slotSymptoms, chunk: true}, "i/we get/see/got/see, i/we keep getting, i'm/we're getting, it says/shows")
	link(Fix, slotSymptoms, "that it, because it, it, they, which, because, but it, but")

	tables := make(map[Verb]phrases[[]marker])
	for v, list := range all {
		tables[v] = index(list)
	}
	return tables
}}

// labels are words that name a slot when a colon follows them.
var labels = map[string][]Slot{
	"audience": {slotAudience}, "readers": {slotAudience}, "tone": {slotStyle, slotConstraints}, "style": {slotStyle, slotConstraints}, "voice": {slotStyle},
	"topic": {slotTopic, slotTarget}, "subject": {slotTopic, slotTarget}, "constraints": {slotConstraints}, "constraint": {slotConstraints}, "requirements": {slotConstraints},
	"length": {slotConstraints, slotDepth}, "format": {slotFormat, slotTargetForm, slotConstraints}, "output": {slotFormat, slotTargetForm}, "criteria": {slotCriteria},
	"context": {slotContext}, "background": {slotContext}, "goal": {slotGoal}, "budget": {slotConstraints, slotCriteria}, "deadline": {slotConstraints},
	"options": {slotOptions}, "symptom": {slotSymptoms}, "symptoms": {slotSymptoms}, "error": {slotSymptoms}, "depth": {slotDepth}, "source": {slotSource}, "text": {slotSource},
}

// persons are nouns for those who read, hear or use something.
var persons = lazy.Words(`beginner beginners novice novices expert experts layperson laypeople person people someone somebody everyone anybody newcomer newcomers
	team teams boss manager managers management executives executive ceo cto board stakeholders stakeholder investors investor customers customer clients users
	developers developer engineers engineer programmers analysts designers students student pupils kids kid children child toddlers baby graders grader class teens teenagers
	adults adult teenager niece nephew parents parent mother mom father dad daughter son brother sister wife husband partner grandmother grandma grandfather grandpa friend friends family families
	colleagues colleague coworkers staff employees recruiters recruiter hiring landlord neighbor neighbors teacher teachers readers reader audience visitors guests members
	nurses nurse doctors doctor patients patient lawyers lawyer officer officers office me us him old non-developers non-engineers non-technical owners tourists supplier suppliers tenant tenants intern guest applicant applicants committee council authorities bank insurer insurance vendor vendors seller buyer subscribers followers fans crew squad interns intern juniors seniors leadership department`)

var occasionNouns = lazy.Words("work school university college presentation interview exam project test job thesis homework assignment meeting talk course")

var dates = lazy.Words(`monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
	tomorrow tonight noon next christmas easter summer winter spring autumn fall eod end q1 q2 q3 q4 midnight today`)

var systems = lazy.Words(`mac macos windows linux ubuntu ios android docker production prod staging chrome safari firefox edge mobile desktop python javascript typescript react java rust go golang
	php ruby node kubernetes k8s ci dev debug release vim vscode`)

var writings = lazy.Words(`report essay post article talk paper deck note notes guide speech email letter story poem presentation book chapter brief tutorial memo blog bio
	thread invitation document page quiz account tweet newsletter song slide slides one-pager overview summary piece lecture lesson paragraph text`)

var mails = lazy.Words("email mail letter note message memo reply postcard response")

var manners = lazy.Words("tone style voice way manner register language terms words format points bullets prose english spanish german french italian dutch russian chinese japanese korean portuguese arabic hindi")

// follows reports whether the words from token i meet the condition. object is the noun before
// the marker.
func (c *compiler) follows(cond condition, i, end int, object string) bool {
	switch cond {
	case person:
		return c.isPerson(i, end)
	case thing:
		alone := i+1 >= end || c.tokens[i+1].kind != word
		return i < end && !c.isPerson(i, end) && (!alone || !pronouns.Get()[c.tokens[i].low])
	case date:
		return i < end && c.tokens[i].kind == word && (dates.Get()[c.tokens[i].low] || isNumber(c.tokens[i].low)) || c.is(i, "the") && c.is(i+1, "end")
	case place:
		return c.named(i) || c.ahead(i, min(end, i+3), 3, systems.Get())
	case manner:
		return c.ahead(i, end, 4, manners.Get())
	case number:
		return i < end && c.tokens[i].kind == word && isNumber(c.tokens[i].low)
	case mail:
		return mails.Get()[object]
	case written:
		return writings.Get()[object]
	case some:
		return c.ahead(i, end, 4, occasionNouns.Get())
	case always:
	}
	return true
}

// ahead reports whether one of the next n words, before a comma or a link word, is in the set.
func (c *compiler) ahead(i, end, n int, words map[string]bool) bool {
	for k := i; k < end && k < i+n && c.tokens[k].kind == word; k++ {
		low := c.tokens[k].low
		if words[low] {
			return true
		}
		if linkWords.Get()[low] {
			return false
		}
	}
	return false
}

// isPerson reports whether the noun phrase that begins at token i means a person. The last
// word of the phrase decides.
func (c *compiler) isPerson(i, end int) bool {
	if c.is(i, "someone", "somebody", "people", "everyone", "anyone", "me", "us") {
		return true
	}
	last := ""
	for k := i; k < end && k < i+7 && c.tokens[k].kind == word && !linkWords.Get()[c.tokens[k].low]; k++ {
		last = c.tokens[k].low
		if last == "who" {
			return true
		}
	}
	return persons.Get()[last] || strings.HasSuffix(last, "-year-olds") || strings.HasSuffix(last, "-year-old")
}

// named reports whether token i is a name: its first letter is a capital.
func (c *compiler) named(i int) bool {
	if i >= len(c.tokens) || c.tokens[i].kind != word || c.is(i, "i", "i'm") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(c.text[c.tokens[i].start:])
	return unicode.IsUpper(r)
}
