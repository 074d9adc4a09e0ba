package chat

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A Content is the value of the field "content" of a message. Its span is empty if the message has
// no such field.
type Content struct {
	rawjson.Span

	Null  bool
	Text  string // the content, if it is a string
	List  bool   // the content is a list of parts
	Parts []transcript.Part
}

// Empty reports whether the content is missing, null or an empty list.
func (c *Content) Empty() bool { return c.End == 0 || c.Null || c.List && len(c.Parts) == 0 }

// Said returns the parts of c. A content that is a string is one part of text, or none if the
// string is empty.
func (c *Content) Said() []transcript.Part {
	if !c.List && c.Text != "" {
		return []transcript.Part{transcript.Text(c.Text)}
	}
	return c.Parts
}

// Kinds maps the type of a content part to [Said], [Refused], or the kind
// of a [transcript.Media]. A part of another type is opaque.
type Kinds map[string]string

// The kinds of parts other than media: a text, and a refusal.
const (
	Said    = "text"
	Refused = "refusal"
)

// Read reads a content: a string, null or a list of parts.
func (k Kinds) Read(r *rawjson.Reader, data []byte) (c Content, err error) {
	c.Start = r.Offset()
	if r.Kind() == rawjson.String {
		c.Text, err = r.String()
	} else if c.Null = r.Kind() == rawjson.Null; c.Null {
		_, err = r.Skip()
	} else {
		c.List = true
		err = r.Array(func(int) error {
			p, err := k.part(r, data)
			c.Parts = append(c.Parts, p)
			return err
		})
	}
	c.End = r.Position()
	return c, err
}

// part reads an element of a content.
func (k Kinds) part(r *rawjson.Reader, data []byte) (transcript.Part, error) {
	start := r.Offset()
	var kind, text, refusal string
	m := transcript.Media{}
	err := r.Object(func(key string) (err error) {
		switch {
		case r.Kind() == rawjson.Object && (key == "image_url" || key == "input_audio" || key == "file"):
			return readMedia(r, &m)
		case r.Kind() != rawjson.String:
			_, err = r.Skip()
			return err
		}
		s, err := r.String()
		switch key {
		case "type":
			kind = s
		case "text":
			text = s
		case "refusal":
			refusal = s
		case "image_url", "file_data", "file_url":
			m.URL = s
		}
		return err
	})
	raw := rawjson.Span{Start: start, End: r.Position()}.Of(data)
	switch m.Kind = k[kind]; m.Kind {
	case "":
		return transcript.Opaque{Type: kind, Raw: raw}, err
	case Said:
		return transcript.Text(text), err
	case Refused:
		return transcript.Text(refusal), err
	case "audio":
		if m.MIME != "" {
			m.MIME = "audio/" + m.MIME
		}
	}
	m.Raw = raw
	if mime, b64, ok := SplitDataURL(m.URL); ok {
		m.MIME, m.Data, m.URL = mime, b64, ""
	}
	return m, err
}

// readMedia reads the object inside of an image, a sound or a file.
func readMedia(r *rawjson.Reader, m *transcript.Media) error {
	return r.Object(func(key string) (err error) {
		if r.Kind() != rawjson.String {
			_, err = r.Skip()
			return err
		}
		s, err := r.String()
		switch key {
		case "url", "file_data":
			m.URL = s
		case "data":
			m.Data = s
		case "format":
			m.MIME = s
		}
		return err
	})
}

// SplitDataURL splits a data URL with base64 data. ok is false for any other URL.
func SplitDataURL(url string) (mime, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}
