package intent

import (
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// ParseCases reads a list of cases in JSON, or an object with such a list in "cases" or "tests".
// The published files have "tests"; other keys, such as "schema_version", are ignored. A case is
// an object:
//
//	{"prompt": "fix the pager", "expected_verb": "fix",
//	 "expected_slots": {"target": "the pager"}, "expected_gaps": [],
//	 "expected_flags": [], "expected_secondary": [], "notes": "plain"}
//
// The verb of a prompt that passes through is null. Slots may also be a list of their names, and
// a value a list of texts; expected_secondary has the verbs of further requests. All fields but
// prompt and expected_verb are optional. The error is a [*ParseError].
func ParseCases(data []byte) ([]Case, error) {
	p := &parser{rawjson.NewReader(data), data}
	cases, err := p.cases()
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, parseError(err)
	}
	return cases, nil
}

func (p *parser) cases() (cases []Case, err error) {
	if p.Kind() != rawjson.Object {
		return elements(p, p.oneCase)
	}
	at := p.Offset()
	err = p.Object(func(key string) (err error) {
		switch {
		case key != "cases" && key != "tests":
			_, err = p.Skip()
		case cases != nil:
			err = p.Fail(p.KeyOffset(), "%q is a second list of cases", key)
		default:
			cases, err = elements(p, p.oneCase)
		}
		return err
	})
	if err == nil && cases == nil {
		err = p.Fail(at, "the object has no list \"cases\" or \"tests\"")
	}
	return cases, err
}

var caseFields = []string{
	"expected_verb", "prompt", "expected_slots", "expected_gaps", "expected_flags", "expected_secondary", "notes", "id",
}

// oneCase reads a case, its verb first: the verb determines the slots.
func (p *parser) oneCase() (c Case, err error) {
	at := p.Offset()
	members, err := p.Members()
	if err != nil {
		return c, err
	}
	for _, m := range members {
		if !slices.Contains(caseFields, m.Key) {
			return c, p.Fail(m.Whole.Start, "%q is no field of a case", m.Key)
		}
	}
	for i, name := range caseFields {
		k := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Key == name })
		if k < 0 && i < 2 {
			return c, p.Fail(at, "a case without %s", name)
		}
		if k < 0 {
			continue
		}
		if err := p.At(members[k].Value.Start, name, func() error { return p.caseField(&c, name) }); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (p *parser) caseField(c *Case, name string) (err error) {
	switch name {
	case "prompt":
		c.Prompt, err = p.String()
	case "expected_verb":
		c.Verb, err = p.verb()
	case "expected_slots":
		c.Slots, err = p.caseSlots(c.Verb)
	case "expected_gaps":
		c.Gaps, err = p.gaps(c.Verb)
	case "expected_flags":
		names := slices.Concat(amberNames(), humanNames())
		c.Flags, err = elements(p, func() (string, error) { return oneOf(p, names...) })
	case "expected_secondary":
		c.Secondary, err = elements(p, func() (Verb, error) { return oneOf(p, Verbs()...) })
	case "notes":
		c.Notes, err = p.String()
	default:
		_, err = p.Skip()
	}
	return err
}

// caseSlots reads the expected slots: a list of names, or an object with the values.
func (p *parser) caseSlots(v Verb) (map[Slot][]string, error) {
	slots := make(map[Slot][]string)
	if p.Kind() == rawjson.Array {
		names, err := elements(p, func() (Slot, error) { return oneOf(p, v.Slots()...) })
		for _, s := range names {
			slots[s] = nil
		}
		return slots, err
	}
	err := p.Object(func(key string) (err error) {
		if !v.has(Slot(key)) {
			return p.Fail(p.KeyOffset(), "%q is no slot of %s", key, v.name())
		}
		var values []string
		if p.Kind() == rawjson.Array {
			values, err = p.strings()
		} else {
			values = make([]string, 1)
			values[0], err = p.String()
		}
		slots[Slot(key)] = values
		return err
	})
	return slots, err
}
