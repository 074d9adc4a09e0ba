package openai

import (
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of request bodies of the Chat Completions API.
type Format struct{}

var _ transcript.Format = Format{}

// Name implements [transcript.Format].
func (Format) Name() string { return "openai" }

// Sniff implements [transcript.Format]. It takes messages of which nothing but
// plain text is known for its own.
func (Format) Sniff(data []byte) bool { return chat.Sniff(data) == chat.OpenAI }

// Decode implements [transcript.Format].
func (f Format) Decode(name string, data []byte) (*transcript.Session, error) {
	b, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	s := b.Session(f.Name(), data)
	items, at := b.Cut()
	s.Items = items
	s.Messages = make([]transcript.Message, len(b.messages))
	for i := range b.messages {
		s.Messages[i] = b.messages[i].view()
		s.Messages[i].Items = []int{at[i]}
	}
	chat.Describe(s, "oa-", name)
	return s, nil
}
