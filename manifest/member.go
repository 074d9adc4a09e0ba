package manifest

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// A member is a field of a JSON object: its key and a pointer to its value. The type of the
// pointer decides the form of the value and its largest number.
type member struct {
	key      string
	value    any  // *string, *int, *int64, *ratio.Ratio, *bool, *[digest.Size]byte, *time.Time, **Score or *Rows
	optional bool // whether a zero value is left out; true and scores are always optional
}

// The members of the objects, in the order of their keys.

func (h *Header) members() [20]member {
	return [...]member{
		{"actor", &h.Actor, false},
		{"budget", (*int)(&h.Budget), false},
		{"candidates", &h.Candidates, false},
		{"created", &h.Created, false},
		{"demand", (*int)(&h.Demand), false},
		{"encoding", &h.Encoding, false},
		{"format", &h.Format, false},
		{"id", &h.ID, false},
		{"policy", &h.Policy, false},
		{"query", &h.Query, true},
		{"reserve", (*int)(&h.Reserve), false},
		{"review", &h.Review, true},
		{"revision", &h.Revision, true},
		{"scope", &h.Scope, false},
		{"semantic", &h.Semantic, true},
		{"semantic_calls", &h.SemanticCalls, true},
		{"session", (*string)(&h.Session), true},
		{"tier", (*string)(&h.Tier), false},
		{"total", (*int)(&h.Total), false},
		{"version", &h.Version, false},
	}
}

func (s *Segment) members() [15]member {
	return [...]member{
		{"bytes", &s.Bytes, false},
		{"cell", &s.Cell, false},
		{"class", (*string)(&s.Class), true},
		{"commit", (*[digest.Size]byte)(&s.Commit), false},
		{"fetched", &s.Fetched, true},
		{"form", (*string)(&s.Form), true},
		{"kind", (*string)(&s.Kind), false},
		{"neutralized", &s.Neutralized, true},
		{"reason", (*string)(&s.Reason), false},
		{"ref", &s.Ref, true},
		{"row", &s.Row, true},
		{"score", &s.Score, true},
		{"start", &s.Start, false},
		{"tokens", (*int)(&s.Tokens), false},
		{"version", &s.Version, true},
	}
}

func (o *Omission) members() [6]member {
	return [...]member{
		{"class", (*string)(&o.Class), true},
		{"reason", (*string)(&o.Reason), false},
		{"ref", &o.Ref, false},
		{"row", &o.Row, true},
		{"score", &o.Score, true},
		{"tokens", (*int)(&o.Tokens), true},
	}
}

func (s *Set) members() [3]member {
	return [...]member{
		{"count", &s.Count, false},
		{"reason", (*string)(&s.Reason), false},
		{"rows", &s.Rows, false},
	}
}

func (f *Fetch) members() [4]member {
	return [...]member{
		{"from", &f.From, true},
		{"outcome", (*string)(&f.Outcome), false},
		{"ref", &f.Ref, false},
		{"to", &f.To, true},
	}
}

func (o *Output) members() [2]member {
	return [...]member{
		{"bytes", &o.Bytes, false},
		{"commit", (*[digest.Size]byte)(&o.Commit), false},
	}
}

func (s *Score) members() [6]member {
	return [...]member{
		{"first", &s.First, true},
		{"provenance", &s.Provenance, true},
		{"recency", &s.Recency, true},
		{"semantic", &s.Semantic, true},
		{"tag", (*string)(&s.Tag), true},
		{"total", &s.Total, true},
	}
}

// number returns the value of a numeric member and the largest value that it may have.
func (m *member) number() (n, most int64, ok bool) {
	switch v := m.value.(type) {
	case *int:
		return int64(*v), math.MaxInt32, true
	case *int64:
		return *v, maxExact, true
	case *ratio.Ratio:
		return int64(*v), int64(ratio.One), true
	}
	return 0, 0, false
}

// inRange returns a text that names the first number that is out of range, or "" if all are in
// range.
func inRange(members []member) string {
	for i := range members {
		m := &members[i]
		if n, most, ok := m.number(); ok && (n < 0 || n > most) {
			return fmt.Sprintf("%s is %d, want 0 to %d", m.key, n, most)
		}
	}
	return ""
}

// object writes an object with the given members.
func (e encoder) object(members []member) encoder {
	e = append(e, '{')
	for i := range members {
		e = e.member(&members[i])
	}
	return e.close()
}

func (e encoder) member(m *member) encoder {
	if n, _, ok := m.number(); ok {
		if n == 0 && m.optional {
			return e
		}
		return e.int(m.key, n)
	}
	switch v := m.value.(type) {
	case *string:
		if *v != "" || !m.optional {
			e = e.str(m.key, *v)
		}
	case *bool:
		if *v {
			e = append(e.key(m.key), "true"...)
		}
	case *[digest.Size]byte:
		e = e.hex(m.key, *v)
	case *time.Time:
		e = e.str(m.key, v.UTC().Format(timeLayout))
	case **Score:
		if *v != nil {
			members := (*v).members()
			e = e.key(m.key).object(members[:])
		}
	case *Rows:
		e = v.append(append(e.key(m.key), '"'))
		e = append(e, '"')
	}
	return e
}

// object reads an object with the given members, which may be in any order.
func (d *decoder) object(members []member) error {
	next := 0 // position of the expected member in the canonical order
	return d.Object(func(key string) error {
		for range members {
			m := &members[next]
			if next++; next == len(members) {
				next = 0
			}
			if m.key == key {
				return d.member(m)
			}
		}
		return d.unknown()
	})
}

func (d *decoder) member(m *member) (err error) {
	switch v := m.value.(type) {
	case *string:
		*v, err = d.String()
	case *int:
		var n int64
		n, err = d.number(math.MaxInt32)
		*v = int(n)
	case *int64:
		*v, err = d.number(maxExact)
	case *ratio.Ratio:
		var n int64
		n, err = d.number(int64(ratio.One))
		*v = ratio.Ratio(n)
	case *bool:
		*v = true // false is never written
		err = d.truth()
	case *[digest.Size]byte:
		err = d.hex(v)
	case *time.Time:
		err = d.time(v)
	case **Score:
		*v = new(Score)
		members := (*v).members()
		err = d.object(members[:])
	case *Rows:
		err = d.rows(v)
	}
	return err
}

// rows reads the rows of a set.
func (d *decoder) rows(v *Rows) error {
	start := d.Offset()
	rows, err := d.String()
	if err != nil {
		return err
	}
	if *v, err = ParseRows(rows); err != nil {
		return d.Fail(start, "rows %q are not in canonical form", text.Clip(rows, shownText))
	}
	return nil
}

// number reads a whole number that is at least 0 and at most the limit most.
func (d *decoder) number(most int64) (int64, error) {
	start := d.Offset()
	span, err := d.Skip()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(span.Of(d.data)), 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, d.Fail(start, "want a whole number from 0 to %d", most)
	}
	return n, nil
}

// truth reads the JSON value true.
func (d *decoder) truth() error {
	start := d.Offset()
	if d.Kind() != rawjson.True {
		return d.Fail(start, "want true")
	}
	_, err := d.Skip()
	return err
}
