package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

var spliceGoals = []goal{
	{name: "splice-json", says: "11 of 552 messages out of a body of 1 MB, one in, against encoding/json", bound: faster(25), setup: spliceAgainst(throughJSON)},
	{name: "splice-copy", says: "the same against a copy of the body", bound: within(10), setup: spliceAgainst(copied)},
}

// edits is the number of edits of the body in one measurement of a side.
const edits = 20

// spliceAgainst compares an edit of a request body with the function other.
func spliceAgainst(other func(body []byte) error) func(context.Context, *bench, string) (sides, error) {
	return func(context.Context, *bench, string) (sides, error) {
		body, err := requestBody()
		if err != nil {
			return sides{}, err
		}
		var d rawjson.Document
		side := func(edit func(body []byte) error) side {
			return repeated(edits, timed(func(context.Context) error { return edit(body) }))
		}
		return sides{ours: side(func(body []byte) error { return spliced(&d, body) }), other: side(other)}, nil
	}
}

// out reports whether message i is removed.
func out(i int) bool { return i%50 == 3 && i < 550 }

var newMessage = []byte(`{"role":"user","content":"What was here is in the file notes.md."}`)

func spliced(d *rawjson.Document, body []byte) error {
	if err := d.Read(body); err != nil {
		return err
	}
	i := 0
	for m := range d.Children(d.Member(rawjson.Root, "messages")) {
		if i == 3 {
			d.Insert(m, newMessage)
		}
		if out(i) {
			d.Drop(m)
		}
		i++
	}
	if rawjson.Size(d.Segments()) >= int64(len(body)) {
		return errors.New("the edit removed no message of the body")
	}
	return nil
}

func throughJSON(body []byte) error {
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var messages []any
	for i, m := range request["messages"].([]any) {
		if i == 3 {
			messages = append(messages, json.RawMessage(newMessage))
		}
		if !out(i) {
			messages = append(messages, m)
		}
	}
	request["messages"] = messages
	_, err := json.Marshal(request)
	return err
}

var copyOfBody []byte

func copied(body []byte) error {
	copyOfBody = append(copyOfBody[:0], body...)
	return nil
}

// requestBody returns a body with 552 messages and 20 tools, about 1 MB: prose of users and the
// model, tool calls, and results with code.
func requestBody() ([]byte, error) {
	type object = map[string]any
	prose := strings.Repeat("The session ends before the lock is given back, so the next writer waits until its time is over. ", 5) + "\n\n"
	code := strings.Repeat("\tif err := s.lock.Release(ctx, key); err != nil && !errors.Is(err, ErrGone) {\n\t\treturn fmt.Errorf(\"release the lock of session %s: %w\", key, err)\n\t}\n", 5)
	var messages, tools []any
	for i := range 138 {
		id := fmt.Sprintf("toolu_%d", i)
		text := object{"type": "text", "text": strings.Repeat(prose, 3), "cache_control": object{"type": "ephemeral"}}
		call := object{"type": "tool_use", "id": id, "name": "read", "input": object{"path": fmt.Sprintf("server/lock_%d.go", i), "from": i}}
		messages = append(
			messages,
			object{"role": "user", "content": strings.Repeat(prose, 3)},
			object{"role": "assistant", "content": []any{text, call}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat(code, 3)}}},
			object{"role": "assistant", "content": []any{object{"type": "text", "text": strings.Repeat(prose, 4)}}},
		)
	}
	for i := range 20 {
		tools = append(tools, object{"name": fmt.Sprintf("tool_%d", i), "description": prose, "input_schema": object{"type": "object", "properties": object{"path": object{"type": "string", "description": "a path"}}}})
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // as clients do
	err := enc.Encode(object{"model": "m", "max_tokens": 1000, "stream": true, "tools": tools, "messages": messages})
	return body.Bytes(), err
}
