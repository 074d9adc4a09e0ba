package trajectory

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

func TestSWEAgent(t *testing.T) {
	formattest.Run(t, SWEAgent, formattest.Samples(t, "mill.traj", "mill"))
}

func TestOpenHands(t *testing.T) {
	formattest.Run(t, OpenHands, formattest.Samples(t, "*.json", "events"))
}

func FuzzSWEAgent(f *testing.F) { formattest.Fuzz(f, SWEAgent, formattest.Samples(f, "*.traj", "")) }

func FuzzOpenHands(f *testing.F) {
	formattest.Fuzz(f, OpenHands, formattest.Samples(f, "*.json", "events"))
}

// Conversations can be converted from these formats into others, and back.
func TestOtherFormats(t *testing.T) {
	for own, pattern := range map[transcript.Format]string{SWEAgent: "mill.traj", OpenHands: "*.json"} {
		formattest.RunOthers(t, own, formattest.Samples(t, pattern, "mill"), map[transcript.Format][]byte{
			openai.Format:    fakesession.Chat(3, 3),
			anthropic.Format: fakesession.Messages(3, 3),
			responses.Format: fakesession.Responses(3, 3),
		})
	}
}

// messageLines returns a line for each message of a session.
func messageLines(s *transcript.Session) (list []string) {
	for i := range s.Messages {
		m := &s.Messages[i]
		what := string(m.Role) + ": " + m.Text()
		for _, c := range m.Calls() {
			what += " " + c.ID + "=" + c.Name + string(c.Input)
		}
		for _, r := range m.Results() {
			what += r.CallID + "=" + r.Text()
		}
		list = append(list, what)
	}
	return list
}

func TestWhatIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		format transcript.Format
		want   []string
	}{
		"mill.traj": {SWEAgent, []string{
			"system: You mend the mill.", "user: Why does the mill stop?\nFind out.", `assistant: Let me look. call_1=bash{"command": "ls -a"}`,
			"tool: call_1=mill.go\nwheel.go", `assistant:  call_2=bash{"command": "cat mill.go", "n": 1e400}`, "tool: call_2=package mill",
			"assistant: The wheel is iced.", "user: Then thaw it.",
		}},
		"steps.traj": {SWEAgent, []string{
			`assistant: Let me look. step_1=action{"command":"ls"}`, "tool: step_1=mill.go", "assistant: Nothing to do.",
			`assistant:  step_3=action{"command":"submit"}`, "tool: step_3=done",
		}},
		"events.json": {OpenHands, []string{
			"system: You mend the mill.", "user: Why does the mill stop?",
			`assistant: Let me look. call_a=execute_bash{"command": "ls", "is_input": "false", "limit": 123456789012345678901234567890} call_b=str_replace_editor{"path": "/mill/wheel.go"}`,
			"tool: call_a=mill.go\nwheel.go", "tool: call_b=package mill", `assistant:  event_8=edit{"path": "/mill/wheel.go"}`, "tool: event_8=[edited]",
			"assistant: The wheel is thawed.",
		}},
	} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s := formattest.Decode(t, tt.format, string(data))
		if diff := cmp.Diff(tt.want, messageLines(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !tt.format.Sniff(data) || !tt.format.Sniff(data[:len(data)*3/4]) {
			t.Errorf("%s is not known by its beginning", name)
		}
		if enc := formattest.Encode(t, tt.format, transcript.Whole(s)); string(enc.Data) != string(data) {
			t.Errorf("%s: an intact window is not the input", name)
		}
	}
}

// A changed session that was read from its steps gets its messages as a history, and keeps all
// other members.
func TestStepsStayBesideAHistory(t *testing.T) {
	const steps = `"trajectory": [{"action": "ls", "observation": "a.go", "thought": "Look."}, {"action": "pwd", "observation": "/", "thought": "Where?"}]`
	for data, want := range map[string]string{
		`{"environment": "env", ` + steps + `, "info": {"exit_status": "submitted"}}`: `{"environment": "env", ` + steps + `, "info": {"exit_status": "submitted"}, "history": [MESSAGES]}`,
		`{"history": [], ` + steps + `}`:                                              `{"history": [MESSAGES], ` + steps + `}`,
		`{"history": null, ` + steps + `}`:                                            `{"history": [MESSAGES], ` + steps + `}`,
		`{` + steps + `, "history": [{"note": "empty"}]}`:                             `{` + steps + `, "history": [MESSAGES, {"note": "empty"}]}`,
		strings.TrimPrefix(steps, `"trajectory": `):                                   `{"history": [MESSAGES]}`,
	} {
		w := transcript.Whole(formattest.Decode(t, SWEAgent, data))
		w.Entries = w.Entries[2:]
		const messages = `{"role":"assistant","content":"Where?","tool_calls":[{"id":"step_2","type":"function","function":{"name":"action","arguments":"{\"command\":\"pwd\"}"}}], "agent": "main", "message_type": "action"}, ` +
			`{"role":"tool","content":"/", "tool_call_ids": ["step_2"], "agent": "main", "message_type": "observation"}`
		if got := string(formattest.Encode(t, SWEAgent, w).Data); got != strings.ReplaceAll(want, "MESSAGES", messages) {
			t.Errorf("%s becomes\n%s, want\n%s", data, got, want)
		}
	}
}

// Arguments in which a key comes twice are kept as they came, with the thought among them.
func TestArgumentsWithAKeyTwice(t *testing.T) {
	const events = `[{"id": 1, "source": "user", "action": "message", "args": {"content": "Go."}},
		{"id": 2, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look.", "command": "pwd"}}]`
	s := formattest.Decode(t, OpenHands, events)
	want := []string{"user: Go.", `assistant: Look. event_2=run{"command": "ls", "thought": "Look.", "command": "pwd"}`}
	if diff := cmp.Diff(want, messageLines(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if enc := formattest.Encode(t, OpenHands, transcript.Whole(s)); string(enc.Data) != events {
		t.Errorf("an intact window is not the input:\n%s", enc.Data)
	}
}

// Sniff distinguishes the two formats from one another and from requests.
func TestSniffTellsApart(t *testing.T) {
	traj, events := formattest.Samples(t, "mill.traj", "")["mill"], formattest.Samples(t, "*.json", "events")["events"]
	for _, tt := range []struct {
		format transcript.Format
		data   []byte
	}{
		{OpenHands, traj},
		{SWEAgent, events},
		{openai.Format, traj},
		{openai.Format, events},
		{anthropic.Format, traj},
		{responses.Format, events},
		{SWEAgent, fakesession.Chat(1, 1)},
		{SWEAgent, []byte(`{"history":[{"agent":"main","content":"x"}]}`)},
		{SWEAgent, []byte(`{"trajectory":[{"action":"ls","observation":"mill.go","source":"agent"}]}`)},
		{SWEAgent, []byte(`{"history":[{"role":"user","content":"x"}]}`)},
		{SWEAgent, []byte(`[{"role":"user","agent":"main","content":"x"}]`)},
		{OpenHands, []byte(`[{"observation":"run","content":"x"}]`)},
		{OpenHands, fakesession.Messages(1, 1)},
		{OpenHands, []byte(`[{"role":"user","content":"x"}]`)},
	} {
		if tt.format.Sniff(tt.data) {
			t.Errorf("%s takes %.60s for its own", tt.format.Name(), tt.data)
		}
	}
	for data, format := range map[string]transcript.Format{
		`{"history":[{"role":"user","agent":"main"}]}`: SWEAgent, `{"history":[{"role":"user","message_type":"observation"}]}`: SWEAgent,
		`[{"observation":"run","cause":1}]`: OpenHands, `[{"observation":"run","source":"agent"}]`: OpenHands, `[{"action":"run","source":"agent"}]`: OpenHands,
	} {
		if !format.Sniff([]byte(data)) {
			t.Errorf("%s does not know %s", format.Name(), data)
		}
	}
}

func TestRefuses(t *testing.T) {
	formattest.Refuses(t, SWEAgent, []formattest.Refusal{
		{Name: "no object", In: "3", Says: "neither an object nor a list"},
		{Name: "no list", In: `{"info": {}}`, Says: "no list of messages"},
		{Name: "cut off", In: `{"history": [{"role": "user"`, Says: "x.json:1"},
	})
	formattest.Refuses(t, SWEAgent, []formattest.Refusal{{
		Name: "a key twice in a result", Says: `"role"`,
		In: `{"history":[{"role":"user","content":"u","agent":"main"},{"role":"tool","role":"tool","tool_call_ids":["a"],"content":"x","agent":"main"}]}`,
	}})
	formattest.Refuses(t, OpenHands, []formattest.Refusal{{Name: "no list", In: `{"info": {}}`, Says: "no list of messages"}})
}

// Actions in a row are joined once, when the reply has ended: with a message written anew for each
// of them, this would take minutes.
func TestManyActionsInARow(t *testing.T) {
	const n = 20_000
	events := []string{`{"source":"user","action":"message","args":{"content":"go"}}`}
	for i := range n {
		events = append(events, fmt.Sprintf(`{"id":%d,"source":"agent","action":"run","args":{"command":"ls","thought":"t%d"}}`, i, i))
	}
	events = append(events, `{"source":"user","action":"message","args":{"content":"stop"}}`)
	s := formattest.Decode(t, OpenHands, "["+strings.Join(events, ",")+"]")
	if len(s.Messages) != 3 || len(s.Messages[1].Calls()) != n || !strings.HasPrefix(s.Messages[1].Text(), "t0\nt1\n") {
		t.Errorf("%d messages, %d calls", len(s.Messages), len(s.Messages[1].Calls()))
	}
}

// What an agent only noted is no call and no message: a recall, a change of its state.
func TestNotesOfAnAgent(t *testing.T) {
	s := formattest.Decode(t, OpenHands, `[{"source":"user","action":"message","args":{"content":"go"}},
		{"source":"agent","action":"recall","args":{"query":"go"}},
		{"source":"agent","action":"change_agent_state","args":{"agent_state":"running"}},
		{"source":"agent","action":"message","args":{"content":"done"}}]`)
	if len(s.Messages) != 2 || s.Messages[1].Text() != "done" || len(s.Messages[1].Calls()) != 0 {
		t.Errorf("messages %v, want one of the user and one of the agent without calls", s.Messages)
	}
}

// What events of each kind say, of an agent, a user and the environment.
func TestWhatEventsSay(t *testing.T) {
	for _, tt := range []struct {
		name, events string
		want         []string
	}{
		{"an end with a thought", `{"source":"agent","action":"finish","args":{"final_thought":"","thought":"Thawed."}}`, []string{"assistant: Thawed."}},
		{"the environment's words", `{"source":"environment","action":"system","args":{"content":"Ready."}}`, nil},
		{"a user's action", `{"source":"user","action":"run","args":{"command":"ls"}}`, nil},
		{"pictures that are none", `{"source":"user","action":"message","args":{"content":"","image_urls":[7]}}`, nil},
		{"words of nothing before an action", `{"source":"agent","action":"message","args":{"content":""}},{"id":2,"source":"agent","action":"run","args":{"command":"ls"}}`, []string{`assistant:  event_2=run{"command":"ls"}`}},
		{"a call without a name", `{"id":2,"source":"agent","action":"run","args":{},"tool_call_metadata":{"function_name":"","tool_call_id":"a"}}`, []string{"assistant:  a=run{}"}},
		{"arguments that are a list", `{"id":2,"source":"agent","action":"run","args":["ls"]}`, []string{"assistant:  event_2=run{}"}},
	} {
		s := formattest.Decode(t, OpenHands, `[{"source":"user","action":"message","args":{"content":"Go."}},`+tt.events+"]")
		if diff := cmp.Diff(append([]string{"user: Go."}, tt.want...), messageLines(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A step without a result is a reply of its own.
func TestStepWithoutAResult(t *testing.T) {
	s := formattest.Decode(t, SWEAgent, `{"trajectory":[{"action":"ls","observation":"a.go"},{"action":"pwd","observation":null}]}`)
	want := []string{`assistant:  step_1=action{"command":"ls"}`, "tool: step_1=a.go", `assistant:  step_2=action{"command":"pwd"}`}
	if diff := cmp.Diff(want, messageLines(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Arguments that are no JSON object are written as a text within one.
func TestArgumentsOfEvents(t *testing.T) {
	for args, want := range map[string]string{`{"a":1}`: `{"a":1}`, " {} ": " {} ", "": `{"_raw":""}`, " ": `{"_raw":" "}`, "[1]": `{"_raw":"[1]"}`, "{x": `{"_raw":"{x"}`, "{": `{"_raw":"{"}`} {
		message, _ := json.Marshal(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "a", "function": map[string]string{"name": "run", "arguments": args}}}})
		list := writeEvents(message)
		if got := gjson.GetBytes(slices.Concat(list...), "args").Raw; len(list) != 1 || got != strings.TrimSpace(want) {
			t.Errorf("arguments %q are written %s, want %s", args, got, want)
		}
	}
}
