package opencode

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is the format of sessions that OpenCode exports.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "opencode" }

// IsSessionID implements [transcript.Resumed]: an id is ses_ followed by letters and digits.
func (format) IsSessionID(id transcript.SessionID) bool {
	rest, ok := strings.CutPrefix(string(id), "ses_")
	return ok && len(rest) >= 8 && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// Sniff implements [transcript.Format]: data is one object whose info has the id of an
// OpenCode session.
func (format) Sniff(data []byte) bool {
	r := rawjson.NewReader(data)
	found := false
	err := r.Object(func(key string) error {
		if key != "info" || r.Kind() != rawjson.Object {
			_, err := r.Skip()
			return err
		}
		return r.Object(func(key string) (err error) {
			if key == "id" && r.Kind() == rawjson.String {
				id, err := r.String()
				found = strings.HasPrefix(id, "ses")
				return err
			}
			_, err = r.Skip()
			return err
		})
	})
	return found && (err != nil || r.End() == nil)
}

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	d, err := read(name, data)
	if err != nil {
		return nil, err
	}
	s := &transcript.Session{
		ID: transcript.SessionID(d.info.text(data, "id")), Format: f.Name(), Project: d.info.text(data, "directory"),
		Title: d.info.text(data, "title"), Model: d.info.in(data, "model").text(data, "id"),
	}
	s.ID = cmp.Or(s.ID, transcript.SessionID(cmp.Or(strings.TrimSuffix(path.Base(name), path.Ext(name)), "session")))
	v := &viewer{document: d}
	s.Items, v.items = d.Cut(d.Messages)
	live, earlier, end := v.conversation()
	for _, x := range live {
		s.Messages = append(s.Messages, x.Message)
	}
	for _, window := range earlier {
		msgs := make([]transcript.Message, len(window))
		for i := range window {
			msgs[i] = window[i].Message
		}
		s.Earlier = append(s.Earlier, msgs)
	}
	if end < len(d.msgs) {
		b := transcript.Branch{Kind: transcript.BranchFork, Root: d.msgs[end].id, Leaf: d.msgs[len(d.msgs)-1].id, Messages: len(d.msgs) - end}
		if end > 0 {
			b.Parent = d.msgs[end-1].id
		}
		s.Branches = append(s.Branches, b)
	}
	f.answered(s, d, live)
	if s.Title == "" {
		s.Title = transcript.Title(s.Messages)
	}
	for at := range d.msgs {
		if id := d.msgs[at].id; id == "" {
			s.Warnings = append(s.Warnings, transcript.Warning{Line: transcript.LineOf(data, d.Messages[at].Start), Text: fmt.Sprintf("message %d has no id", at)})
		}
	}
	return s, nil
}

// answered sets the model of the last reply in the conversation, and the tokens of its prompt.
func (format) answered(s *transcript.Session, d *document, live []view) {
	named := false
	for _, x := range slices.Backward(live) {
		m := &d.msgs[x.at]
		if m.role != "assistant" {
			continue
		}
		r := reading(d.Data, m.info)
		if model := m.info.text(d.Data, "modelID"); model != "" && !named {
			s.Model, named = model, true
		}
		if !m.summary && promptOf(r) > 0 {
			s.Sent = promptOf(r)
			return
		}
	}
}

// conversation returns the messages of the conversation, those of each earlier window, and
// the number of messages in the document before a revert.
func (v *viewer) conversation() (live []view, earlier [][]view, end int) {
	end = len(v.msgs)
	if id := v.info.in(v.Data, "revert").text(v.Data, "messageID"); id != "" {
		if at := slices.IndexFunc(v.msgs, func(m message) bool { return m.id == id }); at >= 0 {
			end = at
		}
	}
	windows := v.windows(end)
	last := len(windows) - 1
	whole := viewer{document: v.document, items: v.items, whole: true}
	for _, window := range windows[:last] {
		var list []view
		for _, at := range window {
			list = append(list, whole.views(at)...)
		}
		if len(list) > 0 {
			earlier = append(earlier, list)
		}
	}
	var before []view // calls with the results that OpenCode cleared later
	for _, at := range windows[last] {
		live = append(live, v.views(at)...)
		before = append(before, whole.pruned(at)...)
	}
	if len(before) > 0 {
		earlier = append(earlier, before)
	}
	return live, earlier, end
}

// pruned returns the calls of a message whose results OpenCode cleared, with the old results.
func (v *viewer) pruned(at int) []view {
	m := &v.msgs[at]
	var call, result view
	for i := range m.parts {
		p := &m.parts[i]
		if p.kind != "tool" || !p.pruned(v.Data) {
			continue
		}
		one := v.reply(at, &message{id: m.id, role: m.role, parts: m.parts[i : i+1]})
		call.Parts = append(call.Parts, one[0].Parts...)
		result.Parts = append(result.Parts, one[1].Parts...)
	}
	if len(call.Parts) == 0 {
		return nil
	}
	call.ID, call.Role, call.Items = m.id+"/cleared", transcript.RoleAssistant, []int{v.items[at]}
	result.Role, result.Items = transcript.RoleTool, call.Items
	return []view{call, result}
}
