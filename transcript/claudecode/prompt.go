package claudecode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A prompt is a list of messages of a request: its last message, and the list before it. A nil
// prompt has no messages.
type prompt struct {
	before  *prompt
	jump    *prompt // an earlier list, so that any earlier one is few steps away
	count   int     // messages
	missing int     // messages whose text is not known
	bytes   int     // of the known messages
	chain   digest.Digest
}

// A step is a list with one more message.
type step struct {
	before  *prompt
	message digest.Digest
}

func (p *prompt) size() int {
	if p == nil {
		return 0
	}
	return p.count
}

// first returns the list of the first n messages, or nil if there are not as many.
func (p *prompt) first(n int) *prompt {
	for p.size() > n {
		if p.jump.size() >= n {
			p = p.jump
		} else {
			p = p.before
		}
	}
	if p.size() < n {
		return nil
	}
	return p
}

// common returns the longest list of messages with which both lists begin. Equal lists are always
// the same prompt, so their pointers are equal.
func common(a, b *prompt) *prompt {
	n := min(a.size(), b.size())
	a, b = a.first(n), b.first(n)
	for a != b {
		if a.jump != b.jump {
			a, b = a.jump, b.jump
		} else {
			a, b = a.before, b.before
		}
	}
	return a
}

// A cloner is a hash whose state can be copied.
type cloner interface {
	hash.Hash
	hash.Cloner
}

// canonical is the digest of a JSON text as the client computes it: the members of each object
// are in the order of their keys, and there is no whitespace.
type canonical struct {
	hash    cloner
	waiting []byte // text that is not in the hash yet
	size    int    // of the whole text
}

func newCanonical() *canonical { return &canonical{hash: sha256.New().(cloner)} }

// mostWaiting is about the most bytes that wait for the hash.
const mostWaiting = 4 << 10

// write adds text as it is.
func (c *canonical) write(text string) {
	c.size += len(text)
	if c.waiting = append(c.waiting, text...); len(c.waiting) > mostWaiting {
		c.flush()
	}
}

func (c *canonical) flush() {
	_, _ = c.hash.Write(c.waiting) // a hash returns no error
	c.waiting = c.waiting[:0]
}

// sum returns the digest and the size of the text so far, followed by the text in end.
func (c *canonical) sum(end string) (digest.Digest, int) {
	c.flush()
	whole := c.hash
	if end != "" {
		if clone, err := c.hash.Clone(); err == nil { // it is a hash of the standard library
			whole = clone.(cloner)
		}
		_, _ = whole.Write([]byte(end))
	}
	return digest.Digest(whole.Sum(nil)), c.size + len(end)
}

// add adds a JSON value.
func (c *canonical) add(raw string) error {
	r := rawjson.NewReader([]byte(raw))
	if err := c.value(r); err != nil {
		return err
	}
	return r.End()
}

// value adds the next value of a reader.
func (c *canonical) value(r *rawjson.Reader) error {
	switch r.Kind() {
	case rawjson.Object:
		return c.object(r)
	case rawjson.Array:
		c.write("[")
		err := r.Array(func(i int) error {
			if i > 0 {
				c.write(",")
			}
			return c.value(r)
		})
		c.write("]")
		return err
	case rawjson.String, rawjson.Number, rawjson.True, rawjson.False, rawjson.Null, rawjson.None:
	}
	span, err := r.Skip()
	c.write(view(r.Of(span)))
	return err
}

func (c *canonical) object(r *rawjson.Reader) error {
	members, err := r.Members()
	if err != nil {
		return err
	}
	slices.SortStableFunc(members, func(a, b rawjson.Member) int { return cmp.Compare(a.Key, b.Key) })
	c.write("{")
	for i := range members {
		m := &members[i]
		if i > 0 {
			c.write(",")
		}
		c.write(view(bytes.TrimRight(r.Of(rawjson.Span{Start: m.Whole.Start, End: m.Value.Start}), ": \t\r\n")))
		c.write(":")
		if err := r.At(m.Value.Start, m.Key, func() error { return c.value(r) }); err != nil {
			return err
		}
	}
	c.write("}")
	return nil
}

// A run joins the rows of the conversation that are one message of a request.
type run struct {
	role, reply string
	hash        *canonical // of the blocks so far; nil if a row cannot be read
	blocks      int
}

// add adds the content of a row to the message. It adds the digest and the size of the message, as
// it is now, to the map known.
func (n *run) add(role, reply, content string, known map[digest.Digest]int) {
	if role == "" || content == "" {
		*n = run{}
		return
	}
	if n.role != role || role != "user" && (reply == "" || n.reply != reply) {
		*n = run{role: role, reply: reply, hash: newCanonical()}
		n.hash.write(`{"content":[`)
	}
	if n.hash == nil || n.extend(content) != nil {
		n.hash = nil
		return
	}
	sum, size := n.hash.sum(`],"role":"` + role + `"}`)
	known[sum] = size
}

// extend adds the blocks of a row. A plain text is like one block.
func (n *run) extend(content string) error {
	if content[0] == '"' {
		n.separate()
		n.hash.write(`{"text":` + content + `,"type":"text"}`)
		return nil
	}
	r := rawjson.NewReader([]byte(content))
	if r.Kind() != rawjson.Array {
		n.separate()
		return n.hash.value(r)
	}
	return r.Array(func(int) error {
		n.separate()
		return n.hash.value(r)
	})
}

func (n *run) separate() {
	if n.blocks++; n.blocks > 1 {
		n.hash.write(",")
	}
}
