package upstream

import (
	"fmt"
	"slices"
)

// JudgeChat returns why a server of Chat Completions would refuse a request, or nil. Calls at
// the very end may lack results.
func JudgeChat(request []byte) *Refusal {
	messages, r := chatMessages(request)
	if r != nil {
		return r
	}
	return checkChatCalls(messages)
}

// chatMessages returns the messages of a request, each in valid form.
func chatMessages(request []byte) ([]object, *Refusal) {
	var all object
	if err := exactly(request, &all); err != nil {
		return nil, malformedChat("the body is not a JSON object: %v", err)
	}
	list, ok := all["messages"].([]any)
	if !ok || len(list) == 0 {
		return nil, malformedChat("messages: expected an array with at least one message")
	}
	messages := make([]object, len(list))
	for i, v := range list {
		m, ok := v.(object)
		if !ok {
			return nil, malformedChat("messages[%d]: expected an object", i)
		}
		if r := checkChatMessage(fmt.Sprintf("messages[%d]", i), m); r != nil {
			return nil, r
		}
		messages[i] = m
	}
	return messages, nil
}

// checkChatOrder checks rule O6, which applies to exports only: no service requires an order of
// results, but exports have them in the order of their calls.
func checkChatOrder(request []byte) *Refusal {
	messages, r := chatMessages(request)
	if r != nil {
		return r
	}
	var open []string // ids without results, in the order of the calls
	for i, m := range messages {
		if text(m, "role") != "tool" {
			open = nil
			calls, _ := m["tool_calls"].([]any)
			for _, v := range calls {
				open = append(open, text(v.(object), "id")) // O3 was checked
			}
			continue
		}
		id := text(m, "tool_call_id")
		if len(open) == 0 || open[0] != id {
			return refuse("O6", "messages[%d]: the result of %s comes before that of %v", i, id, open)
		}
		open = open[1:]
	}
	return nil
}

func malformedChat(format string, args ...any) *Refusal { return refuse("O0", format, args...) }

// checkChatMessage checks the rules O0 and O1 for one message: it has a known role and the
// fields of that role, and a reply has content or calls.
func checkChatMessage(path string, m object) *Refusal {
	content, has := m["content"]
	switch role := text(m, "role"); role {
	case "system", "developer", roleUser:
		if !has || content == nil {
			return malformedChat("%s.content: expected a string or an array", path)
		}
	case "tool":
		if !has || content == nil || text(m, "tool_call_id") == "" {
			return malformedChat("%s: a tool message needs content and tool_call_id", path)
		}
	case "function":
		if text(m, "name") == "" {
			return malformedChat("%s.name: expected a string", path)
		}
	case roleAssistant:
		speaks := content != nil || m["refusal"] != nil || m["audio"] != nil
		if !speaks && m["tool_calls"] == nil && m["function_call"] == nil {
			return refuse("O1", "%s: an assistant message needs content or tool_calls", path)
		}
	default:
		return malformedChat("%s.role: %q is no role", path, role)
	}
	if r := checkChatContent(path+".content", content); r != nil {
		return r
	}
	return checkChatCallForm(path, m)
}

// checkChatContent checks rule O2: content is a text, or a list of parts with types.
func checkChatContent(path string, content any) *Refusal {
	switch content := content.(type) {
	case nil, string:
		return nil
	case []any:
		if len(content) == 0 {
			return refuse("O2", "%s: expected an array with at least one part", path)
		}
		for i, v := range content {
			part, ok := v.(object)
			if !ok || kind(part) == "" {
				return refuse("O2", "%s[%d].type: expected a string", path, i)
			}
			if _, ok := part["text"].(string); kind(part) == "text" && !ok {
				return refuse("O2", "%s[%d].text: expected a string", path, i)
			}
		}
		return nil
	}
	return refuse("O2", "%s: expected a string or an array", path)
}

// checkChatCallForm checks rule O3: a call has an id, a name, and its arguments as a text.
func checkChatCallForm(path string, m object) *Refusal {
	value, ok := m["tool_calls"]
	if !ok || value == nil {
		return nil
	}
	calls, ok := value.([]any)
	if !ok || len(calls) == 0 {
		return refuse("O3", "%s.tool_calls: expected an array with at least one call", path)
	}
	if text(m, "role") != roleAssistant {
		return refuse("O3", "%s.tool_calls: only an assistant calls", path)
	}
	for i, v := range calls {
		call, _ := v.(object)
		what, input := "function", "arguments"
		if kind(call) == "custom" {
			what, input = "custom", "input"
		}
		named, _ := call[what].(object)
		if _, ok := named[input].(string); !ok || text(call, "id") == "" || text(named, "name") == "" {
			return refuse("O3", "%s.tool_calls[%d]: expected id, %s.name and %s.%s", path, i, what, what, input)
		}
	}
	return nil
}

// checkChatCalls checks the rules O4, O5 and O7: results follow directly behind their calls,
// one for each.
func checkChatCalls(messages []object) *Refusal {
	var open []string // ids without results, in the order of the calls
	for i, m := range messages {
		if text(m, "role") == "tool" {
			id := text(m, "tool_call_id")
			at := slices.Index(open, id)
			if at < 0 {
				return refuse("O5", "messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return refuse("O4", "messages[%d]: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %v", i, open)
		}
		calls, _ := m["tool_calls"].([]any)
		for _, v := range calls {
			id := text(v.(object), "id") // O3 was checked
			if slices.Contains(open, id) {
				return refuse("O7", "messages[%d].tool_calls: %s is there twice", i, id)
			}
			open = append(open, id)
		}
	}
	if last := messages[len(messages)-1]; len(open) > 0 && last["tool_calls"] == nil {
		return refuse("O4", "messages: no response to %v", open)
	}
	return nil
}
