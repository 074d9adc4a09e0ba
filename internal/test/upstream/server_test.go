package upstream_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// A reply is a message as a client has it.
type reply struct {
	ID         string           `json:"id"`
	Type       string           `json:"type"`
	Role       string           `json:"role"`
	Model      string           `json:"model"`
	Content    []map[string]any `json:"content"`
	StopReason string           `json:"stop_reason"`
	Usage      usage            `json:"usage"`
}

// A usage is what a message cost, in tokens.
type usage struct {
	Input         int `json:"input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	Created       struct {
		Minutes int `json:"ephemeral_5m_input_tokens"`
		Hour    int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Output int `json:"output_tokens"`
}

// A fataler is a test, or a case of a property.
type fataler interface {
	Fatalf(format string, args ...any)
}

// assembled reads a stream as a client does, and checks the order of its events.
func assembled(t fataler, stream string) reply {
	var (
		got  reply
		part strings.Builder
		open = -1
		last string
	)
	for frame := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(frame, "\ndata: ")
		var e struct {
			Type    string
			Index   int
			Message json.RawMessage
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any
			Usage   usage
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || !ok || name != "event: "+e.Type {
			t.Fatalf("a broken event %q", frame)
		}
		if (last == "") != (e.Type == "message_start") || last == "message_stop" {
			t.Fatalf("%s behind %q", e.Type, last)
		}
		last = e.Type
		switch e.Type {
		case "message_start":
			if err := json.Unmarshal(e.Message, &got); err != nil || len(got.Content) > 0 || got.StopReason != "" {
				t.Fatalf("it begins with %s", e.Message)
			}
		case "content_block_start":
			if open >= 0 || e.Index != len(got.Content) {
				t.Fatalf("block %d begins, %d is open", e.Index, open)
			}
			open = e.Index
			got.Content = append(got.Content, e.Block)
			part.Reset()
		case "content_block_delta":
			if open != e.Index {
				t.Fatalf("a delta of block %d, open is %d", e.Index, open)
			}
			block := got.Content[e.Index]
			switch e.Delta["type"] {
			case "text_delta":
				block["text"] = block["text"].(string) + e.Delta["text"].(string)
			case "thinking_delta":
				block["thinking"] = block["thinking"].(string) + e.Delta["thinking"].(string)
			case "signature_delta":
				block["signature"] = e.Delta["signature"]
			case "input_json_delta":
				part.WriteString(e.Delta["partial_json"].(string))
			default:
				t.Fatalf("a delta %v", e.Delta)
			}
		case "content_block_stop":
			if open != e.Index {
				t.Fatalf("block %d ends, open is %d", e.Index, open)
			}
			open = -1
			if block := got.Content[e.Index]; block["type"] == "tool_use" {
				var input any
				if err := json.Unmarshal([]byte(part.String()), &input); err != nil {
					t.Fatalf("the input is %q", part.String())
				}
				block["input"] = input
			}
		case "message_delta":
			got.StopReason, _ = e.Delta["stop_reason"].(string)
			got.Usage = e.Usage
		case "ping", "message_stop":
		default:
			t.Fatalf("an event %s", e.Type)
		}
	}
	if last != "message_stop" || open >= 0 {
		t.Fatalf("it ends with %s, open is %d", last, open)
	}
	return got
}

// A stream says what a message says.
func TestAStreamIsItsMessage(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringN(400, 2000, -1))
	blocks := rapid.OneOf(
		rapid.Map(texts, func(s string) upstream.Block { return upstream.Text(s) }),
		rapid.Map(texts, func(s string) upstream.Block { return upstream.Thinking(s) }),
		rapid.Just(upstream.Block(upstream.Redacted{})),
		rapid.Map(texts, func(s string) upstream.Block {
			return upstream.Call{Name: "write", Input: map[string]any{"text": s, "lines": []int{1, 2}}}
		}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		said := upstream.Say(rapid.SliceOfN(blocks, 0, 4).Draw(rt, "blocks")...)
		var got [2]reply
		for i, stream := range []string{"false", "true"} {
			s := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: said}}})
			w := post(t, s, "/v1/messages", request(newest, asks, `"stream":`+stream))
			if stream == "true" {
				got[i] = assembled(rt, w.Body.String())
				continue
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got[i]); err != nil {
				rt.Fatalf("%v in %s", err, w.Body)
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			rt.Fatalf("the stream is not the message (-message +stream):\n%s", diff)
		}
		if n := len(said.Blocks); len(got[0].Content) != n {
			rt.Fatalf("%d blocks of %d", len(got[0].Content), n)
		}
	})
}

// Each event leaves by itself: a client sees the first while others are to come.
func TestAStreamIsSentEventByEvent(t *testing.T) {
	s := upstream.New(nil)
	base, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", strings.NewReader(request(newest, asks, `"stream":true`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer dummy")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" || res.ContentLength >= 0 {
		t.Errorf("it is of type %s, with a length of %d", got, res.ContentLength)
	}
	var stream strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		stream.WriteString(lines.Text() + "\n")
	}
	if got := assembled(t, stream.String()).Content[0]["text"]; got != "Done." {
		t.Errorf("it says %q", got)
	}
	if got := string(s.Requests()[0].Reply); got != stream.String() {
		t.Errorf("what is recorded is not what was sent:\n%s", got)
	}
}

func TestAScriptIsPlayedInOrder(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Name: "summary", When: upstream.OfKind(upstream.KindCompaction), Times: upstream.Always, Reply: upstream.Say(upstream.Text("summary"))},
		{Name: "first", Reply: upstream.Say(upstream.Call{ID: "c1", Name: "ls"})},
		{Name: "second", Times: 2, Make: func(r *upstream.Request) upstream.Reply {
			return upstream.Say(upstream.Text("you said " + r.Prompt()))
		}},
		{Name: "busy", Reply: upstream.Reply{Failure: &upstream.Refusal{Status: 529, Type: "overloaded_error", Message: "Overloaded"}}},
	}})
	compaction := `{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. Do it."}`
	for _, tt := range []struct{ messages, step, says string }{
		{asks, "first", `"input":{}`},
		{compaction, "summary", "summary"},
		{list(asks, calls, user(result1, `{"type":"text","text":"one"}`, `{"type":"text","text":"two"}`)), "second", `you said one\ntwo`},
		{`{"role":"user","content":"three"}`, "second", "you said three"},
		{compaction, "summary", "summary"},
		{asks, "busy", "Overloaded"},
		{asks, "", "Done."},
	} {
		w := post(t, s, "/v1/messages", request(newest, tt.messages))
		requests := s.Requests()
		if got := requests[len(requests)-1].Step; got != tt.step || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s is answered by step %q with %s; want step %q, %s", tt.messages, got, w.Body, tt.step, tt.says)
		}
	}
	if busy := s.Requests()[5]; busy.Status != 529 || len(s.Refused()) != 0 {
		t.Errorf("a failure of the script has status %d, refused are %v", busy.Status, s.Refused())
	}
}

func TestAReplyEndsAsTheScriptSays(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Reply: upstream.Reply{Blocks: []upstream.Block{upstream.Text("and so")}, Stop: "max_tokens", InputTokens: 190_000}},
	}})
	var got reply
	if err := json.Unmarshal(post(t, s, "/v1/messages", request(oldest, asks)).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := reply{
		ID: "msg_000001", Type: "message", Role: "assistant", Model: oldest, StopReason: "max_tokens",
		Content: []map[string]any{{"type": "text", "text": "and so"}},
		Usage:   usage{Input: 190_000, Output: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

func TestThinkingIsGivenAsItIsWanted(t *testing.T) {
	for _, tt := range []struct{ name, model, setting, want string }{
		{"adaptive", newest, `{"type":"adaptive"}`, `"thinking":"hm"`},
		{"with a budget", oldest, `{"type":"enabled","budget_tokens":1024}`, `"thinking":"hm"`},
		{"not to be seen", newest, `{"type":"adaptive","display":"omitted"}`, `"thinking":""`},
		{"as the model does by itself", newest, `null`, `"thinking":"hm"`},
		{"switched off", newest, `{"type":"disabled"}`, `"content":[]`},
		{"on a model that does not by itself", oldest, `null`, `"content":[]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: upstream.Say(upstream.Thinking("hm"))}}})
			w := post(t, s, "/v1/messages", request(tt.model, asks, `"thinking":`+tt.setting))
			if !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %s, want %s", w.Body, tt.want)
			}
		})
	}
}

func TestASideCallIsTold(t *testing.T) {
	agent := []string{"User-Agent", "claude-cli/2.1.329 (external, sdk-cli)"}
	const tools = `"tools":[{"name":"ls"}]`
	for _, tt := range []struct {
		name, body string
		header     []string
		want       upstream.Kind
	}{
		{"the conversation", request(newest, asks, tools), agent, upstream.KindMain},
		{"the conversation of a client without tools", request(newest, asks), nil, upstream.KindMain},
		{"a compaction", request(newest, list(asks, says, `{"role":"user","content":"CRITICAL: Respond with TEXT ONLY."}`), tools), agent, upstream.KindCompaction},
		{"a compaction behind a result", request(newest, list(asks, calls, user(result1, `{"type":"text","text":"CRITICAL: Respond with TEXT ONLY."}`)), tools), agent, upstream.KindCompaction},
		{"talk of a compaction", request(newest, list(`{"role":"user","content":"CRITICAL: Respond with TEXT ONLY."}`, says, asks), tools), agent, upstream.KindMain},
		{"a title", request(oldest, asks, `"system":"Write a title for the session."`), agent, upstream.KindTitle},
		{"a probe", strings.Replace(request(oldest, `{"role":"user","content":"quota"}`), `"max_tokens":10`, `"max_tokens":1`, 1), agent, upstream.KindProbe},
		{"a compaction of OpenCode", request(newest, asks, `"system":"You are a context summarization agent. Keep the titles."`), []string{"User-Agent", "opencode/1.18.33"}, upstream.KindCompaction},
		{"anything else", request(oldest, asks, `"system":"Find the paths in the output."`), agent, upstream.KindSide},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(nil)
			if status, text := ask(t, s, tt.body, tt.header...); status != http.StatusOK {
				t.Fatalf("got %d, %s", status, text)
			}
			if got := s.Requests()[0].Kind; got != tt.want {
				t.Errorf("it is a request of kind %s, want %s", got, tt.want)
			}
			if n := len(s.OfKind(tt.want)); n != 1 {
				t.Errorf("%d of the kind", n)
			}
		})
	}
}

func TestWhatARequestSaysIsShown(t *testing.T) {
	s := upstream.New(nil)
	body := request(newest, list(asks, assistant(`{"type":"text","text":"I look."}`, `{"type":"tool_use","id":"c1","name":"ls","input":{"path":"/"}}`),
		user(`{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"text","text":"way"}]}`, `{"type":"text","text":"go on"}`), note),
		`"system":"Be brief."`, `"tools":[{"name":"ls"},{"name":"rm"}]`)
	if status, text := ask(t, s, body, "X-Trace", "7"); status != http.StatusOK {
		t.Fatalf("got %d, %s", status, text)
	}
	r := s.Requests()[0]
	if string(r.Body) != body || r.Header.Get("X-Trace") != "7" || r.URL.String() != "/v1/messages?beta=true" || r.Method != http.MethodPost || r.Model != newest {
		t.Errorf("recorded is %s %s for %s, %v, %s", r.Method, r.URL, r.Model, r.Header, r.Body)
	}
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"texts", r.Texts(), []string{"Be brief.", "what is in it?", "I look.", `{"path":"/"}`, "no\nway", "go on", "it is late"}},
		{"results", r.Results(), []upstream.Result{{CallID: "c1", Text: "no\nway", Failed: true}}},
		{"notes", r.Notes(), []string{"it is late"}},
		{"prompt", r.Prompt(), "go on"},
		{"tools", r.Tools(), []string{"ls", "rm"}},
		{"a text of it", r.Contains("it is"), true},
		{"another text", r.Contains("claude"), false},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestOtherRoutes(t *testing.T) {
	for _, tt := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string
	}{
		{"a count", http.MethodPost, "/v1/messages/count_tokens", `{"model":"claude-opus-5","messages":[` + asks + `]}`, nil, 200, `{"input_tokens":18}`},
		{"a count of what is broken", http.MethodPost, "/v1/messages/count_tokens?beta=true", `{"model":"claude-opus-5","messages":[` + says + `]}`, nil, 400, "first message must use the user role"},
		{"the models", http.MethodGet, "/v1/models?limit=9", "", nil, 200, `"id":"claude-opus-5-5"`},
		{"whether it is there", http.MethodHead, "/", "", nil, 200, ""},
		{"a model that is not", http.MethodPost, "/v1/messages", request("gpt-9", asks), nil, 404, `"message":"model: gpt-9"`},
		{"a path that is not", http.MethodGet, "/v1/files", "", nil, 404, "not_found_error"},
		{"another method", http.MethodGet, "/v1/messages", "", nil, 404, "not_found_error"},
		{"no key", http.MethodPost, "/v1/messages", request(newest, asks), []string{"X-Api-Key", ""}, 401, "authentication_error"},
		{"no version", http.MethodPost, "/v1/messages", request(newest, asks), []string{"Anthropic-Version", ""}, 400, "anthropic-version: header is required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(&upstream.Options{Script: []upstream.Step{{Name: "only"}}})
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
			r.Header.Set("X-Api-Key", "dummy")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			for i := 0; i < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d, %s; want %d, %s", w.Code, w.Body, tt.status, tt.want)
			}
			if refused := len(s.Refused()) == 1; refused != (tt.status >= 400) {
				t.Errorf("with status %d, refused are %v", tt.status, s.Refused())
			}
			if status, text := ask(t, s, request(newest, asks)); status != http.StatusOK || s.Requests()[1].Step != "only" {
				t.Errorf("then the script is used up: %d, %s", status, text)
			}
		})
	}
}

func TestAScriptThatCannotBeSentIsAnErrorOfTheServer(t *testing.T) {
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Reply: upstream.Say(upstream.Call{Name: "ls", Input: "no object"})},
	}})
	status, text := ask(t, s, request(newest, asks))
	if status != http.StatusInternalServerError || !strings.Contains(text, "the input of ls") {
		t.Errorf("got %d, %s", status, text)
	}
}

func TestSeveralClientsGetAReplyEach(t *testing.T) {
	const clients = 16
	s := upstream.New(&upstream.Options{Script: []upstream.Step{
		{Name: "once"}, {Name: "rest", Times: clients - 1},
	}})
	base, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", strings.NewReader(request(newest, asks)))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("X-Api-Key", "dummy")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	steps, ids := make(map[string]int), make(map[string]bool)
	for _, r := range s.Requests() {
		steps[r.Step]++
		var got reply
		if err := json.Unmarshal(r.Reply, &got); err != nil {
			t.Fatal(err)
		}
		ids[got.ID] = true
	}
	if diff := cmp.Diff(map[string]int{"once": 1, "rest": clients - 1}, steps); diff != "" || len(ids) != clients {
		t.Errorf("%d ids; steps (-want +got):\n%s", len(ids), diff)
	}
}
