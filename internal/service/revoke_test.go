package service

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/token"
)

// A slow counter waits at the word wait until its gate is closed.
type slow struct{ gate chan struct{} }

func (c slow) Count(text string) token.Count {
	if strings.Contains(text, "wait") {
		<-c.gate
	}
	return token.Count(len(text)+3) / 4
}

func (c slow) Encoding() string { return "quarter" }

// A listener is a response that is read while it is written.
type listener struct {
	lines chan string
	ended chan struct{}
}

type pipeWriter struct {
	*httptest.ResponseRecorder
	out *io.PipeWriter
}

func (w pipeWriter) Write(b []byte) (int, error) { return w.out.Write(b) }

// listen sends a request and reads what comes back, line by line.
func listen(t *testing.T, s *Service, credential, method, path, body, accept string) *listener {
	in, out := io.Pipe()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7717"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set(api.HeaderScope, "local")
	r.Header.Set("Accept", accept)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	l := &listener{lines: make(chan string, 1000), ended: make(chan struct{})}
	go func() {
		s.Handler().ServeHTTP(pipeWriter{httptest.NewRecorder(), out}, r)
		_ = out.Close()
		close(l.ended)
	}()
	go func() {
		defer close(l.lines)
		for read := bufio.NewScanner(in); read.Scan(); {
			l.lines <- read.Text()
		}
	}()
	return l
}

// said returns what has come so far.
func (l *listener) said() string {
	var b strings.Builder
	for {
		select {
		case line, ok := <-l.lines:
			if !ok {
				return b.String()
			}
			b.WriteString(line + "\n")
		default:
			return b.String()
		}
	}
}

func (l *listener) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// Whatever goes on for long ends with its credential: streams of events, streams of progress,
// calls of tools and jobs that nobody streams; and none of what happens later is told.
func TestLongResponsesEndWithTheirCredential(t *testing.T) {
	const mcpCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"assemble","arguments":{"query":"wait","budget":4000},"_meta":{"progressToken":"p"}}}`
	messages := func(text string) string {
		data, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": text}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, tt := range map[string]struct {
		method, path, body, accept string
		waits                      bool // for a write, which is not given up
		silent                     bool // the protocol has no answer to a call that was given up
	}{
		"events":        {"GET", "/v1/events", "", "text/event-stream", false, false},
		"events of one": {"GET", "/v1/events?session=s", "", "text/event-stream", false, false},
		"progress":      {"POST", "/v1/sessions/x/messages", messages("wait"), "text/event-stream", true, false},
		"a job":         {"POST", "/v1/sessions/x/messages", messages("wait"), "application/json", true, false},
		"a tool":        {"POST", PathMCP, mcpCall, "application/json, text/event-stream", true, true},
	} {
		for how, end := range map[string]func(s *stage, id string){
			"revoked": func(s *stage, id string) {
				if _, err := s.authority.Revoke(s.t.Context(), id); err != nil {
					s.t.Fatal(err)
				}
			},
			"expired": func(*stage, string) { time.Sleep(time.Hour) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := slow{make(chan struct{})}
					s := slowStage(t, c)
					text, minted, err := s.authority.Mint(t.Context(), &auth.MintRequest{
						Actor: "ada", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions(), Lifetime: time.Hour,
					})
					if err != nil {
						t.Fatal(err)
					}
					s.write(t, "hello")
					l := listen(t, s.service, text, tt.method, tt.path, tt.body, tt.accept)
					synctest.Wait()
					if l.over() {
						t.Fatalf("it ended at once: %s", l.said())
					}
					end(s, minted.ID)
					time.Sleep(2 * auth.DefaultRecheck)
					s.write(t, "what happens later")
					time.Sleep(2 * auth.DefaultRecheck)
					if !tt.waits && !l.over() {
						t.Error("it goes on")
					}
					close(c.gate)
					<-l.ended
					synctest.Wait()
					said := l.said()
					why := strings.Contains(said, "unauthenticated") || strings.Contains(said, "denied")
					if tt.silent {
						why = said == ""
					}
					if !why || strings.Contains(said, `"entry"`) || strings.Contains(said, "event: result") {
						t.Errorf("it said %q", said)
					}
				})
			})
		}
	}
}

// An event of which the grant is lost between two looks is not told.
func TestNoEventAfterRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowStage(t, slow{})
		text, minted, err := s.authority.Mint(t.Context(), &auth.MintRequest{
			Actor: "ada", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions(),
		})
		if err != nil {
			t.Fatal(err)
		}
		l := listen(t, s.service, text, "GET", "/v1/events", "", "text/event-stream")
		synctest.Wait()
		s.write(t, "before")
		time.Sleep(time.Second)
		synctest.Wait()
		if said := l.said(); strings.Count(said, `"entry"`) != 1 {
			t.Errorf("before: %q", said)
		}
		if _, err := s.authority.Revoke(t.Context(), minted.ID); err != nil {
			t.Fatal(err)
		}
		s.write(t, "after") // both before the next look
		<-l.ended
		synctest.Wait()
		if said := l.said(); strings.Contains(said, `"entry"`) || !strings.Contains(said, "unauthenticated") {
			t.Errorf("after: %q", said)
		}
	})
}

// slowStage returns a stage whose engine counts with c, in the time of a bubble.
func slowStage(t *testing.T, c token.Counter) *stage {
	t.Helper()
	return stageOf(t, &carrel.Options{Counter: c})
}

// write adds a message to the session s, as the engine itself.
func (s *stage) write(t *testing.T, text string) {
	t.Helper()
	data, err := json.Marshal(map[string]string{"role": "user", "content": text})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.service.opts.Engine.Append(context.WithoutCancel(t.Context()), "local", &carrel.AppendRequest{Session: "s", Messages: []json.RawMessage{data}})
	if err != nil {
		t.Fatal(err)
	}
}
