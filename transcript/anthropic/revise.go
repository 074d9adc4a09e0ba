package anthropic

import (
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// revise returns the bytes of a source message with the changes that the entry and the
// provider's rules require, or nil if no block is left.
func (e *encoder) revise(en *transcript.Entry) []byte {
	raw := e.body.Messages[e.index(en)].Of(e.body.Data)
	unsigned := hasUnsigned(en.Parts)
	blanks := hasBlank(en.Source.Parts)
	ids := hasOddID(en.Parts)
	switch {
	case len(en.Source.Parts) == 0:
		e.fix("A10", "empty message left out")
		return nil
	case !en.Changed() && !unsigned && !blanks && !ids:
		return raw
	}
	m, err := readMessage(rawjson.NewReader(raw))
	if err != nil {
		panic("anthropic: " + err.Error()) // parse has read these bytes before
	}
	if unsigned {
		e.fix("A8", "thinking without a signature left out")
	}
	if blanks {
		e.fix("A10", "empty text left out")
	}
	if ids {
		e.fix("A0", "tool call id written in the provider's alphabet")
	}
	if !m.list {
		return nil // a blank text
	}
	cuts, left := m.drop(en.Bare || unsigned)
	if left == 0 {
		return nil
	}
	for i := range m.blocks {
		cuts = append(cuts, m.blocks[i].revise(en.Replaced)...)
	}
	return transcript.Splice(raw, cuts...)
}

// drop returns the cuts that remove blank texts from a list of blocks. If thinking is true, they
// remove thinking as well. The result left is the number of blocks that remain.
func (c *content) drop(thinking bool) (cuts []transcript.Cut, left int) {
	spans := make([]rawjson.Span, len(c.blocks))
	gone := make([]bool, len(c.blocks))
	for i := range c.blocks {
		k := &c.blocks[i]
		spans[i] = k.Span
		gone[i] = k.kind == "text" && blank(k.text) || thinking && k.thought()
		if !gone[i] {
			left++
		}
	}
	for _, s := range rawjson.Remove(spans, func(i int) bool { return gone[i] }) {
		cuts = append(cuts, transcript.Cut{From: s.Start, To: s.End})
	}
	return cuts, left
}

// revise returns the cuts that replace an id if it has letters that the provider refuses, and those
// that give a result its new text.
func (k *block) revise(replaced map[string]string) (cuts []transcript.Cut) {
	cut := func(s rawjson.Span, with []byte) {
		cuts = append(cuts, transcript.Cut{From: s.Start, To: s.End, With: with})
	}
	id := k.id
	if k.kind == "tool_result" {
		id = k.answers
	} else if k.kind != "tool_use" {
		return nil
	}
	switch {
	case chat.CleanID(id.text) == id.text:
	case id.End > 0:
		cut(id.Span, rawjson.AppendString(nil, chat.CleanID(id.text)))
	default: // the block has no id
		key := `"id": `
		if k.kind == "tool_result" {
			key = `"tool_use_id": `
		}
		with := append(rawjson.AppendString([]byte(key), chat.CleanID("")), ", "...)
		cut(rawjson.Span{Start: k.Start + 1, End: k.Start + 1}, with)
	}
	if k.kind != "tool_result" {
		return cuts
	}
	text, ok := replaced[k.answers.text]
	switch c := &k.content; {
	case ok && c.End > 0:
		cut(c.Span, rawjson.AppendString(nil, text))
	case ok:
		with := append(rawjson.AppendString([]byte(`"content": `), text), ", "...)
		cut(rawjson.Span{Start: k.Start + 1, End: k.Start + 1}, with)
	default:
		inner, _ := c.drop(false)
		cuts = append(cuts, inner...)
	}
	return cuts
}

func hasUnsigned(parts []transcript.Part) bool {
	for _, p := range parts {
		if t, ok := p.(transcript.Thinking); ok && t.Signature == "" {
			return true
		}
	}
	return false
}

// hasOddCall reports whether a call has no name, or input that is not an object.
func hasOddCall(parts []transcript.Part) bool {
	for _, p := range parts {
		if c, ok := p.(transcript.ToolCall); ok && (c.Name == "" || len(c.Input) == 0 || c.Input[0] != '{') {
			return true
		}
	}
	return false
}

func hasOddID(parts []transcript.Part) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case transcript.ToolCall:
			if chat.CleanID(p.ID) != p.ID {
				return true
			}
		case transcript.ToolResult:
			if chat.CleanID(p.CallID) != p.CallID {
				return true
			}
		}
	}
	return false
}
