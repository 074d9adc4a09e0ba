package anthropic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// The limits of rule A14.
const (
	maxMessages = 100_000
	maxBytes    = 32 << 20
)

// maxMarks is the largest number of cache marks that the provider accepts in a request.
const maxMarks = 4

// Validate implements [transcript.Format].
func (format) Validate(data []byte) ([]transcript.Violation, error) {
	b, err := parse("", data)
	if err != nil {
		return nil, err
	}
	c := checker{body: b, called: make(map[string]bool)}
	c.request()
	for i := range b.messages {
		c.message(i)
	}
	if c.reply < len(b.messages)-1 { // else its calls are pending
		c.settle()
	}
	if n := len(b.messages); n > 0 && !b.messages[n-1].paused() {
		c.settleServed()
	}
	c.cacheMarks()
	slices.SortStableFunc(c.Found, func(a, b transcript.Violation) int { return cmp.Compare(a.Message, b.Message) })
	return c.Found, nil
}

// A checker collects violations.
type checker struct {
	chat.Violations

	body   *body
	called map[string]bool  // call ids seen so far
	reply  int              // index of the latest reply
	open   map[string]int   // calls of that reply without a result: id to index of the block
	served map[string]place // calls of server tools without a result, by id
	notes  rawjson.Span     // range of the latest consecutive system messages
}

// A place is the position of a block.
type place struct{ message, block int }

// reportBlock reports a violation by one block of a message.
func (c *checker) reportBlock(rule string, message, block int, format string, args ...any) {
	c.Report(rule, message, format, args...)
	c.Found[len(c.Found)-1].Field += fmt.Sprintf(".content.%d", block)
}

// request checks the rules about the request as a whole.
func (c *checker) request() {
	b := c.body
	if n := len(b.messages); n > maxMessages {
		c.Report("A14", -1, "%d messages are more than %d", n, maxMessages)
	}
	if n := len(b.Data); n > maxBytes {
		c.Report("A14", -1, "%d bytes are more than %d", n, maxBytes)
	}
	for _, k := range b.system.blocks {
		if k.kind == "text" && k.text == "" {
			c.Report("A10", -1, "a system text is empty")
		}
	}
	if len(b.messages) == 0 {
		c.Report("A0", -1, "there are no messages")
		return
	}
	if role := b.messages[0].role; role != "user" {
		c.Report("A1", 0, "the first message is of role %s, not user", role)
	}
	v, ok := versionOf(b.Model)
	if !ok {
		return
	}
	last := len(b.messages) - 1
	if m := &b.messages[last]; v.from(4, 6) && m.role == "assistant" && !m.waits() {
		c.Report("A12", last, "%s does not continue a reply that was begun", b.Model)
	}
	for _, p := range b.params {
		if v.from(4, 7) {
			c.Report("A13", -1, "%s does not take %s", b.Model, p)
		}
	}
	if b.budget && !v.from(4, 7) {
		c.thinkingFirst()
	}
}

// waits reports whether a reply waits for results of the client's or the provider's tools.
func (m *message) waits() bool {
	return slices.ContainsFunc(m.blocks, func(k block) bool { return k.kind == "tool_use" || isServerTool(k.kind) })
}

// isServerTool reports whether blocks of this kind are calls or results of tools that the provider
// runs.
func isServerTool(kind string) bool {
	return kind == "server_tool_use" || kind == "mcp_tool_use" || kind != "tool_result" && strings.HasSuffix(kind, "_tool_result")
}

// calls reports whether a message has a call of the client's tools.
func (m *message) calls() bool {
	return slices.ContainsFunc(m.blocks, func(k block) bool { return k.kind == "tool_use" })
}

// paused reports whether a reply ends in a call of a server tool. The client sends such a
// reply again to continue it.
func (m *message) paused() bool {
	n := len(m.blocks)
	return m.role == "assistant" && n > 0 && m.blocks[n-1].kind != "tool_use" && strings.HasSuffix(m.blocks[n-1].kind, "_tool_use")
}

// thinkingFirst checks that an unfinished turn at the end begins with thinking. A turn is all
// replies after the last message of a user that is not a list of results.
func (c *checker) thinkingFirst() {
	msgs := c.body.messages
	first := -1
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if m.role == "assistant" && m.calls() {
			first = i
		} else if m.kind() != transcript.RoleTool {
			break
		}
	}
	if first < 0 {
		return
	}
	if k := &msgs[first].blocks[0]; !k.thought() {
		c.Report("A8", first, "thinking is enabled, but the turn begins with %s", k.kind)
	}
}

func (c *checker) message(i int) {
	m := &c.body.messages[i]
	last := i == len(c.body.messages)-1
	switch {
	case m.End == 0:
		c.Report("A0", i, "the message has no content")
	case last && m.role == "assistant" && m.text == "":
		// a last reply may be empty
	case m.onlySettings():
		// a message with settings only may be empty
	case !m.list && blank(m.text) || m.list && len(m.blocks) == 0:
		c.Report("A10", i, "the message is empty")
	}
	if m.role == "system" {
		c.note(i)
	}
	for k := range m.blocks {
		c.block(i, k)
	}
	c.results(i)
	c.serverTools(i)
}

// block checks block k of message i by the rules that need no later block.
func (c *checker) block(i, k int) {
	m := &c.body.messages[i]
	b := &m.blocks[k]
	switch b.kind {
	case "":
		c.reportBlock("A0", i, k, "the block has no type")
	case "text":
		if blank(b.text) {
			c.reportBlock("A10", i, k, "the text is empty")
		}
	case "thinking", "redacted_thinking":
		if b.kind == "thinking" && b.signature == "" || b.kind == "redacted_thinking" && b.data == "" {
			c.reportBlock("A8", i, k, "the thinking has no signature")
		}
		if m.role != "assistant" {
			c.reportBlock("A0", i, k, "a %s message cannot think", m.role)
		}
	case "tool_use":
		c.call(i, k)
	case "tool_result":
		if m.role != "user" {
			c.reportBlock("A3", i, k, "a result in a message of role %s", m.role)
		}
		for _, inner := range b.content.blocks {
			if inner.kind == "text" && inner.text == "" {
				c.reportBlock("A10", i, k, "a text of the result is empty")
			}
		}
	}
}

func (c *checker) call(i, k int) {
	m := &c.body.messages[i]
	b := &m.blocks[k]
	if m.role != "assistant" {
		c.reportBlock("A0", i, k, "a tool call in a message of role %s", m.role)
	}
	if chat.CleanID(b.id.text) != b.id.text {
		c.reportBlock("A0", i, k, "the id %q has other characters than letters, digits, _ and -", b.id.text)
	}
	if b.name == "" {
		c.reportBlock("A0", i, k, "the tool has no name")
	}
	if in := b.input; in.End == 0 || c.body.Data[in.Start] != '{' {
		c.reportBlock("A0", i, k, "the input is no object")
	}
	if c.called[b.id.text] {
		c.reportBlock("A16", i, k, "the id %q was used before", b.id.text)
	}
	c.called[b.id.text] = true
}

// results checks the results in message i against the calls before it.
func (c *checker) results(i int) {
	m := &c.body.messages[i]
	if m.role != "user" {
		c.settle()
	}
	other := false
	for k := range m.blocks {
		b := &m.blocks[k]
		if b.kind != "tool_result" {
			other = true
			continue
		}
		if other {
			c.reportBlock("A4", i, k, "a result stands behind something else")
		}
		id := b.answers.text
		if _, ok := c.open[id]; !ok || m.role != "user" {
			c.reportBlock("A3", i, k, "no open call %q in the message before", id)
		} else if i > c.reply+1 {
			c.reportBlock("A5", i, k, "the result for %q is not in the first message behind its call", id)
		}
		delete(c.open, id)
	}
	if m.role == "assistant" {
		c.reply, c.open = i, make(map[string]int)
		for k := range m.blocks {
			if m.blocks[k].kind == "tool_use" {
				c.open[m.blocks[k].id.text] = k
			}
		}
	}
}

// settle reports the calls of the latest reply that have no result.
func (c *checker) settle() {
	if len(c.open) == 0 {
		return
	}
	blocks := c.body.messages[c.reply].blocks
	for k := range blocks {
		if at, ok := c.open[blocks[k].id.text]; ok && at == k {
			c.reportBlock("A2", c.reply, k, "the call %q has no result in the next message", blocks[k].id.text)
		}
	}
	c.open = nil
}

// serverTools checks that calls of server tools have their results in the same reply; a reply
// may go on in the next message. A reply that the provider paused ends the list, and the
// provider continues it from there.
func (c *checker) serverTools(i int) {
	m := &c.body.messages[i]
	if m.role != "assistant" {
		c.settleServed()
	}
	for k := range m.blocks {
		b := &m.blocks[k]
		switch {
		case !isServerTool(b.kind):
		case strings.HasSuffix(b.kind, "_tool_use"):
			if c.served == nil {
				c.served = make(map[string]place)
			}
			c.served[b.id.text] = place{i, k}
		default:
			if _, ok := c.served[b.answers.text]; !ok {
				c.reportBlock("A6", i, k, "no call %q before the result of a server tool", b.answers.text)
			}
			delete(c.served, b.answers.text)
		}
	}
}

// settleServed reports the calls of server tools that have no result.
func (c *checker) settleServed() {
	for _, id := range slices.Sorted(maps.Keys(c.served)) {
		at := c.served[id]
		c.reportBlock("A6", at.message, at.block, "the server tool call %q has no result in its reply", id)
	}
	c.served = nil
}

// note checks the place of a system message inside the conversation. Consecutive system
// messages count as one.
func (c *checker) note(i int) {
	msgs := c.body.messages
	if i >= c.notes.End { // the first of a run
		c.notes = rawjson.Span{Start: i, End: i + 1}
		for c.notes.End < len(msgs) && msgs[c.notes.End].role == "system" {
			c.notes.End++
		}
	}
	if c.notes.Start == 0 {
		return // rule A1 reports it
	}
	before := &msgs[c.notes.Start-1]
	n := len(before.blocks)
	behind := before.role == "user" || n > 0 && isServerTool(before.blocks[n-1].kind)
	switch v, known := versionOf(c.body.Model); {
	case known && !v.systemMessages():
		c.Report("A15", i, "%s does not take system messages inside the conversation", c.body.Model)
	case !behind:
		c.Report("A15", i, "a system message stands behind one of role %s", before.role)
	case c.notes.End < len(msgs) && msgs[c.notes.End].role == "user":
		c.Report("A15", i, "a system message stands before one of role user")
	}
}

// cacheMarks checks the cache marks.
func (c *checker) cacheMarks() {
	n := 0
	short := false // a mark of five minutes came before
	c.body.eachMark(func(m *mark, holder *block, i, k int) {
		n++
		if m.hour && short {
			c.reportMark(i, k, "a cache mark of one hour stands behind one of five minutes")
		}
		short = short || !m.hour
		if holder != nil && !holder.mayBeMarked() {
			c.reportMark(i, k, "a cache mark on thinking or on empty text")
		}
	})
	if n > maxMarks {
		c.Report("A11", -1, "%d cache marks are more than %d", n, maxMarks)
	}
}

func (c *checker) reportMark(i, k int, text string) {
	switch {
	case i >= 0:
		c.reportBlock("A11", i, k, "%s", text)
	case k >= 0:
		c.Report("A11", -1, "%s, in the system text", text)
	default:
		c.Report("A11", -1, "%s", text)
	}
}
