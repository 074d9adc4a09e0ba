package probe

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// questions has the wordings of questions for each kind of fact. The first is the best. The
// others are for facts whose answer the first would reveal. In a wording, # is replaced by the
// time, ~ by the subject, and @ by one of verbs.
var questions = map[string][]string{
	"first task":    {"What did the user ask for first#~?", "Which wish did it all begin with#?"},
	"task":          {"What did the user ask for#~?", "Which wish was uttered#?"},
	"correction":    {"What did the user insist on#~?", "What has to be heeded#?"},
	"file":          {"Which file was @#?", "What was @ on disk#?", "Where was something altered#?"},
	"files":         {"Which files were @#?", "What was @ on disk#?", "Where was something altered#?"},
	"change":        {"What was changed in a file#~?", "What came of an edit#?"},
	"command":       {"Which command was run#?", "What was executed#?"},
	"failed":        {"Which command failed#?", "What was run in vain#?"},
	"figure":        {"Which figure was reported#~?", "How much was it#?"},
	"user decision": {"What did the user decide#~?", "What was settled#?"},
	"decision":      {"What was decided#~?", "What was settled#?"},
	"reason":        {"Why was it decided as it was#~?", "For which reason was it settled#?"},
	"error":         {"Which error was reported#~?", "What went wrong#?"},
	"resolution":    {"How was the error resolved#~?", "What mended it#?"},
	"answer":        {"How was the question answered#~?", "What came out#?"},
	"blocker":       {"What was left open#~?", "What keeps the work from going on#?"},
	"completed":     {"Which entry of the list of things to do was completed#~?", "What is done#?"},
	"in progress":   {"Which entry of the list of things to do is in progress#~?", "What is at hand#?"},
	"pending":       {"Which entry of the list of things to do is pending#~?", "What remains#?"},
	"plan":          {"What is the next step, as announced#~?", "What comes then#?"},
	"progress":      {"What was done or found#~?", "How far did it get#?"},
	"reference":     {"Which reference was used#?", "What was looked at#?"},
}

// verbs are the operations on a file that a question may name.
var verbs = map[string]bool{"changed": true, "created": true, "modified": true, "deleted": true, "moved": true}

// inQuestions has the words of all wordings. A keyword must not be one of them.
var inQuestions = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range words("in turn block about") {
		m[w] = true
	}
	for verb := range verbs {
		m[verb] = true
	}
	for _, list := range questions {
		for _, w := range words(strings.Join(list, " ")) {
			m[w] = true
		}
	}
	return m
}}
