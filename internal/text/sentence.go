package text

import "strings"

// FirstSentence parts a text in one line, as [Fold] and [Line] make it, behind its first
// sentence.
func FirstSentence(line string) (first, rest string) {
	for i := range len(line) {
		if EndsSentence(line, i) && i+2 < len(line) {
			return line[:i+1], strings.TrimLeft(line[i+1:], " ")
		}
	}
	return line, ""
}

// EndsSentence reports whether a sentence of a text in one line ends with the byte at i: a
// full stop, a question mark or an exclamation mark at the end, or before a space and what
// does not begin with a small letter. The stop of an abbreviation ends none, and no mark
// within code, which stands between backquotes.
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

// abbreviations are those of English that stand within sentences, without their last stop.
const abbreviations = "e.g i.e eg ie vs etc cf dr mr mrs ms no approx resp fig"

// mostCode is up to which byte of a line a backquote that is not closed counts.
const mostCode = 400
