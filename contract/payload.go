package contract

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A Payload has the initial data of a session. Every field is optional.
type Payload struct {
	Sources       []PayloadSource `json:"sources,omitempty"`
	Decisions     []string        `json:"decisions,omitempty"`
	OpenQuestions []string        `json:"open_questions,omitempty"`
	ResumeState   string          `json:"resume_state,omitempty"`
}

// A PayloadSource is a named text.
type PayloadSource struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ParsePayload parses a payload in JSON. For an unknown key, a repeated key and a value of a
// wrong type it fails with a [*PayloadError]. It does not change texts; [Contract.Init] cleans
// them.
func ParsePayload(data []byte) (*Payload, error) {
	p := new(Payload)
	r := rawjson.NewReader(data)
	err := r.Object(func(key string) error {
		switch key {
		case "sources":
			return r.Array(func(int) error { return p.readSource(r) })
		case "decisions":
			return readStrings(r, &p.Decisions)
		case "open_questions":
			return readStrings(r, &p.OpenQuestions)
		case "resume_state":
			return readString(r, &p.ResumeState)
		}
		return r.Fail(r.KeyOffset(), "is no field of a payload")
	})
	if err == nil {
		err = r.End()
	}
	if err == nil {
		return p, nil
	}
	e := &PayloadError{Text: err.Error()}
	if at, ok := errors.AsType[*rawjson.Error](err); ok {
		e.Field, e.Text = at.Path, at.Text
	}
	return nil, e
}

func (p *Payload) readSource(r *rawjson.Reader) error {
	var s PayloadSource
	start := r.Offset()
	var named, written bool
	err := r.Object(func(key string) error {
		switch key {
		case "name":
			named = true
			return readString(r, &s.Name)
		case "text":
			written = true
			return readString(r, &s.Text)
		}
		return r.Fail(r.KeyOffset(), "is no field of a source")
	})
	switch {
	case err != nil:
		return err
	case !named || !written:
		return r.Fail(start, "a source needs a name and a text")
	}
	p.Sources = append(p.Sources, s)
	return nil
}

func readStrings(r *rawjson.Reader, list *[]string) error {
	return r.Array(func(int) error {
		var s string
		err := readString(r, &s)
		*list = append(*list, s)
		return err
	})
}

func readString(r *rawjson.Reader, s *string) error {
	if r.Kind() != rawjson.String {
		return r.Fail(r.Offset(), "must be a string")
	}
	var err error
	*s, err = r.String()
	return err
}

// payload writes the statements for a payload.
func (d *draft) payload(p *Payload) {
	for i, s := range p.Sources {
		d.at(fmt.Sprintf("sources.%d", i), func() { d.remember("source", s.Name, Clean(s.Text)) })
	}
	for i, text := range p.Decisions {
		d.at(fmt.Sprintf("decisions.%d", i), func() { d.decide(Clean(text), Refuse) })
	}
	for i, text := range p.OpenQuestions {
		d.at(fmt.Sprintf("open_questions.%d", i), func() { d.question(Clean(text)) })
	}
	if p.ResumeState != "" {
		d.at("resume_state", func() { d.text(resumeState, Clean(p.ResumeState)) })
	}
}

// at calls the function write. If a text that it writes is not allowed, at adds the name of the
// field to the error.
func (d *draft) at(field string, write func()) {
	if d.err != nil {
		return
	}
	write()
	if e, ok := errors.AsType[*TextError](d.err); ok {
		d.err = &PayloadError{Field: field, Text: e.Error()}
	}
}

// missing returns an error about the first item of p that is not in s, or nil.
func (p *Payload) missing(s *Contract) error {
	for i, source := range p.Sources {
		name, err := sourceName(source.Name)
		if got, _ := s.source(name); err != nil || got.Text != Clean(source.Text) {
			return &PayloadError{Field: fmt.Sprintf("sources.%d", i), Text: "is not in the contract"}
		}
	}
	for i, text := range p.Decisions {
		if !s.has(Clean(text), TrackedDecisions, InheritedDecisions) {
			return &PayloadError{Field: fmt.Sprintf("decisions.%d", i), Text: "is not in the contract"}
		}
	}
	for i, text := range p.OpenQuestions {
		if !s.has(Clean(text), OpenQuestions, UnresolvedQuestions) {
			return &PayloadError{Field: fmt.Sprintf("open_questions.%d", i), Text: "is not in the contract"}
		}
	}
	if s.ResumeState() != Clean(p.ResumeState) && p.ResumeState != "" {
		return &PayloadError{Field: "resume_state", Text: "is not in the contract"}
	}
	return nil
}

// has reports whether a text is an item of one of some lists.
func (s *Contract) has(text string, in ...List) bool {
	for _, l := range in {
		if s.session.list(l).has(text) {
			return true
		}
	}
	return false
}
