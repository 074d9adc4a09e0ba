package handoff

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// blank is the white space that says nothing. The schema has the same.
const blank = " \t\r\n"

// Validate returns a [*transcript.SyntaxError] with the field for the first
// text of a packet that is not valid.
func (p *Packet) Validate() error {
	for at := range p.places() {
		if text, hint := at.field.problem(*at.text); text != "" {
			return &transcript.SyntaxError{Field: at.path, Text: text, Hint: hint}
		}
	}
	return nil
}

// shownText is how many bytes of a text an error tells.
const shownText = 60

// problem returns what is wrong with a text and what to do, or nothing.
func (f *field) problem(s string) (what, hint string) {
	switch {
	case !utf8.ValidString(s):
		return "is not valid UTF-8", "save the text as UTF-8"
	case strings.Trim(s, blank) == "" && f.optional:
		return "says nothing", "leave it out"
	case f.words != nil && !slices.Contains(f.words, s):
		return fmt.Sprintf("is %q", text.Clip(s, shownText)), "write " + oneOf(f.words)
	case strings.Trim(s, blank) == "":
		return "says nothing", `write "Unknown: " and what is not known`
	}
	return "", ""
}

// oneOf lists words, as in "a, b or c".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
