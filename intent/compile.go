package intent

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// maxSecondary is the most further requests that are kept: a prompt with more is a document.
const maxSecondary = 8

// defaultLimit is how many bytes of a prompt are read if [Options] give no limit.
const defaultLimit = 16 << 10

// Options say how a prompt is compiled. The zero value and nil are the defaults.
type Options struct {
	// Limit is how many bytes of a prompt are read, half from the beginning and half from the
	// end: the middle of a long prompt is nearly always pasted text. 0 or less
	// means 16 KiB.
	Limit int
}

// Compile returns the intent of a prompt. It accepts any bytes, valid UTF-8 or not, and returns
// equal intents for equal text and options.
func Compile(text string, opts *Options) *Intent {
	limit := defaultLimit
	if opts != nil && opts.Limit > 0 {
		limit = opts.Limit
	}
	return compile(text, limit, defaultTable.Get())
}

func compile(text string, limit int, t table) *Intent {
	c := &compiler{text: text}
	c.look(limit)
	in := &Intent{Confidence: confidenceHigh}
	f := c.find()
	if in.Pass = f.pass; in.Pass == passMachine || in.Pass == passNothing {
		return in
	}
	j := t.judge(c, f)
	if j.verb == "" {
		if in.Pass == "" {
			in.Pass = c.chatReason()
		}
		return in
	}
	parts := f.parts
	if j.verb != f.verb() {
		in.Pass = ""
		parts = c.reread(f, j)
		if j.at >= 0 {
			in.assume("%q makes it %s", c.value(j.at, j.at+1).Text, j.verb)
		}
	}
	c.compile(in, parts)
	in.Amber = c.ambers()
	in.Human = c.human()
	if c.cut > 0 {
		in.assume("%d bytes in the middle were not looked at", c.cut)
	}
	in.Confidence = c.confidence(in, parts[0])
	return in
}

// A finding is the result of the rules for a prompt, before the table of weights decides.
type finding struct {
	pass  PassReason // why the prompt passes through, or empty
	parts []part     // at least one, unless a program wrote the prompt or it has no words
}

// find applies the rules to the prompt.
func (c *compiler) find() *finding {
	c.tokens = trimmed(c.tokens)
	f := &finding{pass: c.pass()}
	if f.pass == passMachine || f.pass == passNothing {
		return f
	}
	c.split()
	f.parts = c.parts()
	if f.pass == "" && f.parts[0].blind {
		f.pass = c.statementPass()
	}
	return f
}

// verb is the verb that the rules give the prompt.
func (f *finding) verb() Verb {
	if f.pass != "" {
		return ""
	}
	return f.parts[0].act.verb
}

// chatReason returns a reason for a prompt that passes through by its weights, but by no rule.
func (c *compiler) chatReason() PassReason {
	for _, t := range c.tokens {
		if t.kind == word && greetings.Get()[t.low] {
			return passGreeting
		}
	}
	return passContinuation
}

// reread returns the requests of a prompt for which the table of weights decided on another verb
// than the rules: the first of them has the verb j.verb. If no other request of the prompt has this
// verb, the clause with the token j.at, which speaks most for the verb, becomes the first request.
func (c *compiler) reread(f *finding, j judgment) []part {
	for k, p := range f.parts {
		if k > 0 && p.act.verb == j.verb {
			p.lead = c.clauses[:c.clauseOf(p.act.at)]
			return append([]part{p}, f.parts[k+1:]...)
		}
	}
	at := j.at
	if at < 0 {
		at = f.parts[0].act.at
	}
	k := c.clauseOf(at)
	cl := c.clauses[k]
	p := part{end: cl.to, lead: c.clauses[:k], trail: c.clauses[k+1:], judged: true}
	if cl.act != nil {
		p.act = *cl.act
		if p.act.to > 0 { // behind "a plan for": the noun belongs to the object again
			p.act.body = p.act.from
		}
	} else {
		p.act.at = c.skip(cl.from, cl.to)
		p.act.body = p.act.at
		p.act.form = formStatement
		if c.asksAt(cl.to) {
			p.act.form = formQuestion
		}
	}
	p.act.opener = opener{verb: j.verb, form: p.act.form, own: j.verb == Transform}
	p.act.slot, p.act.thing, p.act.unknown, p.act.from, p.act.to = j.verb.object(), "", "", 0, 0
	parts := []part{p}
	for _, other := range f.parts {
		if other.act.at >= cl.to && !other.blind {
			if len(parts) == 1 {
				parts[0].trail = c.clauses[k+1 : c.clauseOf(other.act.at)]
			}
			parts = append(parts, other)
		}
	}
	return parts
}

// clauseOf returns the index of the clause that contains token at, or of the last clause before
// it.
func (c *compiler) clauseOf(at int) int {
	k := 0
	for k+1 < len(c.clauses) && c.clauses[k+1].from <= at {
		k++
	}
	return k
}

// A compiler holds a prompt and its tokens while it is compiled.
type compiler struct {
	text    string
	tokens  []token
	clauses []clause
	cut     int // bytes in the middle that are not read
}

// trimmed returns tokens without the line breaks at both ends.
func trimmed(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].kind == line {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == line {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// look scans the text. If the text is longer than limit, it scans only the beginning and the end.
func (c *compiler) look(limit int) {
	n, from := len(c.text), c.wrapped()
	if n-from <= limit {
		c.tokens = scan(nil, c.text, from, n)
		return
	}
	head := text.Floor(c.text, from+limit/2)
	tail := text.Ceil(c.text, n-limit/2)
	// Cut at a blank if one is near, and otherwise inside the word.
	if blank := strings.LastIndexAny(c.text[from:head], " \n"); blank >= limit*3/8 {
		head = from + blank
	}
	if skip := strings.IndexAny(c.text[tail:], " \n"); skip >= 0 && skip <= limit/8 {
		tail += skip
	}
	c.tokens = scan(c.tokens, c.text, from, head)
	c.tokens = append(c.tokens, token{start: head, end: tail, kind: gap})
	c.tokens = scan(c.tokens, c.text, tail, n)
	c.cut = tail - head
}

// wrapped returns the offset at which the prompt begins after XML elements that tools put before
// it. Names of such elements contain a dash or an underscore.
func (c *compiler) wrapped() int {
	from := 0
	for {
		rest := strings.TrimLeft(c.text[from:], " \t\r\n")
		name, _, ok := strings.Cut(strings.TrimPrefix(rest[:min(len(rest), 64)], "<"), ">")
		if !ok || rest[0] != '<' || !strings.ContainsAny(name, "-_") || strings.ContainsAny(name, " /<\n") {
			return from
		}
		end := strings.Index(rest, "</"+name+">")
		if end < 0 {
			return from
		}
		from = len(c.text) - len(rest) + end + len(name) + 3
	}
}

// A clause is a part of a sentence. It ends at a token that breaks, or before a comma or
// conjunction that begins another request.
type clause struct {
	from, to int  // the first token, and the token after the last
	act      *act // nil: the clause makes no request
}

// split divides the tokens into clauses.
func (c *compiler) split() {
	from := 0
	for i := range c.tokens {
		if c.tokens[i].breaks() {
			c.sentence(from, i)
			from = i + 1
		}
		if c.pasted(i) {
			return
		}
	}
	c.sentence(from, len(c.tokens))
}

// pasted reports whether a pasted document begins after the line break at token i: the next line
// is a heading, or a request that ends in a colon stands before the break and the next line is
// no list item.
func (c *compiler) pasted(i int) bool {
	if c.tokens[i].kind != line || len(c.clauses) == 0 { // no line break is the last token
		return false
	}
	next := c.text[c.tokens[i+1].start:]
	if strings.HasPrefix(next, "# ") || strings.HasPrefix(next, "## ") {
		return true
	}
	last := c.clauses[len(c.clauses)-1]
	listed := strings.HasPrefix(next, "- ") || strings.HasPrefix(next, "* ") || strings.HasPrefix(next, "1")
	return c.tokens[i-1].kind == colon && last.act != nil && !listed
}

// sentence divides the tokens between two breaks into clauses, one for each request.
func (c *compiler) sentence(from, to int) {
	if from == to {
		return
	}
	starts, begin := []int{from}, from
	if a, ok := c.recognize(from, to, true); ok && a.form == formQuestion {
		begin = a.body // "would you" in it is no new request
	}
	for i := begin; i < to; i++ {
		if _, n := polite.Get().at(c.tokens[i:to]); n > 0 && i > from || c.tokens[i].kind == comma || c.is(i, "and", "then", "afterwards", "but") {
			if a, ok := c.recognize(i, to, false); ok && a.at > i {
				starts = append(starts, i)
				i = a.body - 1
			}
		}
	}
	for k, at := range starts {
		end := to
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		cl := clause{from: at, to: end}
		if a, ok := c.recognize(at, end, k == 0); ok {
			cl.act = &a
		} else if a, ok := c.passive(at, end); ok {
			cl.act = &a
		} else if a, ok := c.asked(at, end); ok && end < len(c.tokens) && c.tokens[end].kind == ask {
			cl.act = &a
		}
		c.clauses = append(c.clauses, cl)
	}
}

// A part is a request with the clauses that belong to it.
type part struct {
	act   act
	end   int      // where the clause of the request ends
	lead  []clause // the clauses before the request
	trail []clause // the clauses after the request
	weak  bool     // guessed from a statement
	blind bool     // no rule found a request: the longest clause becomes a request with the verb explain

	judged bool // the table gave the request another verb than the rules
}

// parts returns the requests of the prompt, at least one.
func (c *compiler) parts() []part {
	var parts []part
	var lead []clause
	for k, cl := range c.clauses {
		switch {
		case cl.act != nil && c.empty(k):
		case cl.act == nil, c.onlyReason(k):
			if n := len(parts); n > 0 {
				parts[n-1].trail = append(parts[n-1].trail, cl)
			} else {
				lead = append(lead, cl)
			}
		case len(parts) > 0 && c.qualifiesLast(parts, cl):
			last := &parts[len(parts)-1]
			last.trail = append(last.trail, cl)
		case len(parts) > 0 && c.onlyToChoose(parts[len(parts)-1].act, *cl.act):
			last := &parts[len(parts)-1]
			last.act.verb, last.act.slot = Decide, slotOptions
			last.trail = append(last.trail, cl)
		default:
			parts = append(parts, part{act: *cl.act, end: cl.to, lead: lead})
			lead = nil
		}
	}
	if parts == nil {
		return []part{c.guess(lead)}
	}
	c.addRepair(parts)
	return parts
}

// empty reports whether a request has no object because the next one has it:
// "find and fix it".
func (c *compiler) empty(k int) bool {
	a := c.clauses[k].act
	if a.body < c.clauses[k].to || k+1 == len(c.clauses) || c.clauses[k+1].act == nil {
		return false
	}
	return c.clauses[k+1].from == c.clauses[k].to || c.clauses[k+1].act.verb == a.verb
}

// onlyReason reports whether clause k is a wish that only gives the reason for a later
// request.
func (c *compiler) onlyReason(k int) bool {
	a := c.clauses[k].act
	if a.form != formStatement || a.verb != Plan && a.verb != Explain && a.verb != Create || a.thing != "" {
		return false
	}
	for _, cl := range c.clauses[k+1:] {
		if a.verb == Create {
			if cl.act != nil && cl.act.form == formQuestion && (cl.act.verb == Decide || cl.act.verb == Plan) {
				return true
			}
			continue
		}
		if cl.act != nil && cl.act.form != formStatement {
			return true
		}
	}
	return false
}

// qualifiesLast reports whether the request of cl only qualifies the last request: "write a blurb and
// make it casual", "compare them and list the best".
func (c *compiler) qualifiesLast(parts []part, cl clause) bool {
	first, a := parts[len(parts)-1].act, cl.act
	vague := a.body >= cl.to || c.tokens[a.body].kind == word && pronouns.Get()[c.tokens[a.body].low]
	opener := c.tokens[a.at].low
	switch {
	case a.verb == first.verb && vague:
		return true
	case first.verb == Create:
		return vague && (opener == "make" || opener == "write")
	case first.verb == Analyze:
		return a.how == telling && a.verb != Decide && c.is(a.body, "what", "how", "why") || a.verb == Analyze && (opener == "list" || opener == "score" || opener == "rank" || opener == "tell" || opener == "check") ||
			opener == "give" || opener == "report"
	default:
		return false
	}
}

// onlyToChoose reports whether an analysis only serves the choice that follows it: "compare them and
// tell me which one is better".
func (c *compiler) onlyToChoose(first, a act) bool {
	return first.verb == Analyze && a.verb == Decide &&
		(a.how == telling || c.is(a.at, "choose", "pick", "select", "recommend", "suggest") && c.is(a.body, "one", "the") && c.anyOf(a.body, a.body+3, "one", "better", "best") < a.body+3)
}

// guess makes a request of a prompt that has none: a choice, a report of something that does not
// work, or else the first thing that the prompt names.
func (c *compiler) guess(clauses []clause) part {
	of := func(k int, a act) part {
		return part{act: a, end: clauses[k].to, lead: clauses[:k], trail: clauses[k+1:]}
	}
	weak := func(k int, v Verb, f Phrasing) part {
		from := clauses[k].from
		p := of(k, act{opener: opener{verb: v, form: f}, at: from, body: c.skip(from, clauses[k].to), slot: v.object()})
		p.weak = true
		return p
	}
	for k, cl := range clauses {
		choice := c.choice(cl)
		a, ok := c.formRequest(cl.from, cl.to)
		if !ok {
			a, ok = c.desiredState(cl)
		}
		if !ok && !choice {
			a, ok = c.asked(cl.from, cl.to)
		}
		switch {
		case ok:
			return of(k, a)
		case choice:
			return weak(k, Decide, formQuestion)
		case c.malfunction(cl):
			return weak(k, Fix, formStatement)
		}
	}
	for k, cl := range clauses {
		if at, ok := c.requirement(cl); ok {
			return of(k, act{opener: opener{verb: Create, form: formStatement}, at: at, body: at, slot: slotArtifact})
		}
	}
	for k, cl := range clauses {
		if a, ok := c.unknownCommand(cl); ok {
			return of(k, a)
		}
		if c.isStatement(cl) {
			return weak(k, Fix, formStatement)
		}
	}
	p := part{act: act{opener: opener{verb: Explain, form: formStatement}, slot: slotTarget}, blind: true}
	for _, cl := range clauses {
		if i := c.skip(cl.from, cl.to); cl.to-i > p.end-p.act.body {
			p.act.at, p.act.body, p.end = cl.from, i, cl.to
		}
	}
	return p
}

// requirement reports whether a clause says what something must do, and where the clause begins:
// "the form should also accept phone numbers".
func (c *compiler) requirement(cl clause) (int, bool) {
	i := c.skip(cl.from, cl.to)
	for k := i + 1; k+1 < min(cl.to, i+7); k++ {
		if c.is(k, "should", "must", "needs") {
			return i, !sentenceWords.Get()[c.tokens[i].low] || c.is(i, "our", "my")
		}
	}
	return i, false
}

// choice reports whether a clause offers a choice: "tea or coffee?", "tea vs coffee".
func (c *compiler) choice(cl clause) bool {
	for i := cl.from; i < cl.to; i++ {
		asks := cl.to < len(c.tokens) && c.tokens[cl.to].kind == ask || i < cl.from+5 && !sentenceWords.Get()[c.tokens[cl.from].low] || cl.to-cl.from < 12 && (cl.to == len(c.tokens) || c.tokens[cl.to].kind == semi)
		if (c.is(i, "vs", "versus") || asks && c.is(i, "or")) && i > cl.from && i+1 < cl.to {
			return true
		}
	}
	return false
}

// compile fills the fields of the intent in, from the requests.
func (c *compiler) compile(in *Intent, parts []part) {
	p := parts[0]
	in.Verb, in.Form = p.act.verb, p.act.form
	f := c.fill(p)
	if p.act.unknown != "" {
		in.assume("%q is no verb that is known: read as %s", p.act.unknown, in.Verb)
	}
	in.Slots, in.Gaps = f.result(), missing(in.Verb, f.slots)
	if f.first && in.Form == formVerbFirst {
		in.Form = formTargetFirst
	}
	in.Assumed = append(in.Assumed, f.assumed...)
	switch {
	case p.blind:
		in.assume("no verb was found: read as %s", in.Verb)
	case p.weak:
		in.assume("nothing is asked for in words: read as %s", in.Verb)
	}
	if p.act.as != "" {
		in.assume("%q is read as %q", p.act.reads, p.act.as)
	}
	if p.act.thing != "" {
		in.assume("%q makes it %s", p.act.thing, in.Verb)
	}
	if n := len(parts) - 1 - maxSecondary; n > 0 {
		in.assume("%d further requests were left out", n)
		parts = parts[:1+maxSecondary]
	}
	for _, p := range parts[1:] {
		f := c.fill(p)
		in.Secondary = append(in.Secondary, FurtherRequest{p.act.verb, f.result(), missing(p.act.verb, f.slots)})
	}
}

func (in *Intent) assume(format string, args ...any) {
	in.Assumed = append(in.Assumed, fmt.Sprintf(format, args...))
}

// missing returns the required slots of a verb that have no value.
func missing(v Verb, slots map[Slot][]Phrase) []Slot {
	var gaps []Slot
	for _, s := range v.Required() {
		if len(slots[s]) == 0 {
			gaps = append(gaps, s)
		}
	}
	return gaps
}

func (c *compiler) confidence(in *Intent, p part) Confidence {
	switch {
	case p.blind, p.weak && len(in.Gaps) > 0:
		return confidenceLow
	case p.weak, p.judged, p.act.unknown != "", len(in.Gaps) > 0, len(in.Amber) > 0, p.act.as != "", c.cut > 0:
		return confidenceMedium
	default:
		return confidenceHigh
	}
}
