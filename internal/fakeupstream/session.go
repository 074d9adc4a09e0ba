package fakeupstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A row is a line of a session file of Claude Code, as far as its loading rule reads it.
type row struct {
	Type      string  `json:"type"`
	UUID      string  `json:"uuid"`
	Parent    *string `json:"parentUuid"`
	Session   string  `json:"sessionId"`
	Sidechain bool    `json:"isSidechain"`
	Meta      bool    `json:"isMeta"`
	Team      string  `json:"teamName"`
	Message   object  `json:"message"`
}

// speaks reports whether a row is part of what the model is sent.
func (r *row) speaks() bool {
	return (r.Type == roleUser || r.Type == roleAssistant) && !r.Sidechain && r.Team == ""
}

// Resumed returns the request of the Messages API with which Claude Code goes on from a
// session file: it takes the latest row that speaks, walks to the root by parentUuid, joins
// the rows of one reply, and puts messages of one role together. It adds neither system text
// nor tools.
func Resumed(file []byte) ([]byte, error) {
	rows := make(map[string]*row)
	var leaf *row
	for line := range bytes.Lines(file) {
		var r row
		if json.Unmarshal(line, &r) != nil || r.UUID == "" {
			continue // a torn line, or a row beside the conversation
		}
		if _, again := rows[r.UUID]; again {
			continue
		}
		rows[r.UUID] = &r
		if r.speaks() && !r.Meta {
			leaf = &r
		}
	}
	if leaf == nil {
		return nil, fmt.Errorf("no row speaks")
	}
	var chain []*row
	for r, seen := leaf, make(map[*row]bool); r != nil && !seen[r]; {
		seen[r] = true
		if r.speaks() {
			chain = append(chain, r)
		}
		if r.Parent == nil {
			break
		}
		r = rows[*r.Parent]
	}
	slices.Reverse(chain)
	return json.Marshal(resumedRequest(chain))
}

// resumedRequest makes a request of rows. Results go before other content of their message, where
// the client puts them.
func resumedRequest(chain []*row) object {
	model := "claude-sonnet-4-5"
	var messages []object
	for _, r := range chain {
		if name := text(r.Message, "model"); name != "" && r.Type == roleAssistant {
			model = name
		}
		blocks := contentOf(r.Message)
		if n := len(messages); n > 0 && messages[n-1]["role"] == r.Type {
			messages[n-1]["content"] = append(messages[n-1]["content"].([]any), blocks...)
			continue
		}
		messages = append(messages, object{"role": r.Type, "content": blocks})
	}
	for _, m := range messages {
		blocks := m["content"].([]any)
		slices.SortStableFunc(blocks, func(a, b any) int { return isResult(b) - isResult(a) })
	}
	return object{"model": model, "max_tokens": 1024, "messages": messages}
}

// contentOf returns the blocks of a message.
func contentOf(m object) []any {
	if s, ok := m["content"].(string); ok {
		return []any{object{"type": "text", "text": s}}
	}
	blocks, _ := m["content"].([]any)
	return slices.Clone(blocks)
}

// isResult is 1 for the result of a tool, 0 for all else.
func isResult(v any) int {
	if block, ok := v.(object); ok && kind(block) == "tool_result" {
		return 1
	}
	return 0
}
