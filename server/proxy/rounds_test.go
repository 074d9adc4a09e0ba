package proxy

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// A reminder is a manager that offers the tool and counts what is asked.
type reminder struct {
	recallScript

	text  string
	asked atomic.Int64
}

func (m *reminder) Recall(context.Context, string) string {
	m.asked.Add(1)
	return m.text
}

// remembers returns a manager that offers the tool with each request, and recalls a text.
func remembers(text string) *reminder {
	return &reminder{text: text, recallScript: recallScript{&script{prepare: func(context.Context, *wire.Request) (*Prepared, error) {
		return &Prepared{Body: []byte(claudeBody), Reason: "same epoch", Recall: true}, nil
	}}}}
}

// A said is what a provider answers in one round. Without a status it breaks off.
type said struct {
	status                int
	kind, encoding, bytes string
}

func (a *said) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", a.kind)
	if a.encoding != "" {
		w.Header().Set("Content-Encoding", a.encoding)
	}
	if a.status == 0 {
		if a.bytes != "" {
			w.Header().Set("Content-Length", strconv.Itoa(len(a.bytes)+1))
			_, _ = io.WriteString(w, a.bytes)
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.bytes)))
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.bytes)
}

// recordsOf checks that each round is recorded, the last with a state.
func recordsOf(t *testing.T, s *stage, rounds []said, state store.CallState) {
	t.Helper()
	begun, ended := s.recorder.calls()
	if len(begun) != len(rounds) || len(ended) != len(rounds) {
		t.Fatalf("%d intents and %d outcomes of %d rounds", len(begun), len(ended), len(rounds))
	}
	for i, round := range rounds {
		want, again := store.CallDone, i < len(rounds)-1 && round.status != http.StatusOK
		if i == len(rounds)-1 {
			want = state
		} else if again {
			want = store.CallFailed
		}
		if out := ended["call_"+strconv.Itoa(i)]; out.State != want || round.status > 0 && round.encoding == "" && !again && (out.Received != len(round.bytes) || out.First.IsZero()) {
			t.Errorf("round %d is recorded as %+v, want %s", i, out, want)
		}
	}
}

// However a round ends, the client gets an answer that says so, and nothing is recalled in vain.
func TestRoundsOfAnAnswer(t *testing.T) {
	const (
		call   = `{"type":"tool_use","id":"t","name":"` + ToolRecall + `","input":{}}`
		asks   = `{"type":"message","content":[` + call + `],"stop_reason":"tool_use","usage":{"input_tokens":7}}`
		says   = `{"type":"message","content":[{"type":"text","text":"So."}],"stop_reason":"end_turn"}`
		busy   = `{"error":{"type":"overloaded_error","message":"later"}}`
		begins = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n"
		block  = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":" + call + "}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
		bash   = "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"Bash\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
		ends   = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	)
	json := func(status int, text string) said { return said{status, "application/json", "", text} }
	stream := func(status int, text string) said { return said{status, "text/event-stream", "", text} }
	packed := func(encoding, text string) said { return said{http.StatusOK, "application/json", encoding, text} }
	zip := func(text string) string { return string(zipped(t, text)) }
	asked := stream(200, begins+block+ends)
	for _, tt := range []struct {
		name    string
		rounds  []said
		status  int
		want    string // in the client's answer
		recalls int64
		last    string // in the last request, if it was sent again
		state   store.CallState
	}{
		{"identity", []said{packed("identity", asks), json(200, says)}, 200, `"So."`, 1, "original", store.CallDone},
		{"gzip", []said{packed("gzip", zip(asks)), json(200, says)}, 200, `"So."`, 1, "original", store.CallDone},
		{"an unknown encoding", []said{packed("odd", "odd bytes")}, 200, "odd bytes", 0, "", store.CallDone},
		{"gzip that is none", []said{packed("gzip", "no")}, 502, refusedDial.text, 0, "", store.CallFailed},
		{"a byte", []said{json(200, "7")}, 200, "7", 0, "", store.CallFailed},
		{"a failure", []said{json(500, busy)}, 500, busy, 0, "", store.CallFailed},
		{"a call in an answer that is too long", []said{json(200, strings.Replace(asks, `"tool_use","u`, `"max_tokens","u`, 1))}, 200, `"content":[]`, 0, "", store.CallDone},
		{"what breaks off", []said{json(0, asks)}, 502, refusedDial.text, 0, "", store.CallFailed},
		{"a second that breaks off", []said{json(200, asks), json(0, says)}, 502, refusedRound.text, 1, "original", store.CallFailed},
		{"a second without an answer", []said{json(200, asks), {}}, 502, refusedRound.text, 1, "original", store.CallFailed},
		{"a second that fails", []said{json(200, asks), json(529, busy)}, 529, busy, 1, "original", store.CallFailed},
		{"too large", []said{json(200, asks), json(413, "{}"), json(200, says)}, 200, `"So."`, 1, notTogether, store.CallDone},
		{"too large for a gateway", []said{json(200, asks), {413, "text/html", "", "no"}, json(200, says)}, 200, `"So."`, 1, notTogether, store.CallDone},
		{"too long", []said{json(200, asks), json(400, "{}"), json(200, says)}, 200, `"So."`, 1, notTogether, store.CallDone},
		{"a stream", []said{asked, stream(200, begins+ends)}, 200, "message_stop", 1, "original", store.CallDone},
		{"a stream that breaks off", []said{stream(200, begins)}, 200, begins, 0, "", store.CallFailed},
		{"a second stream that fails", []said{asked, stream(529, busy)}, 200, `"type":"overloaded_error"`, 1, "original", store.CallFailed},
		{"a second that is no stream", []said{asked, json(200, says)}, 200, "event: error\n", 1, "original", store.CallFailed},
		{"a second stream without an answer", []said{asked, {}}, 200, refusedRound.text, 1, "original", store.CallFailed},
		{"a second stream that breaks off among calls", []said{asked, stream(0, begins+block+bash)}, 200, "Bash", 1, "original", store.CallFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, n, last := remembers("original"), 0, ""
			var mu sync.Mutex // of n and last: what breaks off synchronizes nothing
			s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				last = string(body)
				n++
				round := tt.rounds[n-1]
				mu.Unlock()
				round.write(w)
			}), func(o *Options) { o.Manager = m })
			resp, text, _ := s.ask("POST", "/v1/messages", claudeBody) // which may break off
			mu.Lock()
			defer mu.Unlock()
			if resp == nil || resp.StatusCode != tt.status || !strings.Contains(text, tt.want) || strings.Contains(text, ToolRecall) {
				t.Fatalf("got %+v, %s", resp, text)
			}
			if n != len(tt.rounds) || m.asked.Load() != tt.recalls || tt.last != "" && strings.Count(last, tt.last) != 1 {
				t.Errorf("%d rounds, %d recalls, at last\n%s", n, m.asked.Load(), last)
			}
			recordsOf(t, s, tt.rounds, tt.state)
			if unread := len(tt.rounds) == 1 && (tt.status == 500 || tt.rounds[0].encoding == "odd"); unread && resp.Header.Get("Content-Length") != strconv.Itoa(len(text)) {
				t.Errorf("what passes unread has the headers %v", resp.Header)
			}
			if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "odd" && encoding != "identity" {
				t.Errorf("an answer that was read has the encoding %s", encoding)
			}
		})
	}
}

// As much as may be recalled in one answer is, and no byte more.
func TestRecallsAreBounded(t *testing.T) {
	m, n, last := remembers(strings.Repeat("x", maxRecalls)), 0, ""
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		call := `{"type":"tool_use","id":"t","name":"` + ToolRecall + `","input":{}}`
		answer := said{200, "application/json", "", `{"type":"message","content":[` + call + "," + call + `],"stop_reason":"tool_use"}`}
		if n++; n == 2 {
			last, answer.bytes = string(body), `{"type":"message","content":[]}`
		}
		answer.write(w)
	}), func(o *Options) { o.Manager = m })
	if _, _, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || strings.Count(last, tooMuch) != 1 || strings.Count(last, m.text) != 1 {
		t.Errorf("%v, recalled are %d bytes, and %d are refused", err, len(last), strings.Count(last, tooMuch))
	}
}

// A provider that is silent in a later round is given up on.
func TestASilentRound(t *testing.T) {
	play(t, func(o *Options) { o.Idle, o.Manager = time.Minute, remembers("original") }, func(c *lineConn, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "original") {
			waitUntilLeft(c)
			return
		}
		text := `{"type":"message","content":[{"type":"tool_use","id":"t","name":"` + ToolRecall + `","input":{}}],"stop_reason":"tool_use"}`
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(text))+"\r\n\r\n"+text)
	}, func(t *testing.T, s *scene) {
		begun := time.Now()
		if resp, got, err := s.hear(t, "/v1/messages", claudeBody); err != nil || resp.StatusCode < 500 || time.Since(begun) > 2*time.Minute {
			t.Errorf("got %v, %s, %v after %v", resp, got, err, time.Since(begun))
		}
	})
}

// A request whose input is one text gets a list with that text in front of what follows.
func TestAppended(t *testing.T) {
	for body, want := range map[string]string{`{"input":"x"}`: `{"input":[{"role":"user","content":"x"},{"a":1},{"b":2}]}`, `{"input":[{}]}`: `{"input":[{},{"a":1},{"b":2}]}`} {
		var doc rawjson.Document
		var q wire.Request
		got, err := appended(&doc, &q, wire.Responses, []byte(body), [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)})
		if err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v, want %s", body, got, err, want)
		}
	}
}
