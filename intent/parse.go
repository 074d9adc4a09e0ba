package intent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A ParseError gives the place and the reason why a text is no intent, or no list of cases.
type ParseError struct {
	Offset  int    // in bytes, from 0
	Path    string // the field, such as "slots.target.0", or empty
	Problem string
}

func (e *ParseError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("offset %d: %s", e.Offset, e.Problem)
	}
	return fmt.Sprintf("offset %d: %s: %s", e.Offset, e.Path, e.Problem)
}

// Read parses the text as an intent, see [Parse], or else compiles it as a prompt, see
// [Compile].
func Read(text string, opts *Options) *Intent {
	if in, err := Parse([]byte(text)); err == nil {
		return in
	}
	return Compile(text, opts)
}

// Parse reads an intent as [Intent.MarshalJSON] writes it, which json.Unmarshal does not, or in the
// form of [Published], with plain strings for values and flags. All fields but schema and verb are
// optional; an unknown field is an error.
//
// Parse also reads keywords: a list of strings, or an object without schema that has such a list
// in "intent_ir"; its other fields are ignored. The error is a [*ParseError].
func Parse(data []byte) (*Intent, error) {
	p := &parser{rawjson.NewReader(data), data}
	in := &Intent{Confidence: confidenceLow}
	err := p.whole(in)
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, parseError(err)
	}
	return in, nil
}

// parseError returns an error of the JSON reader as a [*ParseError].
func parseError(err error) error {
	if e, ok := errors.AsType[*rawjson.Error](err); ok {
		return &ParseError{e.Offset, e.Path, e.Text}
	}
	return err
}

// A parser reads an intent for [Parse], or a list of cases for [ParseCases], from the JSON in data.
type parser struct {
	*rawjson.Reader

	data []byte
}

func (p *parser) whole(in *Intent) (err error) {
	if p.Kind() == rawjson.Array {
		in.Words, err = p.strings()
		return err
	}
	if p.Kind() != rawjson.Object {
		return p.Fail(p.Offset(), "neither an object nor a list of keywords")
	}
	start := p.Offset()
	members, err := p.Members()
	if err != nil {
		return err
	}
	has := func(key string) bool {
		return slices.ContainsFunc(members, func(m rawjson.Member) bool { return m.Key == key })
	}
	words := has("intent_ir") && !has("schema")
	if !words && (!has("schema") || !has("verb")) {
		return p.Fail(start, "an intent needs schema and verb")
	}
	for _, step := range parseOrder { // verb comes before slots: it determines the slots
		for _, m := range members {
			if known := slices.Contains(parseOrder, m.Key); !known && !words {
				return p.Fail(m.Whole.Start, "%q is no field of an intent", m.Key)
			}
			if m.Key == step && (!words || step == "intent_ir") {
				if err := p.At(m.Value.Start, m.Key, func() error { return p.field(in, m.Key) }); err != nil {
					return err
				}
			}
		}
	}
	if words {
		return nil
	}
	return p.agree(in, start)
}

var parseOrder = []string{
	"schema", "verb", "slots", "gaps", "amber_flags", "human_context", "assumptions", "secondary_intents", "confidence", "form", "pass_through", "intent_ir",
}

// field reads one field of an intent.
func (p *parser) field(in *Intent, key string) (err error) {
	at := p.Offset()
	switch key {
	case "schema":
		var name string
		if name, err = p.String(); err == nil && name != schema {
			err = p.Fail(at, "%q is not %s", name, schema)
		}
	case "verb":
		in.Verb, err = p.verb()
	case "slots":
		in.Slots, err = p.slots(in.Verb)
	case "gaps":
		in.Gaps, err = p.gaps(in.Verb)
	case "amber_flags":
		in.Amber, err = p.flags(amberNames())
	case "human_context":
		in.Human, err = p.flags(humanNames())
	case "assumptions":
		in.Assumed, err = p.strings()
	case "secondary_intents":
		in.Secondary, err = elements(p, p.part)
		in.Secondary = orNil(in.Secondary)
	case "confidence":
		in.Confidence, err = oneOf(p, confidenceLow, confidenceMedium, confidenceHigh)
	case "form":
		in.Form, err = oneOf(p, formVerbFirst, formTargetFirst, formQuestion, formStatement)
	case "pass_through":
		in.Pass, err = oneOf(p, passGreeting, passContinuation, passMachine, passNothing)
	case "intent_ir":
		in.Words, err = p.strings()
	}
	return err
}

// agree checks that the intent does not have both a verb and a reason to pass through, and that its
// gaps are right. If the document lists no gaps, agree adds them.
func (p *parser) agree(in *Intent, start int) error {
	if in.Verb != "" && in.Pass != "" {
		return p.Fail(start, "verb and pass_through are both set: remove one")
	}
	gaps, err := p.missing(in.Verb, in.Slots, in.Gaps, start)
	in.Gaps = gaps
	return err
}

// missing returns the required slots without a value. If gaps are given, they must be these
// slots.
func (p *parser) missing(v Verb, slots map[Slot][]Phrase, given []Slot, at int) ([]Slot, error) {
	gaps := missing(v, slots)
	if given == nil {
		return gaps, nil
	}
	for _, s := range given {
		if !slices.Contains(gaps, s) {
			return nil, p.Fail(at, "%s is listed as a gap and has a value", s)
		}
	}
	if len(given) < len(gaps) {
		return nil, p.Fail(at, "%d required slots have no value, and gaps lists %d", len(gaps), len(given))
	}
	return gaps, nil
}

func (p *parser) verb() (Verb, error) {
	at := p.Offset()
	if p.Kind() == rawjson.Null {
		_, err := p.Skip()
		return "", err
	}
	s, err := p.String()
	if err == nil && !slices.Contains(Verbs(), Verb(s)) {
		err = p.Fail(at, "%q is none of %v", s, Verbs())
	}
	return Verb(s), err
}

// slots reads the slots of a verb. It returns nil if there are none.
func (p *parser) slots(v Verb) (map[Slot][]Phrase, error) {
	slots := make(map[Slot][]Phrase)
	err := p.Object(func(key string) (err error) {
		if !v.has(Slot(key)) {
			return p.Fail(p.KeyOffset(), "%q is no slot of %s", key, v.name())
		}
		at := p.Offset()
		if p.Kind() == rawjson.Array {
			slots[Slot(key)], err = elements(p, p.value)
		} else {
			var one Phrase
			one, err = p.value()
			slots[Slot(key)] = []Phrase{one}
		}
		if err == nil && len(slots[Slot(key)]) == 0 {
			err = p.Fail(at, "no value")
		}
		return err
	})
	if len(slots) == 0 {
		slots = nil
	}
	return slots, err
}

// name returns the verb as the text of an error names it.
func (v Verb) name() string {
	if v == "" {
		return "a prompt that passes through"
	}
	return string(v)
}

// value reads a value: an object with its place, or a string.
func (p *parser) value() (Phrase, error) {
	var v Phrase
	at := p.Offset()
	if p.Kind() == rawjson.String {
		text, err := p.String()
		if err == nil && text == "" {
			err = p.Fail(at, "an empty value")
		}
		return Phrase{Text: text}, err
	}
	err := p.Object(func(key string) (err error) {
		switch key {
		case "text":
			v.Text, err = p.String()
		case "start":
			v.Start, err = p.number()
		case "end":
			v.End, err = p.number()
		default:
			err = p.Fail(p.KeyOffset(), "%q is no field of a value", key)
		}
		return err
	})
	switch {
	case err != nil:
		return v, err
	case v.Text == "":
		return v, p.Fail(at, "an empty value")
	case v.Start >= v.End:
		return v, p.Fail(at, "start %d is not before end %d", v.Start, v.End)
	}
	return v, nil
}

// number reads a whole number that is not negative.
func (p *parser) number() (int, error) {
	at := p.Offset()
	if p.Kind() != rawjson.Number {
		return 0, p.Fail(at, "not a number")
	}
	span, err := p.Skip()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(span.Of(p.data)))
	if err != nil || n < 0 {
		return 0, p.Fail(at, "not a whole number from 0")
	}
	return n, nil
}

func (p *parser) gaps(v Verb) ([]Slot, error) {
	return elements(p, func() (Slot, error) { return oneOf(p, v.Required()...) })
}

// flags reads flags: objects with their words, or only names.
func (p *parser) flags(names []string) ([]Flag, error) {
	list, err := elements(p, func() (f Flag, err error) {
		if p.Kind() == rawjson.String {
			f.Name, err = oneOf(p, names...)
			return f, err
		}
		at := p.Offset()
		err = p.Object(func(key string) (err error) {
			switch key {
			case "name":
				f.Name, err = oneOf(p, names...)
			case "words":
				f.Words, err = elements(p, p.value)
			default:
				err = p.Fail(p.KeyOffset(), "%q is no field of a flag", key)
			}
			return err
		})
		if err == nil && f.Name == "" {
			err = p.Fail(at, "a flag without a name")
		}
		return f, err
	})
	return orNil(list), err
}

// part reads a further request: an object, or only its verb.
func (p *parser) part() (part FurtherRequest, err error) {
	at := p.Offset()
	if p.Kind() == rawjson.String {
		part.Verb, err = p.verb()
		part.Gaps = missing(part.Verb, nil)
		return part, err
	}
	members, err := p.Members()
	if err != nil {
		return part, err
	}
	for _, step := range []string{"verb", "slots", "gaps"} {
		for _, m := range members {
			if !slices.Contains([]string{"verb", "slots", "gaps"}, m.Key) {
				return part, p.Fail(m.Whole.Start, "%q is no field of a secondary intent", m.Key)
			}
			if m.Key != step {
				continue
			}
			err := p.At(m.Value.Start, m.Key, func() (err error) {
				switch step {
				case "verb":
					part.Verb, err = p.verb()
				case "slots":
					part.Slots, err = p.slots(part.Verb)
				default:
					part.Gaps, err = p.gaps(part.Verb)
				}
				return err
			})
			if err != nil {
				return part, err
			}
		}
	}
	if part.Verb == "" {
		return part, p.Fail(at, "a secondary intent needs a verb")
	}
	part.Gaps, err = p.missing(part.Verb, part.Slots, part.Gaps, at)
	return part, err
}

func (p *parser) strings() ([]string, error) {
	list, err := elements(p, p.String)
	return orNil(list), err
}

// elements reads a list. The result of an empty list is not nil.
func elements[T any](p *parser, read func() (T, error)) ([]T, error) {
	list := []T{}
	err := p.Array(func(int) error {
		v, err := read()
		list = append(list, v)
		return err
	})
	return list, err
}

// orNil returns nil for an empty list.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// oneOf reads a string that must be one of the values in all.
func oneOf[T ~string](p *parser, all ...T) (T, error) {
	at := p.Offset()
	s, err := p.String()
	if err == nil && !slices.Contains(all, T(s)) {
		err = p.Fail(at, "%s is none of %v", strconv.Quote(s), all)
	}
	return T(s), err
}

func amberNames() []string {
	var names []string
	for _, a := range ambers {
		names = append(names, a.name)
	}
	return names
}

func humanNames() []string {
	var names []string
	for _, h := range humans {
		names = append(names, h.name)
	}
	return names
}
