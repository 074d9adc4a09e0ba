package contract

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A statement is one of the four forms, or nothing to us.
type statement struct {
	verb   string // "declare", "add", "remove", "mark", or empty if it is nothing to us
	bucket Bucket
	block  string
	at     time.Time
	column int // of the list's name, or of the verb
}

// parse reads one line.
func parse(line string) (statement, *SyntaxError) {
	if st, ok := parseMove(line); ok {
		return st, nil
	}
	if i := strings.IndexFunc(line, breaksLine); i >= 0 {
		return statement{}, fault(i+1, "", "there is a line break in the line")
	}
	text := strings.TrimLeftFunc(line, isSpace)
	if text == "" || strings.HasPrefix(text, "--") {
		return statement{}, nil
	}
	words, err := lex(line)
	if err != nil {
		return statement{}, err
	}
	st, err := match(words)
	switch {
	case err != nil:
		return statement{}, err
	case st.verb != "" && len(text) < len(line):
		return statement{}, fault(st.column, "let it begin the line", "a statement about our lists is indented, so that it may belong to a handler")
	case st.verb == "":
		return st, foreign(words)
	}
	return st, nil
}

// parseMove reads an add or remove in exactly the form that we write. Nearly
// all lines of a contract are such.
func parseMove(line string) (statement, bool) {
	st := statement{verb: "add"}
	rest, ok := strings.CutPrefix(line, `add "`)
	preposition := ` to `
	if !ok {
		if rest, ok = strings.CutPrefix(line, `remove "`); !ok {
			return statement{}, false
		}
		st.verb, preposition = "remove", ` from `
	}
	end := strings.IndexByte(rest, '"')
	if end < 0 || CheckID(rest[:end]) != nil {
		return statement{}, false
	}
	st.block = rest[:end]
	list, ok := strings.CutPrefix(rest[end+1:], preposition)
	st.bucket, st.column = Bucket(list), len(line)-len(list)+1
	return st, ok && st.bucket.index() >= 0
}

// A word is a token of the language.
type word struct {
	text   string // in lower case, unless quoted
	quoted bool
	column int
}

// lex cuts a line into words.
func lex(line string) ([]word, *SyntaxError) {
	var words []word
	for i := 0; i < len(line); {
		r, size := utf8Rune(line[i:])
		switch {
		case isSpace(r):
			i += size
		case r == ':':
			words = append(words, word{text: ":", column: i + 1})
			i++
		case r == '"':
			end := strings.IndexByte(line[i+1:], '"')
			if end < 0 {
				return nil, fault(i+1, "the end of the line may be lost: mend or remove it", "a quotation mark is not closed")
			}
			words = append(words, word{text: line[i+1 : i+1+end], quoted: true, column: i + 1})
			i += end + 2
		default:
			end := strings.IndexFunc(line[i:], func(r rune) bool { return isSpace(r) || r == ':' || r == '"' })
			if end < 0 {
				end = len(line) - i
			}
			if text := strings.Trim(strings.ToLower(line[i:i+end]), ",.?!"); text != "" {
				words = append(words, word{text: text, column: i + 1})
			}
			i += end
		}
	}
	return words, nil
}

// isSpace reports whether the language separates words at r.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0x1f }

// printable reports whether s is plain ASCII without control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// utf8Rune returns the first character of a text that is not empty.
func utf8Rune(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

// match returns the statement that words are, if they are one of the forms.
// Articles may be missing or added.
func match(words []word) (statement, *SyntaxError) {
	w := slices.DeleteFunc(slices.Clone(words), func(w word) bool {
		return !w.quoted && (w.text == "a" || w.text == "an" || w.text == "the")
	})
	switch {
	case like(w, "remember", "list", "called", "LIST"):
		return statement{verb: "declare", bucket: Bucket(w[3].text), column: w[3].column}, nil
	case like(w, "remember", "string", "called", Marker, "with", "QUOTED"):
		at, err := time.Parse(timeLayout, w[5].text)
		if err != nil {
			return statement{}, fault(w[5].column, `write it as "2026-05-17T03:08:12+00:00"`, "%q is no time of a pass", w[5].text)
		}
		return statement{verb: "mark", at: at, column: w[0].column}, nil
	case like(w, "add", "QUOTED", "to", "LIST"), like(w, "remove", "QUOTED", "from", "LIST"):
		if err := CheckID(w[1].text); err != nil {
			return statement{}, fault(w[1].column, "", "%v", err)
		}
		return statement{verb: w[0].text, block: w[1].text, bucket: Bucket(w[3].text), column: w[3].column}, nil
	}
	return statement{}, nil
}

// like reports whether words are those of a pattern, in which QUOTED stands
// for any quoted text and LIST for any of our lists.
func like(words []word, pattern ...string) bool {
	if len(words) != len(pattern) {
		return false
	}
	for i, w := range words {
		switch pattern[i] {
		case "QUOTED":
			if !w.quoted {
				return false
			}
		case "LIST":
			if w.quoted || Bucket(w.text).index() < 0 {
				return false
			}
		default:
			if w.quoted || w.text != pattern[i] {
				return false
			}
		}
	}
	return true
}

// foreign returns an error if a statement of somebody else's names a list or
// the marker where it would be changed, rather than read.
func foreign(words []word) *SyntaxError {
	verb, before := "", ""
	for _, w := range words {
		if w.quoted {
			before = ""
			continue
		}
		if changes(verb, before) && (w.text == Marker || Bucket(w.text).index() >= 0) {
			return fault(w.column, "only statements of the forms that Carrel writes may change its lists", "%s is changed in another way", w.text)
		}
		switch w.text {
		case "a", "an", "the":
			continue
		case "remember", "show", "filter", "keep", "count", "gather", "sum", "each", "choose", "add", "remove",
			"weakens", "require", "forbid", "permit", "assign", "expect", "sort", "compare", "transform", "define", "set":
			verb = w.text
		}
		before = w.text
	}
	return nil
}

// changes reports whether a verb changes what is named after it and the word
// before the name.
func changes(verb, before string) bool {
	switch verb {
	case "add", "remove", "assign", "filter", "sort", "transform", "weakens", "gather", "define", "set":
		return true
	case "remember":
		return before == "called" || before == "to"
	}
	return false
}
