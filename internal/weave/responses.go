package weave

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// responses reads answers of the Responses API, one in each round, and combines them into one
// answer for the client.
type responses struct {
	w      *Weaver
	head   []byte      // id of the first round's answer
	time   []byte      // time of creation of the first round's answer
	base   int         // number of items that the client got in earlier rounds
	shown  int         // number of items that the client got in this round
	at     map[int]int // index of an item for the client, by its index in the round; -1 if the client does not get it
	number int         // sequence number of the next event for the client; -1 before the first
	last   *event      // the event that ends the round's answer; the client gets only that of the last round
	bodies [][]byte    // the answers that are no streams, one for each round
}

func (p *responses) event(e *event) (out []byte, over bool) {
	kind := said(get(e.data, "type"))
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		if len(p.w.rounds) > 1 {
			if kind == "response.created" {
				p.base, p.shown, p.at = p.base+p.shown, 0, nil
			}
			return nil, false
		}
		if p.head == nil {
			p.head, p.time = slices.Clone(get(e.data, "response", "id")), slices.Clone(get(e.data, "response", "created_at"))
		}
	case "response.completed", "response.incomplete", "response.failed":
		p.last = &event{raw: slices.Clone(e.raw), name: e.name, data: e.data}
		r := p.w.Round()
		r.Stop, r.usage = said(get(e.data, "response", "status")), get(e.data, "response", "usage")
		if len(r.blocks) == 0 {
			for _, item := range elements(get(e.data, "response", "output")) {
				p.take(item)
			}
		}
		return nil, true
	case "response.output_item.added":
		p.begin(number(get(e.data, "output_index")), get(e.data, "item"))
	case "response.output_item.done":
		p.begin(number(get(e.data, "output_index")), get(e.data, "item"))
		p.take(get(e.data, "item"))
	}
	return p.numbered(e), false
}

// begin assigns the index under which the client sees an item. The argument index is
// the index of the item in the round.
func (p *responses) begin(index int, item []byte) {
	if p.at == nil {
		p.at = make(map[int]int)
	}
	if _, known := p.at[index]; known {
		return
	}
	if p.ours(item) {
		p.at[index] = -1
		return
	}
	p.at[index] = p.base + p.shown
	p.shown++
}

func (p *responses) ours(item []byte) bool {
	return said(get(item, "type")) == "function_call" && said(get(item, "name")) == p.w.tool
}

// numbered returns an event with the index and the sequence number that the client expects,
// or nil if the client does not get the item that the event is about.
func (p *responses) numbered(e *event) []byte {
	data := e.data
	if len(data) == 0 {
		return e.raw
	}
	if raw := get(data, "output_index"); raw != nil {
		at, known := p.at[number(raw)]
		if at < 0 {
			return nil
		}
		if known && at != number(raw) {
			data = with(data, "output_index", strconv.AppendInt(nil, int64(at), 10))
		}
	}
	if n := number(get(data, "sequence_number")); n >= 0 {
		if p.number < 0 {
			p.number = n // some servers begin with 1
		}
		if n != p.number {
			data = with(data, "sequence_number", strconv.AppendInt(nil, int64(p.number), 10))
		}
		p.number++
	}
	if &data[0] == &e.data[0] {
		return e.raw
	}
	return e.written(data)
}

// take adds a complete item to the round.
func (p *responses) take(item []byte) {
	r := p.w.Round()
	ours, id := p.ours(item), said(get(item, "call_id")) // the id is null if the provider executes the call itself
	switch kind := said(get(item, "type")); {
	case ours || id != "" && !strings.HasSuffix(kind, "_output"):
		if ours && said(get(item, "status")) == "incomplete" {
			return // the arguments were cut off, so the call is dropped
		}
		r.called(id, said(get(item, "arguments")), ours)
	case kind == "message":
		for _, part := range elements(get(item, "content")) {
			r.text = joinTexts(r.text, said(get(part, "text")))
		}
	}
	r.add(item, !ours)
}

func (p *responses) end() []byte {
	if p.last == nil {
		return nil
	}
	e := *p.last
	if last := get(e.data, "response"); p.hides(last) {
		e.data = with(e.data, "response", p.response(last))
		e.raw = e.written(e.data)
	}
	return p.numbered(&e)
}

// hides reports whether the client gets the combined response in place of the last one: the
// rounds have calls of the proxy's tool, or the last one has a call that was cut off.
func (p *responses) hides(last []byte) bool {
	return p.w.HidesCalls() || slices.ContainsFunc(elements(get(last, "output")), p.ours)
}

// response returns the combined response of all rounds, based on the last one.
func (p *responses) response(last []byte) []byte {
	var output [][]byte
	for _, r := range p.w.rounds {
		output = append(output, r.seen()...)
	}
	out := with(last, "output", list(output))
	if p.head != nil {
		out = with(out, "id", p.head)
	}
	if p.time != nil {
		out = with(out, "created_at", p.time)
	}
	if u := p.w.usage(); u != nil {
		out = with(out, "usage", u)
	}
	return out
}

func (p *responses) whole(body []byte) error {
	if get(body, "output") == nil {
		return errors.New("weave: the provider's answer has no field \"output\"")
	}
	for _, item := range elements(get(body, "output")) {
		p.take(item)
	}
	r := p.w.Round()
	r.Stop, r.usage = said(get(body, "status")), get(body, "usage")
	if p.head == nil {
		p.head, p.time = get(body, "id"), get(body, "created_at")
	}
	p.bodies = append(p.bodies, body)
	return nil
}

func (p *responses) joined() []byte {
	last := p.bodies[len(p.bodies)-1]
	if !p.hides(last) {
		return last
	}
	return p.response(last)
}
