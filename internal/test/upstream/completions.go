package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// readChat reads a request of Chat Completions and checks it by every rule. It converts the
// content to the form of the Messages API, for tests that examine the request.
func (s *Server) readChat(r *Request) (*reading, *Refusal) {
	if refusal := JudgeChat(r.Body); refusal != nil {
		return nil, refusal
	}
	all, refusal := decodeOpenAI(r.Body)
	if refusal != nil {
		return nil, refusal
	}
	b := &body{all: all, model: text(all, "model")}
	var c chain
	list, _ := all["tools"].([]any)
	for i, v := range list {
		tool, _ := v.(object)
		named, _ := tool["function"].(object)
		b.tools = append(b.tools, object{"name": text(named, "name")})
		c.add(fmt.Sprintf("tools.%d", i), 0, false, v)
	}
	c.add("settings", 0, false, all["response_format"])
	list, _ = all["messages"].([]any)
	for i, v := range list {
		m := v.(object) // JudgeChat has checked it
		c.add(fmt.Sprintf("messages.%d", i), 0, false, plainChat(m))
		b.take(chatMessage(m))
	}
	if calls := b.waiting(); len(calls) > 0 {
		return nil, refuse("O4", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %v", calls)
	}
	return &reading{body: b, chain: c}, nil
}

// decodeOpenAI decodes the body of a request, which must name its model.
func decodeOpenAI(data []byte) (object, *Refusal) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var all object
	if err := dec.Decode(&all); err != nil {
		return nil, refuse("", "We could not parse the JSON body of your request: %v", err)
	}
	if text(all, "model") == "" {
		r := refuse("", "you must provide a model parameter")
		r.Code = "missing_required_parameter"
		return nil, r
	}
	return all, nil
}

// plainChat returns a message as it enters the digest for the cache: a text as content
// becomes a list with one text part.
func plainChat(m object) object {
	if s, ok := m["content"].(string); ok {
		m = without(m, "content")
		m["content"] = []any{object{"type": "text", "text": s}}
	}
	return m
}

// chatMessage returns a message in the form of the Messages API.
func chatMessage(m object) message {
	content := textBlocks(m["content"])
	role := text(m, "role")
	switch role {
	case "tool":
		return message{role: roleUser, content: []object{{"type": "tool_result", "tool_use_id": text(m, "tool_call_id"), "content": anyList(content)}}}
	case "system", "developer":
		return message{role: roleSystem, content: content}
	}
	calls, _ := m["tool_calls"].([]any)
	for _, v := range calls {
		call, _ := v.(object)
		named, _ := call["function"].(object)
		if kind(call) == "custom" {
			named, _ = call["custom"].(object)
		}
		content = append(content, object{
			"type": "tool_use", "id": text(call, "id"), "name": text(named, "name"), "input": inputOf(text(named, "arguments") + text(named, "input")),
		})
	}
	return message{role: role, content: content}
}

// textBlocks returns the blocks of a content, which is a text or a list of parts. Every
// part with text becomes a text block.
func textBlocks(content any) []object {
	if s, ok := content.(string); ok && s != "" {
		return []object{{"type": "text", "text": s}}
	}
	list, _ := content.([]any)
	var blocks []object
	for _, v := range list {
		part, _ := v.(object)
		if s, ok := part["text"].(string); ok {
			part = object{"type": "text", "text": s}
		}
		blocks = append(blocks, part)
	}
	return blocks
}

func anyList(blocks []object) []any {
	list := make([]any, len(blocks))
	for i, b := range blocks {
		list[i] = b
	}
	return list
}

// inputOf returns the arguments of a call, decoded if they are JSON and otherwise as text.
func inputOf(arguments string) any {
	var input any
	if json.Unmarshal([]byte(arguments), &input) != nil {
		return arguments
	}
	return input
}

// take appends a message to the body. System messages at the beginning become the system
// text instead. Successive results become one message.
func (b *body) take(m message) {
	n := len(b.messages)
	switch {
	case m.role == roleSystem && n == 0:
		b.system = append(b.system, m.content...)
	case n > 0 && onlyResults(m) && onlyResults(b.messages[n-1]):
		b.messages[n-1].content = append(b.messages[n-1].content, m.content...)
	default:
		b.messages = append(b.messages, m)
	}
}

func onlyResults(m message) bool {
	for _, block := range m.content {
		if kind(block) != "tool_result" {
			return false
		}
	}
	return len(m.content) > 0
}

// waiting returns the ids of the calls in the last message: these calls have no
// results yet.
func (b *body) waiting() (ids []string) {
	if n := len(b.messages); n > 0 {
		for _, block := range b.messages[n-1].content {
			if id := text(block, "id"); kind(block) == "tool_use" && id != "" { // otherwise it is a tool of the server
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// composeChat makes the completion for a reply.
func (s *Server) composeChat(r *Request, in *reading, reply Reply, u *Usage) (*response, error) {
	m := object{"role": roleAssistant, "content": nil, "refusal": nil}
	var calls []object
	stop := "stop"
	for _, block := range reply.Blocks {
		switch block := block.(type) {
		case Text:
			m["content"] = text(m, "content") + string(block)
			u.Output += tokens(len(block))
		case Call:
			arguments, err := json.Marshal(block.Input)
			if block.Input == nil {
				arguments = []byte("{}")
			}
			if err != nil {
				return nil, fmt.Errorf("encode the input of %s: %w", block.Name, err)
			}
			if block.ID == "" {
				block.ID = s.name("call")
			}
			calls = append(calls, object{"id": block.ID, "type": "function", "function": object{"name": block.Name, "arguments": string(arguments)}})
			u.Output += tokens(len(arguments))
			stop = "tool_calls"
		case Thinking:
			u.Output += tokens(len(block)) // it is not shown
		case Redacted, Compaction:
		}
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	switch reply.Stop {
	case "":
	case "max_tokens":
		stop = "length"
	default:
		stop = reply.Stop
	}
	usage := object{
		"prompt_tokens": u.Total(), "completion_tokens": u.Output, "total_tokens": u.Total() + u.Output,
		"prompt_tokens_details": openAIDetails(u, in.model),
	}
	head := object{"id": s.name("chatcmpl"), "created": s.now().Unix(), "model": in.body.model}
	if stream, _ := in.body.all["stream"].(bool); !stream {
		head["object"], head["usage"] = "chat.completion", usage
		head["choices"] = []object{{"index": 0, "message": m, "finish_reason": stop, "logprobs": nil}}
		return mustJSON(head), nil
	}
	options, _ := in.body.all["stream_options"].(object)
	if wanted, _ := options["include_usage"].(bool); !wanted {
		usage = nil
	}
	return &response{kind: streamType, frames: chunks(head, m, calls, stop, usage)}, nil
}

// openAIDetails returns the part of a usage that describes the cache.
func openAIDetails(u *Usage, m Model) object {
	details := object{"cached_tokens": u.Read}
	if m.Cache.Writes {
		details["cache_write_tokens"] = u.Write
	}
	return details
}

// chunks returns a completion as the events of a stream.
func chunks(head, m object, calls []object, stop string, usage object) [][]byte {
	var list [][]byte
	add := func(choices []object, usage any) {
		chunk := object{"object": "chat.completion.chunk", "choices": choices}
		maps.Copy(chunk, head)
		if usage != nil {
			chunk["usage"] = usage
		}
		list = append(list, fmt.Appendf(nil, "data: %s\n\n", mustJSON(chunk).frames[0]))
	}
	say := func(delta object, stop any) {
		add([]object{{"index": 0, "delta": delta, "finish_reason": stop}}, nil)
	}
	say(object{"role": roleAssistant, "content": ""}, nil)
	for _, p := range pieces("", "content", text(m, "content")) {
		say(without(p, "type"), nil)
	}
	for i, call := range calls {
		named := call["function"].(object)
		begun := object{"index": i, "id": call["id"], "type": "function", "function": object{"name": named["name"], "arguments": ""}}
		say(object{"tool_calls": []object{begun}}, nil)
		for _, p := range pieces("", "arguments", text(named, "arguments")) {
			say(object{"tool_calls": []object{{"index": i, "function": without(p, "type")}}}, nil)
		}
	}
	say(object{}, stop)
	if usage != nil {
		add([]object{}, usage)
	}
	return append(list, []byte("data: [DONE]\n\n"))
}

// listOpenAI answers a request for the list of models.
func (s *Server) listOpenAI(*Request) (*response, *Refusal) {
	var data []object
	for _, m := range openAIModels() {
		data = append(data, object{"id": m.Name, "object": "model", "created": 1767225600, "owned_by": "openai"})
	}
	return mustJSON(object{"object": "list", "data": data}), nil
}

// noModel returns the refusal for an unknown model.
func noModel(name string) *Refusal {
	return &Refusal{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "model_not_found",
		Message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", name),
	}
}
