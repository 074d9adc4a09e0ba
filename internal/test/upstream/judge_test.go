package upstream_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/upstream"
)

func TestInventedConversationsAreSound(t *testing.T) {
	for seed := range uint64(300) {
		if r := upstream.JudgeMessages(fakesession.Messages(seed, 4)); r != nil {
			t.Errorf("Messages(%d): %v", seed, r)
		}
		if r := upstream.JudgeChat(fakesession.Chat(seed, 4)); r != nil {
			t.Errorf("Chat(%d): %v", seed, r)
		}
		request, err := upstream.Resumed(fakesession.ClaudeCode(seed, 4))
		if err != nil {
			t.Errorf("ClaudeCode(%d): %v", seed, err)
		} else if r := upstream.JudgeMessages(request); r != nil {
			t.Errorf("ClaudeCode(%d): %v", seed, r)
		}
	}
}

// Parts of requests of Chat Completions.
const (
	chatAsks  = `{"role":"user","content":"go"}`
	chatCalls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	one       = `{"role":"tool","tool_call_id":"a","content":""}`
	two       = `{"role":"tool","tool_call_id":"b","content":"2"}`
)

func chat(messages ...string) []byte {
	return []byte(`{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`)
}

func TestChatRequestsAreJudged(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []string
		rule     string // empty if it is sound
	}{
		{"results in order", []string{chatAsks, chatCalls, one, two}, ""},
		{"calls that wait at the end", []string{chatAsks, chatCalls}, ""},
		{"no message", nil, "O0"},
		{"an unknown role", []string{`{"role":"robot","content":"x"}`}, "O0"},
		{"a user who says nothing", []string{`{"role":"user","content":null}`}, "O0"},
		{"a result without an id", []string{chatAsks, `{"role":"tool","content":"x"}`}, "O0"},
		{"a reply of nothing", []string{chatAsks, `{"role":"assistant","content":null}`}, "O1"},
		{"a list of no parts", []string{`{"role":"user","content":[]}`}, "O2"},
		{"a part without a type", []string{`{"role":"user","content":[{"text":"x"}]}`}, "O2"},
		{"arguments that are no text", []string{chatAsks, `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}`}, "O3"},
		{"a call without an id", []string{chatAsks, `{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}`}, "O3"},
		{"a user who calls", []string{`{"role":"user","content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`}, "O3"},
		{"a word between call and result", []string{chatAsks, chatCalls, one, chatAsks, two}, "O4"},
		{"a result that is missing", []string{chatAsks, chatCalls, one}, "O4"},
		{"a result without a call", []string{chatAsks, one}, "O5"},
		{"a second result", []string{chatAsks, chatCalls, one, two, two}, "O5"},
		{"results in another order", []string{chatAsks, chatCalls, two, one}, ""},
		{"an id twice", []string{chatAsks, strings.ReplaceAll(chatCalls, `"id":"b"`, `"id":"a"`), one, one}, "O7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := upstream.JudgeChat(chat(tt.messages...))
			if got := ruleOf(r); got != tt.rule {
				t.Errorf("JudgeChat: %v, want rule %q", r, tt.rule)
			}
		})
	}
}

// No service asks for it, but what is exported has results in the order of their calls.
func TestExportsHaveResultsInOrder(t *testing.T) {
	for rule, body := range map[string][]byte{
		"": chat(chatAsks, chatCalls, one, two, chatAsks), "O6": chat(chatAsks, chatCalls, two, one, chatAsks), "O4": chat(chatAsks, chatCalls, two, chatAsks),
	} {
		if got := ruleOf(upstream.Judge("none", nil, "openai", body)); got != rule {
			t.Errorf("Judge of %s: rule %q, want %q", body, got, rule)
		}
	}
}

func ruleOf(r *upstream.Refusal) string {
	if r == nil {
		return ""
	}
	return r.Rule
}

func TestWhatMustBeKeptIsJudged(t *testing.T) {
	const (
		begin   = `{"model":"claude-opus-5-5","max_tokens":9,"system":"s","messages":[{"role":"user","content":"go"},`
		compact = `{"role":"assistant","content":[{"type":"compaction","content":"so far","encrypted_content":"e"}]},{"role":"user","content":"on"},`
		think   = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"tool_use","id":"t1","name":"f","input":{"x":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}`
		search  = `,{"role":"assistant","content":[{"type":"server_tool_use","id":"v1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"v1","content":[]}]}`
		whole   = begin + compact + think + search + `]}`
	)
	for _, tt := range []struct {
		name, old, changed, rule string
	}{
		{"nothing", "", "", ""},
		{"a result", `"content":"r"`, `"content":"[carrel 1]"`, ""},
		{"an argument", `{"x":1}`, `{"x":2}`, "K1"},
		{"an id", `t1`, `t9`, "K1"},
		{"a server's result", `"name":"web_search"`, `"name":"web_fetch"`, "K2"},
		{"thinking", `"hm"`, `"oh"`, "K2"},
		{"the compaction", compact, "", "K3"},
		{"system text before thinking", `"system":"s"`, `"system":"t"`, "K4"},
		{"a message before thinking", `"go"`, `"went"`, "K4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.ReplaceAll(whole, tt.old, tt.changed)
			if tt.old == "" {
				changed = whole
			}
			r := upstream.JudgeKept([]byte(whole), []byte(changed))
			if got := ruleOf(r); got != tt.rule {
				t.Errorf("JudgeKept: %v, want rule %q", r, tt.rule)
			}
		})
	}
	unbound := bytes.ReplaceAll([]byte(whole), []byte("claude-opus-5-5"), []byte("claude-sonnet-4-5"))
	if r := upstream.JudgeKept(unbound, bytes.ReplaceAll(unbound, []byte(`"go"`), []byte(`"went"`))); r != nil {
		t.Errorf("a model that does not bind its thinking: %v", r)
	}
}

// What a session file means is told by the row that its client goes on from.
func TestResumedFollowsTheChain(t *testing.T) {
	row := func(kind, id, parent, content string) string {
		return `{"type":"` + kind + `","uuid":"` + id + `","parentUuid":` + parent + `,"message":{"role":"` + kind + `","content":` + content + `}}` + "\n"
	}
	file := row("user", "1", "null", `"first"`) +
		row("assistant", "2", `"1"`, `[{"type":"text","text":"left behind"}]`) +
		row("assistant", "3", `"1"`, `[{"type":"text","text":"one"}]`) +
		row("assistant", "4", `"3"`, `[{"type":"tool_use","id":"t","name":"f","input":{}}]`) +
		row("user", "5", `"4"`, `[{"type":"tool_result","tool_use_id":"t","content":"r"}]`) +
		`{"type":"user","uuid":"6","parentUuid":"5","isSidechain":true,"message":{"role":"user","content":"aside"}}` + "\n" +
		`{"torn`
	got, err := upstream.Resumed([]byte(file))
	const want = `{"max_tokens":1024,"messages":[{"content":[{"text":"first","type":"text"}],"role":"user"},` +
		`{"content":[{"text":"one","type":"text"},{"id":"t","input":{},"name":"f","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"r","tool_use_id":"t","type":"tool_result"}],"role":"user"}],"model":"claude-sonnet-4-5"}`
	if string(got) != want || err != nil {
		t.Errorf("Resumed = %s, %v, want %s", got, err, want)
	}
	if _, err := upstream.Resumed([]byte("\n")); err == nil {
		t.Error("Resumed of no row: no error")
	}
}

// Calls of one reply are in one message, also where the result of the first came before the
// second was written.
func TestResumedJoinsTheRowsOfAReply(t *testing.T) {
	call := func(uuid, parent, id string) string {
		return `{"type":"assistant","uuid":"` + uuid + `","parentUuid":"` + parent + `","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]}}` + "\n"
	}
	result := func(uuid, parent, id string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":"` + parent + `","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}]}}` + "\n"
	}
	file := `{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"first"}}` + "\n" +
		call("2", "1", "a") + call("3", "2", "b") + result("4", "3", "a") + call("5", "4", "c") + result("6", "5", "b") + result("7", "6", "c")
	request, err := upstream.Resumed([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if r := upstream.JudgeMessages(request); r != nil {
		t.Errorf("%v: %s", r, request)
	}
	forked := `{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"first"}}` + "\n" +
		call("2", "1", "a") + call("3", "2", "b") + result("4", "3", "b") + result("5", "2", "a")
	if request, err = upstream.Resumed([]byte(forked)); err != nil {
		t.Fatal(err)
	}
	if r := upstream.JudgeMessages(request); r != nil || !strings.Contains(string(request), `"id":"b"`) {
		t.Errorf("a call beside the chain: %v: %s", r, request)
	}
	request, err = upstream.Resumed([]byte(strings.Replace(file, `"tool_use_id":"b"`, `"tool_use_id":"a"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if r := upstream.JudgeMessages(request); r == nil {
		t.Errorf("a call without a result is let through: %s", request)
	}
}
