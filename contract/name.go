package contract

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/limn"
)

// Clean makes a text fit for quotation marks. Double quotes become single quotes, line breaks
// and control characters become spaces, and invalid UTF-8 becomes the replacement character;
// spaces at the ends are removed. The result may be empty, or "none", and a list cannot hold
// these two.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case breaksLine(r), unicode.IsControl(r):
			return ' '
		}
		return r // for invalid UTF-8 this is the replacement character
	}, text)
	return strings.TrimSpace(text)
}

// slug makes a name of a text: in lower case, with one hyphen in place of each run of
// characters that are neither letters nor digits. A text without letters and digits gives "".
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd)
	})
	return strings.Join(words, "-")
}

// sourceName returns the name of a source or claim for a text: its [slug], with the prefix
// "source-" if the slug is a number, a date, or a word with a meaning in the language or in
// contracts. Two texts may have the same name. For a text without letters and digits, the error
// is a [*TextError].
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

// taken reports whether a word has a meaning in the language, in its session pack, or in
// contracts.
func taken(word string) bool {
	switch word {
	case "source", "claim", "decision", "cite", "verify", "measure", "fit", // words of the session pack
		"combine", "today", "comparison", "disclose", "summarize",
		"retained-count", "paged-count", "evicted-count": // numbers of the guards
		return true
	}
	return limn.Reserved(word) || ours(word)
}
