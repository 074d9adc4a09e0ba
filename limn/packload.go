package limn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrPack is wrapped by errors about packs. Their text names the field.
var ErrPack = errors.New("not a pack")

// The bounds of the settings of a pack.
const (
	defaultInterval = int64(time.Second / time.Millisecond)
	maxInterval     = int64(24 * time.Hour / time.Millisecond)
	maxLimit        = 1_000_000_000
)

// packFields are the fields of a pack. poll_interval_ms is accepted because other
// implementations have it, but has no effect: the operating system reports changes.
var packFields = [...]string{
	"name", "version", "type", "vocabulary", "verbs", "declarations", "sequence", "script",
	"interval_ms", "max_ticks", "path", "poll_interval_ms", "max_events",
}

// LoadPack parses a pack in JSON; see the example. Unknown fields, values of a
// wrong type and verbs that cannot run are errors that wrap [ErrPack] and name
// the field.
//
// The fields are name, version, type (a [PackType]), vocabulary, verbs,
// declarations, sequence for "test", interval_ms and max_ticks for "timer", path
// and max_events for "file-watcher"; all but path may be missing. The executions
// of verbs that write are set_value, append_to_list and set_field (exactly one of
// target_name and target_slot, exactly one of source_slot and literal_value;
// set_field also with field_name). Those that compare are substring_check,
// compare_values, numeric_extract_compare, range_check and conformance_check;
// packs/session.json and packs/research.json have examples. They fail on every
// difference, also if on_mismatch is "flag", after they have written their result.
func LoadPack(data []byte) (*Pack, error) {
	v, err := decodePack(data)
	if err != nil {
		return nil, err
	}
	r := &packReader{}
	p := r.pack(r.object("", v, packFields[:]...))
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

func (r *packReader) pack(o packObject) *Pack {
	types := []string{string(PackTest), string(PackTimer), string(PackStdin), string(PackFileWatcher)}
	t := PackType(o.choice("type", string(PackTest), types...))
	p := &Pack{Name: o.optional("name", string(t)), Version: o.optional("version", ""), Type: t}
	for i, v := range o.array("vocabulary") {
		p.Nouns = append(p.Nouns, r.noun(element("vocabulary", i), v))
	}
	for i, v := range o.array("verbs") {
		p.verbs = append(p.verbs, r.verb(element("verbs", i), p.Name, v))
	}
	for i, v := range o.array("declarations") {
		p.Declarations = append(p.Declarations, r.declaration(element("declarations", i), v))
	}
	r.settings(o, p)
	r.unique(p)
	return p
}

// settings reads the fields about the source of updates, and declares the live names of the
// type of pack.
func (r *packReader) settings(o packObject, p *Pack) {
	o.belong(p.Type, PackTimer, "interval_ms", "max_ticks")
	o.belong(p.Type, PackFileWatcher, "path", "poll_interval_ms", "max_events")
	switch p.Type {
	case PackTimer:
		p.Interval = time.Duration(o.whole("interval_ms", defaultInterval, maxInterval)) * time.Millisecond
		p.Limit = int(o.whole("max_ticks", 0, maxLimit))
	case PackFileWatcher:
		p.Path = o.text("path")
		p.Limit = int(o.whole("max_events", 0, maxLimit))
		o.whole("poll_interval_ms", defaultInterval, maxInterval)
	case PackStdin, PackTest:
	}
	for _, n := range PackNames(p.Type) {
		if !slices.Contains(p.Declarations, n) {
			p.Declarations = append(p.Declarations, n)
		}
	}
	r.sequence(o, p)
}

// belong fails if the pack has a field that its type does not allow. The named fields are only
// for packs of the type owner; t is the type of the pack.
func (o packObject) belong(t, owner PackType, names ...string) {
	for _, name := range names {
		if o.has(name) && t != owner {
			o.fail("type", "is %q, but the field %s is only for packs of type %q", t, name, owner)
		}
	}
}

// sequence reads the updates of a pack of type "test".
func (r *packReader) sequence(o packObject, p *Pack) {
	name := "sequence"
	if o.has("script") {
		name = "script"
	}
	if o.has("sequence") && o.has("script") {
		o.fail("script", "is the old name of sequence, and the pack has both: remove script")
	}
	steps := o.array(name)
	if len(steps) > 0 && p.Type != PackTest {
		o.fail(name, "is only for packs of type %q", PackTest)
	}
	for i, step := range steps {
		at := element(name, i)
		if step == "[done]" {
			if i < len(steps)-1 {
				r.fail(at, "is the end mark, but more updates follow: put it last")
			}
			return
		}
		p.Sequence = append(p.Sequence, r.update(at, step, p.Declarations))
	}
}

func (r *packReader) update(at string, step any, declared []PackName) LiveValue {
	pair := r.array(at, step)
	if len(pair) != 2 {
		r.fail(at, `is neither a list of a name and its value nor "[done]"`)
		return LiveValue{}
	}
	name := r.word(element(at, 0), pair[0])
	v, err := FromJSON(pair[1])
	if err != nil {
		r.fail(element(at, 1), "is %v", err)
		return LiveValue{}
	}
	i := slices.IndexFunc(declared, func(n PackName) bool { return n.Name == name })
	if i < 0 {
		return LiveValue{Name: name, Value: v}
	}
	if s, ok := v.text(); ok && declared[i].Type == string(kindDate) {
		if v, err = dateOf(s); err != nil {
			r.fail(element(at, 1), "is %v", err)
			return LiveValue{}
		}
	}
	if !declared[i].holds(v) {
		r.fail(element(at, 1), "is a %s, but %s is declared with the type %s", v.typeName(), name, declared[i].Type)
	}
	return LiveValue{Name: name, Value: v}
}

func (r *packReader) noun(at string, v any) string {
	o := r.object(at, v, "word", "category")
	word := r.word(member(at, "word"), o.text("word"))
	o.choice("category", "", "noun")
	return word
}

func (r *packReader) declaration(at string, v any) PackName {
	pair := r.array(at, v)
	if len(pair) != 2 {
		r.fail(at, "is not a list of a name and its type")
		return PackName{}
	}
	n := PackName{Name: r.word(element(at, 0), pair[0]), Type: r.text(element(at, 1), pair[1])}
	known := []string{"number", "string", "date", "record", "list"}
	if item, ok := strings.CutPrefix(n.Type, "list_of_"); ok {
		known = []string{"numbers", "strings", "dates", "records"}
		if !slices.Contains(known, item) {
			r.fail(element(at, 1), "is %q, not one of list_of_%s", n.Type, strings.Join(known, ", list_of_"))
		}
	} else if !slices.Contains(known, n.Type) {
		r.fail(element(at, 1), "is %q, not one of %s", n.Type, strings.Join(known, ", "))
	}
	return n
}

// word returns v as a word that a program can use and the language does not reserve.
func (r *packReader) word(at string, v any) string {
	w := r.text(at, v)
	switch {
	case !plainWord(w):
		r.fail(at, "is %q, which is no word of lower case without spaces and quotes", w)
	case Reserved(w):
		r.fail(at, "is %q, which is a word of the language: choose another", w)
	}
	return w
}

// unique records an error if a pack declares a word twice. A live name may also be a
// noun of the pack: programs cannot bind nouns.
func (r *packReader) unique(p *Pack) {
	words := p.words()
	for i, w := range words {
		before := words[:i]
		if i >= len(words)-len(p.Declarations) {
			before = words[len(p.Nouns):i]
		}
		if slices.Contains(before, w) {
			r.fail(fmt.Sprintf("%q", w), "has two meanings: give each noun, verb and live name a word of its own")
		}
	}
}

func (r *packReader) verb(at, pack string, v any) *packVerb {
	o := r.object(at, v, "word", "slots", "execution")
	verb := &packVerb{Pack: pack, Word: r.word(member(at, "word"), o.text("word"))}
	if !o.has("slots") {
		o.fail("slots", "is missing")
	}
	for i, s := range o.array("slots") {
		verb.Slots = append(verb.Slots, r.slot(element(member(at, "slots"), i), s, verb.Slots))
	}
	verb.Execution = r.execution(member(at, "execution"), o.fields["execution"], verb)
	return verb
}

// slot reads a slot. The list before has the earlier slots of the verb.
func (r *packReader) slot(at string, v any, before []packSlot) packSlot {
	o := r.object(at, v, "name", "connective", "required", "value_type", "type_constraint")
	s := packSlot{
		Name:       o.text("name"),
		Required:   o.truth("required"),
		IsName:     o.choice("value_type", "name", "name", "value") == "name",
		Constraint: strings.ToLower(o.optional("type_constraint", "")),
	}
	if !o.has("connective") {
		o.fail("connective", "is missing: write null for a slot without a connective")
	}
	if o.fields["connective"] != nil {
		s.Connective = o.text("connective")
		r.connective(member(at, "connective"), s.Connective)
	} else if len(before) > 0 {
		o.fail("connective", "is null, but only the first slot can do without one")
	}
	if s.Constraint != "" && !s.IsName {
		o.fail("type_constraint", "is only for slots with \"value_type\": \"name\"")
	}
	for _, b := range before {
		if b.Name == s.Name {
			o.fail("name", "is %q, which is the name of an earlier slot: choose another", s.Name)
		}
		if b.Connective == s.Connective {
			o.fail("connective", "is %q, which is the connective of an earlier slot: choose another", s.Connective)
		}
	}
	return s
}

// connective records an error if the word w cannot stand between two values. It cannot
// if it would continue the value before it or end the operation.
func (r *packReader) connective(at, w string) {
	switch {
	case !plainWord(w):
		r.fail(at, "is %q, which is no word of lower case without spaces and quotes", w)
	case slices.Contains([]string{"and", "then", "because", "of"}, w):
		r.fail(at, "is %q, a word that the language uses after a value: choose another name", w)
	case Reserved(w) && keywords.Get()[w].category() != catConnective:
		r.fail(at, "is %q, which is a word of the language and no connective", w)
	}
}

// plainWord reports whether a lexer reads w as one word and does not change it.
func plainWord(w string) bool {
	lx := newLexer(nil)
	return lx.lex(w) == nil && len(lx.toks) == 2 && lx.toks[0].text == w &&
		(lx.toks[0].kind == lexWord || lx.toks[0].kind == lexKeyword)
}
