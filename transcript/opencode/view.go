package opencode

import (
	"encoding/json"
	"slices"

	"github.com/carrel-dev/carrel/transcript"
)

// Texts that OpenCode sends in place of a cleared result, and for a compaction.
const (
	cleared = "[Old tool result content cleared]"
	asked   = "What did we do so far?"
	subtask = "The following tool was executed by the user"
)

// A view is a message of the conversation with its position in the document.
type view struct {
	transcript.Message

	at    int   // of the message in the document
	parts []int // indexes of the parts of that message in the view
}

// A viewer turns messages of a document into messages of a conversation.
type viewer struct {
	*document

	items []int // of each message
	whole bool  // read cleared results with their old text
}

// views turns the message with the index at in the document into messages of the conversation, of
// which there may be several or none.
func (v *viewer) views(at int) []view {
	m := &v.msgs[at]
	if m.role == "user" {
		return v.user(at, m)
	}
	if m.failed && (!m.aborted || !slices.ContainsFunc(m.parts, func(p part) bool { return p.kind != "step-start" && p.kind != "reasoning" })) {
		return nil // OpenCode does not send it
	}
	return v.reply(at, m)
}

// begin returns a new view whose first part is p.
func (v *viewer) begin(list []view, at int, role transcript.Role, p *part) view {
	id := v.msgs[at].id
	if len(list) > 0 {
		id += "/" + p.id
	}
	return view{Message: transcript.Message{ID: id, Role: role, Items: []int{v.items[at]}}, at: at}
}

// user reads a user's message. It returns a view for each run of parts that are all the person's or all
// OpenCode's additions.
func (v *viewer) user(at int, m *message) []view {
	var list []view
	added := false // the latest view holds OpenCode's additions
	for i := range m.parts {
		p := &m.parts[i]
		said := v.said(p)
		if said == nil {
			continue
		}
		if synthetic := p.flag("synthetic"); len(list) == 0 || synthetic != added {
			list = append(list, v.begin(list, at, transcript.RoleUser, p))
			added = synthetic
		}
		last := &list[len(list)-1]
		last.Parts, last.parts = append(last.Parts, said), append(last.parts, i)
	}
	return list
}

// said converts p, a part of a user's message, to the part that the model gets. It returns nil if
// the model gets nothing of it.
func (v *viewer) said(p *part) transcript.Part {
	switch p.kind {
	case "text":
		if text := p.text(v.Data, "text"); text != "" && !p.flag("ignored") {
			return transcript.Text(text)
		}
	case "file":
		if m, ok := p.media(v.Data, p.Span); ok {
			return m
		}
	case "compaction":
		return transcript.Text(asked)
	case "subtask":
		return transcript.Text(subtask)
	}
	return nil
}

// reply reads a reply: a view for each step, and one for the results of its calls. Parts of a
// step that OpenCode does not send to the model are included.
func (v *viewer) reply(at int, m *message) []view {
	var list []view
	var step, results view
	end := func() {
		if len(step.Parts) > 0 {
			list = append(list, step)
		}
		if len(results.Parts) > 0 {
			list = append(list, results)
		}
		step.Parts, results.Parts = nil, nil
	}
	for i := range m.parts {
		p := &m.parts[i]
		if i == 0 || p.kind == "step-start" {
			end()
			step = v.begin(list, at, transcript.RoleAssistant, p)
			step.Summary = m.summary
			results = view{Message: transcript.Message{Role: transcript.RoleTool, Items: step.Items}, at: at}
		}
		step.parts = append(step.parts, i)
		switch p.kind {
		case "text":
			if text := p.text(v.Data, "text"); text != "" {
				step.Parts = append(step.Parts, transcript.Text(text))
			}
		case "reasoning":
			step.Parts = append(step.Parts, v.thinking(p))
		case "tool":
			input := transcript.ToolCall{ID: p.text(v.Data, "callID"), Name: p.text(v.Data, "tool")}
			if in := p.state["input"]; in.kind != 0 {
				input.Input = json.RawMessage(in.Of(v.Data))
			}
			step.Parts = append(step.Parts, input)
			if r, ok := v.result(p); ok {
				results.Parts, results.parts = append(results.Parts, r), append(results.parts, i)
			}
		}
	}
	end()
	return list
}

// thinking reads reasoning, with Anthropic's signature or OpenAI's encrypted content.
func (v *viewer) thinking(p *part) transcript.Thinking {
	meta := p.in(v.Data, "metadata")
	t := transcript.Thinking{Text: p.text(v.Data, "text"), Signature: meta.in(v.Data, "anthropic").text(v.Data, "signature")}
	if t.Signature == "" {
		t.Signature = meta.in(v.Data, "openai").text(v.Data, "reasoningEncryptedContent")
	}
	if red := meta.in(v.Data, "anthropic").text(v.Data, "redactedData"); red != "" {
		t.Signature, t.Redacted = red, true
	}
	return t
}

// outcome returns the key of the result's text in the state of a call. If interrupted is true, the
// text is the value of "output" in the state's metadata. The key is "" if the call has not ended.
func (p *part) outcome(data []byte) (key string, interrupted bool) {
	switch p.state.text(data, "status") {
	case "completed":
		return "output", false
	case "error":
		meta := p.state.in(data, "metadata")
		return "error", meta.flag("interrupted") && meta["output"].kind == '"'
	}
	return "", false
}

// result returns the result of a call, if it has one.
func (v *viewer) result(p *part) (transcript.ToolResult, bool) {
	r := transcript.ToolResult{CallID: p.text(v.Data, "callID")}
	key, interrupted := p.outcome(v.Data)
	text := p.state.text(v.Data, key)
	switch {
	case key == "":
		return r, false
	case interrupted:
		r.Error, text = true, p.state.in(v.Data, "metadata").text(v.Data, "output")
	case key == "error":
		r.Error = true
	default:
		r.Passed = p.passed(v.Data)
		r.Error = !r.Passed
	}
	if p.pruned(v.Data) && !v.whole {
		r.Content = []transcript.Part{transcript.Text(cleared)}
		return r, true
	}
	r.Content = append([]transcript.Part{transcript.Text(text)}, p.attachments(v.Data)...)
	return r, true
}

// passed reports whether a completed call succeeded. OpenCode also gives the status completed
// to commands with an exit status other than 0, to commands that it stopped, and to calls of
// unknown tools; passed is false for these.
func (p *part) passed(data []byte) bool {
	exit, ran := p.state.in(data, "metadata")["exit"]
	return p.text(data, "tool") != "invalid" && (!ran || string(exit.Of(data)) == "0")
}

// pruned reports whether OpenCode has cleared the result of a call.
func (p *part) pruned(data []byte) bool {
	key, _ := p.outcome(data)
	return key == "output" && p.state.in(data, "time")["compacted"].kind == '0'
}

// sent looks at the messages before the index end, and returns the indexes of those that OpenCode
// sends. They are in the order in which it sends them: a compaction, its summary, the kept
// messages, the later messages.
func (d *document) sent(end int) []int {
	var back []int
	done := make(map[string]bool) // compactions that have a summary
	tail := ""
	for i := end - 1; i >= 0; i-- {
		m := &d.msgs[i]
		back = append(back, i)
		if tail != "" {
			if m.id == tail {
				break
			}
			continue
		}
		if c, ok := d.compaction(m); ok && m.role == "user" && done[m.id] {
			if tail = c; tail == "" || tail == m.id {
				break
			}
			continue
		}
		if m.summary {
			done[m.parent] = true
		}
	}
	slices.Reverse(back)
	return d.ordered(back)
}

// compaction returns the id of the first message that a compaction kept, and whether m is a
// compaction.
func (d *document) compaction(m *message) (tail string, ok bool) {
	for i := range m.parts {
		if p := &m.parts[i]; p.kind == "compaction" {
			return p.text(d.Data, "tail_start_id"), true
		}
	}
	return "", false
}

// ordered moves the newest compaction and its summary before the messages that it kept.
func (d *document) ordered(list []int) []int {
	for at, l := range slices.Backward(list) {
		m := &d.msgs[l]
		tail, _ := d.compaction(m)
		if m.role != "user" || tail == "" {
			continue
		}
		kept := slices.IndexFunc(list, func(i int) bool { return d.msgs[i].id == tail })
		summary := slices.IndexFunc(list, func(i int) bool { return d.msgs[i].summary && d.msgs[i].parent == m.id })
		if kept >= 0 && kept < at && summary > at {
			return slices.Concat(list[at:summary+1], list[kept:at], list[summary+1:])
		}
		break
	}
	return list
}

// windows divides the messages before the index end into windows and returns these, oldest first,
// each without the messages that the next window has. The last window is the conversation.
func (d *document) windows(end int) [][]int {
	done := make(map[string]bool)
	for i := range d.msgs[:end] {
		if m := &d.msgs[i]; m.summary {
			done[m.parent] = true
		}
	}
	ends := []int{end}
	for i := end - 1; i >= 0; i-- {
		if m := &d.msgs[i]; m.role == "user" && done[m.id] && m.has("compaction") {
			ends = append(ends, i)
		}
	}
	var list [][]int
	newer := make(map[int]bool)
	for _, end := range ends {
		kept := slices.DeleteFunc(d.sent(end), func(i int) bool { return newer[i] })
		for _, i := range kept {
			newer[i] = true
		}
		list = append(list, kept)
	}
	slices.Reverse(list)
	return list
}
