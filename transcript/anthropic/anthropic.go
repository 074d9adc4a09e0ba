package anthropic

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of request bodies of the Messages API.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "anthropic" }

// Sniff implements [transcript.Format]. Messages with plain text only, which several
// providers accept, are taken for OpenAI's.
func (format) Sniff(data []byte) bool { return chat.Sniff(data) == chat.Anthropic }

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
	spans := b.Messages
	if b.system.End > 0 {
		spans = slices.Concat(spans, []rawjson.Span{b.system.Span})
	}
	items, at := b.Cut(spans)
	s.Items = items
	s.Messages = make([]transcript.Message, 0, len(at))
	if b.system.End > 0 {
		s.Messages = append(s.Messages, transcript.Message{
			Role:  transcript.RoleSystem,
			Parts: b.system.parts(data),
			Items: []int{at[len(b.messages)]},
		})
	}
	for i := range b.messages {
		m := &b.messages[i]
		s.Messages = append(s.Messages, transcript.Message{Role: m.kind(), Parts: m.parts(data), Items: []int{at[i]}})
	}
	chat.Describe(s, "an-", name)
	return s, nil
}

// kind returns the role that m has as a [transcript.Message].
func (m *message) kind() transcript.Role {
	switch {
	case m.role == "system":
		return transcript.RoleSystem
	case m.role == "assistant":
		return transcript.RoleAssistant
	case slices.ContainsFunc(m.blocks, func(k block) bool { return k.kind == "tool_result" }):
		return transcript.RoleTool
	}
	return transcript.RoleUser
}

// Piece returns the messages in items, which are elements of the list "messages". It returns nil if
// they cannot be read without the rest of the body, as for a system field.
func (f format) Piece(items [][]byte) []transcript.Message {
	s, err := f.Decode("", slices.Concat([]byte(`{"messages":[`), bytes.Join(items, []byte(",")), []byte("]}")))
	if err != nil {
		return nil
	}
	return s.Messages
}
