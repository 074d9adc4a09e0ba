package facts

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// references takes the words of a sentence that may have to be repeated
// exactly, each once in the session: URLs, commits, numbers of requests and
// issues, versions, ports, ids, dates and figures with a unit.
func (x *extractor) references(i int, role transcript.Role, said string) {
	if strings.HasPrefix(said, "[") { // a line of a log
		return
	}
	told := strings.Count(said, " ") > 2 // words around a figure, without which it says nothing
	prev := ""
	rest := said
	for rest != "" {
		var w string
		w, rest, _ = strings.Cut(rest, " ")
		next, _, _ := strings.Cut(rest, " ")
		w = strings.TrimRight(strings.Trim(w, "`'\"()[]{}<>,;:!?*_“”’"), ".:")
		if name := reference(prev, w, strings.TrimRight(next, ".,;:)!?*`")); name != "" && (told || hasLetter(name)) && x.fresh(name) {
			x.add(Fact{Kind: FactReference, Role: role, Block: i, Subject: name, Text: around(said, name)})
		}
		prev = w
	}
}

// used takes the references among the arguments of a call.
func (x *extractor) used(i int, in gjson.Result) {
	eachValue("", in, func(key, w string) {
		if len(w) <= 80 && !strings.Contains(w, " ") && reference(key, w, "") != "" && x.fresh(w) {
			x.add(Fact{Kind: FactReference, Role: transcript.RoleAssistant, Block: i, Subject: w, Text: strings.TrimSpace(key + " " + w)})
		}
	})
}

// fresh reports whether a reference was not there before.
func (x *extractor) fresh(name string) bool {
	key := "ref\x00" + name
	if x.said[key] {
		return false
	}
	x.said[key] = true
	return true
}

// reference returns what of a word, with those before and behind it, may have
// to be repeated exactly, or an empty string.
func reference(prev, w, next string) string {
	if len(w) < 2 || len(w) > 200 {
		return ""
	}
	if strings.Contains(w, "://") && len(w) >= 12 && !strings.ContainsAny(w, "`(){}|") {
		return w
	}
	if at := strings.IndexByte(w, '@'); at > 0 && strings.IndexByte(w[at:], '.') > 0 && !strings.ContainsAny(w, "/`()") {
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

// isMoney reports whether a word begins as a sum of money does.
func isMoney(w string) bool {
	return w[0] == '$' || strings.HasPrefix(w, "€") || strings.HasPrefix(w, "-$")
}

// isExact reports whether a word with a digit means nothing if it is changed: a number of
// something, a sum, a share, a version, a quantity, an address, a hash, an id.
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
		return w[0] == 'v' && isVersion(w[1:]) || digits > 0 && (isUnit(w[digits:]) || isShortUnit(w[digits:])) ||
			strings.HasPrefix(w, "localhost:") || isHash(w) || isID(w)
	}
}

// numbered returns what of a number may have to be repeated exactly: a version, a date,
// one with its unit, or one behind a word that says what it is the number of.
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

// isID reports whether a word is made like an id: letters in upper case with digits, or
// words joined by _ or - with three digits or more.
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

// around returns the part of a sentence that has a word, of bounded length.
func around(said, name string) string {
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
