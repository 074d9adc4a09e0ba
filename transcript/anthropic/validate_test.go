package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// call is a reply with one call; answer is a message with its result.
const (
	ask    = `{"role":"user","content":"go"}`
	call   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"run","input":{}}]}`
	answer = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}`
	reply  = `{"role":"assistant","content":"done"}`
	notice = `{"role":"system","content":"note"}`

	settings = `{"role":"system","content":[],"output_config":{"effort":"low"}}`
)

func TestValidate(t *testing.T) {
	five := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 5), ",")
	for _, tt := range []struct {
		name   string
		fields string
		list   []string
		want   []string // as "rule message"
	}{
		{name: "a sound conversation", list: []string{ask, call, answer, reply}},
		{name: "a pending call", list: []string{ask, call}},
		{name: "no messages", want: []string{"A0 -1"}},
		{name: "a reply first", list: []string{reply, ask}, want: []string{"A1 0"}},
		{name: "a system message first", list: []string{notice, ask}, want: []string{"A1 0"}},
		{name: "an unanswered call", list: []string{ask, call, ask}, want: []string{"A2 1"}},
		{name: "a result without its call", list: []string{ask, reply, answer}, want: []string{"A3 2"}},
		{name: "a second result", list: []string{ask, call, answer, answer}, want: []string{"A3 3"}},
		{
			name: "text before a result",
			list: []string{ask, call, `{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}`},
			want: []string{"A4 2"},
		},
		{name: "a result in the second message", list: []string{ask, call, ask, answer}, want: []string{"A5 3"}},
		{
			name: "a server tool without a result",
			list: []string{ask, `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}`, ask},
			want: []string{"A6 1"},
		},
		{
			name: "a server tool without a result, and text behind it",
			list: []string{ask, `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"text","text":"x"}]}`},
			want: []string{"A6 1"},
		},
		{
			name: "a server tool's result without a call",
			list: []string{ask, `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}`},
			want: []string{"A6 1"},
		},
		{
			name: "a paused server tool at the end",
			list: []string{ask, `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}`},
		},
		{
			name: "thinking without a signature",
			list: []string{ask, `{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"x"}]}`},
			want: []string{"A8 1"},
		},
		{
			name:   "thinking with a budget, and a reply without any",
			fields: `"model":"claude-sonnet-4-5","thinking":{"type":"enabled","budget_tokens":2000},`,
			list:   []string{ask, call, answer},
			want:   []string{"A8 1"},
		},
		{name: "an empty message", list: []string{`{"role":"user","content":""}`}, want: []string{"A10 0"}},
		{name: "an empty text", list: []string{`{"role":"user","content":[{"type":"text","text":" "}]}`}, want: []string{"A10 0"}},
		{name: "an empty last reply", list: []string{ask, `{"role":"assistant","content":[]}`}},
		{name: "an empty reply before the last", list: []string{ask, `{"role":"assistant","content":[]}`, ask}, want: []string{"A10 1"}},
		{name: "an empty system text", fields: `"system":[{"type":"text","text":""}],`, list: []string{ask}, want: []string{"A10 -1"}},
		{name: "five cache marks", list: []string{`{"role":"user","content":[` + five + `]}`}, want: []string{"A11 -1"}},
		{
			name:   "an hour's cache mark behind a short one",
			fields: `"tools":[{"name":"run","cache_control":{"type":"ephemeral"}}],`,
			list:   []string{`{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`},
			want:   []string{"A11 0"},
		},
		{
			name: "a cache mark on thinking",
			list: []string{ask, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s","cache_control":{"type":"ephemeral"}}]}`},
			want: []string{"A11 1"},
		},
		{name: "a prefilled reply, new model", fields: `"model":"claude-opus-4-6",`, list: []string{ask, reply}, want: []string{"A12 1"}},
		{name: "a prefilled reply, old model", fields: `"model":"claude-sonnet-4-5-20250929",`, list: []string{ask, reply}},
		{name: "a pending call, new model", fields: `"model":"claude-opus-4-6",`, list: []string{ask, call}},
		{name: "sampling, new model", fields: `"model":"claude-opus-5-5","top_k":3,`, list: []string{ask}, want: []string{"A13 -1"}},
		{name: "sampling, old model", fields: `"model":"claude-3-5-sonnet-20241022","top_k":3,`, list: []string{ask}},
		{
			name:   "a thinking budget, new model",
			fields: `"model":"claude-opus-5-5","thinking":{"type":"enabled","budget_tokens":2000},`,
			list:   []string{ask},
			want:   []string{"A13 -1"},
		},
		{name: "settings alone", fields: `"model":"claude-opus-4-8",`, list: []string{ask, settings, reply, ask}},
		{name: "settings alone, of the user", list: []string{strings.ReplaceAll(settings, "system", "user")}, want: []string{"A10 0"}},
		{name: "a note, model unknown", list: []string{ask, notice, reply}},
		{name: "a note, model that takes it", fields: `"model":"claude-opus-4-8",`, list: []string{ask, notice}},
		{name: "a note, model that does not", fields: `"model":"claude-sonnet-4-6",`, list: []string{ask, notice}, want: []string{"A15 1"}},
		{name: "a note behind a reply", fields: `"model":"claude-haiku-5-5",`, list: []string{ask, reply, notice}, want: []string{"A15 2"}},
		{name: "a note before the user", fields: `"model":"claude-haiku-5-5",`, list: []string{ask, notice, ask}, want: []string{"A15 1"}},
		{name: "an id twice", list: []string{ask, call, answer, call, answer}, want: []string{"A16 3"}},
		{name: "an id in other letters", list: []string{ask, strings.ReplaceAll(call, `"a"`, `"é"`)}, want: []string{"A0 1"}},
		{name: "a message without content", list: []string{`{"role":"user"}`}, want: []string{"A0 0"}},
		{name: "input that is no object", list: []string{ask, strings.ReplaceAll(call, `{}`, `"x"`)}, want: []string{"A0 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := "{" + tt.fields + `"messages":[` + strings.Join(tt.list, ",") + "]}"
			found, err := format{}.Validate([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprintf("%s %d", v.Rule, v.Message))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}

func TestValidateLimits(t *testing.T) {
	many := `{"messages":[` + strings.TrimSuffix(strings.Repeat(ask+",", maxMessages+1), ",") + `]}`
	large := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", maxBytes) + `"}]}`
	for name, data := range map[string]string{"messages": many, "bytes": large} {
		found, err := format{}.Validate([]byte(data))
		if err != nil || len(found) != 1 || found[0].Rule != "A14" {
			t.Errorf("too many %s: %v, %v", name, found, err)
		}
	}
}

// The maximum number of messages and of bytes is still valid.
func TestValidateAtTheLimits(t *testing.T) {
	many := `{"messages":[` + strings.TrimSuffix(strings.Repeat(ask+",", maxMessages), ",") + `]}`
	const frame = `{"messages":[{"role":"user","content":""}]}`
	large := strings.Replace(frame, `""`, `"`+strings.Repeat("x", maxBytes-len(frame))+`"`, 1)
	for name, data := range map[string]string{"messages": many, "bytes": large} {
		if found, err := (format{}).Validate([]byte(data)); err != nil || len(found) > 0 {
			t.Errorf("as many %s as may be: %v, %v", name, found, err)
		}
	}
}

func TestVersionOf(t *testing.T) {
	for _, tt := range []struct {
		model string
		want  version
		ok    bool
	}{
		{"claude-3-5-sonnet-20241022", version{"sonnet", 3, 5}, true},
		{"claude-opus-4-20250514", version{"opus", 4, 0}, true},
		{"claude-opus-4-8", version{"opus", 4, 8}, true},
		{"claude-opus-4.8", version{"opus", 4, 8}, true},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0", version{"sonnet", 4, 5}, true},
		{"vertex/claude-haiku-5-5@20261001", version{"haiku", 5, 5}, true},
		{"claude-opus-4-8[1m]", version{"opus", 4, 8}, true},
		{"claude-2.1", version{"", 2, 1}, true},
		{"claude-next", version{"next", 0, 0}, false},
		{"claude-aria-4-8", version{"aria", 4, 8}, true},
		{"claude-zeta-4-8", version{"zeta", 4, 8}, true},
		{"claude-20261001-opus-4-8", version{"opus", 4, 8}, true},
		{"claude-{preview}-opus-4-8", version{"opus", 4, 8}, true},
		{"claude-opus-10-99", version{"opus", 10, 99}, true},
		{"claude-opus-100-8", version{"opus", 8, 0}, true},
		{"claude-opus-4-20261001-8", version{"opus", 4, 0}, true},
		{"claude-opus-4-8-1", version{"opus", 4, 8}, true},
		{"claude-x1-4-8", version{"x1", 4, 8}, true},
		{"claude-+1-4-8", version{"", 4, 8}, true},
		{"gpt-5", version{}, false},
		{"", version{}, false},
	} {
		got, ok := versionOf(tt.model)
		if got != tt.want || ok != tt.ok {
			t.Errorf("versionOf(%q) = %v, %v, want %v, %v", tt.model, got, ok, tt.want, tt.ok)
		}
	}
}

func TestWhichModelsTakeSystemMessages(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-4-7": false, "claude-opus-4-8": true, "claude-opus-4-9": true, "claude-opus-3-9": false,
		"claude-sonnet-4-8": false, "claude-sonnet-4-9": false, "claude-sonnet-5-0": true, "claude-haiku-5": true, "claude-opus-6-1": true,
	} {
		v, _ := versionOf(model)
		if got := v.systemMessages(); got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}

// A violation names its message and block.
func TestViolationsNameTheirBlock(t *testing.T) {
	data := `{"messages":[` + ask + `,{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text","text":" "}]}]}`
	found, err := (format{}).Validate([]byte(data))
	if err != nil || len(found) != 1 || found[0].Field != "messages.1.content.1" {
		t.Errorf("got %v, %v, want one at messages.1.content.1", found, err)
	}
}
