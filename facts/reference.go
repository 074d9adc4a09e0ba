package facts

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// references adds the words of a sentence that an agent may have to repeat exactly, each
// once in the session: URLs, commits, numbers of pull requests and issues, versions,
// ports, ids, dates and figures with a unit.
func (x *extractor) references(i int, role transcript.Role, said string) {
	if strings.HasPrefix(said, "[") { // a line of a log
		return
	}
	told := strings.Count(said, " ") > 2 // a bare figure needs words around it
	prev := ""
	rest := said
	for rest != "" {
		var w string
		w, rest, _ = strings.Cut(rest, " ")
		next, _, _ := strings.Cut(rest, " ")
		w = strings.TrimRight(strings.Trim(w, "`'\"()[]{}<>,;:!?*_“”’"), ".:")
		if name := reference(prev, w, strings.TrimRight(next, ".,;:)!?*`")); name != "" && (told || hasLetter(name)) && x.isNewReference(name) {
			x.add(Fact{Kind: FactReference, Role: role, Block: i, Subject: name, Text: excerpt(said, name)})
		}
		prev = w
	}
}

// argumentReferences adds the references among the arguments of a call.
func (x *extractor) argumentReferences(i int, in gjson.Result) {
	eachValue("", in, func(key, w string) {
		if len(w) <= 80 && !strings.Contains(w, " ") && reference(key, w, "") != "" && x.isNewReference(w) {
			x.add(Fact{Kind: FactReference, Role: transcript.RoleAssistant, Block: i, Subject: w, Text: strings.TrimSpace(key + " " + w)})
		}
	})
}

// isNewReference reports whether a reference is new, and records it.
func (x *extractor) isNewReference(name string) bool {
	key := "ref\x00" + name
	if x.said[key] {
		return false
	}
	x.said[key] = true
	return true
}

// reference returns the word w if an agent may have to repeat it exactly, with its unit if
// that is the next word, or an empty string. prev and next are the words beside w.
func reference(prev, w, next string) string {
	if len(w) < 2 || len(w) > 200 {
		return ""
	}
	if strings.Contains(w, "://") && len(w) >= 12 && !strings.ContainsAny(w, "`(){}|") {
		return w
	}
	if at := strings.IndexByte(w, '@'); at > 0 && strings.Contains(w[at:], ".") && !strings.ContainsAny(w, "/`()") {
		return w
	}
	if !some(w, decimal) || len(w) > 80 || strings.ContainsAny(w, "/`(){}=|\\<>…") {
		return ""
	}
	switch sign := w[0] == '#' || isMoney(w) || strings.HasSuffix(w, "%"); {
	case !sign && len(w) <= 12 && strings.Trim(w, "0123456789.,~+-−") == "":
		return numbered(prev, w, next)
	case isExact(w):
		return w
	}
	return ""
}

// isMoney reports whether a word begins with the sign of a currency.
func isMoney(w string) bool {
	return w[0] == '$' || strings.HasPrefix(w, "€") || strings.HasPrefix(w, "-$")
}

// isExact reports whether a word with a digit must be repeated exactly: a number with #, a
// sum of money, a percentage, a version, a quantity, an address, a hash or an id.
func isExact(w string) bool {
	of := func(bytes string) bool { return strings.Trim(w, bytes) == "" }
	switch digits := text.Digits(w); {
	case w[0] == '#':
		return text.Digits(w[1:]) == len(w)-1
	case isMoney(w):
		return of("$€-0123456789.,kKmM")
	case strings.HasSuffix(w, "%"):
		return of("0123456789.,%~+-−–")
	default:
		return w[0] == 'v' && isVersion(w[1:]) || isUnit(w[digits:]) || isShortUnit(w[digits:]) || strings.HasPrefix(w, "localhost:") || isHash(w) || isID(w)
	}
}

// numbered returns the number w if an agent may have to repeat it exactly: a version, a
// date, a number with its unit, which it appends, or a number after a word such as issue
// or port. Otherwise it returns an empty string.
func numbered(prev, w, next string) string {
	prev = strings.ToLower(prev)
	switch {
	case isVersion(w), prev == "pr", prev == "issue", prev == "mr", strings.HasSuffix(prev, "port"), strings.HasSuffix(prev, "amount"), strings.HasSuffix(prev, "_id"):
		return w
	case isUnit(next) || len(next) > 1 && isShortUnit(next):
		return w + " " + next
	case len(w) == 10 && w[4] == '-' && w[7] == '-':
		return w
	}
	return ""
}

// isVersion reports whether a text of digits and dots has two dots or more.
func isVersion(w string) bool {
	return strings.Count(w, ".") >= 2 && strings.Trim(w, "0123456789.") == "" && !strings.Contains(w, "..") && w[0] != '.'
}

// isID reports whether a word looks like an id: capitals with digits, or words joined by
// _ or - with three digits or more.
func isID(w string) bool {
	upper, lower, digits := 0, 0, 0
	for i := range len(w) {
		switch c := classes[w[i]]; {
		case c == upperCase:
			upper++
		case c == lowerCase:
			lower++
		case c == decimal:
			digits++
		case c&(underscore|dash) == 0:
			return false
		}
	}
	if joined := len(w) - upper - lower - digits; joined > 0 {
		return digits >= 3 && len(w)-digits > 1
	}
	return lower == 0 && upper > 0 && len(w) >= 5 && len(w) <= 14
}

// excerpt returns the part of a sentence around the word name, of bounded length.
func excerpt(said, name string) string {
	at := strings.Index(said, name)
	if at < 0 || len(said) <= lineRunes {
		return text.Line(said, lineRunes)
	}
	from := 0
	if at+len(name) > lineRunes/2 {
		from = max(at-lineRunes/3, 0)
		if sp := strings.IndexByte(said[from:], ' '); sp >= 0 && from+sp < at {
			from += sp + 1
		} else {
			from = at
		}
	}
	s := text.Line(said[from:], shortRunes+len(name))
	if from > 0 {
		s = text.Ellipsis + s
	}
	return s
}
