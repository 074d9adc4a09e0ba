// Package claudecode reads, writes and validates the session files of Claude
// Code: JSON objects, one a line, that form a tree.
//
// The format is internal to its vendor and changes without notice. A row that is not understood is
// therefore kept and never refused, and a line that is not JSON is kept with a warning: a torn last
// line is normal while the agent is running.
//
// # What is visible
//
// Rows with a uuid form a tree by parentUuid. The conversation is the path from the root to the
// leaf at which the agent would resume. To find the leaf, Decode goes up from each row without
// children to the nearest user or assistant row that is neither a sub-agent's nor a note of the
// program, and takes the last of these rows in the file. Rows marked isMeta, isSidechain or with a
// team are not part of the conversation, unless the file has no others; summaries of a compaction
// are. An assistant reply is spread over one row per block, and rows with the same message.id are
// joined.
//
// Replies with several tool calls fork the tree: each result is the child of its own call, so the
// path holds only one of the results. All rows of a reply on the path, and all results of its
// calls, belong to the conversation even where the path does not pass through them.
//
// A message that the user wrote while the model was working stands behind the result with which the
// model got it. The file has it as an attachment of type queued_command or, up to version 2.1.50,
// only as an operation on the queue: such a message gets a row of its own when it is written.
//
// # Earlier windows
//
// A compaction begins a new tree: a row that marks the compaction, then the summary.
// The conversation before the compaction is an earlier window: the path that ends at
// the row that the mark names or, if the mark names none, at the last message before
// the mark. A file has one earlier window for each compaction on its path.
//
// The agent may keep messages over a compaction. The mark lists the rows of kept messages, which
// then follow the summary. A kept message is in the newest window that keeps it, and in no other.
//
// All other messages are listed as branches: rewound messages, and messages of sub-agents.
//
// # What is written
//
// An intact session is written as it was read. Any other becomes a new session: new uuids in one
// chain, a row for each block of a reply, and the session id Window.As or, without one, a hash of
// what is written, so the same window always gives the same file. Every other byte of a row stays.
// Sessions of other formats lose system text and, unless they are of package anthropic, thinking
// and blocks that only their provider understands. Arguments that are no object become {"_raw": …}.
//
// # What is checked
//
// Validate checks the conversation that the agent would send when it resumes:
//
//	X1   each call has exactly one result, directly behind it
//	X7   the first message is a user's, and no message has empty text alone
//	A6   calls and results of server tools stand in one reply
//	A16  no tool call id twice
//
// Calls of the last reply are pending and no violation. Format is a [transcript.Resumed], a
// [transcript.Metered] and a [transcript.Logged].
package claudecode

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of Claude Code's session files.
var Format transcript.Format = format{}

type format struct {
	unqueued bool // messages that the user wrote while the model was working are no messages
	noted    bool // a note of the program may end the conversation
	apart    bool // do not move messages kept over a compaction behind its summary
}

// Older returns the format as older versions read it, the newest version first. In all of them,
// messages from the queue are no messages. In the second and third, the conversation ends elsewhere
// if the last row is a note of the program. In the third, messages that the agent kept over a
// compaction stand before the summary. A session that was stored like this stays so until it is
// imported again.
func (format) Older() []transcript.Format {
	return []transcript.Format{
		format{unqueued: true}, format{unqueued: true, noted: true}, format{unqueued: true, noted: true, apart: true},
	}
}

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

// view returns raw as a string that shares its memory. Nothing changes the input of a
// decoder afterwards, and copying each line would double the memory of a long session.
func view(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	s := &transcript.Session{Format: f.Name()}
	rows := f.split(s, data)
	t := grow(rows)
	leaf := t.leaf(f.noted)
	if leaf < 0 {
		text := "no row has a uuid and a message"
		if len(s.Warnings) > 0 {
			text = fmt.Sprintf("%s; line %d: %s", text, s.Warnings[0].Line, strings.TrimSuffix(s.Warnings[0].Text, " (kept, not read)"))
		}
		return nil, &transcript.SyntaxError{Name: name, Text: text, Hint: "a session file of Claude Code has one JSON object on each line"}
	}
	shown := make([]bool, len(rows))
	for i, w := range t.windows(leaf, s, f.apart) {
		for _, r := range w.rows {
			shown[r] = true
		}
		msgs := t.messages(w)
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

// split adds each line of data to s as an item and returns the rows in these lines.
func (f format) split(s *transcript.Session, data []byte) []row {
	var rows []row
	reader := newRowReader()
	seen := make(map[string]bool)
	q := queue{seen: seen}
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
		r, err := reader.row(item, text)
		if err != nil {
			what := "not a JSON object"
			if torn {
				what = "torn last line"
			}
			s.Warnings = append(s.Warnings, transcript.Warning{Line: line, Text: what + " (kept, not read)"})
			continue
		}
		if r.uuid == "" {
			if r.kind == "api-request" {
				s.Logged++
			}
			if r.kind == "summary" && s.Title == "" {
				s.Title = gjson.Get(view(text), "summary").String()
			}
			if r.kind == "queue-operation" && !f.unqueued {
				if m, ok := q.apply(r, text, lastMessage(rows)); ok {
					seen[m.uuid] = true
					rows = append(rows, m)
				}
			}
			continue
		}
		if r.queued && f.unqueued {
			r.kind, r.queued = "attachment", false
		}
		s.Items[item].Brings, s.Items[item].Mentions = names(&r, text)
		if seen[r.uuid] {
			s.Warnings = append(s.Warnings, transcript.Warning{Line: line, Text: "uuid " + r.uuid + " was used before (kept, not read)"})
			continue
		}
		seen[r.uuid] = true
		rows = append(rows, r)
	}
	return once(rows)
}

// messages joins the rows of a window to messages: all rows of a reply become one message,
// each result follows the reply with its call, and the rest is in the order of the window.
func (t *tree) messages(w window) []transcript.Message {
	var msgs []transcript.Message
	var results [][]transcript.Message // by index in msgs: results that follow that message
	reply := make(map[string]int)      // message id → index in msgs
	owner := make(map[string]int)      // call id → index in msgs
	for _, i := range t.order(w) {
		r := &t.rows[i]
		m := r.message()
		at, joins := reply[r.reply]
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
			if r.reply != "" {
				reply[r.reply] = at
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

// describe sets the id, title, project and other fields of the session as a whole.
func (t *tree) describe(s *transcript.Session, name string, leaf int) {
	last := s.Items[t.rows[leaf].item].Raw
	s.ID = transcript.SessionID(gjson.Get(view(last), "sessionId").String())
	s.ID = cmp.Or(s.ID, transcript.SessionID(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))))
	if agent := gjson.Get(view(last), "agentId").String(); t.rows[leaf].sidechain && agent != "" {
		s.ID += transcript.SessionID("/agent-" + agent) // the file of a sub-agent
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
			s.Title = transcript.Title(msgs)
		}
	}
}
