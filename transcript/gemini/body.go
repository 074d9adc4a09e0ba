package gemini

import (
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A body is a parsed request body.
type body struct {
	*chat.Frame
	chat.Head

	system   content
	contents []content
	placed   map[string]bool // generated ids of calls that have no id in the body
}

// A content is one element of the list contents, or the system instruction. Its span is empty
// if it is missing.
type content struct {
	rawjson.Span
	role  string
	list  rawjson.Span // of the parts; may be empty
	parts []part
}

// The roles of a content. A content without a role is the user's.
const (
	roleUser  = "user"
	roleModel = "model"
)

// A part is one element of a content.
type part struct {
	rawjson.Span
	kind      string // key of its data; empty if it has none
	data      int    // number of keys with data
	value     rawjson.Span
	text      string
	thought   bool
	signature string
	id, name  string       // of a call or a response, as in the body
	input     rawjson.Span // args of a call, or the response
	media     rawjson.Span // parts of a response
	pair      string       // id that a call and its response share in the transcript
}

// The kinds of parts that matter here.
const (
	says     = "text"
	calls    = "functionCall"
	responds = "functionResponse"
	inline   = "inlineData"
	filed    = "fileData"
	several  = "several" // more than one kind of data
)

// modifiers lists the keys of a part that do not hold its data.
var modifiers = map[string]bool{
	"thought": true, "thoughtSignature": true, "videoMetadata": true, "partMetadata": true, "mediaResolution": true,
}

var layout = chat.Layout{Key: "contents", Hint: `expected {"contents": […]} or a list of contents`}

var roles = chat.Roles{Names: []string{roleUser, roleModel, "function"}, Hint: "roles are user and model"}

// parse reads a body.
func parse(name string, data []byte) (*body, error) {
	b := new(body)
	frame, err := layout.Read(name, data, b.field, func(r *rawjson.Reader, _ int) error {
		c, err := readContent(r, roles.Read)
		b.Note(r)
		b.contents = append(b.contents, c)
		return err
	})
	b.Frame = frame
	if err == nil {
		b.pair()
	}
	return b, err
}

// field reads a field of the body other than the contents.
func (b *body) field(r *rawjson.Reader, key string) (err error) {
	switch kind := r.Kind(); {
	case key == "model" && kind == rawjson.String:
		b.Model, err = r.String()
		b.Model = strings.TrimPrefix(b.Model, "models/")
		return err
	case camel(key) == "systemInstruction" && kind == rawjson.Object && b.system.End == 0:
		b.system, err = readContent(r, (*rawjson.Reader).String) // the role of the instruction is ignored
		b.Note(r)
		return err
	}
	span, err := r.Skip()
	if key == "tools" {
		b.Tools = span
	}
	return err
}

// camel returns a key as the API's reference writes it: function_call is functionCall.
func camel(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// readContent reads a content. It calls the function role to read the value of the key "role".
func readContent(r *rawjson.Reader, role func(*rawjson.Reader) (string, error)) (c content, err error) {
	c.Start, c.role = r.Offset(), roleUser
	err = r.Object(func(key string) (err error) {
		switch {
		case key == "role" && r.Kind() != rawjson.Null:
			c.role, err = role(r)
		case key == "parts" && r.Kind() == rawjson.Array:
			c.list.Start = r.Offset()
			err = r.Array(func(int) error {
				p, err := readPart(r)
				c.parts = append(c.parts, p)
				return err
			})
			c.list.End = r.Position()
		default:
			_, err = r.Skip()
		}
		return err
	})
	c.End = r.Position()
	return c, err
}

// readPart reads a part of any kind. It ignores fields whose value has an unexpected type.
func readPart(r *rawjson.Reader) (part, error) {
	p := part{Span: rawjson.Span{Start: r.Offset()}}
	err := r.Object(func(key string) (err error) {
		key = camel(key)
		kind, start := r.Kind(), r.Offset()
		if modifiers[key] || kind == rawjson.Null {
			return p.modifier(r, key)
		}
		if p.kind = key; p.data > 0 {
			p.kind = several
		}
		p.data++
		switch {
		case key == says && kind == rawjson.String:
			p.text, err = r.String()
		case (key == calls || key == responds) && kind == rawjson.Object:
			err = r.Object(func(key string) error { return p.field(r, key) })
		default:
			_, err = r.Skip()
		}
		p.value = rawjson.Span{Start: start, End: r.Position()}
		return err
	})
	p.End = r.Position()
	return p, err
}

// modifier reads a key that does not hold the part's data.
func (p *part) modifier(r *rawjson.Reader, key string) (err error) {
	if key == "thoughtSignature" && r.Kind() == rawjson.String {
		p.signature, err = r.String()
		return err
	}
	p.thought = p.thought || key == "thought" && r.Kind() == rawjson.True
	_, err = r.Skip()
	return err
}

// field reads a field of a call or of a response.
func (p *part) field(r *rawjson.Reader, key string) (err error) {
	if kind := r.Kind(); kind == rawjson.String && key == "id" {
		p.id, err = r.String()
		return err
	} else if kind == rawjson.String && key == "name" {
		p.name, err = r.String()
		return err
	}
	span, err := r.Skip()
	switch key {
	case "args", "response":
		p.input = span
	case "parts":
		p.media = span
	}
	return err
}

// pair gives each call and its response the same id.
func (b *body) pair() {
	b.placed = make(map[string]bool)
	open := make(map[string]*part)      // calls without a response, by their ids in the body
	waiting := make(map[string][]*part) // calls of the latest reply without a response, by name, in order
	answered := make(map[*part]bool)
	for i := range b.contents {
		c := &b.contents[i]
		fresh := true
		var left []*part // responses without a known id
		for k := range c.parts {
			p := &c.parts[k]
			if c.misplaced(p) {
				continue
			}
			p.pair = p.id
			if p.pair == "" {
				p.pair = fmt.Sprintf("gemini-%d-%d", i, k)
			}
			switch p.kind {
			case calls:
				if fresh {
					fresh = false
					clear(waiting)
				}
				waiting[p.name] = append(waiting[p.name], p)
				if p.id != "" {
					open[p.id] = p
				} else {
					b.placed[p.pair] = true
				}
			case responds:
				if call := open[p.id]; call != nil {
					answered[call] = true
					delete(open, p.id)
					continue
				}
				left = append(left, p)
			}
		}
		for _, p := range left {
			queue := waiting[p.name]
			for len(queue) > 0 && answered[queue[0]] {
				queue = queue[1:]
			}
			if len(queue) > 0 && (p.id == "" || queue[0].id == "") {
				p.pair = queue[0].pair
				queue = queue[1:]
			}
			waiting[p.name] = queue
		}
	}
}

// empty reports whether the provider ignores a part because it has no data.
func (p *part) empty() bool {
	return p.data != 1 || p.kind == says && p.text == "" && p.signature == ""
}

// thinks reports whether a part is thinking, with or without readable text.
func (p *part) thinks() bool {
	return p.kind == says && (p.thought || p.text == "" && p.signature != "")
}

// misplaced reports whether the role of the content does not allow the part: only the model
// calls tools and thinks, and only others respond.
func (c *content) misplaced(p *part) bool {
	if c.role == roleModel {
		return p.kind == responds
	}
	return p.kind == calls || p.thinks()
}

// view returns a content as parts of a [transcript.Message].
func (c *content) view(data []byte) []transcript.Part {
	if len(c.parts) == 0 {
		return nil
	}
	parts := make([]transcript.Part, len(c.parts))
	for i := range c.parts {
		if p := &c.parts[i]; c.misplaced(p) {
			parts[i] = transcript.Opaque{Type: p.kind, Raw: p.Of(data)}
		} else {
			parts[i] = p.view(data)
		}
	}
	return parts
}

func (p *part) view(data []byte) transcript.Part {
	switch {
	case p.thinks():
		return transcript.Thinking{Text: p.text, Signature: p.signature, Redacted: p.text == ""}
	case p.kind == says:
		return transcript.Text(p.text)
	case p.kind == calls:
		return transcript.ToolCall{ID: p.pair, Name: p.name, Input: p.input.Of(data)}
	case p.kind == responds:
		said, failed := response(p.input.Of(data))
		return transcript.ToolResult{CallID: p.pair, Content: append(said, shown(p.media.Of(data))...), Error: failed}
	case p.kind == inline || p.kind == filed:
		return media(p.kind, p.value.Of(data), p.Of(data))
	}
	return transcript.Opaque{Type: p.kind, Raw: p.Of(data)}
}

// response returns the content of a response: the texts under its keys "output" and "error", or
// its whole JSON if it has neither. The result failed is true if the response has an error that
// Carrel did not write. Carrel writes the text of a replaced result under "error" itself, because
// clients replace a result only in this form.
func response(raw []byte) (parts []transcript.Part, failed bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	found := false
	r := rawjson.NewReader(raw)
	err := r.Object(func(key string) error {
		known := (key == "output" || key == "error") && r.Kind() != rawjson.Null
		found = found || known
		failed = failed || known && key == "error"
		if known && r.Kind() == rawjson.String {
			text, err := r.String()
			if text != "" {
				parts = append(parts, transcript.Text(text))
			}
			failed = failed && !strings.HasPrefix(text, transcript.Mark)
			return err
		}
		span, err := r.Skip()
		if known {
			parts = append(parts, transcript.Text(r.Of(span)))
		}
		return err
	})
	if err != nil || !found {
		return []transcript.Part{transcript.Text(raw)}, false
	}
	return parts, failed
}

// shown returns the media parts of a response, which readPart has already checked.
func shown(raw []byte) (parts []transcript.Part) {
	r := rawjson.NewReader(raw)
	if r.Kind() != rawjson.Array {
		return nil
	}
	err := r.Array(func(int) error {
		p, err := readPart(r)
		switch {
		case err != nil:
		case p.kind == says || p.kind == inline || p.kind == filed:
			parts = append(parts, p.view(raw))
		default:
			parts = append(parts, transcript.Opaque{Type: p.kind, Raw: p.Of(raw)})
		}
		return err
	})
	if err != nil { // for example a part with a key twice
		return []transcript.Part{transcript.Opaque{Type: "parts", Raw: raw}}
	}
	return parts
}

// media reads inline data or an address.
func media(kind string, value, raw []byte) transcript.Part {
	m := transcript.Media{Raw: raw}
	r := rawjson.NewReader(value)
	if r.Kind() != rawjson.Object {
		return transcript.Opaque{Type: kind, Raw: raw}
	}
	err := r.Object(func(key string) error {
		if r.Kind() != rawjson.String {
			_, err := r.Skip()
			return err
		}
		text, err := r.String()
		switch camel(key) {
		case "mimeType":
			m.MIME = text
		case "data":
			m.Data = text
		case "fileUri":
			m.URL = text
		}
		return err
	})
	m.Kind = "document"
	for _, known := range [...]string{"image", "audio"} {
		if strings.HasPrefix(m.MIME, known+"/") {
			m.Kind = known
		}
	}
	if err != nil || strings.HasPrefix(m.MIME, "video/") {
		return transcript.Opaque{Type: kind, Raw: raw}
	}
	return m
}
