package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// JSON returns the packet as indented JSON with a line feed at the end. It
// fails as [Packet.Validate] does. [Parse] reads it back.
func (p *Packet) JSON() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p.plain()); err != nil {
		return nil, fmt.Errorf("encode a packet: %w", err)
	}
	return b.Bytes(), nil
}

// MarshalJSON writes a packet. A required list that is nil becomes an empty
// list. MarshalJSON does not validate the packet.
func (p Packet) MarshalJSON() ([]byte, error) { return json.Marshal(p.plain()) }

// UnmarshalJSON reads a packet and is as strict as [Parse].
func (p *Packet) UnmarshalJSON(data []byte) error {
	q, err := readJSON("", data)
	if err == nil {
		*p = *q
	}
	return err
}

// plainPacket is a packet without methods, so that encoding/json does not call
// MarshalJSON again.
type plainPacket Packet

func (p *Packet) plain() *plainPacket {
	q := *p
	q.fillLists()
	return (*plainPacket)(&q)
}

// fillLists replaces required lists that are nil by empty lists.
func (p *Packet) fillLists() {
	for i := range layouts {
		l := &layouts[i]
		if l.section != sectionArtifacts && (l.form == formList || l.form == formTable) {
			l.entries(p).state()
		}
	}
}

// readJSON reads the JSON form.
func readJSON(name string, data []byte) (*Packet, error) {
	d := decoder{rawjson.NewReader(data)}
	p, err := d.packet()
	if err == nil {
		err = d.End()
	}
	if e, ok := errors.AsType[*rawjson.Error](err); ok {
		return nil, &transcript.SyntaxError{
			Name: name, Line: transcript.LineOf(data, e.Offset), Field: e.Path, Text: e.Text, Hint: e.Hint,
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// A decoder reads the parts of a packet from JSON.
type decoder struct{ *rawjson.Reader }

func (d decoder) packet() (*Packet, error) {
	p := new(Packet)
	p.fillLists()
	members := make(map[string]func() error)
	required := make([]string, 0, len(headFields)+len(layouts))
	for i, text := range p.head() {
		f := &headFields[i]
		members[f.key] = func() error { return d.text(f, text) }
		if !f.optional {
			required = append(required, f.key)
		}
	}
	for i := range layouts {
		l := &layouts[i]
		members[string(l.section)] = func() error { return d.section(p, l) }
		if l.section != sectionArtifacts {
			required = append(required, string(l.section))
		}
	}
	return p, d.object(members, required)
}

func (d decoder) section(p *Packet, l *layout) error {
	switch l.form {
	case formProse:
		return d.text(&field{}, l.text(p))
	case formIntent:
		return d.intent(&p.Intent)
	case formList, formTable:
	}
	entries := l.entries(p)
	entries.state()
	return d.array(func(int) error {
		row := entries.grow()
		if l.fields[0].key == "" {
			return d.text(&l.fields[0], row[0])
		}
		return d.fields(l.fields, row, nil)
	})
}

func (d decoder) intent(in *Aim) error {
	lists := make(map[string]func() error)
	for i, items := range in.lists() {
		lists[intentLists[i].key] = func() error {
			*items = []string{}
			return d.array(func(i int) error {
				*items = append(*items, "")
				return d.text(&field{}, &(*items)[i])
			})
		}
	}
	return d.fields(intentFields, in.texts(), lists)
}

// fields reads an object with two kinds of members. The members with the keys of fields are texts,
// which it stores in texts. The map others has functions that read the other members.
func (d decoder) fields(fields []field, texts []*string, others map[string]func() error) error {
	members := make(map[string]func() error, len(fields)+len(others))
	var required []string
	for i, text := range texts {
		f := &fields[i]
		members[f.key] = func() error { return d.text(f, text) }
		if !f.optional {
			required = append(required, f.key)
		}
	}
	maps.Copy(members, others)
	return d.object(members, required)
}

// object reads an object. The map members has for each allowed key the function that reads its
// value. It fails for any other key, and if a key in the list required is missing.
func (d decoder) object(members map[string]func() error, required []string) error {
	at := d.Offset()
	if d.Kind() != rawjson.Object {
		return d.wrong("an object")
	}
	seen := make(map[string]bool)
	if err := d.Object(func(key string) error {
		read, ok := members[key]
		if !ok {
			return hinted(d.Fail(d.KeyOffset(), "is not a field of a packet"), "remove the field; if the file is a conversation, carrel import takes it")
		}
		seen[key] = true
		return read()
	}); err != nil {
		return err
	}
	for _, key := range required {
		if !seen[key] {
			return hinted(d.Fail(at, "lacks %q", key), "add it; a list may be empty, and a text say what is unknown")
		}
	}
	return nil
}

func (d decoder) array(element func(i int) error) error {
	if d.Kind() != rawjson.Array {
		return d.wrong("a list")
	}
	return d.Array(element)
}

func (d decoder) text(f *field, to *string) error {
	at := d.Offset()
	if d.Kind() != rawjson.String {
		return d.wrong("a text")
	}
	s, err := d.String()
	if err != nil {
		return err
	}
	if d.Lossy() {
		return hinted(d.Fail(at, "is not valid Unicode"), "save the text as UTF-8")
	}
	if text, hint := f.problem(s); text != "" {
		return hinted(d.Fail(at, "%s", text), hint)
	}
	*to = s
	return nil
}

// wrong returns an error that the next value is not of the wanted kind. It reads
// the value first, and returns the syntax error instead if the value has one.
func (d decoder) wrong(want string) error {
	at := d.Offset()
	if _, err := d.Skip(); err != nil {
		return err
	}
	return hinted(d.Fail(at, "is not %s", want), "write "+want)
}

func hinted(e *rawjson.Error, hint string) error {
	e.Hint = hint
	return e
}
