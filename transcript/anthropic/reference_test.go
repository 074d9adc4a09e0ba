package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var alphabet = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// refused is a second implementation of the rules about conversations, for comparison: a
// state machine that reads blocks one by one and knows only the ids that still need a result.
// It returns the numbers of the broken rules, sorted and without repeats.
func refused(data []byte) []string {
	var body struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return []string{err.Error()}
	}
	broken := make(map[string]bool)
	every := []string{}   // ids of all calls
	waiting := []string{} // ids that the next message must answer
	first := false        // the message is the first after the calls
	spoke := ""           // role of the last message that is not a system message
	noted := false        // a system message follows that message
	for i, m := range body.Messages {
		last := i == len(body.Messages)-1
		if i == 0 && m.Role != "user" {
			broken["A1"] = true
		}
		if m.Role != "user" && len(waiting) > 0 {
			broken["A2"], waiting = true, nil
		}
		if m.Role == "system" && spoke == "assistant" || m.Role == "user" && noted {
			broken["A15"] = true
		}
		if noted = m.Role == "system" && spoke != ""; m.Role != "system" {
			spoke = m.Role
		}
		blocks, isList := m.Content.([]any)
		text, isText := m.Content.(string)
		switch {
		case !isList && !isText:
			broken["A0"] = true
		case len(blocks) == 0 && text == "" && last && m.Role == "assistant":
		case len(blocks) == 0 && strings.TrimSpace(text) == "":
			broken["A10"] = true
		}
		calls, words := []string{}, false
		for _, b := range blocks {
			block := b.(map[string]any)
			str := func(key string) string { s, _ := block[key].(string); return s }
			switch str("type") {
			case "tool_result":
				at := slices.Index(waiting, str("tool_use_id"))
				switch {
				case m.Role != "user" || at < 0:
					broken["A3"] = true
				case !first:
					broken["A5"] = true
				}
				if words {
					broken["A4"] = true
				}
				if at >= 0 {
					waiting = slices.Delete(waiting, at, at+1)
				}
				continue
			case "tool_use":
				if m.Role != "assistant" || !alphabet.MatchString(str("id")) || str("name") == "" {
					broken["A0"] = true
				}
				if slices.Contains(every, str("id")) {
					broken["A16"] = true
				}
				every = append(every, str("id"))
				if m.Role == "assistant" && !slices.Contains(calls, str("id")) {
					calls = append(calls, str("id"))
				}
			case "thinking":
				if str("signature") == "" {
					broken["A8"] = true
				}
				if m.Role != "assistant" {
					broken["A0"] = true
				}
			case "text":
				if strings.TrimSpace(str("text")) == "" {
					broken["A10"] = true
				}
			}
			words = true
		}
		first = false
		if m.Role == "assistant" && !last {
			waiting, first = calls, true
		}
	}
	if len(body.Messages) == 0 {
		broken["A0"] = true
	}
	if len(waiting) > 0 {
		broken["A2"] = true
	}
	return formattest.Sorted(broken)
}

// drawBody draws a request that breaks rules more often than not. If sane is true, calls
// occur in replies only and results in users' messages only.
func drawBody(t *rapid.T, sane bool) []byte {
	id := rapid.SampledFrom([]string{"a", "b", "c", "é", ""})
	block := func(role string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kinds := []string{"text", "text", "tool_use", "tool_use", "tool_result", "tool_result", "thinking", "empty"}
			if sane {
				kinds = map[string][]string{
					"user":      {"text", "empty", "tool_result", "tool_result", "tool_result"},
					"assistant": {"text", "empty", "thinking", "tool_use", "tool_use"},
					"system":    {"text", "empty"},
				}[role]
			}
			switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
			case "text":
				return `{"type":"text","text":"x"}`
			case "empty":
				return `{"type":"text","text":" "}`
			case "tool_use":
				return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id.Draw(t, "id"), rapid.SampledFrom([]string{"run", "run", ""}).Draw(t, "name"))
			case "tool_result":
				return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"x"}`, id.Draw(t, "id"))
			default:
				return fmt.Sprintf(`{"type":"thinking","thinking":"x","signature":%q}`, rapid.SampledFrom([]string{"s", "s", ""}).Draw(t, "signature"))
			}
		})
	}
	message := rapid.Custom(func(t *rapid.T) string {
		role := rapid.SampledFrom([]string{"user", "user", "user", "assistant", "assistant", "assistant", "system"}).Draw(t, "role")
		content := rapid.SampledFrom([]string{`,"content":"x"`, `,"content":""`, ``, "list", "list", "list", "list"}).Draw(t, "content")
		if content == "list" {
			content = `,"content":[` + strings.Join(rapid.SliceOfN(block(role), 0, 4).Draw(t, "blocks"), ",") + `]`
		}
		return fmt.Sprintf(`{"role":%q%s}`, role, content)
	})
	list := rapid.SliceOfN(message, 0, 8).Draw(t, "messages")
	return []byte(`{"messages":[` + strings.Join(list, ",") + `]}`)
}

func TestValidateAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.Agrees(t, format{}, refused, drawBody(t, false)) })
}

// For any faulty conversation, the encoding of a changed window breaks no rule.
func TestEncodeMendsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.Mends(t, format{}, refused, drawBody(t, true)) })
}
