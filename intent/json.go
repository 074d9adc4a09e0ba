package intent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// document is an intent as JSON.
type document struct {
	Schema     string            `json:"schema"`
	Verb       *Verb             `json:"verb"`
	Slots      map[Slot][]Phrase `json:"slots"`
	Gaps       []Slot            `json:"gaps"`
	Amber      []Flag            `json:"amber_flags"`
	Human      []Flag            `json:"human_context"`
	Assumed    []string          `json:"assumptions"`
	Secondary  []FurtherRequest  `json:"secondary_intents"`
	Confidence Confidence        `json:"confidence"`
	Form       Phrasing          `json:"form,omitempty"`
	Pass       PassReason        `json:"pass_through,omitempty"`
	Words      []string          `json:"intent_ir,omitempty"`
}

// MarshalJSON writes the intent as Intent IR v0, with every field of that form, empty lists
// included. The verb of a prompt that passes through is null.
func (in *Intent) MarshalJSON() ([]byte, error) {
	d := document{
		Schema: schema, Verb: in.verb(), Slots: filled(in.Slots), Gaps: list(in.Gaps), Amber: marked(in.Amber), Human: marked(in.Human),
		Assumed: list(in.Assumed), Secondary: list(slices.Clone(in.Secondary)), Confidence: cmp.Or(in.Confidence, confidenceLow),
		Form: in.Form, Pass: in.Pass, Words: in.Words,
	}
	for i := range d.Secondary {
		p := &d.Secondary[i]
		p.Slots, p.Gaps = filled(p.Slots), list(p.Gaps)
	}
	return json.Marshal(d)
}

// verb returns the verb, or nil if the prompt passes through.
func (in *Intent) verb() *Verb {
	if in.Verb == "" {
		return nil
	}
	return new(in.Verb)
}

// filled returns slots, or an empty map in place of nil, so that JSON has {}.
func filled(slots map[Slot][]Phrase) map[Slot][]Phrase {
	if slots == nil {
		return map[Slot][]Phrase{}
	}
	return slots
}

// marked returns flags with a list of words that is not nil, so that JSON has [].
func marked(flags []Flag) []Flag {
	flags = list(slices.Clone(flags))
	for i := range flags {
		flags[i].Words = list(flags[i].Words)
	}
	return flags
}

// list returns s, or an empty list in place of nil, so that JSON has [].
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// A Published is an intent with the nine keys of Intent IR v0 and no other, in the types of the
// published packets: the value of a slot is one text, a flag is its name, and a further request
// is its verb. [Parse] reads it.
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

// Published returns the intent in the form of the published packets. Several values of a slot
// are joined by commas. Only Verb may be nil. Offsets, the words of flags, and the slots and
// gaps of further requests are lost.
func (in *Intent) Published() *Published {
	p := &Published{
		Schema: schema, Verb: in.verb(), Slots: make(map[Slot]string, len(in.Slots)), Gaps: list(in.Gaps), Amber: flagNames(in.Amber),
		Human: flagNames(in.Human), Assumed: list(in.Assumed), Secondary: secondaryVerbs(in), Confidence: cmp.Or(in.Confidence, confidenceLow),
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

// secondaryVerbs returns the verbs of the requests after the first.
func secondaryVerbs(in *Intent) []string {
	verbs := make([]string, len(in.Secondary))
	for i, p := range in.Secondary {
		verbs[i] = string(p.Verb)
	}
	return verbs
}

// MarshalJSON writes the phrase as an object, or as a string if its place is not known.
func (v Phrase) MarshalJSON() ([]byte, error) {
	if v.Start == 0 && v.End == 0 {
		return json.Marshal(v.Text)
	}
	return json.Marshal(struct {
		Text  string `json:"text"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}(v))
}
