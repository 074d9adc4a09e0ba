package epoch

import (
	"cmp"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Plan is the messages that are sent for a request. It is valid as long as the request is, and
// until the book gets another rewrite.
type Plan struct {
	Head  int           // number of the client's messages that the head replaces; 0 without a head
	Epoch int           // of the head, or 0
	Ended bool          // the head is of the epoch Ended: managing has stopped
	First int           // index of the first message that is replaced; the number of messages if none is
	Sent  digest.Digest // the chain of the messages as they are sent

	dialect wire.Dialect
	head    *entry
	size    int             // bytes of the head, with marks
	chains  []digest.Digest // the chain of the sent messages up to each of them; nil if none is replaced
	alone   []replaced      // replaced messages behind the head, in order
}

// A replaced is a run of n messages of the client that an entry replaces. Mostly n is 1.
type replaced struct {
	message, n int // index of the first message, and their number
	size       int // bytes, with marks
	*entry
}

// Plan returns the messages to send for a request: the longest head that matches its messages,
// and behind the head each message's rewrite, or the message as it came.
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

// apart returns the replaced messages whose index is equal to from or higher. These are messages
// with a rewrite of their own, replies with messages that are hidden from the client, and the
// messages behind such a reply that need its results.
func (b *Book) apart(q *wire.Request, from int) (list []replaced) {
	if len(b.messages)+len(b.replies) == 0 {
		return nil
	}
	var open *reply // the reply whose results belong into the next messages
	behind := 0     // messages since that reply
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
		case open != nil && (behind == 0 || q.Dialect != wire.Anthropic): // Anthropic has all results in one message
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

// A piece is one of the messages that are sent.
type piece struct {
	at   int // index of the client's message that it replaces or is; 0 for all messages of a head
	id   digest.Digest
	text []byte
}

// pieces yields the messages to send, in order.
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

// A Part is a stretch of a sent body: a message, or the text that replaces some messages.
type Part struct {
	Start, End int           // offsets in the body after the plan's edits
	Chain      digest.Digest // of the sent messages up to End
	Made       bool          // the text is a rewrite
}

// Parts returns the parts of the sent body, in order. Call it after [Plan.Edit]. It returns nil
// if the client's messages are one string.
func (p *Plan) Parts(q *wire.Request) (parts []Part) {
	d := q.Doc
	if d.Kind(q.List) != rawjson.Array {
		return nil
	}
	parts = make([]Part, 0, len(q.Messages)+1)
	shift := 0 // bytes that the edits have added so far
	sent := 0  // messages sent so far
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

// List returns, as a JSON list, the messages that are sent in place of the client's first n
// messages. It always has the whole head.
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

// Untouched reports whether the plan replaces no message, so that all are sent as the client sent
// them.
func (p *Plan) Untouched() bool { return p.head == nil && len(p.alone) == 0 }

// Edit makes the plan's changes in the request's document. Afterwards the document's segments,
// joined, are the body to send.
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

// A mark is a cache mark of the client.
type mark struct {
	node  rawjson.Node // the member of the block
	block int          // index of the block in its message
	text  []byte       // key and value, as JSON
}

// marks yields the cache marks in the blocks of a message.
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

// marked returns the text of a rewrite with marks of the client, which must be in order. A mark
// is put at its block, or at the last block before it that accepts a mark, or left out. If two
// marks meet at a block, the later one is used: its lifetime is never longer, and providers want
// marks of longer lifetimes first.
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
