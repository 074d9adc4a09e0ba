package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// ResumedGemini returns the request of the Gemini API with which Gemini CLI resumes a chat
// file. It replays the log of changes. It leaves out text for the screen and the client's own
// text at the beginning of a session. Calls and results that the file has beside a reply become
// parts after the reply. It does not imitate the client's repairs.
func ResumedGemini(file []byte) ([]byte, error) {
	var order []string
	messages := make(map[string]object)
	put := func(m object) {
		id := text(m, "id")
		if _, there := messages[id]; !there {
			order = append(order, id)
		}
		messages[id] = m
	}
	for line := range bytes.Lines(file) {
		var o object
		if json.Unmarshal(line, &o) != nil {
			continue // a torn line
		}
		set, _ := o["$set"].(object)
		list, reset := set["messages"].([]any)
		switch to, rewinds := o["$rewindTo"].(string); {
		case rewinds:
			at := max(slices.Index(order, to), 0)
			for _, id := range order[at:] {
				delete(messages, id)
			}
			order = order[:at]
		case text(o, "id") != "":
			put(o)
		case reset:
			order = nil
			clear(messages)
			for _, v := range list {
				if m, ok := v.(object); ok {
					put(m)
				}
			}
		}
	}
	var contents []object
	for _, id := range order {
		contents = append(contents, geminiTurns(messages[id])...)
	}
	if len(contents) == 0 {
		return nil, errors.New("the chat file has no message of the conversation")
	}
	return json.Marshal(object{"contents": contents})
}

// geminiTurns returns the contents that a message of a chat file becomes.
func geminiTurns(m object) []object {
	parts, _ := m["content"].([]any)
	if s, ok := m["content"].(string); ok && s != "" {
		parts = []any{object{"text": s}}
	}
	switch text(m, "type") {
	case "user":
		if len(parts) == 0 {
			return nil
		}
		if first, _ := parts[0].(object); strings.HasPrefix(text(first, "text"), "<session_context>") {
			return nil
		}
		return []object{{"role": "user", "parts": parts}}
	case "gemini":
	default:
		return nil
	}
	beside, _ := m["toolCalls"].([]any)
	inside := slices.ContainsFunc(parts, func(p any) bool { o, _ := p.(object); return o["functionCall"] != nil || o["thought"] == true })
	var results []any
	for _, v := range beside {
		call, _ := v.(object)
		if !inside {
			parts = append(parts, object{"functionCall": object{"id": call["id"], "name": call["name"], "args": call["args"]}})
		}
		list, _ := call["result"].([]any)
		results = append(results, list...)
	}
	if len(parts) == 0 {
		return nil
	}
	turns := []object{{"role": "model", "parts": parts}}
	if len(results) > 0 {
		turns = append(turns, object{"role": "user", "parts": results})
	}
	return turns
}
