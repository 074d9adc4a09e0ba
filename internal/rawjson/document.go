package rawjson

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Document is a JSON object that is edited, such as the body of a request to a model. It
// holds the positions of the values that can be edited, and writes a changed text in which all
// other bytes stay.
//
// Read finds the levels of a request of any provider: the members of the object, the
// elements of its lists (messages, input, contents, system, tools), their members, the
// elements of the lists among those (content, parts), and the members of these. Deeper
// values are checked and skipped. Each value of these levels is a [Node].
//
// Other programs must read the edited text in the same way as the Document. So Read refuses
// JSON that programs read in different ways, see [Rule].
//
// Drop, Replace, Insert and Append record changes; Segments writes them. Read costs one pass
// over the text, in which strings are scanned by words of eight bytes; Segments costs one step
// for each change and for each sibling of a changed node, and copies nothing.
//
// The zero value is ready. Read reuses the memory of the previous text, so that a Document
// allocates nothing once it has read a text of the same size. A Document is for one
// goroutine.
type Document struct {
	r     Reader
	nodes []node // NoNode, Root and its descendants, each before its children
	open  Node   // the node that is being read
	edits []edit // the first is unused
	out   [][]byte
	done  int // offset up to which the text is written
}

// A Node is a value in the text of a [Document], with its key if it is a member of an
// object. It is invalid after the next Read.
type Node int32

// The nodes with fixed numbers.
const (
	NoNode Node = 0 // no value: of kind None, with no text and no children
	Root   Node = 1 // the whole object
)

// A Rule is the reason for which a [Document] refuses valid JSON.
type Rule string

// The rules of a [Document]. RuleKey, RuleTwice and RuleMembers hold for the objects whose members
// are nodes; RuleUnicode holds for all strings. Every [Reader] applies RuleDepth.
const (
	RuleDepth   Rule = "depth"   // values are nested more than MaxDepth levels deep
	RuleSize    Rule = "size"    // the text is larger than 1 GiB
	RuleObject  Rule = "object"  // the text is not an object
	RuleUnicode Rule = "unicode" // a string is not UTF-8, or has half of a surrogate pair
	RuleKey     Rule = "key"     // a key has an escape or is not ASCII
	RuleTwice   Rule = "twice"   // an object has two keys that are equal, or differ in case only
	RuleMembers Rule = "members" // an object has more than 64 members
)

const (
	maxSize    = 1 << 30 // offsets have 32 bits
	maxMembers = 64
	maxLevel   = 5 // number of levels of objects and lists whose children become nodes
)

// A node holds the position and the state of a Node.
type node struct {
	from                int32 // offset of the key or, without a key, of the value
	key                 int32 // length of the key with its quotes, or 0
	start, end          int32 // span of the value
	parent, next, last  Node  // parent, next sibling and last child
	edits, latest, with int32 // indexes in Document.edits: first and last insertion, replacement; or 0
	kind                Kind
	entered             bool // the children of the value are nodes
	gone                bool // the node was dropped
	touched             bool // the node or a descendant was changed
}

// Read reads a text, and drops the previous text with its changes. It keeps data, which
// must not change until the segments are written. An error is an [*Error].
func (d *Document) Read(data []byte) error {
	d.r = Reader{data: data, strict: true}
	d.nodes = append(d.nodes[:0], node{}, node{})
	d.edits = append(d.edits[:0], edit{})
	d.open = Root
	err := d.read()
	if err == nil {
		return nil
	}
	d.r.data, d.nodes = nil, append(d.nodes[:0], node{}, node{})
	return err
}

func (d *Document) read() error {
	if len(d.r.data) > maxSize {
		return d.r.refuse(maxSize, RuleSize, "the text is larger than %d bytes", maxSize)
	}
	if kind := d.r.Kind(); kind != Object && kind != None {
		return d.r.refuse(d.r.pos, RuleObject, "%s where an object is expected", d.r.here())
	}
	err := d.value(Root, 1)
	if err == nil {
		err = d.r.End()
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Path = d.path(d.open)
	}
	return err
}

// value reads the value of a node, with its descendants down to maxLevel.
func (d *Document) value(n Node, level int) (err error) {
	d.open = n
	kind := d.r.Kind()
	start := d.r.pos
	entered := level <= maxLevel && (kind == Object && level%2 == 1 || kind == Array && level%2 == 0)
	switch {
	case !entered:
		err = d.r.skip()
	case kind == Object:
		err = d.object(n, level)
	default:
		err = d.array(n, level)
	}
	if err != nil {
		return err
	}
	v := &d.nodes[n]
	v.kind, v.entered, v.start, v.end = kind, entered, int32(start), int32(d.r.pos)
	d.open = v.parent
	return nil
}

func (d *Document) object(n Node, level int) error {
	if err := d.r.open('{'); err != nil {
		return err
	}
	count := 0
	for more := !d.r.closes('}'); more; count++ {
		key, has, err := d.r.scan()
		switch {
		case err != nil:
			return err
		case has&escapes != 0, has&wide != 0 && !ascii(key.Of(d.r.data)): // wide may refer to bytes after the key
			return d.r.refuse(key.Start, RuleKey, "key %q has an escape or is not ASCII", key.Of(d.r.data))
		case count == maxMembers:
			return d.r.refuse(key.Start, RuleMembers, "an object has more than %d members", maxMembers)
		case d.twice(n, key.Of(d.r.data)):
			return d.r.refuse(key.Start, RuleTwice, "key %s comes twice", key.Of(d.r.data))
		}
		if err := d.r.colon(); err != nil {
			return err
		}
		if err := d.value(d.add(n, key), level+1); err != nil {
			return err
		}
		if more, err = d.r.next('}'); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) array(n Node, level int) error {
	if err := d.r.open('['); err != nil {
		return err
	}
	for more := !d.r.closes(']'); more; {
		at := d.r.Offset()
		err := d.value(d.add(n, Span{at, at}), level+1)
		if err == nil {
			more, err = d.r.next(']')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func ascii(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

// add appends a child to a node.
func (d *Document) add(parent Node, key Span) Node {
	n := Node(len(d.nodes))
	d.nodes = append(d.nodes, node{from: int32(key.Start), key: int32(key.End - key.Start), parent: parent})
	p := &d.nodes[parent]
	if p.last != NoNode {
		d.nodes[p.last].next = n
	}
	p.last = n
	return n
}

// twice reports whether the object n already has the key, in any case; key includes its quotes.
func (d *Document) twice(n Node, key []byte) bool {
	for c := range d.Children(n) {
		if v := &d.nodes[c]; int(v.key) == len(key) && bytes.EqualFold(d.r.data[v.from:v.from+v.key], key) {
			return true
		}
	}
	return false
}

// path returns the path of a node, such as "messages.3.role".
func (d *Document) path(n Node) string {
	if n <= Root {
		return ""
	}
	v := &d.nodes[n]
	step := string(bytes.Trim(d.Key(n), `"`))
	if v.key == 0 {
		i := 0
		for c := range d.Children(v.parent) {
			if c == n {
				break
			}
			i++
		}
		step = strconv.Itoa(i)
	}
	return strings.TrimPrefix(d.path(v.parent)+"."+step, ".")
}

// Kind returns the kind of a node.
func (d *Document) Kind(n Node) Kind { return d.nodes[n].kind }

// Key returns the key of a node without its quotes. An element of a list has none.
func (d *Document) Key(n Node) []byte {
	v := &d.nodes[n]
	if v.key == 0 {
		return nil
	}
	return d.r.data[v.from+1 : v.from+v.key-1 : v.from+v.key-1]
}

// Raw returns the text of a node's value, as it was read.
func (d *Document) Raw(n Node) []byte {
	v := &d.nodes[n]
	return d.r.data[v.start:v.end:v.end]
}

// Span returns the position of a node's value.
func (d *Document) Span(n Node) Span {
	return Span{Start: int(d.nodes[n].start), End: int(d.nodes[n].end)}
}

// Children yields the members of an object or the elements of a list, in their order. It yields
// none for values below the levels that Read looks into, nor for those of another kind than the
// level has: for an object among the members of the whole object, such as metadata, or for a list
// in a list.
func (d *Document) Children(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if d.nodes[n].last == NoNode {
			return
		}
		for c := n + 1; c != NoNode && yield(c); c = d.nodes[c].next {
		}
	}
}

// Member returns the member of an object with a key, or NoNode.
func (d *Document) Member(n Node, key string) Node {
	for c := range d.Children(n) {
		if string(d.Key(c)) == key {
			return c
		}
	}
	return NoNode
}

// unicode returns an error for a string that is not valid Unicode, because programs read such a
// string in different ways.
func (r *Reader) unicode(s Span, has marks) error {
	if has&halves != 0 {
		return r.refuse(s.Start, RuleUnicode, "a string has half of a surrogate pair")
	}
	if !utf8.Valid(s.Of(r.data)) {
		return r.refuse(s.Start, RuleUnicode, "a string is not UTF-8")
	}
	return nil
}

// refuse returns the error for a text that breaks a rule.
func (r *Reader) refuse(offset int, rule Rule, format string, args ...any) error {
	e := r.Fail(offset, format, args...)
	e.Rule = rule
	return e
}
