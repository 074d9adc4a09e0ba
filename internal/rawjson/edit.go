package rawjson

// An edit is a change to a node, in the list of all edits of that node.
type edit struct {
	kind editKind
	next int32 // of the same node, or 0
	text []byte
}

type editKind uint8

const (
	inserted editKind = iota // in front of the node
	appended                 // to what is in it
)

// Drop takes an element out of its list, or a member with its key out of its object. Of
// NoNode and Root nothing is taken.
func (d *Document) Drop(n Node) {
	if n > Root {
		d.nodes[n].gone = true
		d.touch(d.nodes[n].parent)
	}
}

// Replace puts another value in place of a node's. The text is one JSON value, which the
// Document keeps and does not check. The key of a member stays. What was changed in the
// node before or is afterwards is not written.
func (d *Document) Replace(n Node, text []byte) {
	if n != NoNode {
		d.edits = append(d.edits, edit{text: text})
		d.nodes[n].with = int32(len(d.edits) - 1)
		d.touch(n)
	}
}

// Insert puts a text in front of a node: a JSON value in front of an element, a key, a
// colon and a value in front of a member. The Document keeps it and does not check it.
// What is inserted in front of the same node stands in the order of the calls, also if that
// node is dropped. In front of Root nothing is inserted.
func (d *Document) Insert(n Node, text []byte) {
	if n != Root {
		d.edit(n, inserted, text)
	}
}

// Append puts a text at the end of a list or an object, as Insert does in front of a node.
// To what is neither, or deeper than Read looks, nothing is appended.
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

// touch notes that something was changed at a node.
func (d *Document) touch(n Node) {
	for ; n != NoNode && !d.nodes[n].touched; n = d.nodes[n].parent {
		d.nodes[n].touched = true
	}
}

// each yields the texts of the edits of one kind, in the order in which they were made.
func (d *Document) each(n Node, kind editKind, do func(text []byte)) {
	for e := d.nodes[n].edits; e != 0; e = d.edits[e].next {
		if d.edits[e].kind == kind {
			do(d.edits[e].text)
		}
	}
}

// Segments returns the text with the changes, in pieces: parts of the text that was read,
// and texts of the changes. All bytes outside of what was changed, and of the commas beside
// what was dropped, are as they were. The segments are of use until the next Segments or
// Read, and may be made net.Buffers of, which write and read them without a copy.
func (d *Document) Segments() [][]byte {
	d.out, d.done = d.out[:0], 0
	d.write(Root)
	d.keep(len(d.r.data))
	return d.out
}

// Size returns how many bytes segments have.
func Size(segments [][]byte) (n int64) {
	for _, s := range segments {
		n += int64(len(s))
	}
	return n
}

// keep writes the text up to a place as it is.
func (d *Document) keep(to int) {
	if d.done < to {
		d.out = append(d.out, d.r.data[d.done:to:to])
		d.done = to
	}
}

var comma = []byte(",")

// write writes the changes at a node's value and in it.
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
	some := false           // something stands in the list already
	end := int(v.start) + 1 // of what stands before, or would, had it not been dropped
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
