package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A row is a line of a session file of Claude Code, with the fields that its loading rule
// reads.
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

// speaks reports whether a row is part of the request to the model.
func (r *row) speaks() bool {
	return (r.Type == roleUser || r.Type == roleAssistant) && !r.Sidechain && r.Team == ""
}

// Resumed returns the request of the Messages API with which Claude Code resumes a session
// file. It takes the latest row that is a part of the request (see row.speaks), and follows
// parentUuid to the root. It joins the rows with the same message id to one reply, and
// successive messages of one role to one message. Parallel calls fork the chain of rows: the
// request includes all rows of such a reply, and their results. It has neither system text
// nor tools.
func Resumed(file []byte) ([]byte, error) {
	rows := make(map[string]*row)
	var all []*row
	var leaf *row
	for line := range bytes.Lines(file) {
		var r row
		if exactly(line, &r) != nil || r.UUID == "" {
			continue // a torn line, or a row beside the conversation
		}
		if _, again := rows[r.UUID]; again {
			continue
		}
		rows[r.UUID], all = &r, append(all, &r)
		if r.speaks() && !r.Meta {
			leaf = &r
		}
	}
	if leaf == nil {
		return nil, fmt.Errorf("the session file has no row with a message of the conversation")
	}
	on := make(map[*row]bool)        // rows of the chain
	replies := make(map[string]bool) // ids of replies
	for r := leaf; r != nil && !on[r]; {
		on[r] = true
		if id := text(r.Message, "id"); r.Type == roleAssistant && id != "" {
			replies[id] = true
		}
		if r.Parent == nil {
			break
		}
		r = rows[*r.Parent]
	}
	calls := make(map[string]bool) // ids of calls beside the chain
	var chain []*row
	for _, r := range all {
		switch {
		case !r.speaks():
			continue
		case !on[r] && r.Type == roleAssistant && replies[text(r.Message, "id")]:
			for _, id := range idsOf(r.Message, "tool_use", "id") {
				calls[id] = true
			}
		case !on[r] && !slices.ContainsFunc(idsOf(r.Message, "tool_result", "tool_use_id"), func(id string) bool { return calls[id] }):
			continue
		}
		chain = append(chain, r)
	}
	return json.Marshal(resumedRequest(chain))
}

// idsOf returns the values of a field of the message's blocks. The argument of is the type of
// the blocks, and key names the field.
func idsOf(m object, of, key string) (ids []string) {
	for _, v := range contentOf(m) {
		if block, ok := v.(object); ok && kind(block) == of {
			ids = append(ids, text(block, key))
		}
	}
	return ids
}

// resumedRequest makes a request of the rows in chain. In each message it puts results before
// other content, as the client does.
func resumedRequest(chain []*row) object {
	model := "claude-sonnet-4-5"
	var messages []object
	replies := make(map[string]object) // by the id of the reply
	for _, r := range chain {
		if name := text(r.Message, "model"); name != "" && r.Type == roleAssistant {
			model = name
		}
		blocks := contentOf(r.Message)
		id := text(r.Message, "id")
		if reply := replies[id]; reply != nil && r.Type == roleAssistant {
			reply["content"] = append(reply["content"].([]any), blocks...)
			continue
		}
		if n := len(messages); n > 0 && messages[n-1]["role"] == r.Type {
			messages[n-1]["content"] = append(messages[n-1]["content"].([]any), blocks...)
		} else {
			messages = append(messages, object{"role": r.Type, "content": blocks})
		}
		if r.Type == roleAssistant && id != "" {
			replies[id] = messages[len(messages)-1]
		}
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

// isResult returns 1 for the result of a tool, and 0 otherwise.
func isResult(v any) int {
	if block, ok := v.(object); ok && kind(block) == "tool_result" {
		return 1
	}
	return 0
}
