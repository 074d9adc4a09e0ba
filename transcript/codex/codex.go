package codex

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// Format is the format of session files of Codex.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "codex" }

// IsSessionID implements [transcript.Resumed]: ids are UUIDs in lower case, with which the
// agent ends its file names.
func (format) IsSessionID(id transcript.SessionID) bool { return text.IsUUID(string(id)) }

// kinds are the types of rows.
var kinds = []string{
	"session_meta", "turn_context", "world_state", "event_msg", "response_item", "token_usage_record", "compacted",
}

// Sniff implements [transcript.Format]: the first row that is not empty has a known type and
// a payload.
func (format) Sniff(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	line, _, _ := bytes.Cut(data, []byte("\n"))
	r := row{raw: line}
	return len(line) > 0 && line[0] == '{' && r.read() == nil && slices.Contains(kinds, r.kind) && r.payload.End > 0
}

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	in := read(data)
	if len(in.live()) == 0 {
		e := &transcript.SyntaxError{Name: name, Text: "the conversation has no items", Hint: "a session file of Codex has one JSON object on each line"}
		if len(in.warnings) > 0 {
			e.Line, e.Text = in.warnings[0].Line, e.Text+"; "+in.warnings[0].Text
		}
		return nil, e
	}
	s := &transcript.Session{ID: in.session(name), Format: f.Name(), Model: in.model, Project: in.cwd, Warnings: in.warnings}
	if in.base != "" && !in.based {
		s.Warnings = append(s.Warnings, transcript.Warning{Line: 1, Text: "what stands before is in the file of session " + in.base + ", which is not there"})
	}
	s.Items = make([]transcript.Item, len(in.rows))
	for i := range in.rows {
		r := &in.rows[i]
		s.Items[i] = transcript.Item{Raw: r.raw, Brings: r.brings, Mentions: r.mentions}
		if r.kind == "token_usage_record" || r.kind == "event_msg" {
			if u := in.usage(r); u != nil {
				s.Sent = u.prompt()
			}
		}
	}
	for i, items := range in.windows {
		msgs, err := messages(items)
		if err != nil {
			return nil, err
		}
		if i+1 < len(in.windows) {
			if msgs = without(msgs, items, in.replacement(i+1)); len(msgs) > 0 {
				s.Earlier = append(s.Earlier, msgs)
			}
			continue
		}
		if in.meta >= 0 {
			s.Messages = append(s.Messages, transcript.Message{Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text(in.said)}, Items: []int{in.meta}})
		}
		s.Messages = append(s.Messages, msgs...)
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		m.Summary = m.Role == transcript.RoleUser && in.summary != "" && slices.Contains(m.Items, in.last) && strings.Contains(m.Text(), in.summary)
	}
	s.Title = transcript.Title(s.Messages)
	return s, nil
}

// session returns the id of the session in a file. The id of a sub-agent's session begins
// with the id of the session that started it.
func (f *rollout) session(name string) transcript.SessionID {
	switch {
	case f.id == "":
		return transcript.SessionID(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	case f.root != "":
		return SubAgent(f.root, f.id)
	}
	return transcript.SessionID(f.id)
}

// SubAgent returns the id of a sub-agent's session: session is the Codex session that started
// the sub-agent, thread the id of the sub-agent's own thread.
func SubAgent(session, thread string) transcript.SessionID {
	return transcript.SessionID(session + "/agent-" + thread)
}

// SessionOf returns the session id in the name of a file, or "". A rewound thread continues
// in a new file, whose name has another id after that of the thread; SessionOf returns the
// thread's.
func SessionOf(path string) string {
	if m := fileName.Get().FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1]
	}
	return ""
}

var fileName = lazy.Regexp(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_[0-9a-f-]{36})?\.jsonl$`)

// messages returns the messages of items, each with its rows and with the first id that one
// of its items has.
func messages(items []item) ([]transcript.Message, error) {
	msgs, err := responses.Messages(raws(items))
	for i := range msgs {
		var rows []int
		for _, k := range msgs[i].Items {
			rows = append(rows, items[k].row)
			msgs[i].ID = cmp.Or(msgs[i].ID, items[k].id)
		}
		msgs[i].Items = slices.Compact(rows)
	}
	return msgs, err
}

// replacement returns the items with which window i began: those in the row of the compaction.
func (f *rollout) replacement(i int) []item {
	items := f.windows[i]
	if n := slices.IndexFunc(items, func(it item) bool { return f.rows[it.row].kind != "compacted" }); n >= 0 {
		items = items[:n]
	}
	return items
}

// without returns the messages of a window that its compaction did not keep. The list replacement
// has the items by which the compaction replaced the window's items. Each of them keeps one item,
// the last with the same bytes.
func without(msgs []transcript.Message, items, replacement []item) []transcript.Message {
	kept := make(map[string]int, len(replacement))
	for _, it := range replacement {
		kept[string(it.raw)]++
	}
	rows := make(map[int]bool) // rows with an item that the compaction did not keep
	for _, it := range slices.Backward(items) {
		if kept[string(it.raw)] > 0 {
			kept[string(it.raw)]--
		} else {
			rows[it.row] = true
		}
	}
	return slices.DeleteFunc(msgs, func(m transcript.Message) bool {
		return !slices.ContainsFunc(m.Items, func(row int) bool { return rows[row] })
	})
}

// Validate implements [transcript.Format]. It checks the conversation that the agent
// would send when it resumes, by the rules of package responses. A violation names the
// line of its item.
func (f format) Validate(data []byte) ([]transcript.Violation, error) {
	if _, err := f.Decode("", data); err != nil {
		return nil, err
	}
	items := read(data).live()
	found, err := responses.Format.Validate(responses.Body(raws(items)))
	for i := range found {
		if v := &found[i]; v.Message >= 0 {
			v.Field = fmt.Sprintf("line %d", items[v.Message].row+1)
		}
	}
	return found, err
}

// Piece returns the messages of rows, or nil if the rows cannot be read without others.
func (f format) Piece(items [][]byte) []transcript.Message {
	s, err := f.Decode("", bytes.Join(items, nil))
	if err != nil {
		return nil
	}
	return s.Messages
}
