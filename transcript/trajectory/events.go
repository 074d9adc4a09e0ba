package trajectory

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// isEvent reports whether an element with these keys is an event.
func isEvent(keys map[string]bool) bool {
	return keys["source"] && keys["action"] || keys["observation"] && (keys["cause"] || keys["source"])
}

// noted lists the actions that are not part of the conversation.
var noted = []string{"", "null", "change_agent_state", "recall", "condensation", "condensation_request", "pause", "resume", "stop", "start"}

// newEvents returns a reader of elements that are events.
func newEvents(string) reader { return &events{calls: make(map[string]string)} }

// events is a reader of elements that are events.
type events struct {
	calls  map[string]string // ids of calls, as JSON, by event id
	agents bool              // the previous message is a reply with calls
}

func (e *events) read(raw []byte) (messages [][]byte, goesOn bool) {
	if gjson.GetBytes(raw, "observation").Exists() {
		m := e.observation(raw)
		if m != nil {
			e.agents = false
			return [][]byte{m}, false
		}
		return nil, false
	}
	action := gjson.GetBytes(raw, "action").String()
	by := gjson.GetBytes(raw, "source").String()
	switch {
	case slices.Contains(noted, action) || by == "environment":
		return nil, false
	case action == "system":
		e.agents = false
		return said("system", gjson.GetBytes(raw, "args.content"), gjson.Result{}), false
	case action == "message" && by == "user":
		e.agents = false
		return said("user", gjson.GetBytes(raw, "args.content"), gjson.GetBytes(raw, "args.image_urls")), false
	case by != "agent":
		return nil, false
	case action == "message":
		messages = said("assistant", gjson.GetBytes(raw, "args.content"), gjson.Result{})
	case action == "finish":
		text := gjson.GetBytes(raw, "args.final_thought")
		if text.String() == "" {
			text = gjson.GetBytes(raw, "args.thought")
		}
		messages = said("assistant", text, gjson.Result{})
	default:
		messages = [][]byte{e.call(raw, action)}
	}
	goesOn, e.agents = e.agents, e.agents || len(messages) > 0
	return messages, goesOn
}

// said returns a message with a text and pictures, or none if both are empty.
func said(role string, text, pictures gjson.Result) [][]byte {
	content := orNull(text)
	if list := pictures.Array(); len(list) > 0 {
		var parts []string
		if content != "null" {
			parts = append(parts, `{"type":"text","text":`+content+`}`)
		}
		for _, p := range list {
			if p.Type == gjson.String {
				parts = append(parts, `{"type":"image_url","image_url":{"url":`+p.Raw+`}}`)
			}
		}
		content = "[" + strings.Join(parts, ",") + "]"
	}
	if content == "null" || content == "[]" {
		return nil
	}
	return [][]byte{[]byte(`{"role":"` + role + `","content":` + content + `}`)}
}

// call returns an action as a reply with a call.
func (e *events) call(raw []byte, action string) []byte {
	name := gjson.GetBytes(raw, "tool_call_metadata.function_name")
	id := gjson.GetBytes(raw, "tool_call_metadata.tool_call_id").Raw
	event := gjson.GetBytes(raw, "id").Raw
	if name.Type != gjson.String || name.String() == "" {
		name = gjson.Parse(string(rawjson.AppendString(nil, action)))
	}
	if !strings.HasPrefix(id, `"`) {
		id = string(rawjson.AppendString(nil, "event_"+event))
	}
	if event != "" {
		e.calls[event] = id
	}
	args := gjson.GetBytes(raw, "args")
	thought := gjson.GetBytes(raw, "args.thought")
	input := []byte("{}")
	if args.IsObject() && rawjson.Valid([]byte(args.Raw)) {
		input = []byte(args.Raw)
		if _, err := rawjson.NewReader(input).Members(); err == nil { // otherwise a key comes twice: none is dropped
			input = chat.Drop(input, func(key string) bool { return key == "thought" })
		}
	}
	m := []byte(`{"role":"assistant","content":` + orNull(thought) + `,"tool_calls":[{"id":` + id + `,"type":"function","function":{"name":` + name.Raw + `,"arguments":`)
	return append(rawjson.AppendString(m, string(input)), `}}]}`...)
}

// observation returns an observation as the result of a call, or nil if it answers no call.
func (e *events) observation(raw []byte) []byte {
	id := gjson.GetBytes(raw, "tool_call_metadata.tool_call_id").Raw
	if by, ok := e.calls[gjson.GetBytes(raw, "cause").Raw]; ok {
		id = by
	}
	content := gjson.GetBytes(raw, "content")
	if !strings.HasPrefix(id, `"`) {
		return nil
	}
	text := content.Raw
	if content.Type != gjson.String {
		text = `""`
	}
	return []byte(`{"role":"tool","tool_call_id":` + id + `,"content":` + text + `}`)
}

// join returns the messages of one reply as one.
func join(messages [][]byte) []byte {
	var texts []string
	var calls []string
	for _, m := range messages {
		if c := gjson.GetBytes(m, "content"); c.Type == gjson.String {
			texts = append(texts, c.String())
		}
		for _, c := range gjson.GetBytes(m, "tool_calls").Array() {
			calls = append(calls, c.Raw)
		}
	}
	m := []byte(`{"role":"assistant","content":`)
	if len(texts) == 0 {
		m = append(m, "null"...)
	} else {
		m = rawjson.AppendString(m, strings.Join(texts, "\n"))
	}
	if len(calls) > 0 {
		m = append(m, `,"tool_calls":[`+strings.Join(calls, ",")+`]`...)
	}
	return append(m, '}')
}

// writeEvents returns a message as events.
func writeEvents(message []byte) (list [][]byte) {
	m := gjson.ParseBytes(message)
	role := m.Get("role").String()
	text, pictures := spoken(m.Get("content"))
	switch role {
	case "tool":
		id := m.Get("tool_call_id").Raw
		return [][]byte{[]byte(`{"source":"agent","observation":"run","content":` + text + `,"tool_call_metadata":{"tool_call_id":` + id + `}}`)}
	case "system":
		return [][]byte{[]byte(`{"source":"agent","action":"system","args":{"content":` + text + `}}`)}
	case "user":
		return [][]byte{[]byte(`{"source":"user","action":"message","args":{"content":` + text + `,"image_urls":` + pictures + `}}`)}
	}
	if text != `""` {
		list = append(list, []byte(`{"source":"agent","action":"message","args":{"content":`+text+`}}`))
	}
	for _, c := range m.Get("tool_calls").Array() {
		args := []byte(c.Get("function.arguments").String())
		if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || trimmed[0] != '{' || !rawjson.Valid(trimmed) {
			args = append(rawjson.AppendString([]byte(`{"_raw":`), string(args)), '}')
		}
		name := c.Get("function.name").Raw
		list = append(list, slices.Concat([]byte(`{"source":"agent","action":`+name+`,"args":`), args,
			[]byte(`,"tool_call_metadata":{"function_name":`+name+`,"tool_call_id":`+c.Get("id").Raw+`}}`)))
	}
	return list
}

// spoken returns the texts of a content as a JSON string, and the URLs of its pictures
// as a list.
func spoken(content gjson.Result) (text, pictures string) {
	if content.Type == gjson.String {
		return content.Raw, "[]"
	}
	var texts, urls []string
	for _, p := range content.Array() {
		if t := p.Get("text"); t.Type == gjson.String {
			texts = append(texts, t.String())
		} else if u := p.Get("image_url.url"); u.Type == gjson.String {
			urls = append(urls, u.Raw)
		}
	}
	return string(rawjson.AppendString(nil, strings.Join(texts, "\n"))), "[" + strings.Join(urls, ",") + "]"
}
