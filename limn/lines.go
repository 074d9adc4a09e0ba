package limn

import "iter"

// Lines splits a text at the language's line ends and yields each line with
// its number from 1. A line ends at a line feed, a carriage return, or both
// in a row; at VT, FF, FS, GS and RS; and at NEL, U+2028 and U+2029. A line
// end at the end of the text begins no further line.
func Lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		rest := text
		for n := 1; rest != ""; n++ {
			var line string
			line, rest = cutLine(rest)
			if !yield(n, line) {
				return
			}
		}
	}
}

// cutLine returns the first line of a text, without its line break, and the text after it.
func cutLine(text string) (line, rest string) {
	for i := range len(text) {
		if c := text[i]; c >= 0x20 && c < 0x80 {
			continue
		}
		if n := lineBreak(text[i:]); n > 0 {
			return text[:i], text[i+n:]
		}
	}
	return text, ""
}

// lineBreak returns the length in bytes of the line break at the start of text, or 0.
func lineBreak(text string) int {
	switch text[0] {
	case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e:
		return 1
	case '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if len(text) > 1 && text[1] == 0x85 {
			return 2
		}
	case 0xe2:
		if len(text) > 2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9) {
			return 3
		}
	}
	return 0
}
