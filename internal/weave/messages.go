package weave

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// messages reads answers of Messages.
type messages struct {
	w      *Weaver
	id     []byte
	base   int            // number of blocks that the client got from earlier rounds
	blocks map[int]*block // open blocks, by index in the round
	shown  int            // number of blocks that the client got from this round
	start  []byte         // usage at the beginning of the round
	deltas []*event       // the events message_delta of the round, which are held back
	last   *event         // the event message_stop, which is held back
	bodies [][]byte       // bodies of answers that are no streams
}

// A block is a content block that is received in pieces.
type block struct {
	begun   []byte // content_block of its first event
	at      int    // index of the block for the client; -1 if the client does not get it
	kind    string
	id      string
	parts   map[string]*strings.Builder // the text so far, by field of the block
	cited   [][]byte
	unknown bool
}

// deltas maps each type of delta to two names of fields: the field of the block to which
// the delta appends text, and the field of the delta that has this text.
var deltas = map[string][2]string{
	"text_delta": {"text", "text"}, "thinking_delta": {"thinking", "thinking"},
	"signature_delta": {"signature", "signature"}, "input_json_delta": {"input", "partial_json"},
}

func (m *messages) event(e *event) (out []byte, over bool) {
	switch kind := said(get(e.data, "type")); kind {
	case "message_start":
		m.start = get(e.data, "message", "usage")
		m.blocks = make(map[int]*block)
		if m.deltas = nil; m.id != nil {
			m.base, m.shown = m.base+m.shown, 0
			return nil, false
		}
		m.id = slices.Clone(get(e.data, "message", "id"))
	case "content_block_start", "content_block_delta", "content_block_stop":
		return m.part(kind, e), false
	case "message_delta":
		m.deltas = append(m.deltas, &event{raw: slices.Clone(e.raw), name: e.name, data: e.data})
		return nil, false
	case "message_stop":
		m.last = &event{raw: slices.Clone(e.raw), name: e.name, data: e.data}
		r := m.w.Round()
		r.usage = m.start
		for _, d := range m.deltas {
			r.usage = withMembers(r.usage, get(d.data, "usage"))
			r.Stop = cmp.Or(said(get(d.data, "delta", "stop_reason")), r.Stop)
		}
		return nil, true
	}
	return e.raw, false
}

// part reads an event about a content block, and returns the bytes for the
// client.
func (m *messages) part(kind string, e *event) []byte {
	index := number(get(e.data, "index"))
	b := m.blocks[index]
	if kind == "content_block_start" {
		begun := slices.Clone(get(e.data, "content_block"))
		b = &block{begun: begun, at: -1, kind: said(get(begun, "type")), id: said(get(begun, "id")), parts: make(map[string]*strings.Builder)}
		if b.kind != "tool_use" || said(get(begun, "name")) != m.w.tool {
			b.at = m.base + m.shown
			m.shown++
		}
		m.blocks[index] = b
	}
	if b == nil {
		return e.raw // an event of an unknown block: the client gets it unchanged
	}
	switch kind {
	case "content_block_delta":
		b.take(get(e.data, "delta"))
	case "content_block_stop":
		m.finish(b)
	}
	switch b.at {
	case -1:
		return nil
	case index:
		return e.raw
	}
	return e.written(with(e.data, "index", strconv.AppendInt(nil, int64(b.at), 10)))
}

// take appends the text of a delta to the block.
func (b *block) take(delta []byte) {
	kind := said(get(delta, "type"))
	if kind == "citations_delta" {
		b.cited = append(b.cited, slices.Clone(get(delta, "citation")))
		return
	}
	field, known := deltas[kind]
	if !known {
		b.unknown = true
		return
	}
	if b.parts[field[0]] == nil {
		b.parts[field[0]] = new(strings.Builder)
	}
	b.parts[field[0]].WriteString(said(get(delta, field[1])))
}

// finish adds a complete block to the round.
func (m *messages) finish(b *block) {
	whole := b.begun
	for field, part := range b.parts {
		switch text := part.String(); {
		case field != "input":
			whole = with(whole, field, quote(said(get(b.begun, field))+text))
		case text == "": // the block began with its input
		case !rawjson.Valid([]byte(text)):
			return // the arguments were cut off, so the call is dropped
		default:
			whole = with(whole, field, []byte(text))
		}
	}
	if len(b.cited) > 0 {
		whole = with(whole, "citations", list(b.cited))
	}
	m.take(whole)
	m.w.Round().unsure = m.w.Round().unsure || b.unknown
}

// take adds a complete block to the round.
func (m *messages) take(whole []byte) {
	r := m.w.Round()
	shown := true
	switch said(get(whole, "type")) {
	case "tool_use":
		shown = said(get(whole, "name")) != m.w.tool
		r.called(said(get(whole, "id")), string(get(whole, "input")), !shown)
	case "text":
		r.text = joinTexts(r.text, said(get(whole, "text")))
	}
	r.add(whole, shown)
}

func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func (m *messages) end() (out []byte) {
	for i, d := range m.deltas {
		if i == len(m.deltas)-1 && m.w.HidesCalls() { // usage adds up: the last event has that of all
			d.raw = d.written(with(d.data, "usage", m.usage()))
		}
		out = append(out, d.raw...)
	}
	if m.last == nil {
		return out
	}
	return append(out, m.last.raw...)
}

// usage returns the usage of all rounds. Its field iterations has the usage of each round, as
// the provider reports it for its own tools: a client computes the size of the conversation
// from the last one.
func (m *messages) usage() []byte {
	all := m.w.usage()
	if len(m.w.rounds) == 1 {
		return all
	}
	var each [][]byte
	for _, r := range m.w.rounds {
		if own := elements(get(r.usage, "iterations")); len(own) > 0 {
			each = append(each, own...)
			continue
		}
		one := []byte(`{"type":"message"}`)
		for _, key := range [...]string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"} {
			if v := get(r.usage, key); v != nil {
				one = with(one, key, v)
			}
		}
		each = append(each, one)
	}
	return with(all, "iterations", list(each))
}

func (m *messages) whole(body []byte) error {
	r := m.w.Round()
	if said(get(body, "type")) != "message" {
		return errors.New("weave: the provider's answer is no message of the Messages API")
	}
	for _, b := range elements(get(body, "content")) {
		m.take(b)
	}
	r.Stop, r.usage = said(get(body, "stop_reason")), get(body, "usage")
	m.bodies = append(m.bodies, body)
	return nil
}

func (m *messages) joined() []byte {
	last := m.bodies[len(m.bodies)-1]
	if !m.w.HidesCalls() {
		return last
	}
	var content [][]byte
	for _, r := range m.w.rounds {
		content = append(content, r.seen()...)
	}
	out := with(last, "id", get(m.bodies[0], "id"))
	return with(with(out, "content", list(content)), "usage", m.usage())
}

// seen returns those blocks or items of the round that the client sees.
func (r *Round) seen() (out [][]byte) {
	for i, b := range r.blocks {
		if r.shown[i] {
			out = append(out, b)
		}
	}
	return out
}
