package formattest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// An event is a visible element of a conversation.
type event struct {
	Kind string // system, user, assistant, call or result
	Text string
}

// visible returns the visible content of messages, in a form that does not
// depend on how a format divides it into messages.
func visible(messages []transcript.Message) []event {
	var v viewer
	for i := range messages {
		m := &messages[i]
		if len(m.Results()) == 0 {
			v.flush()
		}
		switch m.Role {
		case transcript.RoleAssistant:
			v.calls = m.Calls()
			v.say("assistant", m.Text())
			for _, c := range v.calls {
				v.events = append(v.events, event{"call", callText(c)})
			}
		case transcript.RoleSystem:
			v.say("system", m.Text())
		case transcript.RoleUser, transcript.RoleTool:
			v.user(m)
		}
	}
	v.flush()
	return v.events
}

// A viewer turns messages into events.
type viewer struct {
	events  []event
	calls   []transcript.ToolCall // calls of the latest reply
	results []transcript.ToolResult
	behind  []string // texts of the user that stand after the collected results
}

func (v *viewer) user(m *transcript.Message) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case transcript.ToolResult:
			v.results = append(v.results, p)
		case transcript.Text:
			v.behind = append(v.behind, string(p))
		case transcript.Thinking, transcript.ToolCall, transcript.Media, transcript.Opaque:
		}
	}
	if len(m.Results()) == 0 {
		v.flush()
	}
}

// flush adds the collected results as events, in the order of their calls, and
// then the user's texts.
func (v *viewer) flush() {
	call := func(r transcript.ToolResult) int {
		return slices.IndexFunc(v.calls, func(c transcript.ToolCall) bool { return c.ID == r.CallID })
	}
	slices.SortStableFunc(v.results, func(a, b transcript.ToolResult) int { return call(a) - call(b) })
	for _, r := range v.results {
		v.events = append(v.events, event{"result", fmt.Sprintf("of call %d: %s", call(r), lines(r.Text()))})
	}
	for _, text := range v.behind {
		if rest, ok := strings.CutPrefix(text, "[system] "); ok {
			v.say("system", rest)
		} else if text != transcript.Opening {
			v.say("user", text)
		}
	}
	v.results, v.behind = nil, nil
}

// say appends a text to the last event if that has the same kind. Otherwise it adds a new event.
func (v *viewer) say(kind, text string) {
	text = lines(text)
	last := len(v.events) - 1
	switch {
	case text == "":
	case last >= 0 && v.events[last].Kind == kind:
		v.events[last].Text += "\n" + text
	default:
		v.events = append(v.events, event{kind, text})
	}
}

// placeholder matches the text that replaces a medium.
var placeholder = lazy.Regexp(`^\[(image|document|audio)[^\]]*\]$`)

// lines returns the lines of a text that are not blank.
func lines(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !placeholder.Get().MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func callText(c transcript.ToolCall) string {
	var wrapped struct {
		Raw *string `json:"_raw"`
	}
	input := string(c.Input)
	if json.Unmarshal(c.Input, &wrapped) == nil && wrapped.Raw != nil {
		input = *wrapped.Raw
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(input)) == nil {
		input = compact.String()
	}
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	name := cmp.Or(c.Name, "unknown")
	return name + " " + input
}

// without returns the events whose kind is not kind.
func without(kind string, events []event) []event {
	events = slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.Kind == kind })
	var merged viewer
	for _, e := range events {
		if e.Kind == "user" || e.Kind == "assistant" {
			merged.say(e.Kind, e.Text)
		} else {
			merged.events = append(merged.events, e)
		}
	}
	return merged.events
}
