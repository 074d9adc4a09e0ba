package cli

import (
	"strings"

	"github.com/carrel-dev/carrel/facts"
)

// A feature says in words what a bin of a feature of [facts.Model] is.
type feature struct {
	any  string            // for bins that are numbers; %s is the bin
	bins map[string]string // for the others
}

// yesOrNo has the words of a feature that is there or is not.
func yesOrNo(where string) feature {
	return feature{bins: map[string]string{"yes": where, "no": "not " + where}}
}

// features has the words of all features. A feature of names and one of lines that
// have the same name mean the same.
var features = map[string]feature{
	"kind": {bins: map[string]string{
		"url": "a URL", "email": "an email address", "path": "a path", "file": "a file name", "kebab": "words joined by hyphens",
		"symbol": "a symbol", "number": "a number", "hash": "a hash", "id": "an id", "version": "a version", "quantity": "a quantity",
	}},
	"last":         {"last seen %s tokens ago", map[string]string{"more": "last seen 32k tokens ago or more"}},
	"first":        {"first seen %s tokens ago", map[string]string{"more": "first seen 32k tokens ago or more"}},
	"count":        {"said %s times", map[string]string{"1": "said once", "more": "said very often"}},
	"blocks":       {"in %s blocks", map[string]string{"1": "in one block", "more": "in very many blocks"}},
	"in-arguments": {"in the arguments of %s calls", map[string]string{"0": "in no call's arguments", "1": "in one call's arguments", "more": "in the arguments of many calls"}},
	"calls-since": {"last used %s calls ago", map[string]string{
		"1": "used by the last call", "more": "last used more than 20 calls ago", "never": "never used by a call",
	}},
	"newest-words": yesOrNo("in the newest words of the user"),
	"other-words":  yesOrNo("in earlier words of the user"),
	"first-words":  yesOrNo("in the first task"),
	"newest-reply": yesOrNo("in the newest reply"),
	"error-line":   yesOrNo("on a line with an error"),
	"in-read":      yesOrNo("in a file that was read"),
	"in-reply":     yesOrNo("in a reply"),
	"in-edit":      yesOrNo("in an edit"),
	"neighbors":    {"in a text with %s names", map[string]string{"more": "in texts with very many names"}},
	"source": {bins: map[string]string{
		"user": "said by the user", "newest": "in the newest words of the user", "task": "in the first task", "reply": "said in a reply",
		"newest-reply": "said in the newest reply", "edit": "written by an edit", "command": "part of a command", "plan": "part of a plan",
		"arguments": "in a call's arguments", "read": "read in a file", "search": "found by a search", "output": "printed by a command",
		"edited": "reported by an edit", "result": "in a call's result",
	}},
	"sources": {"from %s kinds of sources", map[string]string{"0": "from no source", "1": "from one kind of source", "more": "from many kinds of sources"}},
	"edits": {"%s of the calls edit files", map[string]string{
		"none": "no call edits files", "more": "many of the calls edit files",
	}},
	"length": {"%s bytes long", map[string]string{"more": "very long"}},
	"round": {bins: map[string]string{
		"no-number": "not a number", "no": "not a round number", "10": "a multiple of 10", "50": "a multiple of 50", "100": "a multiple of 100",
	}},
	"with-hot": {"beside %s names in use", map[string]string{
		"0": "beside no name in use", "1": "beside a name in use", "more": "beside many names in use",
	}},
	"file": {bins: map[string]string{
		"no-file": "in no file", "cold": "in a file that is not in use", "in-use": "in a file in use", "named": "in a file that the newest words name",
	}},
	"file-edits": {"in a file that was edited %s times", map[string]string{
		"no-file": "in no file", "0": "in a file that was never edited", "1": "in a file that was edited once", "more": "in a file that was edited often",
	}},
	"file-since": {bins: map[string]string{
		"no-file": "in no file", "edited": "its file was edited since", "read": "its file was read again since", "nothing": "its file was not touched since",
	}},
	"file-rank": {"one of %s files behind the newest", map[string]string{
		"no-file": "in no file", "1": "in the file that was touched last", "2": "in the file that was touched before the last",
		"more": "its file was touched long ago",
	}},
	"file-kind": {bins: map[string]string{
		"no-file": "in no file", "test": "in a file of tests", "prose": "in a file of prose", "other": "in a file of code or data",
	}},
	"hot":   {"with %s names in use", map[string]string{"0": "with no name in use", "1": "with a name in use", "more": "with many names in use"}},
	"names": {"with %s names", map[string]string{"0": "with no name", "1": "with one name", "more": "with many names"}},
	"shape": {bins: map[string]string{
		"plain": "plain text", "comment": "a comment", "import": "an import", "declaration": "a declaration", "statement": "a statement",
		"item": "an item of a list", "code": "code",
	}},
	"lines":          {"in a text of %s lines", map[string]string{"more": "in a text of 400 lines or more"}},
	"likely-name":    {"its likeliest name has %s", map[string]string{"more": "its likeliest name has 25% or more"}},
	"likely-around":  {"the lines around have %s in names", map[string]string{"more": "the lines around have 60% or more in names"}},
	"hot-within":     {"%s lines from a name in use", map[string]string{"1": "next to a name in use", "more": "far from any name in use"}},
	"written-within": {"%s lines from one that was written", map[string]string{"1": "next to a line that was written", "more": "far from any line that was written"}},
}

// sayReason says a reason in words, with a sign for whether it speaks for or
// against. A feature that has no words is said as it is called.
func sayReason(r facts.Reason) string {
	sign := "+ "
	if r.Weight < 0 {
		sign = "− "
	}
	f := features[r.Feature]
	if words := f.bins[r.Bin]; words != "" {
		return sign + words
	}
	if f.any != "" {
		return sign + strings.Replace(f.any, "%s", r.Bin, 1)
	}
	return sign + r.Feature + " " + r.Bin
}

// strongest is how many reasons are said.
const strongest = 3

// becauseWords says the strongest reasons in words, each once: no file is reason for
// several features.
func becauseWords(reasons []facts.Reason) string {
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
