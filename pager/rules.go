package pager

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// A Rule outranks every score. The empty rule is none. It is stored as its
// text.
type Rule string

// The rules, strongest first.
const (
	RuleSystem     Rule = "system"        // hard: system text
	RulePin        Rule = "pin"           // hard: pinned by a user or an agent
	RulePending    Rule = "pending-call"  // hard: a call that is not answered yet
	RuleNewestUser Rule = "newest-user"   // hard: the newest user message
	RuleNewest     Rule = "newest-answer" // hard: the newest reply, if it is to that
	RuleFirstTask  Rule = "first-task"    // hard: the first user message
	RuleCorrection Rule = "correction"    // hard: a user's correction or standing order
	RuleEdit       Rule = "edit"          // soft: a code edit that no later one supersedes
	RulePlan       Rule = "plan"          // soft: the newest plan or list of things to do
	RuleRecent     Rule = "recent"        // soft: among the last blocks
)

// Hard reports whether r keeps a block as it is.
func (r Rule) Hard() bool {
	switch r {
	case RuleSystem, RulePin, RulePending, RuleNewestUser, RuleNewest, RuleFirstTask, RuleCorrection:
		return true
	case RuleEdit, RulePlan, RuleRecent:
		return false
	}
	return false
}

// Soft reports whether r keeps a block from leaving the window altogether.
func (r Rule) Soft() bool { return r != "" && !r.Hard() }

// RuleOptions adjusts [Rules]. The zero value is the default.
type RuleOptions struct {
	// Last is how many of the newest blocks are under [RuleRecent]. The default
	// is 5; a negative number means none.
	Last int

	// Pinned has the blocks under [RulePin].
	Pinned map[transcript.BlockID]bool
}

// Rules returns the strongest rule for each block, or none. The newest answer
// is the last reply after the newest user message; what the assistant did in
// between is for the score to judge.
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
	newest, answer, first := -1, -1, -1
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case transcript.KindSystem:
			set(i, RuleSystem)
		case transcript.KindUser:
			if instructs(msgs, b) {
				newest, answer = i, -1
				if first < 0 {
					first = i
				}
			}
		case transcript.KindAssistant, transcript.KindTool:
			answer = i
		case transcript.KindSummary, transcript.KindOrphan:
		}
		if o.Pinned[b.ID] {
			set(i, RulePin)
		}
		if i == len(blocks)-1 && pending(msgs, b) {
			set(i, RulePending)
		}
	}
	set(newest, RuleNewestUser)
	if newest >= 0 {
		set(answer, RuleNewest)
	}
	set(first, RuleFirstTask)
	for i := range blocks {
		if corrects(msgs, &blocks[i]) {
			set(i, RuleCorrection)
		}
	}
	anchors(msgs, blocks, set)
	for i := max(len(blocks)-max(o.Last, 0), 0); i < len(blocks); i++ {
		set(i, RuleRecent)
	}
	return rules
}

// instructs reports whether a user's block holds a person's words, and not
// what a program said in the user's name.
func instructs(msgs []transcript.Message, b *transcript.Block) bool {
	m := &msgs[b.Messages[0]]
	text := strings.TrimSpace(m.Text())
	return len(m.Parts) > 0 && (text == "" && hasMedia(m) || text != "" && !machine(text))
}

func hasMedia(m *transcript.Message) bool {
	for _, p := range m.Parts {
		if _, ok := p.(transcript.Media); ok {
			return true
		}
	}
	return false
}

// machine reports whether text was written by a program: the output of a local
// command, a reminder, a note that the user interrupted.
func machine(text string) bool {
	for _, head := range [...]string{"<command-", "<local-command", "<system-reminder", "<bash-", "<task-notification", "[Request interrupted", "Caveat: The messages below", "[carrel"} {
		if strings.HasPrefix(text, head) {
			return true
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
func anchors(msgs []transcript.Message, blocks []transcript.Block, set func(int, Rule)) {
	edited := make(map[string]bool)  // paths that a later block edits
	planned := make(map[string]bool) // plan tools that a later block calls
	for i := len(blocks) - 1; i >= 0; i-- {
		b := &blocks[i]
		if b.Kind != transcript.KindTool {
			continue
		}
		failed := failures(msgs, b)
		for _, k := range b.Messages {
			for _, c := range msgs[k].Calls() {
				name := toolName(c.Name)
				if planTools[name] && !planned[name] {
					planned[name] = true
					set(i, RulePlan)
				}
				if !editTools[name] || failed[c.ID] {
					continue
				}
				path := pathOf(c)
				if !edited[path] || path == "" {
					set(i, RuleEdit)
				}
				edited[path] = true
			}
		}
	}
}

// failures has the ids of the calls of a block whose results are errors.
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

// toolName folds the spellings of a tool's name: "create_file", "CreateFile".
func toolName(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", "")
}

// editTools change files, under the names that agents give them.
var editTools = map[string]bool{
	"edit": true, "write": true, "multiedit": true, "notebookedit": true, "createfile": true, "overwritefile": true,
	"quickedit": true, "deletefile": true, "writefile": true, "editfile": true, "applypatch": true, "replace": true,
	"strreplace": true, "insert": true, "searchreplace": true, "applydiff": true, "writetofile": true,
}

// planTools record what is to be done.
var planTools = map[string]bool{
	"todowrite": true, "writetodo": true, "writetodos": true, "updateplan": true, "exitplanmode": true, "final": true,
}

// pathOf returns the file that a call edits, or an empty string.
func pathOf(c transcript.ToolCall) string {
	for _, key := range [...]string{"file_path", "path", "notebook_path", "filename", "target_file", "filePath", "file"} {
		if v := gjson.GetBytes(c.Input, key); v.Type == gjson.String {
			return v.String()
		}
	}
	return ""
}
