package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: chat.Now(w.Session.Bytes()), Spans: chat.Spans(w)}, nil
	}
	source := []byte(`{"messages": []}`)
	if own {
		source = chat.Now(w.Session.Bytes())
	}
	b, err := parse("", source)
	if err != nil {
		return nil, err
	}
	entries, fixes := rules.Repair(w.Entries)
	e := &encoder{body: b, own: own, mend: w.Mend, fixes: fixes, at: chat.Indexes(w.Session), legacy: make(map[string]string)}
	if !own {
		e.losses.Account(w, func(role string, m transcript.Media) bool { return e.media(role, m) != nil })
	}
	at := make([]int, len(entries))
	for i := 0; i < len(entries); {
		last := i
		at[i] = len(e.pieces)
		for last < len(entries) && len(entries[last].Results()) > 0 {
			at[last] = at[i] + last - i
			last++
		}
		e.owner = entries[i].Block
		if last > i {
			e.results(entries[i:last])
			i = last
			continue
		}
		e.plain(&entries[i])
		i++
	}
	chat.Place(e.fixes[:len(fixes)], at)
	data, spans := b.Join(e.pieces)
	return &transcript.Encoded{Data: data, Losses: e.losses.List, Repairs: e.fixes, Spans: spans}, nil
}

// An encoder writes the messages of a window.
type encoder struct {
	body   *body
	own    bool // the session is in this format, so messages can be kept
	mend   bool // record repairs
	at     map[*transcript.Message]int
	calls  []transcript.ToolCall // calls of the latest reply
	legacy map[string]string     // names of calls kept as function_call, by id
	owner  transcript.BlockID    // block that is being written
	pieces []chat.Piece
	losses chat.Losses
	fixes  []transcript.Fix
}

// rules are the numbers of the rules for calls and results.
var rules = transcript.Pairing{Twice: "X8", Apart: "X4", Second: "X1", Unanswered: "X1", Orphan: "X1"}

func (e *encoder) fix(rule, what string) {
	e.fixes = append(e.fixes, transcript.Fix{Rule: rule, Message: len(e.pieces), What: what})
}

func (e *encoder) write(raw []byte, index int) {
	e.pieces = append(e.pieces, chat.Piece{Raw: raw, Index: index, Block: e.owner})
}

// original returns the source message of en and its index, or nil if en has no source.
func (e *encoder) original(en *transcript.Entry) (*message, int) {
	if !e.own {
		return nil, -1
	}
	at, ok := e.at[en.Source]
	if !ok {
		return nil, -1
	}
	return &e.body.messages[at], at
}

// plain writes a message without tool results.
func (e *encoder) plain(en *transcript.Entry) {
	if en.Role == transcript.RoleAssistant {
		e.calls = en.Calls()
	}
	m, at := e.original(en)
	if m == nil {
		e.writeMade(e.made(en))
		return
	}
	raw := e.body.Messages[at].Of(e.body.Data)
	if en.Bare && e.mend {
		e.fix("", "reasoning left out")
	}
	switch {
	case m.empty() || en.Bare && len(en.Parts) == 0:
		if !en.Bare {
			e.fix("X0", "empty message left out")
		}
		return
	case m.oddCalls():
		e.fix("X8", "tool call written anew")
		e.writeMade(e.made(en))
		return
	case m.legacy:
		c := m.calls[len(m.calls)-1]
		e.legacy[c.id] = c.name
	}
	if en.Bare {
		raw = chat.Drop(raw, isThought)
	}
	e.write(e.withCalls(m, raw), at)
}

// withCalls returns raw, the encoding of m, without its list of calls if the list is empty.
func (e *encoder) withCalls(m *message, raw []byte) []byte {
	if !m.noCalls {
		return raw
	}
	e.fix("X8", "empty list of calls left out")
	return chat.Drop(raw, func(key string) bool { return key == "tool_calls" })
}

// writeMade writes a message without a source, unless raw is nil.
func (e *encoder) writeMade(raw []byte) {
	if raw != nil {
		e.write(raw, -1)
	}
}

// empty reports whether m has neither content nor calls in the provider's sense.
func (m *message) empty() bool {
	return m.content.Empty() && len(m.calls) == 0 && m.refusal == "" && !m.audio
}

// oddCalls reports whether the provider would refuse a call of m.
func (m *message) oddCalls() bool {
	return slices.ContainsFunc(m.calls, func(c call) bool { return c.id == "" || c.name == "" || !c.text })
}

// results writes consecutive entries with tool results: one message per result, then one
// message for their other parts.
func (e *encoder) results(run []transcript.Entry) {
	made, others := chat.Loose(run, e.calls, func(en *transcript.Entry) bool {
		m, at := e.original(en)
		return m != nil && e.keepResult(en, m, at)
	})
	for _, r := range made {
		e.write(e.result(r), -1)
	}
	e.writeMade(e.made(&transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: others}}))
}

// keepResult writes a result with its source bytes. It reports false if the result has to
// be encoded again.
func (e *encoder) keepResult(en *transcript.Entry, m *message, at int) bool {
	raw := e.body.Messages[at].Of(e.body.Data)
	text, replaced := en.Replaced[m.answers]
	_, legacy := e.legacy[m.answers]
	switch {
	case m.answers == "" || m.legacy != legacy:
		return false
	case !replaced && m.empty():
		e.fix("X0", "missing content written as an empty text")
		replaced = true
	}
	if replaced {
		raw = chat.Set(raw, "content", rawjson.AppendString(nil, text))
	}
	e.write(e.withCalls(m, raw), at)
	return true
}

// made encodes a message without a source, or returns nil if nothing of the message can be
// written.
func (e *encoder) made(en *transcript.Entry) []byte {
	switch en.Role {
	case transcript.RoleAssistant:
		return e.reply(en)
	case transcript.RoleSystem:
		return e.said("system", en)
	case transcript.RoleUser, transcript.RoleTool:
	}
	return e.said("user", en)
}

// said encodes a user's or a system message: a single text as a string, anything else as a
// list.
func (e *encoder) said(role string, en *transcript.Entry) []byte {
	var parts [][]byte
	for _, p := range en.Parts {
		if raw := e.part(role, p); raw != nil {
			parts = append(parts, raw)
		}
	}
	raw := []byte(`{"role": "` + role + `", "content": `)
	switch text, single := chat.Only(en.Parts); {
	case len(parts) == 0:
		return nil
	case single:
		raw = rawjson.AppendString(raw, text)
	default:
		raw = append(raw, '[')
		for i, p := range parts {
			if i > 0 {
				raw = append(raw, ", "...)
			}
			raw = append(raw, p...)
		}
		raw = append(raw, ']')
	}
	return append(raw, '}')
}

// part encodes an element of a content, or returns nil if the API has no form for it.
func (e *encoder) part(role string, p transcript.Part) []byte {
	switch p := p.(type) {
	case transcript.Text:
		return textPart(string(p))
	case transcript.Media:
		if raw := e.media(role, p); raw != nil {
			return raw
		}
		return textPart(chat.Placeholder(p))
	case transcript.Opaque:
		if e.own {
			return p.Raw
		}
	case transcript.Thinking, transcript.ToolCall, transcript.ToolResult:
	}
	return nil
}

func textPart(text string) []byte {
	return append(rawjson.AppendString([]byte(`{"type": "text", "text": `), text), '}')
}

// media encodes an image, a sound or a file, or returns nil if the API does not allow
// the media in a message of this role.
func (e *encoder) media(role string, p transcript.Media) []byte {
	url := chat.DataURL(p)
	switch {
	case e.own:
		return p.Raw
	case role != "user":
		return nil
	case p.Kind == "image" && url != "":
		raw := rawjson.AppendString([]byte(`{"type": "image_url", "image_url": {"url": `), url)
		return append(raw, "}}"...)
	case p.Kind == "audio":
		return chat.Sound(p)
	case p.Kind == "document" && p.Data != "" && p.MIME == "application/pdf":
		raw := rawjson.AppendString([]byte(`{"type": "file", "file": {"filename": "document.pdf", "file_data": `), url)
		return append(raw, "}}"...)
	}
	return nil
}

// reply encodes an assistant's message, or returns nil if nothing of it can be written.
func (e *encoder) reply(en *transcript.Entry) []byte {
	text := chat.Flat(en.Parts)
	calls := en.Calls()
	if text == "" && len(calls) == 0 {
		return nil
	}
	raw := []byte(`{"role": "assistant", "content": `)
	if text == "" {
		raw = append(raw, "null"...)
	} else {
		raw = rawjson.AppendString(raw, text)
	}
	for _, p := range en.Parts {
		if t, ok := p.(transcript.Thinking); ok && e.own && t.Text != "" {
			raw = rawjson.AppendString(append(raw, `, "reasoning_content": `...), t.Text)
		}
	}
	for i, c := range calls {
		sep := ", "
		if i == 0 {
			sep = `, "tool_calls": [`
		}
		raw = append(raw, sep...)
		raw = e.call(raw, c)
	}
	if len(calls) > 0 {
		raw = append(raw, ']')
	}
	return append(raw, '}')
}

func (e *encoder) call(raw []byte, c transcript.ToolCall) []byte {
	name := cmp.Or(c.Name, "unknown")
	raw = rawjson.AppendString(append(raw, `{"id": `...), chat.CallID(e.own, c.ID))
	raw = rawjson.AppendString(append(raw, `, "type": "function", "function": {"name": `...), name)
	input := string(c.Input)
	if !e.own && strings.TrimSpace(input) == "" { // servers read the arguments as JSON
		input = "{}"
	}
	raw = rawjson.AppendString(append(raw, `, "arguments": `...), input)
	return append(raw, "}}"...)
}

// result encodes a tool result; it answers a function_call if the call was kept as one.
func (e *encoder) result(r transcript.ToolResult) []byte {
	raw := []byte(`{"role": "tool", "tool_call_id": `)
	if name, ok := e.legacy[r.CallID]; ok {
		raw = rawjson.AppendString([]byte(`{"role": "function", "name": `), name)
	} else {
		raw = rawjson.AppendString(raw, chat.CallID(e.own, r.CallID))
	}
	raw = rawjson.AppendString(append(raw, `, "content": `...), chat.Flat(r.Content))
	return append(raw, '}')
}
