package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The limits of rules A11 and A14.
const (
	maxMarks    = 4
	maxMessages = 100_000
)

// check returns the first rule that a body breaks, except for those about thinking.
func check(b *body, m Model) *Refusal {
	for _, rule := range []func(*body, Model) *Refusal{
		checkParameters, checkCount, checkOpening, checkMarks, checkEmpty, checkSystem, checkIDs,
		checkCalls, checkResults, checkServerTools, checkEnd, checkTurn,
	} {
		if r := rule(b, m); r != nil {
			return r
		}
	}
	return nil
}

// checkParameters checks rule A13: newer models accept no sampling parameters and no thinking
// budget. The list of rules is in the package comment.
func checkParameters(b *body, m Model) *Refusal {
	if !m.Sampling {
		for _, p := range []string{"temperature", "top_p", "top_k"} {
			if b.all[p] != nil {
				return refuse("A13", "unsupported parameter: `%s` is deprecated for this model.", p)
			}
		}
	}
	if !m.Budget && thinking(b)["budget_tokens"] != nil {
		return refuse("A13", "unsupported parameter: thinking.budget_tokens is not supported on this model.")
	}
	return nil
}

// thinking returns the thinking settings of a request, or nil if it has none.
func thinking(b *body) object {
	settings, _ := b.all["thinking"].(object)
	return settings
}

// checkCount checks rule A14: a request has at most 100,000 messages.
func checkCount(b *body, _ Model) *Refusal {
	if n := len(b.messages); n > maxMessages {
		return refuse("A14", "messages: too many messages: %d > %d maximum", n, maxMessages)
	}
	return nil
}

// checkOpening checks rule A1: the first message is a user message.
func checkOpening(b *body, _ Model) *Refusal {
	if b.messages[0].role != roleUser {
		return refuse("A1", "messages: first message must use the user role")
	}
	return nil
}

// checkEmpty checks rule A10: no text and no message is empty, see [mayBeEmpty] for the
// exceptions.
func checkEmpty(b *body, _ Model) *Refusal {
	for _, s := range b.system {
		if kind(s) == "text" && text(s, "text") == "" {
			return refuse("A10", "system: text content blocks must be non-empty")
		}
	}
	last := len(b.messages) - 1
	for i, m := range b.messages {
		if len(m.content) == 0 && !mayBeEmpty(m, i == last) {
			return refuse("A10", "messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for _, block := range m.content {
			if r := checkText(block); r != nil {
				return r
			}
		}
	}
	return nil
}

// mayBeEmpty reports whether a message may have no content. A reply at the end may, and a
// system message with settings.
func mayBeEmpty(m message, last bool) bool {
	return m.role == roleAssistant && last || m.role == roleSystem && m.settings
}

// checkText refuses a text block that is empty or has only white space, and an empty text
// inside a result.
func checkText(block object) *Refusal {
	if kind(block) == "text" && strings.TrimFunc(text(block, "text"), unicode.IsSpace) == "" {
		if text(block, "text") == "" {
			return refuse("A10", "messages: text content blocks must be non-empty")
		}
		return refuse("A10", "messages: text content blocks must contain non-whitespace text")
	}
	for _, inner := range nested(block) {
		if kind(inner) == "text" && text(inner, "text") == "" {
			return refuse("A10", "messages: text content blocks must be non-empty")
		}
	}
	return nil
}

// checkSystem checks rule A15: a system message inside the conversation stands after a user
// message, and is either the last message or stands before a reply. Successive messages of
// one role count as one.
func checkSystem(b *body, m Model) *Refusal {
	for i, msg := range b.messages {
		if msg.role != roleSystem {
			continue
		}
		if !m.System {
			return refuse("A15", "messages.%d: role 'system' is not supported on this model", i)
		}
		before := b.messages[i-1] // by A1 the first message is no system message
		if before.role == roleAssistant && !endsInServerTool(before) {
			return refuse("A15", "messages.%d: role 'system' must follow a user message", i)
		}
		if i+1 < len(b.messages) && b.messages[i+1].role == roleUser {
			return refuse("A15", "messages.%d: role 'system' must be last or followed by an assistant message", i)
		}
	}
	return nil
}

// endsInServerTool reports whether the last block of a message is the call of a
// server tool or its result.
func endsInServerTool(m message) bool {
	if len(m.content) == 0 {
		return false
	}
	last := m.content[len(m.content)-1]
	return isServerCall(last) || isServerResult(last)
}

func isServerCall(block object) bool {
	return kind(block) == "server_tool_use" || kind(block) == "mcp_tool_use"
}

func isServerResult(block object) bool {
	return strings.HasSuffix(kind(block), "_tool_result") && text(block, "tool_use_id") != ""
}

// checkIDs checks rule A16: no two tool calls have the same id.
func checkIDs(b *body, _ Model) *Refusal {
	seen := make(map[string]bool)
	for i, m := range b.messages {
		for k, block := range m.content {
			if kind(block) != "tool_use" {
				continue
			}
			id := text(block, "id")
			if seen[id] {
				return refuse("A16", "messages.%d.content.%d: `tool_use` ids must be unique", i, k)
			}
			seen[id] = true
		}
	}
	return nil
}

// checkCalls checks that all results of a reply stand at the beginning of the next message. The
// place of the first missing result decides which rule is broken: A2 if it is nowhere, A4 if it
// is later in the next message, A5 if it is in another message.
func checkCalls(b *body, _ Model) *Refusal {
	for i, m := range b.messages {
		var missing []string
		for _, block := range m.content {
			if id := text(block, "id"); kind(block) == "tool_use" && !slices.Contains(leadingResults(b, i+1), id) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return refuse(ruleOfMissing(b, i+1, missing[0]),
				"messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
				i, strings.Join(missing, ", "))
		}
	}
	return nil
}

// leadingResults returns the ids of the results at the beginning of message i, if it is a user
// message.
func leadingResults(b *body, i int) []string {
	if i >= len(b.messages) || b.messages[i].role != roleUser {
		return nil
	}
	var ids []string
	for _, block := range b.messages[i].content {
		if kind(block) != "tool_result" {
			break
		}
		ids = append(ids, text(block, "tool_use_id"))
	}
	return ids
}

// ruleOfMissing returns which of the rules A2, A4 and A5 is broken if the result for the call
// id is not at the beginning of message i.
func ruleOfMissing(b *body, i int, id string) string {
	for n := 0; i < len(b.messages) && b.messages[i].role == roleUser; n++ {
		for _, block := range b.messages[i].content {
			if kind(block) == "tool_result" && text(block, "tool_use_id") == id {
				return []string{"A4", "A5"}[min(n, 1)]
			}
		}
		i++
	}
	return "A2"
}

// checkResults checks rule A3: each result is for a call in the message before.
func checkResults(b *body, _ Model) *Refusal {
	for i, m := range b.messages {
		open := make(map[string]bool)
		if i > 0 {
			for _, block := range b.messages[i-1].content {
				if kind(block) == "tool_use" {
					open[text(block, "id")] = true
				}
			}
		}
		for k, block := range m.content {
			if kind(block) != "tool_result" {
				continue
			}
			id := text(block, "tool_use_id")
			if !open[id] {
				return refuse("A3", "messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, k, id)
			}
			delete(open, id) // a second result for it is unexpected
		}
	}
	return nil
}

// checkServerTools checks rule A6: each call of a server tool has its result in the same reply.
// A reply may be split into successive messages, and at the end of the conversation a call may
// lack its result.
func checkServerTools(b *body, _ Model) *Refusal {
	open := make(map[string]string)
	for i, m := range b.messages {
		if m.role != roleAssistant {
			if r := unanswered(i-1, open); r != nil {
				return r
			}
			continue
		}
		for k, block := range m.content {
			id := text(block, "tool_use_id")
			switch {
			case isServerCall(block):
				open[text(block, "id")] = text(block, "name")
			case isServerResult(block):
				if _, ok := open[id]; !ok {
					return refuse("A6", "messages.%d.content.%d: unexpected `tool_use_id` found in `%s` blocks: %s. Each must have a corresponding server tool use block before it.", i, k, kind(block), id)
				}
				delete(open, id)
			}
		}
	}
	return nil
}

func unanswered(i int, open map[string]string) *Refusal {
	if len(open) == 0 {
		return nil
	}
	id := slices.Min(slices.Collect(maps.Keys(open)))
	return refuse("A6", "messages.%d: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", i, open[id], id, open[id])
}

// checkEnd checks rule A12: the last message must not be a reply, unless the model continues
// replies or the reply waits for a server tool.
func checkEnd(b *body, m Model) *Refusal {
	last := b.messages[len(b.messages)-1]
	if last.role == roleAssistant && !m.Prefill && !endsInServerTool(last) {
		return refuse("A12", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// checkTurn checks rule A8: if the request has a thinking budget and the model has to go
// on with its last turn, that turn begins with thinking.
func checkTurn(b *body, m Model) *Refusal {
	if !m.Budget || text(thinking(b), "type") != "enabled" {
		return nil
	}
	start := -1
	for i := len(b.messages) - 1; i >= 0; i-- {
		switch msg := b.messages[i]; {
		case msg.role == roleAssistant:
			start = i
		case len(leadingResults(b, i)) == 0:
			i = 0 // the turn begins behind a message of the user
		}
	}
	if start < 0 || len(b.messages[start].content) == 0 {
		return nil
	}
	first := b.messages[start].content[0]
	if isThinking(first) || len(leadingResults(b, start+1)) == 0 {
		return nil
	}
	return refuse("A8", "messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.", start, kind(first))
}

// A mark is a cache mark and its place.
type mark struct {
	path string
	hour bool
}

// checkMarks checks rule A11: there are at most 4 cache marks, those of one hour come first,
// and none is on thinking or empty text.
func checkMarks(b *body, _ Model) *Refusal {
	var marks []mark
	var bad *Refusal
	look := func(path string, block object) {
		m, ok := block["cache_control"].(object)
		if !ok {
			return
		}
		marks = append(marks, mark{path: path, hour: text(m, "ttl") == "1h"})
		switch {
		case bad != nil:
		case isThinking(block):
			bad = refuse("A11", "%s.%s.cache_control: Extra inputs are not permitted", path, kind(block))
		case kind(block) == "text" && text(block, "text") == "":
			bad = refuse("A11", "%s.text: cache_control cannot be set for empty text blocks", path)
		}
	}
	eachMarkable(b, look)
	if bad != nil {
		return bad
	}
	if n := len(marks); n > maxMarks {
		return refuse("A11", "A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarks, n)
	}
	for i := 1; i < len(marks); i++ {
		if marks[i].hour && !marks[i-1].hour {
			return refuse("A11", "%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", marks[i].path)
		}
	}
	return nil
}

// eachMarkable passes every block that can have a cache mark to the function look, with the
// block's path, in the order in which the service reads them.
func eachMarkable(b *body, look func(path string, block object)) {
	for i, tool := range b.tools {
		look(fmt.Sprintf("tools.%d", i), tool)
	}
	for i, s := range b.system {
		look(fmt.Sprintf("system.%d", i), s)
	}
	for i, m := range b.messages {
		for k, block := range m.content {
			path := fmt.Sprintf("messages.%d.content.%d", i, k)
			for n, inner := range nested(block) {
				look(fmt.Sprintf("%s.tool_result.content.%d", path, n), inner)
			}
			look(path, block)
		}
	}
	look("request", b.all)
}
