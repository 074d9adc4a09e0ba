package gemini

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	const (
		ask    = `{"role":"user","parts":[{"text":"go"}]}`
		speak  = `{"role":"model","parts":[{"text":"on it"}]}`
		call   = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"run","args":{}}}]}`
		answer = `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"run","response":{"output":"ok"}}}]}`
	)
	with := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	signed := with(call, `}}]`, `},"thoughtSignature":"c2ln"}]`)
	for _, tt := range []struct {
		name string
		list []string
		want []string // as "rule content text"
	}{
		{"a sound conversation", []string{ask, call, answer, speak, ask}, nil},
		{"words of the user in a row", []string{ask, ask, speak}, nil},
		{"no role", []string{with(ask, `"role":"user",`, ""), speak}, nil},
		{"a pending call", []string{ask, speak, ask, call}, nil},
		{"words behind a response", []string{ask, call, with(answer, `}}]`, `}},{"text":"and?"}]`)}, nil},
		{"no ids", []string{ask, with(call, `"id":"a",`, ""), with(answer, `"id":"a",`, "")}, nil},
		{"an id on one side", []string{ask, call, with(answer, `"id":"a",`, "")}, nil},
		{"a call without args", []string{ask, with(call, `,"args":{}`, ""), answer}, nil},
		{"signatures throughout", []string{ask, signed, answer, signed, answer}, nil},
		{"an older turn without signatures", []string{ask, call, answer, ask, signed, answer}, nil},
		{"a text that may be empty", []string{ask, with(speak, `"text":"on it"`, `"text":"","thoughtSignature":"c2ln"`)}, nil},
		{"no contents", nil, []string{"G0 -1 contents is not specified"}},
		{"a reply first", []string{speak, ask}, []string{"G1 0 the first content is of role model, not user"}},
		{"two replies", []string{ask, speak, call, answer}, []string{"G2 2 Please ensure that function call turn comes immediately after a user turn or after a function response turn."}},
		{"calls without a response", []string{ask, call, ask}, []string{"G3 2 Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: 0 for 1."}},
		{"a response twice", []string{ask, call, with(answer, `[{`, `[{"functionResponse":{"id":"a","name":"run","response":{}}},{`)}, []string{"G3 2 Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: 2 for 1."}},
		{"a response without a call", []string{ask, answer, speak}, []string{"G4 1 Please ensure that function response turn comes immediately after a function call turn."}},
		{"a response to another call", []string{ask, call, with(answer, `"a"`, `"b"`)}, []string{"G5 2 a response is for none of the calls before it"}},
		{"a response of another name", []string{ask, with(call, `"id":"a",`, ""), with(answer, `run`, `walk`)}, []string{"G5 2 a response is for none of the calls before it"}},
		{"no parts", []string{ask, `{"role":"model","parts":[]}`}, []string{"G6 1 parts must not be empty"}},
		{"a part without data", []string{ask, `{"role":"model","parts":[{"thought":true}]}`}, []string{"G6 1 required oneof field 'data' must have one initialized field"}},
		{"a part with two kinds of data", []string{with(ask, `"text":"go"`, `"text":"go","inlineData":{}`)}, []string{"G6 0 required oneof field 'data' must have one initialized field"}},
		{"an empty text", []string{with(ask, "go", "")}, []string{"G6 0 the text is empty"}},
		{"a call without a name", []string{ask, with(call, "run", ""), answer}, []string{"G7 1 Name cannot be empty."}},
		{"args that are none", []string{ask, with(call, `{}`, `[]`), answer}, []string{"G7 1 args and response must be objects"}},
		{"a response without one", []string{ask, call, with(answer, `,"response":{"output":"ok"}`, "")}, []string{"G7 2 args and response must be objects"}},
		{"a signature that is lost", []string{ask, signed, answer, call, answer}, []string{"G8 3 Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly."}},
		{"a signature that is none", []string{ask, with(signed, "c2ln", "*"), answer}, []string{"G8 1 Base64 decoding failed for the thought_signature"}},
		{"a user that calls", []string{with(call, "model", "user")}, []string{"G9 0 a functionCall in a content of role user"}},
		{"a user that thinks", []string{with(ask, `"go"`, `"go","thought":true`)}, []string{"G9 0 a text in a content of role user"}},
		{"a model that responds", []string{ask, call, answer, ask, with(answer, `"user"`, `"model"`)}, []string{"G9 4 a functionResponse in a content of role model"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := format{}.Validate([]byte(`{"contents":[` + strings.Join(tt.list, ",") + "]}"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprintf("%s %d %s", v.Rule, v.Message, v.Text))
				if want := fmt.Sprintf("contents.%d", v.Message); v.Message >= 0 && !strings.HasPrefix(v.Field, want) {
					t.Errorf("the field is %q, want %q", v.Field, want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}
