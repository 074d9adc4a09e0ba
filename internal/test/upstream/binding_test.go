package upstream_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// A talk is a conversation whose thinking was given by a server.
type talk struct {
	Model    string            `json:"model"`
	Limit    int               `json:"max_tokens"`
	System   json.RawMessage   `json:"system,omitempty"`
	Tools    json.RawMessage   `json:"tools,omitempty"`
	Thinking json.RawMessage   `json:"thinking,omitempty"`
	Messages []json.RawMessage `json:"messages"`
}

func (c talk) body(t *testing.T) string {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// thinker is a server that thinks, calls a tool, thinks again, and speaks.
func thinker() *upstream.Server {
	return upstream.New(&upstream.Options{Key: []byte("k"), Script: []upstream.Step{
		{Reply: upstream.Say(upstream.Thinking("first I look"), upstream.Text("Looking."), upstream.Call{ID: "c1", Name: "ls", Input: map[string]any{"b": 1, "a": "<x>"}})},
		{Reply: upstream.Say(upstream.Thinking("then I say"), upstream.Text("It is a list."), upstream.Redacted{})},
	}})
}

// converse plays the whole of it with a model.
func converse(t *testing.T, s *upstream.Server, model string) talk {
	t.Helper()
	c := talk{
		Model: model, Limit: 10, System: json.RawMessage(`"Be brief."`),
		Tools:    json.RawMessage(`[{"name":"ls","input_schema":{"type":"object"}}]`),
		Thinking: json.RawMessage(`{"type":"adaptive"}`),
	}
	for _, next := range []string{asks, user(`{"type":"tool_result","tool_use_id":"c1","content":"a\nb"}`)} {
		c.Messages = append(c.Messages, json.RawMessage(next))
		w := post(t, s, "/v1/messages", c.body(t))
		var reply struct{ Content json.RawMessage }
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != http.StatusOK {
			t.Fatalf("got %d, %s", w.Code, w.Body)
		}
		c.Messages = append(c.Messages, json.RawMessage(`{"role":"assistant","content":`+string(reply.Content)+`}`))
	}
	c.Messages = append(c.Messages, json.RawMessage(`{"role":"user","content":"thanks"}`))
	return c
}

// replace changes text in one message, which must have it.
func replace(t *testing.T, c *talk, i int, from, to string) {
	t.Helper()
	old := string(c.Messages[i])
	if !strings.Contains(old, from) {
		t.Fatalf("message %d has no %q: %s", i, from, old)
	}
	c.Messages[i] = json.RawMessage(strings.Replace(old, from, to, 1))
}

// reblock rewrites the blocks of a message.
func reblock(t *testing.T, c *talk, i int, change func([]json.RawMessage) []json.RawMessage) {
	t.Helper()
	var m struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(c.Messages[i], &m); err != nil {
		t.Fatal(err)
	}
	m.Content = change(m.Content)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	c.Messages[i] = data
}

func dropFirst(blocks []json.RawMessage) []json.RawMessage { return blocks[1:] }

func dropLast(blocks []json.RawMessage) []json.RawMessage { return blocks[:len(blocks)-1] }

func TestThinkingStaysValidBehindWhatDoesNotCount(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *talk){
		"nothing": func(*testing.T, *talk) {},
		"messages at the end": func(_ *testing.T, c *talk) {
			c.Messages = append(c.Messages, json.RawMessage(says), json.RawMessage(asks))
		},
		"a text as a block": func(t *testing.T, c *talk) {
			replace(t, c, 0, `"what is in it?"`, `[{"type":"text","text":"what is in it?"}]`)
		},
		"a marked block": func(t *testing.T, c *talk) {
			replace(t, c, 0, `"what is in it?"`, `[{"cache_control":{"type":"ephemeral"},"type":"text","text":"what is in it?"}]`)
		},
		"a mark on a result": func(t *testing.T, c *talk) {
			replace(t, c, 2, `"tool_use_id"`, `"cache_control":{"type":"ephemeral"},"tool_use_id"`)
		},
		"a result as a list": func(t *testing.T, c *talk) {
			replace(t, c, 2, `"a\nb"`, `[{"type":"text","text":"a\nb","cache_control":{"type":"ephemeral"}}]`)
		},
		"a marked system text": func(_ *testing.T, c *talk) {
			c.System = json.RawMessage(`[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`)
		},
		"a mark on a tool": func(_ *testing.T, c *talk) {
			c.Tools = json.RawMessage(`[{"input_schema":{"type":"object"},"name":"ls","cache_control":{"type":"ephemeral"}}]`)
		},
		"a tool that is loaded later": func(_ *testing.T, c *talk) {
			c.Tools = json.RawMessage(`[{"name":"rm","defer_loading":true},{"name":"ls","input_schema":{"type":"object"}}]`)
		},
		"the first thinking gone":   func(t *testing.T, c *talk) { reblock(t, c, 1, dropFirst) },
		"the last thinking gone":    func(t *testing.T, c *talk) { reblock(t, c, 3, dropLast) },
		"an input in another order": func(t *testing.T, c *talk) { replace(t, c, 1, `{"a":"<x>","b":1}`, `{"b":1,"a":"<x>"}`) },
		"other settings":            func(_ *testing.T, c *talk) { c.Limit, c.Thinking = 99, json.RawMessage(`{"type":"disabled"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			s := thinker()
			c := converse(t, s, newest)
			for i, m := range c.Messages { // as a client writes JSON that does not escape
				c.Messages[i] = json.RawMessage(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(m)))
			}
			change(t, &c)
			if status, text := ask(t, s, c.body(t)); status != http.StatusOK {
				t.Errorf("got %d, %s", status, text)
			}
		})
	}
}

func TestThinkingIsBoundToWhatItFollowed(t *testing.T) {
	const bound = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *talk)
		text   string
	}{
		{"an edited question", func(t *testing.T, c *talk) { replace(t, c, 0, "what", "who") }, "messages.1.content.0: " + bound},
		{"an edited system text", func(_ *testing.T, c *talk) { c.System = json.RawMessage(`"Be long."`) }, "messages.1.content.0: " + bound},
		{"no system text", func(_ *testing.T, c *talk) { c.System = nil }, "messages.1.content.0: " + bound},
		{"another tool", func(_ *testing.T, c *talk) {
			c.Tools = json.RawMessage(`[{"name":"ls","input_schema":{"type":"object"}},{"name":"rm"}]`)
		}, "messages.1.content.0: " + bound},
		{"an edited result", func(t *testing.T, c *talk) { replace(t, c, 2, `a\nb`, `a`) }, "messages.3.content.0: " + bound},
		{"an edited text beside it", func(t *testing.T, c *talk) { replace(t, c, 1, "Looking.", "Seeking.") }, "messages.3.content.0: " + bound},
		{"an edited input", func(t *testing.T, c *talk) { replace(t, c, 1, `"b":1`, `"b":2`) }, "messages.3.content.0: " + bound},
		{"a mark in an input, which is no mark", func(t *testing.T, c *talk) { replace(t, c, 1, `"b":1`, `"b":1,"cache_control":1`) }, "messages.3.content.0: " + bound},
		{"a message in between", func(_ *testing.T, c *talk) {
			c.Messages = append([]json.RawMessage{json.RawMessage(asks)}, c.Messages...)
		}, "messages.2.content.0: " + bound},
		{"the turn before left out", func(_ *testing.T, c *talk) {
			c.Messages = append(c.Messages[:1:1], c.Messages[3:]...)
		}, "messages.1.content.0: " + bound},
		{"thinking in the middle left out", func(t *testing.T, c *talk) { reblock(t, c, 3, dropFirst) }, "messages.3.content.1: Invalid `signature` in `redacted_thinking` block. The block is bound"},
		{"other thinking", func(t *testing.T, c *talk) { replace(t, c, 1, "first I look", "first I sleep") }, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"other thinking at the end", func(t *testing.T, c *talk) { replace(t, c, 3, "then I say", "then I lie") }, "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := thinker()
			c := converse(t, s, newest)
			tt.change(t, &c)
			status, text := ask(t, s, c.body(t))
			if status != http.StatusBadRequest || !strings.HasPrefix(text, tt.text) {
				t.Errorf("got %d, %q; want 400, %q", status, text, tt.text)
			}
		})
	}
}

func TestOlderModelsDoNotBindThinking(t *testing.T) {
	s := thinker()
	c := converse(t, s, oldest)
	replace(t, &c, 0, "what", "who")
	if status, text := ask(t, s, c.body(t)); status != http.StatusOK {
		t.Errorf("got %d, %s", status, text)
	}
}

func TestAnotherKeyReadsNoThinking(t *testing.T) {
	c := converse(t, thinker(), newest)
	if status, _ := ask(t, thinker(), c.body(t)); status != http.StatusOK {
		t.Errorf("a server with the same key answers with %d", status)
	}
	if status, text := ask(t, upstream.New(nil), c.body(t)); status != http.StatusBadRequest {
		t.Errorf("a server with another key answers with %d, %s", status, text)
	}
}

func TestThinkingIsDroppedWhereThatIsWanted(t *testing.T) {
	type transformation struct{ Type, Path, Reason string }
	for _, tt := range []struct {
		name, setting, beta string
		change              func(*testing.T, *talk)
		want                []transformation
		refused             bool
	}{
		{
			name: "an edited result", setting: "drop_block", beta: "a-1, thinking-binding-controls-2026-08-01",
			change: func(t *testing.T, c *talk) { replace(t, c, 2, `a\nb`, `a`) },
			want: []transformation{
				{"thinking_dropped", "messages.3.content.0", "prefix_binding_mismatch"},
				{"thinking_dropped", "messages.3.content.2", "prefix_binding_mismatch"},
			},
		},
		{
			name: "nothing was edited", setting: "drop_block", beta: "thinking-binding-controls-2026-08-01",
			change: func(*testing.T, *talk) {},
		},
		{
			name: "without the beta", setting: "drop_block",
			change: func(t *testing.T, c *talk) { replace(t, c, 2, `a\nb`, `a`) }, refused: true,
		},
		{
			name: "an error is wanted", setting: "error", beta: "thinking-binding-controls-2026-08-01",
			change: func(t *testing.T, c *talk) { replace(t, c, 2, `a\nb`, `a`) }, refused: true,
		},
		{
			name: "another model", setting: "error",
			change: func(_ *testing.T, c *talk) { c.Model = "claude-sonnet-5-5" },
			want: []transformation{
				{"thinking_dropped", "messages.1.content.0", "model_binding_mismatch"},
				{"thinking_dropped", "messages.3.content.0", "model_binding_mismatch"},
				{"thinking_dropped", "messages.3.content.2", "model_binding_mismatch"},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := thinker()
			c := converse(t, s, newest)
			c.Thinking = json.RawMessage(`{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"` + tt.setting + `"}}`)
			tt.change(t, &c)
			w := post(t, s, "/v1/messages", c.body(t), "Anthropic-Beta", tt.beta)
			if refused := w.Code != http.StatusOK; refused != tt.refused {
				t.Fatalf("got %d, %s", w.Code, w.Body)
			}
			var reply struct {
				Transformations []transformation `json:"input_transformations"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
				t.Fatal(err)
			}
			dropped := s.Requests()[len(s.Requests())-1].Dropped
			if !slices.Equal(reply.Transformations, tt.want) || len(dropped) != len(tt.want) && !tt.refused {
				t.Errorf("got %v, want %v", reply.Transformations, tt.want)
			}
		})
	}
}

// A system message that was to be cleared may come and go.
func TestWhatIsToBeClearedDoesNotBind(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Reply: upstream.Say(upstream.Thinking("so"), upstream.Text("Yes."))},
	}})
	const passing = `{"role":"system","content":"it is late","clear_at":"next_user_message"}`
	w := post(t, s, "/v1/messages", request(newest, list(asks, passing)))
	var reply struct{ Content json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != http.StatusOK {
		t.Fatalf("got %d, %s", w.Code, w.Body)
	}
	said := `{"role":"assistant","content":` + string(reply.Content) + `}`
	if !strings.Contains(said, `"thinking":"so"`) {
		t.Fatalf("the model did not think: %s", said)
	}
	for name, messages := range map[string]string{
		"kept":    list(asks, passing, said, asks),
		"cleared": list(asks, said, asks),
	} {
		if status, text := ask(t, s, request(newest, messages)); status != http.StatusOK {
			t.Errorf("%s: got %d, %s", name, status, text)
		}
	}
	if status, _ := ask(t, s, request(newest, list(asks, note, said, asks))); status != http.StatusBadRequest {
		t.Errorf("with a system message that stays: got %d", status)
	}
}
