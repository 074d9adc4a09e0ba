package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

// refused is a second implementation of the rules, for comparison: a state
// machine that reads messages one by one and knows only the ids that need a result. It
// returns the numbers of the broken rules, sorted and without repeats.
func refused(data []byte) []string {
	var body struct {
		Messages []map[string]any `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return []string{err.Error()}
	}
	broken := make(map[string]bool)
	waiting := []string{}   // ids that the next messages must answer
	abandoned := []string{} // ids that were not answered in time
	take := func(from *[]string, id string) bool {
		i := slices.Index(*from, id)
		if i >= 0 {
			*from = slices.Delete(*from, i, i+1)
		}
		return i >= 0
	}
	for i, m := range body.Messages {
		content, has := m["content"]
		list, isList := content.([]any)
		calls, _ := m["tool_calls"].([]any)
		if m["role"] != "assistant" {
			calls = nil
		}
		if (!has || content == nil || isList && len(list) == 0) && len(calls) == 0 {
			broken["X0"] = true
		}
		if list, there := m["tool_calls"].([]any); there && len(list) == 0 {
			broken["X8"] = true
		}
		if m["role"] == "tool" {
			id, _ := m["tool_call_id"].(string)
			switch {
			case take(&waiting, id):
			case take(&abandoned, id):
				broken["X4"] = true
			case id == "":
				broken["X8"] = true
			default:
				broken["X1"] = true
			}
			continue
		}
		for _, id := range waiting {
			if slices.Contains(abandoned, id) {
				broken["X1"] = true
			} else {
				abandoned = append(abandoned, id)
			}
		}
		waiting = nil
		for _, c := range calls {
			call := c.(map[string]any)
			function, _ := call["function"].(map[string]any)
			id, _ := call["id"].(string)
			name, _ := function["name"].(string)
			_, isText := function["arguments"].(string)
			if id == "" || name == "" || !isText || slices.Contains(waiting, id) {
				broken["X8"] = true
			}
			if !slices.Contains(waiting, id) {
				waiting = append(waiting, id)
			}
		}
		if i == len(body.Messages)-1 {
			waiting = nil // pending
		}
	}
	if len(body.Messages) == 0 {
		broken["X0"] = true
	}
	if len(waiting)+len(abandoned) > 0 {
		broken["X1"] = true
	}
	return formattest.Sorted(broken)
}

// drawBody draws a request that breaks rules more often than not.
func drawBody(t *rapid.T) []byte {
	content := rapid.SampledFrom([]string{`"content":"x"`, `"content":"x"`, `"content":""`, `"content":null`, `"content":[]`, `"x":1`})
	id := rapid.SampledFrom([]string{`"a"`, `"b"`, `"c"`, `""`})
	arguments := rapid.SampledFrom([]string{`"{}"`, `"{}"`, `"{}"`, `{}`, `null`})
	name := rapid.SampledFrom([]string{`"run"`, `"run"`, `"run"`, `""`})
	message := rapid.Custom(func(t *rapid.T) string {
		c := content.Draw(t, "content")
		switch role := rapid.SampledFrom([]string{"user", "system", "assistant", "assistant", "tool", "tool", "tool"}).Draw(t, "role"); role {
		case "tool":
			return fmt.Sprintf(`{"role":"tool",%s,"tool_call_id":%s}`, c, id.Draw(t, "id"))
		case "assistant":
			var calls []string
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
					id.Draw(t, "id"), name.Draw(t, "name"), arguments.Draw(t, "arguments")))
			}
			return fmt.Sprintf(`{"role":"assistant",%s,"tool_calls":[%s]}`, c, strings.Join(calls, ","))
		default:
			return fmt.Sprintf(`{"role":%q,%s}`, role, c)
		}
	})
	list := rapid.SliceOfN(message, 0, 8).Draw(t, "messages")
	return []byte(`{"messages":[` + strings.Join(list, ",") + `]}`)
}

func TestValidateAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.Agrees(t, format{}, refused, drawBody(t)) })
}

// For any faulty conversation, the encoding of a changed window breaks no rule.
func TestEncodeMendsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { formattest.Mends(t, format{}, refused, drawBody(t)) })
}
