package gemini

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of request bodies of the Gemini API.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "gemini" }

// Sniff implements [transcript.Format]: data has a list of contents, whose first element has
// parts. A read error only means that data is cut off.
func (format) Sniff(data []byte) bool {
	r := rawjson.NewReader(data)
	found := false
	first := func(i int) error {
		if i > 0 || r.Kind() != rawjson.Object {
			_, err := r.Skip()
			return err
		}
		return r.Object(func(key string) error {
			found = found || key == "parts" && r.Kind() == rawjson.Array
			_, err := r.Skip()
			return err
		})
	}
	var err error
	if r.Kind() == rawjson.Array {
		err = r.Array(first)
	} else {
		err = r.Object(func(key string) error {
			if key == layout.Key && r.Kind() == rawjson.Array {
				return r.Array(first)
			}
			_, err := r.Skip()
			return err
		})
	}
	return found && (err != nil || r.End() == nil) // otherwise data is a log of several objects
}

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	b, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	s := b.Session(f.Name(), data)
	spans := b.Messages
	if b.system.End > 0 {
		spans = append(slices.Clip(spans), b.system.Span)
	}
	items, at := b.Cut(spans)
	s.Items = items
	s.Messages = make([]transcript.Message, 0, len(at))
	if b.system.End > 0 {
		s.Messages = append(s.Messages, transcript.Message{Role: transcript.RoleSystem, Parts: b.system.view(data), Items: at[len(b.contents):]})
	}
	for i := range b.contents {
		c := &b.contents[i]
		s.Messages = append(s.Messages, transcript.Message{Role: c.kind(), Parts: c.view(data), Items: []int{at[i]}})
	}
	chat.Describe(s, "ge-", name)
	return s, nil
}

// Piece returns the messages in items, which are elements of the list "contents". It returns nil if
// they cannot be read without the rest of the body, as for a system instruction.
func (f format) Piece(items [][]byte) []transcript.Message {
	s, err := f.Decode("", Body(items))
	if err != nil {
		return nil
	}
	return s.Messages
}

// Body returns a request body with these contents, without other fields.
func Body(contents [][]byte) []byte {
	return slices.Concat([]byte(`{"contents":[`), bytes.Join(contents, []byte(",")), []byte("]}"))
}

// kind returns the role of c in [transcript.Message].
func (c *content) kind() transcript.Role {
	switch {
	case c.role == roleModel:
		return transcript.RoleAssistant
	case slices.ContainsFunc(c.parts, func(p part) bool { return p.kind == responds && p.data == 1 }):
		return transcript.RoleTool
	}
	return transcript.RoleUser
}

// Messages returns the messages of a list of contents, one for each, without Items. It fails if a
// content cannot be read.
func Messages(contents [][]byte) ([]transcript.Message, error) {
	b, err := parse("", Body(contents))
	if err != nil {
		return nil, err
	}
	messages := make([]transcript.Message, len(b.contents))
	for i := range b.contents {
		c := &b.contents[i]
		messages[i] = transcript.Message{Role: c.kind(), Parts: c.view(b.Data)}
	}
	return messages, nil
}
