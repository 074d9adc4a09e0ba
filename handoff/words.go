package handoff

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// unknown begins a text that says what is not known.
const unknown = "Unknown: "

var (
	unknownText = lazy.Regexp(`(?i)^\s*unknown\s*([:.,;]|$)`)

	// assumed are bases that are none.
	assumed = lazy.Regexp(`(?i)^\s*(unknown|none|not stated|n/a|assum\w*|guess\w*|inferred|inference|presum\w*|probabl\w*|likely|perhaps|maybe)\b`)

	// unread are words of a source that was not read.
	unread = lazy.Regexp(`(?i)^\s*(unknown\b|none\.?\s*$|nothing\s*([:.,;]|$|yet\b)|unread\b|not (yet )?(read|opened|inspected|verified|checked|fetched|seen)\b|never (read|opened|inspected|verified|checked|fetched|seen)\b|only (linked|mentioned|referenced)\b|(linked|mentioned|referenced)( only\b| by\b| in\b| from\b| but\b|\s*[.,;]|\s*$))`)

	// doubt are words of somebody who does not know.
	doubt = lazy.Regexp(`(?i)\b(unknown|unverified|unconfirmed|uncertain|unsure|unclear|not (sure|certain|known|verified|confirmed))\b`)

	// question is a sentence that asks.
	question = lazy.Regexp(`[^.!?\n]*[^.!?\s][^.!?\n]*\?(?:["')\]]*(?:\s|$))`)
)

func isUnknown(s string) bool { return unknownText.Get().MatchString(s) }

// asks reports whether a text ends as a question does.
func asks(s string) bool { return strings.HasSuffix(key(s), "?") }

// questions returns the sentences of a text that ask something.
func questions(s string) []string {
	found := question.Get().FindAllString(s, -1)
	for i := range found {
		found[i] = strings.TrimSpace(found[i])
	}
	return found
}

// reasoning are the ways in which a text holds the hidden reasoning of a
// model: between tags, behind a tag at its beginning, and below a title.
var reasoning = []*lazy.Pattern{
	lazy.Regexp(`(?is)<(?:think|thinking|reasoning|scratchpad)>.*?</(?:think|thinking|reasoning|scratchpad)>`),
	lazy.Regexp(`(?is)^[\s\p{Z}]*<(?:think|thinking|reasoning|scratchpad)>.*`),
	lazy.Regexp(`(?ism)^[ \t]*(?:chain[- ]of[- ]thought|(?:hidden|internal|private) reasoning)[ \t]*:.*`),
}

// omitted stands where reasoning was.
const omitted = "[reasoning left out]"

func hasReasoning(s string) bool {
	for _, re := range reasoning {
		if re.Get().MatchString(s) {
			return true
		}
	}
	return false
}

// clean returns a text as a packet may have it: valid UTF-8, without reasoning
// and without white space around it. It returns nothing for white space of any
// kind.
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

// plain returns a text without what does not count when texts are compared:
// case and the kind of white space.
func plain(s string) string {
	return text.Fold(strings.ToLower(clean(s)))
}

// key is what texts are compared by: folded, without closing punctuation.
func key(s string) string {
	folded := plain(s)
	if k := strings.TrimRight(folded, " .;:,!"); k != "" {
		return k
	}
	return folded
}

// names reports whether a text has a name in it as a word of its own. Both are
// folded.
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
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// A set has keys of texts.
type set map[string]bool

func (s set) has(text string) bool { return s[key(text)] }

// add adds a text and reports whether it is new and says something.
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

// What entries are told apart by.
func itself(s string) string           { return s }
func ofSource(s Source) string         { return s.Source }
func ofClaim(c Claim) string           { return c.Text }
func ofDecision(d Decision) string     { return d.Text }
func ofQuestion(q Question) string     { return q.Question }
func ofCorrection(c Correction) string { return c.Correction }
