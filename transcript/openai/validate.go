package openai

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// Validate implements [transcript.Format].
func (format) Validate(data []byte) ([]transcript.Violation, error) {
	b, err := parse("", data)
	if err != nil {
		return nil, err
	}
	c := checker{body: b, lost: make(map[string]int)}
	if len(b.messages) == 0 {
		c.Report("X0", -1, "there are no messages")
	}
	for i := range b.messages {
		c.message(i)
	}
	if c.reply < len(b.messages)-1 { // else its calls are pending
		c.settle()
	}
	for id, i := range c.lost {
		c.Report("X1", i, "the call %q has no result", id)
	}
	slices.SortFunc(c.Found, func(a, b transcript.Violation) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text))
	})
	return c.Found, nil
}

// A checker collects violations.
type checker struct {
	chat.Violations

	body  *body
	reply int             // index of the latest reply
	open  map[string]bool // calls of that reply without a result
	lost  map[string]int  // earlier calls without a result, and the indexes of their messages
}

func (c *checker) message(i int) {
	m := &c.body.messages[i]
	if m.empty() {
		c.Report("X0", i, "the message has no content")
	}
	if m.noCalls {
		c.Report("X8", i, "the list of calls is empty")
	}
	if m.role == "tool" || m.role == "function" {
		c.result(i, m)
		return
	}
	c.settle()
	if m.role == "assistant" {
		c.calls(i, m)
	}
}

// settle moves the open calls of the latest reply to the map lost, since their results are not
// directly behind the reply.
func (c *checker) settle() {
	for id := range c.open {
		if before, ok := c.lost[id]; ok {
			c.Report("X1", before, "the call %q has no result", id)
		}
		c.lost[id] = c.reply
	}
	c.open = nil
}

func (c *checker) calls(i int, m *message) {
	c.reply, c.open = i, make(map[string]bool, len(m.calls))
	for k, call := range m.calls {
		at := fmt.Sprintf("tool call %d", k)
		switch {
		case call.id == "":
			c.Report("X8", i, "%s has no id", at)
		case c.open[call.id]:
			c.Report("X8", i, "%s has the id %q of another", at, call.id)
		}
		if call.name == "" {
			c.Report("X8", i, "%s has no name", at)
		}
		if !call.text {
			c.Report("X8", i, "the arguments of %s are not a string", at)
		}
		c.open[call.id] = true
	}
}

// result checks that message i answers an open call.
func (c *checker) result(i int, m *message) {
	call, late := c.lost[m.answers]
	switch {
	case c.open[m.answers]:
		delete(c.open, m.answers)
	case late:
		c.Report("X4", i, "the result for %q does not stand directly behind its call in message %d", m.answers, call)
		delete(c.lost, m.answers)
	case m.answers == "" && m.role == "tool":
		c.Report("X8", i, "the result has no tool_call_id")
	default:
		c.Report("X1", i, "no open call %q before the result", m.answers)
	}
}
