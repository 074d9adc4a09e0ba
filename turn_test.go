package carrel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/token"
)

// A request that ends in results asks the model to go on. What an account makes of it asks the
// same: it does not end in a reply, whatever the results and the arguments of the calls take.
func TestResultsAtTheEndAskTheModel(t *testing.T) {
	type object = map[string]any
	lines := func(n int, lamp string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d of the pier burns since %d\n", lamp, i, i*7)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name   string
		argued int // lines of the arguments of the last two calls
		shown  int // lines of their results
		calls  bool
	}{
		{"short results", 1, 1, true},
		{"long results", 1, 200, true},
		{"long arguments", 200, 1, false},
		{"all long", 200, 200, false},
	} {
		for _, format := range []string{"anthropic", "openai"} {
			var list []object
			said := func(role string, content any) { list = append(list, object{"role": role, "content": content}) }
			call := func(n, argued int, shown []string) {
				var calls, results, tools []object
				for k, text := range shown {
					id, input := fmt.Sprintf("toolu_%d_%d", n, k), object{"command": "burn " + lines(argued, "wick")}
					arguments, err := json.Marshal(input)
					if err != nil {
						t.Fatal(err)
					}
					calls = append(calls, object{"type": "tool_use", "id": id, "name": "Bash", "input": input})
					results = append(results, object{"type": "tool_result", "tool_use_id": id, "content": text})
					tools = append(tools, object{"id": id, "type": "function", "function": object{"name": "Bash", "arguments": string(arguments)}})
				}
				if format == "anthropic" {
					said("assistant", calls)
					said("user", results)
					return
				}
				list = append(list, object{"role": "assistant", "content": nil, "tool_calls": tools})
				for k, text := range shown {
					list = append(list, object{"role": "tool", "tool_call_id": tools[k]["id"], "content": text})
				}
			}
			said("user", "Find out which lamp of the pier is red.")
			for n := range 6 {
				call(n, 1, []string{lines(300, "lamp")})
			}
			call(6, tt.argued, []string{lines(tt.shown, "lantern"), lines(tt.shown, "beacon")})
			data, err := json.Marshal(object{"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": list})
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range []token.Count{6_000, 12_000} {
				trimmed, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: carrel.Target{Tokens: target}}, nil)
				if err != nil {
					t.Fatalf("%s, %s, %d: %v", tt.name, format, target, err)
				}
				if r := upstream.Judge(format, data, format, trimmed.Data); r != nil {
					t.Errorf("%s, %s, %d: %v\n%s", tt.name, format, target, r, trimmed.Data)
				}
				if calls := strings.Contains(string(trimmed.Data), `"toolu_6_1"`); calls != tt.calls {
					t.Errorf("%s, %s, %d: the last calls stay: %v, want %v", tt.name, format, target, calls, tt.calls)
				}
				if told := strings.Contains(string(trimmed.Data), "The user did not write this."); told == tt.calls {
					t.Errorf("%s, %s, %d: a message in the user's role says who wrote it: %v, want %v\n%s", tt.name, format, target, told, !tt.calls, trimmed.Data)
				}
			}
		}
	}
}
