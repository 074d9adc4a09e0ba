package wire_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

func read(t rapid.TB, dialect wire.Dialect, header http.Header, body string) *wire.Request {
	t.Helper()
	q, err := tryRead(dialect, header, body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return q
}

func tryRead(dialect wire.Dialect, header http.Header, body string) (*wire.Request, error) {
	doc := new(rawjson.Document)
	if err := doc.Read([]byte(body)); err != nil {
		return nil, err
	}
	q := new(wire.Request)
	return q, q.Read(dialect, wire.KindCall, header, doc)
}

// bodyOf returns a request with messages.
func bodyOf(dialect wire.Dialect, messages ...string) string {
	key := "messages"
	if dialect == wire.Responses {
		key = "input"
	}
	return fmt.Sprintf(`{"model":"m","tools":[{"name":"ls"}],%q:[%s]}`, key, strings.Join(messages, ","))
}

func identity(t rapid.TB, dialect wire.Dialect, message string) digest.Digest {
	t.Helper()
	return read(t, dialect, nil, bodyOf(dialect, message)).Messages[0].Identity
}

func TestEqualMessagesHaveOneIdentity(t *testing.T) {
	for _, tt := range []struct {
		name     string
		dialect  wire.Dialect
		messages []string
	}{
		{"a text, a block, a marked block", wire.Anthropic, []string{
			`{"role":"user","content":"a\nb"}`,
			`{"role":"user","content":[{"type":"text","text":"a\nb"}]}`,
			`{"role":"user","content":[{"text":"a\nb","type":"text","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`,
			`{"role":"user","cache_control":{"type":"ephemeral"},"content":[ {"type":"text", "text":"a\nb"} ]}`,
		}},
		{"a result with a mark and without", wire.Anthropic, []string{
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x","cache_control":{"type":"ephemeral"}}]}`,
		}},
		{"a text of Chat Completions", wire.Chat, []string{
			`{"role":"tool","tool_call_id":"t","content":"x"}`,
			`{"role":"tool","tool_call_id":"t","content":[{"type":"text","text":"x"}]}`,
		}},
		{"an item of Responses", wire.Responses, []string{
			`{"role":"user","content":"x"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`,
		}},
		{"a reply of Responses", wire.Responses, []string{
			`{"role":"assistant","content":"x"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := identity(t, tt.dialect, tt.messages[0])
			for _, m := range tt.messages[1:] {
				if identity(t, tt.dialect, m) != want {
					t.Errorf("%s has another identity than %s", m, tt.messages[0])
				}
			}
		})
	}
	whole := read(t, wire.Responses, nil, `{"input":"x"}`)
	if listed := read(t, wire.Responses, nil, `{"input":[{"role":"user","content":"x"}]}`); whole.Messages[0].Chain != listed.Messages[0].Chain {
		t.Error("an input of one text has another chain than a list of it")
	}
}

func TestDifferentMessagesHaveDifferentIdentities(t *testing.T) {
	seen := map[digest.Digest]string{}
	for _, m := range []string{
		`{"role":"user","content":"a"}`,
		`{"role":"assistant","content":"a"}`,
		`{"role":"user","content":"a "}`,
		`{"role":"user","content":""}`,
		`{"role":"user","content":[]}`,
		`{"role":"user","content":null}`,
		`{"role":"user"}`,
		`{"role":"user","content":"a","name":"b"}`,
		`{"role":"user","content":["a"]}`,
		`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":""}]}`,
		`{"role":"user","content":[{"type":"text","text":"a","citations":[]}]}`,
		`{"role":"user","content":[{"type":"input_text","text":"a"}]}`,
		`{"role":"user","content":[{"type":"text"}]}`,
		`{"role":"user","content":[{"text":"a"}]}`,
		`{"role":"user","content":[{"type":"text","text":["a"]}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"a"}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":1}}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a":1.0}}]}`,
	} {
		id := identity(t, wire.Anthropic, m)
		if other, found := seen[id]; found {
			t.Errorf("%s and %s have one identity", m, other)
		}
		seen[id] = m
	}
}

// drawMessages draws a conversation of texts, results and calls. It returns it as it is first
// sent, and as it is sent again: texts as blocks, with marks.
func drawMessages(t *rapid.T) (first, again []string) {
	mark := func() string {
		return rapid.SampledFrom([]string{"", `,"cache_control":{"type":"ephemeral"}`}).Draw(t, "mark")
	}
	for range rapid.IntRange(1, 8).Draw(t, "messages") {
		role := rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role")
		text := string(rawjson.AppendString(nil, rapid.StringN(0, 12, -1).Draw(t, "text")))
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			first = append(first, fmt.Sprintf(`{"role":%q,"content":%s}`, role, text))
			again = append(again, fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%s%s}]}`, role, text, mark()))
		case 1:
			block := fmt.Sprintf(`{"type":"tool_use","id":"t","name":"n","input":{"a":%s}`, text)
			first = append(first, fmt.Sprintf(`{"role":%q,"content":[%s}]}`, role, block))
			again = append(again, fmt.Sprintf(`{"role":%q,"content":[%s%s}]}`, role, block, mark()))
		default:
			block := fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t","content":%s`, text)
			first = append(first, fmt.Sprintf(`{"role":%q,"content":[%s%s}]}`, role, block, mark()))
			again = append(again, fmt.Sprintf(`{"role":%q,"content":[%s%s}]}`, role, block, mark()))
		}
	}
	return first, again
}

// A history that is sent again, in another form and grown, has the chains that it had.
// One that differs in a message has them up to there and none of the others.
func TestAHistoryIsKnownAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, again := drawMessages(t)
		grown, _ := drawMessages(t)
		old := read(t, wire.Anthropic, nil, bodyOf(wire.Anthropic, first...)).Messages
		now := read(t, wire.Anthropic, nil, bodyOf(wire.Anthropic, append(again, grown...)...)).Messages
		for i := range old {
			if old[i].Identity != now[i].Identity || old[i].Chain != now[i].Chain {
				t.Fatalf("message %d, %s, is not known in %s", i, first[i], again[i])
			}
		}
		at := rapid.IntRange(0, len(first)-1).Draw(t, "edited")
		first[at] = strings.Replace(first[at], `"role":"`, `"role":"x`, 1)
		edited := read(t, wire.Anthropic, nil, bodyOf(wire.Anthropic, first...)).Messages
		for i := range old {
			if same := old[i].Chain == edited[i].Chain; same != (i < at) {
				t.Fatalf("message %d was edited, chain %d is the same: %t", at, i, same)
			}
		}
	})
}

func TestFrame(t *testing.T) {
	const plain = `{"system":"be brief","tools":[{"name":"a","input_schema":{}}],"messages":[]}`
	want := read(t, wire.Anthropic, nil, plain).Frame
	for _, same := range []string{
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"a","input_schema":{},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}]}`,
		`{"system":[{"type":"text","text":"x-anthropic-billing-header: cch=1;"},{"type":"text","text":"be brief"}],"tools":[{"name":"a","input_schema":{}}],"messages":[]}`,
	} {
		if read(t, wire.Anthropic, nil, same).Frame != want {
			t.Errorf("%s has another frame than %s", same, plain)
		}
	}
	for _, other := range []string{
		`{"system":"be long","tools":[{"name":"a","input_schema":{}}],"messages":[]}`,
		`{"system":"be brief","tools":[{"name":"b","input_schema":{}}],"messages":[]}`,
		`{"system":"be brief","tools":[{"name":"a","input_schema":{}},{"name":"b"}],"messages":[]}`,
		`{"system":"be brief","messages":[]}`,
		`{"tools":[{"name":"a","input_schema":{}}],"messages":[]}`,
	} {
		if read(t, wire.Anthropic, nil, other).Frame == want {
			t.Errorf("%s has the frame of %s", other, plain)
		}
	}
}

func TestNames(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, tt := range []struct {
		name           string
		dialect        wire.Dialect
		header         http.Header
		body           string
		session, agent string
	}{
		{"a header of Claude Code", wire.Anthropic, header("X-Claude-Code-Session-Id", "s"), `{"messages":[],"metadata":{"user_id":"{\"session_id\":\"other\"}"}}`, "s", ""},
		{"its metadata", wire.Anthropic, nil, `{"messages":[],"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s\"}"}}`, "s", ""},
		{"metadata of earlier releases", wire.Anthropic, nil, `{"messages":[],"metadata":{"user_id":"user_1_account__session_s"}}`, "s", ""},
		{"metadata that says it twice", wire.Anthropic, nil, `{"messages":[],"metadata":{"user_id":"{\"session_id\":\"a\",\"session_id\":\"b\"}"}}`, "", ""},
		{"metadata of other kinds", wire.Anthropic, nil, `{"messages":[],"metadata":{"user_id":7}}`, "", ""},
		{"metadata in a chat", wire.Chat, nil, `{"messages":[],"metadata":{"user_id":"user_1_account__session_s"}}`, "", ""},
		{"an agent of Claude Code", wire.Anthropic, header("X-Claude-Code-Agent-Id", "a"), `{"messages":[],"metadata":{"user_id":"_session_s"}}`, "s", "a"},
		{"metadata of others", wire.Anthropic, nil, `{"messages":[],"metadata":{"user_id":"u"}}`, "", ""},
		{"headers of Codex", wire.Responses, header("session-id", "s", "thread-id", "t"), `{"input":[],"prompt_cache_key":"p"}`, "s", "t"},
		{"a thread alone", wire.Responses, header("thread-id", "t"), `{"input":[],"prompt_cache_key":"p"}`, "t", "t"},
		{"a key of the cache", wire.Chat, nil, `{"messages":[],"prompt_cache_key":"p"}`, "p", ""},
		{"headers of OpenCode", wire.Chat, header("x-session-affinity", "s"), `{"messages":[]}`, "s", ""},
		{"nothing", wire.Chat, nil, `{"messages":[]}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := read(t, tt.dialect, tt.header, tt.body)
			if q.Session != tt.session || q.Agent != tt.agent {
				t.Errorf("got session %q and agent %q, want %q and %q", q.Session, q.Agent, tt.session, tt.agent)
			}
		})
	}
}

func TestWhatACallIs(t *testing.T) {
	turn := http.Header{}
	turn.Set("X-Codex-Turn-Metadata", `{"request_kind":"compaction"}`)
	for _, tt := range []struct {
		name           string
		dialect        wire.Dialect
		header         http.Header
		body           string
		compacts, side bool
	}{
		{"a first call", wire.Anthropic, nil, `{"tools":[{"name":"a"}],"messages":[{"role":"user","content":"hello"}]}`, false, false},
		{"a title", wire.Anthropic, nil, `{"messages":[{"role":"user","content":"hello"}]}`, false, true},
		{"a probe", wire.Anthropic, nil, `{"max_tokens":1,"tools":[{"name":"a"}],"messages":[{"role":"user","content":"quota"}]}`, false, true},
		{"a talk without tools", wire.Chat, nil, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, false, false},
		{"Claude Code compacts", wire.Anthropic, nil, `{"messages":[{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. Do not"}]}`, true, false},
		{"behind a result", wire.Anthropic, nil, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"CRITICAL: Respond with TEXT ONLY"}]}]}`, true, false},
		{"it was said before", wire.Anthropic, nil, `{"tools":[{"name":"a"}],"messages":[{"role":"user","content":"CRITICAL: Respond with TEXT ONLY"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, false, false},
		{"Codex compacts", wire.Responses, nil, `{"input":[{"role":"user","content":[{"type":"input_text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Create"}]}]}`, true, false},
		{"OpenCode compacts", wire.Chat, nil, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"Here is the conversation so far:\n\n<conversation>"}]}`, true, true},
		{"somebody tells it", wire.Chat, nil, `{"tools":[{"type":"function"}],"messages":[{"role":"user","content":"Here is the conversation so far: x"}]}`, false, false},
		{"the provider is to compact", wire.Responses, nil, `{"tools":[{"name":"a"}],"input":[{"role":"user","content":"x"},{"type":"compaction_trigger"}]}`, true, false},
		{"OpenCode asked for it otherwise", wire.Chat, nil, `{"tools":[{}],"messages":[{"role":"user","content":[{"type":"text","text":"Provide a detailed prompt for continuing our conversation"}]}]}`, true, false},
		{"a reply says so", wire.Chat, nil, `{"tools":[{}],"messages":[{"role":"assistant","content":"CRITICAL: Respond with TEXT ONLY"}]}`, false, false},
		{"the history is told again and goes on", wire.Chat, nil, `{"messages":[{"role":"user","content":"Here is the conversation so far:"},{"role":"user","content":"x"}]}`, false, false},
		{"a trigger in a chat", wire.Chat, nil, `{"tools":[{}],"messages":[{"type":"compaction_trigger"}]}`, false, false},
		{"an answer of two tokens", wire.Chat, nil, `{"max_tokens":1,"max_completion_tokens":2,"max_output_tokens":-3,"tools":[{}],"messages":[{"role":"user","content":"x"}]}`, false, false},
		{"an empty list of tools", wire.Chat, nil, `{"tools":[],"messages":[{"role":"user","content":"x"}]}`, false, true},
		{"it says so in a header", wire.Responses, turn, `{"tools":[{"name":"a"}],"input":"x"}`, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := read(t, tt.dialect, tt.header, tt.body)
			if q.Compacts != tt.compacts || q.Side != tt.side {
				t.Errorf("got compacts %t, side %t; want %t, %t", q.Compacts, q.Side, tt.compacts, tt.side)
			}
		})
	}
}

// What is counted is no call, whatever it asks for, and a compaction by the provider is one.
func TestOtherKinds(t *testing.T) {
	doc := new(rawjson.Document)
	for _, text := range []string{"CRITICAL: Respond with TEXT ONLY", "Here is the conversation so far:"} {
		if err := doc.Read([]byte(`{"max_tokens":1,"system":"s","messages":[{"role":"user","content":"` + text + `"}]}`)); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []wire.Kind{wire.KindCount, wire.KindCompact} {
			q := new(wire.Request)
			if err := q.Read(wire.Chat, kind, nil, doc); err != nil || q.Side || q.Compacts != (kind == wire.KindCompact) || q.System != rawjson.NoNode {
				t.Errorf("%s: %s: %+v, %v", kind, text, q, err)
			}
		}
	}
}

// Chains, frames and threads are stored: no version may make others of the same requests.
func TestDigestsStay(t *testing.T) {
	for dialect, want := range map[wire.Dialect]string{
		wire.Anthropic: "0b937ab8 2df44b74 91639f67 ffe5ca96 2df44b74 91639f67 25129edd 2df44b74 91639f67 ",
		wire.Chat:      "4a85319f 1c3a77e0 66895ef3 4a85319f 1c3a77e0 66895ef3 4a85319f 1c3a77e0 66895ef3 ",
		wire.Responses: "0b937ab8 9fb4eb03 5979eeee 94353f6a 9fb4eb03 5979eeee 25129edd 9fb4eb03 5979eeee ",
	} {
		list := bodyOf(dialect, `{"role":"user","content":"a"}`, `{"role":"assistant","type":"message","cache_control":1,"content":[{"type":"text","text":"b"},{"type":"output_text","text":"c","prompt_cache_breakpoint":1},{"type":"x","y":[1]},"d"]}`, `{"content":7,"type":"x"}`)
		got := ""
		for _, system := range []string{`"s"`, `[{"type":"text","text":"s"},{"type":"input_text","text":"t"},7]`, "7"} {
			q := read(t, dialect, http.Header{"Session-Id": {"i"}, "Thread-Id": {"j"}}, strings.Replace(list, "{", `{"system":`+system+`,"instructions":`+system+`,`, 1))
			got += q.Frame.String()[:8] + " " + q.Messages[2].Chain.String()[:8] + " " + q.Thread().String()[:8] + " "
		}
		if got != want {
			t.Errorf("%s: %s, want %s", dialect, got, want)
		}
	}
}

// A history that a client's compaction left is known by the message with the summary.
func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dialect wire.Dialect
		body    string
		want    int
	}{
		{"a conversation", wire.Anthropic, `{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"a"}]}`, -1},
		{"Claude Code", wire.Anthropic, `{"messages":[{"role":"user","content":[{"type":"text","text":"This session is being continued from a previous conversation that"}]},{"role":"assistant","content":"a"}]}`, 0},
		{"it is said later", wire.Anthropic, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"This session is being continued from a previous conversation"}]}`, -1},
		{"Codex", wire.Responses, `{"input":[{"role":"developer","content":"d"},{"role":"user","content":"a"},{"role":"user","content":[{"type":"input_text","text":"Another language model started to solve this problem and"}]},{"role":"user","content":"b"}]}`, 2},
		{"an item of the provider's", wire.Responses, `{"input":[{"role":"user","content":"a"},{"type":"compaction","encrypted_content":"x"},{"role":"user","content":"b"}]}`, 1},
		{"OpenCode", wire.Chat, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"What did we do so far?"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`, 2},
		{"another item of the provider's", wire.Responses, `{"input":[{"role":"user","content":"a"},{"type":"compaction_summary"},{"type":"item_reference"}]}`, 1},
		{"it is asked later", wire.Chat, `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"What did we do so far?"},{"role":"assistant","content":"b"}]}`, -1},
		{"somebody asks", wire.Chat, `{"messages":[{"role":"user","content":"What did we do so far?"}]}`, -1},
		{"one text", wire.Responses, `{"input":"This session is being continued from a previous conversation"}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, tt.dialect, nil, tt.body).Summary(); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestFields(t *testing.T) {
	q := read(t, wire.Responses, nil, `{"model":"gpt-\u0035","stream":true,"max_output_tokens":17,"instructions":"i","system":1,"messages":2,"previous_response_id":"r","input":[
		{"type":"additional_tools","role":"developer"},{"role":"user","content":"a"},{"type":"reasoning"},{"type":"function_call"},{"type":"function_call_output"},{"type":"compaction"},
		{"type":"tool_search_output","call_id":"c"},{"type":"tool_search_output","call_id":null},{"type":"configuration_update"},{"role":"function"}]}`)
	if q.Model != "gpt-5" || !q.Stream || q.MaxOutput != 17 || !q.Remote || string(q.Doc.Raw(q.System)) != `"i"` || q.First() != 1 {
		t.Errorf("got %+v", q)
	}
	var roles []wire.Role
	for _, m := range q.Messages {
		roles = append(roles, m.Role)
	}
	if want := []wire.Role{"system", "user", "assistant", "assistant", "tool", "other", "tool", "assistant", "system", "tool"}; !slices.Equal(roles, want) {
		t.Errorf("got roles %v, want %v", roles, want)
	}
}

// A request without messages asks for nothing and has no summary.
func TestNoMessages(t *testing.T) {
	q := read(t, wire.Anthropic, nil, `{"messages":[]}`)
	if q.Compaction() != rawjson.NoNode || q.Compacts || q.Summary() != -1 {
		t.Errorf("got %+v", q)
	}
}

// A history is at the provider if a part of it is only referred to.
func TestHistoriesAtTheProvider(t *testing.T) {
	for body, want := range map[string]bool{
		`{"input":[{"role":"user","content":"a"},{"type":"item_reference","id":"rs_1"},{"role":"user","content":"b"}]}`: true,
		`{"input":[{"role":"user","content":"a"}],"previous_response_id":"r"}`:                                          true,
		`{"previous_response_id":"r"}`:                                                  true,
		`{"input":"a","conversation":{"id":"c"}}`:                                       true,
		`{"input":"a","conversation":null,"previous_response_id":null}`:                 false,
		`{"input":"a","previous_response_id":"r","conversation":null}`:                  true,
		`{"input":[{"role":"user","content":[{"type":"item_reference","id":"rs_1"}]}]}`: false,
	} {
		if q := read(t, wire.Responses, nil, body); q.Remote != want {
			t.Errorf("%s: remote %t, want %t", body, q.Remote, want)
		}
	}
	if read(t, wire.Chat, nil, `{"messages":[{"type":"item_reference"}],"previous_response_id":"r"}`).Remote {
		t.Error("Chat Completions have no history at the provider")
	}
}

func TestThreads(t *testing.T) {
	of := func(dialect wire.Dialect, session, body string) digest.Digest {
		h := http.Header{}
		h.Set("X-Session-Id", session)
		return read(t, dialect, h, body).Thread()
	}
	const body = `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}`
	want := of(wire.Chat, "s", body)
	if of(wire.Chat, "s", `{"messages":[{"role":"system","content":"other"},{"role":"user","content":[{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`) != want {
		t.Error("a conversation that grew is another thread")
	}
	if of(wire.Chat, "t", body) == want || of(wire.Anthropic, "s", body) == want || of(wire.Chat, "s", `{"messages":[{"role":"user","content":"c"}]}`) == want {
		t.Error("another session, dialect or beginning is the same thread")
	}
}

func TestWhatIsNoRequest(t *testing.T) {
	for dialect, bodies := range map[wire.Dialect][]string{
		wire.Anthropic: {`{}`, `{"messages":{}}`, `{"messages":"x"}`, `{"messages":["x"]}`, `{"input":[]}`},
		wire.Chat:      {`{}`, `{"messages":null}`},
		wire.Responses: {`{}`, `{"input":1}`, `{"input":1,"conversation":"c"}`, `{"messages":[]}`, `{"input":[[]]}`},
	} {
		for _, body := range bodies {
			if _, err := tryRead(dialect, nil, body); !errors.Is(err, wire.ErrForm) {
				t.Errorf("%s: %s gives %v", dialect, body, err)
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(`{"system":[{"text":"x"}],"tools":[{}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`)
	f.Add(`{"input":"x","metadata":{"user_id":"{\"session_id\":1}"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, dialect := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
			a, err := tryRead(dialect, nil, body)
			if err != nil {
				continue
			}
			b := read(t, dialect, nil, body)
			if a.Thread() != b.Thread() || a.Frame != b.Frame || len(a.Messages) != len(b.Messages) {
				t.Fatalf("two readings of %s differ", body)
			}
			for i := range a.Messages {
				if a.Messages[i].Chain != b.Messages[i].Chain {
					t.Fatalf("two readings of %s differ at %d", body, i)
				}
			}
		}
	})
}

// A request is read again and again, as a server does it: nothing is allocated.
func BenchmarkRead(b *testing.B) {
	var messages []string
	for i := range 500 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`, i, strings.Repeat("line of text\n", 150)))
	}
	body := []byte(bodyOf(wire.Anthropic, messages...))
	doc, q := new(rawjson.Document), new(wire.Request)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := doc.Read(body); err != nil {
			b.Fatal(err)
		}
		if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
			b.Fatal(err)
		}
	}
}
