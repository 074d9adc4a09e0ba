package upstream

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// JudgeResponses returns why the Responses API would refuse a request, or nil. Calls at the
// very end may lack outputs. If the server holds a part of the history (previous_response_id,
// conversation, item_reference), calls and outputs are not matched.
func JudgeResponses(request []byte) *Refusal {
	b, r := responsesOf(request)
	if r != nil {
		return r
	}
	seen := make(map[string]bool)
	for i, it := range b.items {
		if r := checkItem(i, it); r != nil {
			return r
		}
		id := text(it, "id")
		if id != "" && seen[id] {
			return refuse("R5", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
		}
		seen[id] = true
	}
	for i, it := range b.items {
		leads := i+1 < len(b.items) && byModel(b.items[i+1])
		if id := text(it, "id"); kind(it) == "reasoning" && id != "" && !leads {
			return refuse("R3", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
		}
	}
	if b.elsewhere {
		return nil
	}
	return checkOutputs(b.items)
}

// A responsesBody is a request of the Responses API.
type responsesBody struct {
	items     []object
	model     string
	elsewhere bool   // the server holds a part of the history
	frame     object // everything but the items
}

func responsesOf(request []byte) (*responsesBody, *Refusal) {
	if err := exactly(request, new(any)); err != nil {
		return nil, refuse("R0", "We could not parse the JSON body of your request: %v", err)
	}
	b := &responsesBody{frame: object{}}
	var input any
	if exactly(request, &b.frame) == nil {
		input = b.frame["input"]
	} else if err := exactly(request, &input); err != nil {
		return nil, refuse("R0", "We could not parse the JSON body of your request: %v", err)
	}
	delete(b.frame, "input")
	b.model = text(b.frame, "model")
	b.elsewhere = b.frame["previous_response_id"] != nil || b.frame["conversation"] != nil
	switch input := input.(type) {
	case string:
		b.items = []object{{"role": roleUser, "content": input}}
		return b, nil
	case []any:
		for i, v := range input {
			it, ok := v.(object)
			if !ok {
				return nil, refuse("R0", "Invalid type for 'input[%d]': expected an object.", i)
			}
			b.items = append(b.items, it)
			b.elsewhere = b.elsewhere || kind(it) == "item_reference"
		}
	default:
		return nil, refuse("R0", "Invalid type for 'input': expected one of a string or array of input items.")
	}
	if len(b.items) == 0 && !b.elsewhere {
		return nil, refuse("R0", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.")
	}
	return b, nil
}

// isMessage reports whether an item is a message.
func isMessage(it object) bool {
	return kind(it) == "message" || kind(it) == "" && text(it, "role") != ""
}

// byModel reports whether a model wrote an item.
func byModel(it object) bool {
	switch {
	case isMessage(it):
		return text(it, "role") == roleAssistant
	case kind(it) == "additional_tools", kind(it) == "configuration_update":
		return false
	}
	return !strings.HasSuffix(kind(it), "_output") && kind(it) != "mcp_approval_response"
}

// checkItem checks the rules R0, R4 and R6 for one item: its form, the beginning of its id, and
// the fields that a call must have.
func checkItem(i int, it object) *Refusal {
	missing := func(rule, key string) *Refusal {
		return refuse(rule, "Missing required parameter: 'input[%d].%s'.", i, key)
	}
	if isMessage(it) {
		role := text(it, "role")
		if !slices.Contains([]string{"system", "developer", roleUser, roleAssistant}, role) {
			return refuse("R0", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role)
		}
		if r := checkParts(fmt.Sprintf("input[%d].content", i), it["content"]); r != nil {
			return r
		}
	}
	wants := map[string]string{"function_call": "fc", "reasoning": "rs", "custom_tool_call": "ctc", "web_search_call": "ws"}[kind(it)]
	if isMessage(it) {
		wants = "msg"
	}
	if !strings.HasPrefix(text(it, "id"), wants) && text(it, "id") != "" {
		return refuse("R4", "Invalid 'input[%d].id': '%s'. Expected an ID that begins with '%s'.", i, text(it, "id"), wants)
	}
	switch kind(it) {
	case "function_call", "custom_tool_call":
		input := map[string]string{"function_call": "arguments", "custom_tool_call": "input"}[kind(it)]
		for _, key := range []string{"call_id", "name"} {
			if text(it, key) == "" {
				return missing("R6", key)
			}
		}
		if _, ok := it[input].(string); !ok {
			return missing("R6", input)
		}
	case "local_shell_call", "shell_call", "apply_patch_call":
		if text(it, "call_id") == "" {
			return missing("R6", "call_id")
		}
	case "function_call_output", "custom_tool_call_output":
		return checkParts(fmt.Sprintf("input[%d].output", i), it["output"])
	}
	if strings.HasSuffix(kind(it), "_call") && len(text(it, "call_id")) > 64 {
		return refuse("R6", "Invalid 'input[%d].call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, len(text(it, "call_id")))
	}
	return nil
}

// checkParts checks a part of rule R0: content is a text, or a list of parts with types.
func checkParts(path string, content any) *Refusal {
	switch content := content.(type) {
	case string:
		return nil
	case []any:
		for i, v := range content {
			if part, ok := v.(object); !ok || kind(part) == "" {
				return refuse("R0", "Missing required parameter: '%s[%d].type'.", path, i)
			}
		}
		if len(content) > 0 {
			return nil
		}
	}
	return refuse("R0", "Invalid type for '%s': expected a string, or an array with at least one part.", path)
}

// answeredBy maps the type of each call that a client answers to the type of its output.
var answeredBy = map[string][]string{
	"function_call":    {"function_call_output"},
	"custom_tool_call": {"custom_tool_call_output"},
	"local_shell_call": {"local_shell_call_output", "function_call_output"},
	"shell_call":       {"shell_call_output"},
	"apply_patch_call": {"apply_patch_call_output"},
}

// checkOutputs checks the rules R1, R2 and R7: each call has one output of its kind behind it.
func checkOutputs(items []object) *Refusal {
	end := len(items) // beginning of the last reply, if it ends the list
	for end > 0 && byModel(items[end-1]) && kind(items[end-1]) != "compaction" {
		end--
	}
	spaced := func(it object) string { return strings.ReplaceAll(kind(it), "_", " ") }
	waits := make(map[string]object)
	called := make(map[string]bool)
	for _, it := range items {
		id := text(it, "call_id")
		if kind(it) == "local_shell_call_output" && id == "" {
			id = text(it, "id")
		}
		if answeredBy[kind(it)] != nil {
			if called[id] {
				return refuse("R7", "Duplicate call_id %s.", id)
			}
			called[id], waits[id] = true, it
			continue
		}
		for _, kinds := range answeredBy {
			if slices.Contains(kinds, kind(it)) {
				call, ok := waits[id]
				if !ok || !slices.Contains(answeredBy[kind(call)], kind(it)) {
					return refuse("R2", "No tool call found for %s with call_id %s.", spaced(it), id)
				}
				delete(waits, id)
				break
			}
		}
	}
	for i, it := range items {
		if _, open := waits[text(it, "call_id")]; open && answeredBy[kind(it)] != nil && i < end {
			return refuse("R1", "No tool output found for %s %s.", spaced(it), text(it, "call_id"))
		}
	}
	return nil
}

// JudgeKeptResponses compares a request of the Responses API with the original from which items
// were removed, and returns the first change that is not allowed (rules K1 to K4 and R8), or
// nil. The arguments of calls, reasoning, and items that only the provider can read must be
// unchanged. The last compaction, and the reasoning before an item whose id requires it, must
// not be missing. If the model binds its reasoning, everything before reasoning must be
// unchanged.
func JudgeKeptResponses(original, request []byte) *Refusal {
	was, r := responsesOf(original)
	if r != nil {
		return r
	}
	is, r := responsesOf(request)
	if r != nil {
		return r
	}
	for _, look := range []func(was, is *responsesBody) *Refusal{keptItems, keptReasoning, keptPrefix} {
		if r := look(was, is); r != nil {
			return r
		}
	}
	return nil
}

// keptItems checks the rules K1 to K3: calls, and items that only the provider can read, are
// unchanged and in order, except for their ids.
func keptItems(was, is *responsesBody) *Refusal {
	wanted := func(items []object) (list []object) {
		for _, it := range items {
			if byModel(it) && !isMessage(it) {
				if kind(it) != "reasoning" {
					it = without(it, "id")
				}
				list = append(list, it)
			}
		}
		return list
	}
	rest := wanted(was.items)
	compactions := func(items []object) int {
		n := 0
		for _, it := range items {
			if kind(it) == "compaction" {
				n++
			}
		}
		return n
	}
	if compactions(was.items) > 0 && compactions(is.items) == 0 {
		return refuse("K3", "the compaction of the provider is gone")
	}
	for _, it := range wanted(is.items) {
		i := slices.IndexFunc(rest, func(old object) bool { return reflect.DeepEqual(old, it) })
		if i < 0 {
			rule := "K2"
			if strings.HasSuffix(kind(it), "_call") {
				rule = "K1"
			}
			return refuse(rule, "a `%s` item was changed, invented or moved", kind(it))
		}
		rest = rest[i+1:]
	}
	return nil
}

// keptReasoning checks rule R8: an item with its original id still has its reasoning before it.
func keptReasoning(was, is *responsesBody) *Refusal {
	there := make(map[string]bool)
	for _, it := range is.items {
		there[text(it, "id")] = true
	}
	needed := "" // reasoning before the following items
	for _, it := range was.items {
		id := text(it, "id")
		switch {
		case kind(it) == "reasoning":
			needed = id
		case !byModel(it), kind(it) == "compaction":
			needed = ""
		case needed != "" && id != "" && there[id] && !there[needed]:
			return refuse("R8", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, kind(it), needed)
		}
	}
	return nil
}

// keptPrefix checks rule K4: if a model binds its reasoning, everything before it is unchanged.
func keptPrefix(was, is *responsesBody) *Refusal {
	if !strings.HasPrefix(is.model, "gpt-6") {
		return nil
	}
	same := reflect.DeepEqual(was.frame, is.frame)
	for i, it := range is.items {
		if same = same && i < len(was.items) && reflect.DeepEqual(was.items[i], it); !same && kind(it) == "reasoning" {
			return refuse("K4", "reasoning is behind a change, and is not used")
		}
	}
	return nil
}
