// Package claudecode reads and writes the session files of Claude Code: JSON
// objects, one a line, that form a tree.
//
// The format is internal to its vendor and changes without notice. A row that
// is not understood is therefore kept and never refused, and a line that is
// not JSON is kept with a warning: a torn last line is normal while the agent
// is running.
//
// # What is visible
//
// Rows with a uuid form a tree by parentUuid. The conversation is the path
// from the root to the leaf that the agent would resume: of all terminal rows'
// nearest user or assistant ancestors, the last in the file that is neither a
// sub-agent's nor a note of the program's. Rows marked isMeta, isSidechain or
// with a team are not part of it; summaries of a compaction are. One assistant
// reply is spread over a row for each block, and rows with the same message.id
// are joined.
//
// Replies with several tool calls fork the tree: each result is the child of
// its own call, so the path holds only one of them. Rows of a reply on the
// path and results of its calls belong to the conversation even where the path
// does not pass through them.
//
// # Earlier windows
//
// A compaction begins a tree of its own: a row that marks it, then the summary. What
// the conversation was before that is an earlier window: the path that ends at the row
// that the mark names or, if it names none, at the last words before it. A file has as
// many earlier windows as it has compactions on its way.
//
// The agent may keep messages over a compaction. The mark lists their rows, which then
// stand behind the summary. They are in the newest window that has them, and in no
// other.
//
// What is left is listed as branches: what was rewound, and what sub-agents did.
//
// # What is written
//
// An intact session is written as it was read. A changed one becomes a new
// session: new uuids in one chain, its own session id, a row for each block of
// a reply. Every other byte of a row stays. Ids are hashes of what is written,
// so the same window always gives the same file.
package claudecode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of Claude Code's session files.
var Format transcript.Format = format{}

type format struct {
	apart bool // messages that were kept over a compaction stay before it
}

// Apart returns the format as it was read before messages that the agent kept over a
// compaction were put behind the summary. Sessions that were stored then are so until
// they are imported again.
func (format) Apart() transcript.Format { return format{apart: true} }

// Name implements [transcript.Format].
func (format) Name() string { return "claudecode" }

// Sniff implements [transcript.Format]: one of the first rows has a type and
// either a uuid, a sessionId or a leafUuid.
func (format) Sniff(data []byte) bool {
	for range 20 {
		line, rest, more := bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			if line[0] != '{' {
				return false
			}
			if gjson.Get(view(line), "type").Type == gjson.String {
				for _, key := range [...]string{"uuid", "sessionId", "leafUuid", "snapshot"} {
					if gjson.Get(view(line), key).Exists() {
						return true
					}
				}
			}
		}
		if !more {
			return false
		}
		data = rest
	}
	return false
}

// view returns raw as a string that shares its memory. The input of a decoder
// is not changed afterwards, and a copy of each line would double what a long
// session takes.
func view(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

// A row is a line that is an object.
type row struct {
	item      int
	kind      string // type
	uuid      string
	parent    string // parentUuid, or empty
	hidden    bool   // meta, sub-agent's or a team's
	sidechain bool
	message   string // message.id of a reply, or empty
	block     int    // apiBlockIndex, or -1
	boundary  bool   // marks a compaction
	summary   bool   // is what a compaction left
	before    string // logicalParentUuid: the row that a compaction followed, or empty
}

// chat reports whether r is somebody's words.
func (r *row) chat() bool { return r.kind == "user" || r.kind == "assistant" }

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	s := &transcript.Session{Format: f.Name()}
	rows := split(s, data)
	t := grow(rows)
	leaf := t.leaf()
	if leaf < 0 {
		text := "no row has a uuid and somebody's words"
		if len(s.Warnings) > 0 {
			text = fmt.Sprintf("%s; line %d: %s", text, s.Warnings[0].Line, s.Warnings[0].Text)
		}
		return nil, &transcript.SyntaxError{Name: name, Text: text, Hint: "a session file of Claude Code has one JSON object on each line"}
	}
	shown := make([]bool, len(rows))
	for i, w := range t.windows(leaf, s, f.apart) {
		for _, r := range w.rows {
			shown[r] = true
		}
		msgs := t.messages(w, s)
		switch {
		case i == 0:
			s.Messages = msgs
		case len(msgs) > 0:
			s.Earlier = append(s.Earlier, msgs)
		}
	}
	slices.Reverse(s.Earlier)
	if len(s.Messages) == 0 {
		return nil, &transcript.SyntaxError{Name: name, Text: "the conversation has no messages"}
	}
	s.Branches = t.branches(shown)
	t.describe(s, name, leaf)
	return s, nil
}

// split cuts data into lines, and reads the rows among them.
func split(s *transcript.Session, data []byte) []row {
	var rows []row
	seen := make(map[string]bool)
	for line := 1; len(data) > 0; line++ {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			end = len(data)
		}
		raw := data[:end:end]
		torn := raw[len(raw)-1] != '\n'
		data = data[end:]
		item := len(s.Items)
		s.Items = append(s.Items, transcript.Item{Raw: raw})
		text := bytes.TrimSpace(raw)
		if len(text) == 0 {
			continue
		}
		if text[0] != '{' || !gjson.ValidBytes(text) {
			what := "not a JSON object"
			if torn && len(data) == 0 {
				what = "torn last line"
			}
			s.Warnings = append(s.Warnings, transcript.Warning{Line: line, Text: what + " (kept, not read)"})
			continue
		}
		r := readRow(item, text)
		if r.uuid == "" {
			if r.kind == "summary" && s.Title == "" {
				s.Title = gjson.Get(view(text), "summary").String()
			}
			continue
		}
		if seen[r.uuid] {
			s.Warnings = append(s.Warnings, transcript.Warning{Line: line, Text: "uuid " + r.uuid + " was used before (kept, not read)"})
			continue
		}
		seen[r.uuid] = true
		rows = append(rows, r)
	}
	return rows
}

func readRow(item int, text []byte) row {
	r := row{item: item, block: -1}
	gjson.Parse(view(text)).ForEach(func(key, value gjson.Result) bool {
		switch key.String() {
		case "type":
			r.kind = value.String()
		case "uuid":
			r.uuid = value.String()
		case "parentUuid":
			r.parent = value.String()
		case "isSidechain":
			r.sidechain = value.Bool()
			r.hidden = r.hidden || value.Bool()
		case "isMeta":
			r.hidden = r.hidden || value.Bool()
		case "teamName":
			r.hidden = r.hidden || value.String() != ""
		case "subtype":
			r.boundary = value.String() == "compact_boundary"
		case "isCompactSummary":
			r.summary = value.Bool()
		case "logicalParentUuid":
			r.before = value.String()
		case "apiBlockIndex":
			r.block = int(value.Int())
		case "message":
			r.message = value.Get("id").String()
		}
		return true
	})
	if r.kind != "assistant" {
		r.message = ""
	}
	return r
}

// callIDs returns the ids of the tool calls in a row.
func callIDs(raw []byte) []string { return ids(raw, "tool_use", "id") }

// answered returns the ids of the calls that a row has results for.
func answered(raw []byte) []string { return ids(raw, "tool_result", "tool_use_id") }

func ids(raw []byte, kind, key string) []string {
	if !bytes.Contains(raw, []byte(kind)) {
		return nil
	}
	var found []string
	gjson.Get(view(raw), "message.content").ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").String() == kind {
			found = append(found, part.Get(key).String())
		}
		return true
	})
	return found
}

// messages joins the rows of a window to messages: rows of one reply to one, each
// result behind the reply that called it, and otherwise in the order of the window.
func (t *tree) messages(w window, s *transcript.Session) []transcript.Message {
	var msgs []transcript.Message
	var results [][]transcript.Message // behind each of msgs
	reply := make(map[string]int)      // message id → index in msgs
	owner := make(map[string]int)      // call id → index in msgs
	for _, i := range t.order(w) {
		r := &t.rows[i]
		m := readMessage(s.Items[r.item].Raw, r)
		m.Items = []int{r.item}
		at, joins := reply[r.message]
		switch {
		case joins:
			msgs[at].Parts = append(msgs[at].Parts, m.Parts...)
			msgs[at].Items = append(msgs[at].Items, r.item)
		case m.Role == transcript.RoleTool && len(msgs) > 0:
			at = len(msgs) - 1
			if o, ok := owner[m.Results()[0].CallID]; ok {
				at = o
			}
			results[at] = append(results[at], m)
			continue
		default:
			at = len(msgs)
			msgs, results = append(msgs, m), append(results, nil)
			if r.message != "" {
				reply[r.message] = at
			}
		}
		for _, c := range m.Calls() {
			owner[c.ID] = at
		}
	}
	out := make([]transcript.Message, 0, len(w.rows))
	for i := range msgs {
		out = append(append(out, msgs[i]), results[i]...)
	}
	return out
}

// describe fills in what is known of the session as a whole.
func (t *tree) describe(s *transcript.Session, name string, leaf int) {
	last := s.Items[t.rows[leaf].item].Raw
	s.ID = transcript.SessionID(gjson.Get(view(last), "sessionId").String())
	if s.ID == "" {
		s.ID = transcript.SessionID(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	}
	if agent := gjson.Get(view(last), "agentId").String(); t.rows[leaf].sidechain && agent != "" {
		s.ID += transcript.SessionID("/agent-" + agent) // a sub-agent's own file
	}
	s.Project = gjson.Get(view(last), "cwd").String()
	s.Sent = t.sent(s)
	for i := len(t.rows) - 1; i >= 0 && s.Model == ""; i-- {
		if r := &t.rows[i]; r.kind == "assistant" && !r.hidden {
			if m := gjson.Get(view(s.Items[r.item].Raw), "message.model").String(); m != "<synthetic>" {
				s.Model = m
			}
		}
	}
	for _, msgs := range append(slices.Clone(s.Earlier), s.Messages) {
		if s.Title == "" {
			s.Title = title(msgs)
		}
	}
}

// title returns the first line of the first words that a person wrote.
func title(msgs []transcript.Message) string {
	for i := range msgs {
		if m := &msgs[i]; m.Role == transcript.RoleUser && !m.Summary {
			if line := text.FirstLine(transcript.Words(m.Text())); line != "" {
				return text.Short(line, 80)
			}
		}
	}
	return ""
}

// readMessage reads what a row says. The role of a user's row that has tool
// results is tool.
func readMessage(raw []byte, r *row) transcript.Message {
	msg := gjson.Get(view(raw), "message")
	m := transcript.Message{ID: cmp.Or(r.message, r.uuid), Role: transcript.Role(r.kind), Summary: r.kind == "user" && r.summary}
	content := msg.Get("content")
	if !content.IsArray() {
		m.Parts = []transcript.Part{transcript.Text(content.String())}
		return m
	}
	content.ForEach(func(_, part gjson.Result) bool {
		p := readPart(part)
		if _, ok := p.(transcript.ToolResult); ok && r.kind == "user" {
			m.Role = transcript.RoleTool
		}
		m.Parts = append(m.Parts, p)
		return true
	})
	return m
}

func readPart(part gjson.Result) transcript.Part {
	switch kind := part.Get("type").String(); kind {
	case "text":
		return transcript.Text(part.Get("text").String())
	case "thinking":
		return transcript.Thinking{Text: part.Get("thinking").String(), Signature: part.Get("signature").String()}
	case "redacted_thinking":
		return transcript.Thinking{Signature: part.Get("data").String(), Redacted: true}
	case "tool_use":
		return transcript.ToolCall{
			ID:    part.Get("id").String(),
			Name:  part.Get("name").String(),
			Input: json.RawMessage(part.Get("input").Raw),
		}
	case "tool_result":
		res := transcript.ToolResult{CallID: part.Get("tool_use_id").String(), Error: part.Get("is_error").Bool()}
		if content := part.Get("content"); content.IsArray() {
			content.ForEach(func(_, p gjson.Result) bool {
				res.Content = append(res.Content, readPart(p))
				return true
			})
		} else if content.Exists() {
			res.Content = []transcript.Part{transcript.Text(content.String())}
		}
		return res
	case "image", "document":
		src := part.Get("source")
		return transcript.Media{
			Kind: kind,
			MIME: src.Get("media_type").String(),
			Data: src.Get("data").String(),
			URL:  src.Get("url").String(),
			Raw:  json.RawMessage(part.Raw),
		}
	default:
		return transcript.Opaque{Type: kind, Raw: json.RawMessage(part.Raw)}
	}
}
