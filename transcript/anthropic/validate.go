package anthropic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// The limits of rule A14.
const (
	maxMessages = 100_000
	maxBytes    = 32 << 20
)

// maxMarks is how many cache marks rule A11 allows.
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
	c.cacheMarks()
	slices.SortStableFunc(c.Found, func(a, b transcript.Violation) int { return cmp.Compare(a.Message, b.Message) })
	return c.Found, nil
}

// A checker collects violations.
type checker struct {
	chat.Violations

	body   *body
	called map[string]bool // call ids seen so far
	reply  int             // the latest reply
	open   map[string]int  // its calls without a result, by id, and their blocks
}

// reportBlock reports a violation by one block of a message.
func (c *checker) reportBlock(rule string, message, block int, format string, args ...any) {
	c.Report(rule, message, format, args...)
	c.Found[len(c.Found)-1].Field += fmt.Sprintf(".content.%d", block)
}

// request checks what concerns the request as a whole.
func (c *checker) request() {
	b := c.body
	if n := len(b.messages); n > maxMessages {
		c.Report("A14", -1, "%d messages are more than %d", n, maxMessages)
	}
	if n := len(b.Data); n > maxBytes {
		c.Report("A14", -1, "%d bytes are more than %d", n, maxBytes)
	}
	for _, k := range b.system.blocks {
		if k.kind == "text" && blank(k.text) {
			c.Report("A10", -1, "a system text is empty")
		}
	}
	if len(b.messages) == 0 {
		c.Report("A1", -1, "there are no messages")
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
	if b.budget && !v.from(4, 6) {
		c.thinkingFirst()
	}
}

// waits reports whether a reply waits for results, or for its server's tools.
func (m *message) waits() bool {
	return slices.ContainsFunc(m.blocks, func(k block) bool { return k.kind == "tool_use" || isServerTool(k.kind) })
}

// isServerTool reports whether a block is the call of a tool that runs at the
// provider's, or its result.
func isServerTool(kind string) bool {
	return kind == "server_tool_use" || kind == "mcp_tool_use" || kind != "tool_result" && strings.HasSuffix(kind, "_tool_result")
}

// thinkingFirst checks that the reply which the last message answers begins
// with thinking.
func (c *checker) thinkingFirst() {
	i := len(c.body.messages) - 2
	if i < 0 || c.body.messages[i+1].kind() != transcript.RoleTool {
		return
	}
	m := &c.body.messages[i]
	if m.role == "assistant" && m.waits() && !m.blocks[0].thought() {
		c.Report("A8", i, "thinking is enabled, but the reply begins with %s", m.blocks[0].kind)
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
		// and so may what is there for something else
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

// block checks what can be told of one block alone.
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
			if inner.kind == "text" && blank(inner.text) {
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
	if cleanID(b.id.text) != b.id.text {
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

// serverTools checks that calls of server tools stand with their results. A
// reply that the provider paused ends the list, and is continued from there.
func (c *checker) serverTools(i int) {
	m := &c.body.messages[i]
	open := make(map[string]int)
	for k := range m.blocks {
		b := &m.blocks[k]
		switch {
		case !isServerTool(b.kind):
		case strings.HasSuffix(b.kind, "_tool_use"):
			open[b.id.text] = k
		default:
			if _, ok := open[b.answers.text]; !ok {
				c.reportBlock("A6", i, k, "no call %q before the result of a server tool", b.answers.text)
			}
			delete(open, b.answers.text)
		}
	}
	if i == len(c.body.messages)-1 {
		return
	}
	for k := range m.blocks {
		if at, ok := open[m.blocks[k].id.text]; ok && at == k {
			c.reportBlock("A6", i, k, "the server tool call %q has no result in its message", m.blocks[k].id.text)
		}
	}
}

// note checks the place of a system message inside the conversation.
func (c *checker) note(i int) {
	v, ok := versionOf(c.body.Model)
	if !ok || i == 0 {
		return
	}
	msgs := c.body.messages
	before := &msgs[i-1]
	n := len(before.blocks)
	behind := before.role == "user" || before.role == "assistant" && n > 0 && isServerTool(before.blocks[n-1].kind)
	switch {
	case !v.systemMessages():
		c.Report("A15", i, "%s does not take system messages inside the conversation", c.body.Model)
	case !behind:
		c.Report("A15", i, "a system message stands behind one of role %s", before.role)
	case i+1 < len(msgs) && msgs[i+1].role != "assistant":
		c.Report("A15", i, "a system message stands before one of role %s", msgs[i+1].role)
	}
}

// cacheMarks checks the cache marks in the order in which the provider renders
// them: tools, system, messages.
func (c *checker) cacheMarks() {
	n := len(c.body.marks)
	short := false // a mark of five minutes came before
	for _, m := range c.body.marks {
		short = short || !m.hour
	}
	see := func(i, k int, b *block) {
		if b.mark == nil {
			return
		}
		n++
		if b.mark.hour && short {
			c.reportMark(i, k, "a cache mark of one hour stands behind one of five minutes")
		}
		short = short || !b.mark.hour
		if b.thought() || b.kind == "text" && blank(b.text) {
			c.reportMark(i, k, "a cache mark on thinking or on empty text")
		}
	}
	for k := range c.body.system.blocks {
		see(-1, k, &c.body.system.blocks[k])
	}
	for i := range c.body.messages {
		m := &c.body.messages[i]
		for k := range m.blocks {
			for x := range m.blocks[k].content.blocks {
				see(i, k, &m.blocks[k].content.blocks[x])
			}
			see(i, k, &m.blocks[k])
		}
	}
	if n > maxMarks {
		c.Report("A11", -1, "%d cache marks are more than %d", n, maxMarks)
	}
}

func (c *checker) reportMark(i, k int, text string) {
	if i < 0 {
		c.Report("A11", -1, "%s, in the system text", text)
		return
	}
	c.reportBlock("A11", i, k, "%s", text)
}
