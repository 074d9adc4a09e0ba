package intent

import (
	"encoding/json"
	"strings"
)

// document is an intent as JSON. Parse and MarshalJSON share it.
type document struct {
	Schema     string           `json:"schema"`
	Verb       *Verb            `json:"verb"`
	Slots      map[Slot][]Value `json:"slots"`
	Gaps       []Slot           `json:"gaps"`
	Amber      []Flag           `json:"amber_flags"`
	Human      []Flag           `json:"human_context"`
	Assumed    []string         `json:"assumptions"`
	Secondary  []Part           `json:"secondary_intents"`
	Confidence Confidence       `json:"confidence"`
	Form       Form             `json:"form,omitempty"`
	Pass       Pass             `json:"pass_through,omitempty"`
	Words      []string         `json:"intent_ir,omitempty"`
}

// MarshalJSON writes the intent as Intent IR v0. Every field of that form is
// there, if only as an empty list; a prompt that passes through has null for a
// verb.
func (in *Intent) MarshalJSON() ([]byte, error) {
	d := document{
		Schema: Schema, Slots: in.Slots, Gaps: list(in.Gaps), Amber: list(in.Amber), Human: list(in.Human), Assumed: list(in.Assumed),
		Secondary: list(in.Secondary), Confidence: in.Confidence, Form: in.Form, Pass: in.Pass, Words: in.Words,
	}
	if in.Verb != "" {
		d.Verb = &in.Verb
	}
	if d.Slots == nil {
		d.Slots = map[Slot][]Value{}
	}
	if d.Confidence == "" {
		d.Confidence = confidenceLow
	}
	return json.Marshal(d)
}

// list returns a list that is written as [] if it is empty.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// A Published is an intent with the nine keys of Intent IR v0 and no other, in the
// types of the published packets: what fills a slot is one text, a flag is its name,
// and a further request is its verb. [Parse] reads it.
type Published struct {
	Schema     string          `json:"schema"`
	Verb       *Verb           `json:"verb"` // nil if the prompt passes through
	Slots      map[Slot]string `json:"slots"`
	Gaps       []Slot          `json:"gaps"`
	Amber      []string        `json:"amber_flags"`
	Human      []string        `json:"human_context"`
	Assumed    []string        `json:"assumptions"`
	Secondary  []string        `json:"secondary_intents"`
	Confidence Confidence      `json:"confidence"`
}

// Published returns the intent in the form of the published packets. Several values
// of a slot are joined by commas. No field is nil but the verb. Places, the words of
// flags, and the slots and gaps of further requests are lost.
func (in *Intent) Published() *Published {
	p := &Published{
		Schema: Schema, Slots: make(map[Slot]string, len(in.Slots)), Gaps: list(in.Gaps), Amber: flagNames(in.Amber), Human: flagNames(in.Human),
		Assumed: list(in.Assumed), Secondary: secondaryVerbs(in), Confidence: in.Confidence,
	}
	if in.Verb != "" {
		p.Verb = new(in.Verb)
	}
	if p.Confidence == "" {
		p.Confidence = confidenceLow
	}
	for s, values := range in.Slots { // in any order: each becomes a key
		p.Slots[s] = strings.Join(valueTexts(values), ", ")
	}
	return p
}

// flagNames returns the names of flags.
func flagNames(flags []Flag) []string {
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = f.Name
	}
	return names
}

// secondaryVerbs returns the verbs of what is asked for after the first.
func secondaryVerbs(in *Intent) []string {
	verbs := make([]string, len(in.Secondary))
	for i, p := range in.Secondary {
		verbs[i] = string(p.Verb)
	}
	return verbs
}

// MarshalJSON writes the value as an object, or as a plain string if its place
// is not known.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Start == 0 && v.End == 0 {
		return json.Marshal(v.Text)
	}
	return json.Marshal(struct {
		Text  string `json:"text"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}(v))
}

// MarshalJSON writes the flag with its words.
func (f Flag) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name  string  `json:"name"`
		Words []Value `json:"words"`
	}{f.Name, list(f.Words)})
}

// MarshalJSON writes the part in the way of an [Intent].
func (p Part) MarshalJSON() ([]byte, error) {
	slots := p.Slots
	if slots == nil {
		slots = map[Slot][]Value{}
	}
	return json.Marshal(struct {
		Verb  Verb             `json:"verb"`
		Slots map[Slot][]Value `json:"slots"`
		Gaps  []Slot           `json:"gaps"`
	}{p.Verb, slots, list(p.Gaps)})
}
