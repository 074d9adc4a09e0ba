package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A ParseError names the probe in a list that cannot be parsed.
type ParseError struct {
	Index   int    // from 0; -1 for the list itself
	Field   string // JSON name; empty for a whole probe or the list
	Problem string
}

func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString("probes")
	if e.Index >= 0 {
		fmt.Fprintf(&b, "[%d]", e.Index)
	}
	if e.Field != "" {
		b.WriteString("." + e.Field)
	}
	return b.String() + ": " + e.Problem
}

// Parse parses a JSON list of probes, or an object with the list in "probes". It reads the
// output of json.Marshal for a []Probe and both published forms. The newer form lacks id and
// need, and Parse computes them. The older form has a single keyword in expected_contains; a
// probe without a type is an intent. Unknown fields are ignored. An error is a [*ParseError].
func Parse(data []byte) ([]Probe, error) {
	whole := func(problem string) ([]Probe, error) { return nil, &ParseError{-1, "", problem} }
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		var object struct {
			Probes json.RawMessage `json:"probes"`
		}
		if err := json.Unmarshal(data, &object); err != nil {
			return whole(err.Error())
		}
		if object.Probes == nil {
			return whole("the list \"probes\" is missing")
		}
		data = object.Probes
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return whole("not a list of probes: " + err.Error())
	}
	if list == nil {
		return whole("not a list of probes: null")
	}
	probes := make([]Probe, len(list))
	for i, raw := range list {
		if err := probes[i].read(raw); err != nil {
			err.Index = i
			return nil, err
		}
	}
	name(probes)
	return probes, nil
}

// read reads one probe. The caller adds the index to the error.
func (p *Probe) read(raw json.RawMessage) *ParseError {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return &ParseError{Problem: "not an object"}
	}
	var contains string
	for _, f := range []struct {
		name string
		to   any
		kind string
	}{
		{"id", &p.ID, "a text"},
		{"type", (*string)(&p.Type), "a text"},
		{"about", &p.About, "a text"},
		{"question", &p.Question, "a text"},
		{"expected_keywords", &p.Expected, "a list of texts"},
		{"expected_contains", &contains, "a text"},
		{"need", &p.Need, "a whole number"},
		{"critical", &p.Critical, "true or false"},
	} {
		if v, ok := fields[f.name]; ok && json.Unmarshal(v, f.to) != nil {
			return &ParseError{Field: f.name, Problem: "not " + f.kind}
		}
	}
	if v, ok := fields["source_message"]; ok {
		var index int
		switch {
		case json.Unmarshal(v, &p.Source) == nil:
		case json.Unmarshal(v, &index) == nil:
			p.Source = strconv.Itoa(index)
		default:
			return &ParseError{Field: "source_message", Problem: "not a text or a whole number"}
		}
	}
	if contains != "" && len(p.Expected) == 0 {
		p.Expected = []string{contains}
	}
	if p.Type == "" && contains != "" {
		p.Type = typeIntent
	}
	return p.check()
}

// check returns an error for a missing field or one out of range, and computes missing fields
// where possible.
func (p *Probe) check() *ParseError {
	switch {
	case p.Type == "":
		return &ParseError{Field: "type", Problem: "missing"}
	case !slices.Contains(Types(), p.Type):
		return &ParseError{Field: "type", Problem: fmt.Sprintf("%q is no type of probes: want one of %v", string(p.Type), Types())}
	case strings.TrimSpace(p.Question) == "":
		return &ParseError{Field: "question", Problem: "missing"}
	case len(p.Expected) == 0:
		return &ParseError{Field: "expected_keywords", Problem: "missing"}
	case slices.ContainsFunc(p.Expected, func(k string) bool { return strings.TrimSpace(k) == "" }):
		return &ParseError{Field: "expected_keywords", Problem: "an empty keyword"}
	case p.Need < 0 || p.Need > len(p.Expected):
		return &ParseError{Field: "need", Problem: fmt.Sprintf("%d, want 0 to %d, the number of expected_keywords", p.Need, len(p.Expected))}
	}
	p.Need = p.need()
	return nil
}
