package windows

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/transcript"
)

// sections returns the sections of a brief, the most important first.
func (b *briefing) sections() []section {
	if b.memory {
		return b.memorySections()
	}
	all := []section{
		{title: "Wanted:", turn: 2, entries: b.userMessages()},
		{title: "Corrected or ordered by the user:", turn: 4, entries: b.corrections()},
		{title: "Pinned:", turn: 4, entries: b.pins()},
		{title: "Rules of the contract:", turn: 2, entries: b.plain(b.rules)},
		{title: "State:", turn: 3, entries: b.stands()},
		{title: "Decided:", turn: 2, entries: b.decisions()},
		{title: "Open:", turn: 3, entries: b.open()},
		{title: "Said by the agent:", turn: 3, entries: b.replies()},
		{title: "Files:", turn: 3, entries: b.each(facts.FactChange, b.unlessSummarized(changed))},
		{title: "Commands:", turn: 2, entries: b.runs()},
		{title: "Verified:", turn: 1, entries: b.plain(b.state.Texts(contract.VerifiedClaims))},
		{title: "Names and figures:", turn: 1, entries: b.each(facts.FactReference, b.unlessSummarized(referred))},
	}
	const corrected, decided = 1, 5
	seen := make(map[string]bool)
	for _, i := range [...]int{corrected, decided} { // corrections and decisions keep an entry that "Wanted" repeats
		all[i].entries = once(all[i].entries, seen)
	}
	for i := range all {
		if i != corrected && i != decided {
			all[i].entries = once(all[i].entries, seen)
		}
	}
	return all
}

// memorySections returns the sections of a brief for another session.
func (b *briefing) memorySections() []section {
	all := []section{
		{title: "Corrected or ordered by the user:", turn: 3, entries: b.corrections()},
		{title: "Pinned:", turn: 3, entries: b.pins()},
		{title: "Rules of the contract:", turn: 3, entries: b.plain(b.rules)},
		{title: "Decided:", turn: 4, entries: b.decisions()},
		{title: "State:", turn: 3, entries: b.stands()},
		{title: "Open:", turn: 2, entries: b.tasks()},
		{title: "Ordered last:", turn: 1, entries: b.words()},
	}
	last := &all[len(all)-1].entries
	*last = (*last)[:min(len(*last), 1)]
	seen := make(map[string]bool)
	for i := range all {
		all[i].entries = once(all[i].entries, seen)
	}
	return all
}

// once returns the entries whose text is not in seen, and adds their texts to seen. The ids of
// their blocks do not count.
func once(entries []string, seen map[string]bool) []string {
	return slices.DeleteFunc(entries, func(e string) bool {
		said := saying(e)
		again := seen[said]
		seen[said] = true
		return again
	})
}

// saying returns the text of an entry in lower case, without its kind and the id of its block.
func saying(entry string) string {
	entry = strings.TrimPrefix(entry, "- ")
	if i := strings.LastIndex(entry, " ["); i >= 0 && strings.HasSuffix(entry, "]") {
		entry = entry[:i]
	}
	for _, kind := range [...]string{"question: ", "to do: ", "error: "} {
		entry = strings.TrimPrefix(entry, kind)
	}
	return strings.ToLower(strings.TrimRight(entry, " ."))
}

// own reports whether a block calls Carrel's own tools and no others. The results of such calls
// repeat other blocks and would crowd out entries about the work. Clients name such a tool by its
// server: "mcp__plugin_carrel_carrel__recall", "mcp_carrel_recall".
func (c *chapter) own(block int) bool {
	calls := 0
	for _, i := range c.blocks[block].Messages {
		for _, call := range c.msgs[i].Calls() {
			if !strings.HasPrefix(call.Name, "mcp_") || !strings.Contains(call.Name, "carrel") {
				return false
			}
			calls++
		}
	}
	return calls > 0
}

// plain makes an entry for each text, without the id of a block. The entry for the last text comes
// first.
func (b *briefing) plain(texts []string) []string {
	list := make([]string, 0, len(texts))
	for _, text := range slices.Backward(texts) {
		list = append(list, entry(text, ""))
	}
	return list
}

// each returns entries for the facts of a kind, the newest first. The function say returns the
// subject and the text of a fact. Facts without a text are left out, and of facts with the same
// subject only the newest counts.
func (b *briefing) each(kind facts.FactKind, say func(*chapter, *facts.Fact) (subject, text string)) []string {
	var list []string
	seen := make(map[string]bool)
	for i := range b.chapters {
		c := &b.chapters[i]
		for k := range slices.Backward(c.found) {
			f := &c.found[k]
			if f.Kind != kind || c.own(f.Block) || b.restated(i, f) || i == 0 && b.summary != "" && c.blocks[f.Block].Kind == transcript.KindSummary {
				continue
			}
			subject, text := say(c, f)
			if text == "" || seen[subject] {
				continue
			}
			seen[subject] = true
			list = append(list, entry(text, c.ids[f.Block]))
		}
	}
	return list
}

// restated reports whether a fact is a task in the words of a summary although an earlier chapter
// has a task in the user's own words. The argument at is the index of the fact's chapter.
func (b *briefing) restated(at int, f *facts.Fact) bool {
	if f.Kind != facts.FactTask || b.chapters[at].blocks[f.Block].Kind != transcript.KindSummary {
		return false
	}
	return slices.ContainsFunc(b.chapters[at+1:], func(c chapter) bool {
		return slices.ContainsFunc(c.found, func(f facts.Fact) bool {
			return f.Kind == facts.FactTask && c.blocks[f.Block].Kind != transcript.KindSummary
		})
	})
}

// settled returns the errors that a later chapter resolved: the same command succeeded there, or
// the file was changed.
func (b *briefing) settled() map[*facts.Fact]bool {
	done := make(map[string]bool)
	settled := make(map[*facts.Fact]bool)
	for i := range b.chapters {
		found := b.chapters[i].found
		for k := range found {
			if f := &found[k]; f.Kind == facts.FactError && f.Subject != "" && done[f.Subject] {
				settled[f] = true
			}
		}
		for k := range found {
			f := &found[k]
			if f.Kind == facts.FactChange || f.Kind == facts.FactCommand && f.Status == facts.StatusOK ||
				f.Kind == facts.FactError && f.Status == facts.StatusResolved {
				done[f.Subject] = true
			}
		}
	}
	return settled
}

// unlessSummarized returns a function for [briefing.each]. It returns the results of the function
// say, but no text for a fact that is in the summary in the window.
func (b *briefing) unlessSummarized(say func(*facts.Fact) (subject, text string)) func(*chapter, *facts.Fact) (string, string) {
	return func(_ *chapter, f *facts.Fact) (string, string) {
		if b.summarized(f.Subject) && b.summarized(f.Text) {
			return "", ""
		}
		return say(f)
	}
}

// byRole returns a function for [briefing.each] that keeps the facts of a role, with their text
// as subject.
func byRole(role transcript.Role) func(*chapter, *facts.Fact) (string, string) {
	return func(_ *chapter, f *facts.Fact) (string, string) {
		if f.Role != role {
			return "", ""
		}
		return f.Text, f.Text
	}
}

// userMessages returns the user's messages: the newest, the very first, then the others from new to old.
func (b *briefing) userMessages() []string {
	all := b.words()
	if len(all) > 2 {
		all = slices.Concat(all[:1], all[len(all)-1:], all[1:len(all)-1])
	}
	return all
}

func (b *briefing) corrections() []string {
	list := b.each(facts.FactCorrection, byRole(transcript.RoleUser))
	for _, c := range b.state.Corrections() {
		text := c.Meaning
		if c.Category != "" {
			text = c.Name + ": " + text
		}
		list = append(list, entry(text, ""))
	}
	return list
}

func (b *briefing) pins() []string {
	var list []string
	for i := range b.chapters {
		c := &b.chapters[i]
		for k := range slices.Backward(c.blocks) {
			if c.pinned[k] {
				list = append(list, entry(c.blocks[k].Text(c.msgs), c.ids[k]))
			}
		}
	}
	return list
}

func (b *briefing) decisions() []string {
	return slices.Concat(
		b.plain(b.state.Texts(contract.TrackedDecisions)),
		b.plain(b.state.Texts(contract.InheritedDecisions)),
		b.each(facts.FactDecision, b.unlessSummarized(func(f *facts.Fact) (string, string) {
			if f.Why != "" && !strings.Contains(f.Text, f.Why) {
				return f.Text, f.Text + " (" + f.Why + ")"
			}
			return f.Text, f.Text
		})),
	)
}

// open returns the open errors, questions and steps.
func (b *briefing) open() []string {
	settled := b.settled()
	list := b.each(facts.FactError, func(_ *chapter, f *facts.Fact) (string, string) {
		if f.Status != facts.StatusOpen || settled[f] {
			return "", ""
		}
		return f.Text, "error: " + f.Text + failedAt(f)
	})
	for _, l := range [...]contract.List{contract.OpenQuestions, contract.UnresolvedQuestions} {
		for _, text := range b.state.Texts(l) {
			list = append(list, entry("question: "+text, ""))
		}
	}
	open, steps := leftOpen(b.chapters[0].found)
	for _, text := range open {
		list = append(list, entry("question: "+text, ""))
	}
	for _, text := range steps {
		list = append(list, entry("to do: "+text, ""))
	}
	return append(list, b.tasks()...)
}

// failedAt returns, in parentheses, the subject of an error: the place that failed. It returns ""
// if the text of the error names the subject.
func failedAt(f *facts.Fact) string {
	if f.Subject == "" || strings.Contains(f.Text, f.Subject) {
		return ""
	}
	return " (" + firstLine(f.Subject) + ")"
}

func changed(f *facts.Fact) (subject, text string) {
	if f.Text == "" {
		return f.Subject, f.Subject + ": " + string(f.Status)
	}
	return f.Subject, f.Subject + ": " + string(f.Status) + ", " + f.Text
}

func ran(f *facts.Fact) (subject, text string) {
	text = firstLine(f.Subject) + ": " + string(f.Status)
	if f.Exit != "" && f.Exit != "0" {
		text += ", exit code " + f.Exit
	}
	if f.Text != "" {
		text += ", " + f.Text
	}
	return f.Subject, text
}

func referred(f *facts.Fact) (subject, text string) {
	if f.Text == "" || f.Text == f.Subject {
		return f.Subject, f.Subject
	}
	return f.Subject, f.Subject + ": " + f.Text
}

// leftOpen returns the questions that nobody answered and the steps to do: those of the newest
// to-do list, or of the newest announced plan if that is not older than the list.
func leftOpen(found []facts.Fact) (open, steps []string) {
	plan, todo := -1, -1
	for i := range found {
		switch found[i].Kind { //nolint:exhaustive // the others announce nothing
		case facts.FactPlan:
			plan = max(plan, found[i].Block)
		case facts.FactTodo:
			todo = max(todo, found[i].Block)
		}
	}
	for i := range found {
		f := &found[i]
		switch {
		case f.Kind == facts.FactQuestion && f.Status == facts.StatusOpen:
			open = append(open, f.Text)
		case f.Kind == facts.FactPlan && f.Block == plan && plan >= todo:
			steps = append(steps, f.Text)
		case f.Kind == facts.FactTodo && f.Status != facts.StatusCompleted && f.Block == todo:
			steps = append(steps, f.Subject)
		}
	}
	return open, steps
}
