package gemini

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// revise returns the encoded parts of a content, and whether they differ from its source
// bytes.
func (e *encoder) revise(c *content, en *transcript.Entry) (parts [][]byte, changed bool) {
	for k := range c.parts {
		p := &c.parts[k]
		raw := e.revisePart(c, p, en)
		if raw != nil {
			parts = append(parts, raw)
		}
		changed = changed || string(raw) != string(p.Of(e.body.Data))
	}
	return parts, changed
}

// revisePart returns a part with the changes that the entry and the provider's rules require,
// or nil if the part is left out.
func (e *encoder) revisePart(c *content, p *part, en *transcript.Entry) []byte {
	raw := p.Of(e.body.Data)
	switch {
	case p.empty():
		e.fix("empty part left out")
		return nil
	case p.thinks() && en.Bare:
		return nil
	case c.misplaced(p):
		e.fix("part that its role cannot have left out")
		return nil
	}
	if !signs(p.signature) {
		e.fix("signature that is none replaced")
		raw = chat.Set(chat.Drop(raw, func(key string) bool { return camel(key) == "thoughtSignature" }), "thoughtSignature", rawjson.AppendString(nil, Skipped))
	}
	switch p.kind {
	case calls:
		is := callee{p.id, cmp.Or(p.name, "unknown")}
		e.names[p.pair], e.ids[p.id] = is, p.id != ""
		if p.name != "" && p.sound(e.body.Data) {
			return raw
		}
		e.fix("call or response written as the provider wants it")
		return setPart(raw, calls, e.carrying(p, is, "args"))
	case responds:
		is, called := e.names[p.pair]
		if !called || p.answers(is) && (is.id != "" || !e.ids[p.id]) {
			is = callee{p.id, cmp.Or(p.name, is.name, "unknown")}
		}
		text, replaced := en.Replaced[p.pair]
		switch {
		case replaced:
			_, failed := response(p.input.Of(e.body.Data))
			value := chat.Drop(e.carrying(p, is, ""), func(key string) bool { return key == "parts" || key == "response" })
			return setPart(raw, responds, chat.Set(value, "response", said(text, failed)))
		case p.id == is.id && p.name == is.name && p.sound(e.body.Data):
			return raw
		}
		e.fix("call or response written as the provider wants it")
		return setPart(raw, responds, e.carrying(p, is, "response"))
	}
	return raw
}

// answers reports whether a response has the id and the name of the written call.
func (p *part) answers(is callee) bool {
	if p.id != "" && is.id != "" {
		return p.id == is.id
	}
	return p.name == is.name
}

// carrying returns the data of a call or a response with the id and the name in is. If key is not
// empty and its value is not an object, the value is wrapped in an object.
func (e *encoder) carrying(p *part, is callee, key string) []byte {
	value := p.value.Of(e.body.Data)
	if rawjson.NewReader(value).Kind() != rawjson.Object {
		value = []byte(`{"name": ""}`)
	}
	if is.name != p.name {
		value = chat.Set(value, "name", rawjson.AppendString(nil, is.name))
	}
	switch is.id {
	case p.id:
	case "":
		value = chat.Drop(value, func(key string) bool { return key == "id" })
	default:
		value = chat.Set(value, "id", rawjson.AppendString(nil, is.id))
	}
	if key != "" && !p.sound(e.body.Data) {
		input, _ := chat.Arguments(p.input.Of(e.body.Data))
		value = chat.Set(value, key, input)
	}
	return value
}

// setPart returns a part with another value of its data.
func setPart(raw []byte, kind string, value []byte) []byte {
	members, err := rawjson.NewReader(raw).Members()
	if err != nil {
		panic("gemini: " + err.Error()) // parse has read this part before
	}
	for _, m := range members {
		if camel(m.Key) == kind {
			return transcript.Splice(raw, transcript.Cut{From: m.Value.Start, To: m.Value.End, With: value})
		}
	}
	panic("gemini: a part without its data")
}

// said returns a response with a text. The text is under the key "error" if failed is true, and
// otherwise under "output".
func said(text string, failed bool) []byte {
	key := "output"
	if failed {
		key = "error"
	}
	return append(rawjson.AppendString([]byte(`{"`+key+`": `), text), '}')
}

// written encodes parts, without those that the API has no form for.
func (e *encoder) written(parts []transcript.Part) [][]byte {
	var list [][]byte
	for _, p := range parts {
		if raw := e.part(p); raw != nil {
			list = append(list, raw)
		}
	}
	return list
}

// instruction encodes a system text as parts, and puts the text in mark before each of them.
func instruction(parts []transcript.Part, mark string) [][]byte {
	if text := chat.Flat(parts); text != "" {
		return [][]byte{textPart(mark + text)}
	}
	return nil
}

// part encodes one part, or returns nil if the API has no form for it.
func (e *encoder) part(p transcript.Part) []byte {
	switch p := p.(type) {
	case transcript.Text:
		if p != "" {
			return textPart(string(p))
		}
	case transcript.Thinking:
		if e.provider {
			return thought(p)
		}
	case transcript.ToolCall:
		return e.call(p)
	case transcript.ToolResult:
		return e.response(p)
	case transcript.Media:
		if raw := e.media(p); raw != nil {
			return raw
		}
		return textPart(chat.Placeholder(p))
	case transcript.Opaque:
		if e.provider && !slices.Contains([]string{"", several, says, calls, responds}, p.Type) {
			return p.Raw
		}
	}
	return nil
}

func textPart(text string) []byte {
	return append(rawjson.AppendString([]byte(`{"text": `), text), '}')
}

// thought encodes thinking, or returns nil if it is empty.
func thought(p transcript.Thinking) []byte {
	if !signs(p.Signature) {
		p.Signature = Skipped
	}
	if p.Text == "" && p.Signature == "" {
		return nil
	}
	raw := rawjson.AppendString([]byte(`{"text": `), p.Text)
	if p.Text != "" {
		raw = append(raw, `, "thought": true`...)
	}
	if p.Signature != "" {
		raw = rawjson.AppendString(append(raw, `, "thoughtSignature": `...), p.Signature)
	}
	return append(raw, '}')
}

// call writes a call.
func (e *encoder) call(c transcript.ToolCall) []byte {
	is := callee{c.ID, cmp.Or(c.Name, "unknown")}
	if e.own && e.body.placed[c.ID] {
		is.id = ""
	}
	e.names[c.ID], e.ids[is.id] = is, is.id != ""
	input, _ := chat.Arguments(c.Input)
	raw := append(e.head(calls, is), `, "args": `...)
	return append(append(raw, input...), "}}"...)
}

// head returns the beginning of the JSON of a call or a response.
func (e *encoder) head(kind string, is callee) []byte {
	raw := []byte(`{"` + kind + `": {`)
	if is.id != "" {
		raw = append(rawjson.AppendString(append(raw, `"id": `...), is.id), ", "...)
	}
	return rawjson.AppendString(append(raw, `"name": `...), is.name)
}

// response encodes the response to a call: its text, and its media where the API allows
// media.
func (e *encoder) response(r transcript.ToolResult) []byte {
	is, known := e.names[r.CallID]
	if !known {
		is = callee{r.CallID, "unknown"}
	}
	var shows [][]byte
	for _, p := range r.Content {
		if m, ok := p.(transcript.Media); ok {
			if raw := e.media(m); raw != nil {
				shows = append(shows, raw)
			}
		}
	}
	text := chat.Flat(slices.DeleteFunc(slices.Clone(r.Content), func(p transcript.Part) bool {
		m, ok := p.(transcript.Media)
		return ok && e.media(m) != nil
	}))
	raw := append(append(e.head(responds, is), `, "response": `...), said(text, r.Error)...)
	if len(shows) > 0 {
		raw = append(append(raw, `, "parts": `...), list(shows)...)
	}
	return append(raw, "}}"...)
}

// media encodes an image, a sound or a document, or returns nil if the session has only its
// address.
func (e *encoder) media(p transcript.Media) []byte {
	switch {
	case e.provider:
		return p.Raw
	case p.Data == "" || p.MIME == "":
		return nil
	}
	raw := rawjson.AppendString([]byte(`{"inlineData": {"mimeType": `), p.MIME)
	return append(rawjson.AppendString(append(raw, `, "data": `...), p.Data), "}}"...)
}

// account records the losses of a window of a session in another format: each part that the API has
// no form for.
func (e *encoder) account(w *transcript.Window) {
	e.losses.Account(w, func(role string, m transcript.Media) bool { return role != "system" && e.media(m) != nil })
	for i := range w.Entries {
		for _, c := range w.Entries[i].Calls() {
			if _, ok := chat.Arguments(c.Input); !ok {
				e.losses.Add(i, "arguments", len(c.Input))
			}
		}
	}
}
