package trajectory

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// isSWE reports whether an element with these keys is a message of a history, or a step.
func isSWE(keys map[string]bool) bool {
	return keys["role"] && (keys["message_type"] || keys["agent"]) || keys["action"] && keys["observation"] && !keys["source"]
}

// newSWE returns a reader of a list of SWE-agent.
func newSWE(list string) reader {
	if list == "trajectory" {
		return new(steps)
	}
	return history{}
}

// A history is a reader of elements that are messages.
type history struct{}

func (history) read(raw []byte) ([][]byte, bool) {
	role := gjson.GetBytes(raw, "role").String()
	if role == "" {
		return nil, false
	}
	_, err := rawjson.NewReader(raw).Members() // openai's decoder reports a key that comes twice
	if id := gjson.GetBytes(raw, "tool_call_ids.0"); err == nil && role == "tool" && id.Type == gjson.String {
		raw = chat.Set(raw, "tool_call_id", []byte(id.Raw))
	}
	return [][]byte{raw}, false
}

// steps is a reader of elements that are steps: each has a call and its result.
type steps struct{ n int }

func (s *steps) read(raw []byte) ([][]byte, bool) {
	s.n++
	id := rawjson.AppendString(nil, "step_"+strconv.Itoa(s.n))
	said, did := gjson.GetBytes(raw, "thought"), gjson.GetBytes(raw, "action")
	if said.Type != gjson.String || said.String() == "" {
		said = gjson.GetBytes(raw, "response")
	}
	reply := []byte(`{"role":"assistant","content":` + orNull(said))
	if did.Type != gjson.String || did.String() == "" {
		if orNull(said) == "null" {
			return nil, false
		}
		return [][]byte{append(reply, '}')}, false
	}
	input := rawjson.AppendString(nil, `{"command":`+did.Raw+`}`)
	reply = append(reply, `,"tool_calls":[{"id":`+string(id)+`,"type":"function","function":{"name":"action","arguments":`+string(input)+`}}]}`...)
	seen := gjson.GetBytes(raw, "observation")
	if seen.Type != gjson.String {
		return [][]byte{reply}, false
	}
	return [][]byte{reply, []byte(`{"role":"tool","tool_call_id":` + string(id) + `,"content":` + seen.Raw + `}`)}, false
}

// orNull returns a non-empty text as JSON, or null.
func orNull(v gjson.Result) string {
	if v.Type != gjson.String || v.String() == "" {
		return "null"
	}
	return v.Raw
}

// writeSWE returns a message as an element of a history.
func writeSWE(message []byte) [][]byte {
	kind := "observation"
	switch gjson.GetBytes(message, "role").String() {
	case "system":
		kind = "system_prompt"
	case "assistant":
		kind = "action"
	case "tool":
		id := gjson.GetBytes(message, "tool_call_id").Raw
		message = chat.Drop(message, func(key string) bool { return key == "tool_call_id" })
		message = chat.Set(message, "tool_call_ids", []byte("["+id+"]"))
	}
	message = chat.Set(message, "agent", []byte(`"main"`))
	return [][]byte{chat.Set(message, "message_type", []byte(`"`+kind+`"`))}
}
