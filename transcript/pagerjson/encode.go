package pagerjson

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/transcript"
)

// Encode implements [transcript.Format]. In a changed window of a history,
// each unchanged block keeps its bytes, and so do the bytes around
// the blocks; the replacement of a block gets the block's turn. A session
// of another format becomes a history without keywords; each of its blocks has
// the texts of all its messages, and its position, from 1, as turn.
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	switch {
	case w.Session.Format != f.Name():
		return convert(w), nil
	case w.Intact():
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	return rewrite(w)
}

// rewrite writes a changed window of a history.
func rewrite(w *transcript.Window) (*transcript.Encoded, error) {
	s := w.Session
	place := make(map[*transcript.Message]int, len(s.Messages))
	for i := range s.Messages {
		place[&s.Messages[i]] = i
	}
	enc := &encoder{ids: make(map[string]bool)}
	for i := range w.Entries {
		if src := w.Entries[i].Source; src != nil {
			enc.ids[src.ID] = true
		}
	}
	next := 0 // index of the session's next message
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Source == nil {
			turn, err := turnOf(s, next)
			if err != nil {
				return nil, err
			}
			enc.made(i, e, turn)
			next++
			continue
		}
		raw := s.Raw(e.Source)
		if e.Changed() {
			_, text, err := block(raw)
			if err != nil {
				return nil, err
			}
			raw = transcript.Splice(raw, transcript.Cut{From: text.from, To: text.to, With: appendString(nil, plain(e.Parts, e.Role))})
		}
		enc.objects = append(enc.objects, raw)
		if at, ok := place[e.Source]; ok {
			next = at + 1
		}
	}
	head, tail, between := frame(s)
	data := append(bytes.Clone(head), bytes.Join(enc.objects, between)...)
	return &transcript.Encoded{Data: append(data, tail...), Session: s.ID, Losses: enc.losses}, nil
}

// frame returns the bytes before, after and between the blocks of a history.
// A history without blocks is one item, which is cut after the bracket that opens
// the list.
func frame(s *transcript.Session) (head, tail, between []byte) {
	head, tail, between = s.Items[0].Raw, s.Items[len(s.Items)-1].Raw, []byte(", ")
	switch n := len(s.Items); {
	case n > 3:
		between = s.Items[2].Raw
	case n == 1:
		r := newReader("", head)
		at := r.emptyList()
		head, tail = head[:at], head[at:]
	}
	return head, tail, between
}

// emptyList returns the offset after the bracket that opens the list of blocks.
func (r *reader) emptyList() int {
	r.peek()
	r.at++
	for first := true; r.more(first, '}'); first = false {
		if string(r.key()) == "blocks" {
			r.peek()
			return r.at + 1
		}
		r.skip(1)
	}
	return len(r.data) // unreachable: Decode has found the key
}

// turnOf returns the turn of message i of a history, or that of the last message
// if there are fewer.
func turnOf(s *transcript.Session, i int) (Number, error) {
	if len(s.Messages) == 0 {
		return Int(1), nil
	}
	b, _, err := block(s.Raw(&s.Messages[min(i, len(s.Messages)-1)]))
	return b.Turn, err
}

// convert writes a session of another format.
func convert(w *transcript.Window) *transcript.Encoded {
	messages := make([]transcript.Message, len(w.Entries))
	for i := range w.Entries {
		messages[i] = w.Entries[i].Message
	}
	enc := &encoder{ids: make(map[string]bool)}
	for _, b := range transcript.Group(w.Session.ID, 0, messages) {
		var texts []string
		role := messages[b.Messages[0]].Role
		for _, i := range b.Messages {
			enc.lose(i, messages[i].Parts)
			if text := plain(messages[i].Parts, role); text != "" {
				texts = append(texts, text)
			}
		}
		first := &w.Entries[b.Messages[0]]
		id := cmp.Or(first.Block, b.ID)
		enc.object(id, Int(b.Turn), first.Role, strings.Join(texts, "\n"))
	}
	data := append([]byte(`{"intent_ir": [], "blocks": [`), '\n')
	data = append(data, bytes.Join(enc.objects, []byte(",\n"))...)
	return &transcript.Encoded{Data: append(data, "\n]}\n"...), Session: w.Session.ID, Losses: enc.losses}
}

// An encoder collects the objects of blocks.
type encoder struct {
	objects [][]byte
	ids     map[string]bool // in use
	losses  []transcript.Loss
}

// made adds a message without a source.
func (enc *encoder) made(i int, e *transcript.Entry, turn Number) {
	enc.lose(i, e.Parts)
	id := e.Block
	if id == "" {
		id = transcript.NewBlockID("", 0, i, e.ID, 0)
	}
	enc.object(id, turn, e.Role, plain(e.Parts, e.Role))
}

// object adds a block. Its id is "block-" and the short form of id. If that is taken, the whole id
// stands in place of the short form; if that is taken too, a number is appended.
func (enc *encoder) object(id transcript.BlockID, turn Number, role transcript.Role, text string) {
	name := "block-" + id.Short()
	if enc.ids[name] {
		name = "block-" + string(id)
	}
	for n := 2; enc.ids[name]; n++ {
		name = "block-" + string(id) + "-" + strconv.Itoa(n)
	}
	enc.ids[name] = true
	out := appendString([]byte(`{"id": `), name)
	out = turn.Append(append(out, `, "turn": `...))
	out = appendString(append(out, `, "role": `...), string(role))
	out = appendString(append(out, `, "text": `...), text)
	enc.objects = append(enc.objects, append(out, '}'))
}

// lose records the parts of a message that a text cannot carry.
func (enc *encoder) lose(i int, parts []transcript.Part) {
	note := func(what string, size int) {
		for j := len(enc.losses) - 1; j >= 0 && enc.losses[j].Message == i; j-- {
			if l := &enc.losses[j]; l.What == what {
				l.Count++
				l.Bytes += size
				return
			}
		}
		enc.losses = append(enc.losses, transcript.Loss{Message: i, What: what, Count: 1, Bytes: size})
	}
	for _, p := range parts {
		switch p := p.(type) {
		case transcript.Text:
		case transcript.Thinking:
			note("thinking", len(p.Text)+len(p.Signature))
		case transcript.ToolCall:
			note("tool call as such", 0)
		case transcript.ToolResult:
			note("tool result as such", 0)
			enc.lose(i, p.Content)
		case transcript.Media:
			note(p.Kind, len(p.Raw))
		case transcript.Opaque:
			note(p.Type, len(p.Raw))
		}
	}
}

// plain returns the text of a message, with calls and results as text. In a block of
// another role than the tool's, results are quoted; so are arguments, which may be
// copied from a result.
func plain(parts []transcript.Part, role transcript.Role) string {
	var texts []string
	for _, p := range parts {
		switch p := p.(type) {
		case transcript.Text:
			texts = append(texts, string(p))
		case transcript.ToolCall:
			texts = append(texts, transcript.Quote(strings.TrimSpace(p.Name+" "+string(p.Input))))
		case transcript.ToolResult:
			text := p.Text()
			if role != transcript.RoleTool {
				text = transcript.Quote(text)
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// appendString appends a JSON string. Only what must be escaped is.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(append(dst, s[start:i]...), '\\', byte(r))
		case r < ' ':
			const digits = "0123456789abcdef"
			dst = append(append(dst, s[start:i]...), '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
		default:
			continue
		}
		start = i + 1
	}
	return append(append(dst, s[start:]...), '"')
}
