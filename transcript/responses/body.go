package responses

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A body is a parsed request body.
type body struct {
	*chat.Frame
	chat.Head

	instructions chat.Content
	items        []item
	runs         []run
	elsewhere    string // field, or type of an item, that refers to history on the provider's server; or empty
	saysSo       int    // offset of that field or item
}

// A run is the range of items of one message: from is the first, to is one past the last.
type run struct{ from, to int }

// An item is one element of the list input.
type item struct {
	kind    string // its type; "message" if it has only a role
	class   class
	role    string // of a message
	id      string
	call    string // id that a call and its output share
	name    string // of a tool
	input   []byte // of a call
	text    bool   // the input is a string
	status  string
	content chat.Content // of a message, of an output, of reasoning
	sealed  string       // encrypted_content
	behind  int          // index of the reasoning item before it in the reply, or -1
	twice   bool         // an earlier item has the same id
}

// A class is the role of an item in the conversation.
type class string

// The classes.
const (
	spoken    class = "spoken"    // a user's message
	ordered   class = "ordered"   // a message of the system or the developer, or settings
	replied   class = "replied"   // a part of a reply
	answered  class = "answered"  // the output of a call
	compacted class = "compacted" // the provider's replacement of older items
)

var layout = chat.Layout{Key: "input", Text: true, Hint: `expected {"input": "…"}, {"input": […]} or a list of items`}

var roles = chat.Roles{Names: []string{"system", "developer", "user", "assistant"}, Hint: "roles are system, developer, user and assistant"}

// kinds maps the types of content parts to kinds of parts.
var kinds = chat.Kinds{
	"input_text": chat.Said, "output_text": chat.Said, "text": chat.Said, "summary_text": chat.Said, "reasoning_text": chat.Said,
	"refusal": chat.Refused, "input_image": "image", "computer_screenshot": "image", "input_audio": "audio", "input_file": "document",
}

// parse reads a body.
func parse(name string, data []byte) (*body, error) {
	b := new(body)
	ids := make(map[string]bool)
	reasoning := -1
	frame, err := layout.Read(name, data, b.field, func(r *rawjson.Reader, i int) error {
		start := r.Offset()
		it, err := readItem(r, data)
		b.Note(r)
		it.twice = it.id != "" && ids[it.id]
		ids[it.id] = true
		it.behind = -1
		switch {
		case it.kind == "reasoning":
			reasoning = i
		case it.class == replied:
			it.behind = reasoning
		case it.class != answered:
			reasoning = -1
		}
		if it.kind == "item_reference" {
			b.elsewhere, b.saysSo = it.kind, start
		}
		b.add(it, i)
		return err
	})
	b.Frame = frame
	return b, err
}

// add appends item i. If it and the last item are parts of one reply, it becomes a part of the last
// message; otherwise it begins a new message.
func (b *body) add(it item, i int) {
	last := len(b.items) - 1
	b.items = append(b.items, it)
	if last >= 0 && it.class == replied && b.items[last].class == replied {
		b.runs[len(b.runs)-1].to++
		return
	}
	b.runs = append(b.runs, run{i, i + 1})
}

// field reads a field of the body other than input.
func (b *body) field(r *rawjson.Reader, key string) (err error) {
	switch kind := r.Kind(); {
	case key == "model" && kind == rawjson.String:
		b.Model, err = r.String()
		return err
	case key == "instructions" && kind == rawjson.String:
		b.instructions, err = kinds.Read(r, nil)
		b.Note(r)
		return err
	case (key == "previous_response_id" || key == "conversation") && kind != rawjson.Null:
		b.elsewhere, b.saysSo = key, r.Offset()
	}
	span, err := r.Skip()
	if key == "tools" {
		b.Tools = span
	}
	return err
}

// readItem reads one element of the list input, or the text that stands for the whole list.
func readItem(r *rawjson.Reader, data []byte) (it item, err error) {
	if r.Kind() == rawjson.String {
		it.kind, it.class, it.role = "message", spoken, "user"
		it.content, err = kinds.Read(r, data)
		return it, err
	}
	start := r.Offset()
	var values values
	err = r.Object(func(key string) (err error) {
		if to := it.field(key); to != nil && r.Kind() == rawjson.String {
			*to, err = r.String()
			return err
		}
		span, err := r.Skip()
		values.note(key, span)
		return err
	})
	if err != nil {
		return it, err
	}
	it.sort(values)
	switch {
	case it.kind == "":
		e := r.Fail(start, "an item needs a type, or a role")
		e.Hint = roles.Hint
		return it, e
	case it.kind == "message" && values.role.End == 0:
		return it, roles.Missing(r, start)
	case it.kind == "message":
		err = r.At(values.role.Start, "role", func() (err error) { it.role, err = roles.Read(r); return err })
		if err == nil {
			it.class = classOf[it.role]
			err = it.read(r, data, "content", values.content)
		}
	case it.class == answered:
		err = it.read(r, data, "output", values.output)
	case it.kind == "reasoning" && values.content.End > 0 && data[values.content.Start] == '[':
		err = it.read(r, data, "content", values.content)
	case it.kind == "reasoning":
		err = it.read(r, data, "summary", values.summary)
	case it.call != "" || it.isCall():
		err = it.arguments(r, data, values.input)
	}
	return it, err
}

// values holds the spans of values whose meaning depends on the type of the item.
type values struct{ role, content, output, summary, input rawjson.Span }

func (v *values) note(key string, span rawjson.Span) {
	switch key {
	case "role":
		v.role = span
	case "content":
		v.content = span
	case "output":
		v.output = span
	case "summary":
		v.summary = span
	case "arguments", "input", "action", "actions", "operation":
		v.input = span
	}
}

// field returns the variable for the string field with the name key, or nil if no string field has
// this name.
func (it *item) field(key string) *string {
	switch key {
	case "type":
		return &it.kind
	case "id":
		return &it.id
	case "call_id":
		return &it.call
	case "approval_request_id":
		return &it.call
	case "name":
		return &it.name
	case "status":
		return &it.status
	case "encrypted_content":
		return &it.sealed
	}
	return nil
}

var classOf = map[string]class{"user": spoken, "system": ordered, "developer": ordered, "assistant": replied}

// sort sets the class of an item, and its type and call id where they follow from other fields.
func (it *item) sort(v values) {
	if it.kind == "" && v.role.End > 0 {
		it.kind = "message"
	}
	switch {
	case it.kind == "local_shell_call_output" && it.call == "":
		it.call = it.id
	case it.kind == "mcp_approval_request":
		it.call = it.id
	case it.kind == "mcp_call": // its approval_request_id does not make it a call
		it.call = ""
	}
	_, known := outputs[strings.TrimSuffix(it.kind, "_output")]
	switch {
	case it.kind == "additional_tools" || it.kind == "configuration_update":
		it.class = ordered
	case it.kind == "compaction" || it.kind == "compaction_summary" || it.kind == "context_compaction":
		it.class = compacted
	case isOutput(it.kind) && (it.call != "" || known):
		it.class = answered
	default:
		it.class = replied
	}
}

// outputs maps the types of calls with text outputs to the types of their outputs.
var outputs = map[string]string{
	"function_call":    "function_call_output",
	"custom_tool_call": "custom_tool_call_output",
	"local_shell_call": "function_call_output",
	"shell_call":       "shell_call_output",
	"apply_patch_call": "apply_patch_call_output",
}

func isOutput(kind string) bool {
	return strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
}

// isCall reports whether the client must answer an item with an output.
func (it *item) isCall() bool {
	_, known := outputs[it.kind]
	return it.class == replied && (known || it.call != "" && (strings.HasSuffix(it.kind, "_call") || it.kind == "mcp_approval_request"))
}

// answers reports whether an output has the type that the type of its call requires.
func (it *item) answers(call string) bool {
	switch want := outputs[call]; {
	case call == "local_shell_call" && it.kind == "local_shell_call_output":
		return true
	case call == "mcp_approval_request":
		return it.kind == "mcp_approval_response"
	case call == "tool_search_call":
		return it.kind == "tool_search_output"
	case want != "":
		return it.kind == want
	}
	return it.kind == call+"_output"
}

// read reads a content or an output.
func (it *item) read(r *rawjson.Reader, data []byte, key string, value rawjson.Span) error {
	if value.End == 0 {
		return nil
	}
	return r.At(value.Start, key, func() (err error) {
		switch {
		case it.kind == "shell_call_output" && r.Kind() == rawjson.Array:
			it.content, err = readShell(r)
		case it.class == answered && r.Kind() != rawjson.String && it.kind != "function_call_output" && it.kind != "custom_tool_call_output":
			_, err = r.Skip()
			it.content = chat.Content{Span: value, List: true, Parts: []transcript.Part{transcript.Opaque{Type: it.kind, Raw: value.Of(data)}}}
		case it.kind == "reasoning" && r.Kind() != rawjson.Array:
			_, err = r.Skip()
		default:
			it.content, err = kinds.Read(r, data)
		}
		return err
	})
}

// readShell reads the output of shell commands.
func readShell(r *rawjson.Reader) (c chat.Content, err error) {
	c.Start, c.List = r.Offset(), true
	err = r.Array(func(int) error {
		if r.Kind() != rawjson.Object {
			_, err := r.Skip()
			return err
		}
		return r.Object(func(key string) error {
			if key != "stdout" && key != "stderr" || r.Kind() != rawjson.String {
				_, err := r.Skip()
				return err
			}
			text, err := r.String()
			if text != "" {
				c.Parts = append(c.Parts, transcript.Text(text))
			}
			return err
		})
	})
	c.End = r.Position()
	return c, err
}

// arguments reads the input of a call.
func (it *item) arguments(r *rawjson.Reader, data []byte, value rawjson.Span) error {
	if value.End == 0 {
		return nil
	}
	it.input = value.Of(data)
	if data[value.Start] != '"' {
		return nil
	}
	return r.At(value.Start, "arguments", func() error {
		s, err := r.String()
		it.input, it.text = []byte(s), true
		return err
	})
}

// view returns the items of r as a [transcript.Message], without its indexes.
func (b *body) view(r run) transcript.Message {
	first := &b.items[r.from]
	var m transcript.Message
	for i := r.from; i < r.to; i++ {
		m.Parts = append(m.Parts, b.parts(i)...)
	}
	switch first.class {
	case spoken:
		m.Role = transcript.RoleUser
	case ordered:
		m.Role = transcript.RoleSystem
	case answered:
		m.Role = transcript.RoleTool
	case replied, compacted:
		m.Role = transcript.RoleAssistant
	}
	return m
}

// parts returns the parts of item i.
func (b *body) parts(i int) []transcript.Part {
	it := &b.items[i]
	switch {
	case it.kind == "message":
		return it.content.Said()
	case it.class == answered:
		failed := it.kind == "apply_patch_call_output" && it.status == "failed"
		return []transcript.Part{transcript.ToolResult{CallID: it.call, Content: it.content.Said(), Error: failed}}
	case it.kind == "reasoning":
		text := chat.Flat(it.content.Parts)
		return []transcript.Part{transcript.Thinking{Text: text, Signature: it.sealed, Redacted: it.sealed != "" || text == ""}}
	case it.isCall():
		name := it.name
		if name == "" && it.kind != "function_call" && it.kind != "custom_tool_call" {
			name = strings.TrimSuffix(it.kind, "_call")
		}
		return []transcript.Part{transcript.ToolCall{ID: it.call, Name: name, Input: it.input}}
	}
	kind := it.kind
	if it.class == compacted {
		kind = "compaction"
	}
	return []transcript.Part{transcript.Opaque{Type: kind, Raw: b.Messages[i].Of(b.Data)}}
}
