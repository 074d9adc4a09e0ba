package upstream_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// long is a block of text of about n tokens of the server's.
func long(n int, mark string) string {
	return fmt.Sprintf(`{"type":"text","text":%q%s}`, strings.Repeat("seven b", n/2), mark)
}

const (
	minutes = `,"cache_control":{"type":"ephemeral"}`
	anHour  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// A clock is set by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// usageOf sends a request and returns what it cost.
func usageOf(t *testing.T, s *upstream.Server, body string) upstream.Usage {
	t.Helper()
	if status, text := ask(t, s, body); status != http.StatusOK {
		t.Fatalf("got %d, %s", status, text)
	}
	all := s.Requests()
	u := all[len(all)-1].Usage
	if got := all[len(all)-1].Tokens; got != u.Total() {
		t.Errorf("a request of %d tokens is billed with %d", got, u.Total())
	}
	u.Output = 0
	return u
}

// What is marked is written once and read for as long as it lives, which every read makes
// longer.
func TestTheCacheKeepsWhatIsMarked(t *testing.T) {
	now := &clock{at: time.Unix(1, 0)}
	s := upstream.New(&upstream.Options{Now: now.now})
	body := request(newest, user(long(1000, ""), long(1000, minutes), long(100, "")), `"system":[`+long(2000, anHour)+`]`)
	system := usageOf(t, s, request(newest, asks, `"system":[`+long(2000, anHour)+`]`)).Write1
	if system < 2000 || system > 2020 {
		t.Fatalf("system text of about 2000 tokens is written as %d", system)
	}
	first := usageOf(t, s, body)
	if first.Read != system || first.Write < 2000 || first.Write1 != 0 || first.Input < 100 {
		t.Errorf("the first time: %+v", first)
	}
	warm := upstream.Usage{Input: first.Input, Read: first.Read + first.Write}
	for range 3 { // each of them keeps it warm for five minutes
		if diff := cmp.Diff(warm, usageOf(t, s, body)); diff != "" {
			t.Errorf("while it is warm (-want +got):\n%s", diff)
		}
		now.at = now.at.Add(4 * time.Minute)
	}
	now.at = now.at.Add(time.Minute)
	if diff := cmp.Diff(first, usageOf(t, s, body)); diff != "" {
		t.Errorf("after five minutes the system text is left, which lives an hour (-want +got):\n%s", diff)
	}
	now.at = now.at.Add(time.Hour)
	if diff := cmp.Diff(upstream.Usage{Input: first.Input, Write: first.Write, Write1: system}, usageOf(t, s, body)); diff != "" {
		t.Errorf("after an hour (-want +got):\n%s", diff)
	}
}

func TestWhatBreaksThePrefixIsTold(t *testing.T) {
	messages := func(first, mark string) string {
		return list(`{"role":"user","content":[`+long(1500, "")+`,{"type":"text","text":"`+first+`"}]}`, says, user(long(1500, mark)))
	}
	const tools = `"tools":[{"name":"ls"}]`
	system := `"system":[` + long(1500, minutes) + `]`
	for _, tt := range []struct {
		name, body, broke string
		read              bool // anything of the cache
	}{
		{"nothing", request(newest, messages("a", minutes), system, tools), "", true},
		{"marks", request(newest, messages("a", ""), system, tools), "", true},
		{"a message at the end", request(newest, list(messages("a", minutes), says, asks), system, tools), "", true},
		{"a message", request(newest, messages("b", minutes), system, tools), "messages.0.content.1", true},
		{"the settings of thinking", request(newest, messages("a", minutes), system, tools, `"thinking":{"type":"disabled"}`), "settings", true},
		{"the system text", request(newest, messages("a", minutes), `"system":[`+long(1600, minutes)+`]`, tools), "system.0", false},
		{"a tool", request(newest, messages("a", minutes), system, `"tools":[{"name":"rm"}]`), "tools.0", false},
		{"the messages, fewer", request(newest, asks, system, tools), "messages.0.content.0", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := upstream.New(nil)
			usageOf(t, s, request(newest, messages("a", minutes), system, tools))
			u := usageOf(t, s, tt.body)
			if got := s.Requests()[1].Prefix; got.Broke != tt.broke || (got.Lost > 0) != (tt.broke != "") {
				t.Errorf("it breaks %+v, want at %q", got, tt.broke)
			}
			if (u.Read > 0) != tt.read {
				t.Errorf("%+v, want something to be read: %v", u, tt.read)
			}
			if n := len(s.Breaks("")); n > 1 || (n == 1) != (tt.broke != "") {
				t.Errorf("%d breaks in the session", n)
			}
		})
	}
}

// Sessions are told apart, and what a request goes on from is the latest that it has most in
// common with.
func TestTheSessionOfARequestIsTold(t *testing.T) {
	s := upstream.New(nil)
	send := func(session, messages string) upstream.Prefix {
		if status, text := ask(t, s, request(newest, messages), "X-Claude-Code-Session-Id", session); status != http.StatusOK {
			t.Fatalf("got %d, %s", status, text)
		}
		all := s.Requests()
		return all[len(all)-1].Prefix
	}
	send("one", asks)
	send("one", list(asks, says, asks))
	if p := send("two", `{"role":"user","content":"else"}`); p.Broke != "" {
		t.Errorf("the first of another session breaks %+v", p)
	}
	if p := send("one", list(asks, `{"role":"assistant","content":"other"}`, asks)); p.Broke != "messages.1.content.0" {
		t.Errorf("a fork breaks %+v", p)
	}
	if p := send("one", list(asks, says, asks, says, asks)); p.Broke != "" {
		t.Errorf("what goes on from before the fork breaks %+v", p)
	}
	if got := s.Breaks("one"); len(got) != 1 || len(s.Breaks("two")) != 0 {
		t.Errorf("%d breaks in session one", len(got))
	}
}

// Too little is not cached, and beyond 20 blocks before a mark nothing is found.
func TestTheCacheHasLimits(t *testing.T) {
	s := upstream.New(nil)
	if u := usageOf(t, s, request(newest, user(long(1000, minutes)))); u.Write != 0 || u.Input < 1000 {
		t.Errorf("below the minimum: %+v", u)
	}
	blocks := []string{long(2000, minutes)}
	written := usageOf(t, s, request(newest, user(blocks...))).Write
	for range 19 {
		blocks = append(blocks, long(20, ""))
	}
	last := func(mark string) string {
		return request(newest, user(append(blocks[:len(blocks)-1:len(blocks)-1], long(20, mark))...))
	}
	blocks[0] = long(2000, "")
	if u := usageOf(t, s, last(minutes)); u.Read != written {
		t.Errorf("19 blocks before the mark: %+v, want %d read", u, written)
	}
	s = upstream.New(nil)
	usageOf(t, s, request(newest, user(long(2000, minutes))))
	blocks = append(blocks, long(20, ""))
	if u := usageOf(t, s, last(minutes)); u.Read != 0 {
		t.Errorf("20 blocks before the mark: %+v", u)
	}
}

func TestTheAutomaticCache(t *testing.T) {
	now := &clock{at: time.Unix(1, 0)}
	for _, tt := range []struct {
		model  string
		life   time.Duration
		writes bool
	}{
		{"gpt-5.1", 5 * time.Minute, false},
		{"gpt-5.6-codex", 30 * time.Minute, true},
	} {
		t.Run(tt.model, func(t *testing.T) {
			s := upstream.New(&upstream.Options{Now: now.now})
			item := fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("seven b", 1000))
			before := respond(t, s, tt.model, item).Usage
			if before.Details.Cached != 0 || (before.Details.Writes > 0) != tt.writes {
				t.Errorf("the first time %+v", before)
			}
			now.at = now.at.Add(tt.life - time.Second)
			after := respond(t, s, tt.model, item, `{"role":"user","content":"on"}`).Usage
			if n := after.Details.Cached; n == 0 || n%128 != 0 || n <= before.Input-128 || n > before.Input {
				t.Errorf("then %+v, first %+v", after, before)
			}
			now.at = now.at.Add(tt.life)
			if u := respond(t, s, tt.model, item).Usage; u.Details.Cached != 0 {
				t.Errorf("after its life %+v", u)
			}
		})
	}
}

// A session costs what its requests do: here 20 tokens of a small model and what comes back.
func TestASessionCosts(t *testing.T) {
	for _, tt := range []struct {
		u    upstream.Usage
		want int
	}{
		{upstream.Usage{Input: 10}, 10 * 5000},
		{upstream.Usage{Read: 10}, 10 * 500},
		{upstream.Usage{Write: 10}, 10 * 6250},
		{upstream.Usage{Write1: 10}, 10 * 10_000},
		{upstream.Usage{Output: 10}, 10 * 25_000},
		{upstream.Usage{Input: 1, Read: 1, Write: 1, Write1: 1, Output: 1}, 5000 + 500 + 6250 + 10_000 + 25_000},
	} {
		if got := tt.u.Cost(upstream.Price{Input: 5000, Output: 25_000, Read: 100, Write: 1250, Write1: 2000}); got != tt.want {
			t.Errorf("%+v costs %d, want %d", tt.u, got, tt.want)
		}
	}
	s := upstream.New(&upstream.Options{Otherwise: func(*upstream.Request) upstream.Reply {
		return upstream.Reply{Blocks: []upstream.Block{upstream.Text("sevenbb")}, InputTokens: 20}
	}})
	for range 2 {
		ask(t, s, request("claude-haiku-5", asks), "X-Session-Id", "one")
	}
	if got, want := s.Cost("one"), 2*(20*1000+2*5000); got != want || s.Cost("two") != 0 {
		t.Errorf("it costs %d, want %d", got, want)
	}
}

func TestTooLongRequestsAreRefused(t *testing.T) {
	words := strings.Repeat("seven b", 2000)
	s := upstream.New(&upstream.Options{Window: 3000})
	status, text := ask(t, s, request(newest, user(long(4000, ""))))
	var n, limit int
	if _, err := fmt.Sscanf(text, "prompt is too long: %d tokens > %d maximum", &n, &limit); err != nil || status != http.StatusBadRequest || n < 4000 || limit != 3000 {
		t.Errorf("got %d, %q", status, text)
	}
	var f failed
	if status := tell(t, s, "/v1/chat/completions", string(chat(`{"role":"user","content":"`+words+`"}`)), &f); status != http.StatusBadRequest || f.Error.Code != "context_length_exceeded" {
		t.Errorf("got %d, %+v", status, f)
	}
	if status := tell(t, s, "/v1/responses", `{"model":"gpt-5","input":"`+words+`"}`, &f); status != http.StatusBadRequest || f.Error.Code != "context_length_exceeded" {
		t.Errorf("got %d, %+v", status, f)
	}
	w := post(t, s, "/v1/responses", `{"model":"gpt-5","stream":true,"input":"`+words+`"}`, bearer...)
	if !strings.Contains(w.Body.String(), "event: response.failed") || !strings.Contains(w.Body.String(), `"code":"context_length_exceeded"`) || w.Code != http.StatusOK {
		t.Errorf("as a stream: %d, %s", w.Code, w.Body)
	}
	for _, r := range s.Refused() {
		if r.Refusal.Rule != "W" || r.Usage != (upstream.Usage{}) {
			t.Errorf("%s: %v, %+v", r.URL, r.Refusal, r.Usage)
		}
	}
	if n := len(s.Refused()); n != 4 {
		t.Errorf("%d refused, want 4", n)
	}
	if w := post(t, s, "/v1/messages/count_tokens", request(newest, user(long(4000, "")))); w.Code != http.StatusOK {
		t.Errorf("to count it gets %d", w.Code)
	}
}
