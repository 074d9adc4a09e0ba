package contract

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/limn"
)

// Clean makes a text fit for quotation marks: double quotes become single
// ones, line breaks and control characters spaces, and invalid UTF-8 the
// replacement character; spaces at the ends are removed. The result may be
// empty, or "none", which a list cannot hold.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case breaksLine(r), unicode.IsControl(r):
			return ' '
		}
		return r // which is the replacement character for what is no UTF-8
	}, text)
	return strings.TrimSpace(text)
}

// slug makes a name of a text: in lower case, with one hyphen in place of all
// characters in a row that are neither letters nor digits. It is empty if there
// are none of those.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd)
	})
	return strings.Join(words, "-")
}

// sourceName makes a name of a text that a source or claim can have: its [slug],
// behind "source-" if it is a word that the language or a contract has a meaning
// for, a number, or a date. Two texts may have the same name. If nothing is left
// of a text the error is a [*TextError].
func sourceName(text string) (string, error) {
	name := slug(text)
	if name == "" {
		return "", &TextError{What: "name", Text: text, Reason: "has no letter and no digit"}
	}
	if taken(name) || strings.Trim(name, "0123456789-") == "" {
		return "source-" + name, nil
	}
	return name, nil
}

// taken reports whether a word means something to the language, to its session
// pack, or to contracts.
func taken(word string) bool {
	switch word {
	case "source", "claim", "decision", "cite", "verify", "measure", "fit", // words of the session pack
		"combine", "today", "comparison", "disclose", "summarize":
		return true
	}
	return limn.Reserved(word) || ours(word)
}
