package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An object is a JSON object, decoded.
type object = map[string]any

// A message is a message of the conversation. Content that is a text becomes one text block.
type message struct {
	role     string
	content  []object
	clears   bool // the service ignores it as soon as a later user message follows
	settings bool // it may be empty, because it has settings for the following messages
}

// A body is a request for a message, decoded.
type body struct {
	all      object
	model    string
	system   []object
	tools    []object
	messages []message
}

// exactly decodes a JSON value. Numbers keep the digits with which they were
// written, however large they are.
func exactly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the end of the JSON value")
	}
	return nil
}

// decode decodes the body of a request and checks its form (rule A0). The fields "model" and
// "max_tokens" are required unless the list optional names them.
func decode(data []byte, optional ...string) (*body, *Refusal) {
	var value any
	if err := exactly(data, &value); err != nil {
		return nil, malformed("The request body is not valid JSON: %v", err)
	}
	all, ok := value.(object)
	if !ok {
		return nil, malformed("Input should be a valid dictionary")
	}
	b := &body{all: all}
	for _, read := range []func() *Refusal{
		func() *Refusal { return b.readModel(slices.Contains(optional, "model")) },
		func() *Refusal { return b.readLimit(slices.Contains(optional, "max_tokens")) },
		b.readSystem, b.readTools, b.readMessages,
	} {
		if r := read(); r != nil {
			return nil, r
		}
	}
	return b, nil
}

func malformed(format string, args ...any) *Refusal { return refuse("A0", format, args...) }

func (b *body) readModel(optional bool) *Refusal {
	value, ok := b.all["model"]
	if !ok && optional {
		return nil
	}
	if !ok {
		return malformed("model: Field required")
	}
	if b.model, ok = value.(string); !ok || b.model == "" {
		return malformed("model: Input should be a valid string")
	}
	return nil
}

func (b *body) readLimit(optional bool) *Refusal {
	value, ok := b.all["max_tokens"]
	switch {
	case !ok && !optional:
		return malformed("max_tokens: Field required")
	case !ok:
		return nil
	}
	n, ok := value.(json.Number)
	if !ok {
		return malformed("max_tokens: Input should be a valid integer")
	}
	if i, err := n.Int64(); err != nil || i < 0 {
		return malformed("max_tokens: Input should be greater than or equal to 0")
	}
	return nil
}

func (b *body) readSystem() *Refusal {
	value, ok := b.all["system"]
	if !ok {
		return nil
	}
	var r *Refusal
	b.system, r = readContent("system", value)
	return r
}

func (b *body) readTools() *Refusal {
	value, ok := b.all["tools"]
	if !ok {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		return malformed("tools: Input should be a valid list")
	}
	names := make(map[string]bool)
	for i, v := range list {
		tool, ok := v.(object)
		if !ok {
			return malformed("tools.%d: Input should be a valid dictionary", i)
		}
		name := text(tool, "name")
		if name == "" {
			return malformed("tools.%d.name: Field required", i)
		}
		if names[name] {
			return malformed("tools: Tool names must be unique.")
		}
		names[name] = true
		b.tools = append(b.tools, tool)
	}
	return nil
}

func (b *body) readMessages() *Refusal {
	value, ok := b.all["messages"]
	if !ok {
		return malformed("messages: Field required")
	}
	list, ok := value.([]any)
	if !ok {
		return malformed("messages: Input should be a valid list")
	}
	if len(list) == 0 {
		return malformed("messages: at least one message is required")
	}
	for i, v := range list {
		m, r := readMessage(i, v)
		if r != nil {
			return r
		}
		b.messages = append(b.messages, m)
	}
	return nil
}

func readMessage(i int, value any) (message, *Refusal) {
	fields, ok := value.(object)
	if !ok {
		return message{}, malformed("messages.%d: Input should be a valid dictionary", i)
	}
	_, settings := fields["output_config"].(object)
	m := message{role: text(fields, "role"), clears: text(fields, "clear_at") != "", settings: settings}
	switch m.role {
	case roleUser, roleAssistant, roleSystem:
	default:
		return m, malformed("messages.%d.role: Input should be 'user', 'assistant' or 'system'", i)
	}
	content, ok := fields["content"]
	if !ok {
		return m, malformed("messages.%d.content: Field required", i)
	}
	path := fmt.Sprintf("messages.%d.content", i)
	var r *Refusal
	if m.content, r = readContent(path, content); r != nil {
		return m, r
	}
	for k, block := range m.content {
		if r := checkForm(fmt.Sprintf("%s.%d", path, k), m.role, block); r != nil {
			return m, r
		}
	}
	return m, nil
}

// readContent reads a text or a list of blocks. An empty text gives no block.
func readContent(path string, value any) ([]object, *Refusal) {
	switch value := value.(type) {
	case string:
		if value == "" {
			return nil, nil
		}
		return []object{{"type": "text", "text": value}}, nil
	case []any:
		blocks := make([]object, 0, len(value))
		for i, v := range value {
			block, ok := v.(object)
			if !ok {
				return nil, malformed("%s.%d: Input should be a valid dictionary", path, i)
			}
			if kind(block) == "" {
				return nil, malformed("%s.%d.type: Field required", path, i)
			}
			if _, ok := block["text"].(string); kind(block) == "text" && !ok {
				return nil, malformed("%s.%d.text.text: Input should be a valid string", path, i)
			}
			blocks = append(blocks, block)
		}
		return blocks, nil
	}
	return nil, malformed("%s: Input should be a valid string or list", path)
}

// checkForm checks the form of one block of a message (rule A0), without regard to other
// blocks.
func checkForm(path, role string, block object) *Refusal {
	home := roleAssistant
	var fields []string
	switch kind(block) {
	case "tool_use":
		fields = []string{"id", "name"}
	case "thinking":
		fields = []string{"thinking", "signature"}
	case "redacted_thinking":
		fields = []string{"data"}
	case "tool_result":
		home, fields = roleUser, []string{"tool_use_id"}
	default:
		return nil
	}
	if role != home {
		return malformed("%s: `%s` blocks can only be in `%s` messages", path, kind(block), home)
	}
	if isThinking(block) && sealOf(block) == "" {
		return refuse("A8", "%s.%s.signature: Field required", path, kind(block))
	}
	for _, f := range fields {
		if _, ok := block[f].(string); !ok {
			return malformed("%s.%s.%s: Field required", path, kind(block), f)
		}
	}
	switch kind(block) {
	case "tool_use":
		return checkCall(path, block)
	case "tool_result":
		if content, ok := block["content"]; ok {
			_, r := readContent(path+".tool_result.content", content)
			return r
		}
	}
	return nil
}

func checkCall(path string, block object) *Refusal {
	if _, ok := block["input"].(object); !ok {
		return malformed("%s.tool_use.input: Input should be a valid dictionary", path)
	}
	if id := text(block, "id"); id == "" || strings.ContainsFunc(id, strange) {
		return malformed("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", path)
	}
	if text(block, "name") == "" {
		return malformed("%s.tool_use.name: String should have at least 1 character", path)
	}
	return nil
}

func strange(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && r != '_' && r != '-'
}

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

func kind(block object) string { return text(block, "type") }

// text returns the value of a field that is a string, or "" if the field is
// missing or not a string.
func text(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// nested returns the blocks inside the content of a tool result, whose form
// must be valid.
func nested(block object) []object {
	if kind(block) != "tool_result" {
		return nil
	}
	blocks, _ := readContent("", block["content"])
	return blocks
}

// isThinking reports whether a block is thinking, readable or redacted.
func isThinking(block object) bool {
	return kind(block) == "thinking" || kind(block) == "redacted_thinking"
}
