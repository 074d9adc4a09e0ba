package judged

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/transcript"
)

// A shape is a request that a provider is known to refuse.
type shape struct {
	rule   string // by which it is refused
	name   string
	data   string
	refuse bool   // it cannot be mended
	says   string // a part of what was mended
}

// messages returns a request of the Messages API.
func messages(fields string, list ...string) string {
	return `{` + fields + `"max_tokens":10,"messages":[` + strings.Join(list, ",") + `]}`
}

// Pieces of requests of the Messages API.
const (
	oldModel = `"model":"claude-haiku-4-5",`
	midModel = `"model":"claude-opus-4-7",`
	newModel = `"model":"claude-opus-5-5",`

	asks    = `{"role":"user","content":"what is in it?"}`
	says    = `{"role":"assistant","content":"a list"}`
	callA   = `{"type":"tool_use","id":"a","name":"ls","input":{}}`
	callB   = `{"type":"tool_use","id":"b","name":"ls","input":{}}`
	resultA = `{"type":"tool_result","tool_use_id":"a","content":"x"}`
	resultB = `{"type":"tool_result","tool_use_id":"b","content":"y"}`
	words   = `{"type":"text","text":"and so"}`
	marked  = `{"type":"text","text":"and so","cache_control":{"type":"ephemeral"}}`
	hour    = `{"type":"text","text":"and so","cache_control":{"type":"ephemeral","ttl":"1h"}}`
	thought = `{"type":"thinking","thinking":"hm","signature":"s"}`
	search  = `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`
	found   = `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`
)

func byUser(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func byModel(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

// The shapes that the Messages API refuses, but for those that only it can tell: see
// TestThinkingThatIsRefused.
func messagesShapes() []shape {
	note := `{"role":"system","content":"it is late"}`
	return []shape{
		{"A1", "a reply first", messages(oldModel, says, asks), false, "put first"},
		{"A1", "a system message first", messages(newModel, note, asks), false, "put first"},
		{"A2", "a call that nobody answered", messages(oldModel, asks, byModel(callA), asks), false, "made up a result"},
		{"A2", "one of two calls that nobody answered", messages(oldModel, asks, byModel(callA, callB), byUser(resultA)), false, "made up a result"},
		{"A2", "a reply between call and result", messages(oldModel, asks, byModel(callA), says, byUser(resultA)), false, "moved behind its call"},
		{"A3", "a result without a call", messages(oldModel, asks, says, byUser(resultA)), false, "became user text"},
		{"A3", "a second result", messages(oldModel, asks, byModel(callA), byUser(resultA, resultA)), false, "second result"},
		{"A3", "a result at the beginning", messages(oldModel, byUser(resultA), says, asks), false, "became user text"},
		{"A4", "a text before a result", messages(oldModel, asks, byModel(callA), byUser(words, resultA)), false, "put before the text"},
		{"A5", "results in two messages", messages(oldModel, asks, byModel(callA, callB), byUser(resultA), byUser(resultB)), false, "in one message"},
		{"A6", "a call of a server's tool alone", messages(oldModel, asks, byModel(search), asks), false, "without its result became text"},
		{"A6", "a result of a server's tool alone", messages(oldModel, asks, byModel(found), asks), false, "without its call became text"},
		{"A8", "a turn that begins without its thinking", messages(oldModel+`"thinking":{"type":"enabled","budget_tokens":5},`, asks, byModel(callA), byUser(resultA)), true, ""},
		{"A8", "thinking without a signature", messages(oldModel, asks, byModel(`{"type":"thinking","thinking":"hm","signature":""}`, words), asks), false, "without a signature"},
		{"A10", "an empty text", messages(oldModel, asks, byModel(`{"type":"text","text":""}`, words), asks), false, "empty text"},
		{"A10", "a text without a word", messages(oldModel, byUser(`{"type":"text","text":" \n"}`, words)), false, "empty text"},
		{"A10", "an empty message", messages(oldModel, asks, says, `{"role":"user","content":""}`, asks), false, "empty message"},
		{"A10", "an empty text in a result", messages(oldModel, asks, byModel(callA), byUser(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""}]}`)), false, "empty text"},
		{"A11", "five marks", messages(oldModel, byUser(marked, marked, marked), byModel(marked, marked), asks), false, "cache mark"},
		{"A11", "an hour behind five minutes", messages(oldModel, byUser(marked, hour)), false, "cache mark"},
		{"A11", "a mark on thinking", messages(oldModel, asks, byModel(strings.Replace(thought, `{`, `{"cache_control":{"type":"ephemeral"},`, 1), words), asks), false, "cache mark"},
		{"A12", "a reply at the end", messages(newModel, asks, says), false, "put last"},
		{"A13", "a temperature", messages(midModel+`"temperature":0.5,`, asks), true, ""},
		{"A13", "a thinking budget", messages(midModel+`"thinking":{"type":"enabled","budget_tokens":5},`, asks), true, ""},
		{"A14", "too many messages", messages(oldModel, strings.TrimSuffix(strings.Repeat(asks+",", 100_001), ",")), true, ""},
		{"A14", "too many bytes", messages(oldModel, `{"role":"user","content":"`+strings.Repeat("x", 32<<20)+`"}`), true, ""},
		{"A15", "a system message, for a model without", messages(oldModel, asks, note), false, "became user text"},
		{"A15", "a system message behind a reply", messages(newModel, asks, says, note), false, "became user text"},
		{"A15", "a system message before the user", messages(newModel, asks, note, asks), false, "became user text"},
		{"A16", "an id twice in a reply", messages(oldModel, asks, byModel(callA, callA), byUser(resultA, resultA)), false, "was used before"},
		{"A16", "an id twice in two replies", messages(oldModel, asks, byModel(callA), byUser(resultA), byModel(callA), byUser(resultA)), false, "was used before"},
	}
}

// items returns a request of the Responses API.
func items(list ...string) string {
	return `{"model":"gpt-5","input":[` + strings.Join(list, ",") + `]}`
}

// The shapes that the Responses API refuses.
func responsesShapes() []shape {
	const (
		ask    = `{"role":"user","content":"what is in it?"}`
		call   = `{"type":"function_call","id":"fc_1","call_id":"a","name":"ls","arguments":"{}"}`
		output = `{"type":"function_call_output","call_id":"a","output":"x"}`
		reason = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`
	)
	return []shape{
		{"R0", "no items", items(), true, ""},
		{"R0", "a message of nothing", items(ask, `{"role":"user","content":[]}`), false, "empty message"},
		{"R0", "an output of nothing", items(ask, call, `{"type":"function_call_output","call_id":"a"}`), false, "missing output"},
		{"R1", "a call without output", items(ask, call, ask), false, "made up a result"},
		{"R2", "an output without a call", items(ask, output), false, "became user text"},
		{"R2", "an output before its call", items(ask, output, call, ask), false, "became user text"},
		{"R2", "a second output", items(ask, call, output, output), false, "second result"},
		{"R2", "an output of another kind", items(ask, call, strings.Replace(output, "function", "custom_tool", 1)), false, "form of its call"},
		{"R3", "reasoning that led to nothing", items(ask, reason, ask), false, "led to nothing"},
		{"R4", "an id of another provider", items(ask, strings.Replace(call, "fc_1", "toolu_1", 1), output), false, "id of an item"},
		{"R5", "an item id twice", items(ask, call, output, strings.Replace(call, `"a"`, `"b"`, 1), strings.Replace(output, `"a"`, `"b"`, 1)), false, "id of an item"},
		{"R6", "a long call id", items(ask, strings.Replace(call, `"a"`, `"`+strings.Repeat("a", 65)+`"`, 1), strings.Replace(output, `"a"`, `"`+strings.Repeat("a", 65)+`"`, 1)), false, "written anew"},
		{"R6", "arguments that are no text", items(ask, strings.Replace(call, `"{}"`, `{}`, 1), output), false, "written anew"},
		{"R7", "a call id twice", items(ask, call, output, strings.Replace(call, "fc_1", "fc_2", 1), output), false, "was used before"},
	}
}

// The shapes that Chat Completions refuse.
func chatShapes() []shape {
	const (
		ask  = `{"role":"user","content":"what is in it?"}`
		call = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
		tool = `{"role":"tool","tool_call_id":"a","content":"x"}`
	)
	chat := func(list ...string) string { return `{"model":"gpt-4o","messages":[` + strings.Join(list, ",") + `]}` }
	two := strings.Replace(call, `]}`, `,{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}`, 1)
	return []shape{
		{"O0", "no messages", chat(), true, ""},
		{"O0", "a user of nothing", chat(ask, `{"role":"user","content":null}`), false, "empty message"},
		{"O0", "a result without an id", chat(ask, call, `{"role":"tool","content":"x"}`), false, "made up a result"},
		{"O1", "a reply of nothing", chat(ask, `{"role":"assistant","content":null}`, ask), false, "empty message"},
		{"O2", "a list of no parts", chat(ask, `{"role":"user","content":[]}`), false, "empty message"},
		{"O3", "arguments that are no text", chat(ask, strings.Replace(call, `"{}"`, `{}`, 1), tool), false, "written anew"},
		{"O3", "an empty list of calls", chat(ask, `{"role":"assistant","content":"x","tool_calls":[]}`, ask), false, "empty list of calls"},
		{"O4", "a call that nobody answered", chat(ask, call, ask), false, "made up a result"},
		{"O4", "a word between call and result", chat(ask, call, ask, tool), false, "moved behind its call"},
		{"O4", "one of two calls that nobody answered", chat(ask, two, tool), false, "made up a result"},
		{"O5", "a result without a call", chat(ask, tool), false, "became user text"},
		{"O5", "a second result", chat(ask, call, tool, tool), false, "second result"},
		{"O7", "an id twice in a reply", chat(ask, strings.Replace(two, `"b"`, `"a"`, 1), tool, tool), false, "was used before"},
	}
}

// Each shape is found by its rule, by the validator and by a judge that shares no code with
// it, and is mended, so that both take it, or refused with the rule.
func TestKnownRefusals(t *testing.T) {
	for provider, shapes := range map[string][]shape{"anthropic": messagesShapes(), "openai": chatShapes(), "responses": responsesShapes()} {
		for _, s := range shapes {
			t.Run(s.rule+" "+s.name, func(t *testing.T) { checkShape(t, provider, s) })
		}
	}
}

func checkShape(t *testing.T, provider string, s shape) {
	_, found, err := carrel.Validate(provider, []byte(s.data))
	if err != nil {
		t.Fatal(err)
	}
	rules := append([]string{s.rule}, sameRule[s.rule]...)
	if len(found) == 0 || !slices.ContainsFunc(found, func(v transcript.Violation) bool { return slices.Contains(rules, v.Rule) }) {
		t.Errorf("Validate found %v, want %v", found, rules)
	}
	if got := sent(t, provider, []byte(s.data)); got != s.rule {
		t.Errorf("the service refuses it by %q, want %s", got, s.rule)
	}
	res, err := carrel.Repair(&carrel.RepairRequest{Provider: provider, Data: []byte(s.data)})
	if s.refuse {
		e, ok := errors.AsType[*carrel.InvalidError](err)
		if !ok || !slices.Contains(rules, e.Violations[0].Rule) {
			t.Errorf("Repair: %v, want a refusal by %v", err, rules)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for _, f := range res.Repairs {
		told = told || f.Rule != "" && strings.Contains(f.What, s.says)
	}
	if !told {
		t.Errorf("repairs are %v, want %q", res.Repairs, s.says)
	}
	if _, left, err := carrel.Validate(provider, res.Data); err != nil || len(left) > 0 {
		t.Errorf("what was mended is refused: %v %v\n%s", left, err, res.Data)
	}
	// The signatures here are made up, which is A7 for the service.
	if got := sent(t, provider, res.Data); got != "" && got != "A7" {
		t.Errorf("the service refuses by %s what was mended:\n%s", got, res.Data)
	}
	if err := lost(provider, []byte(s.data), res.Data); err != nil {
		t.Errorf("%v\n%s", err, res.Data)
	}
	again, err := carrel.Repair(&carrel.RepairRequest{Provider: provider, Data: res.Data})
	if err != nil || !again.Intact || !bytes.Equal(again.Data, res.Data) {
		t.Errorf("mended again: %v %v", again, err)
	}
}

// sent returns the rule by which a service refuses a request, or nothing.
func sent(t *testing.T, provider string, data []byte) string {
	t.Helper()
	path := map[string]string{"anthropic": "/v1/messages", "openai": "/v1/chat/completions", "responses": "/v1/responses"}[provider]
	s := upstream.New(&upstream.Options{Script: []upstream.Step{{Times: upstream.Always, When: func(*upstream.Request) bool { return true }, Reply: upstream.Say(upstream.Text("ok"))}}})
	post(t, s, path, data)
	if refused := s.Refused(); len(refused) > 0 {
		return refused[0].Refusal.Rule
	}
	return ""
}

// post sends a request to a service, and returns the answer.
func post(t *testing.T, s *upstream.Server, path string, data []byte) []byte {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	if path == "/v1/messages" {
		r.Header.Set("X-Api-Key", "dummy")
		r.Header.Set("Anthropic-Version", "2023-06-01")
	} else {
		r.Header.Set("Authorization", "Bearer dummy")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Body.Bytes()
}

// Rules A7 and A9 are about signatures, which only the provider can check: no validator
// finds them. Without thinking such a request is taken.
func TestThinkingThatIsRefused(t *testing.T) {
	think := upstream.Step{Times: upstream.Always, Reply: upstream.Say(upstream.Thinking("I look."), upstream.Text("A list."))}
	for _, tt := range []struct {
		rule, name, was, is string
		behind              string // what follows the reply
	}{
		{"A7", "another text", "I look.", "I sleep.", asks},
		{"A9", "another prefix", "what is in it?", "what is it?", asks},
		{"A9", "another text, earlier", "I look.", "I sleep.", asks + "," + says + "," + asks},
	} {
		t.Run(tt.rule+" "+tt.name, func(t *testing.T) {
			s := upstream.New(&upstream.Options{Script: []upstream.Step{think}})
			var reply struct{ Content json.RawMessage }
			if err := json.Unmarshal(post(t, s, "/v1/messages", []byte(messages(newModel, asks))), &reply); err != nil {
				t.Fatal(err)
			}
			whole := messages(newModel, asks, `{"role":"assistant","content":`+string(reply.Content)+`}`, tt.behind)
			broken := strings.Replace(whole, tt.was, tt.is, 1)
			if _, found, err := carrel.Validate("anthropic", []byte(broken)); err != nil || len(found) > 0 {
				t.Fatalf("Validate found %v %v", found, err)
			}
			res, err := carrel.Repair(&carrel.RepairRequest{Data: []byte(broken), WithoutThinking: true})
			if err != nil || len(res.Repairs) != 1 || res.Repairs[0].Rule != "A9" {
				t.Fatalf("Repair: %+v %v", res, err)
			}
			for _, data := range []string{whole, broken, string(res.Data)} {
				post(t, s, "/v1/messages", []byte(data))
			}
			var rules []string
			for _, r := range s.Requests() {
				rules = append(rules, fmt.Sprint(r.Refusal != nil))
				if r.Refusal != nil && r.Refusal.Rule != tt.rule {
					t.Errorf("refused by %v, want %s", r.Refusal, tt.rule)
				}
			}
			if got := strings.Join(rules, " "); got != "false false true false" {
				t.Errorf("refused: %s, want the changed one alone", got)
			}
		})
	}
}

// Where a model ties thinking to what stands before it, thinking before the first change
// stays, and what is behind it goes.
func TestRepairDropsBoundThinking(t *testing.T) {
	call := strings.Replace(callA, `"a"`, `"early"`, 1)
	answer := strings.Replace(resultA, `"a"`, `"early"`, 1)
	data := func(model string) string {
		return messages(model, asks, byModel(thought, call), byUser(answer), byModel(strings.Replace(thought, "hm", "ho", 1), callA), asks, byModel(strings.Replace(thought, "hm", "hu", 1), words), asks)
	}
	for model, want := range map[string]string{newModel: "hm ho ", oldModel: "hm ho hu "} {
		res, err := carrel.Repair(&carrel.RepairRequest{Data: []byte(data(model))})
		if err != nil {
			t.Fatal(err)
		}
		var left string
		for _, word := range []string{"hm", "ho", "hu"} {
			if strings.Contains(string(res.Data), `"thinking":"`+word+`"`) {
				left += word + " "
			}
		}
		if left != want {
			t.Errorf("with %s thinking is left in %q, want %q\n%s", model, left, want, res.Data)
		}
	}
}
