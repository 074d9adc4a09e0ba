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

// layout is the layout of an export.
var layout = chat.Layout{Key: "messages", Hint: `opencode export SESSION writes {"info": …, "messages": […]}`}

// A value is the kind and the span of a member's value, which the reader skipped.
type value struct {
	rawjson.Span

	kind rawjson.Kind
}

// An object maps keys to the spans of their values.
type object map[string]value

// A document is a parsed export.
type document struct {
	*chat.Frame

	info object
	raw  rawjson.Span // of info
	msgs []message
}

// A message is one element of the list messages.
type message struct {
	info  object
	raw   rawjson.Span // of the object info
	parts []part

	id, role, parent string
	created          int64
	summary          bool // a finished reply with the summary of a compaction
	failed           bool // a reply that ended with an error
	aborted          bool // the error is that the user aborted the reply
}

// A part is one element of a message's list parts.
type part struct {
	object
	rawjson.Span

	id, kind string
	state    object // of a tool call
}

// read parses an export.
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
		return nil, &transcript.SyntaxError{Name: name, Line: 1, Field: "info", Text: "there is no object that describes the session", Hint: layout.Hint}
	}
	return d, nil
}

// members reads an object as the spans of its values.
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

// text returns the string under key, or "" if the value is not a string.
func (o object) text(data []byte, key string) string {
	v := o[key]
	if v.kind != rawjson.String {
		return ""
	}
	s, _ := rawjson.NewReader(v.Of(data)).String() // members has checked the value
	return s
}

// number returns the whole number under key, or 0.
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

// flag reports whether the value under key is true.
func (o object) flag(key string) bool { return o[key].kind == rawjson.True }

// in returns the object that is the value of key, or nil if the value is not an object or has a key
// twice.
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

// media returns a part of type file as it is sent. ok is false if OpenCode does not send it.
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

// attachments returns the attachments of a result.
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

// has reports whether a message has a part of the kind.
func (m *message) has(kind string) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == kind })
}
