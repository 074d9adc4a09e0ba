package pager

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// corrects reports whether a person corrects the assistant in a block or gives
// an order that stands from then on. It searches for English words at the
// beginning of a message. In doubt it reports true, which keeps the block.
func corrects(msgs []transcript.Message, b *transcript.Block) bool {
	for _, i := range b.Messages {
		m := &msgs[i]
		// A message with a tool's result may also have words that a person wrote while the tool ran.
		if m.Role != transcript.RoleUser && m.Role != transcript.RoleTool || m.Summary {
			continue
		}
		if text := m.Text(); text != "" && Correction(text) {
			return true
		}
	}
	return false
}

// Correction reports whether a user's message corrects what was done, or sets a
// condition or a standing order: it begins with a word of refusal, or has a phrase
// of correction or of a condition within its first 600 bytes.
func Correction(s string) bool {
	s = strings.TrimSpace(s)
	if transcript.Machine(s) {
		return false
	}
	s = strings.ToLower(s[:min(len(s), correctionReach)])
	s = strings.ReplaceAll(s, "’", "'")
	for _, head := range correctionHeads {
		if rest, ok := strings.CutPrefix(s, head); ok && (rest == "" || !text.InTerm(rest[0])) {
			return true
		}
	}
	for _, phrase := range correctionPhrases {
		if i := strings.Index(s, phrase); i >= 0 && (i == 0 || !text.InTerm(s[i-1])) {
			return true
		}
	}
	return false
}

// correctionReach is the number of bytes at the beginning of a message that
// [Correction] searches. The rest is often a pasted document, whose sentences are
// not corrections.
const correctionReach = 600

var correctionHeads = []string{
	"no", "nope", "wrong", "stop", "wait", "actually", "undo", "revert", "incorrect", "not quite", "hmm, no", "that's wrong",
}

var correctionPhrases = []string{
	"don't ", "do not ", "must not", "should not", "shouldn't", "never ", "instead of", "rather than", "not what i",
	"i mean not", "i meant", "i said", "i asked you", "i told you", "you forgot", "you missed", "from now on", "in the future",
	"that's not", "that is not", "this is wrong", "is incorrect", "always ", "why did you",
	"has to be ", "have to be ", "as long as ", "only if ", "unless ", "no later than", "make sure", "correction", "redo ", "do it again", "forget the ", "forget about",
}
