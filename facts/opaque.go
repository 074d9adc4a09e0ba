package facts

import "strings"

// isHex reports whether a word looks like a hash or an object's id: 7 to 64
// hexadecimal digits, letters and decimals mixed. In capitals it needs 16 digits. A word
// of such letters with a number after it, such as facade2 or decade2024, is no hash.
func isHex(w string) bool {
	if len(w) < 7 || len(w) > 64 {
		return false
	}
	decimals, capitals := 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case '0' <= c && c <= '9':
			decimals++
		case 'A' <= c && c <= 'F':
			capitals++
		case c < 'a' || c > 'f':
			return false
		}
	}
	letters := len(w) - decimals
	if decimals == 0 || letters == 0 || capitals > 0 && (capitals < letters || len(w) < 16) {
		return false
	}
	return letters < 4 || len(w) > 12 || some(w[:letters], decimal)
}

// isUUID reports whether a word is 32 hexadecimal digits in groups of 8, 4, 4, 4
// and 12.
func isUUID(w string) bool {
	if len(w) != 36 || w[8] != '-' || w[13] != '-' || w[18] != '-' || w[23] != '-' {
		return false
	}
	return hexadecimal(w[:8]) && hexadecimal(w[9:13]) && hexadecimal(w[14:18]) && hexadecimal(w[19:23]) && hexadecimal(w[24:])
}

// isULID reports whether a word is 26 capitals and decimals of Crockford's
// alphabet, the first of them below 8.
func isULID(w string) bool {
	if len(w) != 26 || w[0] > '7' || w[0] < '0' {
		return false
	}
	capitals := 0
	for i := range len(w) {
		c := w[i]
		if classes[c]&(upperCase|decimal) == 0 || c == 'I' || c == 'L' || c == 'O' || c == 'U' {
			return false
		}
		if c >= 'A' {
			capitals++
		}
	}
	return capitals > 3
}

// isOpaque reports whether a word is a prefix of letters and, after the last separator,
// 8 or more letters and digits that look random, such as
// toolu_01T1x1fJ34qAmk2tNTrN7Up6, call-9f8e7d6c5b4a or i-0abc123def456.
func isOpaque(w string, separator byte) bool {
	at := strings.LastIndexByte(w, separator)
	if at < 1 || at > 16 || len(w)-at <= 8 {
		return false
	}
	return consists(w[:at], letters|underscore) && random(w[at+1:])
}

// random reports whether a word of letters and digits looks random: it changes between
// letters and digits three times or more, or between small letters, capitals and digits
// at two of five characters or more.
func random(w string) bool {
	steps, changes := 0, 0
	decimals, last := false, classes[w[0]]
	for i := range len(w) {
		c := classes[w[i]]
		if c&(letters|decimal) == 0 {
			return false
		}
		decimals = decimals || c == decimal
		if c != last {
			changes++
			if (c|last)&decimal != 0 {
				steps++
			}
		}
		last = c
	}
	return decimals && (steps >= 3 || 5*changes >= 2*len(w))
}
