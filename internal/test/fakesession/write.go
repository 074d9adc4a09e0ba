package fakesession

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

type object = map[string]any

// pixel is a picture of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// Messages returns a request of the Messages API with about size user messages.
func Messages(seed uint64, size int) []byte {
	s := newStory(seed, size)
	var messages []object
	add := func(role string, blocks ...any) {
		if len(blocks) > 0 {
			messages = append(messages, object{"role": role, "content": blocks})
		}
	}
	if s.compacted {
		add("user", textBlock("Go on."))
		add("assistant", object{"type": "compaction", "content": s.prose(4), "encrypted_content": s.id("enc_"), "signature": s.id("sig_")})
	}
	for _, x := range s.exchanges {
		add("user", s.orderBlocks(x)...)
		if x.system != "" {
			messages = append(messages, object{"role": "system", "content": x.system})
		}
		for _, r := range x.replies {
			add("assistant", s.replyBlocks(r)...)
			add("user", resultBlocks(r)...)
		}
	}
	return encode(object{
		"model": s.model, "max_tokens": 4096, "system": "You keep the mill. " + s.prose(3),
		"tools": tools("input_schema"), "messages": messages,
	})
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

func (s *story) orderBlocks(x exchange) []any {
	blocks := []any{textBlock(x.order)}
	if x.picture {
		blocks = append(blocks, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": pixel}})
	}
	return blocks
}

// replyBlocks returns the blocks of a reply. It draws random numbers only for new ids.
func (s *story) replyBlocks(r reply) []any {
	var blocks []any
	if r.thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": r.thinking, "signature": s.id("sig_")})
	}
	if r.text != "" {
		blocks = append(blocks, textBlock(r.text))
	}
	if r.served {
		id := s.id("srvtoolu_")
		blocks = append(blocks,
			object{"type": "server_tool_use", "id": id, "name": "web_search", "input": object{"query": "sluice"}},
			object{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{object{
				"type": "web_search_result", "url": "https://example.org/sluice", "title": "Sluices", "encrypted_content": s.id("enc_"),
			}}})
	}
	for _, c := range r.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.input)})
	}
	return blocks
}

func resultBlocks(r reply) []any {
	if r.waits {
		return nil
	}
	var blocks []any
	for _, c := range r.calls {
		blocks = append(blocks, resultBlock(c))
	}
	return blocks
}

func resultBlock(c call) object {
	b := object{"type": "tool_result", "tool_use_id": c.id, "content": c.result}
	if c.failed {
		b["is_error"] = true
	}
	if c.blocks && c.result != "" {
		b["content"] = []any{textBlock(c.result)}
	}
	return b
}

func tools(schema string) []any {
	var all []any
	for _, name := range []string{"Read", "Edit", "Grep", "Bash"} {
		all = append(all, object{"name": name, "description": name + " something.", schema: object{"type": "object"}})
	}
	return all
}

// Chat returns a request of Chat Completions with about size user messages.
func Chat(seed uint64, size int) []byte {
	s := newStory(seed, size)
	messages := []object{{"role": "system", "content": "You keep the mill. " + s.prose(3)}}
	for _, x := range s.exchanges {
		var order any = x.order
		if x.picture {
			order = []any{textBlock(x.order), object{"type": "image_url", "image_url": object{"url": "data:image/png;base64," + pixel}}}
		}
		messages = append(messages, object{"role": "user", "content": order})
		for _, r := range x.replies {
			m := object{"role": "assistant", "content": nil}
			if r.text != "" {
				m["content"] = r.text
			}
			var calls, results []object
			for _, c := range r.calls {
				calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.input}})
				results = append(results, object{"role": "tool", "tool_call_id": c.id, "content": c.result})
			}
			if calls != nil {
				m["tool_calls"] = calls
			}
			messages = append(messages, m)
			if !r.waits {
				messages = append(messages, results...)
			}
		}
	}
	var functions []any
	for _, t := range tools("parameters") {
		functions = append(functions, object{"type": "function", "function": t})
	}
	return encode(object{"model": "gpt-4o", "messages": messages, "tools": functions})
}

// Responses returns a request of the Responses API with about size user messages.
func Responses(seed uint64, size int) []byte {
	s := newStory(seed, size)
	var input []object
	if s.compacted {
		input = append(input, object{"role": "user", "content": "Go on."},
			object{"type": "compaction", "id": s.id("cmp_"), "encrypted_content": s.id("enc_")})
	}
	for _, x := range s.exchanges {
		order := []any{object{"type": "input_text", "text": x.order}}
		if x.picture {
			order = append(order, object{"type": "input_image", "image_url": "data:image/png;base64," + pixel})
		}
		input = append(input, object{"type": "message", "role": "user", "content": order})
		if x.system != "" {
			input = append(input, object{"type": "message", "role": "developer", "content": x.system})
		}
		for _, r := range x.replies {
			input = append(input, s.replyItems(r)...)
		}
	}
	var functions []any
	for _, t := range tools("parameters") {
		t := t.(object) //nolint:forcetypeassert // all of them are
		t["type"] = "function"
		functions = append(functions, t)
	}
	model := "gpt-5.3"
	if s.bound {
		model = "gpt-6"
	}
	return encode(object{"model": model, "instructions": "You keep the mill. " + s.prose(3), "input": input, "tools": functions, "store": false})
}

// replyItems returns the items of a reply, and the outputs of its calls.
func (s *story) replyItems(r reply) []object {
	var list []object
	if r.thinking != "" {
		list = append(list, object{"type": "reasoning", "id": s.id("rs_"), "summary": []any{}, "encrypted_content": s.id("gAAAA")})
	}
	if r.served {
		list = append(list, object{"type": "web_search_call", "id": s.id("ws_"), "status": "completed", "action": object{"type": "search", "query": "sluice"}})
	}
	if r.text != "" || len(r.calls) == 0 {
		list = append(list, object{"type": "message", "id": s.id("msg_"), "role": "assistant", "content": []any{object{"type": "output_text", "text": r.text, "annotations": []any{}}}})
	}
	for _, c := range r.calls {
		list = append(list, object{"type": "function_call", "id": s.id("fc_"), "call_id": c.id, "name": c.name, "arguments": c.input})
	}
	for _, c := range r.calls {
		var output any = c.result
		if c.blocks {
			output = []any{object{"type": "input_text", "text": c.result}}
		}
		if !r.waits {
			list = append(list, object{"type": "function_call_output", "call_id": c.id, "output": output})
		}
	}
	return list
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("fakesession: %v", err)) // it is made of texts, lists and objects
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A file is a session file of Claude Code that is being written.
type file struct {
	*story
	bytes.Buffer
	session string
	parent  any // uuid of the previous row, nil at the beginning
	rows    int
	chain   []string // uuids of the rows of the conversation
}

// ClaudeCode returns a session file of Claude Code with about size user messages.
func ClaudeCode(seed uint64, size int) []byte {
	s := newStory(seed, size)
	f := &file{story: s, session: fmt.Sprintf("%08x-0000-4000-8000-%012x", seed&0xffffffff, seed)}
	boundary := -1
	if s.compacted && len(s.exchanges) > 2 {
		boundary = len(s.exchanges) / 2
	}
	for i, x := range s.exchanges {
		if i == boundary {
			f.compact()
		}
		before := f.parent
		f.row("user", object{"message": object{"role": "user", "content": f.orderContent(x)}})
		for _, r := range x.replies {
			f.reply(r)
		}
		if i > 0 && i+1 < len(s.exchanges) && s.chance(10) {
			f.parent = before // the user went back and wrote another message
		}
	}
	return f.Bytes()
}

func (f *file) orderContent(x exchange) any {
	if x.picture {
		return f.orderBlocks(x)
	}
	return x.order
}

// row writes a row of the conversation, whose parent is the previous row.
func (f *file) row(kind string, fields object) {
	f.rows++
	id := fmt.Sprintf("%08x-1111-4222-8333-%012x", f.rows, f.rng.Uint64N(1<<48))
	row := object{
		"type": kind, "uuid": id, "parentUuid": f.parent, "sessionId": f.session, "isSidechain": false,
		"cwd": "/srv/mill", "version": "2.1.330", "timestamp": fmt.Sprintf("2026-04-%02dT%02d:%02d:%02d.000Z", 1+f.rows/86400, f.rows/3600%24, f.rows/60%60, f.rows%60),
	}
	maps.Copy(row, fields)
	f.Write(encode(row))
	f.WriteByte('\n')
	f.parent = id
	f.chain = append(f.chain, id)
}

// reply writes the rows of a reply: one row for each of its blocks, and then the
// rows of the results of its calls.
func (f *file) reply(r reply) {
	for i, block := range f.replyBlocks(r) {
		f.row("assistant", object{"apiBlockIndex": i, "message": object{
			"id": r.id, "type": "message", "role": "assistant", "model": f.model, "content": []any{block},
			"usage": object{"input_tokens": 10 * f.rows, "output_tokens": 20},
		}})
	}
	if r.waits {
		return
	}
	for _, c := range r.calls {
		f.row("user", object{"toolUseResult": c.result, "message": object{"role": "user", "content": []any{resultBlock(c)}}})
	}
}

// compact writes the rows that the client writes when it compacts the conversation.
func (f *file) compact() {
	last := f.chain[len(f.chain)-1]
	f.parent = nil
	f.row("system", object{
		"subtype": "compact_boundary", "logicalParentUuid": last, "content": "Conversation compacted",
		"compactMetadata": object{"trigger": "manual", "preTokens": 100 * f.rows},
	})
	f.row("user", object{"isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": object{
		"role": "user", "content": "This session is being continued from a previous conversation. " + f.prose(6),
	}})
}
