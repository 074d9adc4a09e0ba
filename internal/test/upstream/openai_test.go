package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// bearer is how a client of OpenAI says who it is.
var bearer = []string{"X-Api-Key", "", "Authorization", "Bearer dummy"}

// tell sends a body to a route of OpenAI and decodes what comes.
func tell(t fataler, s *upstream.Server, path, body string, into any) int {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer dummy")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%s answers %d with %q: %v", path, w.Code, w.Body, err)
	}
	return w.Code
}

// failed is an error of OpenAI.
type failed struct {
	Error struct{ Message, Type, Code string }
}

// A completion is what Chat Completions answer, or a chunk of it.
type completion struct {
	Choices []struct {
		Message, Delta struct {
			Role, Content string
			Calls         []struct {
				Index    int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
			Writes int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// said returns what a completion says, and what it calls with what.
func (c completion) said() string {
	m := c.Choices[0].Message
	s := m.Role + ": " + m.Content
	for _, call := range m.Calls {
		s += fmt.Sprintf("\n%s %s %s", call.ID, call.Function.Name, call.Function.Arguments)
	}
	return s + "\n" + c.Choices[0].Finish
}

// joinedChunks reads a stream of chunks as a client does.
func joinedChunks(t fataler, stream string) completion {
	whole, ok := strings.CutSuffix(stream, "\n\ndata: [DONE]\n\n")
	if !ok {
		t.Fatalf("it does not end with [DONE]: %q", stream)
	}
	var got completion
	for line := range strings.SplitSeq(whole, "\n\n") {
		var c completion
		data, ok := strings.CutPrefix(line, "data: ")
		if err := json.Unmarshal([]byte(data), &c); err != nil || !ok {
			t.Fatalf("a broken chunk %q", line)
		}
		if len(c.Choices) == 0 {
			got.Usage = c.Usage
			continue
		}
		if got.Choices == nil {
			got.Choices = append(got.Choices, c.Choices[0])
		}
		m, d := &got.Choices[0].Message, c.Choices[0].Delta
		m.Role += d.Role
		m.Content += d.Content
		for _, call := range d.Calls {
			if call.Index == len(m.Calls) {
				m.Calls = append(m.Calls, call)
				continue
			}
			m.Calls[call.Index].Function.Arguments += call.Function.Arguments
		}
		got.Choices[0].Finish = c.Choices[0].Finish
	}
	return got
}

// saying draws what a reply of a model of OpenAI says.
func saying(rt *rapid.T) upstream.Reply {
	texts := rapid.OneOf(rapid.String(), rapid.StringN(400, 2000, -1))
	call := rapid.Map(texts, func(s string) upstream.Block {
		return upstream.Call{Name: "write", Input: map[string]any{"text": s, "lines": []int{1, 2}}}
	})
	text := rapid.Map(texts, func(s string) upstream.Block { return upstream.Text(s) })
	think := rapid.Just(upstream.Block(upstream.Thinking("hm")))
	return upstream.Say(append([]upstream.Block{text.Draw(rt, "text")}, rapid.SliceOfN(rapid.OneOf(call, think), 0, 4).Draw(rt, "blocks")...)...)
}

// A stream of chunks says what a completion says.
func TestAStreamIsItsCompletion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		said := saying(rt)
		var whole completion
		const head = `{"model":"gpt-5","messages":[` + asks + `]`
		tell(rt, upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: said}}}), "/v1/chat/completions", head+`}`, &whole)
		s := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: said}}})
		w := post(t, s, "/v1/chat/completions", head+`,"stream":true,"stream_options":{"include_usage":true}}`, bearer...)
		got := joinedChunks(rt, w.Body.String())
		if diff := cmp.Diff(whole.said(), got.said()); diff != "" {
			rt.Fatalf("the stream is not the completion (-completion +stream):\n%s", diff)
		}
		if diff := cmp.Diff(whole.Usage, got.Usage); diff != "" || got.Usage == nil {
			rt.Fatalf("usage (-completion +stream):\n%s", diff)
		}
	})
}

func TestChatsAreServed(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Name: "one", Reply: upstream.Say(upstream.Text("I look."), upstream.Call{ID: "a", Name: "f", Input: struct{}{}}, upstream.Call{ID: "b", Name: "f"})},
		{Name: "two", Make: func(r *upstream.Request) upstream.Reply {
			return upstream.Say(upstream.Text("It says " + r.Results()[1].Text))
		}},
	}})
	var c completion
	tell(t, s, "/v1/chat/completions", string(chat(`{"role":"developer","content":"Be brief."}`, chatAsks)), &c)
	const first = "assistant: I look.\na f {}\nb f {}\ntool_calls"
	if got := c.said(); got != first {
		t.Errorf("first it says %q, want %q", got, first)
	}
	c = completion{}
	tell(t, s, "/v1/chat/completions", string(chat(`{"role":"developer","content":"Be brief."}`, chatAsks, chatCalls, one, two)), &c)
	if got := c.said(); got != "assistant: It says 2\nstop" {
		t.Errorf("then it says %q", got)
	}
	r := s.Requests()[1]
	if diff := cmp.Diff([]string{"Be brief.", "go", "{}", "{}", "", "2"}, r.Texts()); diff != "" || r.Kind != upstream.KindMain || r.Prefix.Broke != "" {
		t.Errorf("%s, broke %q; texts (-want +got):\n%s", r.Kind, r.Prefix.Broke, diff)
	}
}

func TestOtherRoutesOfOpenAI(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		status           int
		code, rule       string
	}{
		{"a chat whose call waits", "/v1/chat/completions", string(chat(chatAsks, chatCalls)), 400, "", "O4"},
		{"a chat without a model", "/v1/chat/completions", `{"messages":[` + chatAsks + `]}`, 400, "missing_required_parameter", ""},
		{"a model that is not", "/v1/chat/completions", `{"model":"claude-opus-5","messages":[` + chatAsks + `]}`, 404, "model_not_found", ""},
		{"no input", "/v1/responses", `{"model":"gpt-5"}`, 400, "", "R0"},
		{"an item that is a text", "/v1/responses", `{"model":"gpt-5","input":["x"]}`, 400, "", "R0"},
		{"an output without its call", "/v1/responses", `{"model":"gpt-5","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`, 400, "", "R2"},
		{"a call that waits", "/v1/responses", `{"model":"gpt-5","input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]}`, 400, "", "R1"},
		{"a response before that is not", "/v1/responses", `{"model":"gpt-5","input":"x","previous_response_id":"resp_1"}`, 400, "previous_response_not_found", ""},
		{"what is no JSON", "/v1/responses", `{`, 400, "", "R0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(nil)
			var f failed
			status := tell(t, s, tt.path, tt.body, &f)
			refused := s.Refused()
			if status != tt.status || f.Error.Code != tt.code || f.Error.Message == "" || len(refused) != 1 || refused[0].Refusal.Rule != tt.rule {
				t.Errorf("got %d, %+v, refused %v; want %d, %q, %q", status, f, refused, tt.status, tt.code, tt.rule)
			}
		})
	}
	if w := post(t, upstream.New(nil), "/v1/responses", `{"model":"gpt-5","input":"x"}`); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key: got %d", w.Code)
	}
}

// A response is what the Responses API answers.
type response struct {
	ID, Status      string
	Output          []json.RawMessage
	Transformations []struct{ Path, Reason string } `json:"input_transformations"`
	Usage           struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
			Writes int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	}
}

// respond sends a request with items and returns the response.
func respond(t *testing.T, s *upstream.Server, model string, items ...string) response {
	t.Helper()
	var r response
	if code := tell(t, s, "/v1/responses", `{"model":"`+model+`","store":false,"instructions":"Be brief.","input":[`+strings.Join(items, ",")+`]}`, &r); code != http.StatusOK {
		t.Fatalf("got %d, refused %v", code, s.Refused())
	}
	return r
}

// A stream of events says what a response says, in its deltas and in its last event.
func TestAStreamIsItsResponse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		said := saying(rt)
		var whole response
		tell(rt, upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: said}}}), "/v1/responses", `{"model":"gpt-5","input":"go"}`, &whole)
		s := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: said}}})
		w := post(t, s, "/v1/responses", `{"model":"gpt-5","input":"go","stream":true}`, bearer...)
		var last response
		deltas, wholes := make(map[string]string), make(map[string]string)
		for i, frame := range strings.Split(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n") {
			name, data, _ := strings.Cut(frame, "\ndata: ")
			var e struct {
				Type     string
				Number   int `json:"sequence_number"`
				Item     string
				ItemID   string `json:"item_id"`
				Delta    string
				Text     string
				Argument string `json:"arguments"`
				Response json.RawMessage
			}
			var raw map[string]json.RawMessage
			if err := json.Unmarshal([]byte(data), &raw); err != nil {
				rt.Fatalf("a broken event %q", frame)
			}
			delete(raw, "item")
			plain, _ := json.Marshal(raw)
			if err := json.Unmarshal(plain, &e); err != nil || name != "event: "+e.Type || e.Number != i {
				rt.Fatalf("event %d is %q, %v", i, frame, err)
			}
			deltas[e.ItemID] += e.Delta
			wholes[e.ItemID] += e.Text + e.Argument
			if e.Type == "response.completed" {
				if err := json.Unmarshal(e.Response, &last); err != nil {
					rt.Fatalf("%v in %s", err, e.Response)
				}
			}
		}
		if diff := cmp.Diff(whole, last); diff != "" {
			rt.Fatalf("the stream is not the response (-response +stream):\n%s", diff)
		}
		if diff := cmp.Diff(wholes, deltas); diff != "" {
			rt.Fatalf("the deltas are not the items (-items +deltas):\n%s", diff)
		}
	})
}

// Reasoning is used as long as nothing before it has changed, and the response says which
// was not.
func TestReasoningIsBoundToWhatItFollowed(t *testing.T) {
	const prompt = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
	for _, tt := range []struct {
		name, model string
		change      func([]string) []string
		want        []string // reasons, by path
	}{
		{"nothing", "gpt-6", func(items []string) []string { return items }, nil},
		{"a message as a text", "gpt-6", func(items []string) []string {
			items[0] = `{"role":"user","content":"go"}`
			return items
		}, nil},
		{"without ids", "gpt-6", func(items []string) []string {
			for i, item := range items {
				var fields map[string]any
				if err := json.Unmarshal([]byte(item), &fields); err != nil {
					t.Fatal(err)
				}
				delete(fields, "id")
				data, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				items[i] = string(data)
			}
			return items
		}, nil},
		{"the first message", "gpt-6", func(items []string) []string {
			items[0] = strings.Replace(items[0], "go", "gone", 1)
			return items
		}, []string{"input.1 prefix_mismatch", "input.4 prefix_mismatch"}},
		{"a result", "gpt-6", func(items []string) []string {
			items[3] = strings.Replace(items[3], "a lot", "[shorter]", 1)
			return items
		}, []string{"input.4 prefix_mismatch"}},
		{"a result, of a model that does not bind", "gpt-5", func(items []string) []string {
			items[3] = strings.Replace(items[3], "a lot", "[shorter]", 1)
			return items
		}, nil},
		{"what the last one says", "gpt-6", func(items []string) []string {
			items[4] = strings.Replace(items[4], `"encrypted_content":"`, `"encrypted_content":"A`, 1)
			return items
		}, []string{"input.4 content_invalid"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(&upstream.Options{Script: []upstream.Step{
				{Reply: upstream.Say(upstream.Thinking("so"), upstream.Call{ID: "c1", Name: "ls", Input: struct{}{}})},
				{Reply: upstream.Say(upstream.Thinking("so"), upstream.Text("It is a lot."))},
			}})
			items := []string{prompt}
			for _, next := range []string{`{"type":"function_call_output","call_id":"c1","output":"a lot"}`, `{"role":"user","content":"on"}`} {
				for _, item := range respond(t, s, tt.model, items...).Output {
					items = append(items, string(item))
				}
				items = append(items, next)
			}
			var got []string
			for _, x := range respond(t, s, tt.model, tt.change(items)...).Transformations {
				got = append(got, x.Path+" "+x.Reason)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(s.Requests()[2].Dropped) != len(tt.want) {
				t.Errorf("what is not used (-want +got), and as the request has it, %v:\n%s", s.Requests()[2].Dropped, diff)
			}
		})
	}
}

func TestResponsesAreServed(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Name: "call", Reply: upstream.Say(upstream.Call{ID: "c1", Name: "exec", Input: "ls"}, upstream.Call{ID: "c2", Name: "read", Namespace: "files", Input: struct{}{}})},
		{Name: "cut", Reply: upstream.Reply{Blocks: []upstream.Block{upstream.Text("It is")}, Stop: "max_tokens"}},
		{Name: "on", Reply: upstream.Say(upstream.Text("a list."))},
	}})
	const call = `{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"ls"},{"type":"function_call","call_id":"c2","name":"read","arguments":"{}"}`
	const outputs = `{"type":"custom_tool_call_output","call_id":"c1","output":"a"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"b"}]}`
	first := respond(t, s, "gpt-6", `{"role":"user","content":"go"}`)
	if len(first.Output) != 2 || !strings.Contains(string(first.Output[0]), `"type":"custom_tool_call"`) || !strings.Contains(string(first.Output[1]), `"namespace":"files"`) {
		t.Errorf("it calls %s", first.Output)
	}
	var cut response
	tell(t, s, "/v1/responses", `{"model":"gpt-6","input":[{"role":"user","content":"go"},`+call+`,`+outputs+`]}`, &cut)
	if cut.Status != "incomplete" {
		t.Errorf("a reply that was cut is %s", cut.Status)
	}
	if diff := cmp.Diff([]upstream.Result{{CallID: "c1", Text: "a"}, {CallID: "c2", Text: "b"}}, s.Requests()[1].Results()); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	var on response
	if code := tell(t, s, "/v1/responses", `{"model":"gpt-6","input":"on","previous_response_id":"`+cut.ID+`"}`, &on); code != http.StatusOK || on.Usage.Input <= cut.Usage.Input {
		t.Errorf("what goes on from a response gets %d and is of %d tokens, the one before of %d", code, on.Usage.Input, cut.Usage.Input)
	}
	var count struct {
		Input int `json:"input_tokens"`
	}
	tell(t, s, "/v1/responses/input_tokens", `{"model":"gpt-6","input":"on","previous_response_id":"`+cut.ID+`"}`, &count)
	if count.Input != on.Usage.Input {
		t.Errorf("it counts %d, the response was of %d", count.Input, on.Usage.Input)
	}
	var compact response
	tell(t, s, "/v1/responses/compact", `{"model":"gpt-6","input":[{"role":"user","content":"go"},`+call+`,`+outputs+`]}`, &compact)
	if len(compact.Output) != 2 || !strings.Contains(string(compact.Output[0]), `"go"`) || !strings.Contains(string(compact.Output[1]), `"type":"compaction"`) {
		t.Errorf("the compact input is %s", compact.Output)
	}
	inline := respond(t, s, "gpt-6", `{"role":"user","content":"go"}`, `{"type":"compaction_trigger"}`)
	all := s.Requests()
	if len(inline.Output) != 1 || !strings.Contains(string(inline.Output[0]), `"type":"compaction"`) || all[len(all)-1].Kind != upstream.KindCompaction {
		t.Errorf("a trigger of a compaction gives %s", inline.Output)
	}
	again := respond(t, s, "gpt-6", string(compact.Output[0]), string(compact.Output[1]), `{"role":"user","content":"on"}`)
	if again.Status != "completed" {
		t.Errorf("it goes on from the compact input: %s", again.Status)
	}
}

// What the server stored with reasoning cannot come back without it, unless it comes without
// its id.
func TestAStoredItemNeedsItsReasoning(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: upstream.Say(upstream.Thinking("so"), upstream.Text("Yes."))}}})
	var first response
	tell(t, s, "/v1/responses", `{"model":"gpt-5","input":"go"}`, &first)
	said := string(first.Output[1])
	for _, tt := range []struct {
		name, item, rule string
	}{
		{"with it", string(first.Output[0]) + "," + said, ""},
		{"without it", said, "R8"},
		{"without its id", strings.Replace(said, `"id":"msg_000001",`, "", 1), ""},
	} {
		body := `{"model":"gpt-5","input":[{"role":"user","content":"go"},` + tt.item + `,{"role":"user","content":"on"}]}`
		var got failed
		tell(t, s, "/v1/responses", body, &got)
		all := s.Requests()
		if rule := ruleOf(all[len(all)-1].Refusal); rule != tt.rule {
			t.Errorf("%s: refused by %q, want %q: %s", tt.name, rule, tt.rule, body)
		}
	}
}
