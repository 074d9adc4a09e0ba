package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/internal/weave"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
)

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Context() context.Context
}

// A recalling is a client whose model calls the tool of Carrel, before a real engine, and a
// provider that refuses as the real ones do.
type recalling struct {
	t        fataler
	dialect  wire.Dialect
	stream   bool
	engine   *carrel.Engine
	manager  *Epochs
	provider *upstream.Server
	up, down *httptest.Server
	proxy    *Proxy

	history  []any             // messages or items, as the client has them
	wanted   map[string]string // what is to come back for a call of the tool
	ids      []string          // of what is stashed
	texts    map[string]string
	script   []upstream.Reply
	calls    int
	observes bool // nothing is managed
	budget   token.Count
	clock    atomic.Int64 // nanoseconds
	seen     int          // requests of the provider that were checked
}

// now tells the time, to goroutines of the proxy as well.
func (c *recalling) now() time.Time { return time.Unix(0, c.clock.Load()).UTC() }

func newRecalling(t fataler, dialect wire.Dialect, stream bool, budget token.Count) *recalling {
	t.Helper()
	c := &recalling{t: t, dialect: dialect, stream: stream, budget: budget, wanted: make(map[string]string), texts: make(map[string]string)}
	c.clock.Store(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC).UnixNano())
	now := c.now
	var err error
	if c.engine, err = carrel.New(memory.New(), &carrel.Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		text := strings.Repeat(fmt.Sprintf("line of %d: <&> \u2028 \"quoted\" \\ tab\t ünï\n", i), 40+200*i)
		res, err := c.engine.Stash(t.Context(), governance.DefaultScope, &carrel.StashRequest{Content: []byte(text), Title: "make", Tokens: 400})
		if err != nil {
			t.Fatal(err)
		}
		c.ids, c.texts[string(res.ID)] = append(c.ids, string(res.ID)), text
	}
	c.provider = upstream.New(&upstream.Options{Key: []byte("k"), Now: now, Otherwise: func(*upstream.Request) upstream.Reply {
		if len(c.script) == 0 {
			return upstream.Say(upstream.Thinking("over"), upstream.Text("It is done."))
		}
		r := c.script[0]
		c.script = c.script[1:]
		return r
	}})
	c.up = httptest.NewServer(c.provider)
	c.start(true)
	return c
}

// start starts a proxy over the same store.
func (c *recalling) start(recall bool) {
	c.t.Helper()
	if c.down != nil {
		c.stop()
	}
	c.manager = NewEpochs(&EpochOptions{Engine: c.engine, Recall: recall, Window: 200_000, Budget: c.budget, Now: c.now, Limit: time.Minute, HeadLimit: time.Minute, Large: 1 << 20})
	o := &Options{
		Upstreams: Upstreams{c.up.URL, c.up.URL + "/v1"}, Recorder: c.engine, Wait: time.Minute, Importer: c.manager,
		Prepare: c.manager.Bound(), Logger: slog.New(slog.DiscardHandler), Now: c.now,
	}
	if !c.observes {
		o.Manager = c.manager
	}
	var err error
	if c.proxy, err = New(o); err != nil {
		c.t.Fatal(err)
	}
	c.down = httptest.NewServer(c.proxy)
}

func (c *recalling) stop() {
	c.down.Close()
	c.proxy.Close(context.Background())
}

func (c *recalling) close() {
	c.stop()
	c.up.Close()
}

// says adds what the person says.
func (c *recalling) says(text string) {
	c.history = append(c.history, map[string]any{"role": "user", "content": text})
}

// request returns the body that the client sends.
func (c *recalling) request() map[string]any {
	tool := map[string]any{"name": "Bash", "description": "runs a command", "input_schema": map[string]any{"type": "object"}}
	switch c.dialect {
	case wire.Anthropic:
		messages := slices.Clone(c.history)
		return map[string]any{
			"model": bound, "max_tokens": 1000, "thinking": map[string]any{"type": "adaptive"}, "system": "You mend things.",
			"tools": []any{tool}, "messages": messages, "stream": c.stream, "cache_control": map[string]any{"type": "ephemeral"},
		}
	case wire.Chat:
		return map[string]any{
			"model": "gpt-5.6", "messages": append([]any{map[string]any{"role": "system", "content": "You mend things."}}, c.history...),
			"stream": c.stream, "stream_options": map[string]any{"include_usage": true},
			"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "Bash", "parameters": map[string]any{"type": "object"}}}},
		}
	case wire.Responses:
	}
	return map[string]any{
		"model": "gpt-6", "instructions": "You mend things.", "store": false, "include": []any{"reasoning.encrypted_content"}, "stream": c.stream,
		"input": c.history, "tools": []any{map[string]any{"type": "function", "name": "Bash", "parameters": map[string]any{"type": "object"}}},
	}
}

var pathOf = map[wire.Dialect]string{wire.Anthropic: "/anthropic/v1/messages", wire.Chat: "/openai/v1/chat/completions", wire.Responses: "/openai/v1/responses"}

// send sends a body, and returns the answer.
func (c *recalling) send(path string, body []byte) (int, []byte) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.down.URL+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Authorization", "Bearer dummy")
	r.Header.Set("X-Session-Id", "s")
	resp, err := c.down.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if bytes.Contains(got, []byte(ToolRecall)) {
		c.refusals()
		c.t.Fatalf("the client sees the tool:\n%s", got)
	}
	return resp.StatusCode, got
}

// call makes a call, takes the answer into the history, and returns the ids of the client's
// calls in it.
func (c *recalling) call() (ids []string) {
	c.t.Helper()
	answer := c.ask()
	c.check(answer)
	return answer.calls
}

// ask makes a call, and takes the answer into the history.
func (c *recalling) ask() *answered {
	c.t.Helper()
	body, err := json.Marshal(c.request())
	if err != nil {
		c.t.Fatal(err)
	}
	status, got := c.send(pathOf[c.dialect], body)
	if status != http.StatusOK {
		c.t.Fatalf("%d %s", status, got)
	}
	answer := c.answer(got)
	c.history = append(c.history, answer.items...)
	return &answer
}

// An answered is an answer as a client reads it.
type answered struct {
	items  []any
	calls  []string
	texts  []string
	prompt int
	output int
	id     string
}

func (c *recalling) answer(got []byte) (a answered) {
	c.t.Helper()
	var m map[string]any
	if c.stream {
		m = streamed(c.t, c.dialect, got)
	} else if err := json.Unmarshal(got, &m); err != nil {
		c.t.Fatalf("%v: %s", err, got)
	}
	usage, _ := m["usage"].(map[string]any)
	n := func(o map[string]any, key string) int {
		v, _ := o[key].(float64)
		return int(v)
	}
	a.prompt = n(usage, "input_tokens") + n(usage, "cache_read_input_tokens") + n(usage, "cache_creation_input_tokens") + n(usage, "prompt_tokens")
	a.output = n(usage, "output_tokens") + n(usage, "completion_tokens")
	a.id, _ = m["id"].(string)
	text := func(v any) {
		if s, _ := v.(string); s != "" {
			a.texts = append(a.texts, s)
		}
	}
	switch c.dialect {
	case wire.Anthropic:
		content := m["content"].([]any)
		for _, b := range content {
			block := b.(map[string]any)
			if text(block["text"]); block["type"] == "tool_use" {
				a.calls = append(a.calls, block["id"].(string))
			}
		}
		a.items = []any{map[string]any{"role": "assistant", "content": content}}
	case wire.Chat:
		message := m["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
		text(message["content"])
		calls, _ := message["tool_calls"].([]any)
		for _, call := range calls {
			a.calls = append(a.calls, call.(map[string]any)["id"].(string))
		}
		a.items = []any{message}
	case wire.Responses:
		a.items = m["output"].([]any)
		for _, i := range a.items {
			item := i.(map[string]any)
			if item["type"] == "function_call" {
				a.calls = append(a.calls, item["call_id"].(string))
			}
			if item["type"] == "message" {
				text(item["content"].([]any)[0].(map[string]any)["text"])
			}
			delete(item, "id") // as Codex does
			delete(item, "status")
		}
	}
	return a
}

// check checks what the provider was sent for the last call.
func (c *recalling) check(a *answered) {
	c.t.Helper()
	c.refusals()
	all := c.provider.Requests()
	now := all[c.seen:]
	c.seen = len(all)
	prompt, output := 0, 0
	calls, err := c.engine.Calls(c.t.Context(), governance.DefaultScope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: len(now)}})
	if err != nil || len(calls.Items) != len(now) {
		c.t.Fatalf("%v: %d calls are recorded of %d", err, len(calls.Items), len(now))
	}
	for i, r := range now {
		recorded := &calls.Items[len(now)-1-i]
		if !recorded.Recall || recorded.State != store.CallDone || (recorded.Follows != "") != (i > 0) || int(recorded.Usage.Output) != r.Usage.Output || int(recorded.Usage.Prompt()) != r.Usage.Total() {
			c.t.Fatalf("round %d is recorded as %+v, the provider counted %+v", i, recorded, r.Usage)
		}
		if of := &calls.Items[len(now)-1]; recorded.Messages != of.Messages || recorded.Chain != of.Chain {
			c.t.Fatalf("round %d has %d messages of the client, the first has %d", i, recorded.Messages, of.Messages)
		}
		c.sealed(recorded, r.Body)
		began := strings.HasPrefix(recorded.Reason, "new epoch")
		if r.Prefix.Broke != "" && !began || len(r.Dropped) > 0 {
			c.t.Fatalf("round %d breaks what was sent before: %+v, %v\n%s", i, r.Prefix, r.Dropped, r.Body)
		}
		if tools := r.Tools(); tools[len(tools)-1] != ToolRecall || len(tools) != 2 {
			c.t.Fatalf("round %d has the tools %v", i, tools)
		}
		for _, res := range r.Results() {
			if want, ours := c.wanted[res.CallID]; ours && res.Text != want {
				c.t.Fatalf("recalled %q, want %q", res.Text, want)
			}
		}
		prompt, output = prompt+r.Usage.Total(), output+r.Usage.Output
	}
	if a != nil && (a.prompt != prompt || a.output != output || a.id == "") {
		c.t.Fatalf("the client is told of %d tokens in and %d out in %q, the provider counted %d and %d in %d rounds", a.prompt, a.output, a.id, prompt, output, len(now))
	}
}

// sealed checks the manifest of a call against what the provider got.
func (c *recalling) sealed(call *api.Call, body []byte) {
	c.t.Helper()
	m, err := c.engine.Manifest(c.t.Context(), governance.DefaultScope, &carrel.IDRequest{ID: call.ID})
	if err != nil || m.ID != call.Manifest || m.Seal != call.Seal || len(m.Made) != 1 {
		c.t.Fatalf("%v: call %+v has the manifest %+v", err, call, m)
	}
	verified, err := c.engine.VerifyManifest(c.t.Context(), governance.DefaultScope, &carrel.IDRequest{ID: m.ID})
	if err != nil || !verified.Output {
		c.t.Fatalf("%v: %+v", err, verified)
	}
	if _, err := carrel.VerifyDocument(m.Document); err != nil {
		c.t.Fatal(err)
	}
	sealed, err := m.Sealed()
	if err != nil {
		c.t.Fatal(err)
	}
	doc, q := new(rawjson.Document), new(wire.Request)
	if err := doc.Read(body); err != nil {
		c.t.Fatal(err)
	}
	if err := q.Read(c.dialect, wire.KindCall, nil, doc); err != nil {
		c.t.Fatal(err)
	}
	var before digest.Digest
	for _, it := range sealed.Manifest().Items {
		s, ok := it.(*manifest.Segment)
		if !ok {
			continue
		}
		if s.Kind == manifest.KindFrame {
			if got := manifest.CommitSegment(digest.Salt{}, body[s.Start:s.Start+s.Bytes]); got != s.Commit {
				c.t.Fatalf("what is around the messages is not what was sealed: %+v", s)
			}
			continue
		}
		at := slices.IndexFunc(q.Messages, func(m wire.Message) bool { return m.Chain.String() == s.Ref })
		if at < 0 {
			c.t.Fatalf("no message has the chain of %+v", s)
		}
		end := doc.Span(q.Messages[at].Node).End
		if at+1 < len(q.Messages) {
			end = doc.Span(q.Messages[at+1].Node).Start
		}
		if s.Start+s.Bytes != end {
			c.t.Fatalf("segment %+v ends at %d", s, end)
		}
		if commit := manifest.CommitSegment(digest.Salt(before), body[s.Start:end]); s.Cell == "sent" && commit != s.Commit {
			c.t.Fatalf("the bytes of %+v are not those that were sealed", s)
		}
		before = q.Messages[at].Chain
	}
	if before != call.Sent {
		c.t.Fatal("the manifest does not end with what was sent")
	}
}

// refusals fails if the provider refused something.
func (c *recalling) refusals() {
	c.t.Helper()
	for _, r := range c.provider.Refused() {
		c.t.Fatalf("refused: %+v\n%s", r.Refusal, r.Body)
	}
}

// results adds results for calls of the client.
func (c *recalling) results(ids []string) {
	var blocks []any
	for _, id := range ids {
		switch text := "result of " + id; c.dialect {
		case wire.Anthropic:
			blocks = append(blocks, map[string]any{"type": "tool_result", "tool_use_id": id, "content": text})
		case wire.Chat:
			c.history = append(c.history, map[string]any{"role": "tool", "tool_call_id": id, "content": text})
		case wire.Responses:
			c.history = append(c.history, map[string]any{"type": "function_call_output", "call_id": id, "output": text})
		}
	}
	if blocks != nil {
		c.history = append(c.history, map[string]any{"role": "user", "content": blocks})
	}
}

// recalls returns a call of the tool.
func (c *recalling) recalls(n int) upstream.Call {
	c.calls++
	id := fmt.Sprintf("rec_%d", c.calls)
	c.wanted[id] = c.texts[c.ids[n]]
	return upstream.Call{ID: id, Name: ToolRecall, Input: map[string]any{"id": c.ids[n]}}
}

func (c *recalling) runs() upstream.Call {
	c.calls++
	return upstream.Call{ID: fmt.Sprintf("own_%d", c.calls), Name: "Bash", Input: map[string]any{"command": "make"}}
}

// streamed reads a stream as the clients of the providers do.
func streamed(t fataler, d wire.Dialect, got []byte) map[string]any {
	t.Helper()
	var m map[string]any
	sequence := 0
	inputs := make(map[int]string)
	ended := false
	for event := range strings.SplitSeq(strings.TrimSpace(string(got)), "\n\n") {
		_, data, _ := strings.Cut(event, "data: ")
		if data == "[DONE]" {
			ended = true
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil || ended {
			t.Fatalf("%v in %q of\n%s", err, event, got)
		}
		index, _ := e["index"].(float64)
		switch d {
		case wire.Anthropic:
			switch e["type"] {
			case "message_start":
				if m != nil {
					t.Fatalf("a second beginning in\n%s", got)
				}
				m = e["message"].(map[string]any)
			case "content_block_start":
				if content := m["content"].([]any); len(content) != int(index) {
					t.Fatalf("block %v comes as number %d in\n%s", index, len(content), got)
				}
				m["content"] = append(m["content"].([]any), e["content_block"])
			case "content_block_delta":
				block, delta := m["content"].([]any)[int(index)].(map[string]any), e["delta"].(map[string]any)
				for _, key := range []string{"text", "thinking", "signature"} {
					if s, ok := delta[key].(string); ok {
						block[key] = block[key].(string) + s
					}
				}
				if s, ok := delta["partial_json"].(string); ok {
					inputs[int(index)] += s
				}
			case "content_block_stop":
				if s := inputs[int(index)]; s != "" {
					m["content"].([]any)[int(index)].(map[string]any)["input"] = json.RawMessage(s)
				}
			case "message_delta":
				m["usage"] = e["usage"]
				m["stop_reason"] = e["delta"].(map[string]any)["stop_reason"]
			case "message_stop":
				ended = true
			}
		case wire.Chat:
			if m == nil {
				m = map[string]any{"id": e["id"], "choices": []any{map[string]any{"message": map[string]any{"role": "", "content": ""}}}}
			}
			if m["id"] != e["id"] {
				t.Fatalf("two ids in\n%s", got)
			}
			if e["usage"] != nil {
				m["usage"] = e["usage"]
			}
			message := m["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
			for _, choice := range e["choices"].([]any) {
				delta := choice.(map[string]any)["delta"].(map[string]any)
				for _, key := range []string{"role", "content"} {
					if s, ok := delta[key].(string); ok {
						message[key] = message[key].(string) + s
					}
				}
				pieces, _ := delta["tool_calls"].([]any)
				for _, p := range pieces {
					piece := p.(map[string]any)
					calls, _ := message["tool_calls"].([]any)
					at := int(piece["index"].(float64))
					if at == len(calls) {
						calls = append(calls, map[string]any{"id": piece["id"], "type": "function", "function": map[string]any{"name": piece["function"].(map[string]any)["name"], "arguments": ""}})
						message["tool_calls"] = calls
					}
					of := calls[at].(map[string]any)["function"].(map[string]any)
					of["arguments"] = of["arguments"].(string) + piece["function"].(map[string]any)["arguments"].(string)
				}
			}
		case wire.Responses:
			if n := int(e["sequence_number"].(float64)); n != sequence {
				t.Fatalf("event %d has number %d in\n%s", sequence, n, got)
			}
			sequence++
			switch e["type"] {
			case "response.created":
				m = e["response"].(map[string]any)
			case "response.output_item.done":
				output := m["output"].([]any)
				if at := int(e["output_index"].(float64)); at != len(output) {
					t.Fatalf("item %d comes as number %d in\n%s", at, len(output), got)
				}
				m["output"] = append(output, e["item"])
			case "response.completed":
				last := e["response"].(map[string]any)
				if last["id"] != m["id"] || len(last["output"].([]any)) != len(m["output"].([]any)) {
					t.Fatalf("the end is of another response in\n%s", got)
				}
				m, ended = last, true
			}
		}
	}
	if !ended {
		t.Fatalf("no end in\n%s", got)
	}
	if d == wire.Chat {
		if role := m["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["role"]; role != "assistant" {
			t.Fatalf("the role is %v", role)
		}
	}
	return m
}

// Whatever the model says, the client sees nothing of the tool, the provider refuses nothing
// and finds what it was sent before, and what is recalled is as it was: in all dialects,
// streamed or not, and after a restart.
func TestRecallInThePath(t *testing.T) {
	if raceDetector { // it takes ten times as long
		checks := flag.Lookup("rapid.checks")
		before := checks.Value.String()
		if err := checks.Value.Set("10"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(before) }() // it was that
	}
	for _, dialect := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", dialect, stream), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					c := newRecalling(rt, dialect, stream, rapid.SampledFrom([]token.Count{0, 20_000}).Draw(rt, "budget"))
					defer c.close()
					c.says("Make it.")
					for n := range rapid.IntRange(1, 6).Draw(rt, "calls") {
						c.script = nil
						for range rapid.IntRange(0, 3).Draw(rt, "rounds") {
							c.script = append(c.script, c.reply(rt, false))
						}
						c.script = append(c.script, c.reply(rt, true))
						c.clock.Add(int64(time.Duration(rapid.SampledFrom([]int{1, 1, 90}).Draw(rt, "minutes")) * time.Minute))
						if rapid.IntRange(0, 3).Draw(rt, "restart") == 0 {
							c.start(rapid.Bool().Draw(rt, "recall"))
							if n == 0 {
								c.start(true)
							}
						}
						ids := c.call()
						c.results(ids)
						if len(ids) == 0 || rapid.Bool().Draw(rt, "says") && c.dialect != wire.Anthropic {
							c.says(fmt.Sprintf("Go on, %d.", n))
						}
					}
				})
			})
		}
	}
}

// reply draws a reply: one that only recalls, or one that may do anything.
func (c *recalling) reply(t *rapid.T, last bool) upstream.Reply {
	var blocks []upstream.Block
	if rapid.Bool().Draw(t, "thinks") {
		blocks = append(blocks, upstream.Thinking(rapid.StringN(1, 20, -1).Draw(t, "thought")))
	}
	if last || rapid.Bool().Draw(t, "speaks") {
		blocks = append(blocks, upstream.Text(rapid.SampledFrom([]string{"So.", "It says\n\n more ", "Näch <b>"}).Draw(t, "text")))
	}
	recalls := rapid.IntRange(0, 2).Draw(t, "recalls")
	own := 0
	if last {
		own = rapid.IntRange(0, 2).Draw(t, "own")
		if own == 0 {
			recalls = 0
		}
	} else {
		recalls = max(recalls, 1)
	}
	for recalls+own > 0 {
		if own == 0 || recalls > 0 && rapid.Bool().Draw(t, "ours first") {
			blocks = append(blocks, c.recalls(rapid.IntRange(0, 2).Draw(t, "which")))
			recalls--
		} else {
			blocks = append(blocks, c.runs())
			own--
		}
	}
	return upstream.Say(blocks...)
}

// If the store fails while an answer ends, later calls still have what was recalled for it. The
// store gets it later, for a proxy that starts again.
func TestRecalledMessagesOutliveAFault(t *testing.T) {
	for _, dialect := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
		t.Run(string(dialect), func(t *testing.T) {
			c := newRecalling(t, dialect, false, 0)
			defer c.close()
			full := true
			c.manager.o.Engine = &faulty{Engine: c.engine, keep: func() error {
				if full {
					return errDisk
				}
				return nil
			}}
			c.script = []upstream.Reply{upstream.Say(c.recalls(0)), upstream.Say(upstream.Text("So."))}
			c.says("Make it.")
			c.call()
			c.says("Go on.")
			c.call()
			full = false
			c.says("And now?")
			c.call()
			c.start(true)
			c.says("Still?")
			c.call()
		})
	}
}

// The tool is offered from the first call of a conversation or never, and only where the model may
// choose it and the client sends everything with each call.
func TestWhoIsOfferedTheTool(t *testing.T) {
	const (
		said   = `{"role":"user","content":"Make it."}`
		before = said + `,{"role":"assistant","content":"It is made."},` + said
		bash   = `{"name":"Bash","input_schema":{"type":"object"}}`
		run    = `{"type":"function","name":"Bash","parameters":{"type":"object"}}`
		chat   = `{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}`
	)
	messages := func(list, more string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + list + `]` + more + `}`
	}
	input := func(list, more string) string { return `{"model":"m","input":[` + list + `]` + more + `}` }
	for _, tt := range []struct {
		name    string
		dialect wire.Dialect
		body    string
		want    bool
	}{
		{"a first message", wire.Anthropic, messages(said, `,"tools":[`+bash+`]`), true},
		{"a conversation that had replies", wire.Anthropic, messages(before, `,"tools":[`+bash+`]`), false},
		{"no tools", wire.Anthropic, messages(said, ``), false},
		{"no tools, and more messages", wire.Anthropic, messages(said+`,`+said, ``), false},
		{"an empty list of tools", wire.Anthropic, messages(said, `,"tools":[]`), false},
		{"a tool of the client with the same name", wire.Anthropic, messages(said, `,"tools":[{"name":"`+ToolRecall+`","input_schema":{"type":"object"}}]`), false},
		{"a choice", wire.Anthropic, messages(said, `,"tools":[`+bash+`],"tool_choice":{"type":"auto"}`), true},
		{"no choice", wire.Anthropic, messages(said, `,"tools":[`+bash+`],"tool_choice":{"type": "tool","name":"Bash"}`), false},
		{"a first message of Chat", wire.Chat, messages(said, `,"tools":[`+chat+`]`), true},
		{"a conversation of Chat that had replies", wire.Chat, messages(before, `,"tools":[`+chat+`]`), false},
		{"one answer of Chat", wire.Chat, messages(said, `,"tools":[`+chat+`],"n":1`), true},
		{"two answers of Chat", wire.Chat, messages(said, `,"tools":[`+chat+`],"n":2`), false},
		{"a choice of Chat", wire.Chat, messages(said, `,"tools":[`+chat+`],"tool_choice":"auto"`), true},
		{"no choice of Chat", wire.Chat, messages(said, `,"tools":[`+chat+`],"tool_choice":{"type":"function","function":{"name":"Bash"}}`), false},
		{"a first message of Responses", wire.Responses, input(said, `,"tools":[`+run+`],"store":false`), true},
		{"a conversation of Responses that had replies", wire.Responses, input(before, `,"tools":[`+run+`],"store":false`), false},
		{"a provider that stores the history", wire.Responses, input(said, `,"tools":[`+run+`]`), false},
	} {
		for _, on := range []bool{true, false} {
			doc, q := new(rawjson.Document), new(wire.Request)
			if err := doc.Read([]byte(tt.body)); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if err := q.Read(tt.dialect, wire.KindCall, nil, doc); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			p, err := newWorld(t, EpochOptions{Window: 200_000, Recall: on}).manager.Prepare(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if want := tt.want && on; p.Recall != want || bytes.Contains(p.Body, []byte(recallAbout)) != want {
				t.Errorf("%s, the option is %t: the tool is offered: %t, want %t, in %s", tt.name, on, p.Recall, want, p.Body)
			}
		}
	}
}

// An item that the provider executes itself may have null in place of the id of a call. It waits for
// no result of the client, and stands in its reply as any other item.
func TestRecallBesideAToolOfTheProvider(t *testing.T) {
	const (
		search = `{"type":"tool_search_call","execution":"server","call_id":null,"arguments":{"query":"x"}}`
		found  = `{"type":"tool_search_output","execution":"server","call_id":null,"tools":[]}`
		recall = `{"type":"function_call","call_id":"rec_1","name":"` + ToolRecall + `","arguments":"{}"}`
		said   = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is done."}]}`
		asked  = `{"role":"user","content":"mend it"}`
	)
	w := weave.New(wire.Responses, ToolRecall)
	if err := w.Whole([]byte(`{"id":"r","status":"completed","output":[` + search + "," + found + "," + recall + `]}`)); err != nil {
		t.Fatal(err)
	}
	if r := w.Round(); !r.Waits() || len(r.Calls) != 1 || len(r.Own) != 0 {
		t.Fatalf("it waits %v, for the proxy's %+v and the client's %q", r.Waits(), r.Calls, r.Own)
	}
	w.Next([]string{"original"})
	if err := w.Whole([]byte(`{"id":"s","status":"completed","output":[` + said + `]}`)); err != nil {
		t.Fatal(err)
	}
	reply, err := w.Reply(nil)
	if err != nil {
		t.Fatal(err)
	}
	var kept epoch.Reply
	for _, m := range reply.Messages {
		kept.Messages = append(kept.Messages, m)
	}
	data, err := kept.Data()
	if err != nil {
		t.Fatal(err)
	}
	var doc rawjson.Document
	var q wire.Request
	err = doc.Read([]byte(`{"input":[` + strings.Join([]string{asked, search, found, said, asked}, ",") + `]}`))
	if err = errors.Join(err, q.Read(wire.Responses, wire.KindCall, nil, &doc)); err != nil {
		t.Fatal(err)
	}
	b := epoch.NewBook(wire.Responses)
	if err := b.Add(&epoch.Rewrite{
		Chain: epoch.ReplyChain(wire.Responses, q.Messages[0].Chain, reply.Calls, reply.Text), Kind: epoch.Message, Messages: 2, Data: data,
	}); err != nil {
		t.Fatal(err)
	}
	result := `{"type":"function_call_output","call_id":"rec_1","output":"original"}`
	want := "[" + strings.Join([]string{asked, search, found, recall, result, said, asked}, ",") + "]"
	if got := string(b.Plan(&q).List(&q, len(q.Messages))); got != want {
		t.Errorf("sent is\n%s\nwant\n%s", got, want)
	}
}
