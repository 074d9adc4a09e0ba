package proxy

import (
	"bytes"
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
)

// A session of Chat Completions and one of the Responses API, with reasoning, go on for more
// than three windows. Nothing is refused, no reasoning is dropped that could be kept, and
// what was sent stays within an epoch.
func TestManagedSessionsOfOpenAI(t *testing.T) {
	const window = 32_000
	for _, dialect := range []wire.Dialect{wire.Chat, wire.Responses} {
		t.Run(string(dialect), func(t *testing.T) {
			now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
			clock := func() time.Time { return now }
			e, err := carrel.New(stores.New(t), &carrel.Options{Now: clock, Window: window})
			if err != nil {
				t.Fatal(err)
			}
			m := NewEpochs(&EpochOptions{
				Engine: e, Window: window, Budget: window * 56 / 100, Large: 6_000, Pointer: 400, Limit: time.Minute, HeadLimit: time.Minute, Now: clock, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
			})
			calls := 0
			provider := upstream.New(&upstream.Options{Window: window, Now: clock, Otherwise: func(*upstream.Request) upstream.Reply {
				calls++
				return upstream.Say(upstream.Thinking(fmt.Sprintf("thought %d", calls)), upstream.Text(fmt.Sprintf("Step %d.", calls)),
					upstream.Call{ID: fmt.Sprintf("call_%d", calls), Name: "shell", Input: map[string]any{"command": fmt.Sprintf("make part%d", calls)}})
			}})
			history := []string{`{"role":"user","content":"CANARY: make all parts, and never touch vendor/."}`}
			var before []digest.Digest
			last := 0
			for n := range 60 {
				now = now.Add(20 * time.Second)
				body := openAIBody(dialect, history)
				doc, q := new(rawjson.Document), new(wire.Request)
				if err := doc.Read([]byte(body)); err != nil {
					t.Fatal(err)
				}
				if err := q.Read(dialect, wire.KindCall, nil, doc); err != nil {
					t.Fatal(err)
				}
				p, err := m.Prepare(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				goes := []byte(body)
				if p.Body != nil {
					goes = p.Body
				}
				path := map[wire.Dialect]string{wire.Chat: "/v1/chat/completions", wire.Responses: "/v1/responses"}[dialect]
				r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, bytes.NewReader(goes))
				r.Header.Set("Authorization", "Bearer dummy")
				w := httptest.NewRecorder()
				provider.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					t.Fatalf("call %d, %s, is refused: %d %s", n, p.Reason, w.Code, w.Body)
				}
				m.Done(q, p, &wire.Answer{Status: w.Code, Whole: true})
				if !bytes.Contains(goes, []byte("CANARY: make all parts, and never touch vendor/.")) {
					t.Fatalf("call %d does not have what the user said", n)
				}
				if dropped := strings.Count(w.Body.String(), "reasoning_dropped"); dropped > 0 {
					t.Errorf("call %d, %s: reasoning is dropped: %s", n, p.Reason, w.Body)
				}
				sent := idsOf(t, dialect, goes)
				for i := range before {
					if p.Epoch == last && (i >= len(sent) || sent[i] != before[i]) {
						t.Fatalf("call %d of epoch %d has another message %d than the call before", n, p.Epoch, i)
					}
				}
				before, last = sent, p.Epoch
				lines := strings.Repeat(fmt.Sprintf("part%d compiled object %d\n", calls, calls*7919), 130+300*(n%4/3))
				history = append(history, openAITurn(t, dialect, w.Body.Bytes())...)
				if dialect == wire.Chat {
					history = append(history, fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, calls, rawjson.AppendString(nil, lines)))
				} else {
					history = append(history, fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":%s}`, calls, rawjson.AppendString(nil, lines)))
				}
			}
			if s := m.Status(); s.Epochs < 3 || s.Failed > 0 || s.Shrunk == 0 {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func openAIBody(dialect wire.Dialect, history []string) string {
	if dialect == wire.Chat {
		return `{"model":"gpt-5.6","messages":[{"role":"system","content":"You mend things."},` + strings.Join(history, ",") +
			`],"tools":[{"type":"function","function":{"name":"shell","parameters":{"type":"object"}}}]}`
	}
	return `{"model":"gpt-6","instructions":"You mend things.","store":false,"include":["reasoning.encrypted_content"],"input":[` + strings.Join(history, ",") +
		`],"tools":[{"type":"function","name":"shell","parameters":{"type":"object"}}]}`
}

// openAITurn returns what a client adds to its history for an answer.
func openAITurn(t *testing.T, dialect wire.Dialect, answer []byte) (items []string) {
	t.Helper()
	var a struct {
		Choices []struct{ Message json.RawMessage }
		Output  []json.RawMessage
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	for _, item := range a.Output {
		items = append(items, string(item))
	}
	if dialect == wire.Chat {
		items = append(items, string(a.Choices[0].Message))
	}
	if len(items) == 0 {
		t.Fatalf("got %s", answer)
	}
	return items
}

func idsOf(t *testing.T, dialect wire.Dialect, body []byte) (ids []digest.Digest) {
	t.Helper()
	doc, q := new(rawjson.Document), new(wire.Request)
	if err := doc.Read(body); err != nil {
		t.Fatal(err)
	}
	if err := q.Read(dialect, wire.KindCall, nil, doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range q.Messages {
		ids = append(ids, m.Identity)
	}
	return ids
}
