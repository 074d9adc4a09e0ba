package opencode

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// providerOf returns OpenCode's name of the provider of a model.
func providerOf(model string) string {
	for _, p := range []struct{ model, name string }{
		{"claude", "anthropic"}, {"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"codex", "openai"}, {"gemini", "google"},
	} {
		if strings.HasPrefix(model, p.model) {
			return p.name
		}
	}
	return "unknown"
}

// opening writes a user's message if the first message is a reply.
func (e *encoder) opening() {
	if len(e.out) == 0 {
		e.makeUser(&transcript.Entry{Message: transcript.Message{Parts: []transcript.Part{transcript.Text(transcript.Opening)}}})
	}
}

// make writes a message that has no source in the document.
func (e *encoder) make(en *transcript.Entry, results map[string]answer) {
	switch en.Role {
	case transcript.RoleSystem:
		e.losses.Add(e.index, "system text (the agent has its own)", len(en.Text()))
	case transcript.RoleAssistant:
		e.makeReply(en, results)
	case transcript.RoleUser, transcript.RoleTool:
		e.makeUser(en)
	}
}

// part encodes a part of a message that has no source. members is the JSON of the members that
// depend on the kind of the part.
func (e *encoder) part(message, kind, members string) []byte {
	return fmt.Appendf(nil, `{"id": %s, "sessionID": %s, "messageID": %s, "type": %s, %s}`, quote(e.id("prt")), quote(e.session), quote(message), quote(kind), members)
}

// makeUser writes a user's message, unless it would be empty. Texts by a program are
// marked synthetic, so that OpenCode does not show them as a person's.
func (e *encoder) makeUser(en *transcript.Entry) {
	id := e.id("msg")
	var parts [][]byte
	for _, p := range en.Parts {
		switch p := p.(type) {
		case transcript.Text:
			if p == "" {
				continue
			}
			members := `"text": ` + quote(string(p))
			if transcript.Machine(string(p)) {
				members += `, "synthetic": true`
			}
			parts = append(parts, e.part(id, "text", members))
		case transcript.Media:
			if file := e.file(p); file != "" {
				parts = append(parts, e.part(id, "file", file))
				continue
			}
			parts = append(parts, e.part(id, "text", `"text": `+quote(chat.Placeholder(p))))
		case transcript.Thinking, transcript.ToolCall, transcript.ToolResult, transcript.Opaque:
		}
	}
	if len(parts) == 0 {
		return
	}
	info := fmt.Appendf(nil, `{"id": %s, "sessionID": %s, "role": "user", "time": {"created": %d}, "agent": %s, "model": {"providerID": %s, "modelID": %s}}`,
		quote(id), quote(e.session), e.last, quote(e.agent), quote(e.provider), quote(e.model))
	e.asked = id
	e.write(info, parts)
}

// file returns the members of a file part, or "" if the media have no address.
func (e *encoder) file(m transcript.Media) string {
	url := chat.DataURL(m)
	if url == "" {
		return ""
	}
	mime := m.MIME
	if mime == "" {
		mime = map[string]string{"image": "image/png", "audio": "audio/wav"}[m.Kind]
	}
	if mime == "" || mime == "text/plain" {
		mime = "application/octet-stream"
	}
	return fmt.Sprintf(`"mime": %s, "url": %s`, quote(mime), quote(url))
}

// makeReply writes a reply with the results of its calls, unless it would be empty.
func (e *encoder) makeReply(en *transcript.Entry, results map[string]answer) {
	if !slices.ContainsFunc(en.Parts, written) {
		return
	}
	e.opening()
	id := e.id("msg")
	var parts [][]byte
	finish := "stop"
	for _, p := range en.Parts {
		switch p := p.(type) {
		case transcript.Text:
			if p != "" {
				parts = append(parts, e.part(id, "text", `"text": `+quote(string(p))))
			}
		case transcript.ToolCall:
			finish = "tool-calls"
			parts = append(parts, e.call(id, p, results))
		case transcript.Media:
			parts = append(parts, e.part(id, "text", `"text": `+quote(chat.Placeholder(p))))
		case transcript.Thinking, transcript.ToolResult, transcript.Opaque:
		}
	}
	info := fmt.Appendf(nil, `{"id": %s, "sessionID": %s, "role": "assistant", "time": {"created": %d, "completed": %d}, "parentID": %s, "modelID": %s, "providerID": %s, "mode": %s, "agent": %s, "path": {"cwd": %s, "root": %s}, "cost": 0, "tokens": %s, "finish": %s}`,
		quote(id), quote(e.session), e.last, e.last, quote(e.asked), quote(e.model), quote(e.provider), quote(e.agent), quote(e.agent), quote(e.cwd), quote(e.cwd), free, quote(finish))
	e.write(info, parts)
}

// written reports whether the encoder writes a part of a reply.
func written(p transcript.Part) bool {
	switch p := p.(type) {
	case transcript.Text:
		return p != ""
	case transcript.ToolCall, transcript.Media:
		return true
	}
	return false
}

// call encodes a call with its result.
func (e *encoder) call(message string, c transcript.ToolCall, results map[string]answer) []byte {
	name := cmp.Or(c.Name, "unknown")
	input := []byte(c.Input)
	if r := rawjson.NewReader(input); r.Kind() != rawjson.Object || !rawjson.Valid(input) {
		if len(strings.TrimSpace(string(input))) > 0 {
			e.losses.Add(e.index, "arguments that are not an object (wrapped)", len(input))
		}
		input = []byte(`{"_raw": ` + quote(string(input)) + `}`)
	}
	state := pendingState(input)
	if r, ok := results[c.ID]; ok {
		state = e.ended(message, input, name, r.result)
	}
	return e.part(message, "tool", fmt.Sprintf(`"callID": %s, "tool": %s, "state": %s`, quote(c.ID), quote(name), state))
}

// pendingState returns the state of a call without a result.
func pendingState(input []byte) string {
	return fmt.Sprintf(`{"status": "pending", "input": %s, "raw": %s}`, inputOf(input), quote(string(input)))
}

// inputOf returns input if it is a JSON object, and otherwise an empty object.
func inputOf(input []byte) []byte {
	if rawjson.NewReader(input).Kind() != rawjson.Object {
		return []byte("{}")
	}
	return input
}

// ended returns the state of a call with a result. A failed call has text only.
func (e *encoder) ended(message string, input []byte, tool string, r transcript.ToolResult) string {
	at := strconv.FormatInt(e.last, 10)
	times := `{"start": ` + at + `, "end": ` + at + `}`
	if r.Error {
		for _, p := range r.Content {
			if m, ok := p.(transcript.Media); ok {
				e.losses.Add(e.index, m.Kind, len(m.Raw))
			}
		}
		return fmt.Sprintf(`{"status": "error", "input": %s, "error": %s, "time": %s}`, inputOf(input), quote(chat.Flat(r.Content)), times)
	}
	var files []string
	var text []transcript.Part
	for _, p := range r.Content {
		if m, ok := p.(transcript.Media); ok {
			if file := e.file(m); file != "" {
				files = append(files, fmt.Sprintf(`{"id": %s, "sessionID": %s, "messageID": %s, "type": "file", %s}`, quote(e.id("prt")), quote(e.session), quote(message), file))
				continue
			}
		}
		text = append(text, p)
	}
	state := fmt.Sprintf(`{"status": "completed", "input": %s, "output": %s, "title": %s, "metadata": {}, "time": %s`, inputOf(input), quote(chat.Flat(text)), quote(tool), times)
	if len(files) > 0 {
		state += `, "attachments": [` + strings.Join(files, ", ") + `]`
	}
	return state + "}"
}
