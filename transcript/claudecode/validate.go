package claudecode

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/transcript"
)

// Validate implements [transcript.Format]. An empty text beside other parts of a reply is no
// violation: the agent itself writes such texts.
func (f format) Validate(data []byte) ([]transcript.Violation, error) {
	s, err := f.Decode("", data)
	if err != nil {
		return nil, err
	}
	return check(s.Messages), nil
}

// check validates a conversation by the rules of Anthropic's API.
func check(msgs []transcript.Message) []transcript.Violation {
	var found []transcript.Violation
	report := func(rule string, i int, format string, args ...any) {
		found = append(found, transcript.Violation{Rule: rule, Message: i, Text: fmt.Sprintf(format, args...)})
	}
	called := make(map[string]bool)
	var open []string // ids of calls without a result so far
	for i := range msgs {
		m := &msgs[i]
		if i == 0 && m.Role != transcript.RoleUser {
			report("X7", i, "the first message is of role %s, not user", m.Role)
		}
		if m.Role != transcript.RoleTool {
			for _, id := range open {
				report("X1", i, "tool call %s has no result before the next message", id)
			}
			open = nil
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case transcript.Text:
				if !written(p) && !slices.ContainsFunc(m.Parts, written) {
					report("X7", i, "text is empty")
				}
			case transcript.ToolCall:
				if called[p.ID] {
					report("A16", i, "tool call id %s is used twice", p.ID)
				}
				called[p.ID] = true
				open = append(open, p.ID)
			case transcript.ToolResult:
				rest := without(open, p.CallID)
				if len(rest) == len(open) {
					report("X1", i, "tool result %s has no open call before it", p.CallID)
				}
				open = rest
			}
		}
	}
	return append(found, checkServerTools(msgs)...)
}

// checkServerTools checks rule A6: calls and results of the provider's own tools stand in one
// reply. The conversation may end with a call that has no result yet.
func checkServerTools(msgs []transcript.Message) (found []transcript.Violation) {
	waits := make(map[string]int) // index of the message with each call, by call id
	report := func(i int, format string, args ...any) {
		found = append(found, transcript.Violation{Rule: "A6", Message: i, Text: fmt.Sprintf(format, args...)})
	}
	settle := func() {
		for _, id := range slices.Sorted(maps.Keys(waits)) {
			report(waits[id], "server tool call %s has no result in its reply", id)
		}
		clear(waits)
	}
	for i := range msgs {
		if msgs[i].Role != transcript.RoleAssistant {
			settle()
		}
		for _, p := range msgs[i].Parts {
			o, _ := p.(transcript.Opaque)
			call, result := o.Served()
			if call != "" {
				waits[call] = i
			}
			if result == "" {
				continue
			}
			if _, ok := waits[result]; !ok {
				report(i, "server tool result %s has no call before it", result)
			}
			delete(waits, result)
		}
	}
	if n := len(msgs); n > 0 && !msgs[n-1].Paused() {
		settle()
	}
	return found
}

func without(ids []string, id string) []string {
	for i := range ids {
		if ids[i] == id {
			return append(ids[:i:i], ids[i+1:]...)
		}
	}
	return ids
}
