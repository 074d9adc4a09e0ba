package rawjson

// An edit is a change to a node, in the list of all edits of that node.
type edit struct {
	kind editKind
	next int32 // next edit of the same node, or 0
	text []byte
}

type editKind uint8

const (
	inserted editKind = iota // before the node
	appended                 // at the end of the node's children
)

// Drop removes an element from its list, or a member with its key from its object. For
// NoNode and Root it does nothing.
func (d *Document) Drop(n Node) {
	if n > Root {
		d.nodes[n].gone = true
		d.touch(d.nodes[n].parent)
	}
}

// Replace replaces the value of a node. text is one JSON value, which the
// Document keeps and does not check. The key of a member stays. All other changes inside the
// node, earlier or later, have no effect.
func (d *Document) Replace(n Node, text []byte) {
	if n != NoNode {
		d.edits = append(d.edits, edit{text: text})
		d.nodes[n].with = int32(len(d.edits) - 1)
		d.touch(n)
	}
}

// Insert inserts a text before a node: a JSON value before an element; a key, a
// colon and a value before a member. The Document keeps text and does not check it.
// Several insertions before the same node are written in the order of the calls, also if the
// node is dropped. For Root, Insert does nothing.
func (d *Document) Insert(n Node, text []byte) {
	if n != Root {
		d.edit(n, inserted, text)
	}
}

// Append adds a text at the end of a list or an object whose children are nodes, in the form that
// Insert takes. For all other values it does nothing, see [Document.Children].
func (d *Document) Append(n Node, text []byte) {
	if d.nodes[n].entered {
		d.edit(n, appended, text)
	}
}

func (d *Document) edit(n Node, kind editKind, text []byte) {
	if n == NoNode {
		return
	}
	at := int32(len(d.edits))
	d.edits = append(d.edits, edit{kind: kind, text: text})
	v := &d.nodes[n]
	if v.edits == 0 {
		v.edits = at
	} else {
		d.edits[v.latest].next = at
	}
	v.latest = at
	d.touch(n)
}

// touch marks a node and its ancestors as changed.
func (d *Document) touch(n Node) {
	for ; n != NoNode && !d.nodes[n].touched; n = d.nodes[n].parent {
		d.nodes[n].touched = true
	}
}

// each passes the texts of the edits of a node to the function do, in the order in which they were
// recorded. It passes only edits of one kind.
func (d *Document) each(n Node, kind editKind, do func(text []byte)) {
	for e := d.nodes[n].edits; e != 0; e = d.edits[e].next {
		if d.edits[e].kind == kind {
			do(d.edits[e].text)
		}
	}
}

// Segments returns the changed text in pieces: parts of the original text, and texts of the
// changes. All bytes outside the changes stay, except the commas and the whitespace beside dropped
// values. The segments are valid until the next Segments or Read. A net.Buffers of them writes and
// reads them without a copy.
func (d *Document) Segments() [][]byte {
	d.out, d.done = d.out[:0], 0
	d.write(Root)
	d.keep(len(d.r.data))
	return d.out
}

// Size returns the number of bytes in segments.
func Size(segments [][]byte) (n int64) {
	for _, s := range segments {
		n += int64(len(s))
	}
	return n
}

// keep writes the original text up to an offset.
func (d *Document) keep(to int) {
	if d.done < to {
		d.out = append(d.out, d.r.data[d.done:to:to])
		d.done = to
	}
}

var comma = []byte(",")

// write writes the changes of a node and its descendants.
func (d *Document) write(n Node) {
	v := &d.nodes[n]
	if !v.touched {
		return
	}
	if v.with != 0 {
		d.keep(int(v.start))
		d.out, d.done = append(d.out, d.edits[v.with].text), int(v.end)
		return
	}
	some := false           // the list has an element already
	end := int(v.start) + 1 // end of the preceding element, even if it was dropped
	put := func(text []byte) {
		d.keep(end)
		if some {
			d.out = append(d.out, comma)
		}
		d.out, some = append(d.out, text), true
	}
	for c := range d.Children(n) {
		first, child := c == n+1, &d.nodes[c]
		if first {
			end = int(child.from)
		}
		d.each(c, inserted, put)
		switch {
		case child.gone:
			d.keep(end)
			d.done = int(child.end)
		case first && some:
			d.out = append(d.out, comma)
		case !first && !some:
			d.keep(end)
			d.done = int(child.from) // without the comma
		}
		if !child.gone {
			d.write(c)
			some = true
		}
		end = int(child.end)
	}
	d.each(n, appended, put)
}
