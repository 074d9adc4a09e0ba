package anthropic

import (
	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A body is a parsed request body.
type body struct {
	*chat.Frame
	chat.Head

	system   content
	messages []message
	marks    []mark   // cache marks of tools
	whole    *mark    // cache mark of the request itself, or nil
	params   []string // sampling parameters that newer models refuse
	budget   bool     // thinking is enabled with a budget
}

// A message is one element of the list messages.
type message struct {
	role     string
	settings bool // the message has output_config, and may have no content
	content
}

// onlySettings reports whether a system message has no text and only changes settings of the
// messages after it.
func (m *message) onlySettings() bool {
	return m.role == "system" && m.settings && m.list && len(m.blocks) == 0
}

// A content is the value of a content or system field. Its span is empty if
// there is none.
type content struct {
	rawjson.Span
	list   bool // an array of blocks, not a string
	text   string
	blocks []block
}

// A block is one element of a content.
type block struct {
	rawjson.Span
	kind      string
	text      string
	thinking  string
	signature string
	data      string // of a redacted_thinking block
	name      string
	id        id // of a call
	answers   id // id of the call that the result answers
	input     rawjson.Span
	content   content // of a result
	failed    bool
	mark      *mark
}

// An id is a tool call's id and its span.
type id struct {
	rawjson.Span
	text string
}

// A mark is a cache_control.
type mark struct {
	rawjson.Span // of the object that holds the mark; empty for the request itself
	hour         bool
}

// parse reads a body.
func parse(name string, data []byte) (*body, error) {
	b := new(body)
	frame, err := chat.Messages.Read(name, data, b.field, func(r *rawjson.Reader, _ int) error {
		m, err := readMessage(r)
		b.messages = append(b.messages, m)
		b.Note(r)
		return err
	})
	b.Frame = frame
	return b, err
}

// field reads a field of the body other than messages.
func (b *body) field(r *rawjson.Reader, key string) (err error) {
	switch kind := r.Kind(); {
	case key == "model" && kind == rawjson.String:
		b.Model, err = r.String()
		return err
	case key == "system" && kind != rawjson.Null:
		b.system, err = readContent(r, false)
		b.Note(r)
		return err
	case key == "tools" && kind == rawjson.Array:
		start := r.Offset()
		err = r.Array(func(int) error { return b.tool(r) })
		b.Tools = rawjson.Span{Start: start, End: r.Position()}
		return err
	case key == "cache_control" && kind == rawjson.Object:
		m, err := readMark(r)
		b.whole = &m
		return err
	case key == "thinking" && kind == rawjson.Object:
		return b.thinking(r)
	case (key == "temperature" || key == "top_p" || key == "top_k") && kind != rawjson.Null:
		b.params = append(b.params, key)
	}
	_, err = r.Skip()
	return err
}

func (b *body) tool(r *rawjson.Reader) error {
	if r.Kind() != rawjson.Object {
		_, err := r.Skip()
		return err
	}
	start, before := r.Offset(), len(b.marks)
	err := r.Object(func(key string) error {
		if key == "cache_control" && r.Kind() == rawjson.Object {
			m, err := readMark(r)
			b.marks = append(b.marks, m)
			return err
		}
		_, err := r.Skip()
		return err
	})
	for i := range b.marks[before:] {
		b.marks[before+i].Span = rawjson.Span{Start: start, End: r.Position()}
	}
	return err
}

func (b *body) thinking(r *rawjson.Reader) error {
	enabled, budget := false, false
	err := r.Object(func(key string) error {
		if key == "type" && r.Kind() == rawjson.String {
			kind, err := r.String()
			enabled = kind == "enabled"
			return err
		}
		budget = budget || key == "budget_tokens"
		_, err := r.Skip()
		return err
	})
	b.budget = enabled && budget
	if budget {
		b.params = append(b.params, "thinking.budget_tokens")
	}
	return err
}

func readMark(r *rawjson.Reader) (mark, error) {
	var m mark
	err := r.Object(func(key string) error {
		if key == "ttl" && r.Kind() == rawjson.String {
			ttl, err := r.String()
			m.hour = ttl == "1h"
			return err
		}
		_, err := r.Skip()
		return err
	})
	return m, err
}

// readMessage reads one element of the list messages.
func readMessage(r *rawjson.Reader) (message, error) {
	var m message
	start := r.Offset()
	err := r.Object(func(key string) (err error) {
		switch key {
		case "role":
			m.role, err = roles.Read(r)
		case "content":
			if r.Kind() == rawjson.Null {
				_, err = r.Skip()
				return err
			}
			m.content, err = readContent(r, false)
		case "output_config":
			m.settings = r.Kind() == rawjson.Object
			_, err = r.Skip()
		default:
			_, err = r.Skip()
		}
		return err
	})
	if err == nil && m.role == "" {
		return m, roles.Missing(r, start)
	}
	return m, err
}

var roles = chat.Roles{Names: []string{"user", "assistant", "system"}, Hint: "roles are user, assistant and system"}

// readContent reads a string or a list of blocks. If nested is true, the content is that of
// a tool result, and tool results inside it are not read.
func readContent(r *rawjson.Reader, nested bool) (c content, err error) {
	c.Start = r.Offset()
	if r.Kind() == rawjson.String {
		c.text, err = r.String()
	} else {
		c.list = true
		err = r.Array(func(int) error {
			k, err := readBlock(r, nested)
			c.blocks = append(c.blocks, k)
			return err
		})
	}
	c.End = r.Position()
	return c, err
}

// readBlock reads a block of any kind. It ignores fields whose value has another type than
// expected, so that unknown kinds of blocks are never refused.
func readBlock(r *rawjson.Reader, nested bool) (block, error) {
	k := block{Span: rawjson.Span{Start: r.Offset()}}
	inner := -1 // offset of content, or -1
	err := r.Object(func(key string) (err error) {
		if r.Kind() == rawjson.String {
			if known, err := k.readText(r, key); known {
				return err
			}
		}
		switch {
		case key == "cache_control" && r.Kind() == rawjson.Object:
			m, err := readMark(r)
			k.mark = &m
			return err
		case key == "is_error":
			k.failed = r.Kind() == rawjson.True
		case key == "content" && k.kind == "tool_result" && !nested && r.Kind() != rawjson.Null:
			k.content, err = readContent(r, true)
			return err
		case key == "content" && r.Kind() != rawjson.Null:
			inner = r.Offset() // type may follow content
		}
		span, err := r.Skip()
		switch key {
		case "input":
			k.input = span
		case "content":
			k.content.Span = span
		case "id":
			k.id.Span = span
		case "tool_use_id":
			k.answers.Span = span
		}
		return err
	})
	k.End = r.Position()
	if k.mark != nil {
		k.mark.Span = k.Span
	}
	if err == nil && inner >= 0 && k.kind == "tool_result" && !nested {
		err = r.At(inner, "content", func() error {
			k.content, err = readContent(r, true)
			return err
		})
	}
	return k, err
}

// readText reads the string field with the name key into k. It reports false if it does not know
// the field.
func (k *block) readText(r *rawjson.Reader, key string) (known bool, err error) {
	start := r.Offset()
	switch key {
	case "type":
		k.kind, err = r.String()
	case "text":
		k.text, err = r.String()
	case "thinking":
		k.thinking, err = r.String()
	case "signature":
		k.signature, err = r.String()
	case "data":
		k.data, err = r.String()
	case "name":
		k.name, err = r.String()
	case "id":
		k.id.text, err = r.String()
		k.id.Span = rawjson.Span{Start: start, End: r.Position()}
	case "tool_use_id":
		k.answers.text, err = r.String()
		k.answers.Span = rawjson.Span{Start: start, End: r.Position()}
	default:
		return false, nil
	}
	return true, err
}

// thought reports whether k is a thinking or redacted_thinking block.
func (k *block) thought() bool { return k.kind == "thinking" || k.kind == "redacted_thinking" }

// parts returns the content as parts of a [transcript.Message].
func (c *content) parts(data []byte) []transcript.Part {
	if !c.list {
		if c.text == "" {
			return nil
		}
		return []transcript.Part{transcript.Text(c.text)}
	}
	parts := make([]transcript.Part, len(c.blocks))
	for i := range c.blocks {
		parts[i] = c.blocks[i].part(data)
	}
	return parts
}

func (k *block) part(data []byte) transcript.Part {
	switch k.kind {
	case "text":
		return transcript.Text(k.text)
	case "thinking":
		return transcript.Thinking{Text: k.thinking, Signature: k.signature}
	case "redacted_thinking":
		return transcript.Thinking{Signature: k.data, Redacted: true}
	case "tool_use":
		return transcript.ToolCall{ID: k.id.text, Name: k.name, Input: k.input.Of(data)}
	case "tool_result":
		return transcript.ToolResult{CallID: k.answers.text, Content: k.content.parts(data), Error: k.failed}
	case "image", "document":
		return media(k.kind, k.Of(data))
	}
	return transcript.Opaque{Type: k.kind, Raw: k.Of(data)}
}

// media returns the source of an image or a document as a part; raw is valid JSON.
func media(kind string, raw []byte) transcript.Part {
	m := transcript.Media{Kind: kind, Raw: raw}
	var source string
	r := rawjson.NewReader(raw)
	err := r.Object(func(key string) error {
		if key != "source" || r.Kind() != rawjson.Object {
			_, err := r.Skip()
			return err
		}
		return r.Object(func(key string) (err error) {
			if r.Kind() != rawjson.String {
				_, err = r.Skip()
				return err
			}
			text, err := r.String()
			switch key {
			case "type":
				source = text
			case "media_type":
				m.MIME = text
			case "data":
				m.Data = text
			case "url":
				m.URL = text
			}
			return err
		})
	})
	if err != nil { // for example a key that occurs twice
		return transcript.Opaque{Type: kind, Raw: raw}
	}
	if source == "text" { // the data is plain text, not base64
		m.Data = ""
	}
	return m
}
