package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// prepared returns what a manager decides about a request.
func (w *world) prepared(q *wire.Request) *Prepared {
	w.t.Helper()
	p, err := w.manager.Prepare(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// Of the results that come at once, each large one becomes a pointer, whatever stands beside it.
func TestSeveralResultsAtOnce(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 200_000, Large: 10_000, Pointer: 400, Recall: true})
	result := func(id string, lines int) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"` + strings.Repeat("compiled part of "+id+" without a warning\\n", lines) + `"}`
	}
	var calls []string
	for id, name := range map[string]string{"a": "Bash", "b": "mcp__carrel__recall", "c": "Bash", "d": "Bash", "e": "Bash"} {
		calls = append(calls, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`)
	}
	small, recalled := result("d", 3), result("b", 400)
	w.history = []string{
		`{"role":"user","content":"Make it."}`, `{"role":"assistant","content":[` + strings.Join(calls, ",") + `]}`,
		`{"role":"user","content":[` + strings.Join([]string{result("a", 400), recalled, result("c", 400), small}, ",") + `]}`,
		`{"role":"user","content":[` + result("e", 400) + `,{"type":"text","text":"Go on."}]}`,
	}
	p := w.prepared(w.read(w.request()))
	q := w.read(string(p.Body))
	got, last := string(q.Doc.Raw(q.Messages[2].Node)), string(q.Doc.Raw(q.Messages[3].Node))
	if n := w.manager.Status().Shrunk; n != 3 || strings.Count(got, "stashed") != 2 || !strings.Contains(got, recalled) || !strings.Contains(got, small) || strings.Count(last, "stashed") != 1 || !strings.Contains(last, "Go on.") {
		t.Errorf("%d results are replaced in\n%.3000s\n%s", n, got, last)
	}
	w.history = []string{`{"role":"user","content":"Make it otherwise."}`}
	p = w.prepared(w.read(w.request())) // the tools, one more, stand before the messages
	q = w.read(string(p.Body))
	if part := p.parts[0]; !p.Recall || !bytes.Equal(p.Body[part.Start:part.End], q.Doc.Raw(q.Messages[0].Node)) {
		t.Errorf("the tool is offered %t, and the first part is %.99s", p.Recall, p.Body[part.Start:part.End])
	}
}

// A request that has no call is not counted as one.
func TestWhatIsNoCall(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 200_000, Recall: true})
	w.says("Make it.")
	q := w.read(w.request())
	q.Kind = wire.KindCount
	p := w.prepared(q)
	if w.manager.Done(q, p, nil); p.Recall || w.manager.thread(q).calls != 0 {
		t.Errorf("the tool is offered %t after %d calls", p.Recall, w.manager.thread(q).calls)
	}
	if p := w.prepared(readRequest(t, wire.Anthropic, `{"tools":[{"name":"Bash"}],"messages":[]}`)); p.Reason != "no messages" {
		t.Errorf("no messages: %+v", p)
	}
}

// After a refusal thinking is left out only for models that bind it, and only a refusal that managing
// may have caused changes anything. Even if that cannot be kept, the conversation is managed no more.
func TestWhatGoesAfterARefusal(t *testing.T) {
	w := newWorld(t, EpochOptions{Window: 200_000, Large: 10_000, Pointer: 400})
	w.says("Make all parts.")
	w.size = 400
	w.turn()
	w.size = 5
	w.turn()
	for model, want := range map[string]int{bound: 1, "claude-opus-4-1": 2} {
		q := w.read(strings.Replace(w.request(), bound, model, 1))
		p := w.prepared(q)
		for name, other := range map[string]*Prepared{"of nobody": {Body: p.Body}, "of what came": {State: p.State}} {
			if next, err := w.manager.Refused(t.Context(), q, other, http.StatusRequestEntityTooLarge, nil); next != nil || err != nil {
				t.Errorf("%s, a refusal %s: %+v, %v", model, name, next, err)
			}
		}
		if next, err := w.manager.Refused(t.Context(), q, p, http.StatusUnauthorized, nil); next != nil || err != nil || model == bound && w.manager.Status().Stopped != 0 {
			t.Errorf("%s, a refusal of the key: %+v, %v", model, next, err)
		}
		next, err := w.manager.Refused(t.Context(), q, p, http.StatusRequestEntityTooLarge, nil)
		if err != nil || next == nil || strings.Count(string(next.Body), `"thinking":"thought`) != want {
			t.Errorf("%s: %v, sent is %+v", model, err, next)
		}
		w.restart(EpochOptions{Window: 200_000, Large: 10_000, Pointer: 400})
		w.history[0] = strings.Replace(w.history[0], "Make", "Make or make", 1) // another conversation
		w.history = w.history[:1]
		w.calls, w.size = 0, 400
		w.turn()
		w.size = 5
		w.turn()
	}
	q := w.read(w.request())
	p := w.prepared(q)
	w.fails().keep = func() error { return errDisk }
	if next, err := w.manager.Refused(t.Context(), q, p, http.StatusRequestEntityTooLarge, nil); err != nil || next == nil || next.Body != nil || w.manager.Status().Failed != 1 {
		t.Errorf("nothing can be kept: %v, sent is %+v, %+v", err, next, w.manager.Status())
	}
	if p := w.prepared(w.read(w.request())); p.Reason != "stopped" {
		t.Errorf("after it the conversation is managed: %s", p.Reason)
	}
}

// A head may have faults that the request had, and no others.
func TestFaultsOfHeads(t *testing.T) {
	w := newWorld(t, EpochOptions{})
	const sound = `{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}`
	for name, tt := range map[string]struct {
		messages, head string
		want           error
	}{
		"a sound head":                    {sound, `[{"role":"user","content":"x"}]`, nil},
		"a fault of the request":          {sound + `,{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]},{"role":"user","content":"d"}`, `[{"role":"user","content":"x"}]`, nil},
		"a fault of the head":             {sound, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"x"}]}]`, carrel.ErrInvalid},
		"a fault of the head and another": {sound + `,{"role":"assistant","content":[]},{"role":"user","content":"d"}`, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"x"}]}]`, carrel.ErrInvalid},
	} {
		q := w.read(`{"model":"m","max_tokens":9,"messages":[` + tt.messages + `]}`)
		head := &carrel.Rewrite{Chain: q.Messages[2].Chain, Kind: store.RewriteHead, Epoch: 1, Messages: 3, Data: []byte(tt.head)}
		if err := w.manager.valid(w.manager.thread(q), q, head); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// briefly is an engine with a brief of its own.
type briefly struct {
	*carrel.Engine

	brief func(context.Context) (*carrel.BriefResult, error)
}

func (b *briefly) Brief(ctx context.Context, _ governance.Scope, _ *carrel.BriefRequest) (*carrel.BriefResult, error) {
	return b.brief(ctx)
}

// A compaction gets a brief if there is one and something to be briefed of. It begins an epoch only if
// the budget demands it, and not if Carrel answers.
func TestBriefsOfCompactions(t *testing.T) {
	const tools = `"max_tokens":9,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[`
	ask := `{"role":"user","content":"` + compact + `"}]}`
	for _, tt := range []struct {
		name, body, brief string
		err               error
		want              bool
		failed            int
	}{
		{"a brief", `{"role":"user","content":"a"},` + ask, "BRIEF", nil, true, 0},
		{"an empty brief", `{"role":"user","content":"a"},` + ask, "", nil, false, 0},
		{"no brief", `{"role":"user","content":"a"},` + ask, "", errDisk, false, 1},
		{"the prompt alone", ask, "BRIEF", nil, false, 0},
	} {
		w := newWorld(t, EpochOptions{Window: 200_000})
		asked := false
		w.manager.o.Engine = &briefly{Engine: w.engine, brief: func(context.Context) (*carrel.BriefResult, error) {
			if asked = true; tt.err != nil {
				return nil, tt.err
			}
			return &carrel.BriefResult{Text: tt.brief}, nil
		}}
		p := w.prepared(w.read(`{"model":"m",` + tools + tt.body))
		if bytes.Contains(p.Body, []byte("BRIEF")) != tt.want || (p.Body != nil) != tt.want || p.Reason != api.ReasonCompacts || w.manager.Status().Failed != tt.failed || asked == (tt.body == ask) {
			t.Errorf("%s: asked %t, %+v, sent is %s", tt.name, asked, w.manager.Status(), p.Body)
		}
	}
	for _, tt := range []struct {
		answer bool
		budget token.Count
		want   string
	}{{false, 10_000, api.ReasonCompacts}, {false, 6_000, "new epoch: budget"}, {true, 6_000, "answered"}} {
		w := newWorld(t, EpochOptions{Window: 32_000})
		w.says("Make all parts, and never touch vendor/.")
		for w.manager.Status().Epochs == 0 && len(w.history) < 7 {
			w.turn()
		}
		w.says(compact)
		w.manager.o.Budget, w.manager.o.Answer = tt.budget, tt.answer
		w.now = w.now.Add(2 * time.Hour) // the cache is cold
		if p := w.prepared(w.read(w.request())); p.Reason != tt.want || (w.manager.Status().Epochs > 0) != strings.HasPrefix(tt.want, "new") {
			t.Errorf("%+v: %s, %s", tt, p.Reason, fmt.Sprint(w.manager.Status()))
		}
	}
}
