package contract

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/carrel-dev/carrel/limn"
)

// What statements do.
const (
	verbDeclare = "declare"
	verbAdd     = "add"
	verbRemove  = "remove"
	verbBind    = "bind"   // a single value, or the marker
	verbSource  = "source" // a text that is remembered as a source or claim
)

// A statement is one of the forms of this package, or nothing to us.
type statement struct {
	verb   string // empty if it is nothing to us
	name   string // of the list or value
	column int    // of that name
	text   string // what is added, removed, bound or remembered
	items  []string
	at     time.Time // of the marker
	claim  bool

	changes bool // whether it changes anything at all; always, if it has a verb
}

// read reads one line.
func (s *State) read(line string) (statement, *SyntaxError) {
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

// readMove reads an add or remove in exactly the form that we write. Nearly all
// lines of a contract are such, and this takes a tenth of the time that the
// language takes.
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
	end := strings.IndexByte(rest, '"')
	if end < 0 || CheckID(rest[:end]) != nil {
		return statement{}, false
	}
	st.text = rest[:end]
	st.name, ok = strings.CutPrefix(rest[end+1:], preposition)
	st.column = len(line) - len(st.name) + 1
	return st, ok && (Bucket(st.name).index() >= 0 || List(st.name).index() >= 0)
}

// readText reads a line that begins with a word.
func (s *State) readText(text string) (statement, *SyntaxError) {
	line := parseLine(text)
	if line == nil || line.Err != nil {
		return s.readOther(text)
	}
	if seq, ok := line.Stmt.(*limn.Sequence); ok && len(seq.Ops) == 1 {
		st, err := readOp(seq.Ops[0])
		if err != nil || st.verb != "" {
			st.changes = true
			return st, err
		}
	}
	v := visitor{owns: s.owns}
	v.stmt(line.Stmt)
	return statement{changes: v.changes}, v.err
}

// language is the language that contracts are in: with the session pack.
func language() *limn.Options {
	p, err := limn.BuiltinPack("session")
	if err != nil {
		return new(limn.Options) // not reached: it is built in
	}
	return &limn.Options{Packs: []*limn.Pack{p}}
}

// parseLine returns what the language makes of a line that stands alone.
func parseLine(text string) *limn.Line {
	p := limn.Parse("", text, language())
	if len(p.Lines) == 0 {
		return nil
	}
	return p.Lines[0]
}

// readOp returns the statement that an operation is, if it is one of our forms.
func readOp(op *limn.Op) (statement, *SyntaxError) {
	if op.Starting != nil || op.Until != nil || op.Inherited {
		return statement{}, nil
	}
	reasoned := op.Because != nil
	switch core := op.Core.(type) {
	case *limn.Change:
		return readChange(core, reasoned)
	case *limn.Assign:
		if i := scalarIndex(core.Name.Text); i >= 0 {
			return readScalar(core.Name, []limn.Expr{core.Value})
		}
	case *limn.Remember:
		name := core.Name.Text
		switch {
		case Bucket(name).index() >= 0:
			if !reasoned && declares(core) {
				return statement{verb: verbDeclare, name: name, column: core.Name.Pos.Column}, nil
			}
		case name == Marker:
			if !reasoned && slices.Equal(core.Descriptor, []string{"string"}) {
				return readMarker(core)
			}
		case List(name).index() >= 0:
			return readList(core)
		case scalarIndex(name) >= 0:
			if core.From == nil && core.Fields == nil && !core.List {
				return readScalar(core.Name, core.Values)
			}
			return readCount(core)
		case remembers(core):
			return readSource(core)
		}
	}
	return statement{}, nil
}

// declares reports whether a remember declares an empty list.
func declares(r *limn.Remember) bool {
	return slices.Equal(r.Descriptor, []string{"list"}) && r.From == nil && len(r.Values) == 0 && len(r.Fields) == 0
}

func readChange(c *limn.Change, reasoned bool) (statement, *SyntaxError) {
	value, ok := c.Value.(*limn.Text)
	name := c.List.Text
	block := Bucket(name).index() >= 0
	if !ok || block && reasoned || !block && List(name).index() < 0 {
		return statement{}, nil
	}
	if err := CheckID(value.Text); err != nil {
		return statement{}, fault(value.Pos.Column, "", "%v", err)
	}
	verb := verbAdd
	if c.Verb == "remove" {
		verb = verbRemove
	}
	return statement{verb: verb, name: name, column: c.List.Pos.Column, text: value.Text}, nil
}

func readMarker(r *limn.Remember) (statement, *SyntaxError) {
	if len(r.Values) != 1 {
		return statement{}, nil
	}
	value, ok := r.Values[0].(*limn.Text)
	if !ok {
		return statement{}, nil
	}
	at, err := time.Parse(timeLayout, value.Text)
	if err != nil {
		return statement{}, fault(value.Pos.Column, `write it as "2026-05-17T03:08:12+00:00"`, "%q is no time of a pass", value.Text)
	}
	return statement{verb: verbBind, name: Marker, column: r.Name.Pos.Column, at: at}, nil
}

// readList reads the declaration of a list of a session, which may have items.
// One with the one item "none" is empty.
func readList(r *limn.Remember) (statement, *SyntaxError) {
	if !r.List || r.From != nil || len(r.Fields) > 0 {
		return statement{}, nil
	}
	st := statement{verb: verbDeclare, name: r.Name.Text, column: r.Name.Pos.Column}
	for _, v := range r.Values {
		value, ok := v.(*limn.Text)
		if !ok {
			return statement{}, nil
		}
		if value.Text == "none" && len(r.Values) == 1 {
			return st, nil
		}
		if err := CheckID(value.Text); err != nil {
			return statement{}, fault(value.Pos.Column, "", "%v", err)
		}
		st.items = append(st.items, value.Text)
	}
	return st, nil
}

// readScalar reads the value that a name is bound to. A word that is not quoted
// is taken only where few words are possible.
func readScalar(name limn.Name, values []limn.Expr) (statement, *SyntaxError) {
	if len(values) != 1 {
		return statement{}, nil
	}
	def := &scalars[scalarIndex(name.Text)]
	st := statement{verb: verbBind, name: name.Text, column: name.Pos.Column}
	switch v := values[0].(type) {
	case *limn.Text:
		if !def.number {
			st.text = v.Text
			return st, nil
		}
	case *limn.Number:
		if def.number {
			st.text = v.Text
			return st, nil
		}
	case *limn.Word:
		if slices.Contains(def.among, v.Text) {
			st.text = v.Text
			return st, nil
		}
	}
	return statement{}, nil
}

// readCount reads a number that is the length of a list: that of the decisions
// is often written so.
func readCount(r *limn.Remember) (statement, *SyntaxError) {
	tally, ok := r.From.(*limn.Tally)
	if !ok || tally.Verb != "count" || r.Name.Text != decisionCount || List(tally.List.Text).index() < 0 {
		return statement{}, nil
	}
	return statement{verb: verbBind, name: decisionCount, column: r.Name.Pos.Column, items: []string{tally.List.Text}}, nil
}

// remembers reports whether a remember is of a source or claim.
func remembers(r *limn.Remember) bool {
	return len(r.Descriptor) == 1 && (r.Descriptor[0] == "source" || r.Descriptor[0] == "claim")
}

func readSource(r *limn.Remember) (statement, *SyntaxError) {
	if len(r.Values) != 1 {
		return statement{}, nil
	}
	value, ok := r.Values[0].(*limn.Text)
	if !ok {
		return statement{}, nil
	}
	return statement{
		verb: verbSource, name: r.Name.Text, column: r.Name.Pos.Column,
		text: value.Text, claim: r.Descriptor[0] == "claim",
	}, nil
}

// owns reports whether only our forms may change what a name stands for.
func (s *State) owns(name string) bool {
	_, source := s.session.places[name]
	return source || ours(name)
}

// changed is the fault of a statement of somebody else's that changes something
// of ours.
func changed(name string, column int) *SyntaxError {
	return fault(column, "only statements of the forms that Carrel writes may change its lists", "%s is changed in another way", name)
}

// readOther reads a line that is no statement of the language. Nothing happens
// when it is run; but other releases may know it, as the original pager's marker
// was meant, so it may not name what is ours unless its verb only reads.
func (s *State) readOther(text string) (statement, *SyntaxError) {
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

// A word stands in a line outside quotation marks.
type word struct {
	text   string // in lower case, without decoration
	column int
}

// bareWords returns the words of a line that are not quoted.
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
