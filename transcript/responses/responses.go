package responses

import (
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of request bodies of the Responses API.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "responses" }

// Sniff implements [transcript.Format]. A list of messages that have no type is taken for the list
// of another API.
func (format) Sniff(data []byte) bool { return chat.Sniff(data) == chat.Responses }

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	return chat.Decode(name, data, f.body)
}

// body reads one body.
func (f format) body(name string, data []byte) (*transcript.Session, error) {
	b, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	s := b.Session(f.Name(), data)
	spans := make([]rawjson.Span, len(b.runs), len(b.runs)+1)
	for i, r := range b.runs {
		spans[i] = rawjson.Span{Start: b.Messages[r.from].Start, End: b.Messages[r.to-1].End}
	}
	if b.instructions.End > 0 {
		spans = append(spans, b.instructions.Span)
	}
	items, at := b.Cut(spans)
	s.Items = items
	s.Messages = make([]transcript.Message, 0, len(at))
	if b.instructions.End > 0 {
		s.Messages = append(s.Messages, transcript.Message{
			Role: transcript.RoleSystem, Parts: b.instructions.Said(), Items: at[len(b.runs):],
		})
	}
	for i, r := range b.runs {
		m := b.view(r)
		m.Items = []int{at[i]}
		s.Messages = append(s.Messages, m)
	}
	if s.Elsewhere = b.elsewhere; s.Elsewhere != "" {
		s.Warnings = append(s.Warnings, transcript.Warning{
			Line: transcript.LineOf(data, b.saysSo),
			Text: s.Elsewhere + ": a part of the history is at the provider's server and not in this session",
		})
	}
	chat.Describe(s, "re-", name)
	return s, nil
}

// Piece returns the messages in items, which are elements of the list "input". It returns nil if
// they cannot be read without the rest of the body, as for instructions.
func (f format) Piece(items [][]byte) []transcript.Message {
	s, err := f.Decode("", Body(items))
	if err != nil {
		return nil
	}
	return s.Messages
}

// Body returns a request body whose input is items, without other fields.
func Body(items [][]byte) []byte { return chat.Listing("input", items) }

// Messages returns the messages of a list of items, each with the indexes of its items.
func Messages(items [][]byte) ([]transcript.Message, error) {
	b, err := parse("", Body(items))
	if err != nil {
		return nil, err
	}
	messages := make([]transcript.Message, len(b.runs))
	for i, r := range b.runs {
		messages[i] = b.view(r)
		for k := r.from; k < r.to; k++ {
			messages[i].Items = append(messages[i].Items, k)
		}
	}
	return messages, nil
}
