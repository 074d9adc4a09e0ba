package upstream

import (
	"encoding/json"
	"reflect"
	"slices"
)

// JudgeMessages returns why the Messages API would refuse a request, or nil. If a request
// ends in a reply, the message that its client would send next is added first: results of the
// open calls, or a user message if there are none. Signatures of thinking are not verified,
// see [JudgeKept]. Model and max_tokens may be missing; an unknown model is judged like the
// newest one.
func JudgeMessages(request []byte) *Refusal {
	b, r := decode(request, "model", "max_tokens")
	if r != nil {
		return r
	}
	b.goOn()
	if r := check(b, modelOrNewest(b.model)); r != nil {
		return r
	}
	return checkCompaction(b)
}

// goOn adds the message with which a client continues a conversation that ends in a reply. If
// that reply is empty, goOn removes it, unless calls before it have no results. If the
// service paused that reply, goOn adds nothing after it.
func (b *body) goOn() {
	n := len(b.messages)
	last := b.messages[n-1]
	switch {
	case last.role != roleAssistant:
		return
	case len(last.content) == 0 && n > 1 && calls(b.messages[n-2]):
		return // its calls have no results
	case len(last.content) == 0 && n > 1:
		b.messages = b.messages[:n-1]
		b.goOn()
		return
	case len(last.content) > 0 && isServerCall(last.content[len(last.content)-1]) && !calls(last):
		return
	}
	next := message{role: roleUser}
	for _, block := range last.content {
		if kind(block) == "tool_use" {
			next.content = append(next.content, object{"type": "tool_result", "tool_use_id": text(block, "id"), "content": "done"})
		}
	}
	if next.content == nil {
		next.content = []object{{"type": "text", "text": "Go on."}}
	}
	b.messages = append(b.messages, next)
}

// calls reports whether a message has a call of the client's tools.
func calls(m message) bool {
	return slices.ContainsFunc(m.content, func(block object) bool { return kind(block) == "tool_use" })
}

// modelOrNewest returns the rules for a model. For an unknown model it returns the rules of
// the newest models.
func modelOrNewest(name string) Model {
	if m, ok := ModelNamed(name); ok {
		return m
	}
	return Model{Name: name, System: true, Bound: true}
}

// checkCompaction checks rule A17: a compaction of the provider stands in a reply and has
// content.
func checkCompaction(b *body) *Refusal {
	for i, m := range b.messages {
		for k, block := range m.content {
			if kind(block) != "compaction" {
				continue
			}
			if m.role != roleAssistant {
				return refuse("A17", "messages.%d.content.%d: `compaction` blocks can only be in `assistant` messages", i, k)
			}
			if text(block, "content") == "" && text(block, "encrypted_content") == "" {
				return refuse("A17", "messages.%d.content.%d: `compaction` block without content", i, k)
			}
		}
	}
	return nil
}

// JudgeKept compares a request of the Messages API with the original from which blocks were
// removed, and returns the first change that is not allowed (rules K1 to K4), or nil. The
// arguments of calls, thinking, and blocks that only the provider can read must be unchanged,
// and so must everything before thinking that is bound to it. The last compaction of the
// provider must not be missing.
func JudgeKept(original, request []byte) *Refusal {
	was, r := decode(original, "model", "max_tokens")
	if r != nil {
		return r
	}
	is, r := decode(request, "model", "max_tokens")
	if r != nil {
		return r
	}
	for _, look := range []func(was, is *body) *Refusal{keptCalls, keptOpaque, keptCompaction, keptBinding} {
		if r := look(was, is); r != nil {
			return r
		}
	}
	return nil
}

// blocksOf returns, without cache marks, the blocks of all messages for which the function
// wanted returns true.
func blocksOf(b *body, wanted func(object) bool) []object {
	var blocks []object
	for _, m := range b.messages {
		for _, block := range m.content {
			if wanted(block) {
				blocks = append(blocks, without(block, "cache_control"))
			}
		}
	}
	return blocks
}

// keptCalls checks rule K1: calls keep their names and arguments.
func keptCalls(was, is *body) *Refusal {
	calls := make(map[string]object)
	isCall := func(block object) bool { return kind(block) == "tool_use" }
	for _, call := range blocksOf(was, isCall) {
		calls[text(call, "id")] = call
	}
	for _, call := range blocksOf(is, isCall) {
		if !reflect.DeepEqual(calls[text(call, "id")], call) {
			return refuse("K1", "call %s is not the one that was made", text(call, "id"))
		}
	}
	return nil
}

// keptOpaque checks rule K2: blocks that only the provider can read are unchanged and in order.
func keptOpaque(was, is *body) *Refusal {
	all := blocksOf(was, isOpaque)
	for _, block := range blocksOf(is, isOpaque) {
		i := slices.IndexFunc(all, func(old object) bool { return reflect.DeepEqual(old, block) })
		if i < 0 {
			return refuse("K2", "a `%s` block was changed, invented or moved", kind(block))
		}
		all = all[i+1:]
	}
	return nil
}

// isOpaque reports whether a block is not a text, a picture, a call of the client's tools
// or a result of such a call.
func isOpaque(block object) bool {
	switch kind(block) {
	case "text", "image", "document", "tool_use", "tool_result":
		return false
	}
	return true
}

// keptCompaction checks rule K3: the last compaction of the provider is present.
func keptCompaction(was, is *body) *Refusal {
	isCompaction := func(block object) bool { return kind(block) == "compaction" }
	old, now := blocksOf(was, isCompaction), blocksOf(is, isCompaction)
	if len(old) > 0 && (len(now) == 0 || !reflect.DeepEqual(old[len(old)-1], now[len(now)-1])) {
		return refuse("K3", "the compaction of the provider is gone")
	}
	return nil
}

// keptBinding checks rule K4: if a model binds its thinking, everything before a thinking block
// is unchanged.
func keptBinding(was, is *body) *Refusal {
	if !modelOrNewest(is.model).Bound {
		return nil
	}
	before := prefixes(was)
	for seal, p := range prefixes(is) {
		if before[seal] != p {
			return refuse("K4", "thinking is bound to a different conversation")
		}
	}
	return nil
}

// prefixes returns a map from the signature of each thinking block to the
// prefix before the block.
func prefixes(b *body) map[string]prefix {
	all := make(map[string]prefix)
	p := startOf(b)
	for _, m := range b.messages {
		for _, block := range m.content {
			if isThinking(block) {
				all[sealOf(block)] = p
			}
			p.addBlock(m.role, block)
		}
	}
	return all
}

// Judge returns why a provider would refuse an export, or which part of it has changed against
// the original conversation. The arguments from and to are the formats of the original and of
// the export: "anthropic", "openai", "responses", "gemini", "geminicli" or "claudecode". Judge
// returns nil if the provider would accept the export, or would refuse the original by the
// same rule.
func Judge(from string, original []byte, to string, export []byte) *Refusal {
	r := judge(to, export)
	if r == nil {
		r = judgeKept(from, original, to, export)
	}
	if r == nil {
		r = judgeTurn(from, original, to, export)
	}
	if r == nil {
		return nil
	}
	if was := judge(from, original); was != nil && was.Rule == r.Rule {
		return nil
	}
	return r
}

// judgeTurn checks rule K5: an export to the format of the original does not end in a reply
// unless the original does. Otherwise the model would continue a reply, and newer models refuse
// that (A12).
func judgeTurn(from string, original []byte, to string, export []byte) *Refusal {
	if is, _ := endsInReply(to, export); !is || from != to { // another format may not carry the last message
		return nil
	}
	if was, known := endsInReply(from, original); known && !was {
		return refuse("K5", "the conversation ends in a reply, and did not before")
	}
	return nil
}

// endsInReply reports whether the last message or item of a conversation was written by the
// model. It returns known as false if it cannot find that out.
func endsInReply(format string, data []byte) (ends, known bool) {
	switch format {
	case "claudecode":
		data, _ = messagesOf(format, data)
	case "geminicli":
		data, _ = ResumedGemini(data)
	case "anthropic", "openai", "responses", "gemini":
	default:
		return false, false
	}
	type message struct {
		Role string `json:"role"`
		Type string `json:"type"`
	}
	var body struct {
		Messages []message       `json:"messages"`
		Contents []message       `json:"contents"`
		Input    json.RawMessage `json:"input"`
	}
	if json.Unmarshal(data, &body) != nil {
		return false, false
	}
	var items []message
	if json.Unmarshal(body.Input, &items) != nil {
		items = nil // a text, which a user says
	}
	for _, list := range [][]message{body.Messages, body.Contents, items} {
		if len(list) == 0 {
			continue
		}
		switch last := list[len(list)-1]; {
		case last.Role == "system" || last.Role == "developer":
			return false, false // another format may not carry it
		case last.Role != "":
			return last.Role == "assistant" || last.Role == "model", true
		default:
			return slices.Contains([]string{"function_call", "custom_tool_call", "reasoning"}, last.Type), true
		}
	}
	return false, false
}

// judge judges a conversation by the rules of its format, without comparing it with an
// original.
func judge(format string, data []byte) *Refusal {
	switch format {
	case "openai":
		if r := JudgeChat(data); r != nil {
			return r
		}
		return checkChatOrder(data)
	case "responses":
		return JudgeResponses(data)
	case "gemini":
		return JudgeGemini(data)
	case "geminicli":
		request, err := ResumedGemini(data)
		if err != nil {
			return refuse("G0", "chat file: %v", err)
		}
		return JudgeGemini(request)
	case "claudecode", "anthropic":
		request, r := messagesOf(format, data)
		if r != nil {
			return r
		}
		return JudgeMessages(request)
	}
	return nil
}

// messagesOf returns a conversation as a request of the Messages API.
func messagesOf(format string, data []byte) ([]byte, *Refusal) {
	if format == "anthropic" {
		return data, nil
	}
	request, err := Resumed(data)
	if err != nil {
		return nil, malformed("session file: %v", err)
	}
	return request, nil
}

// judgeKept compares an export with its original if both have the same format, and it is
// "anthropic", "claudecode" or "responses". It returns the first change that [JudgeKept] or
// [JudgeKeptResponses] does not allow, or nil. For all other pairs of formats, also for
// "claudecode" and "anthropic", it returns nil.
func judgeKept(from string, original []byte, to string, export []byte) *Refusal {
	if from == to && to == "responses" {
		return JudgeKeptResponses(original, export)
	}
	if from != to || from != "claudecode" && from != "anthropic" {
		return nil
	}
	was, r := messagesOf(from, original)
	if r != nil {
		return nil
	}
	is, r := messagesOf(to, export)
	if r != nil {
		return r
	}
	return JudgeKept(was, is)
}
