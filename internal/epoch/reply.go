package epoch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Reply is a reply as the provider knows it. The client knows only a part, because the proxy
// hides from it the calls of Carrel's own tool and their results. A Reply is stored as a rewrite of
// the kind [Message], whose chain is a [ReplyChain].
type Reply struct {
	// Messages replace the client's version of the reply.
	Messages []json.RawMessage
	// Results answer hidden calls that stand in the same message as calls for the client.
	Results []Result
}

// A Result answers a call that is hidden from the client. In the dialect Anthropic it is a block,
// which goes to the beginning of the next message. In other dialects it is a message, which goes
// behind the message that answers the call Behind or, if Behind is empty, in front of all answers.
type Result struct {
	Behind string          `json:"behind,omitempty"` // id of another call
	Text   json.RawMessage `json:"text"`
}

// storedReply is the stored form of a Reply. Its first member distinguishes it from a message.
type storedReply struct {
	Carrel   string            `json:"carrel"`
	Messages []json.RawMessage `json:"messages"`
	Results  []Result          `json:"results,omitempty"`
}

const replyForm = "reply"

// Data returns the reply as the data of a [Rewrite].
func (r *Reply) Data() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(&storedReply{Carrel: replyForm, Messages: r.Messages, Results: r.Results})
	return bytes.TrimSpace(out.Bytes()), err
}

// ReplyChain returns the chain that identifies a reply behind the messages whose chain is history.
// It depends on the ids of those calls of the reply that the client sees or, if there are none, on
// the words of its text. So it does not change if the client changes the form of the reply.
func ReplyChain(dialect wire.Dialect, history digest.Digest, calls []string, text string) digest.Digest {
	said := "calls\x00" + strings.Join(calls, "\x00")
	if len(calls) == 0 {
		said = "text\x00" + strings.Join(strings.Fields(text), " ")
	}
	return wire.Extend(dialect, history, digest.Of([]byte("reply/v1\x00"+said)))
}

// A reply is a Reply in a book.
type reply struct {
	*entry

	results []Result
	joined  map[digest.Digest]*entry // messages with the results put in, by the identity of the message without them
}

// addReply adds a rewrite whose data is a stored Reply, unless the book has one of a later epoch.
// It returns false and adds nothing if the data is something else.
func (b *Book) addReply(r *Rewrite) (bool, error) {
	if r.Kind != Message || !bytes.HasPrefix(r.Data, []byte(`{"carrel":`)) {
		return false, nil
	}
	var stored storedReply
	err := json.Unmarshal(r.Data, &stored)
	switch {
	case err != nil:
	case stored.Carrel != replyForm:
		err = fmt.Errorf("the form is %q: want %q", stored.Carrel, replyForm)
	case len(stored.Messages) == 0:
		err = errors.New("it has no messages")
	}
	if err != nil {
		return true, fmt.Errorf("a reply of epoch %d behind %d messages cannot be read: %w", r.Epoch, r.Messages-1, err)
	}
	var list [][]byte
	for _, m := range stored.Messages {
		list = append(list, m)
	}
	e, err := b.entry(listOf(list))
	if err != nil {
		return true, fmt.Errorf("read the messages of the reply of epoch %d behind %d messages: %w", r.Epoch, r.Messages-1, err)
	}
	e.epoch, e.covers = r.Epoch, r.Messages
	if old := b.replies[r.Chain]; old != nil && old.epoch > r.Epoch {
		return true, nil
	}
	b.replies[r.Chain] = &reply{entry: e, results: stored.Results, joined: make(map[digest.Digest]*entry)}
	return true, nil
}

// replyAt returns the stored reply to send in place of the client's reply that begins at the
// message with index i, or nil if there is none. It also returns how many messages the client's
// reply has.
func (b *Book) replyAt(q *wire.Request, i int) (*reply, int) {
	if i == 0 || q.Messages[i].Role != wire.RoleAssistant {
		return nil, 0
	}
	n := 1
	for q.Dialect == wire.Responses && i+n < len(q.Messages) && q.Messages[i+n].Role == wire.RoleAssistant {
		n++
	}
	var calls, texts []string
	for k := i; k < i+n; k++ {
		c, t := callsAndTexts(q, k)
		calls, texts = append(calls, c...), append(texts, t...)
	}
	return b.replies[ReplyChain(q.Dialect, q.Messages[i-1].Chain, calls, strings.Join(texts, "\n"))], n
}

// listOf returns values as a JSON list.
func listOf(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// callsAndTexts returns the ids of the calls and the texts of a message of a reply.
func callsAndTexts(q *wire.Request, i int) (calls, texts []string) {
	d, n := q.Doc, q.Messages[i].Node
	text := func(n rawjson.Node, key string) string { return wire.Text(d, d.Member(n, key)) }
	if q.Dialect == wire.Responses {
		if id := text(n, "call_id"); id != "" {
			return []string{id}, nil
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

// follow returns the message at index i with the results of reply r put in, or nil if no result
// belongs there. The parameter own is the message's rewrite, or nil; first says whether the
// message is the first behind the reply.
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
		return nil // the message has no results, so it does not answer this reply
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

// inFront returns a JSON list with message as its only element. The message has blocks in front of
// the blocks of its own.
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
