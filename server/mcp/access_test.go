package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

// An ask is one thing that a client can ask for.
type ask struct {
	name string
	do   func(ctx context.Context, c *sdk.ClientSession) (any, error)
}

func askTool(tool string, args m) ask {
	return ask{fmt.Sprintf("%s %v", tool, args), func(ctx context.Context, c *sdk.ClientSession) (any, error) {
		return c.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	}}
}

func askResource(uri string) ask {
	return ask{uri, func(ctx context.Context, c *sdk.ClientSession) (any, error) {
		return c.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	}}
}

func askPrompt(name string, args map[string]string) ask {
	return ask{"prompt " + name, func(ctx context.Context, c *sdk.ClientSession) (any, error) {
		return c.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	}}
}

func askList() ask {
	return ask{"resources", func(ctx context.Context, c *sdk.ClientSession) (any, error) { return c.ListResources(ctx, nil) }}
}

func askCompletion(uri string) ask {
	return ask{"completion " + uri, func(ctx context.Context, c *sdk.ClientSession) (any, error) {
		return c.Complete(ctx, &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: uri}, Argument: sdk.CompleteParamsArgument{Name: "id"}})
	}}
}

// asks returns everything that can be asked about a session, a block of it, an
// artifact and a manifest.
func asks(session, block, artifact, manifest string) []ask {
	ids := []string{block}
	return []ask{
		askTool("get_messages", m{"session": session}), askTool("get_messages", m{"session": "@last", "after": block}),
		askTool("discard_messages", m{"short_ids": ids}), askTool("discard_messages", m{"short_ids": ids, "session": session}),
		askTool("status", m{"session": session}), askTool("compress", m{"session": session, "target": 3000}),
		askTool("recall", m{"id": block}), askTool("recall", m{"id": artifact}), askTool("recall", m{"id": block, "session": session}),
		askTool("search", m{"query": "zanzibar wire"}), askTool("search", m{"query": "zanzibar", "session": session}),
		askTool("assemble", m{"query": "zanzibar", "budget": 4000}), askTool("assemble", m{"budget": 4000, "session": session}),
		askTool("pin", m{"ids": ids}), askTool("pin", m{"ids": []string{artifact}}), askTool("pin", m{"ids": ids, "session": session}),
		askResource("carrel://session/" + session), askResource("carrel://item/" + block), askResource("carrel://item/" + artifact),
		askResource("carrel://manifest/" + manifest), askResource("carrel://manifest/%40last"),
		askPrompt("compress", map[string]string{"session": session}), askPrompt("handoff", map[string]string{"session": session}),
		askList(), askCompletion("carrel://session/{id}"), askCompletion("carrel://manifest/{id}"),
	}
}

// answerOf returns everything that a client learns from an answer.
func answerOf(res any, err error) string {
	data, _ := json.Marshal(res)
	return fmt.Sprintf("%s %v", data, err)
}

// Nothing of one scope shows in any answer to another, not even that it is there: to
// who asks, what is somebody else's is the same as what nobody has.
func TestScopesAreApart(t *testing.T) {
	s := stores.New(t)
	e := newEngine(t, s)
	const theirs governance.Scope = "acme/secret"
	canary := lampChat().use("Read", `{"file_path":"zanzibar.go"}`, strings.Repeat("zanzibar canary\n", 100)).say("user", "zanzibar?")
	session := load(t, e, theirs, "zanzibar.json", canary.bytes(t))
	arts, err := carrel.Items(e.Put(t.Context(), theirs, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Title: "zanzibar", Content: []byte("zanzibar canary")}}}))
	if err != nil {
		t.Fatal(err)
	}
	made, err := e.Assemble(t.Context(), theirs, &carrel.AssembleRequest{Query: "zanzibar", Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Messages(t.Context(), theirs, &carrel.MessagesRequest{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	block := list.Messages[9].ShortID
	journal := func() int {
		entries, err := carrel.Items(e.Journal(t.Context(), theirs, &carrel.JournalRequest{Session: session}))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := journal()

	load(t, e, scope, "lamp.json", lampChat().bytes(t))
	c := connect(t, mcp.New(whole(e), nil), nil)
	const nobody, nothing, none = "oa-0123456789abcdef", "0011223344556677", "m_0011223344556677"
	known := asks(string(session), block, string(arts[0].ID), made.Manifest)
	unknown := asks(nobody, nothing[:8], nothing, none)
	names := strings.NewReplacer(string(session), nobody, block, nothing[:8], string(arts[0].ID), nothing, made.Manifest, none)
	for i := range known {
		got := answerOf(known[i].do(t.Context(), c))
		asked := strings.ReplaceAll(known[i].name, "zanzibar wire", "")
		for _, word := range []string{"canary", "zanzibar.go", "zanzibar?", string(theirs), string(list.Messages[9].ID)} {
			if strings.Contains(got, word) {
				t.Errorf("%s: the answer has %q:\n%s", asked, word, got)
			}
		}
		if strings.Contains(known[i].name, "assemble") || strings.HasPrefix(known[i].name, "carrel://manifest/%") || strings.HasPrefix(known[i].name, "completion carrel://manifest") {
			continue // each context has an id of its own
		}
		if want := answerOf(unknown[i].do(t.Context(), c)); names.Replace(got) != want {
			t.Errorf("%s: what is not there is told apart:\n%s\n%s", asked, names.Replace(got), want)
		}
	}
	if journal() != before {
		t.Error("the other scope was written to")
	}
}

// Each thing that can be asked needs what the operations behind it need, and nothing
// else; the answer to who lacks it names no content.
func TestGrants(t *testing.T) {
	d := newDesk(t)
	block := messages(t, d.ClientSession).reads()[0]
	arts, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: []byte("Turn the screw.")}}}))
	if err != nil {
		t.Fatal(err)
	}
	made, err := d.engine.Assemble(t.Context(), scope, &carrel.AssembleRequest{Query: "wire", Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	writing := []string{"discard_messages", "compress", "assemble", "pin"}
	for _, grant := range []struct {
		name        string
		grant       *governance.Grant
		read, write bool
	}{
		{"nothing", &governance.Grant{}, false, false},
		{"none at all", nil, false, false},
		{"read", &governance.Grant{Scopes: []governance.ScopePattern{"acme/*"}, Permissions: []governance.Permission{"read"}}, true, false},
		{"write", &governance.Grant{Scopes: []governance.ScopePattern{"*"}, Permissions: []governance.Permission{"write"}}, false, true},
		{"the rest", &governance.Grant{Scopes: []governance.ScopePattern{"*"}, Permissions: []governance.Permission{"review", "erase", "observe"}}, false, false},
		{"another scope", &governance.Grant{Scopes: []governance.ScopePattern{"acme/chair"}, Permissions: governance.Permissions()}, false, false},
		{"expired", &governance.Grant{Scopes: []governance.ScopePattern{"*"}, Permissions: governance.Permissions(), Expires: now().Add(-time.Hour)}, false, false},
		{"everything", governance.Whole("agent"), true, true},
	} {
		t.Run(grant.name, func(t *testing.T) {
			c := connect(t, mcp.New(granted(d.engine, grant.grant), &mcp.Options{Now: now}), nil)
			for _, a := range asks(string(d.session), block, string(arts[0].ID), made.Manifest) {
				want := grant.read
				if slices.ContainsFunc(writing, func(tool string) bool { return strings.HasPrefix(a.name, tool+" ") }) {
					want = grant.write
				}
				answer := answerOf(a.do(t.Context(), c))
				if denied := strings.Contains(answer, "carrel:problem/denied") || strings.Contains(answer, "your credential does not permit it"); denied == want {
					t.Errorf("%s: denied %t: %.300s", a.name, denied, answer)
				}
				if !want && strings.Contains(answer, "wire0") {
					t.Errorf("%s: the denial has content: %s", a.name, answer)
				}
			}
		})
	}
}

// The table of tools says what a grant must have.
func TestToolsOfReadersOnlyRead(t *testing.T) {
	want := map[string][]governance.Permission{
		"get_messages": {governance.Read}, "discard_messages": {governance.Write}, "status": {governance.Read}, "compress": {governance.Write},
		"recall": {governance.Read}, "search": {governance.Read}, "assemble": {governance.Write}, "pin": {governance.Write},
	}
	got := make(map[string][]governance.Permission)
	for _, tool := range mcp.Tools() {
		for _, o := range tool.Operations {
			for _, p := range o.Needs() {
				if !slices.Contains(got[tool.Name], p) {
					got[tool.Name] = append(got[tool.Name], p)
				}
			}
		}
	}
	if !maps.EqualFunc(want, got, slices.Equal) {
		t.Errorf("permissions %v, want %v", got, want)
	}
}

// credentialKey is under what the tests have the credential of a request in its context.
type credentialKey struct{}

// credentials is a server over HTTP for two people, each in a scope of their own.
func credentials(t *testing.T) *httptest.Server {
	t.Helper()
	e := newEngine(t, stores.New(t))
	load(t, e, "acme/ada", "ada.json", (&chat{}).say("user", "Fix the adalamp.").bytes(t))
	load(t, e, "acme/bob", "bob.json", (&chat{}).say("user", "Fix the boblamp.").bytes(t))
	of := func(ctx context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
		name, _ := ctx.Value(credentialKey{}).(string)
		if name == "" {
			return nil, "", nil, api.ErrUnauthenticated
		}
		own := governance.Scope("acme/" + name)
		return e, own, &governance.Grant{Scopes: []governance.ScopePattern{governance.ScopePattern(own)}, Permissions: []governance.Permission{"read"}}, nil
	}
	handler := mcp.New(of, nil).Handler()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), credentialKey{}, name)))
	}))
	t.Cleanup(s.Close)
	return s
}

// bearer sends requests with a credential.
type bearer struct{ credential string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.credential)
	return http.DefaultTransport.RoundTrip(r)
}

// Over HTTP a request is answered by its own credential, in every version of the protocol,
// and there is no session that another credential could go on with.
func TestCredentialsDoNotMix(t *testing.T) {
	s := credentials(t)
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			for _, name := range []string{"ada", "bob", "ada"} {
				c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(),
					&sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer{name}}, DisableStandaloneSSE: true},
					&sdk.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				if c.InitializeResult().ProtocolVersion != version || c.ID() != "" {
					t.Errorf("protocol %s, session %q", c.InitializeResult().ProtocolVersion, c.ID())
				}
				var l listed
				done(t, c, "get_messages", m{"session": "@last"}, &l)
				if len(l.Messages) != 1 || l.Messages[0].Preview != "Fix the "+name+"lamp." {
					t.Errorf("%s sees %+v", name, l.Messages)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const statusCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_messages","arguments":{"session":"@last"}}}`

// send sends one request as a client would, but for the headers that a test sets.
func send(t *testing.T, method, url, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25",
	} {
		req.Header.Set(name, value)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	req.Host = header["Host"]
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestHTTPFrontDoor(t *testing.T) {
	s := credentials(t)
	ada := func(more map[string]string) map[string]string {
		h := map[string]string{"Authorization": "Bearer ada"}
		maps.Copy(h, more)
		return h
	}
	for _, tt := range []struct {
		name, method, body string
		header             map[string]string
		status             int
		has, hasNot        string
	}{
		{"a call", "POST", statusCall, ada(nil), 200, "adalamp", "boblamp"},
		{"a call with the session id of somebody else", "POST", statusCall, ada(map[string]string{"Mcp-Session-Id": "bob"}), 200, "adalamp", "boblamp"},
		{"no credential", "POST", statusCall, nil, 200, "carrel:problem/unauthenticated", "lamp."},
		{"under another name", "POST", statusCall, ada(map[string]string{"Host": "evil.example"}), 403, "", "lamp."},
		{"from a page of another origin", "POST", statusCall, ada(map[string]string{"Origin": "https://evil.example"}), 403, "", "lamp."},
		{"from another site", "POST", statusCall, ada(map[string]string{"Sec-Fetch-Site": "cross-site"}), 403, "", "lamp."},
		{"to listen", "GET", "", ada(nil), 405, "", "lamp."},
		{"to end a session", "DELETE", "", ada(map[string]string{"Mcp-Session-Id": "x"}), 405, "", "lamp."},
		{"as a form", "POST", "a=b", ada(map[string]string{"Content-Type": "application/x-www-form-urlencoded"}), 415, "", "lamp."},
		{"a version that is none", "POST", statusCall, ada(map[string]string{"Mcp-Protocol-Version": "2020-01-01"}), 400, "", "lamp."},
		{"a version in the header alone", "POST", statusCall, ada(map[string]string{"Mcp-Protocol-Version": "2026-07-28"}), 400, "", "lamp."},
		{"no JSON", "POST", "{", ada(nil), 400, "", "lamp."},
		{"too much", "POST", `{"jsonrpc":"2.0","id":1,"method":"x","params":"` + strings.Repeat("a", 5<<20) + `"}`, ada(nil), 413, "", "lamp."},
		{"too deep", "POST", strings.Repeat("[", 100_000), ada(nil), 400, "", "lamp."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := send(t, tt.method, s.URL, tt.body, tt.header)
			if status != tt.status || !strings.Contains(body, tt.has) || strings.Contains(body, tt.hasNot) {
				t.Errorf("status %d: %.300s", status, body)
			}
		})
	}
}

// Whatever goes wrong inside, the client gets an answer, and the log says where, and
// neither says with what.
func TestWhatGoesWrongInside(t *testing.T) {
	const canary = "zanzibar"
	for _, tt := range []struct {
		name string
		fail func() error
		log  string
	}{
		{"a panic", func() error { panic(canary) }, "msg=panic"},
		{"an error that nobody foresaw", func() error { return fmt.Errorf("%s: %w", canary, errors.New(canary)) }, "*fmt.wrapError *errors.errorString"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			of := func(context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
				return nil, "", nil, tt.fail()
			}
			c := connect(t, mcp.New(of, &mcp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), nil)
			for _, a := range asks("s", "b", "a", "m") {
				log.Reset()
				answer := answerOf(a.do(t.Context(), c))
				if !strings.Contains(answer, "the log of the server has the cause") {
					t.Errorf("%s: %s", a.name, answer)
				}
				if strings.Contains(answer+log.String(), canary) || !strings.Contains(log.String(), tt.log) {
					t.Errorf("%s: answer %s\nlog %s", a.name, answer, log.String())
				}
			}
			if _, err := c.ListTools(t.Context(), nil); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
