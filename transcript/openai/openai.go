package openai

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of request bodies of the Chat Completions API.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "openai" }

// Sniff implements [transcript.Format]. Messages with plain text only, which several
// providers accept, are taken for this format.
func (format) Sniff(data []byte) bool { return chat.Sniff(data) == chat.OpenAI }

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
	items, at := b.Cut(b.Messages)
	s.Items = items
	s.Messages = make([]transcript.Message, len(b.messages))
	for i := range b.messages {
		s.Messages[i] = b.messages[i].view()
		s.Messages[i].Items = []int{at[i]}
	}
	chat.Describe(s, "oa-", name)
	return s, nil
}

// Piece returns the messages in items, which are elements of the list "messages". It returns nil if
// they cannot be read without the rest of the body.
func (f format) Piece(items [][]byte) []transcript.Message {
	s, err := f.Decode("", slices.Concat([]byte(`{"messages":[`), bytes.Join(items, []byte(",")), []byte("]}")))
	if err != nil {
		return nil
	}
	return s.Messages
}
