package text

import "strings"

// FirstSentence returns the first sentence of a text, and the rest of the text. The text
// must be on one line, as [Fold] and [Line] return it.
func FirstSentence(line string) (first, rest string) {
	for i := range len(line) {
		if EndsSentence(line, i) {
			return line[:i+1], strings.TrimLeft(line[i+1:], " ")
		}
	}
	return line, ""
}

// EndsSentence reports whether the byte at offset i ends a sentence in a text of one line. It
// does if it is a full stop, a question mark or an exclamation mark, and stands at the end of
// the text or before a space that no lower-case letter follows. The full stop of an
// abbreviation does not end a sentence, nor does any mark within code between backquotes.
func EndsSentence(line string, i int) bool {
	c := line[i]
	if c != '.' && c != '!' && c != '?' {
		return false
	}
	if i+1 == len(line) {
		return true
	}
	if line[i+1] != ' ' || i+2 >= len(line) {
		return false
	}
	if next := line[i+2]; 'a' <= next && next <= 'z' {
		return false
	}
	word := line[strings.LastIndexAny(line[:i], " (")+1 : i]
	if c == '.' && (HasWord(abbreviations, strings.ToLower(word)) || len(word) == 1 && word[0] != 'I' || word == "") {
		return false
	}
	return strings.Count(line[:i], "`")%2 == 0 || i > mostCode
}

// abbreviations are English abbreviations within sentences, without their last full stop.
const abbreviations = "e.g i.e eg ie vs etc cf dr mr mrs ms no approx resp fig"

// mostCode is the largest offset at which [EndsSentence] takes the text after an
// unclosed backquote for code. Behind it, a punctuation mark ends a sentence, because
// code is rarely that long.
const mostCode = 400
