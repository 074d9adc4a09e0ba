package contract

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/limn"
)

// The effects of statements on a contract.
const (
	verbDeclare = "declare"
	verbAdd     = "add"
	verbRemove  = "remove"
	verbBind    = "bind"   // binds a single value, or is the marker
	verbSource  = "source" // remembers a text as a source or claim
)

// A statement is a line in one of the forms of this package, or any other line.
type statement struct {
	verb   string // empty for any other line
	name   string // name of the list or value
	column int    // column of that name
	text   string // text that is added, removed, bound or remembered
	items  []string
	at     time.Time // time in the marker
	claim  bool

	changes bool // whether the line changes anything in the language; true for every verb
}

// read reads one line.
func (s *Contract) read(line string) (statement, *SyntaxError) {
	if st, ok := readMove(line); ok {
		return st, nil
	}
	if i := strings.IndexFunc(line, breaksLine); i >= 0 {
		return statement{}, fault(i+1, "", "there is a line break in the line")
	}
	text := strings.TrimLeftFunc(line, isSpace)
	indent := len(line) - len(text)
	if text == "" || strings.HasPrefix(text, "--") {
		return statement{}, nil
	}
	if strings.Count(text, `"`)%2 != 0 {
		return statement{}, fault(strings.LastIndexByte(line, '"')+1, "the end of the line may be lost: mend or remove it", "a quotation mark is not closed")
	}
	st, err := s.readText(text)
	st.column += indent
	if err != nil {
		err.Column += indent
		return statement{}, err
	}
	if st.verb != "" && indent > 0 {
		return statement{}, fault(st.column, "let it begin the line", "a statement about our lists is indented, so that it may belong to a handler")
	}
	return st, nil
}

// readMove reads an add or remove in exactly the form that this package writes. Nearly all
// lines of a contract have it, and reading them here takes a tenth of the time of the
// language's parser.
func readMove(line string) (statement, bool) {
	st := statement{verb: verbAdd, changes: true}
	rest, ok := strings.CutPrefix(line, `add "`)
	preposition := ` to `
	if !ok {
		if rest, ok = strings.CutPrefix(line, `remove "`); !ok {
			return statement{}, false
		}
		st.verb, preposition = verbRemove, ` from `
	}
	st.text, rest, _ = strings.Cut(rest, `"`)
	if checkID(st.text) != nil {
		return statement{}, false
	}
	st.name, ok = strings.CutPrefix(rest, preposition)
	st.column = len(line) - len(st.name) + 1
	return st, ok && (Bucket(st.name).index() >= 0 || List(st.name).index() >= 0)
}

// readText reads a line that is neither blank nor a comment, without its indentation.
func (s *Contract) readText(text string) (statement, *SyntaxError) {
	line := parseLine(text)
	if line == nil || line.Err != nil {
		return s.readOther(text)
	}
	writes := line.Writes()
	if len(writes) == 1 {
		st, err := readForm(line.String(), text)
		if err != nil || st.verb != "" {
			st.column, st.changes = writes[0].Pos.Column, true
			return st, err
		}
	}
	for _, n := range writes {
		if s.owns(n.Text) {
			return statement{changes: true}, changed(n.Text, n.Pos.Column)
		}
	}
	return statement{changes: len(writes) > 0}, nil
}

// language returns the language of contracts, which includes the session pack.
func language() *limn.Options {
	p, err := limn.BuiltinPack("session")
	if err != nil {
		return new(limn.Options) // unreachable: the pack is built in
	}
	return &limn.Options{Packs: []*limn.Pack{p}}
}

// parseLine parses a line on its own.
func parseLine(text string) *limn.Line {
	p := limn.Parse("", text, language())
	if len(p.Lines) == 0 {
		return nil
	}
	return p.Lines[0]
}

// The forms of statements in the language's canonical spelling.
var (
	changeForm   = lazy.Regexp(`^(add|remove) "([^"]*)" (?:to|from) (\S+?)( because "[^"]*")?$`)
	assignForm   = lazy.Regexp(`^assign (\S+) to ("[^"]*"|\S+)(?: because "[^"]*")?$`)
	rememberForm = lazy.Regexp(`^remember an? ([^"]+?) called ([^\s:]+)(?: with ("[^"]*"(?: and "[^"]*")*|\S+)| from count the (\S+))?( because "[^"]*")?$`)
	quotedForm   = lazy.Regexp(`"[^"]*"`)
)

// readForm reads a statement in canonical spelling if it has one of our forms. text is the
// original line, for the columns of errors.
func readForm(canonical, text string) (statement, *SyntaxError) {
	if m := changeForm.Get().FindStringSubmatch(canonical); m != nil {
		return readChange(m[1], m[2], m[3], m[4] != "", text)
	}
	if m := assignForm.Get().FindStringSubmatch(canonical); m != nil {
		return readScalar(m[1], m[2]), nil
	}
	if m := rememberForm.Get().FindStringSubmatch(canonical); m != nil {
		return readRemember(m[1], m[2], m[3], m[4], m[5] != "", text)
	}
	return statement{}, nil
}

// readRemember reads a statement that remembers a name, with a value or with the count of a
// list.
func readRemember(descriptor, name, value, counted string, reasoned bool, text string) (statement, *SyntaxError) {
	quoted := quotedForm.Get().FindAllString(value, -1)
	listed := len(quoted) > 1 || slices.Contains(strings.Fields(descriptor), "list")
	switch {
	case Bucket(name).index() >= 0:
		if !reasoned && descriptor == "list" && value+counted == "" {
			return statement{verb: verbDeclare, name: name}, nil
		}
	case name == lastPass:
		if !reasoned && descriptor == "string" && len(quoted) == 1 {
			return readMarker(unquoted(value), text)
		}
	case List(name).index() >= 0:
		if listed && counted == "" && (value == "" || len(quoted) > 0) {
			return readList(name, quoted, text)
		}
	case name == decisionCount && List(counted).index() >= 0:
		return statement{verb: verbBind, name: name, items: []string{counted}}, nil
	case scalarIndex(name) >= 0:
		if !listed {
			return readScalar(name, value), nil
		}
	case len(quoted) == 1 && (descriptor == "source" || descriptor == "claim"):
		return statement{verb: verbSource, name: name, text: unquoted(value), claim: descriptor == "claim"}, nil
	}
	return statement{}, nil
}

// unquoted returns a text without its quotation marks.
func unquoted(value string) string { return strings.Trim(value, `"`) }

// columnOf returns the column in a line at which the given value stands in quotation marks. The
// line is in the parameter text.
func columnOf(value, text string) int { return strings.Index(text, `"`+value+`"`) + 1 }

func readChange(verb, value, name string, reasoned bool, text string) (statement, *SyntaxError) {
	block := Bucket(name).index() >= 0
	if block && reasoned || !block && List(name).index() < 0 {
		return statement{}, nil
	}
	if err := checkID(value); err != nil {
		return statement{}, fault(columnOf(value, text), "", "%v", err)
	}
	return statement{verb: verb, name: name, text: value}, nil
}

func readMarker(value, text string) (statement, *SyntaxError) {
	at, err := time.Parse(timeLayout, value)
	if err != nil {
		return statement{}, fault(columnOf(value, text), `write it as "2026-05-17T03:08:12+00:00"`, "%q is no time of a pass", value)
	}
	return statement{verb: verbBind, name: lastPass, at: at}, nil
}

// readList reads the declaration of a list, with or without items. A list with the single item
// "none" is empty.
func readList(name string, quoted []string, text string) (statement, *SyntaxError) {
	st := statement{verb: verbDeclare, name: name}
	if len(quoted) == 1 && unquoted(quoted[0]) == "none" {
		return st, nil
	}
	for _, q := range quoted {
		item := unquoted(q)
		if err := checkID(item); err != nil {
			return statement{}, fault(columnOf(item, text), "", "%v", err)
		}
		st.items = append(st.items, item)
	}
	return st, nil
}

// readScalar reads the value that a name is bound to. A word without quotes is accepted only
// for a name with a fixed set of values.
func readScalar(name, value string) statement {
	i := scalarIndex(name)
	if i < 0 {
		return statement{}
	}
	quoted := strings.HasPrefix(value, `"`)
	number := strings.Trim(value, "0123456789.-") == "" && value != ""
	if def := &scalars[i]; quoted && !def.number || number && def.number || slices.Contains(def.among, value) {
		return statement{verb: verbBind, name: name, text: unquoted(value)}
	}
	return statement{}
}

// owns reports whether only the forms of this package may change the value of a name.
func (s *Contract) owns(name string) bool {
	_, source := s.session.places[name]
	return source || ours(name)
}

// changed returns the error for a statement that changes a name of contracts, but is in no
// form of this package.
func changed(name string, column int) *SyntaxError {
	return fault(column, "only statements of the forms that Carrel writes may change its lists", "%s is changed in another way", name)
}

// readOther reads a line that is no statement of the language. Running it does nothing in this
// release of the language, but another release may have such a statement. So the line must not
// contain a name of contracts, unless its verb only reads.
func (s *Contract) readOther(text string) (statement, *SyntaxError) {
	words := bareWords(text)
	if len(words) > 1 && words[0].text == "inherited" {
		words = words[1:]
	}
	if len(words) == 0 {
		return statement{}, nil
	}
	switch words[0].text {
	case "about", "show", "count", "sum", "keep", "require", "forbid", "permit", "expect", "compare", "when":
		return statement{}, nil
	}
	for _, w := range words {
		if s.owns(w.text) {
			return statement{}, changed(w.text, w.column)
		}
	}
	return statement{changes: true}, nil
}

// A word is a word of a line, outside quotation marks.
type word struct {
	text   string // in lower case, without punctuation around it
	column int
}

// bareWords returns the words of a line that are outside quotation marks.
func bareWords(line string) []word {
	var words []word
	start, quoted := -1, false
	for i, r := range line + " " {
		if r != '"' && !isSpace(r) && r != ':' {
			if start < 0 && !quoted {
				start = i
			}
			continue
		}
		if start >= 0 {
			if text := strings.Trim(strings.ToLower(line[start:i]), ",.?!"); text != "" {
				words = append(words, word{text, start + 1})
			}
			start = -1
		}
		quoted = quoted != (r == '"')
	}
	return words
}

// isSpace reports whether the language separates words at r.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0x1f }
