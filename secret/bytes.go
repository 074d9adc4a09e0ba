package secret

import (
	"math/bits"
	"strings"
)

// A class is a set of bytes.
type class [256]bool

func classOf(ranges ...string) *class {
	var c class
	for _, r := range ranges {
		if len(r) == 3 && r[1] == '-' {
			for b := int(r[0]); b <= int(r[2]); b++ {
				c[b] = true
			}
			continue
		}
		for i := range len(r) {
			c[r[i]] = true
		}
	}
	return &c
}

var (
	upperDigit = classOf("A-Z", "0-9")
	alnum      = classOf("A-Z", "a-z", "0-9")
	wordByte   = classOf("A-Z", "a-z", "0-9", "_")
	urlSafe    = classOf("A-Z", "a-z", "0-9", "_-")
	tokenByte  = classOf("A-Z", "a-z", "0-9", "_-.~+/=")
	base64Byte = classOf("A-Z", "a-z", "0-9", "+/=")
)

// run returns the offset at which a run of bytes of the class c ends that
// begins at i.
func (c *class) run(text string, i int) int {
	for i < len(text) && c[text[i]] {
		i++
	}
	return i
}

// opens reports whether a word can begin at the offset i: the byte before it is no part of a
// word, or is the end of an escape such as \n or %3D.
func opens(text string, i int) bool {
	return i == 0 || !wordByte[text[i-1]] ||
		i >= 2 && text[i-2] == '\\' ||
		i >= 3 && text[i-3] == '%'
}

// each calls the function f with the offset of each occurrence of literal in text. The
// function returns the offset from which to search on.
func each(text, literal string, f func(i int) (next int)) {
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], literal)
		if i < 0 {
			return
		}
		at = max(f(at+i), at+i+1)
	}
}

// entropy returns the information in a text in bits, rounded down. The probability of a byte is
// its frequency in the text, so for n bytes the result is n·log2(n) - Σ c·log2(c), where c is
// the count of each different byte.
func entropy(text string) int {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	sum := len(text) * log2(len(text))
	for _, c := range counts {
		sum -= c * log2(c)
	}
	return sum / logUnit // not below 0: no count is above the length
}

// logUnit is the number of units of log2 in 1.
const logUnit = 256

// log2 returns the logarithm of n to base 2 in units of 1/256, rounded down. log2(0) is 0.
func log2(n int) int {
	if n <= 1 {
		return 0
	}
	whole := bits.Len(uint(n)) - 1
	// x is n/2^whole, between 1 and 2, in units of 1/2^31. Each squaring yields one binary
	// digit of the logarithm.
	x := uint64(n) << (63 - whole) >> 32
	result := whole
	for range 8 {
		x = x * x >> 31
		result <<= 1
		if x >= 1<<32 {
			x >>= 1
			result |= 1
		}
	}
	return result
}

// varied reports whether the body of a credential has enough different bytes. A placeholder
// such as xxxxxxxx does not.
func varied(body string) bool {
	const least = 6
	var seen class
	n := 0
	for i := range len(body) {
		if !seen[body[i]] {
			seen[body[i]] = true
			n++
		}
	}
	return n >= least && !strings.Contains(strings.ToLower(body), "example")
}

// mixed reports whether a text has digits and letters.
func mixed(text string) bool {
	digit, letter := false, false
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digit = true
		case alnum[c]:
			letter = true
		}
		if digit && letter {
			return true
		}
	}
	return false
}
