package facts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// The most facts of each kind from one message.
const (
	maxCorrections = 3
	maxDecisions   = 12
	maxQuestions   = 3
	maxSteps       = 12
	maxProgress    = 16
	maxHeard       = 5
)

// person adds the facts of a user message with the text in said.
func (x *extractor) person(i int, said string) {
	if said = transcript.Words(said); said == "" {
		return
	}
	list := sentences(said)
	x.answer(i, said, list)
	if !acknowledges(said) {
		x.tasks++
		x.add(Fact{Kind: FactTask, Role: transcript.RoleUser, Block: i, Text: cutAtSentence(said, taskRunes)})
	}
	x.correction(i, said, list)
	x.reported(i, said)
	if len(said) > taskRunes {
		x.steps(i, list, transcript.RoleUser)
	}
	n := 0
	for k, s := range list {
		var next sentence
		if k+1 < len(list) {
			next = list[k+1]
		}
		if n < maxDecisions && x.decision(i, transcript.RoleUser, s, next) {
			n++
		}
		x.references(i, transcript.RoleUser, s.text)
	}
}

// acknowledges reports whether a message consists only of words such as yes or thanks.
func acknowledges(said string) bool {
	if len(said) > 60 {
		return false
	}
	for w := range strings.FieldsSeq(lower(said)) {
		if w = strings.Trim(w, ".,!?:)(#"); w != "" && !ack.Get()[w] {
			return false
		}
	}
	return true
}

var ack = lazy.Words(`yes y yep yeah yup ok okay k sure thanks thank you great perfect good nice cool go ahead please continue
	proceed do it that's that correct right sounds looks fine very much awesome excellent lgtm no nope n 👍 all so hi hello for your help
	a lot bye goodbye stop done`)

// correction adds a fact for each sentence of a user message that corrects the agent or gives an
// order for all that follows, up to maxCorrections. The message is in block i; said is its text and
// list has its sentences. If only the whole text is a correction and it is short, the whole text is
// added.
func (x *extractor) correction(i int, said string, list []sentence) {
	if x.o.Correction == nil || !x.o.Correction(said) {
		return
	}
	n, reach, seen := 0, 0, false
	for k := range list {
		s := &list[k]
		if n == maxCorrections || reach > taskRunes {
			break
		}
		reach += len(s.text)
		if !x.o.Correction(s.text) {
			continue
		}
		seen = true
		if orders(s.text, len(said)) {
			x.add(Fact{Kind: FactCorrection, Role: transcript.RoleUser, Block: i, Text: text.Line(s.text, sentenceRunes)})
			n++
		}
	}
	if !seen && len(said) <= taskRunes {
		x.add(Fact{Kind: FactCorrection, Role: transcript.RoleUser, Block: i, Text: cutAtSentence(said, sentenceRunes)})
	}
}

// orders reports whether a sentence that Options.Correction accepts is an order. size is
// the size of its message in bytes: in a long message, which is probably a document, the
// sentence must begin with a word of an order. A question or a sentence such as "I don't
// know" is no order.
func orders(said string, size int) bool {
	low := lower(said)
	switch {
	case ordering.begins(low):
		return true
	case size > 2*taskRunes || strings.HasSuffix(low, "?"):
		return false
	}
	return !ignorance.in(low)
}

var (
	ordering = phrasesOf(`no|nope|wrong|stop|wait|actually|undo|revert|don't|do not|never|always|please don't|please do not|please|must|only|not|why did you
		you forgot|you missed|i said|i told|i asked|i meant|i mean|that's not|that is not|this is wrong|from now on|avoid|hmm`)
	ignorance = phrasesOf(`i don't have|i do not have|i don't know|i don't think|i don't see|i don't recall|i don't remember|i don't understand
		we don't have|i don't mind|i'm not sure`)
)

// reported adds an error from the line of a user message that best reports a failure, such
// as a pasted error.
func (x *extractor) reported(i int, said string) {
	best, s := 0, ""
	for line := range strings.SplitSeq(said, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if rank, fails := failing(line); fails && rank > best {
			best, s = rank, line
		}
	}
	if best >= 5 {
		x.failAs(transcript.RoleUser, i, "", reportedKey, text.Line(s, lineRunes))
	}
}

// answer resolves the open questions with a user message. If the message chooses, it also
// adds a decision.
func (x *extractor) answer(i int, said string, list []sentence) {
	why := text.Line(said, shortRunes)
	if len(list) > 0 {
		why = text.Line(list[0].text, sentenceRunes)
		if len(why) < 12 && len(list) > 1 && list[1].para == list[0].para && !list[1].item {
			both := why + " " + list[1].text
			if strings.Contains(text.Line(strings.ReplaceAll(said, "**", ""), len(said)), both) { // the sentences are adjacent
				why = text.Line(both, sentenceRunes)
			}
		}
	}
	for _, q := range x.asked {
		f := &x.found[q]
		f.Status, f.Why, f.touched = StatusResolved, why, i
	}
	if n := len(x.asked); n > 0 && !strings.HasSuffix(why, "?") && agrees(said) {
		if len(said) <= shortRunes {
			why = text.Line(strings.ReplaceAll(said, "**", ""), sentenceRunes)
		}
		x.addOnce(Fact{Kind: FactDecision, Role: transcript.RoleUser, Block: i, Subject: x.found[x.asked[n-1]].Text, Text: why})
	}
	x.asked = x.asked[:0]
}

// agrees reports whether an answer chooses: it begins with yes or no, with a number, or
// with a word of choice.
func agrees(said string) bool {
	low := lower(said)
	return choice.begins(low) || choosing.begins(low) || text.Digits(low) == len(low)
}

var choice = phrasesOf(`yes|y|yep|yeah|no|nope|ok|okay|sure|option|both|neither|the first|the second|first|second|all|none|only|please|exactly|correct|i confirm
	confirm|1|2|3|4|5|a|b|c|just`)

// reply adds the facts of a text of the assistant. If last is true, this is the last reply before a
// user message. Only the last reply asks questions and announces steps.
func (x *extractor) reply(i int, said string, last bool) {
	list := sentences(said)
	if strings.TrimSpace(said) != "" {
		x.lastReply = i + 1
	}
	x.todos.prose(i, list)
	if last {
		x.questions(i, list)
		x.steps(i, list, transcript.RoleAssistant)
	}
	n, told := 0, 0
	for k, s := range list {
		var next sentence
		if k+1 < len(list) {
			next = list[k+1]
		}
		switch {
		case s.title && (!last || !done.begins(lower(s.text))):
		case n < maxDecisions && x.decision(i, transcript.RoleAssistant, s, next):
			n++
		case x.blocker(i, s):
		case told < maxProgress && progresses(s, last):
			x.addOnce(Fact{Kind: FactProgress, Role: transcript.RoleAssistant, Block: i, Text: text.Line(s.text, sentenceRunes)})
			x.resolveNamed(i, s.text)
			x.resolveChecks(i, s.text)
			told++
		}
		x.references(i, transcript.RoleAssistant, s.text)
	}
	if last && n+told == 0 {
		x.fallback(i, list)
	}
	if last && len(x.asked) == 0 {
		x.resolveReported(i)
	}
}

// reportedKey is the key of an error that a user reported. The error counts as resolved when files
// were edited and a reply after that asks no question.
const reportedKey = "\x00reported"

// resolveReported resolves the errors that a user reported if files were edited since.
func (x *extractor) resolveReported(i int) {
	x.resolveIf(i, "", func(o failure) bool { return o.key == reportedKey && o.edits < len(x.edits) })
}

// fallback adds the first informative sentence of a reply from which no other fact came.
func (x *extractor) fallback(i int, list []sentence) {
	for _, s := range list {
		if !s.title && len(s.text) >= 30 && s.text[0] != '[' && !strings.HasSuffix(s.text, "?") && !strings.HasSuffix(s.text, ":") && !announces.begins(lower(s.text)) &&
			!polite.begins(lower(s.text)) {
			x.addOnce(Fact{Kind: FactProgress, Role: transcript.RoleAssistant, Block: i, Text: text.Line(s.text, sentenceRunes)})
			return
		}
	}
}

var polite = phrasesOf(`i can assist|i can help|sure|of course|certainly|thank you|you're welcome|i understand|i'm sorry|i apologize|great|good question|yes, i|hello
	no problem|i'd be happy|i would be happy|please|to proceed|to assist|could you|if you`)

// questions adds the questions at the end of a reply.
func (x *extractor) questions(i int, list []sentence) {
	var found []string
	for k := len(list) - 1; k >= 0 && len(found) < maxQuestions && len(list)-k < 8; k-- {
		s := list[k].text
		if (strings.HasSuffix(s, "?") || requesting.begins(lower(s))) && !list[k].title && utf8.RuneCountInString(s) > 8 {
			found = append(found, s)
		}
	}
	for _, q := range slices.Backward(found) {
		x.asked = append(x.asked, x.add(Fact{
			Kind: FactQuestion, Status: StatusOpen, Role: transcript.RoleAssistant, Block: i, Text: text.Line(q, sentenceRunes),
		}))
	}
}

var requesting = phrasesOf("please confirm|please provide|please let me know which|please let me know if you would like me to|let me know which|let me know if you want me to|let me know if you'd like me to")

// blocker adds a sentence about an obstacle as an open question, and reports whether the
// sentence is one.
func (x *extractor) blocker(i int, s sentence) bool {
	low := lower(s.text)
	if !blocking.in(low) {
		if !cannot.in(low) || !strings.Contains(low, " until ") {
			return false
		}
	}
	x.addOnce(Fact{Kind: FactQuestion, Status: StatusOpen, Role: transcript.RoleAssistant, Block: i, Text: text.Line(s.text, sentenceRunes)})
	return true
}

var (
	blocking = phrasesOf(`is blocked|are blocked|blocked on|blocked until|i'm blocked|we're blocked|waiting for your|waiting on|need access|needs access
		i need your|requires your|need your approval|don't have access|do not have access|don't have permission`)
	cannot = phrasesOf("cannot|can't|unable")
)

// decision adds a sentence that states a decision, with its reason, and reports whether
// the sentence does. next is the sentence after it.
func (x *extractor) decision(i int, role transcript.Role, s, next sentence) bool {
	if len(s.text) < 12 || len(s.text) > 3*sentenceRunes || !decides(s, role) {
		return false
	}
	x.addOnce(Fact{Kind: FactDecision, Role: role, Block: i, Text: text.Line(s.text, sentenceRunes), Why: reason(s, next)})
	return true
}

// decides reports whether a sentence states a decision. Announcing to look at a file is
// no decision.
func decides(s sentence, role transcript.Role) bool {
	low := lower(s.text)
	if strings.HasSuffix(low, "?") || strings.HasSuffix(low, ":") && s.title || looks.in(low) || saying.in(low) || strings.ContainsAny(s.text[:1], "\"'") ||
		strings.Contains(low, `\n`) {
		return false
	}
	if role == transcript.RoleUser && strings.HasPrefix(low, "option ") {
		return len(low) < 80 && !strings.Contains(low, ":") && !s.item && !s.title
	}
	if deciding.in(low) {
		return true
	}
	if role == transcript.RoleUser && choosing.begins(low) {
		return true
	}
	if contrast.in(low) && acting.in(low) {
		return true
	}
	if role == transcript.RoleAssistant && committing.in(low) && (causes.begins(low) || strings.Contains(low, ", so ") || strings.Contains(low, " because ")) {
		return true
	}
	at, _ := keeping.find(low)
	return at >= 0 && strings.Contains(low[at:], " as ")
}

var (
	deciding = phrasesOf(`decided|we chose|i chose|chose to|choosing|going with|go with|went with|opted|settled on|best approach is|let's use|let's keep
		i'll use|we'll use|i will use|we will use|will use|switch to|switched to|switching to|we selected|i selected|i prefer|we prefer|i'd prefer
		preferred approach|i won't|i will not|not going to|trade-off|tradeoff|intentionally|deliberately|by design|so i used|so we used
		simplest approach|simplest fix|cleanest approach|cleanest solution|cleanest fix|right approach|better approach|best solution|best fix
		the right fix|the fix is|the solution is|no need to|agreed to|agreed on|should use`)
	choosing = phrasesOf(`let's|lets|use|go with|keep|please use|please keep|make it|we decided|i decided`)
	saying   = phrasesOf(`what you decided|what we decided|what i decided|what was decided|let's review|let's talk|let's do a|let's discuss|let's look|let's see|let's check|let's pause|let's brainstorm|let's summarize
		let's start|let's test|let's begin|let's continue|let's try|let's address|let's proceed|the fix is working|the fix is complete|the fix is straightforward
		the fix is simple|the fix is correct|fix is in place|if you prefer|would you prefer|use case|use cases|was intentionally|now that we prefer
		go with your|let's go ahead`)
	contrast = phrasesOf(`instead of|rather than|instead`)
	acting   = phrasesOf(`use|using|used|change|changed|replace|replaced|switch|switched|keep|kept|made|make|put|store|move|moved|pass|rename|renamed
		call|create|extract|let's|should|will|i'll|we'll|we|adding|added|cancel|book|upgrade|want|prefer`)
	keeping    = phrasesOf(`keep|keeping|kept`)
	committing = phrasesOf("i'll|i will|we'll|i can|i need to|we need to|i should|we should|let me|let's")
	causes     = phrasesOf("since|because|given")
	looks      = phrasesOf(`let me check|let me look|let me read|let me search|let me find|let me see|let me verify|let me examine|let me explore|let me run
		let me first|let me also check|let me also look|let me investigate|let me understand|let me review|let me view|let me get|let me try|let me update
		i'll read|i'll look|i'll check|i'll search|i'll start by|i'll run|i'll verify|will use the task|will use the grep|i'll use the task|i'll use the explore
		i'll use the read|use the bash|i need to check|i need to read|i need to look|i need to see|i'll need your|let me know`)
)

// reason returns the reason of a decision: the words after a conjunction such as because
// in its sentence, or the next sentence if it begins with such a word.
func reason(s, next sentence) string {
	low := lower(s.text)
	if len(low) == len(s.text) {
		if at, word := giving.find(low); at >= 0 {
			why := strings.Trim(s.text[at+len(word):], " ,:")
			if word == "to avoid" || word == "to prevent" || word == "so that" {
				why = s.text[at:]
			}
			if why, _, _ = strings.Cut(why, ", so "); at == 0 {
				why, _, _ = strings.Cut(why, ", ")
			}
			if utf8.RuneCountInString(why) > 8 && (word != "since" || !times.begins(lower(why))) {
				return text.Line(why, lineRunes)
			}
		}
		if why, rest, _ := strings.Cut(s.text, ", so "); so.begins(lower(rest)) {
			return text.Line(why, lineRunes)
		}
	}
	if (next.item || next.para == s.para) && !strings.HasSuffix(next.text, ":") && reasons.begins(lower(next.text)) {
		return text.Line(next.text, lineRunes)
	}
	return ""
}

var (
	giving = phrasesOf(`because|since|so that|due to|to avoid|to prevent|as it|as they|as this|as that|in order to|given that|which means|this way
		for simplicity|for consistency`)
	times   = phrasesOf("the last|the first|then|yesterday|version|v1|v2|0|1|2|3|4|5|6|7|8|9|it was last")
	so      = phrasesOf("i|we|it|the|i'll|we'll|that|this")
	reasons = phrasesOf(`because|since|this way|that way|this avoids|this ensures|this keeps|this prevents|this makes|this means|this is because|so that|reason
		reasoning|rationale|why|the reason|it avoids|it keeps|it ensures|this gives|this follows|this matches`)
)

// progresses reports whether a sentence reports progress or a finding. If last is not set,
// the reply is between calls, and only strong words count.
func progresses(s sentence, last bool) bool {
	if len(s.text) < 8 || strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, ":") && !s.item {
		return false
	}
	low := lower(s.text)
	if announces.begins(strings.TrimPrefix(low, "now ")) {
		return false
	}
	if strong.in(low) {
		return true
	}
	if last && strings.ContainsAny(s.text, "0123456789") && figured.in(low) {
		return true
	}
	if strings.HasPrefix(s.text, "✅") || strings.HasPrefix(s.text, "✓") {
		return true
	}
	if at, _ := passing.find(low); at > 0 && (all.in(low[:at]) || strings.ContainsAny(s.text[:at], "0123456789")) {
		return true
	}
	if label.begins(low) {
		return true
	}
	if !last {
		return false
	}
	if s.item && strings.Count(s.text, " ") >= 3 && telling.in(s.head) {
		return true
	}
	return done.begins(strings.TrimPrefix(strings.TrimPrefix(low, "i've "), "i ")) || strings.Contains(low, "has been ") && done.in(low) ||
		strings.Contains(low, "have been ") && done.in(low)
}

//nolint:misspell // people write canceled in either way
var (
	strong = phrasesOf(`root cause|the issue is|the issue was|the problem is|the problem was|the bug is|the bug was|turns out|confirmed that|all clean
		is complete|are complete|is now complete|is fixed|no regressions|i see the issue|i found the issue|found the issue|found the problem
		found it|implementation is complete|build succeeds|build passes|builds successfully`)
	figured = phrasesOf(`total|savings|refund|refunded|cost|costs|price|fee|balance|reduced|faster|slower|took|takes|down from|up from`)
	label   = phrasesOf("problem:|root cause:|cause:|fix:|solution:|result:|issue:|bug:|finding:|conclusion:")
	telling = phrasesOf(`changes made|changes|what changed|summary of changes|what was done|what i did|key changes|test results|findings|key findings|issues found
		fixed|implemented|added|updated|what's done`)
	passing = phrasesOf(`pass|passes|passed|passing|succeed|succeeds|succeeded|fail|failed|failing`)
	all     = phrasesOf(`all|tests|both|everything|build|lint|typecheck|suite`)
	done    = phrasesOf(`done|added|removed|updated|fixed|implemented|created|changed|moved|renamed|replaced|refactored|wrapped|extracted|introduced
		deleted|committed|pushed|merged|verified|configured|converted|migrated|simplified|bumped|upgraded|downgraded|canceled|cancelled|booked|processed
		refunded|rebased|resolved|released|published|deployed|tagged|reverted|amended|squashed|documented|enabled|disabled|transferred|completed|successfully
		modified|submitted|opened|closed`)
)

// resolveNamed resolves the errors that a sentence such as "Fixed pool.go" reports as
// fixed: those that share an identifier with it.
func (x *extractor) resolveNamed(i int, said string) {
	if !fixing.begins(lower(said)) {
		return
	}
	names := setOf(named([]string{said}))
	if len(names) == 0 {
		return
	}
	x.open = slices.DeleteFunc(x.open, func(o failure) bool {
		f := &x.found[o.fact]
		if !slices.ContainsFunc(named([]string{f.Text}), func(n string) bool { return names[n] }) {
			return false
		}
		f.Status, f.Why, f.touched = StatusResolved, text.Line(said, lineRunes), i
		return true
	})
}

// resolveChecks resolves the errors of tests, linters and builds that a sentence reports
// as passing.
func (x *extractor) resolveChecks(i int, said string) {
	low := lower(said)
	clean := allClean.in(low)
	if at, _ := succeeding.find(low); !clean && (at < 0 || !onlyGeneralWords(low[:at])) {
		return
	}
	x.open = slices.DeleteFunc(x.open, func(o failure) bool {
		for _, what := range [...]string{"test", "lint", "build", "typecheck"} {
			if strings.Contains(o.key, what) && (clean || strings.Contains(low, what)) {
				f := &x.found[o.fact]
				f.Status, f.Why, f.touched = StatusResolved, text.Line(said, lineRunes), i
				return true
			}
		}
		return false
	})
}

var (
	allClean   = phrasesOf("all clean|everything passes|all checks pass|all green|all checks passed")
	succeeding = phrasesOf("pass|passes|passed|is clean|are clean|succeeds|succeeded|clean")
	generals   = phrasesOf("all|tests|test|the|unit|integration|and|both|lint|linting|linter|build|now|still|typecheck|suite|full|ci|checks|everything|is|are|also|e2e")
)

// onlyGeneralWords reports whether all words of a text are in generals, as in "all tests".
// A text with another word speaks of some tests only.
func onlyGeneralWords(low string) bool {
	for w := range strings.FieldsSeq(low) {
		w = strings.Trim(w, ",.:*`")
		if hasLetter(w) && !generals.begins(w) {
			return false
		}
	}
	return true
}

var fixing = phrasesOf("fixed|resolved|i fixed|i've fixed|this fixes")

// steps adds the steps that a plan or a message announces: headings of steps, and entries
// under a heading such as "Next steps".
func (x *extractor) steps(i int, list []sentence, role transcript.Role) {
	n := 0
	for k := range list {
		s := &list[k]
		low := lower(s.text)
		if n >= maxSteps || s.box != 0 {
			continue
		}
		step := s.title && stepping.begins(low) && strings.ContainsAny(low, "0123456789") ||
			s.item && (ahead.in(s.head) || role == transcript.RoleUser && doing.in(s.head)) ||
			role == transcript.RoleUser && s.title && s.number ||
			!s.item && !s.title && ahead.begins(low)
		if step && len(s.text) > 8 {
			x.addOnce(Fact{Kind: FactPlan, Role: role, Block: i, Text: text.Line(s.text, lineRunes)})
			n++
		}
	}
}

var (
	stepping = phrasesOf("step|phase|change|part|task|stage|milestone|fix|commit")
	ahead    = phrasesOf(`next step|next steps|next|next:|next up|remaining|remaining:|todo|to do|still to do|then i will|then i'll|follow-up|follow-ups|what's left|left to do
		after that|afterwards`)
	doing = phrasesOf("verification|to verify|implementation order|implementation steps|implementation plan|steps|changes needed|changes|implementation|tests")
)

// newestPlan adds the steps that the newest text of the assistant announces, if calls
// follow in the same block.
func (x *extractor) newestPlan() {
	if x.lastReply == 0 {
		return
	}
	i := x.lastReply - 1
	if x.blocks[i].Kind != transcript.KindTool {
		return
	}
	for _, k := range x.blocks[i].Messages {
		if x.msgs[k].Role != transcript.RoleAssistant {
			continue
		}
		for _, s := range sentences(x.msgs[k].Text()) {
			if low := lower(s.text); announces.begins(low) || announces.begins(strings.TrimPrefix(low, "now ")) {
				x.addOnce(Fact{Kind: FactPlan, Role: transcript.RoleAssistant, Block: i, Text: text.Line(s.text, lineRunes)})
			}
		}
	}
}

var announces = phrasesOf("let me|let's|i'll|i will|i need to|next|now i'll|then|first")

// summary reads the summary that a compaction put in place of older messages. If there is
// no task yet, the user's request in the summary becomes one.
func (x *extractor) summary(i int, said string) {
	said = transcript.SummaryWords(said)
	if _, rest, ok := strings.Cut("\n"+said, "\nSummary:\n"); ok { // after an analysis
		said = rest
	}
	if x.tasks == 0 {
		text := said
		if at := intentAt(said); at >= 0 {
			text, _, _ = strings.Cut(strings.TrimSpace(said[at:]), "\n\n")
		}
		x.tasks++
		x.add(Fact{Kind: FactTask, Role: transcript.RoleUser, Block: i, Text: cutAtSentence(text, taskRunes)})
	}
	x.reply(i, said, false)
}

// intentAt returns the offset of the user's request in a summary, or -1.
func intentAt(said string) int {
	for _, head := range [...]string{"Primary Request and Intent:", "Session Intent\n", "Initial User Request:", "Initial request:"} {
		if i := strings.Index(said, head); i >= 0 && strings.TrimSpace(said[i+len(head):]) != "" {
			return i + len(head)
		}
	}
	return -1
}
