package responses

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// prefixes maps types of items to the prefixes of their ids.
var prefixes = map[string]string{
	"message": "msg", "function_call": "fc", "reasoning": "rs", "custom_tool_call": "ctc", "web_search_call": "ws",
}

// oddID reports whether the id of an item lacks the provider's prefix.
func (it *item) oddID() bool {
	return it.id != "" && !strings.HasPrefix(it.id, prefixes[it.kind])
}

// mayLoseID reports whether the provider accepts an item without its id. The server finds
// the content of other types of items only by the id.
func (it *item) mayLoseID() bool { return prefixes[it.kind] != "" }

// nameOf returns the name of the tool that item i calls.
func (b *body) nameOf(i int) string {
	c, _ := b.parts(i)[0].(transcript.ToolCall)
	return c.Name
}

// call encodes a call as a function_call.
func (e *encoder) call(c transcript.ToolCall) []byte {
	e.wants[c.ID] = "function_call"
	raw := rawjson.AppendString([]byte(`{"type": "function_call", "call_id": `), chat.CallID(false, c.ID))
	raw = rawjson.AppendString(append(raw, `, "name": `...), cmp.Or(c.Name, "unknown"))
	input := string(c.Input)
	if !e.own && strings.TrimSpace(input) == "" { // servers read the arguments as JSON
		input = "{}"
	}
	raw = rawjson.AppendString(append(raw, `, "arguments": `...), input)
	return append(raw, '}')
}

// reasoning encodes thinking as a reasoning item.
func reasoning(t transcript.Thinking) []byte {
	raw := []byte(`{"type": "reasoning", "summary": [`)
	if t.Text != "" {
		raw = append(rawjson.AppendString(append(raw, `{"type": "summary_text", "text": `...), t.Text), '}')
	}
	raw = append(raw, ']')
	if t.Signature != "" {
		raw = rawjson.AppendString(append(raw, `, "encrypted_content": `...), t.Signature)
	}
	return append(raw, '}')
}

// result encodes an output in the type that its call requires.
func (e *encoder) result(r transcript.ToolResult) []byte {
	kind := cmp.Or(outputs[e.wants[r.CallID]], "function_call_output")
	raw := rawjson.AppendString([]byte(`{"type": "`+kind+`", "call_id": `), chat.CallID(false, r.CallID))
	if kind == "apply_patch_call_output" {
		status := "completed"
		if r.Error {
			status = "failed"
		}
		raw = append(raw, `, "status": "`+status+`"`...)
	}
	raw = append(raw, `, "output": `...)
	if hasMedia(r.Content) && (kind == "function_call_output" || kind == "custom_tool_call_output") {
		raw = append(raw, e.list("tool", r.Content)...)
	} else {
		raw = append(raw, outputOf(kind, chat.Flat(r.Content), r.Error)...)
	}
	return append(raw, '}')
}

func hasMedia(parts []transcript.Part) bool {
	return slices.ContainsFunc(parts, func(p transcript.Part) bool { _, ok := p.(transcript.Media); return ok })
}

// outputOf encodes a text as the value of the field output.
func outputOf(kind, text string, failed bool) []byte {
	value := rawjson.AppendString(nil, text)
	if kind != "shell_call_output" {
		return value
	}
	code := "0"
	if failed {
		code = "1"
	}
	return slices.Concat([]byte(`[{"stdout": `), value, []byte(`, "stderr": "", "outcome": {"type": "exit", "exit_code": `+code+`}}]`))
}

// speech encodes the text of a reply, or returns nil if the reply has none. Media become
// placeholder texts.
func (e *encoder) speech(parts []transcript.Part) []byte {
	opaque := func(p transcript.Part) bool { _, ok := p.(transcript.Opaque); return ok }
	if text := chat.Flat(parts); !e.own || !slices.ContainsFunc(parts, opaque) {
		parts = nil
		if text != "" {
			parts = []transcript.Part{transcript.Text(text)}
		}
	}
	return e.said("assistant", parts)
}

// said encodes a message in a form that every client reads, or returns nil if no part of it
// can be written.
func (e *encoder) said(role string, parts []transcript.Part) []byte {
	list := e.list(role, parts)
	if len(list) == len("[]") {
		return nil
	}
	return slices.Concat([]byte(`{"type": "message", "role": "`+role+`", "content": `), list, []byte("}"))
}

// list encodes parts as a list, without parts that the API has no form for.
func (e *encoder) list(role string, parts []transcript.Part) []byte {
	var list [][]byte
	for _, p := range parts {
		if raw := e.part(role, p); raw != nil {
			list = append(list, raw)
		}
	}
	return slices.Concat([]byte("["), bytes.Join(list, []byte(", ")), []byte("]"))
}

// part encodes an element of a content, or returns nil if the API has no form for it.
func (e *encoder) part(role string, p transcript.Part) []byte {
	switch p := p.(type) {
	case transcript.Text:
		return textPart(role, string(p))
	case transcript.Media:
		if raw := e.media(role, p); raw != nil {
			return raw
		}
		return textPart(role, chat.Placeholder(p))
	case transcript.Opaque:
		if e.own {
			return p.Raw
		}
	case transcript.Thinking, transcript.ToolCall, transcript.ToolResult:
	}
	return nil
}

func textPart(role, text string) []byte {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	return append(rawjson.AppendString([]byte(`{"type": "`+kind+`", "text": `), text), '}')
}

// media encodes an image, a sound or a file. It returns nil if the API does not allow it: replies
// and system texts may have no media, and outputs may have no sounds.
func (e *encoder) media(role string, p transcript.Media) []byte {
	url := chat.DataURL(p)
	switch {
	case e.own:
		return p.Raw
	case role != "user" && role != "tool":
		return nil
	case p.Kind == "image" && url != "":
		return append(rawjson.AppendString([]byte(`{"type": "input_image", "image_url": `), url), '}')
	case p.Kind == "audio" && role == "user":
		return chat.Sound(p)
	case p.Kind == "document" && p.Data != "" && p.MIME == "application/pdf":
		return append(rawjson.AppendString([]byte(`{"type": "input_file", "filename": "document.pdf", "file_data": `), url), '}')
	case p.Kind == "document" && p.Data == "" && p.URL != "":
		return append(rawjson.AppendString([]byte(`{"type": "input_file", "file_url": `), url), '}')
	}
	return nil
}
