package epoch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Reply is what the provider has in place of a reply of the client's history: the client
// was not shown all that was said. It is kept as a rewrite of kind [Message], with a chain that
// [ReplyChain] gives.
type Reply struct {
	// Messages stand in place of the reply.
	Messages []json.RawMessage
	// Results are of calls that stand beside the client's own in the reply.
	Results []Result
}

// A Result answers a call that the client does not know. Of Messages it is a block, which
// stands first in the next message. Of Chat Completions it is a message, behind that which
// answers another call, or in front of all that do.
type Result struct {
	Behind string          `json:"behind,omitempty"` // id of the other call
	Text   json.RawMessage `json:"text"`
}

// storedReply is how a Reply is stored. The first member tells it from a message.
type storedReply struct {
	Carrel   string            `json:"carrel"`
	Messages []json.RawMessage `json:"messages"`
	Results  []Result          `json:"results,omitempty"`
}

const replyForm = "reply"

// Data returns what is kept of a reply as the data of a [Rewrite].
func (r *Reply) Data() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(&storedReply{Carrel: replyForm, Messages: r.Messages, Results: r.Results})
	return bytes.TrimSpace(out.Bytes()), err
}

// ReplyChain returns the chain by which a reply is known again that followed a history: by the
// ids of the client's calls in it, or, if it has none, by its words. What a client does to the
// form of a reply so changes nothing.
func ReplyChain(dialect wire.Dialect, history digest.Digest, calls []string, text string) digest.Digest {
	said := "calls\x00" + strings.Join(calls, "\x00")
	if len(calls) == 0 {
		said = "text\x00" + strings.Join(strings.Fields(text), " ")
	}
	return wire.Extend(dialect, history, digest.Of([]byte("reply/v1\x00"+said)))
}

// A reply is one of a book.
type reply struct {
	*entry

	results []Result
	joined  map[digest.Digest]*entry // messages with results put in, by what they were
}

// addReply adds a reply if that is what a rewrite has.
func (b *Book) addReply(r *Rewrite) (bool, error) {
	if r.Kind != Message || !bytes.HasPrefix(r.Data, []byte(`{"carrel":`)) {
		return false, nil
	}
	var stored storedReply
	if err := json.Unmarshal(r.Data, &stored); err != nil || stored.Carrel != replyForm || len(stored.Messages) == 0 {
		return true, fmt.Errorf("a reply of epoch %d behind %d messages cannot be read: %w", r.Epoch, r.Messages-1, err)
	}
	var list [][]byte
	for _, m := range stored.Messages {
		list = append(list, m)
	}
	e, err := b.entry(listOf(list))
	if err != nil {
		return true, fmt.Errorf("a reply of epoch %d behind %d messages: %w", r.Epoch, r.Messages-1, err)
	}
	e.epoch, e.covers = r.Epoch, r.Messages
	b.replies[r.Chain] = &reply{entry: e, results: stored.Results, joined: make(map[digest.Digest]*entry)}
	return true, nil
}

// replyAt returns the reply that begins with a message, if there is one to be sent in its
// place, and how many messages of the client it has.
func (b *Book) replyAt(q *wire.Request, i int) (*reply, int) {
	if i == 0 || q.Messages[i].Role != wire.RoleAssistant || q.Messages[i].Node == q.List {
		return nil, 0
	}
	n := 1
	for q.Dialect == wire.Responses && i+n < len(q.Messages) && q.Messages[i+n].Role == wire.RoleAssistant {
		n++
	}
	var calls, texts []string
	for k := i; k < i+n; k++ {
		c, t := spoken(q, k)
		calls, texts = append(calls, c...), append(texts, t...)
	}
	return b.replies[ReplyChain(q.Dialect, q.Messages[i-1].Chain, calls, strings.Join(texts, "\n"))], n
}

// listOf returns values as a JSON list.
func listOf(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// spoken returns the ids of the calls of a reply and its texts.
func spoken(q *wire.Request, i int) (calls, texts []string) {
	d, n := q.Doc, q.Messages[i].Node
	text := func(n rawjson.Node, key string) string { return wire.Text(d, d.Member(n, key)) }
	if q.Dialect == wire.Responses {
		if d.Member(n, "call_id") != rawjson.NoNode {
			return []string{text(n, "call_id")}, nil
		}
		if text(n, "type") == "reasoning" {
			return nil, nil
		}
	}
	content := q.Content(i)
	if t := wire.Text(d, content); t != "" {
		texts = append(texts, t)
	}
	for block := range d.Children(content) {
		switch text(block, "type") {
		case "tool_use":
			calls = append(calls, text(block, "id"))
		case "text", "output_text":
			texts = append(texts, text(block, "text"))
		}
	}
	for call := range d.Children(d.Member(n, "tool_calls")) {
		calls = append(calls, text(call, "id"))
	}
	return calls, texts
}

// follow puts the results of a reply where they belong in what follows it, and returns what
// is sent in place of a message, or nil if none belongs there. Own is the rewrite that the
// message has, or nil; first tells that it is the first behind the reply.
func (b *Book) follow(q *wire.Request, r *reply, i int, own *entry, first bool) *entry {
	m := &q.Messages[i]
	text, id := q.Doc.Raw(m.Node), m.Identity
	if own != nil {
		text, id = own.text, own.sent[0]
	}
	answers := wire.Text(q.Doc, q.Doc.Member(m.Node, "tool_call_id"))
	var before, behind [][]byte
	for _, result := range r.results {
		switch {
		case q.Dialect == wire.Anthropic, first && result.Behind == "":
			before = append(before, result.Text)
		case result.Behind != "" && result.Behind == answers:
			behind = append(behind, result.Text)
		}
	}
	if len(before)+len(behind) == 0 {
		return nil
	}
	if e := r.joined[id]; e != nil {
		return e
	}
	var err error
	list := listOf(slices.Concat(before, [][]byte{text}, behind))
	if q.Dialect == wire.Anthropic {
		list, err = b.inFront(text, before)
	}
	if err != nil {
		return nil // a client that answers no calls does not go on from this reply
	}
	e, err := b.entry(list)
	if err != nil {
		return nil
	}
	if q.Dialect == wire.Anthropic {
		e.shift = len(before)
	}
	r.joined[id] = e
	return e
}

// inFront returns a list of one message, with blocks in front of its own.
func (b *Book) inFront(message []byte, blocks [][]byte) ([]byte, error) {
	q, err := b.read(bodyOf(b.dialect, listOf([][]byte{message})))
	if err != nil {
		return nil, err
	}
	content := q.Content(0)
	if q.Doc.Kind(content) != rawjson.Array {
		return nil, fmt.Errorf("%w: the message behind calls has no list of blocks", wire.ErrForm)
	}
	own := q.Doc.Raw(content)
	own = bytes.TrimSpace(own[1 : len(own)-1])
	if len(own) > 0 {
		blocks = append(slices.Clone(blocks), own)
	}
	q.Doc.Replace(content, listOf(blocks))
	body := bytes.Join(q.Doc.Segments(), nil)
	return body[len(bodyOf(b.dialect, nil))-1 : len(body)-1], nil
}
