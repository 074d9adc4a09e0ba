package openai

import (
	"strconv"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A body is a parsed request body.
type body struct {
	*chat.Frame
	chat.Head

	messages []message
	legacy   []int // indexes of messages with a function_call without a result so far
}

// A message is one element of the list messages.
type message struct {
	role      string
	name      string
	content   chat.Content
	refusal   string
	reasoning []reasoning
	calls     []call
	noCalls   bool   // the list of calls is empty
	audio     bool   // the reply is audio
	legacy    bool   // the call is a function_call, or the result answers one
	answers   string // tool_call_id
}

// A reasoning is a field in which a server returned the model's reasoning.
type reasoning struct {
	key  string
	text string // empty if it is not a string
}

// A call is an element of tool_calls, or a function_call.
type call struct {
	id, name string
	input    []byte
	text     bool // the arguments are a JSON string
}

// isThought reports whether a field holds reasoning. Servers use several names for it.
func isThought(key string) bool {
	switch key {
	case "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks":
		return true
	}
	return false
}

// parse reads a body.
func parse(name string, data []byte) (*body, error) {
	b := new(body)
	frame, err := chat.Messages.Read(name, data, b.field, func(r *rawjson.Reader, i int) error {
		m, err := readMessage(r, data)
		b.pair(&m, i)
		b.messages = append(b.messages, m)
		b.Note(r)
		return err
	})
	b.Frame = frame
	return b, err
}

func (b *body) field(r *rawjson.Reader, key string) (err error) {
	if key == "model" && r.Kind() == rawjson.String {
		b.Model, err = r.String()
		return err
	}
	span, err := r.Skip()
	if key == "tools" {
		b.Tools = span
	}
	return err
}

// pair gives ids to calls and results of the older form: a result answers
// the last function_call with its name that has no result yet.
func (b *body) pair(m *message, i int) {
	if !m.legacy {
		return
	}
	if m.role == "assistant" {
		m.calls[len(m.calls)-1].id = "function_call_" + strconv.Itoa(i)
		b.legacy = append(b.legacy, i)
		return
	}
	for k := len(b.legacy) - 1; k >= max(0, len(b.legacy)-8); k-- {
		at := b.legacy[k]
		if c := b.messages[at].calls[len(b.messages[at].calls)-1]; c.name == m.name {
			m.answers = c.id
			b.legacy = append(b.legacy[:k], b.legacy[k+1:]...)
			return
		}
	}
}

// readMessage reads one element of the list messages.
func readMessage(r *rawjson.Reader, data []byte) (message, error) {
	var m message
	start := r.Offset()
	var function *call
	err := r.Object(func(key string) (err error) {
		kind := r.Kind()
		switch {
		case key == "role":
			m.role, err = roles.Read(r)
			return err
		case key == "content":
			m.content, err = kinds.Read(r, data)
			return err
		case key == "tool_calls" && kind == rawjson.Array:
			err := r.Array(func(int) error {
				c, err := readCall(r, data)
				m.calls = append(m.calls, c)
				return err
			})
			m.noCalls = len(m.calls) == 0
			return err
		case key == "function_call" && kind == rawjson.Object:
			function = new(call)
			return function.read(r, data)
		case isThought(key) && kind != rawjson.Null:
			return m.readReasoning(r, key)
		case key == "audio" && kind == rawjson.Object:
			m.audio = true
		case kind != rawjson.String:
		case key == "name":
			m.name, err = r.String()
			return err
		case key == "refusal":
			m.refusal, err = r.String()
			return err
		case key == "tool_call_id":
			m.answers, err = r.String()
			return err
		}
		_, err = r.Skip()
		return err
	})
	if err == nil && m.role == "" {
		return m, roles.Missing(r, start)
	}
	switch {
	case m.role != "assistant":
		m.calls, m.reasoning = nil, nil // only replies have these fields
		m.legacy = m.role == "function"
	case function != nil:
		m.calls = append(m.calls, *function)
		m.legacy = true
	}
	return m, err
}

func (m *message) readReasoning(r *rawjson.Reader, key string) (err error) {
	t := reasoning{key: key}
	if r.Kind() == rawjson.String {
		if t.text, err = r.String(); t.text == "" {
			return err
		}
	} else {
		_, err = r.Skip()
	}
	m.reasoning = append(m.reasoning, t)
	return err
}

var roles = chat.Roles{Names: []string{"system", "developer", "user", "assistant", "tool", "function"}, Hint: "roles are system, developer, user, assistant and tool"}

// kinds maps the types of content parts to kinds of parts.
var kinds = chat.Kinds{
	"text": chat.Said, "refusal": chat.Refused, "image_url": "image", "input_audio": "audio", "file": "document",
}

// readCall reads an element of tool_calls.
func readCall(r *rawjson.Reader, data []byte) (c call, err error) {
	err = r.Object(func(key string) (err error) {
		switch kind := r.Kind(); {
		case key == "id" && kind == rawjson.String:
			c.id, err = r.String()
		case (key == "function" || key == "custom") && kind == rawjson.Object:
			err = c.read(r, data)
		default:
			_, err = r.Skip()
		}
		return err
	})
	return c, err
}

// read reads a function with its arguments, or a custom tool with its input.
func (c *call) read(r *rawjson.Reader, data []byte) error {
	return r.Object(func(key string) (err error) {
		switch kind := r.Kind(); {
		case key == "name" && kind == rawjson.String:
			c.name, err = r.String()
		case (key == "arguments" || key == "input") && kind == rawjson.String:
			var s string
			s, err = r.String()
			c.input, c.text = []byte(s), true
		default:
			var span rawjson.Span
			span, err = r.Skip()
			if key == "arguments" || key == "input" {
				c.input = span.Of(data)
			}
		}
		return err
	})
}

// view returns m as a [transcript.Message], without its items.
func (m *message) view() transcript.Message {
	var parts []transcript.Part
	if len(m.reasoning) > 0 {
		parts = append(parts, m.thinking())
	}
	parts = append(parts, m.content.Said()...)
	if m.refusal != "" {
		parts = append(parts, transcript.Text(m.refusal))
	}
	for _, c := range m.calls {
		parts = append(parts, transcript.ToolCall{ID: c.id, Name: c.name, Input: c.input})
	}
	switch m.role {
	case "system", "developer":
		return transcript.Message{Role: transcript.RoleSystem, Parts: parts}
	case "assistant":
		return transcript.Message{Role: transcript.RoleAssistant, Parts: parts}
	case "tool", "function":
		result := transcript.ToolResult{CallID: m.answers, Content: parts}
		return transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{result}}
	}
	return transcript.Message{Role: transcript.RoleUser, Parts: parts}
}

// thinking returns the reasoning of m: its first text, or redacted thinking if no
// reasoning is text.
func (m *message) thinking() transcript.Part {
	for _, t := range m.reasoning {
		if t.text != "" {
			return transcript.Thinking{Text: t.text}
		}
	}
	return transcript.Thinking{Redacted: true}
}
