package geminicli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/gemini"
)

// Format is the format of chat files of Gemini CLI.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "geminicli" }

// IsSessionID implements [transcript.Resumed]: ids are UUIDs in lower case. The agent's file
// names have the beginning of the id.
func (format) IsSessionID(id transcript.SessionID) bool { return text.IsUUID(string(id)) }

// Sniff implements [transcript.Format]: the first object is about a session of a project. A
// read error only means that data is cut off. Short files without a message of a person,
// which the client leaves behind whenever it resumes a session, do not count.
func (format) Sniff(data []byte) bool {
	r := rawjson.NewReader(data)
	session, project := false, false
	_ = r.Object(func(key string) error {
		session = session || key == "sessionId"
		project = project || key == "projectHash"
		_, err := r.Skip()
		return err
	})
	return session && project && (len(data) > longestGreeting || !read(data).onlyContext())
}

// longestGreeting is the largest size in bytes of a file that holds only the client's own
// first message.
const longestGreeting = 64 << 10

// onlyContext reports whether a readable file has no message of a person or the model.
func (f *file) onlyContext() bool {
	return len(f.warnings) == 0 && !slices.ContainsFunc(f.records, func(r record) bool { return !r.context() })
}

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	in := read(data)
	now := in.contents(in.list)
	if !slices.ContainsFunc(now, func(c content) bool { return !in.records[c.record].context() }) {
		e := &transcript.SyntaxError{Name: name, Text: "nothing was said in this chat", Hint: "a chat file of Gemini CLI has one JSON object on each line"}
		if len(in.warnings) > 0 {
			e.Line, e.Text = in.warnings[0].Line, e.Text+"; "+in.warnings[0].Text
		}
		return nil, e
	}
	s := &transcript.Session{ID: transcript.SessionID(in.id), Format: f.Name(), Branches: in.branches}
	s.ID = cmp.Or(s.ID, transcript.SessionID(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))))
	s.Items = make([]transcript.Item, len(in.items))
	for i, raw := range in.items {
		s.Items[i].Raw = raw
	}
	var err error
	if s.Messages, err = in.messages(now); err != nil {
		return nil, err
	}
	if s.Earlier, err = in.earlier(s.Messages); err != nil {
		return nil, err
	}
	in.describe(s)
	s.Warnings = in.warnings
	return s, nil
}

// context reports whether a record is the client's own first message of a session.
func (r *record) context() bool {
	parts := partsOf(r.content.Of(r.raw))
	return r.kind == "user" && len(parts) > 0 && strings.HasPrefix(string(parts[0].raw), `{"text":"<session_context>`)
}

// earlier returns, for each replaced list, the messages that no later list has. A later list may
// begin with messages under other ids. Each of these stands for one message with its content, the
// last one that is not known by its id.
func (f *file) earlier(now []transcript.Message) ([][]transcript.Message, error) {
	later, given := make(map[string]bool), make(map[string]bool) // ids in later lists, and those with which these begin
	most := make(map[string]int)                                 // by content: how many messages a later list begins with
	var windows [][]transcript.Message
	for _, past := range slices.Backward(f.past) {
		count := make(map[string]int)
		for i := range now {
			m := &now[i]
			later[m.ID] = true
			if m.Items[0] < past.from {
				key := keyOf(m)
				count[key]++
				given[m.ID], most[key] = true, max(most[key], count[key])
			}
		}
		var err error
		if now, err = f.messages(f.contents(past.list)); err != nil {
			return nil, err
		}
		used := make(map[string]int)
		for i := range now {
			if given[now[i].ID] {
				used[keyOf(&now[i])]++
			}
		}
		var left []transcript.Message
		for i := range slices.Backward(now) {
			key := keyOf(&now[i])
			switch {
			case later[now[i].ID]:
			case used[key] < most[key]:
				used[key]++
			default:
				left = append(left, now[i])
			}
		}
		if len(left) > 0 {
			slices.Reverse(left)
			windows = append(windows, left)
		}
	}
	slices.Reverse(windows)
	return windows, nil
}

// keyOf returns the content of a message as a key, to find the message under another id.
func keyOf(m *transcript.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "says %s %s", m.Role, m.Text())
	for _, c := range m.Calls() {
		fmt.Fprintf(&b, "\x00calls %s", bare(c.ID, c.Name))
	}
	for _, r := range m.Results() {
		b.WriteString("\x00answers " + r.CallID[strings.LastIndex(r.CallID, "__")+1:])
	}
	return b.String()
}

// bare returns the id of a call without the tool name that the client puts before the id.
func bare(id, name string) string { return strings.TrimPrefix(id, name+"__") }

// describe sets the id, title, times and other fields of a session.
func (f *file) describe(s *transcript.Session) {
	s.Title = cmp.Or(text.Short(text.FirstLine(f.summary), 80), transcript.Title(s.Messages))
	if len(f.dirs) > 0 {
		s.Project = f.dirs[0]
	}
	for _, i := range f.list {
		r := &f.records[i]
		if _, dir, ok := strings.Cut(f.said(r), "**Workspace Directories:**\n  - "); ok && s.Project == "" && r.context() {
			s.Project, _, _ = strings.Cut(dir, "\n")
		}
		if u := r.usage(); r.kind == "gemini" && u.prompt() > 0 {
			s.Model, s.Sent = cmp.Or(r.model, s.Model), u.prompt()
		}
	}
}

// said returns the first text of a record.
func (f *file) said(r *record) string {
	if parts := partsOf(r.content.Of(r.raw)); len(parts) > 0 {
		if msgs, err := gemini.Messages([][]byte{contentOf("user", [][]byte{parts[0].raw})}); err == nil {
			return msgs[0].Text()
		}
	}
	return ""
}

// Validate implements [transcript.Format]. It checks the conversation that the agent would
// send, by the rules of package gemini. A violation names the line of its message.
func (f format) Validate(data []byte) ([]transcript.Violation, error) {
	if _, err := f.Decode("", data); err != nil {
		return nil, err
	}
	in := read(data)
	now := in.contents(in.list)
	found, err := gemini.Format.Validate(gemini.Body(raws(now)))
	for i := range found {
		if v := &found[i]; v.Message >= 0 {
			v.Field = "line " + strconv.Itoa(in.lines[in.records[now[v.Message].record].item])
		}
	}
	return found, err
}

// Piece returns the messages in items, or nil if they cannot be read without other items.
func (f format) Piece(items [][]byte) []transcript.Message {
	in := &file{at: make(map[string]int)}
	for _, raw := range items {
		o, err := readObject(body(raw))
		if err != nil || !o.identified {
			return nil
		}
		o.item = in.item(raw, 1)
		in.put(o.record)
	}
	msgs, err := in.messages(in.contents(in.list))
	if err != nil {
		return nil
	}
	return msgs
}
