package epoch

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Kind says which messages a rewrite replaces. Its text is stored and must not change.
type Kind string

// The kinds of rewrites.
const (
	Head    Kind = "head"    // all messages of the client that its chain covers
	Message Kind = "message" // the last message that its chain covers
)

// Ended is the number of a last epoch. When the proxy stops managing a conversation, it goes on
// sending the last head, with this epoch. No further epoch begins after it.
const Ended = 1 << 30

// A Rewrite has the bytes that were sent in place of one or more of the client's messages.
type Rewrite struct {
	Chain    digest.Digest // chain of the client's messages up to the last one that is replaced
	Kind     Kind
	Epoch    int    // epoch in which the rewrite was made; the first head begins epoch 1
	Messages int    // number of the client's messages that Chain covers
	Data     []byte // JSON: a list of messages for a head, otherwise a message or a stored [Reply]
}

// A Book holds the rewrites of a conversation.
type Book struct {
	dialect  wire.Dialect
	heads    map[digest.Digest]*entry
	messages map[digest.Digest]*entry
	replies  map[digest.Digest]*reply // by ReplyChain
	epoch    int
}

// An entry is a rewrite, ready to be sent.
type entry struct {
	epoch, covers int
	text          []byte          // messages without marks, separated by commas
	sent          []digest.Digest // identities of the messages
	spans         []rawjson.Span  // of each message in text
	blocks        []int           // for each block of the last message: offset in text for a mark, or -1
	shift         int             // number of blocks added in front of the client's
}

// NewBook returns a book without rewrites.
func NewBook(dialect wire.Dialect) *Book {
	return &Book{dialect: dialect, heads: make(map[digest.Digest]*entry), messages: make(map[digest.Digest]*entry), replies: make(map[digest.Digest]*reply)}
}

// Epoch returns the epoch of the newest head, or 0 without a head. Heads of the epoch [Ended] do
// not count.
func (b *Book) Epoch() int { return b.epoch }

// Len returns the number of rewrites.
func (b *Book) Len() int { return len(b.heads) + len(b.messages) + len(b.replies) }

// Has reports whether the book has a rewrite of the kind [Message] with this chain.
func (b *Book) Has(chain digest.Digest) bool { return b.messages[chain] != nil }

// Size returns the length in bytes of the texts of all rewrites, without the results that a stored
// [Reply] puts into later messages.
func (b *Book) Size() (n int) {
	for _, e := range b.heads {
		n += len(e.text)
	}
	for _, e := range b.messages {
		n += len(e.text)
	}
	for _, r := range b.replies {
		n += len(r.text)
	}
	return n
}

// Add adds a rewrite. It replaces a rewrite of the same kind and chain, unless the book has one of
// a later epoch. Add copies the data. It fails if the data of a [Head] is not a list of one message
// or more, or if the data of a [Message] is neither one message nor a stored [Reply].
func (b *Book) Add(r *Rewrite) error {
	if is, err := b.addReply(r); is {
		return err
	}
	list := r.Data
	if r.Kind == Message {
		list = slices.Concat([]byte("["), r.Data, []byte("]"))
	}
	e, err := b.entry(list)
	if err != nil {
		return fmt.Errorf("read the %s of epoch %d for %d messages: %w", r.Kind, r.Epoch, r.Messages, err)
	}
	if n := len(e.spans); n == 0 || r.Messages < 1 || r.Kind == Message && n != 1 {
		return fmt.Errorf("%s of epoch %d for %d messages: the data has %d messages: want one, or for a head one or more", r.Kind, r.Epoch, r.Messages, n)
	}
	e.epoch, e.covers = r.Epoch, r.Messages
	kept := b.messages
	if r.Kind == Head {
		kept = b.heads
	}
	if old := kept[r.Chain]; old == nil || old.epoch <= r.Epoch {
		kept[r.Chain] = e
	}
	if r.Kind == Head && r.Epoch < Ended {
		b.epoch = max(b.epoch, r.Epoch)
	}
	return nil
}

// entry parses a JSON list of messages and removes the cache marks of their blocks. In the dialect
// Anthropic it writes a last message that is one text as a block, so that a mark can stand there.
func (b *Book) entry(list []byte) (*entry, error) {
	q, err := b.read(bodyOf(b.dialect, list))
	if err != nil {
		return nil, err
	}
	d := q.Doc
	if last := len(q.Messages) - 1; last >= 0 && b.dialect == wire.Anthropic {
		if content := q.Content(last); d.Kind(content) == rawjson.String && len(d.Raw(content)) > len(`""`) {
			d.Replace(content, slices.Concat([]byte(`[{"type":"text","text":`), d.Raw(content), []byte("}]")))
		}
	}
	for i := range q.Messages {
		for mark := range marks(q, i) {
			d.Drop(mark.node)
		}
	}
	if q, err = b.read(bytes.Join(d.Segments(), nil)); err != nil {
		return nil, err
	}
	e := &entry{}
	for i := range q.Messages {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		from := len(e.text)
		e.text = append(e.text, q.Doc.Raw(q.Messages[i].Node)...)
		e.spans = append(e.spans, rawjson.Span{Start: from, End: len(e.text)})
		e.sent = append(e.sent, q.Messages[i].Identity)
	}
	if last := len(q.Messages) - 1; last >= 0 {
		e.places(q, last)
	}
	return e, nil
}

// read parses a request body in the dialect of the book.
func (b *Book) read(body []byte) (*wire.Request, error) {
	doc, q := new(rawjson.Document), new(wire.Request) // not kept in the book, as they refer to the body
	if err := doc.Read(body); err != nil {
		return nil, err
	}
	if err := q.Read(b.dialect, wire.KindCall, nil, doc); err != nil {
		return nil, err
	}
	if doc.Kind(q.List) != rawjson.Array {
		return nil, fmt.Errorf("%w: the body has no list of messages", wire.ErrForm)
	}
	return q, nil
}

// bodyOf returns a request body that has only the messages of list.
func bodyOf(dialect wire.Dialect, list []byte) []byte {
	key := `{"messages":`
	if dialect == wire.Responses {
		key = `{"input":`
	}
	return slices.Concat([]byte(key), list, []byte("}"))
}

// places sets e.blocks to the offsets at which a cache mark can be inserted: behind the opening
// brace of each block of the last message that accepts a mark.
func (e *entry) places(q *wire.Request, last int) {
	d := q.Doc
	content := q.Content(last)
	if d.Kind(content) != rawjson.Array {
		return
	}
	shift := e.spans[last].Start - d.Span(q.Messages[last].Node).Start
	for block := range d.Children(content) {
		at := -1
		if markable(d, block) {
			at = shift + d.Span(block).Start + len("{")
		}
		e.blocks = append(e.blocks, at)
	}
}

// markable reports whether the provider accepts a cache mark in a block.
func markable(d *rawjson.Document, block rawjson.Node) bool {
	if d.Kind(block) != rawjson.Object {
		return false
	}
	switch string(d.Raw(d.Member(block, "type"))) {
	case `"thinking"`, `"redacted_thinking"`, "":
		return false
	case `"text"`:
		return len(d.Raw(d.Member(block, "text"))) > len(`""`)
	}
	return true
}
