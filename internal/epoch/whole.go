package epoch

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// Whole returns the body to store for the first n messages of a request. It puts in rewrites of the
// kind [Message] and the hidden messages of replies. It uses no heads, and leaves out cache marks
// and the billing line. Except in the dialect Responses, it writes a content of a single text block
// as a string. So the messages of all calls of a conversation begin with the same bytes.
func (b *Book) Whole(q *wire.Request, n int) ([]byte, error) { return b.whole(q, n, rawjson.NoNode) }

// WholeUnasked returns the body to store for a request that ends in a prompt for a summary. The
// body is that of [Book.Whole] without this prompt. Other blocks of the last message, such as
// results, stay.
func (b *Book) WholeUnasked(q *wire.Request) ([]byte, error) {
	last, ask := len(q.Messages)-1, q.Compaction()
	blocks := 0
	for range q.Doc.Children(q.Content(last)) {
		blocks++
	}
	if blocks > 1 && ask != rawjson.NoNode {
		return b.whole(q, last+1, ask)
	}
	return b.whole(q, last, rawjson.NoNode)
}

func (b *Book) whole(q *wire.Request, n int, ask rawjson.Node) ([]byte, error) {
	alone := b.apart(q, 0)
	d := new(rawjson.Document)
	if err := d.Read(q.Doc.Raw(rawjson.Root)); err != nil {
		return nil, err
	}
	own := *q
	own.Doc = d
	for _, list := range [...]rawjson.Node{q.System, q.Tools} {
		for block := range d.Children(list) {
			if wire.IsBilling(d, block) {
				d.Drop(block)
			}
			unmark(d, block)
		}
	}
	for i := range own.Messages {
		m := &own.Messages[i]
		for len(alone) > 0 && alone[0].message+alone[0].n <= i {
			alone = alone[1:]
		}
		in := len(alone) > 0 && alone[0].message <= i && m.Node != own.List
		if i >= n || in && i > alone[0].message {
			d.Drop(m.Node)
			continue
		}
		if in && (ask == rawjson.NoNode || i < n-1) {
			d.Replace(m.Node, alone[0].text)
			continue
		}
		content := own.Content(i)
		var blocks []rawjson.Node
		for block := range d.Children(content) {
			if ask != rawjson.NoNode && i == n-1 && d.Member(block, "text") == ask {
				d.Drop(block)
				continue
			}
			unmark(d, block)
			blocks = append(blocks, block)
		}
		if len(blocks) == 1 && q.Dialect != wire.Responses {
			if text := plain(d, blocks[0]); text != nil {
				d.Replace(content, text)
			}
		}
	}
	return bytes.Join(d.Segments(), nil), nil
}

// unmark removes the cache marks of a block.
func unmark(d *rawjson.Document, block rawjson.Node) {
	for m := range d.Children(block) {
		if wire.IsMark(d.Key(m)) {
			d.Drop(m)
		}
	}
}

// plain returns the JSON string of a block that has only a text, or nil.
func plain(d *rawjson.Document, block rawjson.Node) (text []byte) {
	for m := range d.Children(block) {
		switch key := d.Key(m); {
		case wire.IsMark(key), string(key) == "type" && string(d.Raw(m)) == `"text"`:
		case string(key) == "text" && d.Kind(m) == rawjson.String:
			text = slices.Clone(d.Raw(m))
		default:
			return nil
		}
	}
	return text
}
