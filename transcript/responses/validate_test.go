package responses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	const (
		ask    = `{"role":"user","content":"go"}`
		think  = `{"type":"reasoning","id":"rs_1","summary":[]}`
		call   = `{"type":"function_call","id":"fc_1","call_id":"a","name":"run","arguments":"{}"}`
		answer = `{"type":"function_call_output","call_id":"a","output":"ok"}`
		custom = `{"type":"custom_tool_call","call_id":"b","name":"exec","input":"ls"}`
	)
	with := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	for _, tt := range []struct {
		name string
		list []string
		want []string // as "rule item text"
	}{
		{"a sound conversation", []string{ask, think, call, answer, ask}, nil},
		{"an output behind something else", []string{ask, think, call, ask, answer}, nil},
		{"pending calls", []string{ask, think, call, custom}, nil},
		{"reasoning that no server knows", []string{with(think, `"id":"rs_1",`, ""), ask}, nil},
		{"no items", nil, []string{"R0 -1 there are no items"}},
		{"no content", []string{`{"role":"user"}`}, []string{"R0 0 the message has no content"}},
		{"no output", []string{call, with(answer, `,"output":"ok"`, "")}, []string{"R0 1 the output is missing"}},
		{"an unanswered call", []string{ask, call, ask}, []string{"R1 1 No tool output found for function call a"}},
		{"one of two unanswered", []string{call, custom, answer}, []string{"R1 1 No tool output found for custom tool call b"}},
		{"a second output", []string{call, answer, answer}, []string{"R2 2 No tool call found for function call output with call_id a"}},
		{"an output without a call", []string{ask, answer}, []string{"R2 1 No tool call found for function call output with call_id a"}},
		{"an output of another kind", []string{custom, with(answer, `"a"`, `"b"`), ask}, []string{
			"R1 0 No tool output found for custom tool call b", "R2 1 No tool call found for function call output with call_id b",
		}},
		{"reasoning that led to nothing", []string{think, ask}, []string{"R3 0 Item 'rs_1' of type 'reasoning' was provided without its required following item"}},
		{"an id of somebody else's", []string{ask, with(call, "fc_1", "call_1")}, []string{"R4 1 Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'"}},
		{"an id twice", []string{call, answer, with(call, `"a"`, `"b"`)}, []string{"R5 2 Duplicate item found with id fc_1"}},
		{"a call without a name", []string{with(call, `"run"`, `""`)}, []string{"R6 0 the function call needs a call_id of at most 64 bytes, a name, and its input as a text"}},
		{"reasoning that led to a compaction", []string{think, `{"type":"compaction"}`, ask}, nil},
		{"reasoning at the end", []string{ask, think}, []string{"R3 1 Item 'rs_1' of type 'reasoning' was provided without its required following item"}},
		{"an output that is no text", []string{ask, `{"type":"computer_call_output","call_id":"z","output":{}}`}, nil},
		{"no output of another tool", []string{custom, `{"type":"custom_tool_call_output","call_id":"b"}`}, []string{"R0 1 the output is missing"}},
		{"an input that is no text", []string{with(custom, `"ls"`, `{}`)}, []string{"R6 0 the custom tool call needs a call_id of at most 64 bytes, a name, and its input as a text"}},
		{"a long call_id", []string{with(custom, `"b"`, `"`+strings.Repeat("x", 65)+`"`)}, []string{"R6 0 the custom tool call needs a call_id of at most 64 bytes, a name, and its input as a text"}},
		{"a shell without a name", []string{`{"type":"local_shell_call","call_id":"c","action":{}}`, `{"type":"local_shell_call_output","call_id":"c","output":"x"}`, ask}, nil},
		{"a call_id twice", []string{call, answer, with(call, "fc_1", "fc_2"), ask}, []string{"R7 2 the call_id a is that of another call"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := format{}.Validate([]byte(`{"input":[` + strings.Join(tt.list, ",") + "]}"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprintf("%s %d %s", v.Rule, v.Message, v.Text))
				if want := fmt.Sprintf("input.%d", v.Message); v.Message >= 0 && v.Field != want {
					t.Errorf("the field is %q, want %q", v.Field, want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}

// A part of the history at the server may have the calls and outputs that are not here.
func TestValidateWithAHistoryElsewhere(t *testing.T) {
	const call, answer = `{"type":"function_call","call_id":"a","name":"run","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"ok"}`
	for list, want := range map[string]string{"": "", answer: "", call + `,{"role":"user","content":"go"}`: "", call + "," + answer + "," + answer: "R2"} {
		found, err := format{}.Validate([]byte(`{"previous_response_id":"r","input":[` + list + "]}"))
		if err != nil || len(found) != len(want)/2 || want != "" && found[0].Rule != want {
			t.Errorf("%s: %v, %v, want %s", list, found, err, want)
		}
	}
}

func TestBindsReasoning(t *testing.T) {
	for model, want := range map[string]bool{
		"gpt-5": false, "gpt-5.6": false, "gpt-5.3-codex": false, "gpt-4o": false, "gpt-4.1-mini": false, "o3": false, "o4-mini-2025-04-16": false, "codex-mini-latest": false,
		"gpt-6": true, "gpt-6.1-codex": true, "gpt-50": true, "gpt-6-o3": true, "openai/gpt-5": true, "a gateway's own": true, "": true,
	} {
		if got := BindsReasoning(model); got != want {
			t.Errorf("BindsReasoning(%q) = %v, want %v", model, got, want)
		}
	}
}
