package session

import (
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/lazy"
)

// A feature has the words for the values of a feature of [facts.Model]. The model calls a value, or
// a range of values, a bin.
type feature struct {
	any  string            // for bins that are numbers; %s is the bin
	bins map[string]string // for the other bins
}

// yesOrNo returns the words of a feature that is present or absent.
func yesOrNo(where string) feature {
	return feature{bins: map[string]string{"yes": where, "no": "not " + where}}
}

// shared returns the words for a feature that counts what a text has in common with the tasks and
// plans of the session. They begin with the given verb, such as "shares".
func shared(what string) feature {
	return feature{what + " %s bits with what was asked for or planned", map[string]string{
		"0": what + " nothing with what was asked for or planned", "more": what + " much with what was asked for or planned",
	}}
}

// features has the words of all features. A feature of names and a feature of lines with the same
// name have the same meaning.
var features = lazy.Value[map[string]feature]{Make: func() map[string]feature {
	return map[string]feature{
		"kind": {bins: map[string]string{
			"url": "a URL", "email": "an email address", "path": "a path", "file": "a file name", "kebab": "words joined by hyphens",
			"symbol": "a symbol", "number": "a number", "hash": "a hash", "id": "an id", "version": "a version", "quantity": "a quantity",
			"word": "words joined by prose", "words": "said by the user", "sentence": "a sentence of the agent", "report": "a report", "look": "a call that looks",
			"run": "a command with its outcome", "edit": "a call that changes a file", "step": "a call", "argument": "an argument of a call",
			"change": "a line of a change", "written": "a line of a file that was written", "span": "lines that were read", "output": "a line that was printed",
			"sign": "the sign of a change",
		}},
		"failed":       yesOrNo("of a call that failed"),
		"binds":        {bins: map[string]string{"yes": "it says what must be", "no": "it does not say what must be", "guide": "it says what must be, in a text that was read", "rule": "a rule in a text that was read"}},
		"decides":      {bins: map[string]string{"yes": "it says why", "no": "it does not say why"}},
		"place":        {bins: map[string]string{"first": "at the beginning of its text", "middle": "in the middle of its text", "last": "at the end of its text", "only": "all of its text"}},
		"form":         {bins: map[string]string{"plain": "plain text", "heading": "a heading", "code": "code", "item": "an entry of a list", "quoted": "code in the user's words", "removed": "a line that an edit removed"}},
		"calls":        {"%s calls ago", map[string]string{"more": "100 calls ago or more", "person": "by a person, however many calls ago", "reply": "an answer to a person or a rule, however many calls ago"}},
		"turns":        {"%s turns ago", map[string]string{"0": "of this turn", "1": "a turn ago", "more": "many turns ago", "person": "by a person, however long ago", "reply": "an answer to a person or a rule, however long ago"}},
		"words":        {bins: map[string]string{"other": "not said by the user", "task": "of the first task", "short": "said by the user in few words", "long": "said by the user in many words", "newest": "of the newest words of the user", "talk": "said by the user, where there are no commands", "pasted": "pasted by the user"}},
		"size":         {"of a text of %s bytes", map[string]string{"more": "of a text of 6000 bytes or more", "person": "of a long text of the user"}},
		"ends":         {bins: map[string]string{"no": "it says nothing of how something ended", "badly": "something ended badly", "well": "something ended well", "both": "something ended well or badly"}},
		"number":       {bins: map[string]string{"yes": "with a number", "no": "without a number"}},
		"need":         {"what is needed again of it is %s of the mean", map[string]string{"none": "nothing of it is needed again", "more": "what is needed again of it is ten times the mean"}},
		"figure":       {bins: map[string]string{"no": "no number that anyone may look for", "printed": "a number in a few lines that were printed", "listed": "a number in a long output", "said": "a number in a sentence of the agent", "result": "a number in a printed line that sums up or ends a short output"}},
		"says":         {bins: map[string]string{"other": "no sentence of the agent", "next": "the agent says what comes next", "found": "the agent says something else than what comes next", "reply": "the agent's answer to a person", "question": "the agent asks a person", "talk": "the agent's answer to a person, where there are no commands", "asked": "what an answer of a person refers to"}},
		"again":        {bins: map[string]string{"no": "not said again", "later": "said again later, or by the state", "removed": "removed by a later edit"}},
		"last":         {"last seen %s tokens ago", map[string]string{"more": "last seen 32k tokens ago or more"}},
		"count":        {"said %s times", map[string]string{"0": "taken away by a change", "1": "said once", "more": "said very often"}},
		"blocks":       {"in %s blocks", map[string]string{"1": "in one block", "more": "in very many blocks"}},
		"in-arguments": {"in the arguments of %s calls", map[string]string{"0": "in no call's arguments", "1": "in one call's arguments", "more": "in the arguments of many calls"}},
		"calls-since": {"last used %s calls ago", map[string]string{
			"1": "used by the last call", "more": "last used more than 20 calls ago", "never": "never used by a call",
		}},
		"seen-calls": {"last seen %s calls ago", map[string]string{
			"0": "seen since the last call", "1": "last seen a call ago", "more": "last seen 32 calls ago or more",
		}},
		"recent": {"used %s times by the last six calls", map[string]string{
			"0": "not used by the last six calls", "1": "used once by the last six calls", "2": "used twice by the last six calls",
			"more": "used often by the last six calls",
		}},
		"newest-words":  yesOrNo("in the newest words of the user"),
		"newest-result": yesOrNo("in the newest result"),
		"error-line":    yesOrNo("on a line with an error"),
		"in-read":       yesOrNo("in a file that was read"),
		"in-edit":       yesOrNo("in an edit"),
		"neighbors":     {"in a text with %s names", map[string]string{"more": "in texts with very many names"}},
		"source": {bins: map[string]string{
			"user": "said by the user", "newest": "in the newest words of the user", "task": "in the first task", "reply": "said in a reply",
			"newest-reply": "said in the newest reply", "edit": "written by an edit", "command": "part of a command", "plan": "part of a plan",
			"arguments": "in a call's arguments", "read": "read in a file", "search": "found by a search", "output": "printed by a command",
			"edited": "reported by an edit", "result": "in a call's result",
		}},
		"sources": {"from %s kinds of sources", map[string]string{"0": "from no source", "1": "from one kind of source", "more": "from many kinds of sources"}},
		"elsewhere": {bins: map[string]string{
			"no": "nowhere else", "edit": "in an edit, too", "search": "found by a search, too", "output": "printed by a command, too",
			"edited": "reported by an edit, too", "several": "in edits or outputs, too",
		}},
		"length": {"%s bytes long", map[string]string{"more": "very long", "person": "by a person, however long"}},
		"round": {bins: map[string]string{
			"no-number": "not a number", "no": "not a round number", "10": "a multiple of 10", "50": "a multiple of 50", "100": "a multiple of 100",
		}},
		"with-hot": {"beside %s names in use", map[string]string{
			"0": "beside no name in use", "1": "beside a name in use", "more": "beside many names in use",
		}},
		"with-asked": shared("the words beside it share"),
		"asked":      shared("its words share"),
		"done":       {"its words share %s bits with the last three calls", map[string]string{"0": "its words share nothing with the last three calls", "more": "its words share much with the last three calls"}},
		"asked-share": {"%s of what it says was asked for or planned", map[string]string{
			"0": "nothing of what it says was asked for or planned", "more": "most of what it says was asked for or planned",
		}},
		"asked-around": {"%s of what the lines around say was asked for or planned", map[string]string{
			"0": "nothing that the lines around say was asked for or planned", "more": "much of what the lines around say was asked for or planned",
		}},
		"done-share": {"%s of what it says is in the last three calls", map[string]string{
			"0": "nothing of what it says is in the last three calls", "more": "most of what it says is in the last three calls",
		}},
		"within": {bins: map[string]string{
			"none": "in no declaration", "cold": "in a declaration that is not in use", "hot": "in a declaration in use", "named": "in a declaration that the newest words name",
		}},
		"file": {bins: map[string]string{
			"no-file": "in no file", "cold": "in a file that is not in use", "in-use": "in a file in use", "named": "in a file that the newest words name",
		}},
		"files": {"in %s files", map[string]string{"0": "in no file", "1": "in one file", "more": "in many files"}},
		"file-since": {bins: map[string]string{
			"no-file": "in no file", "edited": "its file was edited since", "read": "its file was read again since", "nothing": "its file was not touched since",
		}},
		"file-edited": {"its file was last edited %s calls ago", map[string]string{
			"no-file": "in no file", "never": "its file was never edited", "1": "its file was edited by the last call", "more": "its file was edited long ago",
		}},
		"file-rank": {"one of %s files behind the newest", map[string]string{
			"no-file": "in no file", "1": "in the file that was touched last", "2": "in the file that was touched before the last",
			"more": "its file was touched long ago",
		}},
		"file-copied": {"%s of its file was copied so far", map[string]string{
			"no-file": "in no file", "none": "nothing of its file was copied so far", "more": "much of its file was copied so far",
		}},
		"sibling": yesOrNo("in a file that belongs to one that the newest words name"),
		"change": {bins: map[string]string{
			"none": "not in a change", "takes": "taken away by a change", "gives": "written by a change", "both": "kept by a change",
		}},
		"part":          {bins: map[string]string{"no-read": "not read in a file", "whole": "in a file that was read from its beginning", "part": "in a part of a file that was read"}},
		"names":         {"with %s names", map[string]string{"0": "with no name", "1": "with one name", "more": "with many names"}},
		"lines":         {"in a text of %s lines", map[string]string{"more": "in a text of 400 lines or more"}},
		"likely-name":   {"its likeliest name has %s", map[string]string{"more": "its likeliest name has 25% or more"}},
		"likely-around": {"the lines around have %s in names", map[string]string{"more": "the lines around have 60% or more in names"}},
	}
}}

// sayReason returns a reason in words. The sign before it is + if the reason makes it more likely
// that the text is needed again, and − if less likely. For a feature without words it prints the
// feature's name.
func sayReason(r facts.Contribution) string {
	sign := "+ "
	if r.Weight < 0 {
		sign = "− "
	}
	f := features.Get()[r.Feature]
	if words := f.bins[r.Bin]; words != "" {
		return sign + words
	}
	if f.any != "" {
		return sign + strings.Replace(f.any, "%s", r.Bin, 1)
	}
	return sign + r.Feature + " " + r.Bin
}

// strongest is how many reasons becauseWords returns at most.
const strongest = 3

// becauseWords returns the strongest reasons in words. It prints equal words once, since several
// features may have the same cause.
func becauseWords(reasons []facts.Contribution) string {
	var words []string
	seen := make(map[string]bool)
	for _, r := range reasons {
		if w := sayReason(r); !seen[w] && len(words) < strongest {
			seen[w] = true
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
