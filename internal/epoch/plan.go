package epoch

import (
	"cmp"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Plan is what is sent for a request. It is valid as long as the request is, and as the
// book has no other rewrites.
type Plan struct {
	Head  int           // for how many messages of the client the head stands; 0 is none
	Epoch int           // of the head, or 0
	Ended bool          // managing ended with the head
	First int           // the first message that does not go as it came; all of them do if it is their number
	Sent  digest.Digest // the chain of what is sent

	dialect wire.Dialect
	head    *entry
	size    int             // bytes of the head, with marks
	chains  []digest.Digest // of what is sent up to each message, if something goes otherwise than it came
	alone   []replaced
}

// Some messages, mostly one, go as their own rewrite says.
type replaced struct {
	message, n int
	size       int // bytes, with marks
	*entry
}

// Plan returns what is sent for a request: the longest head that its messages have, and
// behind it each message as its rewrite says, or as it came.
func (b *Book) Plan(q *wire.Request) *Plan {
	p := &Plan{First: len(q.Messages), dialect: q.Dialect}
	for i := len(q.Messages) - 1; i >= 0 && p.head == nil && len(b.heads) > 0; i-- {
		if e := b.heads[q.Messages[i].Chain]; e != nil {
			p.head, p.Head, p.Ended, p.First = e, i+1, e.epoch >= Ended, 0
			if !p.Ended {
				p.Epoch = e.epoch
			}
		}
	}
	if p.alone = b.apart(q, p.Head); len(p.alone) > 0 {
		p.First = min(p.First, p.alone[0].message)
	}
	if p.First == len(q.Messages) && p.First > 0 {
		p.Sent = q.Messages[p.First-1].Chain
		return p
	}
	for m := range p.pieces(q) {
		p.Sent = wire.Extend(q.Dialect, p.Sent, m.id)
		p.chains = append(p.chains, p.Sent)
	}
	return p
}

// apart returns what goes otherwise than it came, from a message on: replies of which the
// client does not have all, with what belongs to them in the messages that follow, and
// messages that have a rewrite of their own.
func (b *Book) apart(q *wire.Request, from int) (list []replaced) {
	if len(b.messages)+len(b.replies) == 0 {
		return nil
	}
	var open *reply // whose results belong into what follows
	behind := 0     // it, so many messages
	if from > 0 && len(b.replies) > 0 {
		open, _ = b.replyAt(q, from-1)
	}
	for i := from; i < len(q.Messages); i++ {
		e, n := b.messages[q.Messages[i].Chain], 1
		switch {
		case len(b.replies) == 0:
		case q.Messages[i].Role == wire.RoleAssistant:
			if open, n = b.replyAt(q, i); open != nil {
				e, behind = open.entry, 0
			} else {
				n = 1
			}
		case open != nil && (behind == 0 || q.Dialect != wire.Anthropic): // there all results stand in one message
			if with := b.follow(q, open, i, e, behind == 0); with != nil {
				e = with
			}
			behind++
		}
		if e != nil {
			list = append(list, replaced{i, n, 0, e})
		}
		i += n - 1
	}
	return list
}

// A piece is a message that is sent.
type piece struct {
	at   int // the client's message in whose place it is; 0 for all of a head
	id   digest.Digest
	text []byte
}

// pieces yields the messages that are sent.
func (p *Plan) pieces(q *wire.Request) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		if p.head != nil && !p.head.each(0, yield) {
			return
		}
		next := 0
		for i := p.Head; i < len(q.Messages); i++ {
			if next < len(p.alone) && p.alone[next].message == i {
				if !p.alone[next].each(i, yield) {
					return
				}
				i += p.alone[next].n - 1
				next++
				continue
			}
			if !yield(piece{i, q.Messages[i].Identity, q.Doc.Raw(q.Messages[i].Node)}) {
				return
			}
		}
	}
}

func (e *entry) each(at int, yield func(piece) bool) bool {
	for i, s := range e.spans {
		if !yield(piece{at, e.sent[i], s.Of(e.text)}) {
			return false
		}
	}
	return true
}

// A Part is a stretch of what is sent: a message, or what stands in place of some.
type Part struct {
	Start, End int           // in the body, as the edits that the plan noted make it
	Chain      digest.Digest // of what is sent up to its end
	Made       bool          // it is Carrel's
}

// Parts returns what is sent, in order, once [Plan.Edit] has noted the changes. It is nil if
// the messages are one text.
func (p *Plan) Parts(q *wire.Request) (parts []Part) {
	d := q.Doc
	if d.Kind(q.List) != rawjson.Array {
		return nil
	}
	parts = make([]Part, 0, len(q.Messages)+1)
	shift := 0 // by which what comes stands further behind
	sent := 0  // messages
	put := func(from, to, size int, e *entry) {
		start := d.Span(q.Messages[from].Node).Start
		end := d.Span(q.Messages[to].Node).End
		sent += len(e.sent)
		parts = append(parts, Part{start + shift, start + shift + size, p.chains[sent-1], true})
		shift += size - (end - start)
	}
	if p.head != nil {
		put(0, p.Head-1, p.size, p.head)
	}
	next := 0
	for i := p.Head; i < len(q.Messages); i++ {
		if next < len(p.alone) && p.alone[next].message == i {
			r := &p.alone[next]
			put(i, i+r.n-1, r.size, r.entry)
			i += r.n - 1
			next++
			continue
		}
		span := d.Span(q.Messages[i].Node)
		part := Part{span.Start + shift, span.End + shift, q.Messages[i].Chain, false}
		if sent++; p.chains != nil {
			part.Chain = p.chains[sent-1]
		}
		parts = append(parts, part)
	}
	return parts
}

// List returns what is sent in place of the first n messages, as a JSON list. It is as long as
// the head at least.
func (p *Plan) List(q *wire.Request, n int) []byte {
	list := []byte("[")
	for m := range p.pieces(q) {
		if m.at >= n {
			break
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, m.text...)
	}
	return append(list, ']')
}

// Untouched reports whether all messages go as they came.
func (p *Plan) Untouched() bool { return p.head == nil && len(p.alone) == 0 }

// Edit notes on the request's document what the plan changes. The document's segments are
// then what is sent.
func (p *Plan) Edit(q *wire.Request) {
	d := q.Doc
	put := func(message int, text []byte) {
		if n := q.Messages[message].Node; n != q.List {
			d.Replace(n, text)
		} else {
			d.Replace(n, slices.Concat([]byte("["), text, []byte("]")))
		}
	}
	if p.head != nil {
		var last []mark
		for i := range p.Head {
			for m := range marks(q, i) {
				m.block = len(p.head.blocks)
				last = []mark{m}
			}
			if i > 0 {
				d.Drop(q.Messages[i].Node)
			}
		}
		text := p.head.marked(last)
		p.size = len(text)
		put(0, text)
	}
	for k := range p.alone {
		r := &p.alone[k]
		var own []mark
		for i := r.message; i < r.message+r.n; i++ {
			for m := range marks(q, i) {
				if m.block += r.shift; len(r.spans) > 1 || r.n > 1 {
					m.block = len(r.blocks)
				}
				own = append(own, m)
			}
			if i > r.message {
				d.Drop(q.Messages[i].Node)
			}
		}
		text := r.marked(own)
		r.size = len(text)
		put(r.message, text)
	}
}

// A mark is one of the client's for the cache of the provider.
type mark struct {
	node  rawjson.Node // the member
	block int          // of which block of its message
	text  []byte       // key and value
}

// marks yields the marks at the blocks of a message.
func marks(q *wire.Request, message int) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		d, at := q.Doc, 0
		for block := range d.Children(q.Content(message)) {
			for m := range d.Children(block) {
				if key := d.Key(m); wire.IsMark(key) && !yield(mark{m, at, slices.Concat([]byte(`"`), key, []byte(`":`), d.Raw(m))}) {
					return
				}
			}
			at++
		}
	}
}

// marked returns the text of a rewrite with marks of the client, which are in order. A mark
// stands at its block, or, where that takes none, at the last before it that does. Of two
// at one block the later stays: it lives no longer, so that those of a long life stay in
// front.
func (e *entry) marked(list []mark) []byte {
	type place struct {
		at   int
		mark []byte
	}
	var places []place
	for _, m := range list {
		at := -1
		for i, b := range e.blocks {
			if i <= m.block && b >= 0 {
				at = b
			}
		}
		switch last := len(places) - 1; {
		case at < 0:
		case last >= 0 && places[last].at == at:
			places[last].mark = m.text
		default:
			places = append(places, place{at, m.text})
		}
	}
	if len(places) == 0 {
		return e.text
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	done := 0
	for _, p := range places {
		out = append(append(append(out, e.text[done:p.at]...), p.mark...), ',')
		done = p.at
	}
	return append(out, e.text[done:]...)
}
