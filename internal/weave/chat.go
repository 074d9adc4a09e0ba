package weave

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// chat reads answers of Chat Completions, with one choice.
type chat struct {
	w      *Weaver
	head   []byte  // id of the first round's answer
	time   []byte  // time of creation of the first round's answer
	calls  []*part // calls of this round, in the order in which they begin
	shown  int     // number of calls that the client got from this round
	text   strings.Builder
	gap    bool     // an earlier round has text, and this one has none yet
	stop   []byte   // the chunk with the finish reason
	tail   [][]byte // chunks after the stop chunk
	done   []byte   // the event that ends the stream
	bodies [][]byte
}

// A part is a call that is received in pieces.
type part struct {
	id, kind, name string
	input          strings.Builder
	index          int // the provider's index of the call; without one, its position in the round
	at             int // index of the call for the client; -1 for a call of the proxy's tool
}

func (c *chat) event(e *event) (out []byte, over bool) {
	if string(e.data) == "[DONE]" {
		c.done = slices.Clone(e.raw)
		c.settle()
		return nil, true
	}
	if c.head == nil {
		c.head, c.time = slices.Clone(get(e.data, "id")), slices.Clone(get(e.data, "created"))
	}
	if u := get(e.data, "usage"); isObject(u) {
		c.w.Round().usage = slices.Clone(u)
	}
	choices := elements(get(e.data, "choices"))
	if c.stop != nil || len(choices) == 0 {
		if e.data != nil && c.stop != nil {
			c.tail = append(c.tail, e.data)
			return nil, false
		}
		return e.raw, false
	}
	choice := choices[0]
	delta, changed := c.delta(get(choice, "delta"))
	stop := said(get(choice, "finish_reason"))
	if stop != "" {
		c.w.Round().Stop = stop
		c.stop = with(c.named(e.data), "choices", list([][]byte{with(choice, "delta", delta)}))
		return nil, false
	}
	if changed && string(delta) == "{}" {
		return nil, false
	}
	if !changed && len(c.w.rounds) == 1 {
		return e.raw, false
	}
	return e.written(with(c.named(e.data), "choices", list([][]byte{with(choice, "delta", delta)}))), false
}

// named returns a chunk in which the id and the time are those of the first
// round.
func (c *chat) named(chunk []byte) []byte {
	if len(c.w.rounds) == 1 {
		return chunk
	}
	return with(with(chunk, "id", c.head), "created", c.time)
}

// delta reads a delta of a chunk. It returns the delta that the client gets, and whether
// this differs from d, the delta that the provider sent.
func (c *chat) delta(d []byte) (out []byte, changed bool) {
	out = d
	if d == nil {
		return []byte("{}"), false
	}
	if text := said(get(d, "content")); text != "" {
		if c.gap {
			c.gap, changed = false, true
			out = with(out, "content", quote("\n\n"+text))
		}
		c.text.WriteString(text)
	} else if len(c.w.rounds) > 1 {
		out = with(out, "content", nil)
	}
	if len(c.w.rounds) > 1 {
		out, changed = with(out, "role", nil), true
	}
	pieces := elements(get(d, "tool_calls"))
	if len(pieces) == 0 {
		return out, changed
	}
	var kept [][]byte
	for _, p := range pieces {
		t := c.call(p)
		if t.at < 0 {
			changed = true
			continue
		}
		if index := number(get(p, "index")); index >= 0 && index != t.at {
			p, changed = with(p, "index", strconv.AppendInt(nil, int64(t.at), 10)), true
		}
		kept = append(kept, p)
	}
	if len(kept) == 0 {
		return with(out, "tool_calls", nil), true
	}
	return with(out, "tool_calls", list(kept)), changed
}

// call reads a piece of a call, and returns the call to which the piece belongs. Some servers
// give no index: then a piece with a new id, or with a name and no id, begins a call, and a piece
// with neither belongs to the last call.
func (c *chat) call(p []byte) *part {
	index, id, name := number(get(p, "index")), said(get(p, "id")), said(get(p, "function", "name"))
	var t *part
	for _, other := range slices.Backward(c.calls) {
		if index >= 0 && other.index == index || index < 0 && (id != "" && other.id == id || id == "" && name == "") {
			t = other
			break
		}
	}
	if t == nil {
		t = &part{id: id, kind: said(get(p, "type")), name: name, index: index, at: -1}
		if index < 0 {
			t.index = len(c.calls)
		}
		if t.name != c.w.tool {
			t.at = c.shown
			c.shown++
		}
		c.calls = append(c.calls, t)
	}
	t.input.WriteString(said(get(p, "function", "arguments")))
	return t
}

// settle builds the message of a round from its pieces.
func (c *chat) settle() {
	r := c.w.Round()
	var calls [][]byte
	slices.SortStableFunc(c.calls, func(a, b *part) int { return cmp.Compare(a.index, b.index) })
	for _, t := range c.calls {
		r.unsure = r.unsure || t.kind != "" && t.kind != "function"
		calls = append(calls, fmt.Appendf(nil, `{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(t.id), quote(t.name), quote(t.input.String())))
		r.called(t.id, t.input.String(), t.name == c.w.tool)
	}
	r.text = c.text.String()
	r.message = chatMessage(r.text, calls)
	c.calls, c.shown, c.gap = nil, 0, c.gap || r.text != ""
	c.text.Reset()
	if r.Waits() {
		c.stop, c.tail, c.done = nil, nil, nil
	}
}

func chatMessage(text string, calls [][]byte) []byte {
	content := []byte("null")
	if text != "" || len(calls) == 0 {
		content = quote(text)
	}
	message := fmt.Appendf(nil, `{"role":"assistant","content":%s}`, content)
	if len(calls) > 0 {
		message = with(message, "tool_calls", list(calls))
	}
	return message
}

func (c *chat) end() (out []byte) {
	e := &event{}
	if c.stop != nil {
		out = e.written(c.summed(c.stop))
	}
	for _, chunk := range c.tail {
		out = append(out, e.written(c.named(c.summed(chunk)))...)
	}
	return append(out, c.done...)
}

// summed returns a chunk in which the usage, if there is one, is that of all rounds.
func (c *chat) summed(chunk []byte) []byte {
	if u := get(chunk, "usage"); c.w.HidesCalls() && isObject(u) {
		return with(chunk, "usage", c.w.usage())
	}
	return chunk
}

func (c *chat) whole(body []byte) error {
	choices := elements(get(body, "choices"))
	if len(choices) != 1 {
		return errors.New("weave: the provider's answer must have exactly one choice")
	}
	r, message := c.w.Round(), get(choices[0], "message")
	if message == nil {
		return errors.New("weave: the provider's answer has no message")
	}
	for _, t := range elements(get(message, "tool_calls")) {
		r.called(said(get(t, "id")), said(get(t, "function", "arguments")), said(get(t, "function", "name")) == c.w.tool)
	}
	r.Stop, r.usage, r.text, r.message = said(get(choices[0], "finish_reason")), get(body, "usage"), said(get(message, "content")), message
	c.bodies = append(c.bodies, body)
	return nil
}

func (c *chat) joined() []byte {
	last := c.bodies[len(c.bodies)-1]
	if !c.w.HidesCalls() {
		return last
	}
	var texts []string
	for _, r := range c.w.rounds {
		if r.text != "" {
			texts = append(texts, r.text)
		}
	}
	choice := elements(get(last, "choices"))[0]
	message := get(choice, "message")
	if len(texts) > 0 {
		message = with(message, "content", quote(strings.Join(texts, "\n\n")))
	}
	var calls [][]byte
	for _, t := range elements(get(message, "tool_calls")) {
		if said(get(t, "function", "name")) != c.w.tool {
			calls = append(calls, t)
		}
	}
	message = with(message, "tool_calls", nil)
	if len(calls) > 0 {
		message = with(message, "tool_calls", list(calls))
	}
	out := with(with(last, "id", get(c.bodies[0], "id")), "created", get(c.bodies[0], "created"))
	out = with(out, "choices", list([][]byte{with(choice, "message", message)}))
	if u := c.w.usage(); u != nil {
		out = with(out, "usage", u)
	}
	return out
}
