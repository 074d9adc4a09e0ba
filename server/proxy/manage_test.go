package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

const bound = "claude-opus-5-5" // binds its thinking

// A world is a client, a manager before a real engine, and a provider that refuses as the
// real one does.
type world struct {
	t        *testing.T
	engine   *carrel.Engine
	manager  *Epochs
	provider *upstream.Server
	now      time.Time

	history []string // as the client has it: texts as texts, without marks
	calls   int      // that the model made
	sent    []sent
	size    int // of a result, in lines
	tools   string
	counted int // percent of the bound of a prompt that the provider says it counted, 0 for nothing
}

// sent is what arrived for a call.
type sent struct {
	body   string
	epoch  int
	chain  digest.Digest // of the client's
	ids    []digest.Digest
	reason string
	status int
	prompt int // tokens, as the provider counts
	cached int // of these, read from its cache
}

func newWorld(t *testing.T, o EpochOptions) *world {
	t.Helper()
	o.Budget = cmp.Or(o.Budget, o.Window*56/100) // so that some epochs end in a test
	w := &world{t: t, now: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC), size: 60}
	e, err := carrel.New(stores.New(t), &carrel.Options{Now: func() time.Time { return w.now }, Window: o.Window})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = e
	if o.Engine == nil {
		o.Engine = e
	}
	o.Limit, o.HeadLimit = time.Minute, cmp.Or(o.HeadLimit, time.Minute) // a machine may be slow
	o.Now = func() time.Time { return w.now }
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	w.manager = NewEpochs(&o)
	w.provider = upstream.New(&upstream.Options{Key: []byte("k"), Otherwise: w.model, Window: int(o.Window), Now: func() time.Time { return w.now }})
	return w
}

// model thinks, says a word and calls a tool, again and again.
func (w *world) model(r *upstream.Request) upstream.Reply {
	if r.Kind == upstream.KindCompaction {
		return upstream.Say(upstream.Text("<summary>done so far</summary>"))
	}
	w.calls++
	return upstream.Say(
		upstream.Thinking(fmt.Sprintf("thought %d", w.calls)), upstream.Text(fmt.Sprintf("Step %d.", w.calls)),
		upstream.Call{ID: fmt.Sprintf("toolu_%d", w.calls), Name: "Bash", Input: map[string]any{"command": fmt.Sprintf("make part%d", w.calls)}},
	)
}

// request returns the body that the client sends: the last message as a block with a mark.
func (w *world) request() string {
	messages := append([]string(nil), w.history...)
	last := len(messages) - 1
	if before, after, found := strings.Cut(messages[last], `"content":"`); found && strings.HasPrefix(messages[last], `{"role":"user","content":"`) {
		messages[last] = before + `"content":[{"type":"text","text":"` + strings.TrimSuffix(after, "}") + `}]}`
	}
	messages[last] = strings.TrimSuffix(messages[last], "}]}") + `,"cache_control":{"type":"ephemeral"}}]}`
	return `{"model":"` + bound + `","max_tokens":1000,"stream":false,"thinking":{"type":"adaptive"},"metadata":{"user_id":"{\"session_id\":\"s\"}"},` +
		`"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2;"},{"type":"text","text":"You mend things.","cache_control":{"type":"ephemeral"}}],` +
		`"tools":[{"name":"Bash","description":"runs a command; ` + w.tools + `","input_schema":{"type":"object"}}],"messages":[` + strings.Join(messages, ",") + `]}`
}

func (w *world) read(body string) *wire.Request {
	w.t.Helper()
	doc, q := new(rawjson.Document), new(wire.Request)
	if err := doc.Read([]byte(body)); err != nil {
		w.t.Fatal(err)
	}
	if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
		w.t.Fatal(err)
	}
	return q
}

// call sends the history and returns what the model said, as JSON.
func (w *world) call() string {
	w.t.Helper()
	body := w.request()
	q := w.read(body)
	p, err := w.manager.Prepare(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	if p.Reply != nil {
		w.manager.Done(q, p, nil)
		return string(p.Reply.Body)
	}
	answer := w.post(body, p)
	if answer.Code != http.StatusOK {
		next, err := w.manager.Refused(w.t.Context(), q, p, answer.Code, answer.Body.Bytes())
		if err != nil || next == nil {
			w.t.Fatalf("refused: %d %s; %v", answer.Code, answer.Body, err)
		}
		p = next
		answer = w.post(body, p)
	}
	out := &wire.Answer{Status: answer.Code, Whole: true, Used: w.counted > 0}
	out.Usage.Input = p.size * token.Count(w.counted) / 100
	w.manager.Done(q, p, out)
	return answer.Body.String()
}

func (w *world) post(body string, p *Prepared) *httptest.ResponseRecorder {
	w.t.Helper()
	goes := body
	if p.Body != nil {
		goes = string(p.Body)
	}
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/messages", strings.NewReader(goes))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", "dummy")
	answer := httptest.NewRecorder()
	w.provider.ServeHTTP(answer, r)
	s := sent{body: goes, epoch: p.Epoch, chain: chainOf(w.read(body)), reason: p.Reason, status: answer.Code}
	var a struct {
		Usage struct {
			Input int `json:"input_tokens"`
			Read  int `json:"cache_read_input_tokens"`
			Write int `json:"cache_creation_input_tokens"`
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &a); err != nil {
		w.t.Fatal(err)
	}
	s.prompt, s.cached = a.Usage.Input+a.Usage.Read+a.Usage.Write, a.Usage.Read
	for _, m := range w.read(goes).Messages {
		s.ids = append(s.ids, m.Identity)
	}
	w.sent = append(w.sent, s)
	return answer
}

// turn makes a call, and answers the model's tool call with a result.
func (w *world) turn() {
	w.t.Helper()
	w.now = w.now.Add(20 * time.Second)
	w.hears(w.call())
}

// hears takes what the model said, and answers its tool call with a result.
func (w *world) hears(reply string) {
	w.t.Helper()
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal([]byte(reply), &m); err != nil || m.Content == nil {
		w.t.Fatalf("%v: %s", err, reply)
	}
	w.history = append(w.history, `{"role":"assistant","content":`+string(m.Content)+`}`)
	var lines strings.Builder
	for i := range w.size {
		fmt.Fprintf(&lines, "part%d/file%d.go:%d: compiled object %s in %d ms\n", w.calls, i, 10+i, digest.Of(fmt.Append(nil, w.calls, i)).Short(), i*7%31)
	}
	w.history = append(w.history, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, w.calls, rawjson.AppendString(nil, lines.String())))
}

// says adds what the person says behind the last result.
func (w *world) says(text string) {
	if n := len(w.history); n > 0 {
		if before, after, found := strings.Cut(w.history[n-1], `"content":"`); found && !strings.Contains(before, "[") {
			w.history[n-1] = before + `"content":[{"type":"text","text":"` + strings.TrimSuffix(after, "}") + "}]}"
		}
		w.history[n-1] = strings.TrimSuffix(w.history[n-1], "]}") + `,{"type":"text","text":"` + text + `"}]}`
		return
	}
	w.history = append(w.history, `{"role":"user","content":"`+text+`"}`)
}

// stays checks that what was sent before is at the beginning of what is sent now, within an
// epoch.
func (w *world) stays() {
	w.t.Helper()
	for i := 1; i < len(w.sent); i++ {
		a, b := &w.sent[i-1], &w.sent[i]
		if a.epoch != b.epoch || a.status != http.StatusOK || b.reason == "stopped" {
			continue
		}
		for k := range a.ids {
			if k >= len(b.ids) || a.ids[k] != b.ids[k] {
				w.t.Fatalf("call %d of epoch %d has another message %d than the call before", i, b.epoch, k)
			}
		}
	}
}

func TestAManagedSession(t *testing.T) {
	const window = 32_000
	w := newWorld(t, EpochOptions{Window: window})
	w.says("CANARY-ONE: make all parts, and never touch vendor/.")
	canaries := []string{"CANARY-ONE: make all parts, and never touch vendor/."}
	for n := range 60 {
		if n == 20 || n == 40 {
			c := fmt.Sprintf("CANARY-%d: use tabs in part%d from now on.", n, n)
			w.says(c)
			canaries = append(canaries, c)
		}
		w.turn()
		last := w.sent[len(w.sent)-1]
		for _, c := range canaries {
			if !strings.Contains(last.body, c) {
				t.Fatalf("call %d, epoch %d, does not have %q", n, last.epoch, c)
			}
		}
		if tokens := token.ForModel(bound).Count(last.body); tokens > window {
			t.Errorf("call %d has %d tokens", n, tokens)
		}
	}
	if refused := w.provider.Refused(); len(refused) > 0 {
		t.Fatalf("%d of %d calls were refused: %+v", len(refused), len(w.sent), refused[0].Refusal)
	}
	w.stays()
	for i := 1; i < len(w.sent); i++ { // as the provider's own cache sees it
		if a, b := w.sent[i-1], w.sent[i]; a.epoch == b.epoch && a.prompt >= 4_000 && b.cached < a.prompt*9/10 {
			t.Errorf("call %d of epoch %d reads %d tokens from the cache, where the call before had %d", i, b.epoch, b.cached, a.prompt)
		}
	}
	s := w.manager.Status()
	if s.Epochs < 3 || s.Failed > 0 {
		t.Errorf("got %+v, want three epochs and no failure", s)
	}
}

// restart puts a new manager in place of the old one, over the same store.
func (w *world) restart(o EpochOptions) {
	if o.Engine == nil {
		o.Engine = w.engine
	}
	o.Now, o.Logger, o.Limit, o.HeadLimit = w.manager.o.Now, w.manager.o.Logger, w.manager.o.Limit, w.manager.o.HeadLimit
	o.Budget = cmp.Or(o.Budget, o.Window*56/100)
	w.manager = NewEpochs(&o)
}

// notRefused fails if the provider refused a call.
func (w *world) notRefused() {
	w.t.Helper()
	for _, r := range w.provider.Refused() {
		w.t.Errorf("refused: %+v", r.Refusal)
	}
}

// last returns the last of what was sent.
func (w *world) last() *sent { return &w.sent[len(w.sent)-1] }

// The account of a call names the call that has sent its messages before.
func TestAccountsNameTheCallBefore(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 32_000, Large: 1_000, Pointer: 400})
	w.says("Make all parts.")
	w.turn()
	q := w.read(w.request())
	for _, before := range []string{"", "call_1"} {
		p, err := w.manager.Prepare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		a := accountOf(p.parts, p.Body, p.before)
		if a == nil || a.Segments[1].Before != before {
			t.Fatalf("the account is %+v, want call %q in it", a, before)
		}
		p.last = lastSent{"call_1", p.Sent}
		w.manager.Done(q, p, nil)
	}
}

// What the provider counts is what a budget is of: of prompts of which it counts a third, three
// times as much is sent before an epoch ends.
func TestTheProviderCounts(t *testing.T) {
	epochs := make(map[int]int)
	for _, counted := range []int{0, 33, 100} {
		w := newWorld(t, EpochOptions{Window: 32_000})
		w.counted = counted
		w.says("Mend it.")
		for range 60 {
			w.turn()
		}
		epochs[counted] = w.manager.Status().Epochs
	}
	if epochs[33] == 0 || epochs[0] < 2*epochs[33] || epochs[100] < epochs[0] {
		t.Errorf("epochs by the percent that the provider counts: %v", epochs)
	}
}

func TestAfterARestartTheSameIsSent(t *testing.T) {
	o := EpochOptions{Window: 32_000, Large: 3_000, Pointer: 400}
	w := newWorld(t, o)
	w.says("Make all parts.")
	for n := range 30 {
		w.size = 25 + 40*(n%2)
		w.turn()
		w.restart(o)
	}
	w.notRefused()
	w.stays()
	if w.last().epoch == 0 || w.manager.Status().Epochs > 1 {
		t.Errorf("the last call is of epoch %d, %+v", w.last().epoch, w.manager.Status())
	}
	o.Window = 64_000 // so that none is due
	w.restart(o)
	before := w.request()
	for range 2 {
		q := w.read(before)
		p, err := w.manager.Prepare(t.Context(), q)
		if err != nil || p.Body == nil {
			t.Fatalf("got %+v, %v", p, err)
		}
		again := w.read(string(p.Body))
		for i, id := range w.last().ids {
			if again.Messages[i].Identity != id {
				t.Fatalf("message %d is another one", i)
			}
		}
	}
}

// A client that goes back and goes on otherwise, and one that goes on from an earlier place,
// are sent what was sent for that beginning.
func TestRewindsAndForks(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 32_000})
	w.says("Make all parts.")
	var grown []string
	for range 12 {
		w.turn()
	}
	grown = append(grown, w.history...)
	if w.last().epoch == 0 {
		t.Fatal("no epoch began")
	}
	for _, back := range []int{23, 19, 7, 3} { // behind a head, and in front of the first
		w.history = append([]string(nil), grown[:back]...)
		w.says("No, do it otherwise.")
		w.turn()
		w.turn()
	}
	w.history = append([]string(nil), grown...)
	w.turn()
	w.notRefused()
}

// A sub-agent of the session is a conversation of its own.
func TestASubAgentIsAThreadOfItsOwn(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 32_000})
	w.says("Make all parts.")
	for range 10 {
		w.turn()
	}
	main := w.history
	w.history = nil
	w.says("You are a helper: look at part1.")
	w.turn()
	if w.last().epoch != 0 || !strings.Contains(w.last().body, "look at part1") || w.manager.Status().Threads != 2 {
		t.Errorf("the helper was sent %.300s", w.last().body)
	}
	w.history = main
	w.turn()
	w.notRefused()
	if w.last().epoch == 0 {
		t.Error("the conversation fell out of its epoch")
	}
}

func TestLargeResultsAreShortenedOnce(t *testing.T) {
	o := EpochOptions{Window: 200_000, Large: 10_000, Pointer: 400}
	w := newWorld(t, o)
	w.says("Make all parts.")
	w.size = 400
	w.turn()
	w.size = 5
	w.turn()
	result := w.history[2]
	sentOf := func() string {
		q := w.read(w.last().body)
		return string(q.Doc.Raw(q.Messages[2].Node))
	}
	pointer := sentOf()
	if len(pointer) > 4_000 || !strings.Contains(pointer, "stashed") || strings.Contains(result, "stashed") {
		t.Fatalf("got %s", pointer)
	}
	for range 3 {
		w.turn()
		if got := strings.ReplaceAll(sentOf(), `"cache_control":{"type":"ephemeral"},`, ""); got != strings.ReplaceAll(pointer, `"cache_control":{"type":"ephemeral"},`, "") {
			t.Fatalf("later it is %s", got)
		}
		w.restart(o)
	}
	// What was sent before as it came stays.
	w.size = 400
	w.restart(EpochOptions{Window: 200_000, Large: 1 << 20})
	w.turn()
	w.turn()
	w.restart(o)
	w.size = 5
	w.turn()
	w.turn()
	w.notRefused()
	w.stays()
	if s := w.manager.Status(); s.Shrunk > 1 || s.Failed > 0 {
		t.Errorf("got %+v", s)
	}
}

// What is stored of a conversation has the pointers, also if the manager has forgotten it.
func TestAForgottenConversationIsStoredAsSent(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 200_000, Large: 10_000, Pointer: 400, Threads: 1})
	w.says("Make all parts.")
	w.size = 400
	w.turn()
	w.turn()
	q := w.read(w.request())
	before, err := w.manager.Whole(q)
	if err != nil || !strings.Contains(string(before), "stashed") {
		t.Fatalf("%v: no pointer in %.400s", err, before)
	}
	other := w.read(strings.Replace(w.request(), "Make all parts.", "Make another.", 1))
	for range 2 {
		if _, err := w.manager.Prepare(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.manager.Status().Threads; n != 1 {
		t.Fatalf("%d conversations are in memory", n)
	}
	if after, err := w.manager.Whole(q); err != nil || string(after) != string(before) {
		t.Errorf("%v: %d bytes are stored, and were %d", err, len(after), len(before))
	}
}

// A result with an original that was recalled is not replaced by a pointer again.
func TestRecalledResultsStay(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 200_000, Large: 1_000})
	w.provider = upstream.New(&upstream.Options{Otherwise: func(*upstream.Request) upstream.Reply {
		w.calls++
		return upstream.Say(upstream.Call{ID: fmt.Sprintf("toolu_%d", w.calls), Name: "mcp__carrel__recall", Input: map[string]any{"id": "x"}})
	}})
	w.says("Recall it.")
	for range 3 {
		w.turn()
	}
	if s := w.manager.Status(); s.Shrunk > 0 || s.Changed > 0 {
		t.Errorf("got %+v", s)
	}
}

// After a refusal that managing could have caused, the original goes out, and from then on
// the conversation is not managed: also after a restart.
func TestARefusalEndsManaging(t *testing.T) {
	o := EpochOptions{Window: 32_000}
	w := newWorld(t, o)
	w.says("Make all parts.")
	for range 10 {
		w.turn()
	}
	next := w.provider
	refuse := upstream.New(&upstream.Options{Script: []upstream.Step{{Reply: upstream.Reply{Failure: &upstream.Refusal{
		Status: 400, Type: "invalid_request_error", Message: "messages.3.content.0: Invalid `signature` in `thinking` block",
	}}}}})
	w.provider = refuse
	body := w.request()
	q := w.read(body)
	p, err := w.manager.Prepare(t.Context(), q)
	if err != nil || p.Body == nil {
		t.Fatalf("got %+v, %v", p, err)
	}
	answer := w.post(body, p)
	again, err := w.manager.Refused(t.Context(), q, p, answer.Code, answer.Body.Bytes())
	if err != nil || again == nil {
		t.Fatalf("got %+v, %v for %d, %s", again, err, answer.Code, answer.Body)
	}
	w.provider = next
	answer = w.post(body, again)
	if answer.Code != http.StatusOK || len(w.last().body) < len(body)/2 {
		t.Fatalf("the original is refused: %d, %s", answer.Code, answer.Body)
	}
	w.manager.Done(q, again, nil)
	if p, err := w.manager.Prepare(t.Context(), q); err != nil || p.Body == nil {
		t.Fatalf("got %+v, %v", p, err)
	} else if _, err := w.manager.Refused(t.Context(), q, p, http.StatusRequestEntityTooLarge, nil); err != nil {
		t.Fatal(err)
	}
	if n := w.manager.Status().Stopped; n != 1 {
		t.Errorf("one conversation is counted as %d that are no longer managed", n)
	}
	for n := range 12 {
		if n == 6 {
			w.restart(o)
		}
		w.turn()
		if w.last().reason != "stopped" {
			t.Fatalf("call %d after the refusal is managed: %s", n, w.last().reason)
		}
	}
	w.notRefused()
	if s := w.manager.Status(); s.Epochs > 0 {
		t.Errorf("got %+v", s)
	}
}

func TestRefusalsOfTheClient(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string
		want   bool
	}{
		{400, "messages.1.content.0: Invalid `signature` in `thinking` block", true},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", true},
		{400, "`tool_use` ids were found without `tool_result` blocks immediately after", true},
		{400, "A maximum of 4 blocks with cache_control may be provided.", true},
		{400, "No tool call found for function call output with call_id x.", true},
		{413, "", true},
		{400, "temperature: Extra inputs are not permitted", false},
		{401, "invalid x-api-key", false},
		{429, "rate limit: too many tokens exceed", false},
	} {
		if got := caused(tt.status, []byte(tt.text)); got != tt.want {
			t.Errorf("%d %s: %t, want %t", tt.status, tt.text, got, tt.want)
		}
	}
	w := newWorld(t, EpochOptions{})
	w.says("Make all parts.")
	q := w.read(w.request())
	p, err := w.manager.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := w.manager.Refused(t.Context(), q, p, 400, []byte("prompt is too long")); next != nil || err != nil {
		t.Errorf("what went as it came is sent again: %+v, %v", next, err)
	}
}

const compact = "CRITICAL: Respond with TEXT ONLY. Do not call any tools.\\n\\nAdditional Instructions:\\nMind the tests.\\n\\nREMINDER: no tools."

func TestACompactionGetsABrief(t *testing.T) {
	o := EpochOptions{Window: 32_000}
	w := newWorld(t, o)
	w.says("Make all parts, and never touch vendor/.")
	for range 10 {
		w.turn()
	}
	before := w.last()
	w.says(compact)
	for range 2 { // it is sent twice
		if reply := w.call(); !strings.Contains(reply, "done so far") {
			t.Fatalf("got %s", reply)
		}
		got := w.last()
		if !strings.Contains(got.body, `Additional Instructions:\nKeep`) || !strings.Contains(got.body, "never touch vendor/.") || !strings.Contains(got.body, `Mind the tests.\n\nREMINDER`) {
			t.Errorf("got %s", got.body[len(got.body)-2000:])
		}
		for i, id := range before.ids {
			if got.epoch == before.epoch && got.ids[i] != id {
				t.Errorf("message %d is another than before", i)
			}
		}
		w.restart(o)
	}
	w.notRefused()
	w.history = []string{`{"role":"user","content":"This session is being continued from a previous conversation.\n\nSummary: done so far"}`}
	for range 12 {
		w.turn()
	}
	w.notRefused()
	w.stays()
}

func TestACompactionIsAnswered(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := newWorld(t, EpochOptions{Window: 32_000, Answer: true})
		w.says("Make all parts, and never touch vendor/.")
		for range 5 {
			w.turn()
		}
		calls := len(w.sent)
		w.says(compact)
		body := strings.Replace(w.request(), `"stream":false`, fmt.Sprintf(`"stream":%t`, stream), 1)
		p, err := w.manager.Prepare(t.Context(), w.read(body))
		if err != nil || p.Reply == nil || p.Reply.Header.Get("X-Carrel-Answer") == "" {
			t.Fatalf("got %+v, %v", p, err)
		}
		tap := wire.NewTap(wire.Anthropic, p.Reply.Header.Get("Content-Type"), "")
		tap.Feed(p.Reply.Body)
		a := tap.End(false)
		if !a.Whole || a.Stop != "end_turn" || a.Model != bound || a.Usage.Prompt() != 0 || a.Usage.Output != 0 || a.Error != "" {
			t.Errorf("stream %t: it reads as %+v", stream, a)
		}
		if text := string(p.Reply.Body); !strings.Contains(text, "never touch vendor/.") || !strings.Contains(text, `<summary>\n[carrel: no model`) {
			t.Errorf("got %s", text)
		}
		if len(w.sent) != calls || w.manager.Status().Answered != 1 {
			t.Errorf("the provider was asked, %+v", w.manager.Status())
		}
	}
}

// The answers of Carrel are answers of each dialect, to the reader of package wire.
func TestRepliesAreWhole(t *testing.T) {
	for _, dialect := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
		for _, stream := range []bool{false, true} {
			r := replyOf(&wire.Request{Dialect: dialect, Stream: stream, Model: `m"`}, "a\n\"b\"")
			tap := wire.NewTap(dialect, r.Header.Get("Content-Type"), "")
			tap.Feed(r.Body)
			if a := tap.End(false); !a.Whole || a.Error != "" || a.Model != `m"` || a.Usage.Output != 0 {
				t.Errorf("%s, stream %t: %+v of\n%s", dialect, stream, a, r.Body)
			}
			if !strings.Contains(string(r.Body), `a\n\"b\"`) {
				t.Errorf("%s, stream %t: no text in\n%s", dialect, stream, r.Body)
			}
		}
	}
}
