package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
)

// hostile is text as nobody should write it: in every field it is nothing but text.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'` + "\x1b[31m\u202e\u200b" + `{{.}} javascript:alert(3) <svg onload=alert(4)>`

// A stage is a console over a store, with one who looks at it.
type stage struct {
	t       *testing.T
	engine  *carrel.Engine
	session string
	block   string // a stub
	calls   []string
	url     string
	client  *http.Client
	grants  map[string]*governance.Grant // by credential
	now     time.Time
}

// Verify implements [auth.Verifier].
func (s *stage) Verify(_ context.Context, credential string) (*governance.Grant, error) {
	if g := s.grants[credential]; g != nil {
		return g, nil
	}
	return nil, api.ErrUnauthenticated
}

func newStage(t *testing.T, change ...func(*console.Options)) *stage {
	t.Helper()
	kept := memory.New()
	engine, err := carrel.New(kept, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, engine: engine, grants: map[string]*governance.Grant{"open sesame": governance.Whole("dana")}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	said := func(role, text string) string {
		data, err := json.Marshal(map[string]any{"role": role, "content": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var messages []string
	for i := range 40 {
		messages = append(messages, said("user", fmt.Sprintf("Question %d: why does it hang? %s", i, hostile)), said("assistant", fmt.Sprintf("Answer %d. %s", i, strings.Repeat("It waits for the pool. "+hostile+" ", 20))))
	}
	in, err := engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: hostile + ".json", Data: []byte(`{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	s.session = string(in.Session)
	if _, err := engine.Compress(t.Context(), governance.DefaultScope, &carrel.CompressRequest{Session: in.Session, Target: api.Target{Tokens: in.Tokens / 4}}); err != nil {
		t.Fatal(err)
	}
	list, err := engine.Messages(t.Context(), governance.DefaultScope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Messages {
		if b.State == "stub" {
			s.block = string(b.ID)
		}
	}
	if s.block == "" {
		t.Fatal("nothing became a stub")
	}
	s.recordCalls()
	server := httptest.NewUnstartedServer(nil)
	o := &console.Options{
		Verifier: s, Listen: server.Listener.Addr().String(), Version: "test", Now: func() time.Time { return s.now },
		Store: kept.Info,
		Engine: func(ctx context.Context) (*carrel.Engine, *governance.Grant, error) {
			return engine, s.grants["open sesame"], nil
		},
	}
	for _, c := range change {
		c(o)
	}
	pages, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = pages
	server.Start()
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.url, s.client = server.URL, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// recordCalls records calls of the session as a proxy does: two that were managed, the second
// of which misses what the first had kept, and one that went as it came.
func (s *stage) recordCalls() {
	s.t.Helper()
	for i, frame := range []string{"tools", "other tools", ""} {
		parts := []carrel.CallSegment{{Kind: "frame", Bytes: 40, Commit: digest.Of([]byte(frame))}}
		for _, kind := range []manifest.Kind{"stub", "message"} {
			parts = append(parts, carrel.CallSegment{Kind: kind, Bytes: 30, Commit: digest.Of([]byte(kind)), Chain: digest.Of([]byte(string(kind) + frame))})
		}
		if i == 1 {
			parts[1].Kind, parts[1].Before, parts[1].Chain = "message", s.calls[0], digest.Of([]byte("messagetools"))
		}
		req := &carrel.BeginRequest{
			Session: transcript.SessionID(s.session), Sealed: &carrel.CallAccount{Segments: parts},
			CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-1", Messages: 3 + i, Bytes: 200, SentBytes: 100, Managed: true, Frame: digest.Of([]byte(frame)), Sent: parts[2].Chain, Reason: "as before"},
		}
		if i == 2 {
			req.Sealed, req.Managed, req.Model = nil, false, hostile
		}
		begun, err := s.engine.Begin(s.t.Context(), governance.DefaultScope, req)
		if err != nil {
			s.t.Fatal(err)
		}
		s.calls = append(s.calls, begun.Call)
		end := &carrel.EndRequest{Call: begun.Call, State: "done", CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{CacheWrite5m: 50_000, Output: 10}}}
		if _, err := s.engine.End(s.t.Context(), governance.DefaultScope, end); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ask returns what a request is answered with.
func (s *stage) ask(method, path string, form url.Values, headers ...string) (status int, header http.Header, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

func (s *stage) signIn() {
	s.t.Helper()
	if status, header, _ := s.ask("POST", "/console/sign-in", url.Values{"credential": {" open sesame "}}); status != http.StatusSeeOther || header.Get("Location") != console.Root {
		s.t.Fatalf("signing in: status %d, to %s", status, header.Get("Location"))
	}
}

// pages are all of them.
func (s *stage) pages() []string {
	return []string{
		"", "session/" + s.session, "session/" + s.session + "/window", "session/" + s.session + "/journal",
		"session/" + s.session + "/plan", "session/" + s.session + "/plan?target=10%25", "session/" + s.session + "/plan?target=7", "block/" + s.block,
		"search", "search?q=pool", "search?q=" + url.QueryEscape(hostile), "calls", "calls?session=" + s.session, "contexts", "review", "cost",
		"session/" + s.session + "/diff", "session/" + s.session + "/diff?from=start&to=now", "session/" + s.session + "/contract", "session/" + s.session + "/quality", "session/" + s.session + "/quality?ask=1",
		"call/" + s.calls[0], "call/2", "call/3", "manifest/" + s.calls[0], "manifest/" + s.calls[0] + "/diff?other=" + s.calls[1], "health",
	}
}

// Nobody sees a page without a credential, and whoever signs in goes on to where they were.
func TestSigningIn(t *testing.T) {
	s := newStage(t)
	for _, p := range s.pages() {
		if status, header, body := s.ask("GET", console.Root+p, nil); status != http.StatusSeeOther || !strings.HasPrefix(header.Get("Location"), console.Root+"sign-in?to=") || strings.Contains(body, "hang") {
			t.Errorf("%s: status %d, to %s", p, status, header.Get("Location"))
		}
		if status, _, body := s.ask("GET", console.Root+p+map[bool]string{true: "&", false: "?"}[strings.Contains(p, "?")]+"format=json", nil); status != http.StatusUnauthorized || strings.Contains(body, "hang") {
			t.Errorf("%s as JSON: status %d", p, status)
		}
	}
	if status, header, _ := s.ask("POST", console.Root+"block/x/pin", nil); status != http.StatusUnauthorized || header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a form without a sign-in: status %d, %s", status, header.Get("Content-Type"))
	}
	for name, kind := range map[string]string{"style.css": "text/css", "keys.js": "text/javascript", "icon.svg": "image/svg+xml"} {
		if status, header, body := s.ask("GET", console.Root+name, nil); status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), kind) || body == "" {
			t.Errorf("%s: status %d, type %s", name, status, header.Get("Content-Type"))
		}
	}
	for _, wrong := range []string{"", "sesame", strings.Repeat("x", 5000)} {
		if status, header, body := s.ask("POST", console.Root+"sign-in", url.Values{"credential": {wrong}}); status != http.StatusUnauthorized || header.Get("Set-Cookie") != "" || !strings.Contains(body, "not valid") {
			t.Errorf("signing in with %.10q: status %d, cookie %q", wrong, status, header.Get("Set-Cookie"))
		}
	}
	for to, want := range map[string]string{
		"/console/calls": "/console/calls", "https://evil.example": console.Root, "//evil.example": console.Root,
		`/console/\evil.example`: console.Root, "/console//evil.example": console.Root, "": console.Root,
	} {
		if _, header, _ := s.ask("POST", console.Root+"sign-in", url.Values{"credential": {"open sesame"}, "to": {to}}); header.Get("Location") != want {
			t.Errorf("signing in leads from %q to %q, want %q", to, header.Get("Location"), want)
		}
	}
	_, header, _ := s.ask("GET", console.Root+"sign-in?key="+url.QueryEscape("open sesame"), nil)
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/console/"} {
		if c := header.Get("Set-Cookie"); !strings.Contains(c, part) || strings.Contains(c, "sesame") {
			t.Errorf("cookie %q, want %s in it and no credential", c, part)
		}
	}
	if status, _, _ := s.ask("GET", console.Root, nil); status != http.StatusOK {
		t.Errorf("signed in: status %d", status)
	}
	grant := s.grants["open sesame"]
	delete(s.grants, "open sesame") // revoked, or expired
	if status, _, _ := s.ask("GET", console.Root, nil); status != http.StatusSeeOther {
		t.Errorf("after the credential was revoked: status %d", status)
	}
	s.grants["open sesame"] = grant
	s.signIn()
	s.now = s.now.Add(13 * time.Hour)
	if status, _, _ := s.ask("GET", console.Root, nil); status != http.StatusSeeOther {
		t.Errorf("after half a day: status %d", status)
	}
	s.signIn()
	s.ask("POST", console.Root+"sign-out", nil)
	if status, _, _ := s.ask("GET", console.Root, nil); status != http.StatusSeeOther {
		t.Errorf("after signing out: status %d", status)
	}
}

// verifying is a [auth.Verifier] that is a function.
type verifying func() error

func (f verifying) Verify(context.Context, string) (*governance.Grant, error) { return nil, f() }

// A person who cannot sign in learns the reason, and the number of guesses is bounded.
func TestSigningInFails(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		says   string
	}{
		{auth.ErrUnbound, http.StatusUnauthorized, "was made by an earlier version"},
		{fmt.Errorf("disk: %w", store.ErrBusy), http.StatusServiceUnavailable, "the credential could not be checked: try again"},
	} {
		s := newStage(t, func(o *console.Options) { o.Verifier = verifying(func() error { return tt.err }) })
		status, _, body := s.ask("POST", console.Root+"sign-in", url.Values{"credential": {"open sesame"}})
		if status != tt.status || !strings.Contains(body, tt.says) || strings.Contains(body, "not valid") {
			t.Errorf("%v: status %d: %s", tt.err, status, body)
		}
	}
	asked := 0
	var limited []string
	s := newStage(t, func(o *console.Options) {
		o.Verifier = verifying(func() error { asked++; return api.ErrUnauthenticated })
		o.Limited = func(limit string) { limited = append(limited, limit) }
	})
	for i := range 40 {
		want := http.StatusUnauthorized
		if i >= 30 {
			want = http.StatusTooManyRequests
		}
		if status, _, _ := s.ask("GET", console.Root+"sign-in?key=wrong", nil); status != want {
			t.Fatalf("guess %d: status %d, want %d", i+1, status, want)
		}
	}
	if asked != 30 || len(limited) != 10 {
		t.Errorf("%d guesses were checked, and %d counted as too many", asked, len(limited))
	}
}

// A page that is a large job waits for its turn, as on the other surfaces.
func TestLargePagesTakeTurns(t *testing.T) {
	turns := &auth.Turns{Most: 1, Wait: time.Millisecond}
	s := newStage(t, func(o *console.Options) { o.Turns = turns })
	s.signIn()
	large := []string{"session/" + s.session + "/window", "session/" + s.session + "/plan", "session/" + s.session + "/quality?ask=1", "cost"}
	_, release, err := turns.Take(t.Context(), "dana")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range large {
		if status, _, _ := s.ask("GET", console.Root+p, nil); status != http.StatusTooManyRequests {
			t.Errorf("%s beside another large job: status %d", p, status)
		}
	}
	s.page("session/" + s.session + "/quality")
	release()
	for _, p := range large {
		s.page(p)
	}
	if running, waiting := turns.Load(); running+waiting != 0 {
		t.Errorf("%d jobs run and %d wait when all have ended", running, waiting)
	}
}

// port returns the port of the console, which is in the name of its cookie.
func (s *stage) port() string { return s.url[strings.LastIndex(s.url, ":")+1:] }

// A console is signed in to beside another on the same host: browsers send cookies to all ports.
func TestConsolesSideBySide(t *testing.T) {
	one, other := newStage(t), newStage(t)
	other.client.Jar = one.client.Jar
	one.signIn()
	other.signIn()
	one.page("calls")
}

// Who has a credential for several scopes begins in one of them, and is led to the others.
func TestSeveralScopes(t *testing.T) {
	s := newStage(t)
	s.signIn()
	g := s.grants["open sesame"]
	g.Scopes = []governance.ScopePattern{"acme/web", "acme/mobile"}
	s.wants("", "scope acme/web", `<a href="/console/?scope=acme%2Fmobile">acme/mobile</a>`)
	s.wants("?scope=acme/mobile", "scope acme/mobile", `<a href="/console/?scope=acme%2Fweb">acme/web</a>`)
	g.Scopes = append(g.Scopes, "local")
	s.wants("", "scope local")
	g.Scopes = []governance.ScopePattern{"acme/*"}
	s.wants("calls?scope=acme/web", "scope acme/web")
	s.wants("search?scope=acme/web&q=--scope", "carrel search --scope --scope acme/web")
}

// An error has its own status, on a page or as JSON. The log has those that are faults of the server.
func TestErrorsOfPages(t *testing.T) {
	var log bytes.Buffer
	refused := false
	s := newStage(t, func(o *console.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Store = func(context.Context) (*store.Info, error) {
			if refused {
				return nil, governance.ErrDenied
			}
			return nil, errors.New("disk")
		}
	})
	s.signIn()
	for _, tt := range []struct {
		method, path string
		status       int
		kind, says   string
	}{
		{"GET", "session/none?format=json", 404, "application/problem+json", `"status":404`},
		{"GET", "session/none/live", 404, "text/html", `class="problem"`},
		{"GET", "session/none/live?scope=a//b", 400, "text/html", "is no scope"},
		{"POST", "block/x/pin?scope=a//b", 400, "text/html", "is no scope"},
	} {
		if status, header, body := s.ask(tt.method, console.Root+tt.path, nil); status != tt.status || !strings.HasPrefix(header.Get("Content-Type"), tt.kind) || !strings.Contains(body, tt.says) {
			t.Errorf("%s: status %d, %s: %.300s", tt.path, status, header.Get("Content-Type"), body)
		}
	}
	if log.Len() > 0 {
		t.Errorf("log of errors of the caller: %s", &log)
	}
	if status, _, _ := s.ask("GET", console.Root+"health", nil); status != http.StatusInternalServerError || !strings.Contains(log.String(), "path=/console/health status=500") {
		t.Errorf("a page that fails: status %d, log %s", status, &log)
	}
	refused = true
	if status, _, body := s.ask("GET", console.Root+"health", nil); status != http.StatusForbidden || strings.Contains(body, "add ?scope=") {
		t.Errorf("a page that is refused in the scope of the credential: status %d: %.300s", status, body)
	}
}

// An error has no command that shows the same.
func TestErrorsHaveNoCommand(t *testing.T) {
	s := newStage(t)
	s.signIn()
	if status, _, body := s.ask("GET", console.Root+"session/none?scope=acme/web", nil); status != http.StatusNotFound || strings.Contains(body, "On the command line") {
		t.Errorf("status %d: %s", status, body)
	}
}

// Who may not change anything is shown no forms for it, and who may not decide about memories no
// forms for that.
func TestFormsNeedPermissions(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.AllowWrite = true })
	s.signIn()
	g := s.grants["open sesame"]
	g.Permissions = []governance.Permission{governance.Read}
	if body := s.page("block/" + s.block); !strings.Contains(body, "who can only look") || strings.Contains(body, "Pin</button>") {
		t.Error("a person who may only read sees a form")
	}
	g.Permissions = append(g.Permissions, governance.Write)
	if body := s.page("block/" + s.block); strings.Contains(body, "who can only look") || !strings.Contains(body, "Pin</button>") {
		t.Error("a person who may write sees no form")
	}
	if status, _, _ := s.ask("POST", console.Root+"review/m1", url.Values{"decision": {"Approve"}, "reason": {"x"}}); status != http.StatusBadRequest {
		t.Errorf("a decision that is none: status %d", status)
	}
	for decision, want := range map[string]int{"approve": 1, "reject": 0} {
		held, err := s.engine.Commit(t.Context(), governance.DefaultScope, &carrel.CommitRequest{Text: "To " + decision + " is human."})
		if err != nil || held.Artifact == nil {
			t.Fatalf("nothing was held: %+v, %v", held, err)
		}
		id := string(held.Artifact.ID)
		s.wants("review", "To "+decision+" is human.")
		if status, header, body := s.ask("POST", console.Root+"review/"+id, url.Values{"decision": {decision}, "reason": {"x"}}); status != http.StatusSeeOther || header.Get("Location") != console.Root+"review" {
			t.Errorf("%s: status %d: %.300s", decision, status, body)
		}
		made, err := s.engine.Assemble(t.Context(), governance.DefaultScope, &carrel.AssembleRequest{Query: "what is human", Budget: 1000})
		if err != nil || strings.Count(string(made.Data), "To "+decision+" is human.") != want {
			t.Errorf("%s: %v: the next context is %s", decision, err, made.Data)
		}
		if strings.Contains(s.page("review"), "To "+decision+" is human.") {
			t.Errorf("%s: the memory still waits", decision)
		}
	}
}

// Under TLS the cookie is for TLS and for this host alone.
func TestSecureCookie(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.Secure = true })
	_, header, _ := s.ask("POST", console.Root+"sign-in", url.Values{"credential": {"open sesame"}})
	if c := header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-carrel-console-"+s.port()+"=") || !strings.Contains(c, "Secure") || !strings.Contains(c, "Path=/;") {
		t.Errorf("cookie %q", c)
	}
}

// leaves are attributes that lead elsewhere, which on our pages is a path below the root.
var leaves = map[string]bool{"href": true, "src": true, "action": true, "formaction": true, "srcset": true, "xlink:href": true}

// checkElement reports an element that is none of ours.
func checkElement(known map[string]bool, e *html.Token) error {
	if !known[e.Data] {
		return fmt.Errorf("element %s", e.Data)
	}
	for _, a := range e.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style":
			return fmt.Errorf("attribute %s of %s", a.Key, e.Data)
		case leaves[a.Key] && !strings.HasPrefix(a.Val, console.Root) && a.Val != "#main" && a.Val != "undo" && !regexp.MustCompile(`^#u[0-9]+$`).MatchString(a.Val):
			return fmt.Errorf("%s leads to %q", e.Data, a.Val)
		case e.Data == "script" && a.Key == "src" && a.Val != console.Root+"keys.js":
			return fmt.Errorf("script %q", a.Val)
		}
	}
	return nil
}

// Each page is whole, has nothing of a conversation but as text, and names no other address.
func TestPagesHoldHostileText(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.AllowWrite = true })
	s.signIn()
	known := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title link script body a header p nav ul li form input label button main h1 h2 h3 table caption thead tbody tr th td figure svg rect figcaption i section pre article dl dt dd ol ul br code footer time div select option output details summary span defs pattern line text") {
		known[name] = true
	}
	for _, p := range s.pages() {
		status, header, body := s.ask("GET", console.Root+p, nil)
		if status != http.StatusOK || !strings.Contains(body, "</html>") {
			t.Errorf("%s: status %d: %.300s", p, status, body)
		}
		if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") || header.Get("X-Frame-Options") != "DENY" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", p, header)
		}
		if strings.ContainsAny(body, "\x1b\u202e\u200b") {
			t.Errorf("%s has characters that nobody sees", p)
		}
		scripts := 0
		for z := html.NewTokenizer(strings.NewReader(body)); z.Next() != html.ErrorToken; {
			e := z.Token()
			if e.Type != html.StartTagToken && e.Type != html.SelfClosingTagToken {
				continue
			}
			if e.Data == "script" {
				scripts++
			}
			if err := checkElement(known, &e); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
		if scripts != 1 {
			t.Errorf("%s has %d scripts", p, scripts)
		}
	}
	_, _, body := s.ask("GET", console.Root+"block/"+s.block, nil)
	if !strings.Contains(html.UnescapeString(body), "<script>alert(1)</script>") || !strings.Contains(body, "[U+202E]") {
		t.Error("the original does not stand on the page of its block")
	}
}

// The JSON twin of a page is the result of the engine.
func TestTwins(t *testing.T) {
	s := newStage(t)
	s.signIn()
	_, header, body := s.ask("GET", console.Root+"?format=json", nil)
	var list carrel.List[carrel.SessionInfo]
	if err := json.Unmarshal([]byte(body), &list); err != nil || header.Get("Content-Type") != "application/json" || len(list.Items) != 1 || string(list.Items[0].Session) != s.session {
		t.Errorf("sessions as JSON: %v, %s", err, body)
	}
	for path, want := range map[string]int{"session/none": 404, "block/ffffffff": 404, "nowhere": 404, "session/" + s.session + "/plan?target=x": 400, "?scope=a//b": 400} {
		if status, _, body := s.ask("GET", console.Root+path, nil); status != want || !strings.Contains(body, `class="problem"`) {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
}

// An id in brackets leads to its block, and nothing else does.
func TestWindowLeadsToBlocks(t *testing.T) {
	s := newStage(t)
	s.signIn()
	_, _, body := s.ask("GET", console.Root+"session/"+s.session+"/window", nil)
	leads := regexp.MustCompile(`<a href="(/console/block/[0-9a-f]+)">`).FindAllStringSubmatch(body, -1)
	if len(leads) == 0 {
		t.Fatal("no id leads to a block")
	}
	for _, l := range leads {
		if status, _, _ := s.ask("GET", l[1], nil); status != http.StatusOK {
			t.Errorf("%s: status %d", l[1], status)
		}
	}
}

// A page of a window has no more messages than a page of a list, and the last says so.
func TestWindowInPages(t *testing.T) {
	s := newStage(t)
	s.signIn()
	var messages []string
	for i := range 1001 {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":"line %d."}`, []string{"user", "assistant"}[i%2], i))
	}
	in, err := s.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "long.json", Data: []byte(`{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]struct {
		sections int
		first    string
		next     string
	}{
		"": {500, "line 0.", "message=501"}, "?message=501": {500, "line 500.", "message=1001"}, "?message=1001": {1, "line 1000.", ""}, "?message=9999": {0, "", ""}, "?message=-1": {500, "line 0.", "message=501"},
	} {
		_, _, body := s.ask("GET", console.Root+"session/"+string(in.Session)+"/window"+query, nil)
		if n := strings.Count(body, "<section"); n != want.sections || !strings.Contains(body, want.first) || !strings.Contains(body, want.next) || want.next == "" && strings.Contains(body, "The next page") {
			t.Errorf("%q: %d messages, want %d from %q, then %q", query, n, want.sections, want.first, want.next)
		}
	}
}

// Nothing is changed without leave, from another site, or by looking.
func TestChanges(t *testing.T) {
	s := newStage(t)
	s.signIn()
	pin := console.Root + "block/" + s.block + "/pin"
	pinned := func() bool {
		t.Helper()
		why, err := s.engine.Why(t.Context(), governance.DefaultScope, &carrel.BlockRequest{Block: s.block})
		if err != nil {
			t.Fatal(err)
		}
		return why.Now.Rule == "pin"
	}
	if status, _, body := s.ask("POST", pin, nil); status != 422 || !strings.Contains(body, "--allow-write") || pinned() {
		t.Errorf("a pin at a console that only shows: status %d", status)
	}
	s = newStage(t, func(o *console.Options) { o.AllowWrite = true })
	s.signIn()
	pin = console.Root + "block/" + s.block + "/pin"
	for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if status, _, _ := s.ask("POST", pin, nil, headers...); status != http.StatusForbidden || pinned() {
			t.Errorf("a pin with %v: status %d", headers, status)
		}
	}
	if status, _, _ := s.ask("GET", pin, nil); status != http.StatusNotFound || pinned() {
		t.Errorf("a pin by looking: status %d", status)
	}
	if status, _, _ := s.ask("POST", pin, nil); status != http.StatusSeeOther || !pinned() {
		t.Errorf("a pin: status %d, pinned %t", status, pinned())
	}
	if status, _, _ := s.ask("POST", console.Root+"block/"+s.block+"/unpin", nil); status != http.StatusSeeOther || pinned() {
		t.Errorf("an unpin: status %d, pinned %t", status, pinned())
	}
	before, err := s.engine.Why(t.Context(), governance.DefaultScope, &carrel.BlockRequest{Block: s.block})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // both pins, and the compression
		if status, _, body := s.ask("POST", console.Root+"session/"+s.session+"/undo", nil); status != http.StatusSeeOther {
			t.Fatalf("an undo: status %d: %s", status, body)
		}
	}
	s.wants("session/"+s.session+"/diff", "What came back")
	after, err := s.engine.Why(t.Context(), governance.DefaultScope, &carrel.BlockRequest{Block: s.block})
	if err != nil || before.State != "stub" || after.State != "live" {
		t.Errorf("undone: %s → %s, %v", before.State, after.State, err)
	}
}

// A page hears of it when its session changes, until the server begins to end.
func TestLive(t *testing.T) {
	stopping := make(chan struct{})
	s := newStage(t, func(o *console.Options) { o.Stopping = stopping })
	s.signIn()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+console.Root+"session/"+s.session+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	next := func() string {
		t.Helper()
		buf := make([]byte, 64)
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	first := next()
	if _, err := s.engine.Pin(t.Context(), governance.DefaultScope, &carrel.PinRequest{Blocks: []string{s.block}}); err != nil {
		t.Fatal(err)
	}
	if then := next(); !strings.HasPrefix(first, "data: ") || !strings.HasPrefix(then, "data: ") || first == then {
		t.Errorf("events %q and %q", first, then)
	}
	close(stopping)
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("when the server ends: %q, %v", rest, err)
	}
}

// The pages answer what people ask: what a call cost and why the cache was missed, what the last
// pass dropped, what of the contract must hold, and how the store is.
func TestAnswers(t *testing.T) {
	s := newStage(t)
	s.signIn()
	for path, wants := range map[string][]string{
		"call/2":                                  {"Call 2 cost $", "the tools or the system text changed", "that the cache had kept were sent anew", "call 1</a> sent the same", "new from the client", "/console/call/" + s.calls[0]},
		"call/1":                                  {"written by Carrel in place of messages", "no call before in this session"},
		"call/3":                                  {"It went as it came", "no text of such a call"},
		"session/" + s.session + "/diff":          {"What was dropped", "The last pass dropped ", "/console/block/" + s.block},
		"session/" + s.session + "/window":        {"Carrel holds ", "what the model saw on it"},
		"session/" + s.session + "/contract":      {"The contract holds"},
		"session/" + s.session + "/quality?ask=1": {"The window answers "},
		"manifest/" + s.calls[0] + "/diff?other=" + s.calls[1]: {"what a provider's cache can still use"},
		"health": {"schema", "1 sessions"},
		"session/" + s.session + "/plan?target=40":           {"40 %", "carrel compress"},
		"session/" + s.session + "/plan?target=40&tokens=99": {"99"},
		"calls": {"/console/call/" + s.calls[2]},
	} {
		status, _, body := s.ask("GET", console.Root+path, nil)
		if strings.Contains(path, "/diff") && strings.Contains(body, "0x") {
			t.Errorf("%s shows an address in place of a figure", path)
		}
		for _, want := range wants {
			if status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: status %d, and nothing says %q", path, status, want)
			}
		}
	}
	for call, next := range map[string]bool{"call/2": true, "call/3": false} {
		if strings.Contains(s.page(call), `rel="next"`) != next {
			t.Errorf("%s leads to a next call: %v", call, !next)
		}
	}
	s.grants["open sesame"] = &governance.Grant{Actor: "dana", Scopes: []governance.ScopePattern{"*"}, Permissions: []governance.Permission{governance.Read}}
	if _, _, body := s.ask("GET", console.Root+"health", nil); strings.Contains(body, "schema") || !strings.Contains(body, "does not allow") {
		t.Error("who may not observe the store is told of it")
	}
	for path, want := range map[string]int{"call/99": 404, "call/x": 404, "manifest/" + s.calls[0] + "/diff?other=none": 404, "session/" + s.session + "/diff?from=none": 400, "session/" + s.session + "/diff?from=now&to=start": 400} {
		if status, _, _ := s.ask("GET", console.Root+path, nil); status != want {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
}
