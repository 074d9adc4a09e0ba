package handoff

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// unknown is the prefix of a text that says which fact is missing.
const unknown = "Unknown: "

var (
	unknownText = lazy.Regexp(`(?i)^\s*unknown\s*([:.,;]|$)`)

	// assumed matches a basis that is only an assumption.
	assumed = lazy.Regexp(`(?i)^\s*(unknown|none|not stated|n/a|assum\w*|guess\w*|inferred|inference|presum\w*|probabl\w*|likely|perhaps|maybe)\b`)

	// unread matches the text of a source that was not read.
	unread = lazy.Regexp(`(?i)^\s*(unknown\b|none\.?\s*$|nothing\s*([:.,;]|$|yet\b)|unread\b|not (yet )?(read|opened|inspected|verified|checked|fetched|seen)\b|never (read|opened|inspected|verified|checked|fetched|seen)\b|only (linked|mentioned|referenced)\b|(linked|mentioned|referenced)( only\b| by\b| in\b| from\b| but\b|\s*[.,;]|\s*$))`)

	// doubt matches words of doubt in the notes.
	doubt = lazy.Regexp(`(?i)\b(unknown|unverified|unconfirmed|uncertain|unsure|unclear|not (sure|certain|known|verified|confirmed))\b`)

	// question matches a sentence that ends with a question mark.
	question = lazy.Regexp(`[^.!?\n]*[^.!?\s][^.!?\n]*\?(?:["')\]]*(?:\s|$))`)
)

func isUnknown(s string) bool { return unknownText.Get().MatchString(s) }

// asks reports whether a text ends with a question mark.
func asks(s string) bool { return strings.HasSuffix(key(s), "?") }

// questions returns the sentences of a text that ask something.
func questions(s string) []string {
	found := question.Get().FindAllString(s, -1)
	for i := range found {
		found[i] = strings.TrimSpace(found[i])
	}
	return found
}

// reasoning matches the hidden reasoning of a model in a text: between two tags,
// after a tag at the beginning of the text, and after a title such as
// "Chain of thought:".
var reasoning = []*lazy.Pattern{
	lazy.Regexp(`(?is)<(?:think|thinking|reasoning|scratchpad)>.*?</(?:think|thinking|reasoning|scratchpad)>`),
	lazy.Regexp(`(?is)^[\s\p{Z}]*<(?:think|thinking|reasoning|scratchpad)>.*`),
	lazy.Regexp(`(?ism)^[ \t]*(?:chain[- ]of[- ]thought|(?:hidden|internal|private) reasoning)[ \t]*:.*`),
}

// omitted replaces hidden reasoning.
const omitted = "[reasoning left out]"

func hasReasoning(s string) bool {
	for _, re := range reasoning {
		if re.Get().MatchString(s) {
			return true
		}
	}
	return false
}

// clean returns the form of a text that a packet may have: valid UTF-8, without
// hidden reasoning and without white space around it. It returns "" for a text of
// only white space of any kind.
func clean(s string) string {
	s = strings.Trim(strings.ToValidUTF8(s, "\ufffd"), blank)
	if strings.TrimSpace(s) == "" {
		return ""
	}
	for _, re := range reasoning {
		s = re.Get().ReplaceAllString(s, omitted)
	}
	return s
}

// plain returns a cleaned text in lower case and with white space folded, for
// comparisons.
func plain(s string) string {
	return text.Fold(strings.ToLower(clean(s)))
}

// key returns the key by which texts are compared: as [plain] returns it, without
// closing punctuation.
func key(s string) string {
	folded := plain(s)
	if k := strings.TrimRight(folded, " .;:,!"); k != "" {
		return k
	}
	return folded
}

// names reports whether text contains name as a whole word. Both must be folded by
// [plain] or [key].
func names(text, name string) bool {
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		from = at + n
	}
	return false
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}

// A set contains texts by their [key].
type set map[string]bool

func (s set) has(text string) bool { return s[key(text)] }

// add adds a text and reports whether the text is new and not empty.
func (s set) add(text string) bool {
	k := key(text)
	if k == "" || s[k] {
		return false
	}
	s[k] = true
	return true
}

// setOf returns the set of the texts of entries.
func setOf[T any](entries []T, text func(T) string) set {
	s := make(set, len(entries))
	for _, e := range entries {
		s.add(text(e))
	}
	return s
}

// Functions for [setOf] and [texts] that return the text that identifies an entry.
func ofText(s string) string           { return s }
func ofSource(s Source) string         { return s.Source }
func ofClaim(c Claim) string           { return c.Text }
func ofDecision(d Decision) string     { return d.Text }
func ofQuestion(q Question) string     { return q.Question }
func ofCorrection(c Correction) string { return c.Correction }
