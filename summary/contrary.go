package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A choice is what a text says was taken, and what was not, in stems.
type choice struct{ taken, left []string }

// A marker is a phrase between what was taken and what was not.
type marker struct {
	words  string
	before bool // what was taken stands before it
}

var markers = []marker{
	{" over ", true},
	{" instead of ", true},
	{" rather than ", true},
	{", not ", true},
	{" and not ", true},
	{" in preference to ", true},
	{" in place of ", true},
	{" preferred to ", true},
	{" as opposed to ", true},
	{" in favor of ", false},
}

// choices checks that of two things the summary says the same was taken as the
// source does.
func (c *checker) choices() {
	type said struct {
		sec  Section
		text string
		list []choice
	}
	var all []said
	for _, sec := range Sections() {
		if sec == SectionErrors {
			continue // there it is what was expected and what came
		}
		for _, t := range c.s.texts(sec) {
			if list := choicesOf(t.text); len(list) > 0 {
				all = append(all, said{sec, t.text, list})
			}
		}
	}
	if len(all) == 0 && len(c.s.Decisions) == 0 {
		return
	}
	var known []choice
	for line := range strings.Lines(c.src.Text) {
		if mayChoose(strings.ToLower(line)) {
			known = append(known, choicesOf(line)...)
		}
	}
	for _, s := range all {
		for _, ch := range s.list {
			contrary := func(k choice) bool { return ch.contrary(k) }
			same := func(k choice) bool { return ch.same(k) }
			if slices.ContainsFunc(known, contrary) && !slices.ContainsFunc(known, same) {
				c.add(s.sec, s.text, RuleSwapped, "the source takes %q and not %q",
					strings.Join(ch.left, " "), strings.Join(ch.taken, " "))
				break
			}
		}
	}
	for _, d := range c.s.Decisions {
		if taken, left := verdicts(d.Decision); len(taken) > 0 && len(left) > 0 {
			ch := choice{without(taken, left), without(left, taken)}
			contrary := func(k choice) bool {
				return meet(ch.taken, k.left) && meet(ch.left, k.taken) && !meet(ch.taken, k.taken) && !meet(ch.left, k.left)
			}
			same := func(k choice) bool { return meet(ch.taken, k.taken) && meet(ch.left, k.left) }
			if k := slices.IndexFunc(known, contrary); k >= 0 && !slices.ContainsFunc(known, same) {
				c.add(SectionDecisions, d.Decision, RuleSwapped, "the source takes %q and not %q",
					strings.Join(known[k].taken, " "), strings.Join(known[k].left, " "))
			}
		}
	}
}

// verdicts returns the stems of what the clauses of a decision say was done, and
// of what they say was not.
func verdicts(text string) (taken, left []string) {
	for _, cl := range clauses(text) {
		low := " " + strings.ToLower(fold(cl)) + " "
		if mayChoose(low) {
			return nil, nil // it says it by itself
		}
		list := &taken
		for _, w := range strings.FieldsFunc(low, notWord) {
			if negations()[w] || w == "rejected" || w == "dropped" || strings.HasSuffix(w, "n't") {
				list = &left
			}
		}
		for _, w := range strings.FieldsFunc(low, notWord) {
			if !stops()[w] && !auxiliary()[w] && !negations()[w] && !choosing()[w] && len(w) > 2 {
				*list = append(*list, stem(w))
			}
		}
	}
	return taken, left
}

func (c choice) same(o choice) bool {
	return meet(c.taken, o.taken) && meet(c.left, o.left) && !meet(c.taken, o.left) && !meet(c.left, o.taken)
}

// contrary reports whether of two things the one took what the other left. What
// both took, such as who is to do it, is beside the point.
func (c choice) contrary(o choice) bool {
	return meet(without(c.taken, o.taken), o.left) && meet(c.left, without(o.taken, c.taken)) && !meet(c.left, o.left)
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// mayChoose reports whether a line in lower case has a word between two things.
func mayChoose(line string) bool {
	for _, m := range markers {
		if strings.Contains(line, m.words) {
			return true
		}
	}
	return strings.Contains(line, "instead of ") || strings.Contains(line, "rather than ") ||
		strings.Contains(line, "not ") && strings.Contains(line, " but ") ||
		strings.Contains(line, "replac") || strings.Contains(line, "from ") && strings.Contains(line, " to ")
}

// choicesOf returns the choices of a text. A question, a condition and what is
// denied choose nothing.
func choicesOf(text string) []choice {
	var list []choice
	for _, s := range sentences(text) {
		low := " " + overSpan().ReplaceAllString(strings.ToLower(fold(s)), " for $1") + " "
		if strings.HasSuffix(s, "?") || !mayChoose(low) || weighs(low) {
			continue
		}
		for _, m := range markers {
			left, right, ok := strings.Cut(low, m.words)
			if !ok {
				continue
			}
			if m.before {
				list = appendChoice(list, operand(left, true), operand(right, false))
			} else {
				list = appendChoice(list, operand(right, false), operand(left, true))
			}
		}
		list = framed(list, low)
	}
	return list
}

// reasonWord begins what says why: that it denies something is no doubt about what
// was chosen.
var reasonWord = lazy.Regexp(` (?:because|since|as|so that) |[:;] `)

// weighs reports whether a sentence names two things and only weighs them.
func weighs(low string) bool {
	return slices.ContainsFunc(reasonWord().Split(low, -1), func(part string) bool {
		part = " " + part + " "
		return mayChoose(part) && doubtful(part)
	})
}

// overSpan finds "over" before an amount: "a median over 10 minutes" prefers
// nothing.
var overSpan = lazy.Regexp(` over ((?:the (?:last|past|next|whole|entire)|all|each|every|several|some|about|time|\d|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)`)

// framed appends the choices of phrases that stand around both things.
func framed(list []choice, low string) []choice {
	for _, f := range []struct {
		open, mid string
		first     bool // what was taken comes first
	}{
		{" not ", " but ", false},
		{" from ", " to ", false},
		{" replaced ", " with ", false},
		{" replaced ", " by ", false},
		{" replace ", " with ", false},
		{" replace ", " by ", false},
		{" replacing ", " with ", false},
		{" instead of ", ", ", false},
		{" rather than ", ", ", false},
	} {
		_, rest, ok := strings.Cut(low, f.open)
		if !ok {
			continue
		}
		if f.mid == ", " && strings.TrimSpace(low[:strings.Index(low, f.open)]) != "" {
			continue // "instead of X, Y" only at the beginning
		}
		a, b, ok := strings.Cut(rest, f.mid)
		if !ok || len(strings.Fields(a)) > 6 {
			continue
		}
		list = appendChoice(list, operand(b, false), operand(a, true))
	}
	return list
}

// doubtful reports whether a sentence only weighs, or denies.
func doubtful(low string) bool {
	for _, w := range []string{
		" should we ", " would ", " could ", " might ", " if we ", " consider ", " considered ", " considering ",
		" don't ", " do not ", " didn't ", " did not ", " never ", " whether ", " maybe ", " perhaps ",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// appendChoice appends a choice, without the words that both things have.
func appendChoice(list []choice, taken, left []string) []choice {
	c := choice{
		taken: slices.DeleteFunc(slices.Clone(taken), func(w string) bool { return slices.Contains(left, w) }),
		left:  slices.DeleteFunc(slices.Clone(left), func(w string) bool { return slices.Contains(taken, w) }),
	}
	if len(c.taken) == 0 || len(c.left) == 0 {
		return list
	}
	return append(list, c)
}

// choosing are words around a choice that are not what was chosen.
var choosing = set("use using used uses chose choose chosen choosing pick picked prefer preferred select selected decide decided " +
	"go going went gone adopt adopted keep keeping kept switch switched switching move moved moving migrate migrated change " +
	"changed replace replaced make made let's lets we'll will now because since for so when while want wants instead rather " +
	"than over not but just plan planned decision completed drop dropped dropping reject rejected rejecting favor favored decline declined")

// joints are words within the name of a thing: "a leak test by a technician".
var joints = set("by of for with in on at a an the is are was were be been")

// operand returns the stems of the up to four words of a text that are nearest
// to a marker: the last ones before it, or the first ones behind it.
func operand(text string, before bool) []string {
	if before {
		if i := strings.LastIndexAny(text, ",;:()—–"); i >= 0 {
			text = text[i:]
		}
	} else if i := strings.IndexAny(strings.TrimLeft(text, " "), ",;:()—–"); i >= 0 {
		text = strings.TrimLeft(text, " ")[:i]
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return notWord(r) && r != '.' && r != '/' && r != '-' })
	if before {
		slices.Reverse(words)
	}
	var list []string
	for _, w := range words {
		w = strings.Trim(w, ".-/'")
		if w == "" || stops()[w] && len(list) == 0 {
			continue
		}
		if choosing()[w] || stops()[w] {
			if len(list) > 0 && before && joints()[w] {
				continue
			}
			if len(list) > 0 {
				break
			}
			continue
		}
		if list = append(list, stem(w)); len(list) == 4 {
			break
		}
	}
	return list
}

// A claim is what a clause says, apart from whether it says yes or no.
type claim struct {
	family string   // of the word that makes it yes or no; empty for none
	yes    bool     // it is so
	words  []string // stems, sorted, each once
	denied string   // the first one behind a word that denies
}

// polar are words that say yes or no by themselves, with their family.
var polar = map[string]struct {
	family string
	yes    bool
}{
	"pass": {"pass", true}, "fail": {"pass", false}, "failur": {"pass", false}, "green": {"pass", true}, "red": {"pass", false},
	"succe": {"pass", true}, "succeed": {"pass", true}, "success": {"pass", true}, "successful": {"pass", true},
	"work": {"work", true}, "broken": {"work", false}, "break": {"work", false}, "brok": {"work", false},
	"enabl": {"enable", true}, "disabl": {"enable", false},
	"allow": {"allow", true}, "deny": {"allow", false}, "deni": {"allow", false}, "forbid": {"allow", false}, "forbidden": {"allow", false},
	"accept": {"accept", true}, "reject": {"accept", false},
	"increas": {"increase", true}, "decreas": {"increase", false}, "reduc": {"increase", false},
	"add": {"add", true}, "remov": {"add", false}, "delet": {"add", false}, "drop": {"add", false}, "discard": {"add", false},
	"keep": {staying, true}, "stay": {staying, true}, "retain": {staying, true},
	"complet": {"complete", true}, "incomplet": {"complete", false},
	"resolv": {"resolve", true}, "unresolv": {"resolve", false},
}

// staying is the family of words that only say that something goes on, whatever
// it is: beside another polar word they say nothing, alone they are contrary to
// removing.
const staying = "stay"

var negations = set("not no never cannot without neither nor nothing n't")

// hedges make a clause say neither yes nor no.
var hedges = set("prefer prefers preferred if unless whether should would could might may until once when maybe perhaps want wants need needs try trying " +
	"let please can todo will must going ensure verify check")

// claimOf returns what a clause says, and whether it says it for certain.
func claimOf(clause string) (c claim, certain bool) {
	c.yes, certain = true, true
	polars, denying, stays := 0, false, false
	for _, w := range strings.FieldsFunc(strings.ToLower(clause), func(r rune) bool {
		return notWord(r) && r != '.' && r != '/' && r != '-' && r != '’'
	}) {
		w = strings.Trim(strings.ReplaceAll(w, "’", "'"), ".-/'")
		switch {
		case w == "":
			continue
		case negations()[w] || strings.HasSuffix(w, "n't"):
			c.yes, denying = !c.yes, true
			continue
		case hedges()[w]:
			certain = false
			continue
		case stops()[w] || auxiliary()[w]:
			continue
		}
		w = stem(w)
		if p, ok := polar[w]; ok && p.family == staying {
			stays = true
			continue
		} else if ok {
			polars++
			c.family = p.family
			if !p.yes {
				c.yes = !c.yes
			}
			continue
		}
		if denying && c.denied == "" {
			c.denied = w
		}
		c.words = append(c.words, w)
	}
	if stays && polars == 0 {
		c.family = "add"
	}
	slices.Sort(c.words)
	c.words = slices.Compact(c.words)
	return c, certain && !isCode(clause) && polars < 2 && !strings.HasSuffix(strings.TrimSpace(clause), "?")
}

// sameNumbers reports whether a list of words has all numbers of another, if it
// has any.
func sameNumbers(words, other []string) bool {
	isNumber := func(w string) bool { return digitAt(w, 0) }
	if !slices.ContainsFunc(other, isNumber) {
		return true
	}
	return !slices.ContainsFunc(words, func(w string) bool { return isNumber(w) && !slices.Contains(other, w) })
}

// isCode reports whether a clause is a command or data rather than a sentence.
func isCode(clause string) bool {
	for _, mark := range []string{`{"`, `":`, "&&", " --", "();", "=>", "</", "$ "} {
		if strings.Contains(clause, mark) {
			return true
		}
	}
	paths := 0
	for w := range strings.FieldsSeq(clause) {
		if strings.Contains(strings.Trim(w, "/."), "/") {
			paths++
		}
	}
	return paths > 2
}

// conditional finds sentences that say what would be, or will be, in some case.
var conditional = lazy.Regexp(`(?i)\b(?:if|unless|whether|otherwise|in case|should (?:it|this|that|he|she|they)|provided that|as soon as|once)\b`)

var auxiliary = set("do does did done doing has have had is are was were be been being still yet already currently now all the some any " +
	"only just also again")

// A pending is a claim of the summary with what the source said of it so far.
type pending struct {
	claim
	sec       Section
	text      string
	backed    [][]string // words of the clauses that say the same
	contrary  string
	about     string // what was denied, be it by the summary or by the source
	hits, pos int    // how many words the clause at hand shares, and which that is
	was       bool   // it tells what was before
	so, not   int    // the last clause that says the same, and the contrary
}

// polarity checks that the source does not say the contrary of what the
// summary says of decisions and the state.
func (c *checker) polarity() {
	var list []*pending
	index := make(map[string][]*pending)
	for _, sec := range []Section{SectionDecisions, SectionState, SectionContext} {
		for _, t := range c.s.texts(sec) {
			for _, cl := range clauses(t.text) {
				cm, certain := claimOf(cl)
				// Without a word that is contrary to another, it takes more words to be
				// sure that both speak of the same.
				if !certain || len(cm.words) == 0 || cm.family == "" && len(cm.words) < 3 {
					continue
				}
				st := newStatement(sec, t.text, cl)
				p := &pending{claim: cm, sec: sec, text: t.text, pos: -1, so: -1, was: st.has(former())}
				list = append(list, p)
				for _, w := range cm.words {
					index[w] = append(index[w], p)
				}
			}
		}
	}
	if len(list) == 0 {
		return
	}
	pos := 0
	for line := range strings.Lines(c.src.Text) {
		if len(line) > 4000 {
			continue // no prose
		}
		for _, s := range sentences(line) {
			may := !conditional().MatchString(s)
			for _, cl := range clauses(s) {
				judge(cl, pos, may, index)
				pos++
			}
		}
	}
	for _, p := range list {
		// Only what speaks of what is denied bears out that it is, or is not.
		backs := func(words []string) bool { return p.about == "" || slices.Contains(words, p.about) }
		// How tests or builds end changes: what was said of it last counts.
		now := p.sec == SectionState && p.family == "pass" && p.not > p.so && !p.was
		if p.contrary != "" && (now || !slices.ContainsFunc(p.backed, backs)) {
			c.add(p.sec, p.text, RuleFlipped, "the source says %q", clip(p.contrary, 120))
		}
	}
}

// judge compares one clause of the source with the claims that share words
// with it. Where it may not contradict, it is of a sentence with a condition: what
// depends on it is not said to be so.
func judge(clause string, pos int, may bool, index map[string][]*pending) {
	said, certain := claimOf(clause)
	certain = certain && may
	var met []*pending
	for _, w := range said.words {
		for _, p := range index[w] {
			if p.pos != pos {
				p.pos, p.hits = pos, 0
				met = append(met, p)
			}
			p.hits++
		}
	}
	for _, p := range met {
		n, m := len(p.words), len(said.words)
		if p.family != said.family {
			// What speaks of the same in other words may well back it.
			if p.family == "" || said.family != "" || 3*p.hits < 2*n || said.yes != p.yes || n < 2 {
				continue
			}
			p.backed = append(p.backed, said.words)
			continue
		}
		about := cmp.Or(p.denied, said.denied)
		switch {
		case p.yes == said.yes:
			if 3*p.hits >= 2*n {
				p.backed, p.so = append(p.backed, said.words), pos
			}
		case p.family == "" && (!slices.Contains(p.words, about) || !slices.Contains(said.words, about)):
			// What is denied is not what the other says.
		case !sameNumbers(p.words, said.words):
			// Another amount is another matter.
		case certain && 5*p.hits >= 4*n && m <= 2*n && (n > 1 || m == 1):
			p.contrary, p.about, p.not = strings.TrimSpace(clause), "", pos
			if p.family == "" {
				p.about = about
			}
		}
	}
}
