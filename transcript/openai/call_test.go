package openai

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// Arguments are read as a string, an object or any other value; none is lost.
func TestArgumentsInEveryForm(t *testing.T) {
	for _, tt := range []struct{ name, function, want string }{
		{"a text", `"function":{"name":"f","arguments":"{\"a\":1}"}`, `{"a":1}`},
		{"an object", `"function":{"name":"f","arguments":{"a":1}}`, `{"a":1}`},
		{"a list", `"function":{"name":"f","arguments":[1]}`, `[1]`},
		{"an object behind other keys", `"function":{"strict":{"a":2},"arguments":{"a":1},"name":"f"}`, `{"a":1}`},
		{"the text of a custom tool", `"custom":{"name":"f","input":"go on"}`, `go on`},
		{"the object of a custom tool", `"custom":{"name":"f","input":{"a":1}}`, `{"a":1}`},
	} {
		data := `{"model":"gpt-4o","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",` +
			tt.function + `}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]}`
		s, err := format{}.Decode("x", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		var got transcript.ToolCall
		for _, p := range s.Messages[1].Parts {
			if c, ok := p.(transcript.ToolCall); ok {
				got = c
			}
		}
		if got.ID != "c1" || got.Name != "f" || string(got.Input) != tt.want {
			t.Errorf("%s: %s %s(%s), want c1 f(%s)", tt.name, got.ID, got.Name, got.Input, tt.want)
		}
	}
}
