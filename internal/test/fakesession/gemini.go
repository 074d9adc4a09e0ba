package fakesession

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Gemini returns a request of the Gemini API with about size user messages.
func Gemini(seed uint64, size int) []byte {
	s := newStory(seed, size)
	var functions []any
	for _, t := range tools("parameters") {
		t := t.(object) //nolint:forcetypeassert // all of them are
		functions = append(functions, t)
	}
	return encode(object{
		"systemInstruction": object{"parts": []any{object{"text": "You keep the mill. " + s.prose(3)}}},
		"contents":          s.contents(),
		"tools":             []any{object{"functionDeclarations": functions}},
		"generationConfig":  object{"temperature": 1},
	})
}

// contents returns the conversation as the field "contents" of a Gemini request.
func (s *story) contents() []object {
	var list []object
	for _, x := range s.exchanges {
		order := []any{object{"text": x.order}}
		if x.picture {
			order = append(order, object{"inlineData": object{"mimeType": "image/png", "data": pixel}})
		}
		list = append(list, object{"role": "user", "parts": order})
		for i, r := range x.replies {
			if i > 0 && len(x.replies[i-1].calls) == 0 {
				list = append(list, object{"role": "user", "parts": []any{object{"text": "Go on."}}})
			}
			list = append(list, s.replyContents(r)...)
		}
	}
	return list
}

// replyContents returns a reply and the responses to its calls. Half of the stories have no
// call ids, like older models.
func (s *story) replyContents(r reply) []object {
	named := func(c call, o object) object {
		if s.bound {
			o["id"] = c.id
		}
		return o
	}
	var parts, responses []any
	if r.thinking != "" {
		parts = append(parts, object{"text": r.thinking, "thought": true})
	}
	if r.served {
		parts = append(parts, object{"executableCode": object{"language": "PYTHON", "code": "print(1)"}}, object{"codeExecutionResult": object{"outcome": "OUTCOME_OK", "output": "1\n"}})
	}
	if r.text != "" || len(r.calls) == 0 {
		parts = append(parts, object{"text": r.text + " "})
	}
	for i, c := range r.calls {
		p := object{"functionCall": named(c, object{"name": c.name, "args": json.RawMessage(c.input)})}
		if i == 0 {
			p["thoughtSignature"] = "c2lnbmVk"
		}
		parts = append(parts, p)
		key := "output"
		if c.failed {
			key = "error"
		}
		responses = append(responses, object{"functionResponse": named(c, object{"name": c.name, "response": object{key: c.result}})})
	}
	list := []object{{"role": "model", "parts": parts}}
	if len(responses) > 0 && !r.waits {
		list = append(list, object{"role": "user", "parts": responses})
	}
	return list
}

// GeminiCLI returns a chat file of Gemini CLI with about size user messages.
func GeminiCLI(seed uint64, size int) []byte {
	s := newStory(seed, size)
	s.bound = true // the client gives ids to all calls
	var b strings.Builder
	n := 0
	stamp := func() string { return fmt.Sprintf("2026-01-05T10:%02d:%02d.000Z", n/60%60, n%60) }
	row := func(o object) {
		b.Write(encode(o))
		b.WriteByte('\n')
	}
	row(object{"sessionId": "5b8d7c1e-0000-4000-8000-" + fmt.Sprintf("%012d", seed), "projectHash": "ab12", "startTime": stamp(), "lastUpdated": stamp(), "kind": "main"})
	row(object{"$set": object{"messages": []any{object{"id": "context", "timestamp": stamp(), "type": "user", "content": []any{object{"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}}}}}})
	for _, c := range s.contents() {
		n++
		message := object{"id": fmt.Sprintf("m%04d", n), "timestamp": stamp(), "type": "user", "content": c["parts"]}
		if c["role"] == "model" {
			message["type"], message["model"] = "gemini", "gemini-3-pro"
			message["tokens"] = object{"input": 1000 + n, "output": 20, "cached": 500, "thoughts": 0, "tool": 0, "total": 1020 + n}
		}
		row(message)
		row(object{"$set": object{"lastUpdated": stamp()}})
	}
	return []byte(b.String())
}
