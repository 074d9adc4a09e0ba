package facts

// A class is a set of bits for kinds of bytes. A byte has at most one bit, so the bits of
// all bytes of a text can be combined with or.
type class uint16

// The classes. upperCase is lowerCase<<1, so that classes[a]<<1&classes[b] is upperCase
// if a is a small letter and b is a capital.
const (
	lowerCase class = 1 << iota
	upperCase
	decimal
	underscore
	dot
	slash
	dash
	at
	colon
	sign     // one of ~ + % # ? = &, which occur in URLs and figures
	escaping // a backslash or the escape character

	letters    = lowerCase | upperCase
	wordBytes  = letters | decimal | underscore
	pathBytes  = wordBytes | dot | slash | dash | at
	chunkBytes = pathBytes | colon | sign
)

// classes has the class of every byte.
var classes = func() (table [256]class) {
	for c := 'a'; c <= 'z'; c++ {
		table[c] = lowerCase
		table[c-'a'+'A'] = upperCase
	}
	for c := '0'; c <= '9'; c++ {
		table[c] = decimal
	}
	table['_'], table['.'], table['/'], table['-'], table['@'], table[':'] = underscore, dot, slash, dash, at, colon
	for _, c := range "~+%#?=&" {
		table[c] = sign
	}
	table['\\'], table[0x1b] = escaping, escaping
	return table
}()

// is reports whether s has a byte at i and the byte is of one of the classes c.
func is(s string, i int, c class) bool { return uint(i) < uint(len(s)) && classes[s[i]]&c != 0 }

// stands reports whether s has the byte c at i.
func stands(s string, i int, c byte) bool { return uint(i) < uint(len(s)) && s[i] == c }

// consists reports whether all bytes of s are of the classes c.
func consists(s string, c class) bool {
	for i := range len(s) {
		if classes[s[i]]&c == 0 {
			return false
		}
	}
	return true
}

// some reports whether a byte of s is of the classes c.
func some(s string, c class) bool {
	for i := range len(s) {
		if classes[s[i]]&c != 0 {
			return true
		}
	}
	return false
}

// run returns the length of the run of bytes of the classes c at i.
func run(s string, i int, c class) int {
	n := 0
	for i+n < len(s) && classes[s[i+n]]&c != 0 {
		n++
	}
	return n
}

// gather returns the end of the run of bytes of the classes c at i, and the classes of the bytes in
// the run. The run ends at the offset in to at the latest.
func gather(s string, i, to int, c class) (end int, seen class) {
	for ; i < to && classes[s[i]]&c != 0; i++ {
		seen |= classes[s[i]]
	}
	return i, seen
}

// escaped returns the length in bytes of the escape that begins with the backslash or the
// escape character at i: \n and other single characters, a character by its number such
// as \u001b, or a sequence that sets a terminal color. It returns 1 for any other.
func escaped(s string, i int) int {
	if s[i] == 0x1b {
		return 1 + control(s, i+1)
	}
	if i+1 == len(s) {
		return 1
	}
	n := 0
	switch s[i+1] {
	case 'n', 't', 'r', '\\':
		return 2
	case 'u':
		n = 6 // \u001b
	case 'x', '0':
		n = 4 // \x1b and \033
	}
	if n == 0 || i+n > len(s) || !hexadecimal(s[i+2:i+n]) {
		return 1
	}
	return n + control(s, i+n)
}

// control returns the length of the rest of a terminal control sequence at i, such as
// [31m, or 0.
func control(s string, i int) int {
	if i == len(s) || s[i] != '[' {
		return 0
	}
	for n := 1; n < 16 && i+n < len(s); n++ {
		if c := s[i+n]; '@' <= c && c <= '~' {
			return n + 1
		} else if c != ';' && c != '?' && !is(s, i+n, decimal) {
			break
		}
	}
	return 0
}

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'f') && classes[s[i]] != decimal {
			return false
		}
	}
	return true
}

func hasLetter(s string) bool { return some(s, letters) }
