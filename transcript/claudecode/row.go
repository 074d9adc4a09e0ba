package claudecode

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A row is a line that holds a JSON object.
type row struct {
	item      int
	kind      string // type
	uuid      string
	parent    string // parentUuid, or empty
	hidden    bool   // isMeta, or of a sub-agent or a team
	sidechain bool
	reply     string // message.id of an assistant's row, or empty
	block     int    // apiBlockIndex, or -1
	boundary  bool   // marks a compaction
	summary   bool   // the summary of a compaction
	before    string // logicalParentUuid: the row that a compaction followed, or empty
	queued    bool   // a message that the user wrote while the model was working
	operation string // of a row about the queue of such messages
	content   string // text of that operation
	parts     []transcript.Part
}

// chat reports whether r is a message of the user or the assistant.
func (r *row) chat() bool { return r.kind == "user" || r.kind == "assistant" }

// message returns the message of r. A user's row with tool results has the role tool.
func (r *row) message() transcript.Message {
	m := transcript.Message{
		ID: cmp.Or(r.reply, r.uuid), Role: transcript.Role(r.kind), Parts: r.parts,
		Summary: r.kind == "user" && r.summary, Items: []int{r.item},
	}
	if r.kind == "user" && len(r.answered()) > 0 {
		m.Role = transcript.RoleTool
	}
	return m
}

// callIDs returns the ids of the tool calls in a row.
func (r *row) callIDs() (ids []string) {
	for _, p := range r.parts {
		if c, ok := p.(transcript.ToolCall); ok {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// answered returns the ids of the calls that a row has results for.
func (r *row) answered() (ids []string) {
	for _, p := range r.parts {
		if res, ok := p.(transcript.ToolResult); ok {
			ids = append(ids, res.CallID)
		}
	}
	return ids
}

// A rowReader reads each row in one pass. The values it returns share memory with the row.
type rowReader struct {
	rawjson.Reader

	line []byte
}

func newRowReader() *rowReader {
	return &rowReader{Reader: rawjson.Reader{Shared: true, Twins: true}}
}

// row reads a line as the row of an item. It fails if text is not a JSON object.
func (d *rowReader) row(item int, text []byte) (row, error) {
	d.line = text
	d.Reset(text)
	r := row{item: item, block: -1, parts: []transcript.Part{transcript.Text("")}}
	var id string
	var attachment []byte
	err := d.Object(func(key string) (err error) {
		switch key {
		case "type":
			r.kind, err = d.text()
		case "uuid":
			r.uuid, err = d.text()
		case "parentUuid":
			r.parent, err = d.text()
		case "isSidechain":
			r.sidechain, err = d.bool()
			r.hidden = r.hidden || r.sidechain
		case "isMeta":
			var meta bool
			meta, err = d.bool()
			r.hidden = r.hidden || meta
		case "teamName":
			var team string
			team, err = d.text()
			r.hidden = r.hidden || team != ""
		case "subtype":
			var kind string
			kind, err = d.text()
			r.boundary = kind == "compact_boundary"
		case "isCompactSummary":
			r.summary, err = d.bool()
		case "logicalParentUuid":
			r.before, err = d.text()
		case "apiBlockIndex":
			var n string
			n, err = d.text()
			r.block = int(gjson.Parse(n).Int())
		case "message":
			id, r.parts, err = d.message()
		case "attachment":
			attachment, err = d.raw()
		case "operation":
			r.operation, err = d.text()
		case "content":
			r.content, err = d.text()
		default:
			_, err = d.Skip()
		}
		return err
	})
	if err == nil {
		err = d.End()
	}
	switch r.kind {
	case "attachment":
		r.attach(attachment)
	case "queue-operation":
	default:
		r.operation, r.content = "", ""
	}
	if r.kind == "assistant" {
		r.reply = id
	}
	return r, err
}

// text reads a value: the content of a string, "" for null, and the JSON of any other value.
func (d *rowReader) text() (string, error) {
	kind := d.Kind()
	if kind == rawjson.String {
		return d.String()
	}
	raw, err := d.raw()
	if kind == rawjson.Null {
		return "", err
	}
	return view(raw), err
}

// raw skips a value and returns its JSON.
func (d *rowReader) raw() ([]byte, error) {
	span, err := d.Skip()
	return span.Of(d.line), err
}

// bool reads a value and reports whether it is true, or a string
// that strconv.ParseBool takes for true.
func (d *rowReader) bool() (bool, error) {
	text, err := d.text()
	yes, _ := strconv.ParseBool(strings.ToLower(text))
	return yes, err
}

// message reads the message of a row: its id and its parts.
func (d *rowReader) message() (id string, parts []transcript.Part, err error) {
	parts = []transcript.Part{transcript.Text("")}
	if d.Kind() != rawjson.Object {
		_, err = d.Skip()
		return "", parts, err
	}
	err = d.Object(func(key string) (err error) {
		switch key {
		case "id":
			id, err = d.text()
		case "content":
			parts, err = d.content()
		default:
			_, err = d.Skip()
		}
		return err
	})
	return id, parts, err
}

// content reads the content of a message or of a tool result: a list of parts, or a text.
func (d *rowReader) content() (parts []transcript.Part, err error) {
	if d.Kind() != rawjson.Array {
		text, err := d.text()
		return []transcript.Part{transcript.Text(text)}, err
	}
	err = d.Array(func(int) error {
		p, err := d.part()
		parts = append(parts, p)
		return err
	})
	return parts, err
}

// part reads a part of a message.
func (d *rowReader) part() (transcript.Part, error) {
	if d.Kind() != rawjson.Object {
		raw, err := d.raw()
		return transcript.Opaque{Raw: raw}, err
	}
	var kind, id, name, call, text, thinking, signature, data string
	var input, source []byte
	var failed bool
	var content []transcript.Part
	from := d.Offset()
	err := d.Object(func(key string) (err error) {
		switch key {
		case "type":
			kind, err = d.text()
		case "text":
			text, err = d.text()
		case "thinking":
			thinking, err = d.text()
		case "signature":
			signature, err = d.text()
		case "data":
			data, err = d.text()
		case "id":
			id, err = d.text()
		case "name":
			name, err = d.text()
		case "input":
			input, err = d.raw()
		case "tool_use_id":
			call, err = d.text()
		case "is_error":
			failed, err = d.bool()
		case "content":
			content, err = d.content()
		case "source":
			source, err = d.raw()
		default:
			_, err = d.Skip()
		}
		return err
	})
	raw := json.RawMessage(d.line[from:d.Position():d.Position()])
	switch kind {
	case "text":
		return transcript.Text(text), err
	case "thinking":
		return transcript.Thinking{Text: thinking, Signature: signature}, err
	case "redacted_thinking":
		return transcript.Thinking{Signature: data, Redacted: true}, err
	case "tool_use":
		return transcript.ToolCall{ID: id, Name: name, Input: input}, err
	case "tool_result":
		return transcript.ToolResult{CallID: call, Error: failed, Content: content}, err
	case "image", "document":
		src := gjson.Parse(view(source))
		m := transcript.Media{
			Kind: kind, MIME: src.Get("media_type").String(), Data: src.Get("data").String(), URL: src.Get("url").String(), Raw: raw,
		}
		if src.Get("type").String() == "text" { // the data is plain text, not base64
			m.Data = ""
		}
		return m, err
	}
	return transcript.Opaque{Type: kind, Raw: raw}, err
}
