package handoff

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// blank lists the white space that does not count as text: a text that consists
// of it is empty. The JSON schema of packets has the same list.
const blank = " \t\r\n"

// Validate returns a [*transcript.SyntaxError] that names the field of the first
// invalid text of the packet, or nil.
func (p *Packet) Validate() error {
	for at := range p.places() {
		if text, hint := at.field.problem(*at.text); text != "" {
			return &transcript.SyntaxError{Field: at.path, Text: text, Hint: hint}
		}
	}
	return nil
}

// shownText is the largest length of a text that an error quotes, in bytes.
const shownText = 60

// problem returns what is wrong with text s for field f, and a hint. It returns
// empty strings for a valid text.
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
