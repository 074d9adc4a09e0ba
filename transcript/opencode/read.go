package opencode

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// layout is that of an export.
var layout = chat.Layout{Key: "messages", Hint: `opencode export SESSION writes {"info": …, "messages": […]}`}

// A value is one of an object that was passed over.
type value struct {
	rawjson.Span

	kind rawjson.Kind
}

// An object is one whose members were passed over.
type object map[string]value

// A document is an export as it was read.
type document struct {
	*chat.Frame

	info object
	raw  rawjson.Span // of info
	msgs []message
}

// A message is one of a document.
type message struct {
	info  object
	raw   rawjson.Span // of info
	parts []part

	id, role, parent string
	created          int64
	summary          bool // a reply that is the summary of a compaction, and has ended
	failed           bool // with an error
	aborted          bool // by the user, which is an error too
}

// A part is one of a message.
type part struct {
	object
	rawjson.Span

	id, kind string
	state    object // of a tool call
}

// read reads an export.
func read(name string, data []byte) (*document, error) {
	d := &document{}
	field := func(r *rawjson.Reader, key string) (err error) {
		if key != "info" || r.Kind() != rawjson.Object {
			_, err = r.Skip()
			return err
		}
		start := r.Offset()
		d.info, err = members(r)
		d.raw = rawjson.Span{Start: start, End: r.Position()}
		return err
	}
	message := func(r *rawjson.Reader, _ int) error {
		m, err := readMessage(r, data)
		d.msgs = append(d.msgs, m)
		return err
	}
	var err error
	if d.Frame, err = layout.Read(name, data, field, message); err != nil {
		return nil, err
	}
	if len(d.info) == 0 {
		return nil, &transcript.SyntaxError{Name: name, Line: 1, Field: "info", Text: "nothing is said of the session", Hint: layout.Hint}
	}
	return d, nil
}

// members reads an object, and passes over its values.
func members(r *rawjson.Reader) (object, error) {
	o := make(object)
	err := r.Object(func(key string) error {
		kind := r.Kind()
		span, err := r.Skip()
		o[key] = value{span, kind}
		return err
	})
	return o, err
}

func readMessage(r *rawjson.Reader, data []byte) (m message, err error) {
	start, listed := r.Offset(), false
	err = r.Object(func(key string) (err error) {
		switch key {
		case "info":
			m.raw.Start = r.Offset()
			m.info, err = members(r)
			m.raw.End = r.Position()
		case "parts":
			listed = true
			err = r.Array(func(int) error {
				p, err := readPart(r, data)
				m.parts = append(m.parts, p)
				return err
			})
		default:
			_, err = r.Skip()
		}
		return err
	})
	if err != nil {
		return m, err
	}
	m.role = m.info.text(data, "role")
	switch {
	case m.role != "user" && m.role != "assistant":
		e := r.Fail(start, "a message needs an info with the role user or assistant")
		e.Hint = layout.Hint
		return m, e
	case !listed:
		e := r.Fail(start, "a message needs a list of parts")
		e.Hint = layout.Hint
		return m, e
	}
	m.id, m.parent, m.created = m.info.text(data, "id"), m.info.text(data, "parentID"), m.info.in(data, "time").number(data, "created")
	if e := m.info["error"]; e.kind == rawjson.Object {
		m.failed, m.aborted = true, m.info.in(data, "error").text(data, "name") == "MessageAbortedError"
	}
	m.summary = m.role == "assistant" && m.info["summary"].kind == rawjson.True && m.info.text(data, "finish") != "" && !m.failed
	return m, nil
}

func readPart(r *rawjson.Reader, data []byte) (p part, err error) {
	p.Start = r.Offset()
	if p.object, err = members(r); err != nil {
		return p, err
	}
	p.End = r.Position()
	p.id, p.kind = p.text(data, "id"), p.text(data, "type")
	if p.kind == "" {
		return p, r.Fail(p.Start, "a part needs a type")
	}
	if p.kind == "tool" {
		if state := p.object["state"]; state.kind == rawjson.Object {
			err = r.At(state.Start, "state", func() (err error) { p.state, err = members(r); return err })
		}
	}
	return p, err
}

// text returns a member that is a text, or an empty text.
func (o object) text(data []byte, key string) string {
	v := o[key]
	if v.kind != rawjson.String {
		return ""
	}
	s, _ := rawjson.NewReader(v.Of(data)).String() // it was passed over, so it can be read
	return s
}

// number returns a member that is a whole number, or 0.
func (o object) number(data []byte, key string) int64 {
	v := o[key]
	if v.kind != rawjson.Number {
		return 0
	}
	n, err := strconv.ParseInt(string(v.Of(data)), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		f, _ := strconv.ParseFloat(string(v.Of(data)), 64)
		n = int64(min(max(f, -1<<53), 1<<53))
	}
	return n
}

// flag reports whether a member is true.
func (o object) flag(key string) bool { return o[key].kind == rawjson.True }

// in returns a member that is an object, or nothing. An object that cannot be looked into,
// as it has a key twice, is nothing.
func (o object) in(data []byte, key string) object {
	v := o[key]
	if v.kind != rawjson.Object {
		return nil
	}
	inner, err := members(rawjson.NewReader(v.Of(data)))
	if err != nil {
		return nil
	}
	for k, m := range inner {
		m.Start, m.End = m.Start+v.Start, m.End+v.Start
		inner[k] = m
	}
	return inner
}

// media returns a part of type file, as it is sent; nil if it is not.
func (o object) media(data []byte, span rawjson.Span) (transcript.Part, bool) {
	mime, url := o.text(data, "mime"), o.text(data, "url")
	if mime == "text/plain" || mime == "application/x-directory" {
		return nil, false
	}
	m := transcript.Media{Kind: "document", MIME: mime, URL: url, Raw: json.RawMessage(span.Of(data))}
	if kind, _, _ := strings.Cut(mime, "/"); kind == "image" || kind == "audio" {
		m.Kind = kind
	}
	if _, b64, ok := chat.SplitDataURL(url); ok {
		m.Data, m.URL = b64, ""
	}
	return m, true
}

// attachments returns what a result has beside its text.
func (p *part) attachments(data []byte) []transcript.Part {
	list := p.state["attachments"]
	if list.kind != rawjson.Array {
		return nil
	}
	raw := list.Of(data)
	spans, err := rawjson.NewReader(raw).Elements()
	if err != nil {
		return nil
	}
	var found []transcript.Part
	for _, s := range spans {
		if o, err := members(rawjson.NewReader(s.Of(raw))); err == nil && o.text(s.Of(raw), "type") == "file" {
			if m, ok := o.media(s.Of(raw), rawjson.Span{End: s.End - s.Start}); ok {
				found = append(found, m)
			}
		}
	}
	return found
}

// visible returns the parts of a message that are of one of the types.
func (m *message) has(kind string) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == kind })
}
