package contract

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sensitive is a line of a contract that may contain a secret.
type sensitive struct {
	Line   int    // from 1
	Marker string // the found word, such as "password"
}

// A marker is a phrase that often stands near a secret. Hyphens and underscores in the line
// count as spaces.
type marker struct {
	text  string
	whole bool // whether it must not be part of a longer word
}

var markers = [...]marker{
	{"password", false},
	{"passphrase", false},
	{"passwd", false},
	{"secret", false},
	{"credential", false},
	{"api key", false},
	{"apikey", false},
	{"access key", false},
	{"access token", false},
	{"auth token", false},
	{"bearer", true},
	{"private key", false},
	{"ssh key", true},
	{"social security", true},
	{"ssn", true},
	{"credit card", false},
	{"card number", true},
	{"cvv", true},
}

// FindSensitive returns the lines of a contract that contain words like "password" or "api
// key". The elements have two fields: Line, the number of the line, from 1, and Marker, the
// first such word. It reads all lines, including comments, because people
// who get the contract see them all. It finds words about secrets, not secrets.
func FindSensitive(lines iter.Seq[string]) []sensitive {
	var found []sensitive
	n := 0
	for line := range lines {
		n++
		text := strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(line))
		for _, m := range markers {
			if m.in(text) {
				found = append(found, sensitive{Line: n, Marker: m.text})
				break
			}
		}
	}
	return found
}

// in reports whether the marker is in text, which is in lower case.
func (m marker) in(text string) bool {
	for at := strings.Index(text, m.text); at >= 0; {
		end := at + len(m.text)
		if !m.whole || !letterBefore(text[:at]) && !letterAfter(strings.TrimPrefix(text[end:], "s")) {
			return true
		}
		next := strings.Index(text[end:], m.text)
		if next < 0 {
			break
		}
		at = end + next
	}
	return false
}

func letterBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r)
}

func letterAfter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}
