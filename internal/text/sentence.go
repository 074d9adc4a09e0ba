package text

import "strings"

// FirstSentence splits a text of one line, as [Fold] and [Line] return it, behind its first
// sentence.
func FirstSentence(line string) (first, rest string) {
	for i := range len(line) {
		if EndsSentence(line, i) && i+2 < len(line) {
			return line[:i+1], strings.TrimLeft(line[i+1:], " ")
		}
	}
	return line, ""
}

// EndsSentence reports whether the byte at i ends a sentence in a text of one line: it is a
// full stop, a question mark or an exclamation mark, and stands at the end or before a space
// that is not followed by a lower-case letter. The full stop of an abbreviation does not end a
// sentence, nor does any mark within code between backquotes.
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

// mostCode is the offset in a line after which a mark can end a sentence even behind a
// backquote without a closing one: code is rarely that long.
const mostCode = 400
