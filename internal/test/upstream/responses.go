package upstream

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// readResponses reads a request of the Responses API and checks it by every rule. It converts
// the content to the form of the Messages API, for tests that examine the request.
func (s *Server) readResponses(r *Request) (*reading, *Refusal) {
	if refusal := JudgeResponses(r.Body); refusal != nil {
		return nil, refusal
	}
	all, refusal := decodeOpenAI(r.Body)
	if refusal != nil {
		return nil, refusal
	}
	items := itemsOf(all["input"])
	if id := text(all, "previous_response_id"); id != "" {
		s.mu.Lock()
		before, ok := s.stored[id]
		s.mu.Unlock()
		if !ok {
			r := refuse("", "Previous response with id '%s' not found.", id)
			r.Code = "previous_response_not_found"
			return nil, r
		}
		items = append(slices.Clip(before), items...)
	}
	if refusal := s.lacks(items); refusal != nil {
		return nil, refusal
	}
	in := &reading{body: &body{all: all, model: text(all, "model")}, items: items}
	b := in.body
	tools, _ := all["tools"].([]any)
	for i, v := range tools {
		tool, _ := v.(object)
		b.tools = append(b.tools, namesOf(tool)...)
		in.chain.add(fmt.Sprintf("tools.%d", i), 0, false, v)
	}
	if said := text(all, "instructions"); said != "" {
		b.system = []object{{"type": "text", "text": said}}
	}
	in.chain.add("instructions", 0, false, all["instructions"])
	in.chain.add("settings", 0, false, all["text"])
	p := prefixOf(all)
	for i, item := range items {
		path := fmt.Sprintf("input.%d", i)
		in.chain.add(path, 0, false, plainItem(item))
		if kind(item) == "reasoning" {
			if why := s.sealer.unusable(b.model, item, p); why != "" {
				in.gone = append(in.gone, dropped{Type: "reasoning_dropped", Path: path, Reason: why})
			}
		}
		p.addItem(item)
		if kind(item) == "additional_tools" {
			more, _ := item["tools"].([]any)
			for _, v := range more {
				tool, _ := v.(object)
				b.tools = append(b.tools, namesOf(tool)...)
			}
			continue
		}
		b.take(itemMessage(item))
	}
	in.prefix = p
	if n := len(items); n > 0 && kind(items[n-1]) == "compaction_trigger" {
		r.Kind, r.inline = KindCompaction, true
	}
	if calls := b.waiting(); len(calls) > 0 {
		return nil, refuse("R1", "No tool output found for function call %s.", calls[0])
	}
	return in, nil
}

// itemsOf returns the items of an input whose form was checked before.
func itemsOf(input any) []object {
	if s, ok := input.(string); ok {
		return []object{{"type": "message", "role": roleUser, "content": s}}
	}
	list, _ := input.([]any)
	var items []object
	for _, v := range list {
		item, _ := v.(object)
		if kind(item) == "" {
			item = without(item, "type")
			item["type"] = "message"
		}
		items = append(items, item)
	}
	return items
}

// namesOf returns objects with the names of the tools that an entry of a
// request defines. The entry is a single tool or a group of tools.
func namesOf(tool object) []object {
	group, ok := tool["tools"].([]any)
	if !ok {
		name := text(tool, "name")
		name = cmp.Or(name, kind(tool))
		return []object{{"name": name}}
	}
	var all []object
	for _, v := range group {
		inner, _ := v.(object)
		all = append(all, object{"name": text(tool, "name") + "." + text(inner, "name")})
	}
	return all
}

// plainItem returns an item without the fields that a client may leave out, and with the content of
// a message as a list. The cache, and the check of signed reasoning, compare items in this form.
func plainItem(item object) object {
	plain := make(object)
	for k, v := range item {
		if k != "id" && k != "status" && k != "phase" && k != "internal_chat_message_metadata_passthrough" {
			plain[k] = v
		}
	}
	switch kind(item) {
	case "message":
		var texts []any
		for _, block := range textBlocks(item["content"]) {
			if kind(block) == "text" {
				block = object{"type": "text", "text": text(block, "text")}
			}
			texts = append(texts, block)
		}
		plain["content"] = texts
	case "reasoning":
		return object{"type": "reasoning", "encrypted_content": item["encrypted_content"]}
	}
	return plain
}

// prefixOf returns the prefix before the first item of a request.
func prefixOf(all object) prefix {
	var p prefix
	p.add("tools", all["tools"])
	p.add("instructions", all["instructions"], all["text"])
	return p
}

// addItem continues the prefix with an item.
func (p *prefix) addItem(item object) {
	if kind(item) == "reasoning" {
		p.seal = text(item, "encrypted_content")
		return
	}
	p.add(plainItem(item))
}

// unusable returns why a reasoning item is not shown to the model, or "".
func (s sealer) unusable(model string, item object, p prefix) string {
	sealed := text(item, "encrypted_content")
	if sealed == "" {
		return "content_missing"
	}
	m, _ := longestName(openAIModels(), model, "-.")
	switch s.verify(model, object{"type": "thinking", "signature": sealed}, p) {
	case verdictEdit:
		return "content_invalid"
	case verdictOther:
		return "model_mismatch"
	case verdictBound:
		if m.Bound {
			return "prefix_mismatch"
		}
	case verdictGood:
	}
	return ""
}

// itemMessage returns an item as a message of the Messages API.
func itemMessage(item object) message {
	switch what := kind(item); {
	case what == "message":
		role := text(item, "role")
		if role == "developer" {
			role = roleSystem
		}
		return message{role: role, content: textBlocks(item["content"])}
	case strings.HasSuffix(what, "_call_output"):
		return message{role: roleUser, content: []object{{
			"type": "tool_result", "tool_use_id": text(item, "call_id"), "content": anyList(textBlocks(item["output"])),
		}}}
	case strings.HasSuffix(what, "_call"):
		return message{role: roleAssistant, content: []object{{
			"type": "tool_use", "id": text(item, "call_id"), "name": text(item, "name"),
			"input": inputOf(text(item, "arguments") + text(item, "input")),
		}}}
	}
	return message{role: roleAssistant, content: []object{item}}
}

// composeResponses makes the response for a reply.
func (s *Server) composeResponses(r *Request, in *reading, reply Reply, u *Usage) (*response, error) {
	var output []object
	reasoning := 0
	p := in.prefix
	for _, block := range reply.Blocks {
		item, err := s.item(in.body.model, block, p)
		if err != nil {
			return nil, err
		}
		said, thinks := block.(Thinking)
		u.Output += tokens(len(said))
		if thinks {
			reasoning += tokens(len(said))
		}
		for _, b := range itemMessage(item).content {
			u.Output += tokens(len(read(b)))
		}
		p.addItem(item)
		output = append(output, item)
	}
	res := object{
		"id": s.name("resp"), "object": "response", "created_at": s.now().Unix(), "model": in.body.model,
		"status": "completed", "output": output, "error": nil, "incomplete_details": nil,
		"usage": responsesUsage(u, in.model, reasoning),
	}
	if in.gone != nil {
		res["input_transformations"] = in.gone
	}
	last := "response.completed"
	if reply.Stop == "max_tokens" {
		last, res["status"], res["incomplete_details"] = "response.incomplete", "incomplete", object{"reason": "max_output_tokens"}
	}
	if keep, said := in.body.all["store"].(bool); keep || !said {
		s.store(text(res, "id"), in.items, output)
	}
	if stream, _ := in.body.all["stream"].(bool); !stream {
		return mustJSON(res), nil
	}
	return &response{kind: streamType, frames: frames(responseEvents(res, output, last))}, nil
}

// store stores all items of a conversation under the id of its newest response. For each
// item of the response it also stores which reasoning came before it.
func (s *Server) store(id string, before, output []object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored[id] = append(slices.Clip(before), output...)
	reasoning := ""
	for _, item := range output {
		if kind(item) == "reasoning" {
			reasoning = text(item, "id")
		} else if reasoning != "" {
			s.needs[text(item, "id")] = reasoning
		}
	}
}

// lacks checks rule R8: a stored item must be sent with the reasoning that came before it. It
// returns the refusal, or nil.
func (s *Server) lacks(items []object) *Refusal {
	there := make(map[string]bool)
	for _, item := range items {
		there[text(item, "id")] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range items {
		if needed := s.needs[text(item, "id")]; needed != "" && !there[needed] {
			return refuse("R8", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", text(item, "id"), kind(item), needed)
		}
	}
	return nil
}

func responsesUsage(u *Usage, m Model, reasoning int) object {
	return object{
		"input_tokens": u.Total(), "input_tokens_details": openAIDetails(u, m),
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": reasoning},
		"total_tokens": u.Total() + u.Output,
	}
}

// item makes an item of a response.
func (s *Server) item(model string, block Block, p prefix) (object, error) {
	switch block := block.(type) {
	case Text:
		return object{
			"type": "message", "id": s.name("msg"), "role": roleAssistant, "status": "completed",
			"content": []any{object{"type": "output_text", "text": string(block), "annotations": []any{}}},
		}, nil
	case Thinking, Redacted:
		return object{
			"type": "reasoning", "id": s.name("rs"), "summary": []any{}, "encrypted_content": s.sealer.seal(model, "", p),
		}, nil
	case Compaction:
		return object{"type": "compaction", "id": s.name("cmp"), "encrypted_content": s.sealer.seal(model, "", p)}, nil
	case Call:
		if block.ID == "" {
			block.ID = s.name("call")
		}
		item := object{"call_id": block.ID, "name": block.Name, "status": "completed"}
		if block.Namespace != "" {
			item["namespace"] = block.Namespace
		}
		if input, ok := block.Input.(string); ok {
			item["type"], item["id"], item["input"] = "custom_tool_call", s.name("ctc"), input
			return item, nil
		}
		item["type"], item["id"] = "function_call", s.name("fc")
		input, err := asObject(block.Input)
		if err != nil {
			return nil, fmt.Errorf("encode the input of %s: %w", block.Name, err)
		}
		item["arguments"] = read(object{"type": "tool_use", "input": input})
		return item, nil
	}
	return nil, fmt.Errorf("the Responses API has no block of type %T: change the script", block)
}

// responseEvents returns a response as a stream.
func responseEvents(res object, output []object, last string) []event {
	var stream []event
	add := func(name string, e event) {
		e["type"], e["sequence_number"] = name, len(stream)
		stream = append(stream, e)
	}
	begun := without(without(res, "usage"), "output")
	begun["status"], begun["output"], begun["incomplete_details"] = "in_progress", []any{}, nil
	add("response.created", event{"response": begun})
	add("response.in_progress", event{"response": begun})
	for i, item := range output {
		id := text(item, "id")
		deltas := func(name, field, s string) {
			for _, p := range pieces("", "delta", s) {
				add(name+".delta", event{"output_index": i, "item_id": id, "delta": p["delta"]})
			}
			add(name+".done", event{"output_index": i, "item_id": id, field: s})
		}
		empty := without(item, "status")
		switch kind(item) {
		case "message":
			said := textBlocks(item["content"])[0]["text"].(string)
			empty["status"], empty["content"] = "in_progress", []any{}
			add("response.output_item.added", event{"output_index": i, "item": empty})
			add("response.content_part.added", event{"output_index": i, "item_id": id, "content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []any{}}})
			from := len(stream)
			deltas("response.output_text", "text", said)
			for _, e := range stream[from:] {
				e["content_index"] = 0
			}
			add("response.content_part.done", event{"output_index": i, "item_id": id, "content_index": 0, "part": item["content"].([]any)[0]})
		case "function_call":
			empty["status"], empty["arguments"] = "in_progress", ""
			add("response.output_item.added", event{"output_index": i, "item": empty})
			deltas("response.function_call_arguments", "arguments", text(item, "arguments"))
		case "custom_tool_call":
			empty["status"], empty["input"] = "in_progress", ""
			add("response.output_item.added", event{"output_index": i, "item": empty})
			deltas("response.custom_tool_call_input", "input", text(item, "input"))
		default:
			add("response.output_item.added", event{"output_index": i, "item": item})
		}
		add("response.output_item.done", event{"output_index": i, "item": item})
	}
	add(last, event{"response": res})
	return stream
}

// failedResponse returns the stream of a response that failed after it had begun, for example
// because the input is too long.
func (s *Server) failedResponse(model string, r *Refusal) *response {
	res := object{"id": s.name("resp"), "object": "response", "created_at": s.now().Unix(), "model": model, "status": "in_progress", "output": []any{}, "error": nil}
	failed := without(res, "status")
	failed["status"], failed["error"] = "failed", object{"code": r.Code, "message": r.Message}
	return &response{kind: streamType, frames: frames([]event{
		{"type": "response.created", "sequence_number": 0, "response": res},
		{"type": "response.failed", "sequence_number": 1, "response": failed},
	})}
}

// compact answers a request to compact the input. The answer has the user's messages. After
// them it has one item that stands for everything else and that only the server can read.
func (s *Server) compact(r *Request) (*response, *Refusal) {
	in, refusal := s.begin(r, s.readResponses)
	if refusal != nil {
		return nil, refusal
	}
	u := &Usage{Input: r.Tokens, Output: tokens(100)}
	s.settle(r, in, u)
	var output []object
	for _, item := range in.items {
		if kind(item) == "message" && text(item, "role") == roleUser {
			output = append(output, item)
		}
	}
	made, err := s.item(in.body.model, Compaction{}, in.prefix)
	if err != nil {
		return nil, &Refusal{Status: http.StatusInternalServerError, Type: "api_error", Message: err.Error()}
	}
	output = append(output, made)
	return mustJSON(object{
		"id": s.name("resp"), "object": "response.compaction", "created_at": s.now().Unix(),
		"output": output, "usage": responsesUsage(u, in.model, 0),
	}), nil
}

// countResponses answers a request to count the tokens of an input.
func (s *Server) countResponses(r *Request) (*response, *Refusal) {
	if _, refusal := s.begin(r, s.readResponses); refusal != nil && refusal.Rule != "W" {
		return nil, refusal
	}
	return mustJSON(object{"object": "response.input_tokens", "input_tokens": r.Tokens}), nil
}

// noSocket refuses a request for a websocket.
func (s *Server) noSocket(*Request) (*response, *Refusal) {
	return nil, &Refusal{Status: http.StatusUpgradeRequired, Type: "invalid_request_error", Message: "websockets are not served"}
}
