package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// The models that the tests ask for.
const (
	newest = "claude-opus-5-5"  // preserves thinking
	middle = "claude-opus-4-7"  // without system messages, sampling and prefill
	oldest = "claude-haiku-4-5" // with a thinking budget
)

// ask sends a body, and returns the status and the text of the error if there is one.
func ask(t *testing.T, s *upstream.Server, body string, header ...string) (int, string) {
	t.Helper()
	w := post(t, s, "/v1/messages?beta=true", body, header...)
	var failed struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if w.Code == http.StatusOK {
		return w.Code, ""
	}
	if err := json.Unmarshal(w.Body.Bytes(), &failed); err != nil || failed.Type != "error" {
		t.Fatalf("status %d with %q, which is no error", w.Code, w.Body)
	}
	return w.Code, failed.Error.Message
}

// post sends a body as a client does. The header is names and values.
func post(t *testing.T, s *upstream.Server, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "dummy")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// request is a body with a model, messages and further fields.
func request(model, messages string, fields ...string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":10,"messages":[%s]%s}`, model, messages, strings.Join(append([]string{""}, fields...), ","))
}

// Pieces of conversations.
const (
	asks    = `{"role":"user","content":"what is in it?"}`
	says    = `{"role":"assistant","content":"a list"}`
	calls   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`
	calls2  = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}},{"type":"tool_use","id":"c2","name":"ls","input":{}}]}`
	result1 = `{"type":"tool_result","tool_use_id":"c1","content":"a"}`
	result2 = `{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"b"}]}`
	note    = `{"role":"system","content":"it is late"}`
	search  = `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`
	found   = `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`
	marked  = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	hour    = `{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`
)

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func list(parts ...string) string { return strings.Join(parts, ",") }

func TestSoundRequestsAreAnswered(t *testing.T) {
	for name, body := range map[string]string{
		"one message":                           request(newest, asks),
		"messages of one role in a row":         request(newest, list(asks, asks, says, says, asks)),
		"a call and its result":                 request(newest, list(asks, calls, user(result1))),
		"two results in another order":          request(newest, list(asks, calls2, user(result2, result1))),
		"a text behind the results":             request(newest, list(asks, calls2, user(result1, result2, `{"type":"text","text":"go on"}`))),
		"an empty result":                       request(newest, list(asks, calls, user(`{"type":"tool_result","tool_use_id":"c1"}`))),
		"a tool of the server":                  request(newest, list(asks, assistant(search, found), asks)),
		"a tool of the server over two":         request(newest, list(asks, assistant(search), assistant(found), asks)),
		"a tool of the server that waits":       request(newest, list(asks, assistant(search))),
		"an empty reply at the end":             request(oldest, list(asks, `{"role":"assistant","content":""}`)),
		"a reply that was begun":                request(oldest, list(asks, says)),
		"sampling on an older model":            request(oldest, asks, `"temperature":0.5,"top_k":3`),
		"a system message at the end":           request(newest, list(asks, note)),
		"a system message of settings":          request(newest, list(asks, `{"role":"system","content":[],"output_config":{"effort":"low"}}`)),
		"system messages before a reply":        request(newest, list(asks, note, note, says, asks)),
		"a system message behind a server tool": request(newest, list(asks, assistant(search, found), note, says, asks)),
		"four marks":                            request(newest, user(hour, marked, marked), `"system":[`+hour+`]`),
		"a mark on a tool":                      request(newest, asks, `"tools":[{"name":"ls","cache_control":{"type":"ephemeral"}}]`),
		"a turn with a budget, without calls":   request(oldest, list(asks, says, asks), `"thinking":{"type":"enabled","budget_tokens":1024}`),
		"a past turn without its thinking":      request(oldest, list(asks, calls, user(result1), says, asks), `"thinking":{"type":"enabled","budget_tokens":1024}`),
		"a block nobody knows":                  request(newest, user(`{"type":"hologram","depth":3}`)),
		"a model with a date":                   request("claude-haiku-4-5-20251001", asks),
	} {
		t.Run(name, func(t *testing.T) {
			s := upstream.New(nil)
			if status, text := ask(t, s, body); status != http.StatusOK {
				t.Errorf("got %d, %s", status, text)
			}
			if n := len(s.Refused()); n != 0 {
				t.Errorf("%d requests are said to be refused", n)
			}
		})
	}
}

func TestBrokenRequestsAreRefused(t *testing.T) {
	const budget = `"thinking":{"type":"enabled","budget_tokens":1024}`
	for _, tt := range []struct {
		name, body, rule, text string
	}{
		{"no JSON", `{"model":`, "A0", "not valid JSON"},
		{"two objects", request(newest, asks) + "{}", "A0", "not valid JSON"},
		{"a list", `[]`, "A0", "valid dictionary"},
		{"no model", `{"max_tokens":1,"messages":[` + asks + `]}`, "A0", "model: Field required"},
		{"a model that is a number", `{"model":3,"max_tokens":1,"messages":[` + asks + `]}`, "A0", "model: "},
		{"no limit", `{"model":"claude-opus-5","messages":[` + asks + `]}`, "A0", "max_tokens: Field required"},
		{"a limit that is a text", `{"model":"claude-opus-5","max_tokens":"9","messages":[` + asks + `]}`, "A0", "max_tokens"},
		{"a limit below 0", `{"model":"claude-opus-5","max_tokens":-1,"messages":[` + asks + `]}`, "A0", "max_tokens"},
		{"no list of messages", `{"model":"claude-opus-5","max_tokens":1}`, "A0", "messages: Field required"},
		{"no messages", request(newest, ""), "A0", "at least one message is required"},
		{"a message that is a text", request(newest, `"hi"`), "A0", "messages.0"},
		{"another role", request(newest, `{"role":"tool","content":"x"}`), "A0", "messages.0.role"},
		{"no content", request(newest, `{"role":"user"}`), "A0", "messages.0.content: Field required"},
		{"content that is a number", request(newest, `{"role":"user","content":3}`), "A0", "messages.0.content"},
		{"a block that is a text", request(newest, `{"role":"user","content":["x"]}`), "A0", "messages.0.content.0"},
		{"a block without a type", request(newest, user(`{"text":"x"}`)), "A0", "messages.0.content.0.type: Field required"},
		{"a text block without its text", request(newest, user(`{"type":"text"}`)), "A0", "text.text"},
		{"a call by the user", request(newest, user(`{"type":"tool_use","id":"c1","name":"ls","input":{}}`)), "A0", "`assistant` messages"},
		{"a result by the model", request(newest, list(asks, assistant(result1))), "A0", "`user` messages"},
		{"an input that is a text", request(newest, list(asks, assistant(`{"type":"tool_use","id":"c1","name":"ls","input":"x"}`))), "A0", "valid dictionary"},
		{"an id with a space", request(newest, list(asks, assistant(`{"type":"tool_use","id":"c 1","name":"ls","input":{}}`))), "A0", "should match pattern"},
		{"a call without a name", request(newest, list(asks, assistant(`{"type":"tool_use","id":"c1","name":"","input":{}}`))), "A0", "name"},
		{"two tools of one name", request(newest, asks, `"tools":[{"name":"ls"},{"name":"ls"}]`), "A0", "Tool names must be unique"},
		{"a tool without a name", request(newest, asks, `"tools":[{}]`), "A0", "tools.0.name"},
		{"the model speaks first", request(oldest, list(says, asks)), "A1", "first message must use the user role"},
		{"a system message is first", request(newest, list(note, asks)), "A1", "first message must use the user role"},
		{"a call without a result", request(newest, list(asks, calls, asks)), "A2", "`tool_use` ids were found without `tool_result` blocks immediately after: c1"},
		{"a call at the end", request(oldest, list(asks, calls)), "A2", "immediately after"},
		{"a result behind a system message", request(newest, list(asks, calls, note, user(result1))), "A15", "must follow a user message"},
		{"one result of two", request(newest, list(asks, calls2, user(result1))), "A2", "immediately after: c2"},
		{"a result without a call", request(newest, user(result1)), "A3", "unexpected `tool_use_id` found in `tool_result` blocks: c1"},
		{"a result two messages late", request(newest, list(asks, calls, user(result1), says, user(result1))), "A3", "unexpected `tool_use_id`"},
		{"two results for one call", request(newest, list(asks, calls, user(result1, result1))), "A3", "unexpected `tool_use_id`"},
		{"a text before the result", request(newest, list(asks, calls, user(`{"type":"text","text":"here"}`, result1))), "A4", "immediately after"},
		{"results in two messages", request(newest, list(asks, calls2, user(result1), user(result2))), "A5", "immediately after: c2"},
		{"a server tool without its result", request(newest, list(asks, assistant(search, `{"type":"text","text":"x"}`), asks)), "A6", "`web_search` tool use with id `s1` was found without a corresponding `web_search_tool_result` block"},
		{"the result of a server tool alone", request(newest, list(asks, assistant(found), asks)), "A6", "unexpected `tool_use_id`"},
		{"thinking that was made up", request(newest, list(asks, assistant(`{"type":"thinking","thinking":"hm","signature":"AAAA"}`, `{"type":"text","text":"x"}`), asks)), "A7", "blocks in the latest assistant message cannot be modified"},
		{"older thinking that was made up", request(oldest, list(asks, assistant(`{"type":"thinking","thinking":"hm","signature":"?"}`), asks, says, asks)), "A9", "Invalid `signature` in `thinking` block"},
		{"redacted thinking that was made up", request(newest, list(asks, assistant(`{"type":"redacted_thinking","data":"AAAA"}`), asks)), "A7", "cannot be modified"},
		{"an open turn without its thinking", request(oldest, list(asks, calls, user(result1)), budget), "A8", "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"an empty text", request(newest, user(`{"type":"text","text":""}`)), "A10", "text content blocks must be non-empty"},
		{"a blank text", request(newest, `{"role":"user","content":" \n"}`), "A10", "must contain non-whitespace text"},
		{"an empty message", request(newest, list(`{"role":"user","content":""}`, says, asks)), "A10", "all messages must have non-empty content"},
		{"a message without blocks", request(newest, list(asks, assistant(), asks)), "A10", "all messages must have non-empty content"},
		{"an empty system message", request(newest, list(asks, `{"role":"system","content":[]}`)), "A10", "all messages must have non-empty content"},
		{"an empty message with settings", request(newest, `{"role":"user","content":[],"output_config":{}}`), "A10", "all messages must have non-empty content"},
		{"an empty text in a result", request(newest, list(asks, calls, user(`{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":""}]}`))), "A10", "text content blocks must be non-empty"},
		{"an empty system text", request(newest, asks, `"system":[{"type":"text","text":""}]`), "A10", "system: text content blocks must be non-empty"},
		{"five marks", request(newest, user(marked, marked, marked), `"system":[`+marked+`,`+marked+`]`), "A11", "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{"five marks, one in a result", request(newest, list(asks, calls, user(`{"type":"tool_result","tool_use_id":"c1","content":[`+marked+`]}`, marked, marked, marked, marked))), "A11", "Found 5"},
		{"an hour behind five minutes", request(newest, user(hour), `"system":[`+marked+`]`), "A11", "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after"},
		{"a mark on an empty text", request(newest, user(`{"type":"text","text":"","cache_control":{"type":"ephemeral"}}`)), "A11", "cache_control cannot be set for empty text blocks"},
		{"a mark on thinking", request(newest, list(asks, assistant(`{"type":"thinking","thinking":"","signature":"s","cache_control":{"type":"ephemeral"}}`), asks)), "A11", "Extra inputs are not permitted"},
		{"a reply that was begun", request(middle, list(asks, says)), "A12", "does not support assistant message prefill"},
		{"a temperature", request(middle, asks, `"temperature":1`), "A13", "`temperature` is deprecated"},
		{"top_p", request(newest, asks, `"top_p":0.9`), "A13", "`top_p`"},
		{"a thinking budget", request(newest, asks, budget), "A13", "budget_tokens"},
		{"a system message for an older model", request(middle, list(asks, note)), "A15", "messages.1: role 'system' is not supported on this model"},
		{"a system message behind a reply", request(newest, list(asks, says, note)), "A15", "must follow a user message"},
		{"a system message before a user's", request(newest, list(asks, note, asks)), "A15", "must be last or followed by an assistant message"},
		{"an id twice in a reply", request(newest, list(asks, assistant(`{"type":"tool_use","id":"c1","name":"ls","input":{}}`, `{"type":"tool_use","id":"c1","name":"ls","input":{}}`), user(result1))), "A16", "`tool_use` ids must be unique"},
		{"an id again later", request(newest, list(asks, calls, user(result1), calls, user(result1))), "A16", "messages.3.content.0: `tool_use` ids must be unique"},
		{"too many messages", request(newest, strings.Repeat(asks+",", 100_000)+asks), "A14", "too many messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(nil)
			status, text := ask(t, s, tt.body)
			if status != http.StatusBadRequest || !strings.Contains(text, tt.text) {
				t.Errorf("got %d, %q; want 400, %q", status, text, tt.text)
			}
			refused := s.Refused()
			if len(refused) != 1 || refused[0].Refusal.Rule != tt.rule {
				t.Errorf("refused: %v; want one by %s", refused, tt.rule)
			}
		})
	}
}

func TestTooLargeARequestIsRefusedWith413(t *testing.T) {
	s := upstream.New(nil)
	body := request(newest, `{"role":"user","content":"`+strings.Repeat("x", 32<<20)+`"}`)
	status, text := ask(t, s, body)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(text, "maximum size") {
		t.Errorf("got %d, %q", status, text)
	}
	if refused := s.Refused(); len(refused) != 1 || refused[0].Refusal.Rule != "A14" {
		t.Errorf("refused: %v", refused)
	}
	if status, text := ask(t, s, strings.Repeat(" ", 32<<20)); status != http.StatusBadRequest {
		t.Errorf("one that is as large as may be got %d, %q", status, text)
	}
}

// Whatever is sent gets an answer that is JSON.
func FuzzBodies(f *testing.F) {
	f.Add(request(newest, list(asks, calls, user(result1), note)))
	f.Add(request(oldest, list(asks, assistant(search, found), says)))
	f.Add(request(newest, user(marked, hour), `"system":[`+marked+`]`, `"tools":[{"name":"x"}]`, `"thinking":{"block_binding":3}`))
	f.Add(`{"model":null,"messages":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := upstream.New(nil)
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			w := post(t, s, path, body)
			stream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
			if !stream && !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s answers %q with %q", path, body, w.Body)
			}
		}
		for _, r := range s.Requests() {
			r.Texts()
			r.Results()
			r.Prompt()
		}
	})
}
