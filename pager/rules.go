package pager

import (
	"strings"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A Rule protects a block, whatever its score is. The empty Rule means that no
// rule applies. It is stored as its text. The hard rules, strongest first, are
// system, compaction (by the provider), pin, pending-call (without a result),
// newest-user, newest-answer, first-task and correction; the soft ones are
// edit, plan, summary (of the agent's own compaction) and recent.
type Rule string

// The rules that callers set or ask for.
const (
	RuleSystem     Rule = "system"        // system text
	ruleCompaction Rule = "compaction"    // signed summary of older messages, made by the provider
	RulePin        Rule = "pin"           // pinned by a user or an agent
	rulePending    Rule = "pending-call"  // a call that is not answered yet
	ruleNewestUser Rule = "newest-user"   // the newest user message
	ruleNewest     Rule = "newest-answer" // the newest reply, if it answers the newest user message
	RuleFirstTask  Rule = "first-task"    // the first user message
	RuleCorrection Rule = "correction"    // a user's correction or standing order
	RuleEdit       Rule = "edit"          // soft: a code edit that no later one supersedes
	rulePlan       Rule = "plan"          // soft: the newest plan or todo list
	ruleSummary    Rule = "summary"       // soft: the newest summary made by the agent's own compaction
	RuleRecent     Rule = "recent"        // soft: among the last blocks
)

// rules has the properties of each rule.
var rules = [...]struct {
	rule  Rule
	hard  bool
	keeps string // why a block is not discarded: the verb of a sentence about it, and what follows
}{
	{RuleSystem, true, "is system text"},
	{ruleCompaction, true, "is a compaction by the provider"},
	{RulePin, true, "is pinned"},
	{rulePending, true, "has a call that is not answered yet"},
	{ruleNewestUser, true, "is the newest user message"},
	{ruleNewest, true, "is the answer to the newest user message"},
	{RuleFirstTask, true, "is the first task"},
	{RuleCorrection, true, "is a correction or standing order of the user"},
	{RuleEdit, false, "is a code edit that shows what a file is like now"},
	{rulePlan, false, "is a plan or conclusion that the work hangs on"},
	{ruleSummary, false, "stands for messages that left"},
	{RuleRecent, false, "is among the last blocks"},
}

// Hard reports whether r keeps a block in the window. [Make] and [Slide]
// leave the block unchanged. [Cover] completes it before others, and cuts it
// to lines only if the budget is too small and r is not [Rule.Absolute].
func (r Rule) Hard() bool {
	for i := range rules {
		if rules[i].rule == r {
			return rules[i].hard
		}
	}
	return false
}

// Keeps says why the rule keeps a block from being discarded, as a sentence
// without its subject, such as "is pinned".
func (r Rule) Keeps() string {
	for i := range rules {
		if rules[i].rule == r {
			return rules[i].keeps
		}
	}
	return string(r)
}

// soft reports whether a block under r may be shortened, but not leave the window.
func (r Rule) soft() bool { return r != "" && !r.Hard() }

// RuleOptions adjusts [Rules]. The zero value is the default.
type RuleOptions struct {
	// Last is the number of newest blocks under [RuleRecent]. The default is
	// 5; a negative number means none.
	Last int

	// Pinned lists the blocks under [RulePin].
	Pinned map[transcript.BlockID]bool

	// Corrections lists blocks that record a correction, in addition to those
	// that are detected. They are under [RuleCorrection].
	Corrections map[transcript.BlockID]bool

	// Tools has the class of each tool, such as edit or plan. The default is
	// the built-in table.
	Tools *tool.Table
}

// Rules returns the strongest rule for each block, or "" for a block without a
// rule. The newest answer is the last reply after the newest user message. The
// assistant's other blocks after that message are not protected as parts of the
// answer.
func Rules(msgs []transcript.Message, blocks []transcript.Block, opts *RuleOptions) []Rule {
	o := RuleOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Last == 0 {
		o.Last = 5
	}
	rules := make([]Rule, len(blocks))
	set := func(i int, r Rule) {
		if i >= 0 && rules[i] == "" {
			rules[i] = r
		}
	}
	newest, answer, first, compacted := -1, -1, -1, -1
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case transcript.KindSystem:
			set(i, RuleSystem)
		case transcript.KindUser:
			if Instructs(msgs, b) {
				newest, answer = i, -1
				if first < 0 {
					first = i
				}
			}
		case transcript.KindAssistant, transcript.KindTool:
			answer = i
		case transcript.KindSummary:
			compacted = i
		case transcript.KindOrphan:
		}
		if Compaction(msgs, b) {
			set(i, ruleCompaction)
		}
		if o.Pinned[b.ID] {
			set(i, RulePin)
		}
		if i == len(blocks)-1 && pending(msgs, b) {
			set(i, rulePending)
		}
	}
	set(newest, ruleNewestUser)
	if newest >= 0 {
		set(answer, ruleNewest)
	}
	set(first, RuleFirstTask)
	for i := range blocks {
		if o.Corrections[blocks[i].ID] || corrects(msgs, &blocks[i]) {
			set(i, RuleCorrection)
		}
	}
	anchors(msgs, blocks, o.Tools, set)
	set(compacted, ruleSummary)
	for i := max(len(blocks)-max(o.Last, 0), 0); i < len(blocks); i++ {
		set(i, RuleRecent)
	}
	return rules
}

// Instructs reports whether a user's block holds a person's words rather than
// a program's text.
func Instructs(msgs []transcript.Message, b *transcript.Block) bool {
	m := &msgs[b.Messages[0]]
	text := strings.TrimSpace(m.Text())
	return len(m.Parts) > 0 && (text == "" && hasMedia(m) || text != "" && !transcript.Machine(text))
}

func hasMedia(m *transcript.Message) bool {
	for _, p := range m.Parts {
		if _, ok := p.(transcript.Media); ok {
			return true
		}
	}
	return false
}

// Compaction reports whether a block is a compaction by the provider. Only
// the provider can read it, so it cannot be replaced, and the provider
// ignores everything before it.
func Compaction(msgs []transcript.Message, b *transcript.Block) bool {
	for _, i := range b.Messages {
		for _, p := range msgs[i].Parts {
			if o, ok := p.(transcript.Opaque); ok && o.Type == "compaction" {
				return true
			}
		}
	}
	return false
}

// pending reports whether the last reply of a block has calls without results.
func pending(msgs []transcript.Message, b *transcript.Block) bool {
	open := make(map[string]bool)
	for _, i := range b.Messages {
		for _, c := range msgs[i].Calls() {
			open[c.ID] = true
		}
		for _, r := range msgs[i].Results() {
			delete(open, r.CallID)
		}
	}
	return len(open) > 0
}

// anchors sets the soft rules for edits and plans.
func anchors(msgs []transcript.Message, blocks []transcript.Block, tools *tool.Table, set func(int, Rule)) {
	edited := make(map[string]bool)  // paths that a later block edits
	planned := make(map[string]bool) // plan tools that a later block calls
	for i := len(blocks) - 1; i >= 0; i-- {
		b := &blocks[i]
		if b.Kind != transcript.KindTool {
			continue
		}
		failed, plans := failures(msgs, b), false
		for _, k := range b.Messages {
			for _, c := range msgs[k].Calls() {
				name, class := tool.Fold(c.Name), tools.Of(c)
				if class == tool.Plan && !planned[name] {
					planned[name], plans = true, true
				}
				if class != tool.Edit || failed[c.ID] {
					continue
				}
				path := tool.Path(c)
				if !edited[path] || path == "" {
					set(i, RuleEdit)
				}
				edited[path] = true
			}
		}
		if plans {
			set(i, rulePlan)
		}
	}
}

// failures returns the set of ids of the calls of a block whose results are errors.
func failures(msgs []transcript.Message, b *transcript.Block) map[string]bool {
	failed := make(map[string]bool)
	for _, i := range b.Messages {
		for _, r := range msgs[i].Results() {
			if r.Error {
				failed[r.CallID] = true
			}
		}
	}
	return failed
}
