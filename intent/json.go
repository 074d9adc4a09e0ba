package intent

import "encoding/json"

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
		d.Confidence = Low
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
