package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A turn is a step of a conversation: a message, or a tool call with its result.
type turn struct {
	by     string // user or assistant
	text   string
	tool   string // tool that is called, or empty
	args   map[string]string
	answer string
}

// talk is a realistic conversation with a coding agent: long outputs, an edit, a correction.
func talk() []turn {
	long := func(i int) string {
		var b strings.Builder
		for n := range 20 {
			fmt.Fprintf(&b, "ok  \texample.com/app/internal/part%02d/unit%02d\t0.%d1s\n", i, n, n%9)
		}
		return b.String()
	}
	turns := []turn{{by: "user", text: "Find why the pool hangs at shutdown and fix it. The service listens on port 8443."}}
	for i := range 10 {
		turns = append(turns, turn{
			by: "assistant", text: fmt.Sprintf("Next is part %d.", i),
			tool: "Bash", args: map[string]string{"command": fmt.Sprintf("go test ./internal/part%02d/...", i)}, answer: long(i),
		})
	}
	return append(
		turns,
		turn{by: "user", text: "No, don't touch the public API of the pool."},
		turn{
			by: "assistant", text: "Understood. We decided to use a closed channel: <done> & nothing else.",
			tool: "Edit", args: map[string]string{"file_path": "internal/pool/pool.go", "old_string": "a", "new_string": "b"}, answer: "updated",
		},
		turn{by: "assistant", text: "The pool waited for jobs that were rejected after Close. TestDrain passes now."},
		turn{by: "user", text: "Good. Open a pull request for ticket POOL-4711."},
		turn{by: "assistant", text: "It is open: größe ✓ 😀."},
		turn{by: "user", text: "Thanks."},
		turn{by: "assistant", text: "Any time."},
	)
}

// A form is a format with a function that writes a conversation in it.
type form struct {
	format string
	file   string
	write  func([]turn) []byte
}

// forms are the formats of the conversations under test.
func forms() []form {
	return []form{
		{"openai", "pool.json", openAI},
		{"anthropic", "pool-claude.json", anthropic},
		{"claudecode", "5e55de30-0000-4000-8000-000000000001.jsonl", claudeCode},
		{"pager", "pool-history.json", history},
		{"responses", "pool-items.json", items},
	}
}

type object = map[string]any

// encode writes a value as JSON in a form different from Carrel's: other spaces, and no escapes
// for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err) // conversations consist of texts and maps
	}
	return b.Bytes()
}

func arguments(t turn) string { return strings.TrimSpace(string(encode(t.args))) }

// openAI writes a request of Chat Completions.
func openAI(turns []turn) []byte {
	msgs := []object{{"role": "system", "content": "You mend things."}}
	for i, t := range turns {
		m := object{"role": t.by, "content": t.text}
		msgs = append(msgs, m)
		if t.tool != "" {
			call := fmt.Sprintf("call_%d", i)
			m["tool_calls"] = []object{{"id": call, "type": "function", "function": object{"name": t.tool, "arguments": arguments(t)}}}
			msgs = append(msgs, object{"role": "tool", "tool_call_id": call, "content": t.answer})
		}
	}
	return encode(object{"model": "gpt-4o", "messages": msgs})
}

// items writes a request of Responses.
func items(turns []turn) []byte {
	var list []object
	for i, t := range turns {
		if t.tool != "" {
			list = append(list, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", i), "summary": []object{}, "encrypted_content": "sealed"})
		}
		list = append(list, object{"type": "message", "role": t.by, "content": t.text})
		if t.tool != "" {
			call := fmt.Sprintf("call_%d", i)
			list = append(list, object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": call, "name": t.tool, "arguments": arguments(t)},
				object{"type": "function_call_output", "call_id": call, "output": t.answer})
		}
	}
	return encode(object{"model": "gpt-6", "instructions": "You mend things.", "input": list})
}

// anthropic writes a request of Messages.
func anthropic(turns []turn) []byte {
	msgs := messagesOf(turns)
	return encode(object{"model": "claude-sonnet-4-5", "max_tokens": 1024, "system": "You mend things.", "messages": msgs})
}

// messagesOf returns a conversation in the form of Messages. Successive turns of one side
// become one message.
func messagesOf(turns []turn) []object {
	var msgs []object
	add := func(role string, content ...object) {
		if n := len(msgs); n > 0 && msgs[n-1]["role"] == role {
			msgs[n-1]["content"] = append(msgs[n-1]["content"].([]object), content...)
			return
		}
		msgs = append(msgs, object{"role": role, "content": content})
	}
	for i, t := range turns {
		add(t.by, object{"type": "text", "text": t.text})
		if t.tool != "" {
			call := fmt.Sprintf("toolu_%d", i)
			add("assistant", object{"type": "tool_use", "id": call, "name": t.tool, "input": t.args})
			add("user", object{"type": "tool_result", "tool_use_id": call, "content": t.answer})
		}
	}
	return msgs
}

// claudeCode writes a session file of Claude Code.
func claudeCode(turns []turn) []byte {
	var b bytes.Buffer
	var parent any
	for i, m := range messagesOf(turns) {
		uuid := fmt.Sprintf("d3300000-0000-4000-8000-%012d", i+1)
		if m["role"] == "assistant" {
			m["id"], m["type"], m["model"] = fmt.Sprintf("msg_%03d", i), "message", "claude-sonnet-4-5"
		}
		row, err := json.Marshal(object{
			"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/srv/pool", "version": "2.1.42",
			"sessionId": "5e55de30-0000-4000-8000-000000000001", "type": m["role"], "message": m, "uuid": uuid,
			"timestamp": fmt.Sprintf("2026-01-01T09:%02d:00.000Z", i),
		})
		if err != nil {
			panic(err) // as in encode
		}
		b.Write(append(row, '\n'))
		parent = uuid
	}
	return b.Bytes()
}

// history writes a history file of the format pagerjson.
func history(turns []turn) []byte {
	var blocks []object
	for i, t := range turns {
		blocks = append(blocks, object{"id": fmt.Sprintf("block-%d", i+1), "turn": i + 1, "role": t.by, "kind": "active", "text": t.text + "\n" + t.answer})
	}
	return encode(object{"intent_ir": []string{"pool", "shutdown"}, "blocks": blocks})
}
