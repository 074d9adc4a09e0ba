package epoch

import (
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/transcript"
)

// An Output is a large text of a tool result.
type Output struct {
	Message int                 // index in the request
	Call    transcript.ToolCall // the call of the result; only its id is set if the call is not in the request
	Text    string

	at rawjson.Span // of the JSON string in its message
}

// Fresh returns the index of the first message that was never sent, or the number of messages if
// all were sent. A message was sent if it is a reply, if the function sent returns true for its
// chain, or if such a message comes after it.
func Fresh(q *wire.Request, sent func(chain digest.Digest) bool) int {
	from := len(q.Messages)
	for i, m := range slices.Backward(q.Messages) {
		if m.Role == wire.RoleAssistant || sent(m.Chain) {
			break
		}
		from = i
	}
	return from
}

// Covers returns the number of messages of a request that a new head replaces: all, or, if results
// follow the last reply, those up to and including that reply.
func Covers(q *wire.Request) int {
	from := Fresh(q, func(digest.Digest) bool { return false })
	for i := from; i < len(q.Messages) && from > 0; i++ {
		if q.Messages[i].Role == wire.RoleTool {
			return from
		}
		for block := range q.Doc.Children(q.Content(i)) {
			if q.Dialect == wire.Anthropic && wire.Text(q.Doc, q.Doc.Member(block, "type")) == "tool_result" {
				return from
			}
		}
	}
	return len(q.Messages)
}

// Outputs returns the texts of results that have more bytes of JSON than large. It examines the
// messages whose index is equal to from or higher.
func Outputs(q *wire.Request, from, large int) []Output {
	return outputs(q, from, len(q.Messages), large)
}

func outputs(q *wire.Request, from, to, large int) []Output {
	var list []Output
	for i := from; i < to; i++ {
		m := &q.Messages[i]
		if len(q.Doc.Raw(m.Node)) <= large {
			continue
		}
		f := finder{q: q, message: i, large: large}
		switch {
		case q.Dialect == wire.Anthropic && m.Role == wire.RoleUser:
			for block := range q.Doc.Children(q.Content(i)) {
				if f.is(block, "tool_result") {
					f.texts(q.Doc.Member(block, "content"), f.text(block, "tool_use_id"))
				}
			}
		case q.Dialect == wire.Chat && m.Role == wire.RoleTool:
			f.texts(q.Content(i), f.text(m.Node, "tool_call_id"))
		case q.Dialect == wire.Responses && m.Role == wire.RoleTool:
			f.texts(q.Doc.Member(m.Node, "output"), f.text(m.Node, "call_id"))
		}
		list = append(list, f.list...)
	}
	return list
}

// A finder finds the large texts of a message.
type finder struct {
	q       *wire.Request
	message int
	large   int
	list    []Output
}

func (f *finder) text(n rawjson.Node, key string) string {
	return wire.Text(f.q.Doc, f.q.Doc.Member(n, key))
}

// textOf returns the decoded text of a JSON string, or "" if raw is not a string.
func textOf(raw []byte) string {
	s, err := rawjson.NewReader(raw).String()
	if err != nil {
		return ""
	}
	return s
}

func (f *finder) is(block rawjson.Node, kind string) bool { return f.text(block, "type") == kind }

// texts adds the large texts of a result, which is a string or a list of blocks.
func (f *finder) texts(n rawjson.Node, call string) {
	d := f.q.Doc
	raw, at := d.Raw(n), d.Span(n).Start
	if len(raw) <= f.large {
		return
	}
	if d.Kind(n) == rawjson.String {
		f.take(raw, at, call)
		return
	}
	r := rawjson.NewReader(raw)
	if r.Kind() != rawjson.Array {
		return
	}
	blocks, err := r.Elements()
	if err != nil {
		return
	}
	for _, b := range blocks {
		in := rawjson.NewReader(b.Of(raw))
		if in.Kind() != rawjson.Object {
			continue
		}
		members, err := in.Members()
		if err != nil {
			continue
		}
		for _, m := range members {
			if m.Key == "text" {
				f.take(m.Value.Of(b.Of(raw)), at+b.Start+m.Value.Start, call)
			}
		}
	}
}

// take adds a text to the list, with the call that it is the result of, if the text is large.
func (f *finder) take(raw []byte, at int, call string) {
	if len(raw) <= f.large || raw[0] != '"' {
		return
	}
	c := f.call(call)
	at -= f.q.Doc.Span(f.q.Messages[f.message].Node).Start
	f.list = append(f.list, Output{Message: f.message, Call: c, Text: textOf(raw), at: rawjson.Span{Start: at, End: at + len(raw)}})
}

// call returns the call with an id. It searches the messages before the one that the finder reads.
func (f *finder) call(id string) (c transcript.ToolCall) {
	d := f.q.Doc
	for i := f.message - 1; i >= 0 && id != ""; i-- {
		n := f.q.Messages[i].Node
		if f.q.Messages[i].Role != wire.RoleAssistant {
			continue
		}
		switch f.q.Dialect {
		case wire.Anthropic:
			for b := range d.Children(f.q.Content(i)) {
				if f.text(b, "id") == id {
					return transcript.ToolCall{ID: id, Name: f.text(b, "name"), Input: d.Raw(d.Member(b, "input"))}
				}
			}
		case wire.Chat:
			for b := range d.Children(d.Member(n, "tool_calls")) {
				if f.text(b, "id") == id {
					name, input := function(d.Raw(d.Member(b, "function")))
					return transcript.ToolCall{ID: id, Name: name, Input: input}
				}
			}
		case wire.Responses:
			if f.text(n, "call_id") == id {
				input := []byte(f.text(n, "arguments"))
				if program := d.Member(n, "input"); program != rawjson.NoNode { // a custom tool, whose input is text
					input = d.Raw(program)
				}
				return transcript.ToolCall{ID: id, Name: f.text(n, "name"), Input: input}
			}
		}
	}
	return transcript.ToolCall{ID: id}
}

// function returns the name and the arguments of a call of Chat Completions.
func function(raw []byte) (name string, input []byte) {
	r := rawjson.NewReader(raw)
	if r.Kind() != rawjson.Object {
		return "", nil
	}
	members, err := r.Members()
	if err != nil {
		return "", nil
	}
	for _, m := range members {
		switch m.Key {
		case "name":
			name = textOf(m.Value.Of(raw))
		case "arguments":
			input = []byte(textOf(m.Value.Of(raw)))
		}
	}
	return name, input
}

// Replace returns a message with texts in place of its outputs, which must be in order. An
// empty text leaves the output as it is.
func Replace(q *wire.Request, outputs []Output, texts []string) []byte {
	raw := q.Doc.Raw(q.Messages[outputs[0].Message].Node)
	var out []byte
	done := 0
	for i := range outputs {
		if texts[i] != "" {
			out = rawjson.AppendString(append(out, raw[done:outputs[i].at.Start]...), texts[i])
			done = outputs[i].at.End
		}
	}
	return append(out, raw[done:]...)
}

// Bare returns, as a JSON list, all messages of a request as they came, but without thinking blocks
// that follow the first rewrite: the provider has bound that reasoning to the rewritten messages,
// which the list does not have. A reply that has only such blocks is left out. Set all to remove
// all thinking blocks, if the system text or the tools were changed, too. Bare is for the dialect
// Anthropic; it leaves the reasoning items of Responses.
func Bare(q *wire.Request, b *Book, all bool) []byte {
	from := len(q.Messages)
	for i := range q.Messages {
		c := q.Messages[i].Chain
		r, _ := b.replyAt(q, i)
		if b.heads[c] != nil || b.messages[c] != nil || r != nil {
			from = i
			if r != nil {
				from-- // the reply itself has reasoning that follows its hidden messages
			}
			break
		}
	}
	list := []byte("[")
	for i := range q.Messages {
		text := q.Doc.Raw(q.Messages[i].Node)
		if (all || i > from) && q.Messages[i].Role == wire.RoleAssistant {
			text = withoutThinking(q, i)
		}
		if text == nil {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, text...)
	}
	return append(list, ']')
}

// withoutThinking returns a reply without its thinking blocks, or nil if no block is left.
func withoutThinking(q *wire.Request, i int) []byte {
	d := q.Doc
	message := d.Span(q.Messages[i].Node)
	raw := d.Raw(q.Messages[i].Node)
	var blocks []rawjson.Span
	var gone []bool
	left := 0
	for b := range d.Children(q.Content(i)) {
		kind := string(d.Raw(d.Member(b, "type")))
		span := d.Span(b)
		blocks = append(blocks, rawjson.Span{Start: span.Start - message.Start, End: span.End - message.Start})
		gone = append(gone, kind == `"thinking"` || kind == `"redacted_thinking"`)
		if !gone[len(gone)-1] {
			left++
		}
	}
	switch {
	case left == len(blocks):
		return raw
	case left == 0:
		return nil
	}
	var out []byte
	done := 0
	for _, cut := range rawjson.Remove(blocks, func(k int) bool { return gone[k] }) {
		out = append(out, raw[done:cut.Start]...)
		done = cut.End
	}
	return append(out, raw[done:]...)
}
