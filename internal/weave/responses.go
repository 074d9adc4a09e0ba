package weave

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// responses reads answers of the Responses API.
type responses struct {
	w      *Weaver
	head   []byte      // id of the first round
	time   []byte      // and when it was made
	base   int         // items that the client got of the rounds before
	shown  int         // items of this round that it got
	at     map[int]int // the number of an item for the client, by that in the round; -1 if it gets none
	number int         // of the next event for the client
	last   *event      // what ends the answer
	bodies [][]byte
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

// begin gives an item its number for the client.
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

// numbered returns an event with the numbers that it has for the client, or nothing if it is
// about an item that the client does not get.
func (p *responses) numbered(e *event) []byte {
	data := e.data
	if len(data) == 0 {
		return e.raw
	}
	if raw := get(data, "output_index"); raw != nil {
		at, known := p.at[number(raw)]
		if known && at < 0 {
			return nil
		}
		if known && at != number(raw) {
			data = with(data, "output_index", strconv.AppendInt(nil, int64(at), 10))
		}
	}
	if raw := get(data, "sequence_number"); raw != nil {
		if number(raw) != p.number {
			data = with(data, "sequence_number", strconv.AppendInt(nil, int64(p.number), 10))
		}
		p.number++
	}
	if &data[0] == &e.data[0] {
		return e.raw
	}
	return e.written(data)
}

// take takes an item that is whole.
func (p *responses) take(item []byte) {
	r := p.w.Round()
	ours := p.ours(item)
	switch kind := said(get(item, "type")); {
	case get(item, "call_id") != nil && !strings.HasSuffix(kind, "_output"):
		if ours && said(get(item, "status")) == "incomplete" {
			return // it was cut: nobody runs it
		}
		r.called(said(get(item, "call_id")), said(get(item, "arguments")), ours)
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
	if p.w.Hides() {
		e.data = with(e.data, "response", p.response(get(e.data, "response")))
		e.raw = e.written(e.data)
	}
	return p.numbered(&e)
}

// response returns the response of all rounds.
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
		return errors.New("weave: the answer has no output")
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
	if !p.w.Hides() {
		return last
	}
	return p.response(last)
}
