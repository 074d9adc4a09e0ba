package pagerjson

import (
	"fmt"

	"github.com/carrel-dev/carrel/transcript"
)

// The rules that a history may break.
const (
	ruleMissing   = "P1" // a key that must be there is not
	ruleType      = "P2" // a value is not what it should be
	ruleDuplicate = "P3" // two blocks have the same id
	ruleNewer     = "P4" // a block is newer than the current turn
	ruleEmpty     = "P5" // there are no blocks
	ruleTwice     = "P6" // a key occurs twice in an object
)

// Parse parses a history. name is the file name for errors, and may be empty. Errors are of type
// [*transcript.SyntaxError]. The texts of the history share memory with data.
func Parse(name string, data []byte) (*History, error) {
	h, err := newReader(name, data).read()
	if err != nil {
		return nil, err
	}
	return h, nil
}

// A span is a range of bytes of the data.
type span struct{ from, to int }

// A reader reads a history with a [scanner].
type reader struct {
	scanner
	lenient    bool // collect violations rather than stop at the first
	violations []transcript.Violation
	mark       bool   // record the spans of blocks
	blocks     []span // of the blocks, if marked
	text       span   // of the text of the last block, quotation marks included
	warnings   []transcript.Warning
	roles      map[string]string // shared strings for repeated roles
}

func newReader(name string, data []byte) *reader {
	return &reader{scanner: scanner{name: name, data: data}, roles: make(map[string]string)}
}

// read reads the whole file. With an error, the returned history is incomplete.
func (r *reader) read() (h *History, err error) {
	defer catch(&err)
	h = new(History)
	if r.peek() != '{' {
		r.fail(r.at, "a history is an object, got %s", r.here())
	}
	r.at++
	var keys keySet
	for first := true; r.more(first, '}'); first = false {
		switch string(r.key()) {
		case "intent_ir":
			r.once(&keys, 1, -1, "intent_ir")
			h.Intent = r.intent()
		case "blocks":
			r.once(&keys, 2, -1, "blocks")
			h.Blocks = r.list()
		case "current_turn":
			r.once(&keys, 4, -1, "current_turn")
			if n, ok := r.turn(-1, "current_turn"); ok {
				h.Current = &n
			}
		default:
			r.skip(1)
		}
	}
	if r.peek(); r.at < len(r.data) {
		r.fail(r.at, "the history ends here, but the file goes on: %s", r.here())
	}
	r.need(keys, 1, -1, "intent_ir", 0)
	r.need(keys, 2, -1, "blocks", 0)
	return h, nil
}

// intent reads the keywords.
func (r *reader) intent() []string {
	if r.null() {
		return nil
	}
	if r.peek() != '[' {
		r.wrong(-1, "intent_ir", "a list of texts", `write it as ["one", "two"]`)
		return nil
	}
	r.at++
	var words []string
	for first := true; r.more(first, ']'); first = false {
		if w, ok := r.string(-1, "intent_ir", len(words), false); ok {
			words = append(words, string(w))
		}
	}
	return words
}

// list reads the blocks.
func (r *reader) list() []Block {
	if r.peek() != '[' {
		r.wrong(-1, "blocks", "a list of objects", "")
		return nil
	}
	r.at++
	var blocks []Block
	for first := true; r.more(first, ']'); first = false {
		start := r.at
		b := r.block(len(blocks))
		if blocks == nil { // assume that the other blocks have a similar length
			blocks = make([]Block, 0, 1+(len(r.data)-start)/(r.at-start))
		}
		blocks = append(blocks, b)
		if r.mark {
			r.blocks = append(r.blocks, span{start, r.at})
		}
	}
	return blocks
}

// block reads the block with index i.
func (r *reader) block(i int) (b Block) {
	if r.peek() != '{' {
		r.wrong(i, "", "an object", "")
		return b
	}
	start := r.at
	r.at++
	var keys keySet
	for first := true; r.more(first, '}'); first = false {
		switch string(r.key()) {
		case "id":
			r.once(&keys, 1, i, "id")
			id, _ := r.string(i, "id", -1, false)
			b.ID = string(id)
		case "turn":
			r.once(&keys, 2, i, "turn")
			b.Turn, _ = r.turn(i, "turn")
		case "text":
			r.once(&keys, 4, i, "text")
			r.peek()
			from := r.at
			b.Text, _ = r.string(i, "text", -1, true)
			r.text = span{from, r.at}
		case "role":
			r.once(&keys, 8, i, "role")
			if r.peek() == '"' {
				b.Role = r.role(i)
			} else {
				r.skip(3)
			}
		case "kind":
			r.once(&keys, 16, i, "kind")
			if !r.null() {
				from := r.at
				r.skip(3)
				b.Kind = r.data[from:r.at:r.at]
			}
		default:
			r.skip(3)
		}
	}
	r.need(keys, 1, i, "id", start)
	r.need(keys, 2, i, "turn", start)
	r.need(keys, 4, i, "text", start)
	return b
}

// role reads a string. Equal roles share memory.
func (r *reader) role(i int) string {
	text, _ := r.string(i, "role", -1, true)
	name, ok := r.roles[string(text)]
	if !ok {
		name = string(text)
		r.roles[name] = name
	}
	return name
}

// null skips a null and reports whether there was one.
func (r *reader) null() bool {
	if r.peek() != 'n' {
		return false
	}
	r.skip(0)
	return true
}

// string reads a string. Half of a surrogate pair is an error unless lax is true,
// because it can neither be encoded nor compared.
func (r *reader) string(block int, key string, element int, lax bool) ([]byte, bool) {
	if r.peek() != '"' {
		r.wrong(block, field(key, element), "a text", "")
		return nil, false
	}
	at := r.at
	text, lone := r.scanner.text()
	if lone && !lax {
		r.problem(ruleType, block, field(key, element), at, "", "has half of a surrogate pair")
		return nil, false
	}
	if lone {
		line := transcript.LineOf(r.data, at)
		r.warnings = append(r.warnings, transcript.Warning{Line: line, Text: path(block, key) + " has half of a surrogate pair, shown as U+FFFD"})
	}
	return text, true
}

// turn reads a number.
func (r *reader) turn(block int, key string) (Number, bool) {
	if c := r.peek(); c != '-' && c-'0' > 9 {
		r.wrong(block, key, "a number", "")
		return Number{}, false
	}
	at := r.at
	n, problem := toNumber(r.number())
	if problem != "" {
		r.problem(ruleType, block, key, at, "", "%s %s", r.data[at:r.at], problem)
		return Number{}, false
	}
	return n, true
}

// A keySet has a bit for each key that was seen.
type keySet uint8

// once reports a violation if the key was seen before.
func (r *reader) once(seen *keySet, bit keySet, block int, key string) {
	if *seen&bit != 0 {
		r.problem(ruleTwice, block, key, r.at, "leave one", "the key occurs twice")
	}
	*seen |= bit
}

// need reports a violation if the key was not seen.
func (r *reader) need(seen, bit keySet, block int, key string, at int) {
	if seen&bit == 0 {
		r.problem(ruleMissing, block, key, at, "", "the key is missing")
	}
}

// wrong skips a value of the wrong type and reports a violation.
func (r *reader) wrong(block int, key, want, hint string) {
	at := r.at
	r.problem(ruleType, block, key, at, hint, "is %s, want %s", r.skip(1), want)
}

// problem records a violation if the reader is lenient, and fails otherwise.
func (r *reader) problem(rule string, block int, key string, at int, hint, format string, args ...any) {
	if !r.lenient {
		panic(r.fault(at, path(block, key), hint, format, args...))
	}
	r.violations = append(r.violations, transcript.Violation{
		Rule: rule, Message: block, Field: path(block, key), Text: fmt.Sprintf(format, args...),
	})
}

// path returns the path of a key of a block, or of a key of the history if block is -1.
func path(block int, key string) string {
	switch {
	case block < 0:
		return key
	case key == "":
		return fmt.Sprintf("blocks.%d", block)
	}
	return fmt.Sprintf("blocks.%d.%s", block, key)
}

// field returns the path of an element of a list, or the key if element is -1.
func field(key string, element int) string {
	if element < 0 {
		return key
	}
	return fmt.Sprintf("%s.%d", key, element)
}
