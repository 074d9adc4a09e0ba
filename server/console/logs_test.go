package console_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/transcript"
)

// importLog imports the session file of a client with a log of twelve calls. If agent is not
// empty, it is the file of a sub-agent.
func (s *stage) importLog(agent string) transcript.SessionID {
	s.t.Helper()
	data := fakesession.Logged(1, 12)
	if agent != "" {
		data = bytes.ReplaceAll(data, []byte(`"isSidechain":false`), []byte(`"isSidechain":true,"agentId":"`+agent+`"`))
	}
	in, err := s.engine.Import(s.t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "mill.jsonl", Data: data})
	if err != nil {
		s.t.Fatal(err)
	}
	return in.Session
}

var following = regexp.MustCompile(`href="/console/([^"]*)"[^>]*>The next page`)

// next returns the page after a page of a list.
func (s *stage) next(body string) string {
	s.t.Helper()
	m := following.FindStringSubmatch(body)
	if m == nil {
		s.t.Fatal("there is no next page")
	}
	return s.page(html.UnescapeString(m[1]))
}

var hrefs = regexp.MustCompile(`(?:href|data-live)="(/console/[^"]*)"`)

// Every link to a session leads to its page, and so does an undo, if the id of the session has a
// slash, as that of a sub-agent has.
func TestLinksToSubAgents(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.AllowWrite = true })
	s.signIn()
	id := string(s.importLog("a17"))
	if !strings.HasSuffix(id, "/agent-a17") {
		t.Fatalf("the session is %q", id)
	}
	blocks, err := s.engine.Messages(t.Context(), governance.DefaultScope, &carrel.MessagesRequest{Session: transcript.SessionID(id)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.Pin(t.Context(), governance.DefaultScope, &carrel.PinRequest{Blocks: []string{string(blocks.Messages[0].ID)}}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for next := []string{"", "calls", "cost?days=3650", "search?q=mill"}; len(next) > 0; next = next[1:] {
		for _, m := range hrefs.FindAllStringSubmatch(s.page(next[0]), -1) {
			to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if !strings.Contains(to, "agent-a17") || seen[to] {
				continue
			}
			seen[to] = true
			if strings.HasSuffix(to, "/live") || strings.Contains(to, "format=json") {
				continue
			}
			if status, _, body := s.ask("GET", to, nil); status != http.StatusOK {
				t.Fatalf("%q leads to %s: status %d: %.300s", next[0], to, status, body)
			}
			next = append(next, strings.TrimPrefix(to, console.Root))
		}
	}
	own := console.Root + "session/" + url.PathEscape(id)
	for _, want := range []string{"", "/window", "/plan", "/journal", "/diff", "/quality", "/contract", "/live"} {
		if !seen[own+want] {
			t.Errorf("nothing leads to %s", own+want)
		}
	}
	if len(seen) < 12 {
		t.Errorf("links %v", seen)
	}
	status, header, body := s.ask("POST", own+"/undo", nil)
	if status != http.StatusSeeOther || header.Get("Location") != own {
		t.Errorf("an undo: status %d, to %q: %.300s", status, header.Get("Location"), body)
	}
}

// The pages of calls say which calls are from the log of a client. The calls beside a logged call are
// those in the same log.
func TestLoggedCalls(t *testing.T) {
	s := newStage(t)
	s.signIn()
	id := string(s.importLog(""))
	s.wants("calls", "or from the logs of clients", "no, client&#39;s log")
	s.wants("calls?session="+id, "session 00000001</a> is number 12 of the log of its client", "Calls to models in session 00000001")
	at := func(n int) string { return fmt.Sprintf("call/%s:%d", id, n) }
	s.wants(at(2), "Call 2 of a client&#39;s log", `rel="prev" href="/console/`+at(1), "← call 1", `rel="next" href="/console/`+at(3), "call 3 →", "The log of the client has ", "as the log of the client has it")
	for _, tt := range []struct {
		n    int
		none string
	}{{1, `rel="prev"`}, {12, `rel="next"`}, {2, "in place of the"}, {2, "sent as it came"}} {
		if strings.Contains(s.page(at(tt.n)), tt.none) {
			t.Errorf("the page of call %d says %q", tt.n, tt.none)
		}
	}
}

// The list of the calls of a session goes on with calls of this session, and only its first page
// names the last call.
func TestCallsOfASessionInPages(t *testing.T) {
	s := newStage(t)
	s.signIn()
	for range 500 {
		s.call(0, carrel.Usage{})
	}
	s.importLog("")
	path := "calls?session=" + s.session
	body := s.page(path)
	lead := `class="lead"`
	if !strings.Contains(body, lead) || !strings.Contains(body, "carrel calls "+s.session) {
		t.Errorf("the first page has no first sentence, or another command: %.2000s", body)
	}
	body = s.next(body)
	if n := strings.Count(body, `<th scope="row"`); n != 3 || strings.Contains(body, "client&#39;s log") || strings.Contains(body, lead) {
		t.Errorf("the next page has %d calls: %.2000s", n, body)
	}
}

// The journal names its last operation on each page, and has a button only beside the operation
// that an undo reverts.
func TestJournalInPages(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.AllowWrite = true })
	s.signIn()
	path := "session/" + s.session + "/journal"
	buttons := regexp.MustCompile(`<button>Undo (op_[0-9a-z]+)</button>`)
	pin := func(lift bool) {
		t.Helper()
		if _, err := s.engine.Pin(t.Context(), governance.DefaultScope, &carrel.PinRequest{Blocks: []string{s.block}, Unpin: lift}); err != nil {
			t.Fatal(err)
		}
	}
	pin(false)
	if _, err := s.engine.AmendContract(t.Context(), governance.DefaultScope, &carrel.AmendContractRequest{Session: transcript.SessionID(s.session), Decisions: []string{"The pool has 20 connections."}}); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"the pin", "the pass"} {
		found := buttons.FindAllStringSubmatch(s.page(path), -1)
		if len(found) != 1 {
			t.Fatalf("before %s is undone: buttons %q, want one", what, found)
		}
		if status, _, body := s.ask("POST", console.Root+"session/"+s.session+"/undo", url.Values{"op": {found[0][1]}}); status != http.StatusSeeOther {
			t.Fatalf("the undo of %s: status %d: %.300s", what, status, body)
		}
	}
	if buttons.MatchString(s.page(path)) {
		t.Error("a button where there is nothing to undo")
	}
	for i := range 500 {
		pin(i%2 == 1)
	}
	body := s.page(path)
	if !strings.Contains(body, "The last operation on this session was unpin") || buttons.MatchString(body) {
		t.Errorf("the first page says %.3000s", body)
	}
	body = s.next(body)
	if !strings.Contains(body, "The last operation on this session was unpin") || len(buttons.FindAllString(body, -1)) != 1 {
		t.Errorf("the last page says %.3000s", body)
	}
}
